"""`vmap`: functions mapped over an axis of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from anyarray._base import errors, nested
from anyarray._base.functions import wraps
from anyarray._base.nested import LEAF, Static, Structure
from anyarray._call import batching
from anyarray._call.arguments import as_python_integers
from anyarray._call.wrapping import unshared
from anyarray._registry.home import Home, Native
from anyarray.transforms._call import Call, P, R, check, clear_about_leaks

Axes: TypeAlias = "int | Sequence[Axes] | dict[str, Axes] | None"
"""An axis for all Arrays of a value, None for Arrays that are not mapped, or a container of these for its parts."""


def vmap(f: Callable[P, R], /, in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[P, R]:
    """`f`, applied to all elements along an axis of its arguments at once.

    The results are stacked. `in_axes` is one axis for all arguments, or an axis for each. With None, every element gets
    the whole argument, as it does for arguments that are not arrays. A nested argument takes one axis, or the same
    structure of axes. Keyword arguments are mapped over axis 0. `out_axes` is the position of the new axis in the
    results, in the same form. On JAX, `f` is traced. Elsewhere it runs once for all elements, or once for each element
    if it reads values; TensorFlow makes a graph of it then. Compile a function that is called repeatedly:
    `xp.jit(xp.vmap(f))`.
    Raises ValueError if the axes have different lengths.

    >>> import anyarray as xp
    >>> x, y = xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([1.0, 10.0])
    >>> xp.vmap(xp.vecdot, in_axes=(0, None))(x, y).tolist()
    [21.0, 43.0]
    """
    check("vmap", f)

    @wraps(f)
    @clear_about_leaks("vmap")
    def mapped(*args: P.args, **kwargs: P.kwargs) -> Any:
        call = Call("vmap", f, args, kwargs)
        home = batching.home_inside(call.home)
        axes = _axes_of_arguments(call, in_axes)
        chosen = [i for i, axis in enumerate(axes) if axis is not None]
        length = _length(call, axes)
        structure: Structure = None

        def values(*xs: Native) -> list[Native]:
            nonlocal structure
            natives, structure = call.flat_result(chosen, xs)
            return natives

        xs = [_moved(call.natives[i], axes[i], 0, home) for i in chosen]
        found = _mapped(values, xs, length, home)
        places = _axes("out_axes", out_axes, structure)
        if None in places:
            raise errors.ArgumentValueError("vmap: out_axes must be made of integers, not None")
        return call.wrapped(structure, [_moved(y, 0, place, home) for y, place in zip(found, places, strict=True)])

    return mapped


def _axes_of_arguments(call: Call, in_axes: Axes) -> list[int | None]:
    """The axis of each Array among the arguments."""
    args, kwargs = call.structure[2]
    return _axes("in_axes", in_axes, args) + _axes("in_axes", 0, kwargs)


def _axes(name: str, axes: Any, structure: Structure) -> list[int | None]:
    """The axis of each leaf of a structure.

    `axes` is one axis for all, or a container like the structure's.
    """
    axes = as_python_integers(axes)
    if axes is None or type(axes) is int:
        return [axes] * len(nested.labels(structure, ""))
    content = nested.keys_and_parts(axes)
    if type(structure) is Static and content is not None:
        return []
    if content is None or structure is LEAF:
        wanted = "an integer or None" if structure is LEAF else "made of integers and None"
        raise errors.ArgumentTypeError(f"vmap: {name} must be {wanted} there, not {type(axes).__name__}")
    keys, parts = content[0], list(content[1])
    _, wanted_keys, wanted_parts = cast(tuple[Any, Any, Any], structure)
    if (keys is None) != (wanted_keys is None) or len(parts) != len(wanted_parts):
        raise errors.ArgumentValueError(
            f"vmap: {name} must have the structure of its values, {len(wanted_parts)} parts, not {len(parts)}"
        )
    if keys is not None:
        by_key = dict(zip(keys, parts, strict=True))
        parts = [by_key.get(key) for key in wanted_keys]
    return [axis for part, one in zip(parts, wanted_parts, strict=True) for axis in _axes(name, part, one)]


def _length(call: Call, axes: Sequence[int | None]) -> int | None:
    """The length of the mapped axes; None if it is unknown under a trace."""
    lengths: dict[str, int | None] = {}
    for label, native, axis in zip(call.labels(), call.natives, axes, strict=True):
        if axis is not None:
            shape = call.home.shape_of(native)
            if not -len(shape) <= axis < len(shape):
                raise errors.no_such_axis("vmap", axis, len(shape))
            lengths[label] = shape[axis]
    if not lengths:
        raise errors.ArgumentValueError("vmap: in_axes must map an axis of some Array, but there is none to map")
    known = {label: length for label, length in lengths.items() if length is not None}
    first = next(iter(known), None)
    for label, length in known.items():
        if first is not None and length != known[first]:
            raise errors.ArgumentValueError(
                f"vmap: the mapped axes must have one length, but that of {first} is {known[first]} and that of "
                f"{label} is {length}. Leave one as it is: in_axes=(0, None)"
            )
    return None if first is None else known[first]


def _moved(x: Native, source: int | None, destination: int | None, home: Home) -> Native:
    return x if source == destination else home.moveaxis(x, source, destination)


def _mapped(
    function: Callable[..., list[Native]], xs: Sequence[Native], length: int | None, home: Home
) -> list[Native]:
    """The results of the function for all elements, stacked along first axes.

    A library without `vmap` gets all elements in one batch if that is possible.
    """
    backend = home.backend
    if backend.has_hook("vmap"):
        return home.vmap(function, xs)  # type: ignore[no-any-return]  # a list, by the contract
    found = None if length is None else _at_once(function, xs, length, home)
    if found is not None:
        return found
    if backend.has_hook("vectorized_map"):
        return home.vectorized_map(function, xs)  # type: ignore[no-any-return]  # likewise
    return _one_by_one(function, xs, length or 0, home)


def _at_once(
    function: Callable[..., list[Native]], xs: Sequence[Native], length: int, home: Home
) -> list[Native] | None:
    """The same in one batch; None if that is impossible."""
    batch = batching.Batch(home, length)
    found: list[Native] = []
    try:
        with batch.open():
            found += map(batch.stack_of, function(*[batching.Batched(batch, x) for x in xs]))
    except Exception:  # noqa: BLE001 - unless the batch is to blame, the loop raises it again, with a clearer message
        return None
    if batch.is_refused:
        return None
    return [unshared(one, xs, home) for one in found]  # a result may be a view of an argument


def _one_by_one(function: Callable[..., list[Native]], xs: Sequence[Native], length: int, home: Home) -> list[Native]:
    rows = [function(*[home.getitem(x, i) for x in xs]) for i in range(length)]
    if not rows:
        # There are no elements: zeros are used to infer the shapes and dtypes of the results.
        backend = home.backend
        zeros = [home.zeros(home.shape_of(x)[1:], dtype=home.dtype_of(x), device=backend.native_device) for x in xs]
        return [home.getitem(home.expand_dims(y, 0), slice(0, 0)) for y in function(*zeros)]
    return [home.stack(list(column), axis=0) for column in zip(*rows, strict=True)]
