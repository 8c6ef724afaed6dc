"""Options that may be given by position, as programs written for NumPy do.

The standard's options are keyword-only, and so `inspect.signature` and type checkers show them: portable code names
them. A call takes by position what NumPy's function has at the same place, `xp.sum(x, 0)`, `xp.diff(x, 2)`, up to the
first option that ours lacks, such as `out`, or that means something else.
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import Any, Final, NoReturn, TypeVar

from anyarray._base import errors

F = TypeVar("F", bound=Callable[..., Any])

_FUNCTIONS: Final = {
    "axes": "fftshift ifftshift tensordot",
    "axis": "all any argmax argmin argsort concat count_nonzero flip max mean min repeat roll sort stack std take "
    "take_along_axis var",
    "axis dtype": "cumulative_prod cumulative_sum prod sum",
    "d device": "fftfreq rfftfreq",
    "dtype": "arange asarray empty empty_like full full_like ones ones_like zeros zeros_like",
    "endpoint": "linspace",
    "full_matrices": "svd",
    "k": "tril triu",
    "k dtype": "eye",
    "mode": "qr",
    "n axis norm": "fft hfft ifft ihfft irfft rfft",
    "n axis prepend append": "diff",
    "rtol": "pinv",
    "s axes norm": "fftn ifftn irfftn rfftn",
    "side sorter": "searchsorted",
}
OPTIONS: Final = {name: tuple(options.split()) for options, names in _FUNCTIONS.items() for name in names.split()}
"""The options that may be given by position, in NumPy's order, by function."""

SYNONYMS: Final = {"std": {"ddof": "correction"}, "var": {"ddof": "correction"}}
"""NumPy's other names of options, by function; a signature does not show them."""


OTHER_NAMES: Final = {
    "a_max": "max",
    "a_min": "min",
    "dim": "axis",
    "dims": "axis",
    "keep_dims": "keepdims",
    "keepdim": "keepdims",
    "unbiased": "correction",
    "with_replacement": "replace",
}
"""Options by the names that other libraries have for them, for the error about an unknown option."""


NEEDED: Final = {"where": "The indices are those of xp.nonzero(condition)"}
"""What to write if the parameters by position are not all given, by function."""


def options_of(function: Callable[..., Any]) -> Sequence[str]:
    """The options of a declared function that may be given by position."""
    return OPTIONS.get(function.__name__, ())


def parameters_of(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Names of the parameters: by position, and by name alone.

    What else comes by position is refused where there are options, and is called `excess`.
    """
    code = function.__code__  # a signature would take ten times as long, 2 ms at import
    variables, least, most = code.co_varnames, code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    options = options_of(function)
    return [*variables[:least], *options], [name for name in variables[least:most] if name not in options]


def is_operator(function: Callable[..., Any]) -> bool:
    """Whether it is a method such as `__add__`, called without names."""
    return function.__name__.startswith("__")


def text_of_parameters(function: Callable[..., Any]) -> str:
    """The parameters in the text of a body, without defaults."""
    code = function.__code__
    by_position, by_name = parameters_of(function)
    if function.__name__ in NEEDED:
        by_position[1:] = [f"{one}=missing" for one in by_position[1:]]
    if code.co_posonlyargcount:
        by_position.insert(code.co_posonlyargcount, "/")
    if code.co_flags & inspect.CO_VARARGS:
        by_position.append(f"*{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}")
    elif options_of(function):
        by_position.append("*excess")
    elif by_name:
        by_position.append("*")
    by_name += SYNONYMS.get(function.__name__, ())
    if not is_operator(function):
        by_name.append("**unknown")
    return f"({', '.join(by_position + by_name)})"


def give_defaults(body: Any, function: Callable[..., Any]) -> None:
    """Give a body with these parameters the defaults of its function."""
    if function.__name__ not in NEEDED:
        body.__defaults__ = function.__defaults__
    body.__kwdefaults__ = function.__kwdefaults__
    options, named = options_of(function), function.__kwdefaults__ or {}
    if function.__name__ in SYNONYMS:
        body.__kwdefaults__ = {**named, **dict.fromkeys(SYNONYMS[function.__name__])}
    if options:
        body.__defaults__ = (*(function.__defaults__ or ()), *[named[name] for name in options])
    if not is_operator(function):
        body.__wrapped__ = function  # whose signature `inspect` shows


def refuse(function: Callable[..., Any], excess: Sequence[Any]) -> NoReturn:
    """Raise TypeError for what came by position behind all that may."""
    declared = inspect.unwrap(function)
    by_position, by_name = parameters_of(declared)
    name, count = declared.__name__, len(by_position) + len(excess)
    cure = f". Give the others by name: {', '.join(f'{one}=...' for one in by_name)}" if by_name else ""
    if any(isinstance(getattr(one, "shape", None), tuple) for one in excess):
        cure += f". Write to an array by out[...] = xp.{name}(...)"
    taken = f"{', '.join(by_position[:-1])} and {by_position[-1]}"
    raise errors.ArgumentTypeError(f"{name}: takes {taken} by position, not {count} arguments{cure}")


def refuse_names(function: Callable[..., Any], unknown: Iterable[str]) -> NoReturn:
    """Raise TypeError for options that a function does not have."""
    declared = inspect.unwrap(function)
    by_position, by_name = parameters_of(declared)
    known = [*by_position[declared.__code__.co_posonlyargcount :], *by_name]
    name, came = declared.__name__, next(iter(unknown))
    cure = f". Its name is {OTHER_NAMES[came]}" if OTHER_NAMES.get(came) in known else ""
    listed = f"has the options {', '.join(known)}" if known else "has no options"
    raise errors.ArgumentTypeError(f"{name}: {listed}, not {came}{cure}")


def refuse_absence(function: Callable[..., Any]) -> NoReturn:
    """Raise TypeError for parameters that were not given."""
    declared = inspect.unwrap(function)
    name, names = declared.__name__, parameters_of(declared)[0]
    raise errors.ArgumentTypeError(f"{name}: needs {', '.join(names[:-1])} and {names[-1]}. {NEEDED[name]}")


def one_of(function: Callable[..., Any], value: Any, synonym: Any) -> Any:
    """The value of an option that was given by its other name."""
    name, declared = function.__name__, inspect.unwrap(function)
    for other, option in SYNONYMS[name].items():
        if value is not declared.__kwdefaults__[option]:
            raise errors.ArgumentTypeError(f"{name}: takes {option} or {other}, not both. They are the same option")
    return synonym


def takes_by_position(function: F) -> F:
    """Let a function with a body of its own take options by position."""
    by_position, by_name = parameters_of(function)
    least = function.__code__.co_argcount
    given = ", ".join([*by_position[:least], *[f"{one}={one}" for one in (*by_position[least:], *by_name)]])
    made: dict[str, Any] = {"function": function, "refuse": refuse, "refuse_names": refuse_names}
    exec(_code(text_of_parameters(function), given), made)  # our own text, from a declared signature
    wrapper: Any = functools.update_wrapper(made["wrapper"], function)
    give_defaults(wrapper, function)
    return wrapper  # type: ignore[no-any-return]  # it is called as `function` is


@functools.cache
def _code(parameters: str, given: str) -> CodeType:
    """The code object of a function that passes its arguments on.

    Functions with the same parameters share one. `*args` and `**kwargs` would take twice as long in each call.
    """
    source = (
        f"def wrapper{parameters}:\n    if excess:\n        refuse(function, excess)\n"
        f"    if unknown:\n        refuse_names(function, unknown)\n    return function({given})\n"
    )
    filename = f"<anyarray by position {given}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec")
