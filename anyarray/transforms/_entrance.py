"""The function that stands for a compiled one: the fast path for Arrays on one home; the rest is slow."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from anyarray import _choice, _diagnosis, _dispatch, _dtypes

set_choice: Final = _choice._current.set
reset_choice: Final = _choice._current.reset
USUAL: Final = _dtypes._STANDARD_DEFAULTS
SCOPE: Final[dict[str, Any]] = {
    "AUTO_": _choice.BY_COST,
    "OTHERS_": (AttributeError, KeyError, TypeError),
    "changes_": _dtypes._changes,
    "current_": _choice.current,
    "defaults_": _dtypes.defaults,
    "explain_": functools.partial(_diagnosis.diagnose_leak, function="jit"),
    "new_": _dispatch.scope["new"],
    "reset_": reset_choice,
    "set_": set_choice,
    "usual_": USUAL,
}
RESERVED: Final = {
    *SCOPE,
    *("fast_", "refusals_", "bare_", "slow_", "function_", "first_", "executable_", "at_"),
    *("home_", "choice_", "chosen_", "run_", "result_", "error_", "token_"),
}
"""Names in the entrance, which no parameter may have, nor those of `given_names`."""


def given_names(count: int) -> list[str]:
    """Names of the Arrays that a function which is not compiled may write to, as inside a trace."""
    return [f"given{i}_" for i in range(count)]


def entrance_text(function: Callable[..., Any], names: Sequence[str]) -> str:
    """The text of the entrance: the fast path for Arrays on one home, as in `_dispatch`; the rest is slow.

    Between two computations each look at something takes several times what it takes in a loop, so it looks at little:
    what has no home is no Array. Least of all where an executable looks at everything else, and refuses. If it raises
    RuntimeError it was running, and is not run again. Where nothing is compiled the function itself is called, with
    Arrays of its own.
    """
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in inspect.signature(function).parameters.values()]
    first, *others = names
    run = "fast_[home_]"
    if others:
        run += f" if {' and '.join(f'{name}._home is home_' for name in others)} else None"
    are_there = " and ".join(f"{name}._home is first_" for name in names)
    natives = ", ".join(f"{name}._native" for name in names)
    is_there = "".join(f" and {name}._home is home_" for name in others)
    fresh = given_names(len(names))
    wrapping = "; ".join(
        f"{new} = new_(); {new}._native = {name}._native; {new}._home = home_"
        for new, name in zip(fresh, names, strict=True)
    )
    return f"""\
def called{inspect.Signature(bare)}:
    try:
        if {are_there} and current_().backend is at_ and not changes_:
            result_ = new_()
            result_._native = executable_({natives})
            result_._home = {first}._home
            return result_
    except RuntimeError:
        raise
    except Exception:
        pass
    try:
        home_ = {first}._home
        run_ = {run}
    except OTHERS_:
        run_ = home_ = None
    if run_ is not None and (not changes_ or defaults_() is usual_):
        choice_ = current_()
        chosen_ = choice_.backend
        if chosen_ is home_.backend or chosen_ is None or (chosen_ is AUTO_ and choice_.candidates is None):
            result_ = new_()
            try:
                result_._native = run_({natives})
            except RuntimeError as error_:
                explain_(error_)
                raise
            except refusals_.get(run_, Exception):
                pass
            except Exception as error_:
                explain_(error_)
                raise
            else:
                result_._home = home_
                return result_
    elif home_ in bare_{is_there}:
        chosen_ = current_().backend
        if chosen_ is None or chosen_ is home_.backend:
            {wrapping}
            token_ = set_(bare_[home_]) if chosen_ is None else None
            try:
                return function_({", ".join(fresh)})
            except Exception as error_:
                explain_(error_)
                raise
            finally:
                if token_ is not None:
                    reset_(token_)
    return slow_(({", ".join(names)},), {{}})
"""


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that cannot be given by position, variadic ones included."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C
        return []
    return [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
