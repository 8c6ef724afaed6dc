"""The compiled fast path: what `_speedups`, in C, is told of a declaration.

A `Call` takes the commonest arguments of a function and leaves all others to its Python body, which gives the same.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from anyarray._base import callers, dtypes, processor
from anyarray._base.extension import speedups
from anyarray._call import by_position
from anyarray._call.declaration import ARRAY, PLAIN, SEQUENCE, WEAK, Declaration, Parameter
from anyarray._choice import choice, machine
from anyarray._memory import alignment, second_copies, views
from anyarray._registry import home, registry
from anyarray.backends import _shortcut

F = TypeVar("F", bound=Callable[..., Any])

_SHARED: Final = ("fill", "fill_like", "transpose")
"""Fast paths of several functions, told apart by the first letters of their names."""


_REDUCTIONS: Final = {
    "all": "SELECTS", "any": "SELECTS", "count_nonzero": "ADDS", "max": "SELECTS", "mean": "AVERAGES", "min": "SELECTS",
    "sum": "ADDS",
}  # fmt: skip
"""Reductions that may be recorded: whether they give one of the elements, their sum or their mean."""


def configure(array: type, ufuncs: dict[Any, Any], operands: frozenset[Any], lazy: dict[str, Any]) -> None:
    """Pass the C code the objects of the package that it reads, once.

    `_speedups/core/config.h` lists them. From higher layers come the class Array, our functions by NumPy's ufunc,
    classes of what may be their operands, and what records and runs calls.
    """
    if speedups is None:
        return
    speedups.configure(
        array_type=array, home_type=home.Home, backend_type=registry.Backend, choice_type=choice.Choice,
        limit_type=machine.Limit, dtype_type=dtypes.DType, reordered_type=views.Reordered,
        choice_variable=choice.context_variable, by_cost=choice.BY_COST,
        numpy_home=registry.backend_of_name("numpy").free, powers=home.POWERS,
        ufuncs=ufuncs, operand_types=operands,
        defaults_variable=dtypes.context_variable, standard_defaults=dtypes.STANDARD_DEFAULTS,
        unadopted=registry.unadopted, are_absent=registry.are_absent,
        lendable=second_copies.LENDABLE, read_only_view=views.READ_ONLY,
        keep_order=views.keep_order, skipped_files=callers.SKIPPED_FILES,
        threads=processor.threads(),
        large=machine.LARGE, few=_shortcut.FEW, small_nbytes=alignment.SMALL, modest_nbytes=alignment.MODEST, **lazy,
    )  # fmt: skip
    speedups.record_from(machine.RECORDED)


def compiled_call(
    function: F,
    declaration: Declaration,
    body: Callable[[], Any] | None = None,
    slow: Callable[..., Any] | None = None,
    *,
    is_inplace: bool = False,
) -> F:
    """The compiled call of a function or an operator, or its body itself.

    `body` makes the body of a declared function, which takes long: a compiled call asks for it when it first falls back
    to it. Without `body` the function has its own. `slow` makes a call that is to be decided about, from a tuple of its
    arguments. An in-place operator gives its left operand the result.
    """
    written = declaration.written
    arrays = [p for p in written if p.role in (ARRAY, WEAK, SEQUENCE)]
    is_joining = [p.role for p in arrays] == [SEQUENCE] and arrays[0] is written[0]
    if (
        speedups is None
        or len(written) > speedups.MAX_PARAMETERS
        or not (is_joining or (arrays and all(p.role is not SEQUENCE for p in arrays)))
        or any(p.is_variadic for p in written)
    ):
        return function if body is None else body()
    return _made(
        function,
        declaration.name,
        "join" if is_joining else "inplace" if is_inplace else "function",
        body=body,
        result_class=None if declaration.result == "Array" else declaration.result_class,
        signature=(
            _rows(written, function),
            tuple([written.index(p) for p in declaration.parameters]),
            tuple([p.name for p in declaration.parameters if p.is_keyword]),
            _positional(written, function),
        ),
        flags=_flags(declaration),
        reduction=getattr(speedups, _REDUCTIONS.get(declaration.name, ""), 0),
        choice=(
            slow,
            machine.at_home(declaration.name),
            -1 if declaration.axis_at is None else written.index(declaration.parameters[declaration.axis_at]),
        ),
    )


def _flags(declaration: Declaration) -> Any:
    """What a function is, as `_speedups/entry/call.h` numbers it."""
    return (
        speedups.IS_POWER * declaration.is_power
        | speedups.IS_OPERATOR * any(p.name == "self" for p in declaration.parameters)
        | speedups.TAKES_NDARRAYS * declaration.takes_ndarrays
        | speedups.GIVES_NEW_MEMORY * declaration.gives_new_memory
        | speedups.MULTIPLIES * declaration.multiplies
        | speedups.GIVES_VIEWS * declaration.gives_views
        | speedups.IS_READ_ONLY * (declaration.name in views.READ_ONLY_VIEWS)
        | speedups.IS_ELEMENTWISE * (declaration.batch == "elementwise")
    )


def fast_path(kind: str) -> Callable[[F], F]:
    """Give a function with a body of its own a compiled call.

    Its kind names the compiled path: getitem, setitem, ufunc, transpose, ravel, reshape, copy, array, iter,
    bool, int, float, index, hash, item, len, shape, ndim, size or dtype, which are methods and
    attributes of Array, or fill, fill_like, arange, asarray, from_dlpack,
    astype or result_type. It takes options by position as `by_position` says.
    """

    def decorated(function: F) -> F:
        variant = {"variant": function.__name__[0]} if kind in _SHARED else {}
        name = function.__name__
        if not by_position.options_of(function):
            return function if speedups is None else _made(function, name, kind, **variant)
        body = functools.partial(by_position.takes_by_position, function)
        return body() if speedups is None else _made(function, name, kind, body=body, **variant)

    return decorated


class _Called:
    """An object that is called as its `_call`, which C code does sooner."""

    _call: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


Called: Any = getattr(speedups, "Called", _Called)


def with_numpy_function(
    function: F, numpy_function: Callable[..., Any] | None, ours: Callable[..., Any] | None = None, variant: str = "f"
) -> F:
    """A call that NumPy's own function computes of few elements in NumPy.

    `function` takes all other arguments, and gives the same there. A compiled function of ours that takes the same
    arguments comes first. Without `numpy_function` the call is one of ndarray's method of that name. `variant` is "d"
    if numbers are drawn, which stay numbers, "l" if ours takes only lists and ndarrays, "o" if ours alone is called,
    and "u" for a ufunc.
    """
    if speedups is None:
        return function
    name = function.__name__
    return _made(function, name, "numpy_function", numpy_function=numpy_function, ours=ours, variant=variant)


def _made(function: F, name: str, kind: str, **said: Any) -> F:
    call = speedups.Call(function, name, machine.limit_of(name), kind, **said)
    for attribute in _COPIED:
        setattr(call, attribute, getattr(function, attribute))
    return call  # type: ignore[no-any-return]  # it is called as `function` is


# `__wrapped__` is an attribute of the class: the body. From Python 3.14 on `__annotate__` is in the place of
# `__annotations__`, which a function makes of it, and a call does not.
_COPIED: Final = frozenset({*functools.WRAPPER_ASSIGNMENTS, "__annotations__"})


def _rows(written: Sequence[Parameter], function: Callable[..., Any]) -> tuple[tuple[Any, ...], ...]:
    """What a compiled call knows of each parameter.

    That is its name if it may be given by name, a tuple of its default or an empty one, the strings that it may be, its
    role, what it takes that is no array, and the index of the array beside which a scalar gets its dtype.
    """
    defaults, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    code = function.__code__
    usual = {**dict(zip(code.co_varnames[code.co_argcount - len(defaults) :], defaults, strict=False)), **named}
    roles = {ARRAY: speedups.ARRAY, WEAK: speedups.WEAK, SEQUENCE: speedups.SEQUENCE}
    operands = [at for at, p in enumerate(written) if p.role in (ARRAY, WEAK) and not p.is_condition]
    return tuple(
        [
            (
                "" if at < code.co_posonlyargcount else p.name,
                (usual[p.name],) if p.name in usual else (),
                tuple(map(ast.literal_eval, p.choices)),
                roles.get(p.role, speedups.PLAIN),
                _taken(p),
                next((other for other in operands if other != at), 0),
            )
            for at, p in enumerate(written)
        ]
    )


def _positional(written: Sequence[Parameter], function: Callable[..., Any]) -> int:
    """How many parameters come by position, in the order written."""
    if not any(p.is_keyword for p in written):
        return len(written)
    options = iter(by_position.options_of(function))
    return sum(1 for _ in itertools.takewhile(lambda p: not p.is_keyword or p.name == next(options, None), written))


@functools.cache
def _taken(p: Parameter) -> Any:
    """What a parameter takes that is no array, as flags."""
    if p.role is PLAIN and not p.is_read:
        return speedups.TAKES_ANYTHING
    is_integer = p.annotation.startswith("int")
    return (
        speedups.TAKES_NONE * p.is_optional
        | speedups.TAKES_INTEGER * (p.takes_integer or (p.takes_plain_scalar and is_integer))
        | speedups.TAKES_SCALAR * (p.takes_plain_scalar and not is_integer)
        | speedups.TAKES_INTEGERS * p.takes_integers
        | speedups.TAKES_BOOL * p.is_flag
        | speedups.TAKES_REAL * p.is_number
        | speedups.TAKES_CHOICE * bool(p.choices)
    )
