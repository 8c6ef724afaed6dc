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
from anyarray._call import body as _body
from anyarray._call import by_position, chains, moves, postponing
from anyarray._call.declaration import ARRAY, PLAIN, SEQUENCE, WEAK, Declaration, Parameter
from anyarray._choice import choice, machine
from anyarray._memory import alignment, second_copies, views
from anyarray._registry import home, registry
from anyarray.backends import _shortcut

F = TypeVar("F", bound=Callable[..., Any])

_SHARED: Final = ("fill", "fill_like", "transpose")
"""Fast paths of several functions, told apart by the first letters of their names."""


def configure(array: type, ufuncs: dict[Any, Any], operands: frozenset[Any]) -> None:
    """Tell the C code what it has to know of the package, once.

    From higher floors come the class Array, our functions by NumPy's ufunc, and classes of what may be their operands.
    """
    if speedups is None:
        return
    postponing.register(array)
    speedups.configure(
        array=array, home=home.Home, backend=registry.Backend, choice=choice.Choice, limit=machine.Limit,
        dtype=dtypes.DType, choice_variable=choice.context_variable, by_cost=choice.BY_COST,
        numpy_home=registry.backend_of_name("numpy").free, powers=home.POWERS,
        second_copy_sizes=second_copies.sizes, ufuncs=ufuncs, operand_types=operands,
        defaults_variable=dtypes.context_variable, standard_defaults=dtypes.STANDARD_DEFAULTS,
        unadopted=registry.unadopted, are_absent=registry.are_absent,
        lendable=second_copies.LENDABLE, read_only_view=views.READ_ONLY,
        loop_of=chains.loop_of, warned_errors=chains.warned_errors, warn=chains.warn,
        ran=chains.ran, moved=moves.moved, skipped_files=callers.SKIPPED_FILES,
        postponed=postponing.Postponed, put_off=postponing.put_off, put_off_inplace=postponing.put_off_inplace,
        value_of=postponing.value_of, compute_readers=postponing.compute_readers, leaves=postponing.leaves,
        error_variable=chains.ERROR_VARIABLE, threads=processor.threads(),
        large=machine.LARGE, few=_shortcut.FEW, small_nbytes=alignment.SMALL, modest_nbytes=alignment.MODEST,
        reordered=views.Reordered, keep_order=views.keep_order,
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
        parameters=tuple([_row(p, at, written, function) for at, p in enumerate(written)]),
        order=tuple([written.index(p) for p in declaration.parameters]),
        keywords=tuple([p.name for p in declaration.parameters if p.is_keyword]),
        positional=_positional(written, function),
        has_operator=_body.operation(declaration) is not None,
        is_power=declaration.is_power,
        takes_ndarrays=declaration.takes_ndarrays,
        gives_new_memory=declaration.gives_new_memory,
        multiplies=declaration.multiplies,
        gives_views=declaration.gives_views,
        is_read_only=declaration.name in views.READ_ONLY_VIEWS,
        is_elementwise=declaration.batch == "elementwise",
        reduction=chains.reduction_of(declaration.name),
        slow=slow,
        kept_calls=machine.at_home(declaration.name),
        axis_at=-1 if declaration.axis_at is None else written.index(declaration.parameters[declaration.axis_at]),
    )


def fast_path(kind: str) -> Callable[[F], F]:
    """Give a function with a body of its own a compiled call.

    Its kind names the compiled path: getitem, setitem, divmod, ufunc, transpose, ravel, reshape, copy, array, iter,
    bool, int, float, complex, index, hash, item, len, format, shape, ndim, size or dtype, which are methods and
    attributes of Array, or fill, fill_like, arange, asarray, from_dlpack,
    astype or result_type. It takes options by position as `by_position` says.
    """

    def decorated(function: F) -> F:
        variant = {"variant": function.__name__[0]} if kind in _SHARED else {}
        name = "floor_divide" if kind == "divmod" else function.__name__  # whose cost decides
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


def of_theirs(
    function: F, theirs: Callable[..., Any] | None, ours: Callable[..., Any] | None = None, variant: str = "f"
) -> F:
    """A call that NumPy's own function computes of few elements in NumPy.

    `function` takes all other arguments, and gives the same there. A compiled function of ours that takes the same
    arguments comes first. Without `theirs` the call is one of ndarray's method of that name. `variant` is "d" if
    numbers are drawn, which stay numbers, "l" if ours takes lists alone, "o" if ours alone is called, and "u" for a
    ufunc.
    """
    if speedups is None:
        return function
    return _made(function, function.__name__, "theirs", theirs=theirs, ours=ours, variant=variant)


def _made(function: F, name: str, kind: str, **said: Any) -> F:
    call = speedups.Call(function, name, machine.limit_of(name), kind, **said)
    # `__wrapped__` is an attribute of its class: the body. From Python 3.14 on `__annotate__` is in the place of
    # `__annotations__`, which a function makes of it, and a call does not.
    for attribute in {*functools.WRAPPER_ASSIGNMENTS, "__annotations__"}:
        setattr(call, attribute, getattr(function, attribute))
    return call  # type: ignore[no-any-return]  # it is called as `function` is


def _row(
    p: Parameter, at: int, written: list[Parameter], function: Callable[..., Any]
) -> tuple[str, tuple[Any, ...], tuple[str, ...], int, int, int]:
    """What a compiled call knows of a parameter."""
    roles = {ARRAY: speedups.ARRAY, WEAK: speedups.WEAK, SEQUENCE: speedups.SEQUENCE}
    others = [i for i, one in enumerate(written) if one.role in (ARRAY, WEAK) and not (one is p or one.is_condition)]
    defaults, keywords = function.__defaults__ or (), function.__kwdefaults__ or {}
    since = sum(not one.is_keyword for one in written) - len(defaults)
    usual: tuple[Any, ...] = ()
    if p.is_keyword:
        usual = (keywords[p.name],) if p.name in keywords else ()
    elif at >= since:
        usual = (defaults[at - since],)
    name = "" if at < function.__code__.co_posonlyargcount else p.name
    words = tuple([ast.literal_eval(word) for word in p.choices])
    return name, usual, words, roles.get(p.role, speedups.PLAIN), _taken(p), (others or [0])[0]


def _positional(written: Sequence[Parameter], function: Callable[..., Any]) -> int:
    """How many parameters come by position, in the order written."""
    options = iter(by_position.options_of(function))
    return sum(1 for _ in itertools.takewhile(lambda p: not p.is_keyword or p.name == next(options, None), written))


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
