"""Every exception of anyarray.

    Exception
    ├── AnyarrayError                    all of ours; each also is the built-in that fits
    │   ├── BackendError (RuntimeError)
    │   │   ├── BackendNotFoundError (ValueError)      no backend has that name
    │   │   ├── BackendNotInstalledError (ImportError) its library is not installed
    │   │   ├── DeviceNotFoundError                    the library has no such device
    │   │   └── BackendMismatchError (ValueError)      inputs placed on two backends
    │   ├── UnsupportedError (NotImplementedError)     the backend lacks the function
    │   ├── ArgumentTypeError (TypeError)              not an Array, or not of that dtype
    │   ├── ArgumentValueError (ValueError)            wrong shape, wrong axis's length ...
    │   │   ├── AxisError (np.exceptions.AxisError)    an axis that the array does not have
    │   │   └── LinAlgError (np.linalg.LinAlgError)    a matrix that is not square, has no inverse, root ...
    │   ├── ArgumentIndexError (IndexError)            an index that the array does not have
    │   ├── ArgumentOverflowError (OverflowError)      a number that the dtype cannot hold
    │   ├── TransferError (RuntimeError)               a transfer that was forbidden
    │   ├── TooLargeError (MemoryError)                an array that must stand in one block
    │   └── TraceError (RuntimeError)                  an Array that outlived its trace

A message is one sentence: function, parameter, expected and given value; then the cure. The functions below make the
messages that more than one place needs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

__all__ = [
    "AnyarrayError", "ArgumentIndexError", "ArgumentOverflowError", "ArgumentTypeError", "ArgumentValueError",
    "AxisError", "BackendError", "BackendMismatchError", "BackendNotFoundError", "BackendNotInstalledError",
    "DeviceNotFoundError", "LinAlgError", "OutOfMemoryError", "TooLargeError", "TraceError", "TransferError",
    "UnsupportedError",
]  # fmt: skip


class AnyarrayError(Exception):
    """Base class of all exceptions of anyarray."""


class BackendError(AnyarrayError, RuntimeError):
    """A backend cannot be used as asked."""


class BackendNotFoundError(BackendError, ValueError):
    """No backend has the name that was given."""


class BackendNotInstalledError(BackendError, ImportError):
    """The backend is known, but its library is not installed."""


class DeviceNotFoundError(BackendError):
    """The library is installed, but this machine has no such device."""


class BackendMismatchError(BackendError, ValueError):
    """One call has inputs that the user placed on different backends."""


class UnsupportedError(AnyarrayError, NotImplementedError):
    """The backend does not have this function."""


class ArgumentTypeError(AnyarrayError, TypeError):
    """An argument is of the wrong Python type or dtype."""


class ArgumentValueError(AnyarrayError, ValueError):
    """An argument has a wrong value, such as shapes that do not fit."""


class AxisError(ArgumentValueError, np.exceptions.AxisError):
    """An axis that the array does not have."""


class ArgumentIndexError(AnyarrayError, IndexError):
    """A key of `x[...]`, or an index, that does not fit the array."""


class ArgumentOverflowError(AnyarrayError, OverflowError):
    """A Python number that the dtype cannot hold."""


class LinAlgError(ArgumentValueError, np.linalg.LinAlgError):
    """A matrix that is not square, has no inverse, or does not converge."""


class OutOfMemoryError(AnyarrayError, MemoryError):
    """A call ran out of memory, even after unused memory was freed."""


class TooLargeError(AnyarrayError, MemoryError):
    """An array that must be in one block is larger than the limit."""


class TransferError(AnyarrayError, RuntimeError):
    """A copy between backends that is forbidden here."""


class TraceError(AnyarrayError, RuntimeError):
    """An Array of a transform is used after the transform has ended."""


def is_signal(error: BaseException) -> bool:
    """Whether an exception is not an error but ends a computation early.

    As that of torch.utils.checkpoint, its class is private. `_speedups/core/arrays.c` repeats this.
    """
    kind = type(error)
    return kind.__base__ is Exception and kind.__name__.startswith("_")


def leaked(function: str) -> TraceError:
    """Error for a leaked Array: one that outlived its trace."""
    return TraceError(
        f"{function}: an Array outlived the jit, grad or vmap in which it was made, and has no value. "
        "Return it from the transformed function"
    )


def not_an_array(function: str, parameter: str, came: object) -> ArgumentTypeError:
    """Error for an argument that is not an array of any backend."""
    dense = as_dense(came)
    cure = f". Make it dense: {dense}" if dense else ". Wrap it: xp.asarray(...)" if holds_numbers(came) else ""
    return ArgumentTypeError(f"{function}: {parameter} must be an Array, not {type(came).__name__}{cure}")


def takes_part_in_no_ufunc(function: str, came: object, cure: str = "") -> ArgumentTypeError:
    """Error for an operand whose class has None as `__array_ufunc__`."""
    return ArgumentTypeError(f"{function}: operands of class {type(came).__name__} do not support ufuncs{cure}")


def renamed(error: Exception, wrong: str, right: str) -> Exception:
    """The same error of another function and parameter, which begin it."""
    return type(error)(str(error).replace(wrong, right, 1))


def holds_numbers(came: object) -> bool:
    """Whether `asarray` may accept it."""
    if isinstance(came, (bool, int, float, complex, list, tuple, range, bytes, bytearray, memoryview)):
        return True
    return any(hasattr(came, name) for name in ("__array__", "__dlpack__", "__buffer__", "__array_interface__"))


_DENSE: Final = {"SparseTensor": "tf.sparse.to_dense(...)", "IndexedSlices": "tf.convert_to_tensor(...)"}
"""The conversion of TensorFlow's sparse classes to a dense tensor, by class name."""


