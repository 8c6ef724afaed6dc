"""Indexing and assignment, with the keys of NumPy."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch

from anyarray.backends._shared.axes import axis_in, only_axis
from anyarray.backends._shared.keys import completed, require_within
from anyarray.backends.torch._hooks import is_replaced, is_traced, to_numpy
from anyarray.backends.torch._kernel import (
    NOTED,
    SIGNED,
    Native,
    bits,
    can_be_read,
    cast,
    extent,
    is_transformed,
    require_kinds,
    with_bits,
    with_kernels,
)
from anyarray.backends.torch._kernel import indices as as_indices
from anyarray.backends.torch._mirrors import mirrored, spread
from anyarray.backends.torch.searching import require_values

_Tensor: Final = torch.Tensor


def _is_array(entry: Any) -> bool:
    return isinstance(entry, _Tensor)


def _width(entry: Any) -> int:
    """The number of axes that an entry of a key indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if _is_array(entry) and entry.dtype is torch.bool else 1


def _complete(x: Native, key: Any) -> list[Any]:
    """The entries of a key, one for each axis and each None."""
    return completed(key if type(key) is tuple else (key,), x.ndim, _width)


def _basic(x: Native, entries: list[Any]) -> tuple[Native, list[int]]:
    """The view by integers, slices and None; axes of it to be reversed."""
    axis = 0
    reversed_axes: list[int] = []
    for entry in entries:
        if entry is None:
            x = x.unsqueeze(axis)
            axis += 1
        elif isinstance(entry, slice):
            start, stop, step = entry.indices(x.shape[axis])
            count = len(range(start, stop, step))
            if step < 0:
                start, step = (start + (count - 1) * step if count else 0), -step
                if count > 1:
                    reversed_axes.append(axis)
            if count != x.shape[axis]:
                x = x[(slice(None),) * axis + (slice(start, start + max(count - 1, 0) * step + (count > 0), step),)]
            axis += 1
        else:
            require_within(entry, x.shape[axis], axis)
            x = x.select(axis, entry)
    return x, reversed_axes


_BASIC: Final = frozenset({int, slice, type(None), type(Ellipsis)})
"""Classes of the entries of a basic key."""
_VIEWING: Final = _BASIC - {int}


def getitem(x: Native, key: Any, /) -> Native:
    kind = type(key)
    if kind is int:
        ndim = x.ndim
        if ndim:  # a number is a copy: NumPy has no view of one
            return x[key] if ndim > 1 else x[key].clone()
    elif kind in _BASIC or (kind is tuple and _BASIC.issuperset(map(type, key)) and key.count(Ellipsis) < 2):
        try:
            found = x[key]
        except ValueError:  # of a step below 0
            pass
        else:
            return found if found.ndim or kind is not tuple or _VIEWING.intersection(map(type, key)) else found.clone()
    elif kind is _Tensor and _is_usual(x, key):
        try:
            return x[key]
        except (IndexError, NotImplementedError):  # of a dtype without a kernel
            pass
    entries = key if kind is tuple else (key,)
    if not any(map(_is_array, entries)):
        found, reversed_axes = _basic(x, _complete(x, key))
        if reversed_axes:
            if is_replaced(x):
                return with_bits(torch.flip(bits(found), reversed_axes), found.dtype)
            return mirrored(found, reversed_axes)
        if not found.ndim and all(type(one) is int for one in entries):
            return found.clone()  # a number, of which NumPy has no view
        return found if found is not x else x[...]
    plan = _Plan(x, key)
    return plan.read(x)


_INDICES: Final = frozenset({torch.int64, torch.int32, torch.bool})
"""The dtypes of index arrays that PyTorch takes as NumPy does."""


def _is_usual(x: Native, index: Native) -> bool:
    """Whether PyTorch indexes by this array as NumPy does.

    On other devices than the CPU an index out of range is no exception. One without axes is an integer to PyTorch.
    """
    return index.dtype in _INDICES and index.ndim > 0 and can_be_read(index) and can_be_read(x)


