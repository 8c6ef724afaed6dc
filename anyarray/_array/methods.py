"""NumPy's methods and attributes of arrays, for `Array`.

Each calls a function of the namespace, with the parameters of ndarray's method. Results are those of the function, on
its backend; `out` is written and returned. Methods that write in place do so by `x[...] = ...`, so views change on
every backend.
"""

from __future__ import annotations

import inspect
import math
import operator
import pickle
import sys
from typing import TYPE_CHECKING, Any, Final, Literal, SupportsIndex, TypeAlias

import numpy as np

from anyarray._array import complex_order, layout
from anyarray._array.flat import Flat, as_operand
from anyarray._array.layout import Flags
from anyarray._base import callers, dtypes, errors
from anyarray._call.arguments import as_array, as_python_integers, as_shape
from anyarray._call.out import write
from anyarray._call.wrapping import SCALARS, is_array, wrap
from anyarray._memory import second_copies, views

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import anyarray as _xp
    from anyarray._array.array import AnyArray, Array
    from anyarray._base.dtypes import DType, DTypeLike
    from anyarray._registry.home import Home, Native

    Axis: TypeAlias = int | Sequence[int] | None
    _Base = AnyArray  # which Array, the only subclass, is
else:
    _Base = object
    _xp = sys.modules["anyarray"]  # of a higher layer

Order = Literal["C", "F", "A", "K"]
Mode = Literal["raise", "wrap", "clip"]
_C: Final = "C"


OF_NDARRAY: Final = (
    "all any argmax argmin argpartition argsort choose clip compress conj conjugate copy cumprod cumsum dot fill "
    "flatten max min nonzero partition put repeat round searchsorted sort squeeze swapaxes take trace transpose"
)
"""Methods that ndarray's methods compute for few elements in NumPy.

Their values do not depend on the order of sums.
"""


