"""The function that stands for a compiled one; its text is generated."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from anyarray import _choice, _diagnosis, _dispatch, _dtypes
from anyarray._backend import Backend, Home, Native
from anyarray._choice import Choice

AUTO: Final = _choice.BY_COST
OTHERS: Final = (AttributeError, KeyError, TypeError)
USUAL: Final = _dtypes._STANDARD_DEFAULTS
changes: Final = _dtypes._changes
current: Final = _choice.current
defaults: Final = _dtypes.defaults
explain: Final = functools.partial(_diagnosis.diagnose_leak, function="jit")
new: Final = _dispatch.scope["new"]
reset_choice: Final = _choice._current.reset
set_choice: Final = _choice._current.set
RESERVED: Final = {"entrance_", "own_", "home_", "choice_", "chosen_", "run_", "result_", "error_", "token_"}
"""Names in the entrance, which no parameter may have, nor those of `given_names`."""


class Own:
    """What an entrance looks at besides this module; the two are its globals.

    In slots, which take 2 ns each. Who pickles the entrance by value, as cloudpickle does, pickles this: it is made
    anew, and nothing that is compiled goes along.
    """

    __slots__ = ("at", "bare", "executable", "fast", "first", "function", "made", "refusals", "slow")

    made: tuple[Callable[..., Own], tuple[Any, ...]]
    """A function that makes another such object, and its arguments."""
    fast: dict[Home, Callable[..., Native] | None]
    refusals: dict[Callable[..., Native], type[Exception]]
    bare: dict[Home, Choice]
    slow: Callable[..., Any]
    function: Callable[..., Any]
    first: Home | None
    """The first home with an executable, which stands in the two below: a dict takes 30 ns."""
    executable: Callable[..., Native]
    at: Backend

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made


def given_names(count: int) -> list[str]:
    """Names of the Arrays to which a function that is not compiled may write.

    They are its own, so it may write to them as inside a trace.
    """
    return [f"given{i}_" for i in range(count)]


def entrance_text(function: Callable[..., Any], names: Sequence[str]) -> str:
    """The text of the entrance: the fast path for Arrays on one home.

    It is as in `_dispatch`; the rest is slow. Between two computations each look at something takes several times what
    it takes in a loop, so it looks at little: what has no home is no Array. Least of all where an executable looks at
    everything else, and refuses. If it raises RuntimeError it was running, and is not run again. Where nothing is
    compiled the function itself is called, with Arrays of its own.
    """
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in inspect.signature(function).parameters.values()]
    first, *others = names
    run = "own_.fast[home_]"
    if others:
        run += f" if {' and '.join(f'{name}._home is home_' for name in others)} else None"
    are_there = " and ".join(f"{name}._home is own_.first" for name in names)
    natives = ", ".join(f"{name}._native" for name in names)
    is_there = "".join(f" and {name}._home is home_" for name in others)
    fresh = given_names(len(names))
    wrapping = "; ".join(
        f"{new} = entrance_.new(); {new}._native = {name}._native; {new}._home = home_"
        for new, name in zip(fresh, names, strict=True)
    )
    return f"""\
def called{inspect.Signature(bare)}:
    try:
        if {are_there} and entrance_.current().backend is own_.at and not entrance_.changes:
            result_ = entrance_.new()
            result_._native = own_.executable({natives})
            result_._home = {first}._home
            return result_
    except RuntimeError:
        raise
    except Exception:
        pass
    try:
        home_ = {first}._home
        run_ = {run}
    except entrance_.OTHERS:
        run_ = home_ = None
    if run_ is not None and (not entrance_.changes or entrance_.defaults() is entrance_.USUAL):
        choice_ = entrance_.current()
        chosen_ = choice_.backend
        if chosen_ is home_.backend or chosen_ is None or (chosen_ is entrance_.AUTO and choice_.candidates is None):
            result_ = entrance_.new()
            try:
                result_._native = run_({natives})
            except RuntimeError as error_:
                entrance_.explain(error_)
                raise
            except own_.refusals.get(run_, Exception):
                pass
            except Exception as error_:
                entrance_.explain(error_)
                raise
            else:
                result_._home = home_
                return result_
    elif home_ in own_.bare{is_there}:
        chosen_ = entrance_.current().backend
        if chosen_ is None or chosen_ is home_.backend:
            {wrapping}
            token_ = entrance_.set_choice(own_.bare[home_]) if chosen_ is None else None
            try:
                return own_.function({", ".join(fresh)})
            except Exception as error_:
                entrance_.explain(error_)
                raise
            finally:
                if token_ is not None:
                    entrance_.reset_choice(token_)
    return own_.slow(({", ".join(names)},), {{}})
"""


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that cannot be given by position.

    Variadic ones are among them.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C
        return []
    return [p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