class _Plan:
    """An advanced key: a basic one, and then index arrays."""

    def __init__(self, x: Native, key: Any) -> None:
        entries = _complete(x, key)
        self.basic: list[Any] = []
        """The entries with arrays replaced by full slices, which come first."""
        self.arrays: list[Any] = []
        """What follows: for each axis of the basic view an index array, or a full slice."""
        axis = 0
        for entry in entries:
            if _is_array(entry):
                if entry.dtype is torch.bool:
                    shape = tuple(x.shape[axis : axis + entry.ndim])
                    if tuple(entry.shape) != shape:
                        raise IndexError(f"a mask of shape {tuple(entry.shape)} does not fit axes {shape}")
                    if is_transformed():
                        require_values("index", entry)
                    if entry.ndim:
                        self.basic += [slice(None)] * entry.ndim
                        self.arrays += list(torch.nonzero(entry, as_tuple=True))
                    else:  # an axis of length 1 or 0
                        self.basic.append(None)
                        self.arrays.append(torch.nonzero(entry.reshape(1), as_tuple=True)[0])
                    axis += entry.ndim
                    continue
                length = x.shape[axis]
                index = as_indices(entry)
                self.basic.append(slice(None))
                self.arrays.append(_within(index, length, axis))
                axis += 1
            elif isinstance(entry, int):
                # NumPy counts an integer beside arrays as one of them.
                length = x.shape[axis]
                require_within(entry, length, axis)
                self.basic.append(slice(None))
                self.arrays.append(torch.tensor(entry % length, device=x.device))
                axis += 1
            else:
                self.basic.append(entry)
                self.arrays.append(slice(None))
                axis += entry is not None
        given = [_is_array(one) or isinstance(one, int) for one in (key if type(key) is tuple else (key,))]
        first, last = given.index(True), len(given) - given[::-1].index(True)
        self.are_separated = not all(given[first:last])
        """Whether a slice, None or `...` stands between index arrays: their axes come first then."""
        shapes = [one.shape for one in self.arrays if _is_array(one)]
        try:
            self.shape = torch.broadcast_shapes(*shapes)
        except RuntimeError as error:
            listed = " and ".join(str(tuple(shape)) for shape in shapes)
            raise IndexError(f"index arrays of shapes {listed} do not broadcast") from error

    def places(self) -> list[Any]:
        """The axes of the arrays."""
        return [i for i, one in enumerate(self.arrays) if _is_array(one)]

    def view(self, x: Native) -> tuple[Native, list[int]]:
        return _basic(x, self.basic)

    def read(self, x: Native) -> Native:
        view, reversed_axes = self.view(x)
        dtype = x.dtype
        view = bits(view)
        if reversed_axes:
            view = torch.flip(view, reversed_axes)
        at = self.places()
        arrays = [one.expand(self.shape) if _is_array(one) else one for one in self.arrays]
        if not self.shape:  # PyTorch would take an array without axes as an integer
            arrays = [one.reshape(1) if _is_array(one) else one for one in arrays]
        if self.are_separated:  # PyTorch sees no None between them, and we do
            order = [*at, *[i for i in range(view.ndim) if i not in at]]
            view = view.permute(order)
            found = view[tuple([arrays[i] for i in at])]
        else:
            found = view[tuple(arrays)]
        if not self.shape:
            found = found.squeeze(0 if self.are_separated else at[0])
        return found.view(dtype) if dtype in SIGNED else found

    def linear(self, x: Native) -> Native:
        """The places in the flattened x of what is selected."""
        return self.read(torch.arange(x.numel(), device=x.device).reshape(x.shape))


def _within(index: Native, length: int, axis: int) -> Native:
    """Index arrays with negative ones counted from the end.

    Raises IndexError if one is out of range and can be read.
    """
    if index.numel() and can_be_read(index):
        low, high = extent(index)
        for one in (low, high):
            require_within(one, length, axis)
        return index if low >= 0 else torch.where(index < 0, index + length, index)
    return torch.where(index < 0, index + length, index)


_IN_ORDER: Final = 1 << 15
"""Elements below which PyTorch writes in order; beyond, several threads do (`at::internal::GRAIN_SIZE`)."""


def _put(x: Native, index: tuple[Native, ...], value: Native) -> None:
    """As `index_put_`, but of several values for one place the last counts.

    Values and indices may be views of `x`.
    """
    value, *others = [one.clone() if _shares(one, x) else one for one in (value, *index)]
    index = tuple(others)
    lengths, rest = x.shape[: len(index)], x.shape[len(index) :]
    if value.numel() < _IN_ORDER or index[0].numel() < 2 or not can_be_read(x):
        x.index_put_(index, value)
        return
    places = index[0]
    for one, length in zip(index[1:], lengths[1:], strict=True):
        places = places * length + one
    places = places.reshape(-1)
    if not rest and (len(index) == 1 or x.is_contiguous()):
        (x if len(index) == 1 else x.view(-1)).scatter_(0, places, value.reshape(-1))  # which is in order
        return
    kept = _last_of_each(places, math.prod(lengths))
    if kept is not None:
        index = tuple([one.reshape(-1)[kept] for one in index])
        value = value.reshape(-1, *rest)[kept]
    x.index_put_(index, value)


