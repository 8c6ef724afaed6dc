"""How others see an Array: NumPy's protocols, DLPack, JAX, TensorFlow.

`np.exp(x)`, `ndarray + x` and `np.sum(x)` are calls of our own functions of those names, so they run on x's backend and
give Arrays. What our namespace lacks is computed by NumPy: a ufunc's result goes to the backend where a call of ours
would have run, as SciPy's and Numba's ufuncs do their work elementwise too; a function's result is NumPy's.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import errors
from anyarray._base.other_names import ALIASES
from anyarray._call import dispatch
from anyarray._memory import second_copies, transfer
from anyarray._registry import registry
from anyarray._registry.home import Home, Native


def ufunc(
    namespace: ModuleType, function: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A ufunc of NumPy applied to Arrays.

    `out` may be an ndarray, which is filled. An operand with ufuncs of its own is asked first, and gets ndarrays if it
    takes no Arrays.
    """
    name = function.__name__
    ours = getattr(namespace, ALIASES.get(name, name), None)
    if ours is not None and getattr(np, name, None) is function:
        UFUNCS[function] = ours
    out: list[Any] = []
    if "out" in kwargs:
        out = [one for one in kwargs["out"] if one is not None]
        _refuse_to_write(name, out)
    if method == "at" and dispatch.is_array(inputs[0]):
        raise errors.ArgumentTypeError(
            f"{name}.at: writes to its first input. Use x[indices] += ... if no index comes twice, else an ndarray"
        )

    others = [one for one in (*inputs, *out) if type(one) not in dispatch.OPERANDS and _answers_for_itself(type(one))]
    for other in others:
        result = other.__array_ufunc__(function, method, *inputs, **kwargs)
        if result is not NotImplemented:
            return result

    def on_hosts() -> Any:
        theirs = getattr(function, method)
        result = theirs(*map(_hosts, inputs), **{key: _hosts(value) for key, value in kwargs.items()})
        if out or result is None:
            return result
        home = dispatch.home_of_arrays(name, [a for a in (*inputs, *kwargs.values()) if dispatch.is_array(a)])
        results = result if isinstance(result, tuple) else (result,)
        arrays = tuple(_as_array_on(one, home, name) for one in results)
        return arrays if isinstance(result, tuple) else arrays[0]

    if others:
        return on_hosts()
    if method != "__call__" or ours is None or not kwargs.keys() <= {"out"} or len(out) > 1:
        return on_hosts()
    result = _unless_refused(lambda: ours(*[_operand(one) for one in inputs]), on_hosts)
    if not out or result is out[0]:
        return result
    np.copyto(out[0], np.asarray(result), casting="same_kind")
    return out[0]


UFUNCS: Final[dict[np.ufunc, Callable[..., Any]]] = {}
"""Our functions by NumPy's ufunc, of those that were applied before."""


def _answers_for_itself(kind: type) -> bool:
    """Whether a class neither ours nor a library's has ufuncs of its own.

    So have arrays with units or labels, and sparse ones.
    """
    if kind is dispatch.body_globals["Array"]:
        return False
    asked = getattr(kind, "__array_ufunc__", np.ndarray.__array_ufunc__)
    return asked is not np.ndarray.__array_ufunc__ and not registry.is_of_framework(kind)


def _refuse_to_write(name: str, out: Iterable[Any]) -> None:
    """Raise TypeError for an `out` of NumPy's function that is an Array."""
    if any(dispatch.is_array(one) for one in out):
        raise errors.ArgumentTypeError(f"{name}: out must be an ndarray, not Array. Assign to it: x[...] = ...")


def _unless_refused(ours: Callable[[], Any], theirs: Callable[[], Any]) -> Any:
    """What our function gives; NumPy's if ours refuses the arguments.

    What both refuse raises our error.
    """
    try:
        return ours()
    except (errors.ArgumentTypeError, errors.ArgumentValueError) as refusal:
        try:
            return theirs()
        except (TypeError, ValueError, errors.AnyarrayError):
            raise refusal from None