class Methods(_Base):
    """The methods and attributes of ndarrays, without a state of their own."""

    __slots__ = ()

    if TYPE_CHECKING:
        _home: Home
        _native: Native

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> DType: ...
        @property
        def ndim(self) -> int: ...
        @property
        def size(self) -> int: ...
        @property
        def T(self) -> Array: ...  # noqa: N802 - the standard's name
        def __getitem__(self, key: Any, /) -> Array: ...
        def __setitem__(self, key: Any, value: Any, /) -> None: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
        def __copy__(self) -> Array: ...
        def _host(self, cause: str, *, explicit: bool = False) -> np.ndarray[Any, Any]: ...

    # Attributes

    @property
    def real(self) -> Array:
        """The real parts, as a view; of real numbers the Array itself."""
        return _xp.real(self) if self.dtype.kind == "c" else self  # type: ignore[return-value]  # an Array is no other

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Array:
        """The imaginary parts, as a view; read-only zeros if it is real."""
        if self.dtype.kind == "c":
            return _xp.imag(self)
        return _xp.broadcast_to(_xp.zeros_like(self), self.shape)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise errors.ArgumentTypeError(f"imag: x must be complex to have its imaginary part set, not {self.dtype}")
        self.imag[...] = value

    @property
    def flat(self) -> Flat:
        """The elements in row-major order, to read, write and iterate."""
        return Flat(self)  # type: ignore[arg-type]  # an Array is no other

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[...] = value

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return layout.strides(self)

    @property
    def flags(self) -> Flags:
        """The layout of elements in memory, and whether they are writable."""
        return Flags(self)

    @property
    def data(self) -> Any:
        """The memory of `np.asarray(x)`; on TensorFlow the tensor."""
        backend = self._home.backend
        if not backend.has_hook("data_of"):
            return self.__array__().data
        second_copies.note_export(self)
        return backend.hook("data_of")(self._native)

    @property
    def base(self) -> Array | None:
        """The base of this view, or None."""
        return layout.base(self)  # type: ignore[no-any-return]  # an Array

    # Reductions

    def all(self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
        """Whether all elements over `axis` are true: `xp.all`."""
        if out is None and where is True:
            return _xp.all(self, axis=axis, keepdims=keepdims)
        return _reduced("all", self, axis, None, out, keepdims, None, where)

    def any(self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
        """Whether any element over `axis` is true: `xp.any`."""
        if out is None and where is True:
            return _xp.any(self, axis=axis, keepdims=keepdims)
        return _reduced("any", self, axis, None, out, keepdims, None, where)

    def argmax(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
        """Index of the highest element over `axis`: `xp.argmax`."""
        return _arg_extreme("argmax", self, axis, out, keepdims)

    def argmin(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
        """Index of the lowest element over `axis`: `xp.argmin`."""
        return _arg_extreme("argmin", self, axis, out, keepdims)

    def max(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Array:
        """Highest element over `axis`: `xp.max`."""
        return _extreme("max", self, axis, out, keepdims, initial, where)

    def min(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Array:
        """Lowest element over `axis`: `xp.min`."""
        return _extreme("min", self, axis, out, keepdims, initial, where)

    def sum(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """Sum over `axis`: `xp.sum`."""
        if out is None and initial is None and where is True:
            return _xp.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return _reduced("sum", self, axis, dtype, out, keepdims, initial, where)

    def prod(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """Product over `axis`: `xp.prod`."""
        if out is None and initial is None and where is True:
            return _xp.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return _reduced("prod", self, axis, dtype, out, keepdims, initial, where)

    def mean(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Array:
        """Arithmetic mean over `axis`: `xp.mean`."""
        if dtype is None and out is None and where is True:
            return _xp.mean(self, axis=axis, keepdims=keepdims)
        x = _in_floats(self, dtype)
        found = _mean(x, axis, keepdims, where)
        return _returned("mean", out, found, dtype)

    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: AnyArray | None = None,
    ) -> Array:
        """Standard deviation over `axis`: `xp.std`, corrected by `ddof`."""
        return _spread("std", self, axis, dtype, out, ddof, keepdims, where, mean)

    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: AnyArray | None = None,
    ) -> Array:
        """Variance over `axis`: `xp.var` with a correction `ddof`."""
        return _spread("var", self, axis, dtype, out, ddof, keepdims, where, mean)

    def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None) -> Array:
        """Products up to each position along `axis`; of all if it is None."""
        return _accumulated("cumprod", _xp.cumulative_prod, self, axis, dtype, out)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None) -> Array:
        """Sums up to each position along `axis`; of all if it is None."""
        return _accumulated("cumsum", _xp.cumulative_sum, self, axis, dtype, out)

    def dot(self, b: Any, out: Any = None) -> Array:
        """The product of `np.dot`: each matrix of a stack with each."""
        found = _dot(self, b if is_array(b) else as_operand(b))
        if out is None:
            return found
        if getattr(out, "dtype", found.dtype) != found.dtype:
            raise errors.ArgumentValueError(
                f"dot: out must have the dtype {found.dtype} of the result, not {out.dtype}. Make it of that dtype"
            )
        return write("dot", out, found)  # type: ignore[no-any-return]  # an Array

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Any = None
    ) -> Array:
        """Sum along a diagonal of the matrices of two axes."""
        found = _xp.linalg.trace(_matrices("trace", self, axis1, axis2), offset=offset, dtype=dtype)
        return found if out is None else write("trace", out, found)

    # Elements

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Array:  # noqa: A002 - ndarray's names
        """Elements limited to the range from `min` to `max`."""
        low, high = as_operand(min), as_operand(max)
        if self.dtype.kind in "iu":  # a Python integer beyond the dtype is no bound
            least, greatest = self.dtype.bounds
            low = None if type(low) is int and low <= least else low
            high = None if type(high) is int and high >= greatest else high
        try:
            found = _xp.clip(self, low, high)
        except errors.ArgumentTypeError:
            found = complex_order.clip(self, low, high)
        return found if out is None else write("clip", out, found)

    def conj(self, out: Any = None) -> Array:
        """Complex conjugates: `xp.conj`; the Array itself if it is real."""
        found: Any = _xp.conj(self) if self.dtype.kind == "c" else self
        return found if out is None else write("conj", out, found)  # type: ignore[no-any-return]  # an Array

    def conjugate(self, out: Any = None) -> Array:
        """Complex conjugates, as `conj`."""
        return self.conj(out)

    def round(self, decimals: SupportsIndex = 0, out: Any = None) -> Array:
        """Elements rounded to a number of decimals, ties to even."""
        found = _rounded(self, operator.index(decimals))
        return found if out is None else write("round", out, found)

    def choose(self, *choices: Any, out: Any = None, mode: Mode = "raise") -> Array:
        """Elements of `choices`, each from the array that `x` names."""
        if self.dtype.kind not in "biu":
            raise errors.dtype_not_allowed("choose", "x", "integer", self.dtype)
        found = _xp.choose(self, _choices(choices[0] if len(choices) == 1 else choices), mode=mode)
        return found if out is None else write("choose", out, found)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Array:
        """Elements along `axis` where `condition` is true; None: of all."""
        given = as_operand(condition)
        if len(given.shape) != 1:
            raise errors.ArgumentValueError(f"compress: condition must have one axis, not shape {tuple(given.shape)}")
        return self.take(_xp.nonzero(given)[0], axis=axis, out=out)

    def nonzero(self) -> tuple[Array, ...]:
        """Indices of the elements that are not zero: `xp.nonzero`."""
        return _xp.nonzero(self)

    def repeat(self, repeats: Any, axis: int | None = None) -> Array:
        """Elements, each as often as `repeats` says: `xp.repeat`."""
        return _xp.repeat(self, as_operand(repeats), axis=axis)

    def searchsorted(self, v: Any, side: Literal["left", "right"] = "left", sorter: Any = None) -> Array:
        """Indices at which to insert `v` in order: `xp.searchsorted`."""
        new, order = as_operand(v), as_operand(sorter)
        try:
            return _xp.searchsorted(self, new, side=side, sorter=order)
        except errors.ArgumentTypeError:
            return complex_order.searchsorted(self, new, side, order)

    def take(self, indices: Any, axis: int | None = None, out: Any = None, mode: Mode = "raise") -> Array:
        """Elements at `indices` along `axis`; None: of all."""
        found = _taken(self, indices, axis, mode)
        return found if out is None else write("take", out, found)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """A diagonal of the matrices of two axes, as a read-only view."""
        return _xp.linalg.diagonal(_matrices("diagonal", self, axis1, axis2), offset=offset)

    # Order

    def argpartition(self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None) -> Array:
        """Indices that partition along `axis`: `xp.argpartition`."""
        x, along = (_xp.reshape(self, (-1,)), -1) if axis is None else (self, axis)
        _check_partition("argpartition", x, kth, along, kind, order)
        return _xp.argpartition(x, kth, axis=along)

    def argsort(
        self, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None
    ) -> Array:
        """Indices that sort along `axis`, in a stable order: `xp.argsort`."""
        _check_kind("argsort", kind, order)
        axis = _axis_of_none(self, axis)
        try:
            return _xp.argsort(_xp.reshape(self, (-1,))) if axis is None else _xp.argsort(self, axis=axis)
        except errors.ArgumentTypeError:
            return complex_order.argsort(self, axis)

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None) -> None:
        """Bring the `kth` element to its place in place: `xp.partition`."""
        _check_partition("partition", self, kth, axis, kind, order)
        self[...] = _xp.partition(self, kth, axis=axis)

    def sort(self, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None) -> None:
        """Sort in place along `axis`; `xp.sort` gives a sorted copy."""
        _check_kind("sort", kind, order)
        views.require_writable(self, "sort")
        try:
            found = _xp.sort(self, axis=axis)
        except errors.ArgumentTypeError:
            found = complex_order.sort(self, axis)
        self[...] = found

    # Shape

    def flatten(self, order: Order = _C) -> Array:
        """A copy with one axis, its elements in `order`."""
        native = self._native
        if type(native) is np.ndarray and order == _C:
            return wrap(native.flatten(), self._home)
        return _xp.reshape(self if order == _C else _in_order("flatten", self, order), (-1,), copy=True)

    def ravel(self, order: Order = _C) -> Array:
        """All elements on one axis, as a view where they are contiguous."""
        x = self if order == _C else _in_order("ravel", self, order)
        return _xp.reshape(x, (-1,), copy=None if layout.is_contiguous(x, "C") else True)

    def reshape(self, *shape: Any, order: Literal["C", "F", "A"] = _C, copy: bool | None = None) -> Array:
        """Elements in another shape, a tuple or lengths: `xp.reshape`."""
        wanted = shape[0] if len(shape) == 1 else shape
        if order == _C:
            return _xp.reshape(self, wanted, copy=copy)
        if order not in ("F", "A"):
            raise errors.ArgumentValueError(f"reshape: order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A" and not _is_in_columns(self):
            return _xp.reshape(self, wanted, copy=copy)
        return _xp.reshape(self.T, as_shape("reshape", "shape", wanted)[::-1], copy=copy).T

    def resize(self, *new_shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place, cutting elements or adding zeros."""
        wanted = as_shape("resize", "new_shape", new_shape[0] if len(new_shape) == 1 else new_shape)
        if min((0, *wanted)) < 0:
            raise errors.ArgumentValueError(f"resize: new_shape must hold no negative lengths, not {wanted}")
        if views.may_be_seen(self):
            raise errors.ArgumentValueError(
                "resize: x is a view or has views, whose shape would not change. Make a new array: np.resize, "
                "or xp.reshape(x, ...)"
            )
        views.require_writable(self, "resize")
        count, flat = math.prod(wanted), _xp.reshape(self, (-1,))
        if count > self.size:
            flat = _xp.concat([flat, _xp.zeros(count - self.size, dtype=self.dtype)])
        _take_over(self, _xp.reshape(flat[:count], wanted).copy())

    def squeeze(self, axis: Axis = None) -> Array:
        """Without the axes of length 1, or without those in `axis`."""
        if axis is None:
            axis = tuple([at for at, length in enumerate(self.shape) if length == 1])
        return _xp.squeeze(self, axis)

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex, /) -> Array:
        """With two axes interchanged, as a view."""
        axes = list(range(self.ndim))
        first, second = (_axis("swapaxes", one, self.ndim) for one in (axis1, axis2))
        axes[first], axes[second] = second, first
        return _xp.permute_dims(self, tuple(axes))

    def transpose(self, *axes: Any) -> Array:
        """With axes in another order, as a view.

        `axes` are a sequence, integers, or none for the reverse order.
        """
        if not axes or axes == (None,):
            return self.T
        return _xp.permute_dims(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)

    # Copies and other dtypes

    def astype(
        self,
        dtype: DTypeLike,
        order: Order = "K",
        casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """In another dtype: `xp.astype`.

        Complex numbers that become real lose their imaginary parts, with a warning. Dtypes that only NumPy has, such as
        text and objects, give an ndarray.
        """
        if casting != "unsafe" and not np.can_cast(np.dtype(self.dtype), np.dtype(dtypes.dtype(dtype)), casting):
            raise errors.ArgumentTypeError(
                f"astype: x is {self.dtype} and cannot become {dtypes.dtype(dtype)} by casting={casting!r}"
            )
        try:
            result = _xp.astype(self, dtype, copy=copy)
        except errors.ArgumentTypeError:
            if dtypes.is_numpys_dtype(dtype):
                return np.asarray(self).astype(dtype)  # type: ignore[return-value]  # as said above
            if self.dtype.kind != "c" or dtypes.dtype(dtype).kind == "c":
                raise
            warn_of_imaginary_parts()
            result = _xp.astype(_xp.real(self), dtype)
        return result if order != "C" or result.flags.c_contiguous else result.copy("C")

    def copy(self, order: Order = _C) -> Array:
        """A copy, independent of the Array."""
        native = self._native
        if type(native) is np.ndarray and (order == "F" or not native.flags.c_contiguous):
            return wrap(native.copy(order), self._home)
        if order == "C" and self._home.has_views and not layout.is_contiguous(self, "C"):
            return _xp.reshape(_xp.reshape(self, (-1,), copy=True), self.shape)
        result = self.__copy__()
        if order == "C":
            views.forget_order(result)
        return result

    def view(self, dtype: Any = None, type: Any = None) -> Array:  # noqa: A002 - ndarray's name
        """A view; with `dtype`, of the bits of elements as numbers of that.

        If the sizes of the dtypes differ, the last axis has fewer or more elements. A class derived from np.ndarray, or
        a dtype that only NumPy has, gives an ndarray: a view if the memory is writable, else a copy.
        """
        is_numpys = [isinstance(one, _class) and issubclass(one, np.ndarray) for one in (dtype, type)]
        if any(is_numpys) or dtypes.is_numpys_dtype(dtype):
            host = self.__array__()
            given = [one for one in (dtype, type) if one is not None]
            return (host if host.flags.writeable else host.copy()).view(*given)  # type: ignore[no-any-return]  # as said
        if dtype is _class(self):
            dtype = None
        wanted = self.dtype if dtype is None else dtypes.dtype(dtype)
        if (isinstance(dtype, np.dtype) or (isinstance(dtype, str) and dtype[:1] in "<>")) and not np.dtype(
            dtype
        ).isnative:
            raise errors.ArgumentTypeError(
                f"view: dtype must be in the byte order of the machine, not {dtype}. Read the bytes by NumPy: "
                "np.frombuffer(x.tobytes(), ...)"
            )
        return self[...] if wanted is self.dtype else _of_bits(self, wanted)

    # Writes

    def is_integer(self) -> bool:
        """Whether the only element is a whole number."""
        value = self.item()  # type: ignore[attr-defined]  # an Array's
        return isinstance(value, int) or bool(value.is_integer())

    def as_integer_ratio(self) -> tuple[int, int]:
        """The only element as a fraction of two Python integers."""
        found: tuple[int, int] = self.item().as_integer_ratio()  # type: ignore[attr-defined]  # an Array's
        return found

    def byteswap(self, inplace: bool = False) -> Array:
        """The numbers with their bytes in the opposite order.

        With `inplace`, they overwrite the elements, and the Array itself is returned.
        """
        length = self.itemsize // (2 if self.dtype.kind == "c" else 1)
        stored = self.reshape(-1).view(np.uint8).reshape(-1, length)
        swapped = _xp.flip(stored, axis=1).flatten().view(self.dtype).reshape(self.shape)
        if not inplace:
            return swapped
        self[...] = swapped
        return self  # type: ignore[return-value]  # an Array is no other

    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
        """Make the Array a read-only one: `x.setflags(write=False)`."""
        if write is not None:
            self.flags.writeable = write

    def fill(self, value: Any) -> None:
        """Give all elements one value: `x[...] = value`."""
        if isinstance(value, (list, tuple)) or getattr(value, "shape", ()) != ():
            raise errors.ArgumentValueError("fill: value must be one number. Write several: x[...] = ...")
        self[...] = value

    def put(self, indices: Any, values: Any, mode: Mode = "raise") -> None:
        """Write `values` at `indices` into the elements in row-major order."""
        at = _xp.reshape(_positions("put", indices, self.size, mode), (-1,))
        if type(values) in SCALARS or math.prod(np.shape(values)):
            self.flat[at] = values

    # Bytes

    def tobytes(self, order: Order = _C) -> bytes:
        """The bytes of the values in `order`."""
        return self._host("tobytes").tobytes(order)

    def tofile(self, fid: Any, /, sep: str = "", format: str = "%s") -> None:  # noqa: A002 - ndarray's name
        """Write the values to a file, as `ndarray.tofile` does."""
        self._host("tofile").tofile(fid, sep, format)

    def dumps(self) -> bytes:
        """The pickle of the Array."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Write the pickle of the Array to a file, or a path."""
        if hasattr(file, "write"):
            pickle.dump(self, file)
        else:
            with open(file, "wb") as opened:
                pickle.dump(self, opened)


_class: Final = type
_SORTS: Final = ("quicksort", "mergesort", "heapsort", "stable")
_SORTS_BY_LETTER: Final = tuple(one[0] for one in _SORTS)


def set_shape(x: Array, shape: Any) -> None:
    """Give an Array another shape in place: `x.shape = shape`.

    Raises ValueError if only a copy can have that shape.
    """
    view, home = views.view_of(x), x._home
    wanted = as_shape("shape", "x.shape", shape)
    native, cause = None, None
    try:
        if view is not None and view.is_seen():
            if views.exchange(x, _xp.reshape(x, wanted)):
                return
        else:
            native = home.reshape(x._native, wanted, copy=False if home.has_views and x.ndim else None)
    except Exception as error:  # noqa: BLE001 - each library has a class of its own for it
        cause = error
    if native is None:
        raise errors.ArgumentValueError(
            f"shape: x of shape {x.shape} cannot have the shape {wanted} in place. Take xp.reshape(x, ...)"
        ) from cause
    second_copies.drop(x)
    x._native = native
    if view is not None:
        x._view = views.READ_ONLY if view is views.READ_ONLY else None


def element(x: Array, args: tuple[Any, ...]) -> Array:
    """The element selected by the arguments of `x.item(...)`."""
    if len(args) == 1 and type(args[0]) is not tuple:
        return x.flat[operator.index(args[0])]
    key = args[0] if len(args) == 1 else args
    if len(key) != x.ndim:
        raise errors.ArgumentValueError(
            f"item: args must be an index for each of {x.ndim} axes, or one for all elements, not {len(key)} integers"
        )
    return x[tuple([operator.index(one) for one in key])]


def _take_over(x: Any, other: Array) -> None:
    """Give an Array without views the values of another, new Array."""
    second_copies.drop(x)
    x._native, x._home = other._native, other._home
    if views.view_of(x) is not None:
        x._view = None


def _of_bits(x: Methods, wanted: DType) -> Array:
    """A view of the bits of elements as numbers of another dtype."""
    home, came = x._home, x.dtype
    if came.itemsize != wanted.itemsize:
        _check_bytes(x, came, wanted)
    try:
        native = home.bitcast(x._native, home.backend.native_dtype(wanted.name))
    except (KeyError, TypeError, ValueError, errors.UnsupportedError) as error:
        raise errors.UnsupportedError(
            f"view: bits of {came} as {wanted} are not implemented on {home.backend}"
        ) from error
    found = wrap(native, home)
    if views.is_guarded(x):
        views.record(found, x, views.of_bits(came.name, wanted.name))
    return found


def _check_bytes(x: Methods, came: DType, wanted: DType) -> None:
    """Raise ValueError if elements cannot be split or joined to others."""
    if not x.ndim:
        why = "x has no axes"
    elif layout.memory_of(x) is None:
        why = "the trace does not know all lengths of x"
    elif x.size and x.shape[-1] > 1 and layout.strides(x)[-1] != came.itemsize:
        why = "the last axis of x is not contiguous"
    elif x.shape[-1] * came.itemsize % wanted.itemsize:
        why = f"the last axis of x has {x.shape[-1]} elements"
    else:
        return
    raise errors.ArgumentValueError(
        f"view: dtype must have {came.itemsize} bytes as {came} has, not {wanted.itemsize} as {wanted}, since {why}"
    )


# Reductions

_IDENTITY: Final = {"all": 1, "any": 0, "prod": 1, "sum": 0}
_COMBINED: Final[dict[str, str]] = {"max": "maximum", "min": "minimum", "prod": "multiply", "sum": "add"}
"""The function that adds `initial` to a reduction."""


def _reduced(name: str, x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Array:
    """A reduction with NumPy's `out`, `initial` or `where`."""
    if where is not True and where is not None:  # None is what JAX has for all
        if name not in _IDENTITY and initial is None:
            raise errors.ArgumentValueError(
                f"{name}: initial is required with where, for lines without a chosen element"
            )
        x = _xp.where(_mask(name, where, x), x, _number(_IDENTITY.get(name, initial), x.dtype))
    options = {"dtype": dtype} if name in ("prod", "sum") else {}
    if initial is not None and name in ("max", "min") and x.size == 0:
        found = _xp.full(_xp.any(x, axis=axis, keepdims=keepdims).shape, initial, dtype=x.dtype)
    else:
        found = getattr(x, name)(axis=axis, keepdims=keepdims, **options)
        if initial is not None:
            found = _combined(name, found, _number(initial, found.dtype))
    return found if out is None else write(name, out, found)


def _extreme(name: str, x: Any, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Array:
    """`max` or `min`, also of complex numbers."""
    if out is not None or initial is not None or where is not True:
        return _reduced(name, x, axis, None, out, keepdims, initial, where)
    try:
        return getattr(_xp, name)(x, axis=axis, keepdims=keepdims)  # type: ignore[no-any-return]  # an Array
    except errors.ArgumentTypeError:
        return complex_order.extreme(x, axis, keepdims, is_highest=name == "max")


def _arg_extreme(name: str, x: Any, axis: int | None, out: Any, keepdims: bool) -> Array:
    """`argmax` or `argmin`, also of complex numbers."""
    try:
        found = getattr(_xp, name)(x, axis=_axis_of_none(x, axis), keepdims=keepdims)
    except errors.ArgumentTypeError:
        found = complex_order.arg_extreme(x, axis, keepdims, is_highest=name == "argmax")
    return found if out is None else write(name, out, found)  # type: ignore[no-any-return]  # an Array


def _accumulated(name: str, function: Callable[..., Array], x: Any, axis: int | None, dtype: Any, out: Any) -> Array:
    """Sums or products up to each position; of all without an axis."""
    elements = x if axis is not None or x.ndim == 1 else _xp.reshape(x, (-1,))
    found = function(elements, axis=axis or 0, dtype=dtype)
    return found if out is None else write(name, out, found)


def _combined(name: str, found: Array, initial: Array) -> Array:
    combine: Callable[..., Array] = getattr(_xp, _COMBINED[name])
    try:
        return combine(found, initial)
    except errors.ArgumentTypeError:
        return complex_order.extreme_of_two(found, initial, is_highest=name == "max", leaves_nan_out=False)


def _number(value: Any, dtype: DType) -> Array:
    """A number in a dtype, cast as NumPy casts `initial`."""
    if type(value) is int and dtype.kind in "iu":
        return _xp.asarray(value, dtype=dtype)  # or OverflowError
    return _xp.astype(value if is_array(value) else _xp.asarray(value), dtype)


def _mask(function: str, where: Any, x: Array) -> Array:
    """The condition `where` in the shape of the array that is reduced."""
    given = _xp.asarray(where) if isinstance(where, (bool, np.bool)) else as_operand(where)
    mask = _xp.astype(as_array(function, "where", given), _xp.bool)
    return mask if mask.shape == x.shape else _xp.broadcast_to(mask, x.shape)


def _in_floats(x: Any, dtype: DTypeLike | None) -> Array:
    """The values in the floating-point dtype in which moments are computed."""
    wanted = x.dtype if dtype is None else dtypes.dtype(dtype)
    if wanted.kind not in "fc":
        wanted = x.dtype if x.dtype.kind in "fc" else _xp.float64
    return x if wanted is x.dtype else _xp.astype(x, wanted)


def _returned(function: str, out: Any, found: Array, dtype: DTypeLike | None) -> Array:
    if dtype is not None and dtypes.dtype(dtype).kind not in "fc":
        found = _xp.astype(found, dtype)
    return found if out is None else write(function, out, found)


def _spread(
    name: str, x: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: bool, where: Any, mean: Any
) -> Array:
    """`std` or `var`."""
    if dtype is None and out is None and where is True and mean is None and x.dtype.kind != "c":
        return getattr(_xp, name)(x, axis=axis, correction=ddof, keepdims=keepdims)  # type: ignore[no-any-return]  # an Array
    found = _variance(_in_floats(x, dtype), axis, ddof, keepdims, where, mean)
    return _returned(name, out, _xp.sqrt(found) if name == "std" else found, dtype)


def _count(x: Array, axis: Any, keepdims: bool, where: Any) -> Array:
    """The number of chosen elements of each line, in the dtype of `x`."""
    chosen = _xp.sum(_mask("mean", where, x), axis=axis, keepdims=keepdims)
    return _xp.astype(chosen, _xp.real(x).dtype if x.dtype.kind == "c" else x.dtype)


def _mean(x: Array, axis: Any, keepdims: bool, where: Any) -> Array:
    if where is True or where is None:
        return _xp.mean(x, axis=axis, keepdims=keepdims)
    return _reduced("sum", x, axis, None, None, keepdims, None, where) / _count(x, axis, keepdims, where)


def _variance(x: Array, axis: Any, ddof: float, keepdims: bool, where: Any, mean: Any) -> Array:
    """The variance; of complex numbers that of both parts together."""
    where = True if where is None else where
    if where is True and mean is None:
        if x.dtype.kind != "c":
            return _xp.var(x, axis=axis, correction=ddof, keepdims=keepdims)
        parts = [_xp.var(part, axis=axis, correction=ddof, keepdims=keepdims) for part in (_xp.real(x), _xp.imag(x))]
        return parts[0] + parts[1]
    where = _xp.asarray(True) if where is True else where
    distance = x - (_mean(x, axis, True, where) if mean is None else mean)
    squares = _xp.square(_xp.abs(distance))
    total = _reduced("sum", squares, axis, None, None, keepdims, None, where)
    return total / _xp.maximum(_count(x, axis, keepdims, where) - ddof, 0)


# Elements


def warn_of_imaginary_parts() -> None:
    """Warn that complex values become real, in NumPy's words."""
    callers.warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)


def _axis_of_none(x: Any, axis: int | None) -> int | None:
    """An axis, or None for axis 0 or -1 of an Array without axes."""
    return None if axis in (0, -1) and not x.ndim else axis


def _dot(x: Any, other: Any) -> Array:
    ndim, its = x.ndim, len(getattr(other, "shape", ()))
    if not its or not ndim:
        return _xp.multiply(x, other)
    if its > 2 and ndim > 1:
        return _xp.tensordot(x, other, axes=((ndim - 1,), (its - 2,)))
    return _xp.matmul(x, other)


def _rounded(x: Any, decimals: int) -> Array:
    if decimals == 0:
        return _xp.round(x)
    if x.dtype.kind in "biu":
        if decimals > 0:
            return x.copy()  # type: ignore[no-any-return]  # an Array
        return _xp.astype(_rounded(_xp.astype(x, _xp.float64), decimals), x.dtype)
    scale = 10.0 ** abs(decimals)
    return _xp.round(x * scale) / scale if decimals > 0 else _xp.round(x / scale) * scale


def _axis(function: str, axis: SupportsIndex, ndim: int) -> int:
    """An axis counted from the first. Raises IndexError for a wrong one."""
    given = operator.index(axis)
    if not -ndim <= given < ndim:
        raise errors.no_such_axis(function, given, ndim)
    return given % ndim


def _matrices(function: str, x: Any, axis1: SupportsIndex, axis2: SupportsIndex) -> Array:
    """The array with two axes as its last ones."""
    if x.ndim < 2:
        raise errors.ArgumentValueError(f"{function}: x must have at least 2 axes, not {x.ndim}")
    axes = _axis(function, axis1, x.ndim), _axis(function, axis2, x.ndim)
    if axes[0] == axes[1]:
        raise errors.ArgumentValueError(f"{function}: axis1 and axis2 must differ, not both be {axes[0]}")
    last = x.ndim - 2, x.ndim - 1
    return x if axes == last else _xp.moveaxis(x, axes, last)


def _positions(function: str, indices: Any, count: int, mode: str) -> Array:
    """Indices into a number of elements, brought into range by `mode`."""
    given = as_operand(indices)
    at = _xp.asarray(given) if type(given) in SCALARS else as_array(function, "indices", given)
    if mode == "raise":
        return at
    if mode == "wrap":
        return _xp.remainder(at, count)
    if mode == "clip":
        return _xp.clip(at, 0, count - 1)
    raise errors.ArgumentValueError(f"{function}: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")


def _taken(x: Any, indices: Any, axis: int | None, mode: str) -> Array:
    if axis is None:
        x = _xp.reshape(x, (-1,))
    along = _axis("take", axis or 0, x.ndim)
    at = _positions("take", indices, x.shape[along], mode)
    if at.ndim:
        return _xp.take(x, at, axis=along)
    return _xp.squeeze(_xp.take(x, _xp.reshape(at, (1,)), axis=along), along)


def _choices(choices: Any) -> list[Array]:
    """The arrays among which to choose.

    Python numbers have no dtype of their own.
    """
    given = [one if type(one) in SCALARS else as_operand(one) for one in choices]
    if not given:
        raise errors.ArgumentValueError("choose: choices must hold at least one array, but is empty")
    if not any(type(one) in SCALARS for one in given) or not any(map(is_array, given)):
        return [_xp.asarray(one) for one in given]
    dtype = _xp.result_type(*given)
    return [_xp.astype(_xp.asarray(one), dtype, copy=False) for one in given]


def chosen(x: Any, arrays: Sequence[Array], mode: str) -> Array:
    """Elements of arrays, broadcast with the indices `x`."""
    at, *parts = _xp.broadcast_arrays(_positions("choose", _xp.astype(x, _xp.int64), len(arrays), mode), *arrays)
    if not at._home.is_traced(at._native) and bool(_xp.any((at < 0) | (at >= len(parts)))):
        raise errors.ArgumentValueError(
            f"choose: x must hold indices of {len(parts)} choices, from 0 on. Or let them wrap: mode='wrap'"
        )
    return _xp.take_along_axis(_xp.stack(parts), _xp.expand_dims(at, 0), axis=0)[0]


# Order


def _check_kind(function: str, kind: str | None, order: Any) -> None:
    if kind is not None and not kind.lower().startswith(_SORTS_BY_LETTER):  # as NumPy reads it
        raise errors.ArgumentValueError(f"{function}: kind must be one of {', '.join(_SORTS)}, not {kind!r}")
    if order is not None:
        raise errors.ArgumentValueError(f"{function}: order must be None, as no Array has fields")


def _check_partition(function: str, x: Any, kth: Any, axis: int, kind: str, order: Any) -> None:
    if kind != "introselect":
        raise errors.ArgumentValueError(f"{function}: kind must be 'introselect', not {kind!r}")
    _check_kind(function, None, order)
    length = x.shape[_axis(function, axis, x.ndim)]
    given = as_python_integers(kth)
    for one in given if isinstance(given, tuple) else (given,):
        if not -length <= operator.index(one) < length and 0 not in x.shape:  # as NumPy, which sorts nothing then
            raise errors.ArgumentValueError(f"{function}: kth must be from {-length} to {length - 1}, not {one}")


def _is_in_columns(x: Any) -> bool:
    """Whether elements lie in column-major, and not in row-major order."""
    return layout.is_contiguous(x, "F") and not layout.is_contiguous(x, "C")


def _in_order(function: str, x: Any, order: str) -> Array:
    """The array with its axes so that row-major order is the order wanted."""
    if order not in ("C", "F", "A", "K"):
        raise errors.ArgumentValueError(f"{function}: order must be 'C', 'F', 'A' or 'K', not {order!r}")
    memory = layout.memory_of(x) if order == "K" else None
    if memory is not None:
        axes = sorted(range(x.ndim), key=lambda axis: -abs(memory.strides[axis]))
        return x if axes == list(range(x.ndim)) else _xp.permute_dims(x, axes)
    return x.T if order == "F" or (order == "A" and _is_in_columns(x)) else x  # type: ignore[no-any-return]  # an Array


for _name, _member in list(vars(Methods).items()):
    if inspect.isfunction(_member):
        _member.__qualname__ = f"Array.{_name}"  # the class by which users know it
