"""`Array`, the one array class: operators, indexing, conversion to Python.

An Array holds a native array and its home. Indexing, transposing and reshaping return views, as in NumPy: a write to
either changes both. `_memory.views` describes views of immutable arrays. No write changes a native array that the user
passed in.
"""

from __future__ import annotations

import math
import numbers
import operator
import sys
import types
from collections.abc import Iterator, Sequence
from types import EllipsisType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np

from anyarray._array import complex_order, methods, printing, protocols
from anyarray._base import dtypes, errors, other_names, sizes
from anyarray._base.dtypes import DType
from anyarray._base.extension import speedups
from anyarray._call import compiled, diagnosis
from anyarray._call.arguments import as_array, as_written, unknown_length
from anyarray._call.compiled import fast_path
from anyarray._call.dispatch import operator_of
from anyarray._call.operators import decides
from anyarray._call.placement import home_of_arrays, lent, native_on
from anyarray._call.slow_path import stays_in_numpy
from anyarray._call.wrapping import OPERANDS, SCALARS, cast, copied, expose, register_array_class, wrap, wrap_all
from anyarray._choice import choice
from anyarray._lazy.compiled import FUNCTIONS as LAZY_FUNCTIONS
from anyarray._memory import alignment, ownership, second_copies, transfer, views
from anyarray._memory.second_copies import LENDABLE
from anyarray._memory.transfer import REFUSALS, UNWATCHED, watch
from anyarray._memory.views import View
from anyarray._registry import home as _home
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend, Split

API_VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""Versions of the standard that a caller may ask for; each contains the one before."""

Scalar: TypeAlias = bool | int | float | complex
Index: TypeAlias = "int | slice | EllipsisType | AnyArray | list[Any] | None"
Key: TypeAlias = "Index | tuple[Index, ...]"
Shape: TypeAlias = int | Sequence[int]
"""A shape as users may write it; an int means one axis."""


@runtime_checkable  # for runtime type checkers such as beartype
class AnyArray(Protocol):
    """For annotations: an Array or a native array of any library.

    Native arrays are np.ndarray, tf.Tensor, jax.Array, torch.Tensor and cupy.ndarray.
    """

    @property
    def shape(self) -> Any:
        """Lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The dtype, of the library's own class."""

    if TYPE_CHECKING:  # no condition of `isinstance`: some libraries raise where these are looked up

        @property
        def T(self) -> Any: ...  # noqa: N802 - NumPy's name
        def __getitem__(self, key: Any, /) -> Any: ...
        def __neg__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __add__(self, other: Any, /) -> Any: ...
        def __radd__(self, other: Any, /) -> Any: ...
        def __sub__(self, other: Any, /) -> Any: ...
        def __rsub__(self, other: Any, /) -> Any: ...
        def __mul__(self, other: Any, /) -> Any: ...
        def __rmul__(self, other: Any, /) -> Any: ...
        def __truediv__(self, other: Any, /) -> Any: ...
        def __rtruediv__(self, other: Any, /) -> Any: ...
        def __floordiv__(self, other: Any, /) -> Any: ...
        def __mod__(self, other: Any, /) -> Any: ...
        def __pow__(self, other: Any, /) -> Any: ...
        def __rpow__(self, other: Any, /) -> Any: ...
        def __matmul__(self, other: Any, /) -> Any: ...
        def __lt__(self, other: Any, /) -> Any: ...
        def __le__(self, other: Any, /) -> Any: ...
        def __gt__(self, other: Any, /) -> Any: ...
        def __ge__(self, other: Any, /) -> Any: ...