def function(namespace: ModuleType, theirs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy applied to Arrays.

    It is ours of that name if that takes the arguments, else NumPy's on ndarrays. What NumPy refuses, too, raises our
    error.
    """
    form = (theirs, len(args), *kwargs)
    plan = _plans.get(form)
    if plan is not None:
        values = (*args, *kwargs.values(), *plan.constants)
        if plan.axis is None or values[plan.axis] is not None:
            try:  # as below, for what was called like this before, in a quarter of the time
                return plan.call(values)
            except (errors.ArgumentTypeError, errors.ArgumentValueError):
                pass  # but NumPy may take it
    if theirs in _ASKING:
        return _ASKING[theirs](*args, **kwargs)
    their_name: str = theirs.__name__
    _refuse_to_write(their_name, [kwargs.get("out")])
    name = ALIASES.get(their_name, their_name)
    chapter = (theirs.__module__ or "").rpartition(".")[2]

    def on_hosts() -> Any:
        return theirs(*[_hosts(one) for one in args], **{k: _hosts(v) for k, v in kwargs.items()})

    space = getattr(namespace, chapter) if chapter in ("linalg", "fft") else namespace
    ours = getattr(space, name, None) if name in getattr(space, "__all__", ()) else None
    if ours is not None:
        taken = _arguments(theirs, ours, args, kwargs)
        if taken is not None:
            if (
                plan is None
                and len(_plans) < _MOST_PLANS
                and (plan := _planned(theirs, ours, args, kwargs)) is not None
            ):
                _plans[form] = plan
            return _unless_refused(lambda: ours(*taken[0], **taken[1]), on_hosts)
    return on_hosts()


class _Plan(NamedTuple):
    """How a function of ours is called for a form of calls of NumPy's.

    A form is the function, the number of positional arguments and the names of the others. Places are those among the
    values of all arguments in that order, and the constants after them.
    """

    ours: Callable[..., Any]
    positional: tuple[tuple[int, bool], ...]
    """A place for each, and whether it is an array."""
    keyword: tuple[tuple[str, int], ...]
    constants: tuple[Any, ...]
    """What was not given, but stands before what was."""
    axis: int | None
    """The place of an axis that is another matter if it is None."""

    def call(self, values: tuple[Any, ...]) -> Any:
        """What our function gives for these values."""
        return self.ours(
            *[_operand(values[at]) if is_array else values[at] for at, is_array in self.positional],
            **{name: values[at] for name, at in self.keyword},
        )


_plans: Final[dict[Any, _Plan]] = {}
"""By form of call, once there was one that ours took."""
_MOST_PLANS: Final = 1024


def _planned(theirs: Any, ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan | None:
    """The plan for calls of this form.

    None where it depends on more than the form how ours is called.
    """
    tokens = [object() for _ in (*args, *kwargs)]
    if "norm" in kwargs or "out" in kwargs or (ours.__name__ in _IMPLIED and len(tokens) == 1):
        return None
    taken = _arguments(theirs, ours, tuple(tokens[: len(args)]), dict(zip(kwargs, tokens[len(args) :], strict=True)))
    if taken is None:
        return None
    places = {token: at for at, token in enumerate(tokens)}
    constants: list[Any] = []
    positional: list[tuple[int, bool]] = []
    for value, parameter in zip(taken[0], _signature(ours).parameters.values(), strict=False):
        is_array = _is_array(parameter)
        if type(value) is object:
            positional.append((places.pop(value), is_array))
        else:
            positional.append((len(tokens) + len(constants), is_array))
            constants.append(value)
    axis = places.get(taken[1].get("axis")) if ours.__name__ in _FLATTENING else None
    keyword = tuple((name, places.pop(value)) for name, value in taken[1].items() if type(value) is object)
    if places or len(keyword) != len(taken[1]):
        return None
    return _Plan(ours, tuple(positional), keyword, tuple(constants), axis)


def _without_values(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy, applied to ndarrays in place of Arrays.

    They have the shapes and dtypes of those, and take no memory.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        return theirs(*map(_hollow, args), **kwargs)

    return called


def _hollow(value: Any) -> Any:
    return np.broadcast_to(np.empty((), np.dtype(value.dtype)), value.shape) if dispatch.is_array(value) else value


_ASKING: Final[dict[Any, Callable[..., Any]]] = {
    np.ndim: lambda a: a.ndim,
    np.shape: lambda a: a.shape,
    np.size: lambda a, axis=None: a.size if axis is None else np.size(_hollow(a), axis),
    **{one: _without_values(one) for one in (np.common_type, np.iscomplexobj, np.isrealobj, np.result_type)},
}
"""Functions that ask for shapes and dtypes alone. They need no transfer, and traced Arrays answer them."""


_FLATTENING: Final = ("argsort", "cumulative_prod", "cumulative_sum", "sort", "take")
"""Functions to which NumPy gives a flattened array if the axis is None."""

_IMPLIED: Final[dict[str, Callable[[Any], tuple[int, ...]]]] = {
    "permute_dims": lambda x: tuple(range(x.ndim))[::-1],
    "squeeze": lambda x: tuple(axis for axis, length in enumerate(x.shape) if length == 1),
}
"""The axes that NumPy means if it is not told."""


_RENAMED: Final = {"a_min": "min", "a_max": "max"}
"""Our name of a parameter by NumPy's, where that must not be told by its place."""

_UNTOLD: Final = {
    function: inspect.signature(like)
    for function, like in (
        (np.can_cast, lambda from_, to, casting="safe": None),
        (np.concatenate, lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None),
        (np.empty_like, lambda x, /, dtype=None, order="K", subok=True, shape=None, *, device=None: None),
        (np.where, lambda condition, x, y, /: None),
    )
}
"""The parameters of functions in C, whose signatures NumPy 2.1 does not tell."""


_signature: Final = functools.cache(inspect.signature)


def _arguments(
    theirs: Any, ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of NumPy's function as ours takes them.

    None if it has one that ours lacks.
    """
    try:
        told = _UNTOLD[theirs] if theirs in _UNTOLD else _signature(theirs)
        given = told.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return None
    # To NumPy's transforms no norm is the usual one.
    named = {_RENAMED.get(name, name): value for name, value in given.items() if not (name == "norm" and value is None)}
    if ours.__name__ in _FLATTENING and named.get("axis", told.parameters["axis"].default) is None:
        first = next(iter(named))
        named |= {first: np.reshape(named[first], (-1,)), "axis": 0}
    positional: list[Any] = []
    keyword: dict[str, Any] = {}
    parameters = _signature(ours).parameters
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return None
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.name in named:
                keyword[parameter.name] = named.pop(parameter.name)
        elif named:
            first = parameter.name if parameter.name in named else next(iter(named))
            is_another = first != parameter.name and first in parameters  # its turn comes
            value = parameter.default if is_another else named.pop(first)
            positional.append(_operand(value) if _is_array(parameter) else value)
        elif parameter.default is parameter.empty:
            if ours.__name__ not in _IMPLIED:
                return None
            positional.append(_IMPLIED[ours.__name__](positional[0]))
    return None if named else (positional, keyword)


def _is_array(parameter: inspect.Parameter) -> bool:
    """Whether lists are arrays to it; a shape stays a tuple."""
    return str(parameter.annotation).startswith("AnyArray")


def _operand(value: Any) -> Any:
    """A list as NumPy takes it: an ndarray, unless it holds Arrays."""
    if isinstance(value, (list, tuple)) and not any(dispatch.is_array(one) for one in value):
        return np.asarray(value)
    return value


def _host(value: Any) -> Any:
    return transfer.to_host(value._native, value._home.backend, "numpy") if dispatch.is_array(value) else value


def _hosts(value: Any) -> Any:
    """`value` with every Array in its lists and tuples made an ndarray."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_hosts(one) for one in value)
    return _host(value)


def _as_array_on(host: Any, home: Home, cause: str) -> Any:
    """An Array of what NumPy computed.

    What is another's stays as it is, and so do objects, dates and other dtypes that no Array has.
    """
    if not isinstance(host, (np.ndarray, np.generic)) or _answers_for_itself(type(host)):
        return host
    numpys = registry.backend_of_name("numpy").free
    try:
        numpys.dtype(host)
    except errors.ArgumentTypeError:
        return host
    array = dispatch.wrap(host, numpys)
    return dispatch.wrap(dispatch.native_on(array, home, cause), home)


CPU: Final = (1, 0)
"""DLPack's number of the host, as device type and index."""


def dlpack_device(native: Native, home: Home) -> tuple[int, int]:
    """DLPack's device type and index."""
    if home.backend.kind == "cpu":
        return CPU
    kind, index = native.__dlpack_device__()
    return int(kind), int(index)


def dlpack(
    native: Native,
    home: Home,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[Any, int] | None,
    copy: bool | None,
) -> Any:
    """A DLPack capsule of a native array.

    One on the host comes by way of NumPy, as its exporter knows every version.
    """
    wanted = None if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted in (None, dlpack_device(native, home)) and home.backend.kind != "cpu":
        return (native if copy is False else home.exported(native)).__dlpack__(stream=stream)
    if wanted not in (None, CPU):
        raise BufferError(f"__dlpack__: dl_device must be this Array's own or the host {CPU}, not {wanted}")
    if wanted == CPU and copy is False and home.backend.kind != "cpu":
        raise BufferError(f"__dlpack__: an Array on {home.backend} cannot be shared with the host without a copy")
    # Before DLPack 1.0 a capsule could not say that its memory is read-only. Who says `copy=False` gets it anyway.
    is_old = max_version is None or max_version[0] < 1
    if is_old and copy is False:
        shared = home.exported(native) if home.backend.is_immutable else np.asarray(native)
        return shared.__dlpack__()
    host = transfer.to_host(native, home.backend, "__dlpack__", explicit=True)
    if copy or is_old:
        host = np.array(host)
    return host.__dlpack__(max_version=max_version)


def of_library(x: Any, library: str) -> Native:
    """The values of an Array as a native array of a library.

    It is the Array's own if that lives there.
    """
    home = x._home
    if home.backend.library == library:
        second_copies.hand_out(x)
        return x._native
    return dispatch.native_on(x, registry.backend_of_name(library).free, library)


def adopted(native: Native, library: str) -> Any:
    """An Array of what a library's transform hands back.

    That is a native array, or a stand-in of the library's own.
    """
    backend = registry.backend_of_native(native)
    return dispatch.wrap(native, (backend or registry.backend_of_name(library)).free)


def tensor(x: Any, dtype: Any) -> Native:
    """A tf.Tensor of an Array, in TensorFlow's `dtype` if one is given."""
    native = of_library(x, "tf")
    if dtype is None or native.dtype == dtype:
        return native
    return registry.backend_of_name("tf").free.astype(native, dtype)
