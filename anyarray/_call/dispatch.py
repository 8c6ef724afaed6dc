"""The call: a declared signature becomes a body.

`@dispatch` gives a declared function of the standard a body, which passes its arguments on to `slow_path.call`. That is
written once, for all functions. `compiled` puts a fast path in C before it, for Arrays that all live where the call
runs. The generated source of a body is in `linecache`, so a debugger steps through it. After a native error,
`refusal.explain` examines the arguments and raises the clear error if it finds the cause.
"""

from __future__ import annotations

import functools
import itertools
import linecache
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, TypeVar, overload

import numpy as np

from anyarray._call import body as _body
from anyarray._call import by_position, compiled
from anyarray._call.body import FUNCTION
from anyarray._call.declaration import DTYPE, PLAIN, SEQUENCE, Declaration, Parameter, declarations
from anyarray._call.operators import SLOW_PATHS, operate
from anyarray._call.placement import native_on
from anyarray._call.slow_path import call
from anyarray._call.wrapping import SCALARS, body_globals, is_array, wrap
from anyarray._choice import choice as _choice
from anyarray._registry.home import Composition, Home, Native, compositions

F = TypeVar("F", bound=Callable[..., Any])

body_globals.update(
    refuse=by_position.refuse,
    refuse_names=by_position.refuse_names,
    refuse_absence=by_position.refuse_absence,
    missing=object(),
    one_of=by_position.one_of,
)


@overload
def dispatch(function: F, /) -> F: ...
@overload
def dispatch(**words: str) -> Callable[[F], F]: ...
def dispatch(function: F | None = None, /, **words: str) -> F | Callable[[F], F]:
    """Give a declared function its body.

    `words` are the options that the docstring of `declaration` lists.
    """

    def decorated(function: F) -> F:
        declaration = Declaration(function, words)
        declaration.register(declaration.operands())
        for give_body in _pending_operators.pop(declaration.name, []):
            give_body(declaration)
        return _with_body(function, declaration, call)

    return decorated if function is None else decorated(function)


def composed(
    *,
    own: str = "",
    reads_no_values: bool = False,
    body: Callable[..., Any] | None = None,
    slopes: Sequence[Callable[..., Any] | None] | None = None,
    **words: str,
) -> Callable[[F], F]:
    """Declare a function whose body composes others.

    It is for backends that have none of that name. `own` names the libraries whose own function is called instead: it
    takes the same parameters, gives NumPy's values and dtypes, and is faster. `words` are those of `@dispatch`. The
    body gets Arrays, and returns one or a tuple. It must not write to what it gets. If it `reads_no_values`, not even
    to check them, it is compiled where that is faster than one call after the other. `body` stands for that of the
    declared function. `slopes`, even if there are none, make it a special function: see `_registry.home.Composition`.
    """

    def decorated(function: F) -> F:
        made = dispatch(**words)(function)
        declaration = declarations[function.__name__]
        compositions[function.__name__] = Composition(
            functools.partial(_composition, declaration, body or function),
            frozenset(own.split()),
            reads_no_values,
            None if slopes is None else [one and functools.partial(_composition, declaration, one) for one in slopes],
        )
        return made

    return decorated


def _composition(declaration: Declaration, body: Callable[..., Any], home: Home, *natives: Any, **options: Any) -> Any:
    """What a body over Arrays gives for native arrays of `home`."""
    by_position = itertools.chain(declaration.parameters, itertools.repeat(declaration.parameters[-1]))  # variadic
    by_name = {p.name: p for p in declaration.parameters}
    result = _choice.call_on(
        home.backend,
        body,
        *[_wrapped(p, value, home) for p, value in zip(by_position, natives, strict=False)],
        **{name: _wrapped(by_name[name], value, home) for name, value in options.items()},
    )
    found = [native_on(one, home, declaration.name) for one in ([result] if is_array(result) else result)]
    if home.has_views and not declaration.gives_views:
        found = [_unshared_by_body(one, natives, home) for one in found]
    return found[0] if is_array(result) else tuple(found)


def _unshared_by_body(native: Native, given: Sequence[Any], home: Home) -> Native:
    """A result of a body, copied if it is an argument or a view of one."""
    if isinstance(native, (np.ndarray, np.generic)):
        return native  # the bodies of NumPy's backend are few, and written for it
    whole = home.base_of(native)
    for one in given:
        for part in one if type(one) in (list, tuple) else (one,):
            if part is native or (
                whole is not None and type(part) is type(native) and (part is whole or home.base_of(part) is whole)
            ):
                return home.duplicate(native)
    return native


def _wrapped(p: Parameter, value: Any, home: Home) -> Any:
    """An argument of a native function as one of the declared function."""
    if p.role is DTYPE:
        return None if value is None else home.dtypes[value]
    if p.role is PLAIN or value is None or (p.takes_plain_scalar and type(value) in SCALARS):
        return value
    if p.role is not SEQUENCE or p.is_variadic:
        return wrap(value, home)
    return [wrap(one, home) for one in value] if isinstance(value, (list, tuple)) else list(wrap(value, home))


_pending_operators: Final[dict[str, list[Callable[[Declaration], None]]]] = {}
"""What gives operators their bodies, by the name of a function that is not declared yet."""


def operator_of(name: str, *, reflected: bool = False, in_order: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """Give a declared operator of Array the body of the function `name`.

    It gets the body as soon as that function is declared. Unlike a function, it returns NotImplemented for operands of
    unknown classes, so that Python tries the other operand's method; `SLOW_PATHS` has the exceptions.
    `in_order` is the slow path of one that also puts complex numbers in an order.
    """
    slow = in_order or SLOW_PATHS.get(name, operate)

    def decorated(method: F) -> F:
        give_body = functools.partial(_give_body, method, reflected, slow, in_order is not None)
        _pending_operators.setdefault(name, []).append(give_body)
        return method

    return decorated


def _give_body(
    method: Callable[..., Any],
    is_reflected: bool,
    slow: Callable[..., Any],
    orders_complex: bool,
    declaration: Declaration,
) -> None:
    """Give an operator, and the one in place, the body of a function."""
    its = declaration.operator(method, is_reflected=is_reflected)
    its.orders_complex = orders_complex
    array, name = body_globals["Array"], method.__name__
    setattr(array, name, _with_body(method, its, slow))
    update = getattr(array, f"__i{name.strip('_')}__", None)
    if update is not None and len(its.parameters) == 2:
        setattr(array, update.__name__, compiled.compiled_call(update, its, is_inplace=True))


def _with_body(function: F, declaration: Declaration, slow: Callable[..., Any]) -> F:
    body = functools.partial(_body_of, function, declaration, slow)
    made = compiled.compiled_call(function, declaration, body, functools.partial(slow, declaration))
    declaration.set_body(made)
    return made


def _body_of(function: Callable[..., Any], declaration: Declaration, slow: Callable[..., Any]) -> FunctionType:
    """The body of a declared function, with its name and docstring.

    Tracebacks show the name, too.
    """
    name, form = function.__name__, _body.source(declaration, function)
    source = form.replace(FUNCTION, name)
    filename = f"<anyarray {function.__qualname__}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    made: dict[str, Any] = {}
    exec(_body.code(form), body_globals, made)  # our own text, from a declared signature
    body: FunctionType = made["make"](declaration, slow)
    body.__code__ = body.__code__.replace(co_name=name, co_qualname=function.__qualname__, co_filename=filename)
    for attribute in functools.WRAPPER_ASSIGNMENTS:
        setattr(body, attribute, getattr(function, attribute))
    by_position.give_defaults(body, function)
    return body
