"""The compiled fast path: what `_speedups`, in C, is told of a declaration.

A `Call` takes the commonest arguments of a function and leaves all others to its Python body, which gives the same.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Final, TypeVar

from anyarray._base import dtypes
from anyarray._base.extension import speedups
from anyarray._call import body as _body
from anyarray._call.declaration import ARRAY, PLAIN, SEQUENCE, WEAK, Declaration, Parameter
from anyarray._choice import accounts, choice, cost, machine
from anyarray._memory import alignment, ownership, second_copies
from anyarray._registry import home, registry

F = TypeVar("F", bound=Callable[..., Any])

_SIGNS: Final = {"equal": "=", "not_equal": "!", "less_equal": "l", "greater_equal": "g"}
"""What the C code calls the signs of two characters."""


def configure(array: type, ufuncs: dict[Any, Any], operands: frozenset[Any]) -> None:
    """Tell the C code what it has to know of the package, once.

    From higher floors come the class Array, our functions by NumPy's ufunc, and classes of what may be their operands.
    """
    if speedups is None:
        return
    speedups.configure(
        array=array, home=home.Home, choice=choice.Choice, limit=machine.Limit, dtype=dtypes.DType,
        current=choice.context_variable, by_cost=choice.BY_COST, numpy=registry.backend_of_name("numpy").free,
        powers=home.POWERS, read_apart=ownership.read_apart, kept=second_copies.sizes, ufuncs=ufuncs, operands=operands,
        defaults=dtypes.context_variable, usual_defaults=dtypes.STANDARD_DEFAULTS, state=machine.state,
        unadopted=registry.unadopted, are_absent=registry.are_absent, lendable=second_copies.LENDABLE,
        accounts=accounts.by_memory, writes=ownership.WRITES, large=machine.LARGE, small=alignment.SMALL,
        modest=alignment.MODEST, narrow=cost.WIDTHS[0],
    )  # fmt: skip


def quick(body: F, declaration: Declaration, *, is_update: bool = False) -> F:
    """The compiled call of a function or an operator, or its body itself.

    An update is an operator that gives its left operand the result.
    """
    written, declared = declaration.written, inspect.unwrap(body)  # which has the options by name
    arrays = [p for p in written if p.role in (ARRAY, WEAK, SEQUENCE)]
    is_joining = [p.role for p in arrays] == [SEQUENCE] and arrays[0] is written[0]
    if (
        speedups is None
        or len(written) > speedups.MOST
        or not (is_joining or (arrays and all(p.role is not SEQUENCE for p in arrays)))
        or any(p.is_variadic for p in written)
    ):
        return body
    return _made(
        body,
        declaration.name,
        "join" if is_joining else "update" if is_update else "call",
        result_class=None if declaration.result == "Array" else declaration.result_class,
        parameters=tuple([_row(p, at, written, declared) for at, p in enumerate(written)]),
        order=tuple([written.index(p) for p in declaration.parameters]),
        keywords=tuple([p.name for p in declaration.parameters if p.is_keyword]),
        positional=_leading(written, body.__code__),
        sign=_SIGNS.get(declaration.name, _body.sign(declaration) or " "),
        is_power=declaration.is_power,
        takes_ndarrays=declaration.takes_ndarrays,
        gives_new_memory=declaration.gives_new_memory,
        multiplies=declaration.multiplies,
    )


def quick_own(kind: str) -> Callable[[F], F]:
    """Give a function with a body of its own a compiled call.

    Its kind is item, write, ufunc, transpose, copy, view, iter or divmod, which are methods of Array, or fill,
    like, eye, asarray, import, astype, arange or frequencies, or result_type or can_cast.
    """

    def decorated(function: F) -> F:
        sign = function.__name__[0] if kind in ("fill", "like", "frequencies") else " "  # which tells them apart
        name = "floor_divide" if kind == "divmod" else function.__name__  # whose cost is what decides
        return function if speedups is None else _made(function, name, kind, sign=sign)

    return decorated


def _made(body: F, name: str, kind: str, **said: Any) -> F:
    call = speedups.Call(body, name, machine.limit_of(name), kind, **said)
    return functools.update_wrapper(call, body)  # type: ignore[return-value]  # it is called as that is


def _row(
    p: Parameter, at: int, written: list[Parameter], declared: Callable[..., Any]
) -> tuple[str, tuple[Any, ...], tuple[str, ...], int, int, int]:
    """What a compiled call knows of a parameter."""
    roles = {ARRAY: speedups.ARRAY, WEAK: speedups.WEAK, SEQUENCE: speedups.SEQUENCE}
    others = [i for i, one in enumerate(written) if one.role in (ARRAY, WEAK) and not (one is p or one.is_condition)]
    defaults, keywords = declared.__defaults__ or (), declared.__kwdefaults__ or {}
    since = sum(not one.is_keyword for one in written) - len(defaults)
    usual: tuple[Any, ...] = ()
    if p.is_keyword:
        usual = (keywords[p.name],) if p.name in keywords else ()
    elif at >= since:
        usual = (defaults[at - since],)
    name = "" if at < declared.__code__.co_posonlyargcount else p.name
    words = tuple([ast.literal_eval(word) for word in p.choices])
    return name, usual, words, roles.get(p.role, speedups.PLAIN), _allowed(p), (others or [0])[0]


def _leading(written: Sequence[Parameter], code: CodeType) -> int:
    """How many parameters a body takes by position, in the order written."""
    pairs = zip(written, code.co_varnames[: code.co_argcount], strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0].name == pair[1], pairs))


def _allowed(p: Parameter) -> Any:
    """What may stand for a parameter that is no array, as bits."""
    if p.role is PLAIN and not p.is_read:
        return speedups.ANYTHING
    bits: dict[int, bool] = {
        speedups.NOTHING: p.is_optional,
        speedups.INTEGER: p.takes_integer or (p.takes_plain_scalar and p.annotation.startswith("int")),
        speedups.SCALAR: p.takes_plain_scalar and not p.annotation.startswith("int"),
        speedups.INTEGERS: p.takes_integers,
        speedups.TRUTH: p.is_flag,
        speedups.NUMBER: p.is_number,
        speedups.WORD: bool(p.choices),
    }
    return sum(bit for bit, is_allowed in bits.items() if is_allowed)