class _ClassOfArrays(type):
    """The metaclass of Array.

    It makes `Array(...)` raise; an `__init__` that raises would cost 40 ns for each Array. A class that a user derives
    from Array derives from NumPy's ndarray instead, because NumPy programs give it methods such as
    `__array_finalize__`. All ndarrays count as instances: for such a program, `np.ndarray` is the class of all arrays,
    including those of other packages. Code that must distinguish an Array from an ndarray tests `type(x) is Array`.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        if not any(isinstance(one, mcs) for one in bases):
            return super().__new__(mcs, name, bases, namespace, **kwargs)
        theirs = tuple(dtypes.DerivedArray if isinstance(one, mcs) else one for one in bases)
        return types.new_class(name, theirs, kwargs, lambda made: made.update(namespace))

    def __instancecheck__(cls, instance: Any) -> bool:
        return (cls is Array and isinstance(instance, np.ndarray)) or super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return (cls is Array and issubclass(subclass, np.ndarray)) or super().__subclasscheck__(subclass)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise errors.ArgumentTypeError("Array: cannot be called. Make an Array: xp.asarray(...)")

    def __dir__(cls) -> list[str]:
        """The attributes without those that only raise."""
        return [
            name for name in super().__dir__() if not isinstance(cls.__dict__.get(name), other_names.MissingAttribute)
        ]


class Array(methods.Methods, metaclass=_ClassOfArrays):
    """An array of the standard, on any backend.

    Creation functions make Arrays; the class cannot be called. `shape`, `dtype`, `device` and the operators are those
    of the standard; Python scalars are weak. `x[...] = v` and `x += 1` work on every backend.
    """

    __slots__ = ("__weakref__", "_home", "_second", "_value", "_view")

    _value: Native  # or the call that is recorded in its place; see _speedups/lazy/lazy.c
    _native: Native  # the same, computed if it is recorded
    _home: Home
    _second: tuple[Backend, Native] | tuple[None, str | None] | None  # see _memory.second_copies; unset if never set
    _view: View | None  # see _memory.views; unset while nothing is recorded

    __class_getitem__: Any = classmethod(types.GenericAlias)  # for annotations: np.ndarray[Any, np.dtype[np.float64]]
    __array_priority__ = 1000  # above ndarray's 0, for code that still reads it

    @property  # type: ignore[misc]  # is never set
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The class for `isinstance`, in addition to the type.

        An Array without axes counts as one of `numbers`, as NumPy's scalars do.
        """
        try:
            return Array if self.ndim else _NUMBERS.get(self.dtype.kind, Array)
        except Exception:  # noqa: BLE001 - of stand-ins of frameworks, and of lengths that a trace does not know
            return Array

    @property
    def dtype(self) -> DType:
        """The dtype; one object for all backends."""
        return self._home.dtype(self._value)

    @property
    def device(self) -> Backend:
        """The backend on which the Array lives."""
        return self._home.backend

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis.

        A length that a trace does not know is a 0-d integer Array.
        """
        return self._home.lengths_of(self._value)  # type: ignore[no-any-return]  # checked by the contract's test

    @shape.setter
    def shape(self, shape: Shape) -> None:
        methods.set_shape(self, shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._home.shape_of(self._value))

    @property
    def size(self) -> int:
        """Number of elements.

        It is a 0-d integer Array if a trace does not know a length.
        """
        size = 1
        for n in self._home.lengths_of(self._value):
            size *= n
        return size

    @property
    def T(self) -> Array:  # noqa: N802 - the standard's name
        """The Array with its axes in reverse order, as a view.

        `x.mT` is the transpose of each matrix of a stack.
        """
        return _permuted(self, tuple(range(len(self._home.shape_of(self._native))))[::-1])

    @property
    def mT(self) -> Array:  # noqa: N802 - the standard's name
        """The transpose of each matrix of a stack.

        Raises ValueError if it has fewer than two axes.
        """
        ndim = len(self._home.shape_of(self._native))
        if ndim < 2:
            raise errors.ArgumentValueError(f"mT: x must have at least 2 axes, not {ndim}")
        return _permuted(self, (1, 0) if ndim == 2 else (*range(ndim - 2), ndim - 1, ndim - 2))

    def to_device(self, device: Backend | Split | str, /, *, stream: Any = None) -> Array:
        """The same values on another backend, placed there.

        Returns `self` if it is already placed there. `device` is a device or its name. `stream` has no effect: the
        standard requires it, and transfers keep their order. Raises TransferError for an Array that a transform traces
        or differentiates.
        """
        here = self._home
        if type(device) is Split:
            return _laid_out(self, device)
        try:
            read, lend, place, home = here.device_routes[device]
        except (KeyError, TypeError):
            read, lend, place, home = transfer.device_route(here, device)
        native: Any
        result = _new()
        if here.backend.is_differentiated is not None and home.backend is not here.backend:
            transfer.refuse_differentiated(self._native, here.backend, f"be brought to {home.backend}")
        if read is not None and watch() is UNWATCHED:
            # Immutable memory, of which NumPy makes a view in half a microsecond: no other check is needed.
            try:
                native = read(self._native)
                result._native = native
                if type(native.base) is memoryview:
                    result._home = home
                    return result
            except REFUSALS:
                pass
        elif (
            lend is not None
            and getattr(self, "_second", None) is LENDABLE
            and watch() is UNWATCHED
            and ownership.is_sole_owner(self)
        ):
            # As `brought` does, in a quarter of a microsecond less.
            try:
                result._native = lent(self, home.backend, lend, place)
                result._home = home
                return result
            except REFUSALS:
                pass
        if home is here:
            return self
        result._native = _native_on(self, home, "to_device", True)
        result._home = home
        if home.backend is here.backend and views.is_guarded(self):
            views.record(result, self, views.Indexed(...))
        return result

    def item(self, *args: Any) -> Any:
        """The only element as a Python scalar; with an index, that element.

        `args` are an index for each axis, or one index in row-major order. Raises ValueError unless there is exactly
        one element.
        """
        native = self._native
        if args:
            if type(native) is _ndarray and type(args[0]) is int:
                try:
                    return native.item(*args)
                except (IndexError, TypeError, ValueError):
                    pass  # what is wrong is said there
            return methods.element(self, args).item()
        number = _number(native, self._home)
        if number is not None:
            return number
        host = native if isinstance(native, _NUMPYS) else self._host("item")
        if host.size != 1:
            one = f"Take one: {_first_of(self.shape)}, or all" if host.size else "Take what there is"
            raise errors.ArgumentValueError(
                f"item: x must hold exactly one element, not shape {self.shape}. {one}: x.tolist()"
            )
        return host.item()

    def tolist(self) -> Any:
        """Nested lists of Python scalars; one scalar if there are no axes."""
        native = self._native
        return native.tolist() if isinstance(native, _NUMPYS) else self._host("tolist").tolist()

    def _host(self, cause: str, *, explicit: bool = False) -> np.ndarray[Any, Any]:
        return transfer.to_host(self._native, self._home.backend, cause, explicit=explicit)

    def _handed_out(self, cause: str, *, explicit: bool = False) -> np.ndarray[Any, Any]:
        """The values for other code, which writes to the Array do not change.

        They are a copy if the memory is written in place and others may write to it.
        """
        transfer.refuse_differentiated(self._native, self._home.backend, "become a NumPy array")
        if views.is_replaced(self) or isinstance(self._native, _NUMPYS) or self._home.backend.kind != "cpu":
            return self._host(cause, explicit=explicit)
        is_guarded = views.guard_alone(self)
        host = self._host(cause, explicit=explicit)
        return host if is_guarded else np.array(host)

    def _as_python_scalar(self, function: str, kinds: str) -> Any:
        native = self._native
        if isinstance(native, _NUMPYS) and not native.ndim and native.dtype.kind in kinds:
            return native.item()
        number = _number(native, self._home)
        if number is not None and _KINDS[type(number)] in kinds:
            return number
        dtype, shape = self.dtype, self.shape
        if shape != ():
            cure = "" if 0 in shape else f". Take an element: {_first_of(shape)}"
            raise errors.ArgumentTypeError(f"{function}: x must have no axes, not shape {shape}{cure}")
        if dtype.kind not in kinds:
            cure = f". Convert it: {'xp.real(x)' if dtype.kind == 'c' else 'int(x)'}" if kinds != "b" else ""
            raise errors.ArgumentTypeError(f"{function}: x must not have the dtype {dtype}{cure}")
        return self._host(function).item()

    # NumPy scalars and 0-d arrays, the common case, are converted at once.
    def __bool__(self) -> bool:
        native = self._native
        if isinstance(native, _NUMPYS) and not native.ndim:
            return bool(native)
        number = _number(native, self._home)
        if number is not None:
            return bool(number)
        if self.size != 1:  # an Array of one element has a truth value in any shape, as in NumPy, TensorFlow and JAX
            raise errors.ArgumentValueError(
                f"bool: the truth of an Array of shape {self.shape} is ambiguous. Use xp.any(x) or xp.all(x)"
            )
        return bool(self._host("bool").item())

    def __int__(self) -> int:
        return int(self._native if isinstance(self._native, _REAL) else self._as_python_scalar("int", "biuf"))

    def __float__(self) -> float:
        return float(self._native if isinstance(self._native, _REAL) else self._as_python_scalar("float", "biuf"))

    def __complex__(self) -> complex:
        return complex(
            self._native if isinstance(self._native, _COMPLEX) else self._as_python_scalar("complex", "biufc")
        )

    def __index__(self) -> int:
        return operator.index(
            self._native if isinstance(self._native, np.integer) else self._as_python_scalar("index", "iu")
        )

    def __bytes__(self) -> bytes:
        """The bytes of the values in C order.

        For a 0-d integer, that many zero bytes, as `bytes` of an int.
        """
        host = self._host("bytes")
        return host.tobytes() if host.ndim or host.dtype.kind not in "iu" else bytes(operator.index(host))

    def __round__(self, ndigits: int | None = None) -> int | float:
        rounded: int | float = round(self._as_python_scalar("round", "biuf"), ndigits)
        return rounded

    def __trunc__(self) -> int:
        whole: int = math.trunc(self._as_python_scalar("trunc", "biuf"))
        return whole

    def __len__(self) -> int:
        try:
            return self._home.count_of(self._value)  # type: ignore[no-any-return]  # as above
        except TypeError as error:
            raise errors.ArgumentTypeError("len: x has no axes") from error

    def __iter__(self) -> Iterator[Array]:
        if not self.ndim:
            raise errors.ArgumentTypeError("iter: x has no axes")
        return _elements(self)

    def __contains__(self, value: Any) -> bool:
        equal = self == value
        if type(equal) is not Array:
            raise errors.ArgumentTypeError(f"in: value must be a number or an Array, not {type(value).__name__}")
        return bool(namespace().any(equal))

    def __format__(self, spec: str) -> str:
        if spec and not self.ndim:
            return format(self.item(), spec)
        try:
            return format(str(self), spec)
        except ValueError as error:
            raise errors.ArgumentTypeError(
                f"format: x must have no axes for {spec!r}, not shape {self.shape}. Format its elements: x.tolist()"
            ) from error

    def __repr__(self) -> str:
        return printing.text_of(self)

    def __str__(self) -> str:
        return printing.values_of(self)

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __copy__(self) -> Array:
        return copied(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return copied(self)

    def __reduce__(self) -> tuple[Any, ...]:
        home = self._home
        return _unpickled, (np.array(self._host("pickle", explicit=True)), home.backend.name, home.placed)

    def __sizeof__(self) -> int:
        """Bytes, including the elements, for `sys.getsizeof` and Dask."""
        return object.__sizeof__(self) + (self.size or 0) * self.dtype.itemsize

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """The namespace of the standard: anyarray itself.

        Raises ValueError for a version that it does not know.
        """
        if api_version is not None and api_version not in API_VERSIONS:
            raise errors.ArgumentValueError(
                f"__array_namespace__: api_version must be one of {', '.join(API_VERSIONS)}, not {api_version!r}"
            )
        return namespace()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The values for NumPy: a view, or a copy for another dtype.

        For an Array on NumPy, the result is a writable view, but read-only if the memory belongs to other code, and a
        copy for a number that NumPy computed. For other libraries it is read-only: a view if memory can be shared, else
        a copy.
        """
        host = self._exposed() if type(self._native) is _ndarray else self._handed_out("__array__")
        if dtype is not None and np.dtype(dtype) != host.dtype:
            if copy is False:
                raise ValueError(f"asarray: a copy is needed to convert {host.dtype} to {np.dtype(dtype)}")
            return host.astype(dtype)
        if copy is None and isinstance(self._native, np.generic):
            return np.array(host)  # as of NumPy's own scalar: the elements of a view of it could not be written
        return np.array(host) if copy else host

    def _exposed(self) -> np.ndarray[Any, Any]:
        """A view of an ndarray for other code.

        It is writable if the memory belongs to an Array.
        """
        second = getattr(views.root_of(self), "_second", None)
        if second is not None and second[0] is not None:  # it is lent
            views.own(self)
        expose(self._native)
        return self._native.view()  # type: ignore[no-any-return]  # an ndarray's

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """`np.asarray(x)`, for Matplotlib, which looks for this method.

        Without it, Matplotlib iterates over the elements of a matrix and takes its rows, not its columns, as data sets.
        """
        return self.__array__()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        ours = _UFUNCS.get(ufunc)
        if ours is not None and method == "__call__" and not kwargs and _are_plain(map(type, inputs)):
            try:  # as `protocols.ufunc`, for the common case, in a third of the time
                return ours(*inputs)
            except (errors.ArgumentTypeError, errors.ArgumentValueError):
                pass  # NumPy may accept the operands
        return protocols.ufunc(namespace(), ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if len(types) > 1 and any(protocols.overrides(one, "__array_function__") for one in types):
            return NotImplemented  # as arrays with units do the rest, of Arrays too
        return protocols.function(func, args, kwargs)

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule, of shared memory or of a copy.

        The memory is shared read-only, or copied if the consumer cannot promise that.
        """
        is_numpys = type(self._native) is _ndarray
        if copy is False and is_numpys:
            self._exposed()  # from now on somebody may write to the memory
        elif copy is None and self._home.has_views and not is_numpys and not views.guard_alone(self):
            copy = True
        return protocols.dlpack(self._native, self._home, stream, max_version, dl_device, copy)

    def __dlpack_device__(self, /) -> tuple[int, int]:
        return protocols.dlpack_device(self._native, self._home)

    def __jax_array__(self) -> Native:
        """For jax.numpy: the values as a jax.Array."""
        return protocols.as_native_of(self, "jax")

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Native:
        """For TensorFlow: the values as a tf.Tensor."""
        return protocols.as_tensor(self, dtype)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """For PyTorch: its functions get the values as tensors."""
        return protocols.torch_function(func, args, kwargs or {})

    def __getitem__(self, key: Key, /) -> Array:
        home = self._home
        chosen = _current().backend
        if chosen is not None and chosen is not home.backend and chosen is not choice.BY_COST:
            home = home_of_arrays("index", [self])
        native = self._native if home is self._home else native_on(self, home, "index")
        kind = type(key)
        if kind is Array and key._home is home and home.dtype(key._native).kind in "bi":  # type: ignore[union-attr]  # as below
            key = key._native  # type: ignore[union-attr]  # `kind` says so
        elif kind is not int and not (
            type(native) is _ndarray
            and (
                kind in _BASIC
                or (kind is tuple and _are_basic(map(type, key)))  # type: ignore[arg-type]  # as above
                or (kind is _ndarray and key.dtype.kind in "bi")  # type: ignore[union-attr]  # as above
            )
        ):
            try:
                key = _normalised(key, home)
            except _Elsewhere:
                home = home_of_arrays("index", [self, *_arrays_of(key)])
                native = native_on(self, home, "index")
                key = _normalised(key, home, is_settled=True)
        if type(native) is not _ndarray and type(key) not in _BASIC:
            key = _counted(key, home)
        try:
            found = home.getitem(native, key)
        except Exception as error:
            _explain_index(error, key, native, home)
            raise
        result = _new()
        result._native = found
        result._home = home
        if not (type(native) is _ndarray and native.flags.writeable) and home is self._home and _is_view(key, self):
            views.record(result, self, views.Indexed(key if type(native) is not _ndarray else _normalised(key, home)))
        return result

    def __setitem__(self, key: Key, value: AnyArray | Scalar | Sequence[Any], /) -> None:
        form, kind = type(key), type(value)
        native = self._native
        is_array = form is Array and key._home is self._home  # type: ignore[union-attr]  # `form` says so
        if (
            type(native) is _ndarray
            and native.flags.writeable
            and (is_array or form is int or form in _BASIC or (form is tuple and _are_basic(map(type, key))))  # type: ignore[arg-type]  # as above
            and (
                native.dtype.kind in _EXACT_KINDS[kind]
                if kind in _EXACT_KINDS
                else kind is Array and type(value._native) in _OPERANDS and value._native.dtype is native.dtype  # type: ignore[union-attr]  # as above
            )
            and not (is_array and (key._native.dtype.kind not in "bi" or key._native.size >= _LARGE_KEY))  # type: ignore[union-attr]  # as above
        ):
            # The way of most, to memory of NumPy's, in half the time.
            try:
                native[key._native if is_array else key] = value._native if kind is Array else value  # type: ignore[union-attr, index]  # as above
                return
            except Exception:  # noqa: BLE001 - what is wrong is said there
                pass
        if kind in _EXACT_KINDS and self._is_written_in_place(native, key._native if is_array else key, value):  # type: ignore[union-attr]  # as above
            return
        del native  # or it would count as somebody else's
        self._write(key, value)

    def _is_written_in_place(self, native: Native, key: Key, value: Any) -> bool:
        """Write by the library's own assignment, if it supports the key."""
        written = self._home.backend.written
        return (
            written is not None
            and getattr(self, "_view", None) is None
            and getattr(self, "_second", None) is None
            and written(native, key, value)
        )

    def _write(self, key: Key, value: AnyArray | Scalar | Sequence[Any]) -> None:
        """Write a value at a key, wherever both live."""
        views.require_writable(self, "setitem")
        home = self._home
        written, form = key, type(key)
        if form is Array and key._home is home and home.dtype(key._native).kind in "bi":  # type: ignore[union-attr]  # as below
            key = key._native  # type: ignore[union-attr]  # `form` says so
        elif form is not int and not (
            type(self._native) is _ndarray
            and (
                form in _BASIC
                or (form is tuple and _are_basic(map(type, key)))  # type: ignore[arg-type]  # as above
                or (form is _ndarray and key.dtype.kind in "bi")  # type: ignore[union-attr]  # as above
            )
        ):
            try:
                key = _normalised(key, home)
            except _Elsewhere:
                if self._move_to_home_of([*_arrays_of(key), *_arrays_of(value)]):
                    self[key] = value
                    return
                key = _normalised(key, home, is_settled=True)
        kind = type(value)
        if kind is Array and views.is_part(value, self, key):
            return
        here = home.dtype_of(self._native)
        if kind in _EXACT_KINDS and type(self._native) is _ndarray and here.kind in _EXACT_KINDS[kind]:
            new, came = value, here  # not `home.constants`: a loop would fill that cache with its values
        elif kind is Array and value._home is home:  # type: ignore[union-attr]  # `kind` says so
            new = value._native  # type: ignore[union-attr]
            came = home.dtype_of(new)
        elif kind in SCALARS:
            dtype = home.dtype(self._native)
            if dtype.kind in "iu" and kind is not complex:
                value = dtypes.integer_within("setitem", value, dtype)  # type: ignore[arg-type]  # `kind` says so
                kind = int
            try:
                new = home.constants[value or _home.zero(value), kind, here]  # type: ignore[arg-type]  # `kind` says so
            except _home.ArrayMustBeCast:
                # In a write the value is cast to the array's dtype, not the array.
                new = home.constant(value, dtypes.default(kind).name)
            came = home.dtype_of(new)
        else:
            given = as_written("setitem", "value", value, self.dtype)
            if _decides_home(given, home) and self._move_to_home_of([given, *_arrays_of(written)]):
                self[written] = given
                return
            new = native_on(given, home, "setitem")
            came = home.dtype_of(new)
        if came is not here and home.dtype(new).kind == "c" and (its := self.dtype.kind) != "c":
            if kind is complex:
                raise errors.ArgumentTypeError(
                    f"setitem: value must not be complex for an Array of dtype {self.dtype}. Take xp.real(value)"
                )
            if its != "b":
                methods.warn_of_imaginary_parts()
                new = home.real(new)
        if kind not in SCALARS and (ndim := len(home.shape_of(new))):
            _require_axes(key, self, ndim, is_sequence=isinstance(value, (list, tuple)))
        try:
            if not views.is_replaced(self):
                if views.is_guarded(self):
                    views.own(self)
                native = home.setitem(self._native, key, new, True)
                if native is not self._native:  # a scalar of NumPy's
                    second_copies.drop(self)
                    self._native = native
                return
            with ownership.lock_of(views.root_of(self)):
                is_own = getattr(self, "_second", None) is second_copies.OWN
                # Not below, where the call holds the native array, too.
                is_own = is_own and ownership.is_sole_owner(self)
                views.replace(self, home.setitem(self._native, key, new, is_own))
        except Exception as error:
            if isinstance(error, OverflowError) and kind is int:
                as_written("setitem", "value", value, self.dtype)
            shape = () if kind in SCALARS else tuple(home.shape_of(new))
            _explain_index(error, key, self._native, home, shape)
            raise

    def __delitem__(self, key: Any, /) -> None:
        raise errors.ArgumentTypeError("del: elements of x cannot be deleted. Take the others: x[mask]")

    def _move_to_home_of(self, others: list[Array]) -> bool:
        """Move to the home of a call with `others`; False if already there."""
        home = home_of_arrays("setitem", [self, *others])
        if home is self._home:
            return False
        if views.may_be_seen(self):
            return False  # others would be left behind
        while True:
            here = self._native
            native = native_on(self, home, "setitem")
            with ownership.lock_of(self):
                if self._native is here:  # else a thread has written meanwhile
                    second_copies.drop(self)
                    self._native, self._home = native, home
                    return True

    def _update_in_place(self, function: str, other: Any) -> bool:
        """Compute `function` of both in place if possible; say whether it was.

        It is possible for writable NumPy memory. It takes half the time of a new array, and no memory. It is not done
        if another backend is faster, or if the result may have another dtype or shape.
        """
        home, kind, dtype = self._home, type(other), self._native.dtype
        if dtype.kind not in ("fc" if function == "divide" else "iufc") or not self._native.flags.writeable:
            return False
        if kind is Array and other._home is home and other._native.dtype is dtype:
            if other._native.shape not in (self._native.shape, ()):
                return False
        elif kind not in SCALARS or self._native.nbytes < alignment.SMALL:
            return False  # the compiled call does the same for few elements and a number that is used again
        compute: Any = getattr(home, function)
        if type(compute) is not np.ufunc:  # before its first call, it is a placeholder
            compute = home.lookup(function)
            if hasattr(compute, "ufunc_of"):
                compute = compute.ufunc_of(dtype, dtype)
            if type(compute) is not np.ufunc:
                return False
        if kind is not Array and dtype.kind not in _EXACT_KINDS[kind]:
            return False
        value = other._native if kind is Array else other
        if type(value) is int and dtype.kind in "iu" and not dtypes.holds(home.dtype(self._native), value):
            return False
        chosen = _current().backend
        if chosen is choice.BY_COST:
            if not (home.placed or stays_in_numpy(function, self, other)):
                return False
        elif chosen is not None and chosen is not home.backend:
            return False
        compute(self._native, value, out=self._native)
        return True

    def _rebind(self, result: Any, function: str, other: Any) -> Array:
        """`self` with the result of an in-place operator.

        An Array without axes that is not a view counts as a number, like NumPy's scalars: the result is a new Array of
        any shape, and other names keep the old Array. Otherwise shape and dtype stay. Raises ValueError for a result of
        another shape, TypeError for one of a dtype that cannot be cast to that of `self` by NumPy's rule "same_kind".
        `fast_inplace` in `_speedups/entry/operators.c` does the same for few elements.
        """
        if result is NotImplemented:
            if getattr(type(other), "__array_ufunc__", ...) is None:  # Python would make another array
                cure = f". Write x = x {_OPERATORS[function]} ..."
                raise errors.takes_part_in_no_ufunc(function, other, cure)
            return NotImplemented  # type: ignore[no-any-return]  # Python's protocol for operators
        if type(result) is not Array:
            if protocols.overrides(type(result), "__array_ufunc__") or not isinstance(result, np.ndarray):
                return result  # type: ignore[no-any-return]  # as the class of the operand decides
            result = namespace().asarray(result)
        home, native, before = result._home, result._native, self._native
        is_number = type(before) is not _ndarray and not self._home.shape_of(before) and not views.is_view(self)
        if home.shape_of(native) != self._home.shape_of(before):
            if is_number:
                return result  # type: ignore[no-any-return]  # an Array
            raise errors.ArgumentValueError(
                f"{function}: the result of shape {result.shape} does not fit in place of {self.shape}"
            )
        has_same = home is self._home and home.dtype_of(native) is home.dtype_of(before)  # common and fast
        if not has_same and home.dtype(native) is not self._home.dtype(before):
            is_same_kind = dtypes.is_same_kind(result.dtype, self.dtype)
            if is_number and (isinstance(before, np.generic) or not is_same_kind):
                return result  # type: ignore[no-any-return]  # an Array
            if not is_same_kind:
                raise errors.ArgumentTypeError(
                    f"{function}: the result of dtype {result.dtype} cannot be cast to {self.dtype} in place. "
                    f"Write x = x {_OPERATORS[function]} ..., or convert the operand: xp.astype(...)"
                )
            result = cast(function, "x", result, self.dtype)
            home, native = result._home, result._native
        if is_number:
            return result  # type: ignore[no-any-return]  # an Array
        views.require_writable(self, function)
        in_memory = type(before) is _ndarray or (self._home.has_views and not isinstance(before, np.generic))
        if in_memory and home is self._home and self._is_written_in_place(before, ..., native):
            return self
        if in_memory or views.view_of(self) is not None:
            del before, native
            if home is not self._home and not views.may_be_seen(self):
                second_copies.drop(self)
                self._native, self._home = result._native, home  # nothing is left behind
            elif home is self._home and views.is_replaced(self):
                with ownership.lock_of(views.root_of(self)):
                    views.replace(self, result._native, is_own=False)
            else:
                self._write(..., result)
            return self
        second_copies.drop(self)
        self._native = native
        self._home = home
        return self

    def __hash__(self) -> int:
        """The hash of the value of an element: an Array without axes.

        Raises TypeError for other Arrays, whose == is elementwise, and in a trace, which has no values.
        """
        is_traced = self._home.is_traced(self._native)
        if is_traced or self.shape != ():
            which = "in a trace" if is_traced else f"of shape {self.shape}"
            raise errors.ArgumentTypeError(
                f"hash: unhashable type: 'Array' {which}; only elements have a hash. Take the values: x.tobytes()"
            )
        value = self.item()
        return hash(value) if value == value else object.__hash__(self)  # as each NaN has a hash of its own

    @operator_of("abs")
    def __abs__(self, /) -> Array: ...

    @operator_of("negative")
    def __neg__(self, /) -> Array: ...

    @operator_of("positive")
    def __pos__(self, /) -> Array: ...

    @operator_of("bitwise_invert")
    def __invert__(self, /) -> Array: ...

    @operator_of("equal")
    def __eq__(self, other: AnyArray | complex, /) -> Array: ...  # type: ignore[override]  # elementwise

    @operator_of("not_equal")
    def __ne__(self, other: AnyArray | complex, /) -> Array: ...  # type: ignore[override]  # elementwise

    @operator_of("less", in_order=complex_order.compare)
    def __lt__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("less_equal", in_order=complex_order.compare)
    def __le__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("greater", in_order=complex_order.compare)
    def __gt__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("greater_equal", in_order=complex_order.compare)
    def __ge__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("add")
    def __add__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("add", reflected=True)
    def __radd__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("subtract")
    def __sub__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("subtract", reflected=True)
    def __rsub__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("multiply")
    def __mul__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("multiply", reflected=True)
    def __rmul__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("divide")
    def __truediv__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("divide", reflected=True)
    def __rtruediv__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("floor_divide")
    def __floordiv__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("floor_divide", reflected=True)
    def __rfloordiv__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("remainder")
    def __mod__(self, other: AnyArray | float, /) -> Array: ...

    @operator_of("remainder", reflected=True)
    def __rmod__(self, other: AnyArray | float, /) -> Array: ...

    def __divmod__(self, other: AnyArray | float, /) -> tuple[Array, Array]:
        if decides(other):
            decided: Any = np.divmod
            return decided(self, other)  # type: ignore[no-any-return]  # as its class decides
        return self // other, self % other

    def __rdivmod__(self, other: AnyArray | float, /) -> tuple[Array, Array]:
        return self.__rfloordiv__(other), self.__rmod__(other)

    @operator_of("pow")
    def __pow__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("pow", reflected=True)
    def __rpow__(self, other: AnyArray | complex, /) -> Array: ...

    @operator_of("bitwise_and")
    def __and__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_and", reflected=True)
    def __rand__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_or")
    def __or__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_or", reflected=True)
    def __ror__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_xor")
    def __xor__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_xor", reflected=True)
    def __rxor__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_left_shift")
    def __lshift__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_left_shift", reflected=True)
    def __rlshift__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_right_shift")
    def __rshift__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("bitwise_right_shift", reflected=True)
    def __rrshift__(self, other: AnyArray | int, /) -> Array: ...

    @operator_of("matmul")
    def __matmul__(self, other: AnyArray, /) -> Array: ...

    @operator_of("matmul", reflected=True)
    def __rmatmul__(self, other: AnyArray, /) -> Array: ...


def _in_place(name: str, function: str | None) -> Any:
    """The method of an in-place operator.

    `function` is one that `_update_in_place` computes.
    """
    binary = f"__{name[3:]}"

    def update(self: Array, other: AnyArray | complex, /) -> Array:
        if function is not None and type(self._native) is _ndarray and self._update_in_place(function, other):
            return self
        return self._rebind(getattr(self, binary)(other), name, other)

    update.__name__, update.__qualname__ = name, f"Array.{name}"
    return update


_OPERANDS: Final = OPERANDS
_NUMPYS: Final = (np.ndarray, np.generic)
"""Classes of NumPy's native arrays, whose values need no transfer."""
_REAL: Final = (np.floating, np.integer, np.bool)
"""Classes of NumPy's real scalars."""
_COMPLEX: Final = (np.number, np.bool)
"""Classes of NumPy's scalars that are numbers, or bool."""
_KINDS: Final[dict[type, str]] = {bool: "b", int: "i", float: "f", complex: "c"}
"""Kinds of dtypes whose elements are numbers of a class of Python's."""


def _number(native: Native, home: Home) -> complex | None:
    """The Python number of an Array without axes, if its library returns it.

    None if the library does not, or if transfers are logged.
    """
    ask = home.backend.number
    return None if ask is None or watch() is not UNWATCHED else ask(native)


_EXACT_KINDS: Final[dict[Any, str]] = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
"""Kinds of dtypes to which NumPy itself may cast a Python scalar on a write, by the scalar's class.

`_speedups/entry/assignment.c` repeats them."""

_NUMPY: Final = registry.backend_of_name("numpy").free
_ndarray: Final = np.ndarray
_LARGE_KEY: Final = 1 << 14
"""The number of elements of a key above which the backend's own `setitem` is faster than NumPy's."""
_native_on: Final = native_on


def _laid_out(x: Array, split: Split) -> Array:
    """The same values on a mesh, with one axis split over all its devices."""
    home = split.backend.placed
    axis = split.axis
    if not -len(x.shape) <= axis < len(x.shape):
        raise errors.AxisError(f"to_device: axis {axis} of the split is out of bounds for x of shape {x.shape}")
    native = split.backend.hook("laid_out")(_native_on(x, home, "to_device", True), split.backend.native_device, axis)
    return wrap(native, home)


_OPERATORS: Final = {
    "__iadd__": "+", "__isub__": "-", "__imul__": "*", "__itruediv__": "/", "__ifloordiv__": "//", "__imod__": "%",
    "__ipow__": "**", "__iand__": "&", "__ior__": "|", "__ixor__": "^", "__ilshift__": "<<", "__irshift__": ">>",
    "__imatmul__": "@",
}  # fmt: skip
"""The binary operators of in-place operators, for messages."""
_WRITTEN: Final = {"__iadd__": "add", "__isub__": "subtract", "__imul__": "multiply", "__itruediv__": "divide"}
"""The functions of in-place operators that are written to the memory of an ndarray."""


def _first_of(shape: tuple[int, ...]) -> str:
    """The expression of the first element of an Array, for messages."""
    return f"x[{', '.join(['0'] * len(shape))}]"


def _registered(kind: Any) -> Any:
    """A class that makes an Array without axes count as a number of `kind`."""
    return kind.register(type.__new__(_ClassOfArrays, "Array", (Array,), {"__slots__": (), "__module__": "anyarray"}))


_NUMBERS: Final = {
    "i": _registered(numbers.Integral),
    "f": _registered(numbers.Real),
    "c": _registered(numbers.Complex),
}
_NUMBERS["u"] = _NUMBERS["i"]
"""The class that `x.__class__` returns, by the kind of the dtype; NumPy does not count bool as a number."""
_new: Final = register_array_class(Array)
_current: Final = choice.current
_slot: Any = vars(Array)["_value"]
Array._native = _slot if speedups is None else speedups.NativeSlot(_slot)
compiled.configure(Array, protocols.UFUNCS, OPERANDS, LAZY_FUNCTIONS)
for _method, _kind in (
    ("__getitem__", "getitem"), ("__setitem__", "setitem"), ("__array_ufunc__", "ufunc"), ("__copy__", "copy"),
    ("__array__", "array"), ("__iter__", "iter"), ("__bool__", "bool"), ("__int__", "int"),
    ("__float__", "float"), ("__index__", "index"), ("__hash__", "hash"), ("item", "item"), ("ravel", "ravel"),
    ("reshape", "reshape"), ("__len__", "len"),
):  # fmt: skip
    setattr(Array, _method, fast_path(_kind)(getattr(Array, _method)))
for _method in _OPERATORS:
    setattr(Array, _method, _in_place(_method, _WRITTEN.get(_method)))
for _method in methods.OF_NDARRAY.split():
    setattr(Array, _method, compiled.with_numpy_function(getattr(Array, _method), sizes.CHECKED.get(_method)))
for _attribute, _kind in (
    ("T", "transpose"), ("mT", "transpose"), ("shape", "shape"), ("ndim", "ndim"), ("size", "size"), ("dtype", "dtype"),
):  # fmt: skip
    _property = vars(Array)[_attribute]
    setattr(Array, _attribute, property(fast_path(_kind)(_property.fget), _property.fset))
for _lacking in other_names.missing_attributes(Array):
    setattr(Array, _lacking.name, _lacking)
registry.adopt_everywhere(Array, protocols.as_native_of, protocols.wrap_from)
_wrap: Final = wrap


_UFUNCS: Final = protocols.UFUNCS
_are_plain: Final = (OPERANDS | {Array}).issuperset
"""Whether all of some classes are those of common operands."""


def namespace() -> ModuleType:
    """The namespace of the standard.

    It is imported at run time, because it is of a higher layer.
    """
    return sys.modules["anyarray"]


_UNSTACKED_AT_ONCE: Final = 32
_CHUNK: Final = 4096
"""An iterator over at most `_UNSTACKED_AT_ONCE` elements unstacks all; over more, one, then `_CHUNK` at a time."""


def _elements(array: Array) -> Iterator[Array]:
    """The elements along the first axis, with their values at access.

    Some code creates only the iterator (`np.iterable`), or reads only the first element (Matplotlib). So the other
    elements are unstacked later, many at once, unless the Array is written.
    """
    home, whole = array._home, array._native
    try:
        length = home.shape_of(whole)[0]
        if length is None:
            yield from wrap_all(home.unstack(whole, axis=0), home)
            return
        is_recorded = array.ndim > 1 and views.is_guarded(array)
        ready: Sequence[Native] = ()
        first = 0
        for i in range(length):
            if array._native is not whole:
                native = array._home.getitem(array._native, i)
            elif i == 0 and length > _UNSTACKED_AT_ONCE:
                native = home.getitem(whole, 0)
                first = 1
            else:
                if i - first >= len(ready):
                    first = i
                    part = whole if length <= _CHUNK and i == 0 else home.getitem(whole, slice(i, i + _CHUNK))
                    ready = home.unstack(part, axis=0)
                native = ready[i - first]
            element = _wrap(native, array._home)
            if is_recorded and views.is_guarded(array):  # a write may have given it memory of its own
                views.record(element, array, views.Indexed(i))
            yield element
    except Exception as error:
        diagnosis.diagnose_failure(error, "iter")
        raise


def _permuted(x: Array, axes: tuple[int, ...]) -> Array:
    home = x._home
    result = _new()
    try:
        result._native = home.permute_dims(x._native, axes)
    except Exception as error:
        diagnosis.diagnose_failure(error, "permute_dims")
        raise
    result._home = home
    if views.is_guarded(x):
        views.record(result, x, views.permuted(axes))
    return result


def _unpickled(host: np.ndarray[Any, Any], name: str, placed: bool) -> Array:
    backend = registry.backend_of_name(name)
    return _wrap(transfer.from_host(host, backend), backend.placed if placed else backend.free)


_unpickled.__module__, _unpickled.__qualname__ = "anyarray", "Array._unpickled"
Array._unpickled = staticmethod(_unpickled)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def _require_axes(key: Any, array: Array, ndim: int, *, is_sequence: bool) -> None:
    """Raise ValueError for a value with more axes than NumPy takes at a key.

    An element accepts a value without axes. A selection accepts arrays with further axes of length 1, but not lists of
    them.
    """
    entries = key if type(key) is tuple else (key,)
    integers = sum(type(one) not in _BASIC or type(one) in _INTEGERS for one in entries)
    if not all(type(one) in _BASIC or _is_integer(one, array._home) for one in entries):
        return
    is_element = integers == len(entries) == array.ndim
    if is_element or (is_sequence and ndim > array.ndim - integers + sum(one is None for one in entries)):
        raise errors.ArgumentValueError(
            f"setitem: setting an array element with a sequence: value has {ndim} axes, more than the key selects. "
            "Write its elements, or select as many axes"
        )


def _is_view(key: Any, array: Array) -> bool:
    """Whether NumPy gives a view for a normalised key: slices, None, `...`.

    With an integer for each axis, it gives a scalar. An integer may be in a trace or on a device.
    """
    entries = key if type(key) is tuple else (key,)
    if not all(type(one) in _BASIC or _is_integer(one, array._home) for one in entries):
        return False
    if not views.is_guarded(array):
        return False
    return len(entries) != array.ndim or any(type(one) in _BASIC and type(one) not in _INTEGERS for one in entries)


def _is_integer(entry: Native, home: Home) -> bool:
    """Whether a native array in a key is an integer without axes."""
    return not home.shape_of(entry) and home.dtype(entry).kind in "iu"


def _counted(key: Any, home: Home) -> Any:
    """A normalised key with Python integers for those of Arrays without axes.

    Integers in a trace or on a device stay unchanged.
    """
    if type(key) is tuple:
        return key if _are_basic(map(type, key)) else tuple([_counted(one, home) for one in key])
    if type(key) in _BASIC or not _is_integer(key, home) or home.is_traced(key) or home.backend.kind != "cpu":
        return key
    number = _number(key, home)
    return key if number is None else number


class _Elsewhere(Exception):  # noqa: N818 - a signal within the module, no error
    """An array in a key determines the backend of the indexing."""


def _decides_home(other: Array, home: Home) -> bool:
    """Whether `other` determines where an Array on `home` is indexed.

    The same holds for writes. It does if it lives elsewhere, and is placed or traced.
    """
    there = other._home
    return there is not home and (there.placed or there.is_traced(other._native))


def _arrays_of(key: Any) -> list[Array]:
    """The Arrays in a key or a value to write; native arrays as Arrays."""
    found: list[Array] = []
    for one in key if type(key) is tuple else (key,):
        if type(one) is Array:
            found.append(one)
        elif registry.backend_of_native(one) is not None:
            found.append(as_array("index", "key", one))
    return found


def _normalised(key: Any, home: Home, *, is_settled: bool = False) -> Any:
    """A key in the form of the contract of backends, its arrays on `home`.

    Unless `is_settled`, raises _Elsewhere for an array that decides on another home.
    """
    kind = type(key)
    if kind is int or key is None or key is Ellipsis:
        return key
    if kind is tuple:
        return tuple(
            [
                one
                if type(one) is int
                else one._native  # the common case, without a function call
                if type(one) is Array and one._home is home and home.dtype(one._native).kind in "bi"
                else _normalised_one(one, home, is_settled)
                for one in key
            ]
        )
    if isinstance(key, tuple):  # of a class of its own, as a named tuple is
        return _normalised(tuple(key), home, is_settled=is_settled)
    return _normalised_one(key, home, is_settled)


_INTEGERS: Final = frozenset({int, *[np.dtype(code).type for code in "bhilqBHILQ"]})
_BASIC: Final = _INTEGERS | {slice, NoneType, EllipsisType}
"""Classes of basic index entries, which are passed to NumPy unchanged; it checks the bounds of slices itself.

`_speedups/entry/keys.c` repeats them."""
_are_basic: Final = _BASIC.issuperset


def _normalised_one(key: Any, home: Home, is_settled: bool) -> Any:
    """An entry of a key in the form of `_normalised`."""
    kind = type(key)
    if key is None or key is Ellipsis:
        return key
    if kind is slice:
        start, stop, step = key.start, key.stop, key.step
        if (
            (start is None or type(start) is int)
            and (stop is None or type(stop) is int)
            and (step is None or type(step) is int)
        ):
            return key
        return slice(*[None if bound is None else _bound(bound) for bound in (start, stop, step)])
    if kind is Array:
        return _key_of_array(key, home, is_settled)
    if kind is bool or isinstance(
        key, (list, tuple, range, np.bool_)
    ):  # as NumPy, which takes a nested tuple as a list
        key = np.asarray(key, dtype=np.intp if isinstance(key, (list, tuple, range)) and not key else None)
    elif hasattr(key, "__index__") and not getattr(key, "shape", ()):  # as tensors of one element have
        try:
            return operator.index(key)
        except TypeError:  # a traced integer of JAX
            if registry.backend_of_native(key) is None:
                raise
    if registry.backend_of_native(key) is None:
        raise errors.ArgumentIndexError(
            f"index: key must hold integers, slices, ..., None and arrays of integers or bool, not {type(key).__name__}"
        )
    return _key_of_array(as_array("index", "key", key), home, is_settled)


def _key_of_array(key: Array, home: Home, is_settled: bool) -> Native:
    here = key._home
    if not is_settled and _decides_home(key, home):
        raise _Elsewhere
    if here.dtype(key._native).kind not in "biu":
        raise errors.ArgumentIndexError(f"index: key must be of an integer dtype or bool, not {key.dtype}")
    native = key._native if here is home else native_on(key, home, "index")
    # NumPy would take uint64 indices of 2**63 or more as negative.
    return dtypes.signed(native) if type(native) is _ndarray else native


def _bound(bound: Any) -> Any:
    """A bound of a slice as an int.

    A bound that a trace does not know is a native array.
    """
    unknown = unknown_length(bound)
    if unknown is not None:
        return unknown._native
    try:
        return operator.index(bound)
    except TypeError as error:
        raise errors.ArgumentTypeError(
            f"index: bounds of a slice must be integers or None, not {type(bound).__name__}"
        ) from error


def _explain_index(
    error: Exception, key: Any, native: Native, home: Home, value: tuple[int, ...] | None = None
) -> None:
    """Raise a clear error for a wrong key, or a wrong value for it.

    The key is normalised, or basic. Returns if both seem right.
    """
    if home.backend.library == "numpy":
        key = _normalised(key, home, is_settled=True)
    parts: list[Any] = []
    for one in key if type(key) is tuple else (key,):
        if one is None or one is Ellipsis or type(one) in (int, slice):
            parts.append(one)
        elif home.is_traced(one):
            parts.append(diagnosis.UnknownIndex(tuple(home.shape_of(one)), home.dtype(one)))
        else:
            parts.append(home.to_numpy(one))
    diagnosis.diagnose_index(error, tuple(home.shape_of(native)), tuple(parts), value)
