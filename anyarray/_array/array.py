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
from types import EllipsisType, ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np

from anyarray._array import assignment, complex_order, indexing, methods, printing, protocols
from anyarray._array.indexing import number_of
from anyarray._base import dtypes, errors, other_names, sizes
from anyarray._base.dtypes import DType
from anyarray._base.extension import speedups
from anyarray._call import compiled, diagnosis
from anyarray._call.compiled import fast_path
from anyarray._call.dispatch import operator_of
from anyarray._call.operators import decides
from anyarray._call.placement import native_on
from anyarray._call.wrapping import OPERANDS, copied, expose, register_array_class, wrap
from anyarray._lazy.compiled import FUNCTIONS as LAZY_FUNCTIONS
from anyarray._memory import transfer, views
from anyarray._memory.views import View
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
        home = registry.as_backend(device).placed
        if here.backend.is_differentiated is not None and home.backend is not here.backend:
            transfer.refuse_differentiated(self._native, here.backend, f"be brought to {home.backend}")
        if home is here:
            return self
        result = wrap(native_on(self, home, "to_device", explicit=True), home)
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
        number = number_of(native, self._home)
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
        number = number_of(native, self._home)
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

    def __bool__(self) -> bool:
        number = number_of(self._native, self._home)
        if number is not None:
            return bool(number)
        if self.size != 1:  # an Array of one element has a truth value in any shape, as in NumPy, TensorFlow and JAX
            raise errors.ArgumentValueError(
                f"bool: the truth of an Array of shape {self.shape} is ambiguous. Use xp.any(x) or xp.all(x)"
            )
        return bool(self._host("bool").item())

    def __int__(self) -> int:
        return int(self._as_python_scalar("int", "biuf"))

    def __float__(self) -> float:
        return float(self._as_python_scalar("float", "biuf"))

    def __complex__(self) -> complex:
        return complex(self._as_python_scalar("complex", "biufc"))

    def __index__(self) -> int:
        return operator.index(self._as_python_scalar("index", "iu"))

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
        return indexing.elements(self)

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
        if home.backend.has_hook("pickled"):
            held = home.backend.hook("pickled")(self._native)
        else:
            held = np.array(self._host("pickle", explicit=True))
        return _unpickled, (held, home.backend.name, home.placed)

    def __sizeof__(self) -> int:
        """Bytes, including the elements, for `sys.getsizeof` and Dask.

        Elements that are computed when they are asked for take none.
        """
        size = 0 if self._home.backend.has_hook("chunks_of") else self.size or 0
        return object.__sizeof__(self) + size * self.dtype.itemsize

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
        return indexing.getitem(self, key)

    def __setitem__(self, key: Key, value: AnyArray | Scalar | Sequence[Any], /) -> None:
        assignment.setitem(self, key, value)

    def __delitem__(self, key: Any, /) -> None:
        raise errors.ArgumentTypeError("del: elements of x cannot be deleted. Take the others: x[mask]")

    def __hash__(self) -> int:
        """The hash of the value of an element: an Array without axes.

        Raises TypeError for other Arrays, whose == is elementwise, in a trace, which has no values, and where they are
        computed when they are asked for, as on Dask.
        """
        why = ""
        if self._home.is_traced(self._native):
            why = "in a trace; only elements have a hash. Take the values: x.tobytes()"
        elif self._home.backend.has_hook("chunks_of"):
            why = f"on {self._home.backend.name}, which computes values when they are asked for. Take one: x.item()"
        elif self.shape != ():
            why = f"of shape {self.shape}; only elements have a hash. Take the values: x.tobytes()"
        if why:
            raise errors.ArgumentTypeError(f"hash: unhashable type: 'Array' {why}")
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


_NUMPYS: Final = (np.ndarray, np.generic)
"""Classes of NumPy's native arrays, whose values need no transfer."""
_KINDS: Final[dict[type, str]] = {bool: "b", int: "i", float: "f", complex: "c"}
"""Kinds of dtypes whose elements are numbers of a class of Python's."""


_NUMPY: Final = registry.backend_of_name("numpy").free
_ndarray: Final = np.ndarray


def _laid_out(x: Array, split: Split) -> Array:
    """The same values on a mesh, with one axis split over all its devices."""
    home = split.backend.placed
    axis = split.axis
    if not -len(x.shape) <= axis < len(x.shape):
        raise errors.AxisError(f"to_device: axis {axis} of the split is out of bounds for x of shape {x.shape}")
    native = split.backend.hook("laid_out")(
        native_on(x, home, "to_device", explicit=True), split.backend.native_device, axis
    )
    return wrap(native, home)


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
for _method, _update in assignment.in_place_operators().items():
    setattr(Array, _method, _update)
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


def namespace() -> ModuleType:
    """The namespace of the standard.

    It is imported at run time, because it is of a higher layer.
    """
    return sys.modules["anyarray"]


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


def _unpickled(held: Any, name: str, placed: bool) -> Array:
    backend = registry.backend_of_name(name)
    native = transfer.from_host(held, backend) if isinstance(held, np.ndarray) else held
    return wrap(native, backend.placed if placed else backend.free)


_unpickled.__module__, _unpickled.__qualname__ = "anyarray", "Array._unpickled"
Array._unpickled = staticmethod(_unpickled)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