def as_dense(came: object) -> str | None:
    """The call that makes a sparse or ragged array dense; else None."""
    for method in ("toarray", "todense", "to_dense", "to_tensor"):
        if callable(getattr(type(came), method, None)):
            return f"x.{method}()"
    return _DENSE.get(type(came).__name__)


def dtype_not_allowed(function: str, parameter: str, wanted: str, came: object) -> ArgumentTypeError:
    """Error for an array whose dtype the standard forbids for a function."""
    article = "an" if wanted[0] in "aeiou" else "a"
    cure = "Convert it: xp.astype(...)"
    if str(came).startswith("complex"):  # `astype` does not convert complex to real
        part = "xp.real(...)"
        cure = f"Take a part of it: {part}" if "real" in wanted else f"Convert a part of it: xp.astype({part}, ...)"
    return ArgumentTypeError(f"{function}: {parameter} must have {article} {wanted} dtype, not {came}. {cure}")


def no_such_axis(function: str, axis: int, ndim: int) -> AxisError:
    """Error for an axis that an array of `ndim` axes does not have."""
    why = f"must be between {-ndim} and {ndim - 1}" if ndim else "which has no axes"
    # NumPy's words, as some libraries test for them.
    return AxisError(f"{function}: axis {axis} is out of bounds for array of dimension {ndim}, {why}")


def unknown_length(function: str) -> UnsupportedError:
    """Error for a result whose length follows from unknown values."""
    return UnsupportedError(
        f"{function}: the length of the result depends on values, which are not known inside jit, grad or vmap. "
        "Give it: length=..."
    )


def no_reverse_derivative() -> UnsupportedError:
    """Error for a derivative in reverse mode of a `while_loop`."""
    return UnsupportedError(
        "while_loop: has no derivative in reverse mode, because the number of iterations depends on values. Use "
        'xp.scan, xp.fori_loop with known bounds, or forward mode: xp.jacobian(f, mode="forward"). Keep it out of the '
        "derivative: xp.stop_gradient(x)"
    )


def unsupported(function: str, backend: object) -> UnsupportedError:
    """Error for a function that a backend lacks."""
    return UnsupportedError(f"{function} is not implemented on {backend}")