def _last_of_each(places: Native, count: int) -> Native | None:
    """Which of some places, below `count`, come no more; None if all."""
    sought = to_numpy(places)
    order = np.arange(sought.size)
    last = np.empty(count, np.intp)
    last[sought] = order  # by NumPy, which promises to keep the last
    kept = np.flatnonzero(last[sought] == order)
    return None if kept.size == order.size else torch.from_numpy(kept)


def _fitted(value: Native, x: Native, shape: Any) -> Native:
    """`value` in the dtype of `x`, to be broadcast to `shape`.

    Extra leading axes of length 1 are dropped, as in NumPy.
    """
    if value.is_complex() and not x.is_complex() and x.dtype is not torch.bool:
        raise TypeError(f"cannot assign {value.dtype} to an array of dtype {x.dtype}")
    extra = max(value.ndim - len(shape), 0)
    if extra and math.prod(value.shape[:extra]) == 1:
        value = value.reshape(value.shape[extra:])
    return cast(value, x.dtype)


_TAKES: Final = {bool: with_kernels("b"), int: with_kernels("f"), float: with_kernels("f"), complex: with_kernels("c")}
"""The dtypes to which a Python number is written as it is, by its class."""


def _shares(x: Native, other: Native) -> bool:
    """Whether two tensors are of one memory, so that they may overlap."""
    return bool(x.untyped_storage()._cdata == other.untyped_storage()._cdata)


def _may_overlap(x: Native, value: Native) -> bool:
    if not (x.is_contiguous() and value.is_contiguous()):
        return True
    start, other = x.data_ptr(), value.data_ptr()
    return bool(start < other + value.nbytes and other < start + x.nbytes)


def written(x: Native, key: Any, value: Any, /) -> bool:
    kind = type(key)
    is_index = kind is _Tensor
    if not (is_index or kind in _BASIC or (kind is tuple and _BASIC.issuperset(map(type, key)))):
        return False
    if type(x) is not _Tensor or is_replaced(x):
        return False
    if type(value) is _Tensor:
        if value.dtype is not x.dtype or value.requires_grad or _may_overlap(x, value):
            return False
        if value.ndim and x.ndim == (kind is int or (kind is tuple and [*map(type, key)].count(int))):
            return False  # an element takes no sequence
    elif x.dtype not in _TAKES.get(type(value), ()):
        return False
    try:
        if NOTED and x.untyped_storage().__dict__:  # it is lent, or has mirrors
            return False
        if is_index:
            return _is_usual(x, key) and _is_put(x, key, value)
        x[key] = value
    except Exception:  # noqa: BLE001 - `setitem` says what is wrong
        return False
    return True


def setitem(x: Native, key: Any, value: Native, exclusive: bool, /) -> Native:
    if is_replaced(x) or (type(value) is not _Tensor or value.requires_grad):
        return _replaced(x, key, value)
    if not exclusive:
        x = x.clone()
    elif type(key) is int and value.dtype is x.dtype and x.ndim and not value.ndim:
        x[key] = value
        spread(x)
        return x
    elif (
        type(key) is _Tensor
        and value.dtype is x.dtype
        and not _shares(value, x)  # of which PyTorch refuses some, and writes others wrong
        and _is_usual(x, key)
        and _is_put(x, key, value)
    ):
        spread(x)
        return x
    if 0 in x.stride():  # elements that are broadcast share memory
        x = x.clone(memory_format=torch.contiguous_format)
    _write(x, key, value)
    spread(x)
    return x


def _is_put(x: Native, index: Native, value: Any) -> bool:
    """Write by PyTorch's own indexing, if that writes all or nothing."""
    if index.dtype is not torch.bool and index.numel():
        low, high = extent(index)
        if not (x.ndim and -x.shape[0] <= low and high < x.shape[0]):
            return False
        if type(value) is _Tensor and value.ndim and index.numel() * math.prod(x.shape[1:]) >= _IN_ORDER:
            return False
    try:
        x[index] = value
    except Exception:  # noqa: BLE001 - the general way says what is wrong
        return False
    return True


