"""The generated wrapper of a function under `jit`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from anyarray._base import dtypes
from anyarray._call import diagnosis
from anyarray._call.wrapping import body_globals, wrap_apart
from anyarray._choice import choice
from anyarray._choice.choice import Choice
from anyarray._registry.home import Home, Native

USUAL: Final = dtypes.STANDARD_DEFAULTS
set_choice: Final = choice.context_variable.set
RESERVED: Final = {
    "own_",
    "home_",
    "choice_",
    "chosen_",
    "refusal_",
    "run_",
    "native_",
    "result_",
    "error_",
}
"""Names used in the wrapper: no parameter may have one of them, or of `given_names`."""


Fast: TypeAlias = "tuple[Callable[..., Native], type[Exception] | tuple[()]] | tuple[None, Choice | None]"
"""A compiled function, and the exception by which it asks for the slow path, as it does by a list.

None and a choice where nothing is compiled: the function itself is called, with that set.
"""


class Own:
    """The state of a wrapper: its only global.

    A wrapper pickled by value, as by cloudpickle, pickles this object: it is made anew,
    without anything that was compiled.
    """

    __slots__ = (
        *("auto", "changes", "current", "defaults", "explain", "fast", "function", "apart", "made", "new"),
        *("others", "set", "slow", "usual"),
    )

    fast: dict[Home, Fast]
    slow: Callable[..., Any]
    function: Callable[..., Any]
    made: tuple[Callable[..., Own], tuple[Any, ...]]
    """A function that makes another such object, and its arguments."""

    def __init__(self) -> None:
        self.auto = choice.BY_COST
        self.changes = dtypes._changes
        self.current = choice.current
        self.defaults = dtypes.defaults
        self.explain = functools.partial(diagnosis.diagnose_failure, function="jit")
        self.new = body_globals["new"]
        self.apart = wrap_apart
        self.others = (AttributeError, KeyError, TypeError)
        self.set = set_choice
        self.usual = USUAL

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made


def given_names(count: int) -> list[str]:
    """Names of the Arrays passed to a function that is not compiled.

    They are new, so that the function may write to them without an effect outside, as inside a trace.
    """
    return [f"given{i}_" for i in range(count)]


def wrapper_text(function: Callable[..., Any], names: Sequence[str]) -> str:
    """The source text of the wrapper: the fast path for Arrays on one home.

    It is as in `_call.body`; everything else takes the slow path. Between two computations each lookup takes
    several times as long as in a loop, so there are few checks: an argument without `_home` is no Array. A RuntimeError
    means that the executable was running, so it is not called again. On a backend that compiles nothing the function
    itself is called, with new Arrays.
    """
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in inspect.signature(function).parameters.values()]
    first, *others = names
    run = "own_.fast[home_]"
    if others:
        run += f" if {' and '.join(f'{name}._home is home_' for name in others)} else (None, None)"
    natives = ", ".join(f"{name}._native" for name in names)
    fresh = given_names(len(names))
    wrapping = "; ".join(f"{new} = own_.apart({name}._native, home_)" for new, name in zip(fresh, names, strict=True))
    return f"""\
def called{inspect.Signature(bare)}:
    try:
        home_ = {first}._home
        run_, refusal_ = {run}
    except own_.others:
        run_ = refusal_ = None
    if run_ is not None and (not own_.changes or own_.defaults() is own_.usual):
        choice_ = own_.current()
        chosen_ = choice_.backend
        if chosen_ is home_.backend or chosen_ is None or (chosen_ is own_.auto and choice_.candidates is None):
            try:
                native_ = run_({natives})
            except RuntimeError as error_:
                own_.explain(error_)
                raise
            except refusal_:
                pass
            except Exception as error_:
                own_.explain(error_)
                raise
            else:
                if not isinstance(native_, list):
                    result_ = own_.new()
                    result_._native = native_
                    result_._home = home_
                    return result_
    elif run_ is None and refusal_ is not None:
        choice_ = own_.current()
        chosen_ = choice_.backend
        if chosen_ is None or chosen_ is home_.backend:
            {wrapping}
            try:
                if chosen_ is None:
                    own_.set(refusal_)  # inside, as Ctrl-C may come right after it
                return own_.function({", ".join(fresh)})
            except Exception as error_:
                own_.explain(error_)
                raise
            finally:
                if chosen_ is None:
                    own_.set(choice_)
    return own_.slow(({", ".join(names)},), {{}})
"""


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that are keyword-only or variadic."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C
        return []
    return [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
