"""Arrays made of native arrays: wrapped, copied, cast, and told apart.

The class Array is of a higher layer, which registers it by `register_array_class`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from anyarray._base import dtypes as _dtypes
from anyarray._base import errors, extension
from anyarray._call import diagnosis
from anyarray._choice import choice as _choice
from anyarray._memory import alignment, devices, views
from anyarray._memory.second_copies import LENDABLE
from anyarray._registry import registry
from anyarray._registry.home import Home, Native

if TYPE_CHECKING:
    from anyarray._array.array import Array  # a higher layer
    from anyarray._call.declaration import Declaration

NUMPY: Final = registry.backend_of_name("numpy").free
"""The home of Arrays of NumPy's that no block has placed."""

SCALARS: Final = frozenset({bool, int, float, complex})
"""Classes of Python scalars, which have no dtype."""

NUMPYS: Final = frozenset({np.ndarray, *[np.dtype(name).type for name in _dtypes.STANDARD]})
"""NumPy's array class and its scalar classes: both have a dtype."""

OPERANDS: Final = SCALARS | NUMPYS
"""Classes of the common other operands of an Array."""

expose: Final[Callable[[Any], None]] = getattr(extension.speedups, "expose", lambda native: None)
"""Note that somebody outside may write to the memory of an ndarray, so that calls that read it run at once."""

body_globals: Final[dict[str, Any]] = {"NUMPY": NUMPY}
"""The globals of the generated bodies: `register_array_class` adds the class Array, and `dispatch` the other names."""


def register_array_class(array_class: type[Array]) -> Callable[[], Array]:
    """Let calls return Arrays of this class, which is of a higher layer.

    Must be called before anything is declared. Returns a function that makes an instance with no slot set: the caller
    sets `_native` and `_home`.
    """
    new: Callable[[], Array] = type.__call__.__get__(array_class)  # not the metaclass's `__call__`, which raises
    body_globals.update(Array=array_class, new=new)
    return new


def is_array(value: Any) -> TypeGuard[Array]:
    """Whether `value` is an Array."""
    return type(value) is body_globals["Array"]


def wrap(native: Native, home: Home) -> Array:
    """An Array of a native array that lives on `home`."""
    array: Array = body_globals["new"]()
    array._native = native
    array._home = home
    return array


def wrap_apart(native: Native, home: Home) -> Array:
    """An Array of a native array that others hold: no write reaches that."""
    array = wrap(views.apart(native), home)
    if home.has_views:
        views.guard(array)
    return array


def wrap_new(native: Native, home: Home) -> Array:
    """An Array of a native array that is new to us: made or passed in now.

    A large one on NumPy brings up the hint about `calibrate`.
    """
    if home is NUMPY:
        _choice.hint_at_calibrate(native.size)
    return wrap(native, home)


def wrap_result(declaration: Declaration, native: Any, home: Home) -> Any:
    """The result of a native function: an Array, or a tuple as declared."""
    if declaration.result == "Array":
        return wrap(native, home)
    return _tuple(declaration.result_class, wrap_all(native, home))


def _wrap_all(natives: Iterable[Native], home: Home) -> Sequence[Array]:
    """Arrays of native arrays that live on `home`."""
    new = body_globals["new"]
    arrays: list[Array] = []
    for one in natives:  # as `wrap` does, in half the time
        array = new()
        array._native = one
        array._home = home
        arrays.append(array)
    return arrays


wrap_all: Final[Callable[[Iterable[Native], Home], Sequence[Array]]] = getattr(extension.speedups, "wrapped", _wrap_all)
"""`_wrap_all`, compiled where the extension module is built."""

_tuple: Final = tuple.__new__
"""Makes a tuple, or a namedtuple in a third of the time that its class takes."""


def record_views(declaration: Declaration, values: Sequence[Any], result: Any) -> None:
    """Record the views that a function gave, where they are to be recorded."""
    if declaration.result != "Array":
        parents = values[0] if declaration.parameters[0].is_variadic else values[:1]
        options = {p.name: v for p, v in zip(declaration.parameters, values, strict=True) if p.is_keyword}
        views.record_parts(declaration.name, result, parents, **options)
        return
    positional = [v for p, v in zip(declaration.parameters, values, strict=True) if not p.is_keyword]
    keyword = {p.name: v for p, v in zip(declaration.parameters, values, strict=True) if p.is_keyword}
    views.record_result(declaration.name, result, *positional, **keyword)


def wrap_aligned(native: Native, home: Home) -> Array:
    """An Array of a new native array, made by a creation function of `home`.

    Nobody else has a reference to it, and NumPy's is aligned unless small; see `_memory.alignment`.
    """
    array: Array = body_globals["new"]()
    array._native = native
    array._home = home
    if home.backend.library == "numpy" and native.nbytes >= alignment.SMALL:
        if home is NUMPY:
            _choice.hint_at_calibrate(native.size)
        array._second = LENDABLE
    return array


def wrap_owned(native: Native, home: Home) -> Array:
    """An Array of a new native array to which nobody else has a reference."""
    if home.backend.library == "numpy" and native.nbytes >= alignment.SMALL and not alignment.is_shareable(native):
        return wrap_new(native, home)
    return wrap_aligned(native, home)


def unshared(native: Native, borrowed: Sequence[Native], home: Home) -> Native:
    """A native result, copied if it may share memory with `borrowed`.

    Those are native arrays that the user passed in and may write to; the result may be one of them, or a view.
    """
    if home.base_of(native) is None:
        for given in borrowed:
            if native is given:
                break
        else:
            return native
    return native if home.backend.is_immutable else home.duplicate(native)


def copied(array: Array) -> Array:
    """A copy of an Array: no write to one is seen in the other."""
    home, native = array._home, array._native
    if type(native) is np.ndarray and native.nbytes < alignment.MODEST:
        return wrap(native.copy("K"), home)  # half the time of the check below
    if isinstance(native, np.generic):
        return wrap(native, home)  # it is immutable
    if home.is_traced(native):
        return wrap(native, home)
    result = wrap_owned(devices.tried("copy", home.duplicate, native), home)
    views.keep_order((array,), result)
    return result


def cast(function: str, parameter: str, x: Array, wanted: _dtypes.DType) -> Array:
    """An Array of the values in another dtype, on the same home.

    Raises TypeError for complex to real.
    """
    home = x._home
    came = home.dtype(x._native)
    if came.kind == "c" and wanted.kind not in "cb":
        raise errors.ArgumentTypeError(
            f"{function}: {parameter} is {came} and cannot become {wanted}. Take its real part: xp.real({parameter})"
        )
    kind = home.backend.native_dtype(wanted.name)
    try:
        native = devices.tried(function, home.astype, x._native, kind)
    except Exception as error:
        diagnosis.diagnose_failure(error, function)
        raise
    result = wrap(native, home)
    views.keep_order((x,), result)
    return result


def arrays_among(values: Sequence[Any]) -> list[Array]:
    """The Arrays among converted arguments, those in lists included."""
    return [a for value in values for a in (value if isinstance(value, list) else [value]) if is_array(a)]