def _write(x: Native, key: Any, value: Native) -> None:
    """`x[key] = value` in place."""
    entries = key if type(key) is tuple else (key,)
    if not any(map(_is_array, entries)):
        view, reversed_axes = _basic(x, _complete(x, key))
        value = _fitted(value, x, view.shape).expand(view.shape)
        if _shares(value, x):
            value = value.clone()
        view.copy_(with_bits(torch.flip(bits(value), reversed_axes), value.dtype) if reversed_axes else value)
        return
    plan = _Plan(x, key)
    view, reversed_axes = plan.view(x)
    if reversed_axes:  # of which PyTorch has no view
        places = plan.linear(x)
        flat = bits(x).reshape(-1)
        value = bits(_fitted(value, x, places.shape)).expand(places.shape)
        _put(flat, (places.reshape(-1),), value.reshape(-1))
        if flat.data_ptr() != x.data_ptr():
            bits(x).copy_(flat.reshape(x.shape))
        return
    at = plan.places()
    view = bits(view)
    arrays = [one.expand(plan.shape) if _is_array(one) else one for one in plan.arrays]
    rest = [i for i in range(view.ndim) if i not in at]
    before = 0 if plan.are_separated else len([i for i in rest if i < at[0]])
    shape = [*[view.shape[i] for i in rest[:before]], *plan.shape, *[view.shape[i] for i in rest[before:]]]
    value = bits(_fitted(value, x, shape)).expand(shape)
    # The axes of the arrays come first, also in the value. PyTorch would take an array without axes as an integer.
    ndim = len(plan.shape)
    value = value.permute([*range(before, before + ndim), *range(before), *range(before + ndim, len(shape))])
    index = tuple([arrays[i] if plan.shape else arrays[i].reshape(1) for i in at])
    _put(view.permute([*at, *rest]), index, (value if plan.shape else value.unsqueeze(0)).contiguous())


def _replaced(x: Native, key: Any, value: Native) -> Native:
    """A new tensor with `value` at `key`, for derivatives and traces."""
    entries = key if type(key) is tuple else (key,)
    masks = [one for one in entries if _is_array(one) and one.dtype is torch.bool]
    if masks and len(masks) == 1 and not value.ndim and all(one is masks[0] or one is Ellipsis for one in entries):
        (mask,) = masks
        after = x.ndim - mask.ndim
        if entries[0] is mask and tuple(mask.shape) == tuple(x.shape[: mask.ndim]):
            return torch.where(mask.reshape(tuple(mask.shape) + (1,) * after), _fitted(value, x, ()), x)
    is_repeated = any(_is_array(one) and one.dtype is not torch.bool for one in entries)
    by_rows = type(key) is _Tensor and is_repeated and x.ndim > 0
    rest = x.shape[1:] if by_rows else ()
    flat = bits(x) if by_rows else bits(x).reshape(-1)
    places = torch.arange(flat.shape[0], device=x.device)
    chosen = getitem(places if by_rows else places.reshape(x.shape), key)
    shape = (*chosen.shape, *rest)
    source = bits(_fitted(value, x, shape).expand(shape)).reshape(-1, *rest)
    index = chosen.reshape(-1)
    # The last of several values for one place counts, and has the gradient.
    if not is_repeated or (index.is_cpu and not is_traced(index)):
        kept = _last_of_each(index, flat.shape[0]) if is_repeated else None
        found = flat.index_put((index,), source) if kept is None else flat.index_put((index[kept],), source[kept])
    else:
        order = torch.arange(index.shape[0], device=x.device)
        last = torch.full_like(places, -1).scatter_reduce(0, index, order, "amax")
        is_written = (last >= 0).reshape(-1, *[1] * len(rest))
        found = torch.where(is_written, source[last.clamp(min=0)] if source.shape[0] else flat, flat)
    return with_bits(found.reshape(x.shape), x.dtype)


_COUNTS: Final = _INDICES - {torch.bool}


def take(x: Native, indices: Native, /, *, axis: int | None = None) -> Native:
    axis = only_axis(axis, x.ndim)
    if indices.ndim == 1 and indices.dtype in _COUNTS and can_be_read(indices):
        try:
            return torch.index_select(x, axis, indices)
        except (IndexError, RuntimeError):  # one is negative or out of range, or there is no kernel
            pass
    require_kinds("iu", indices)
    index = _within(as_indices(indices), x.shape[axis], axis)
    found = torch.index_select(bits(x), axis, index.reshape(-1))
    found = found.reshape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))
    return found.view(x.dtype) if x.dtype in SIGNED else found


def take_along_axis(x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    axis = axis_in(axis, x.ndim)
    require_kinds("iu", indices)
    if indices.ndim != x.ndim:
        raise ValueError(f"indices must have {x.ndim} axes, as x has, not {indices.ndim}")
    if indices.dtype is torch.int64 and x.shape == indices.shape and can_be_read(indices):
        try:
            return torch.gather(x, axis, indices)
        except RuntimeError:  # one is negative or out of range, or there is no kernel
            pass
    index = _within(as_indices(indices), x.shape[axis], axis)
    shapes = [[1 if i == axis else n for i, n in enumerate(one.shape)] for one in (x, index)]
    shape = list(torch.broadcast_shapes(*shapes))
    shape[axis] = index.shape[axis]
    wide = list(shape)
    wide[axis] = x.shape[axis]
    found = torch.gather(bits(x).expand(wide), axis, index.expand(shape))
    return found.view(x.dtype) if x.dtype in SIGNED else found
