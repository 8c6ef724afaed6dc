"""The scope of a call: 64 bits and the default device, for its thread only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

import jax
import numpy as np

from anyarray.backends.jax._hooks import device_of, devices, lent, to_numpy
from anyarray.backends.jax._kernel import PADDED, Compiled, instead_of, made_of
from anyarray.backends.jax._mesh import Layout, refuse_closure
from anyarray.backends.jax._seldom import Meetings, Seldom, compiling, in_padded, is_in_host_memory

__all__ = ["scoped"]


def scoped(function: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """`function`, run with 64 bits enabled and `device` as the default.

    Both are set for this thread only. A mesh is no default device: what is made there is laid out by `placed`.
    """
    called = sometimes(function)
    if isinstance(device, Layout):
        if device.waits:
            called = _waiting(called)
        device = None
    try:
        # As `with jax.enable_x64(True)`, in a quarter of its time: these swap a thread-local value in C++. They are
        # not documented, hence the fallback below.
        get_x64, set_x64 = jax.enable_x64.get_local, jax.enable_x64.set_local
        get_device, set_device = jax.default_device.get_local, jax.default_device.set_local
    except AttributeError:

        @functools.wraps(function)
        def in_managers(*args: Any, **kwargs: Any) -> Any:
            with jax.enable_x64(True), jax.default_device(device):
                return called(*args, **kwargs)

        return in_managers

    @functools.wraps(function)
    def in_wide_scope(*args: Any, **kwargs: Any) -> Any:
        outer_x64 = get_x64()
        try:
            set_x64(True)  # inside the try, as KeyboardInterrupt may be raised right after it
            return called(*args, **kwargs)
        except RuntimeError as error:
            refuse_closure(error)
            raise
        finally:
            set_x64(outer_x64)

    @functools.wraps(function)
    def in_scope(*args: Any, **kwargs: Any) -> Any:
        outer_device = get_device()
        try:
            set_device(device)
            return in_wide_scope(*args, **kwargs)
        finally:
            set_device(outer_device)

    if not _is_only_device():
        return in_scope
    return _bare(function, in_wide_scope) if function in made_of else in_wide_scope


def _waiting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns when its results are computed."""
    return functools.wraps(function)(lambda *args, **kwargs: jax.block_until_ready(function(*args, **kwargs)))


def _bare(function: Callable[..., Any], in_scope: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function without a scope, with a cache by static parameters.

    A call takes a fifth less time. The body of the function enables 64 bits itself, and `jax.jit` preserves the dtypes
    of arrays. JAX's differentiation and batching rules do not, so calls with tracers still enter the scope.
    """
    parameters = inspect.signature(function).parameters
    static = made_of[function].static
    arrays = [name for name in parameters if name not in static]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return in_scope
    plain = [p.replace(annotation=p.empty, default=p.empty) for p in parameters.values()]
    passed = [f"{name}={name}" if p.kind is p.KEYWORD_ONLY else name for name, p in parameters.items()]
    chosen = f"variants[{''.join(f'{name}, ' for name in static)}]" if static else "function"
    options = ", ".join(f"{name!r}: {name}" for name in static)
    text = f"""\
def bare{inspect.Signature(plain)}:
    if {" or ".join(f"isinstance({name}, Tracer)" for name in arrays)}:
        return in_scope({", ".join(passed)})
    global met
    if met is None or met.is_frequent(({"".join(f"{name}, " for name in arrays)}), {{{options}}}):
        try:
            return {chosen}({", ".join(arrays)})
        except Seldom:
            met = meetings_of(function)
    return instead(function, ({"".join(f"{name}, " for name in arrays)}), {{{options}}}, {chosen})
"""
    made: dict[str, Any] = {
        "Tracer": jax.core.Tracer,
        "Seldom": Seldom,
        "function": function,
        "in_scope": in_scope,
        "instead": instead,
        "meetings_of": meetings_of,
        "met": None,
        "variants": _Variants(made_of[function]),
    }
    exec(text, made)  # generated from our own signatures only
    bare: Any = functools.wraps(function)(made["bare"])
    given = [p for p in parameters.values() if p.default is not p.empty]
    bare.__defaults__ = tuple([p.default for p in given if p.kind is not p.KEYWORD_ONLY])
    bare.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return bare


def meetings_of(function: Callable[..., Any]) -> Meetings | None:
    """What is known of the lengths of a function that has another way."""
    if function not in instead_of:
        return None
    body = made_of[function].body if function in made_of else function
    return Meetings(body, instead_of[function] is PADDED)


def sometimes(made: Callable[..., Any]) -> Callable[..., Any]:
    """A function that may have another way for lengths that are rare."""
    met: Meetings | None = None

    @functools.wraps(made)
    def called(*arrays: Any, **options: Any) -> Any:
        nonlocal met
        if met is None or met.is_frequent(arrays, options):
            try:
                return made(*arrays, **options)
            except Seldom:
                met = meetings_of(made)
        return instead(made, arrays, options, made)

    return called


def instead(
    function: Callable[..., Any], arrays: tuple[Any, ...], options: dict[str, Any], call: Callable[..., Any]
) -> Any:
    """The result of a call that raised Seldom.

    `call` is what was called with the arrays: of a compiled `function` with static parameters, a variant for these.
    """
    way = instead_of.get(function)
    if way is None or not is_in_host_memory(arrays):
        return compiling(call, arrays, options if call is function else {})
    device = device_of(next(x for x in arrays if isinstance(x, jax.Array)))
    if way is PADDED:
        static = options if call is function else {}
        return lent(in_padded(call, arrays, static, lambda a: lent(a, device)), device)
    with np.errstate(all="ignore"):
        result = way(*[to_numpy(x) if isinstance(x, jax.Array) else x for x in arrays], **options)
    found = np.asarray(result)
    # The memory of an argument, of which a result may be a view, may be taken over by a later write.
    return lent(found if found.flags.owndata else found.copy(), device)


class _Variants(dict[tuple[Any, ...], Callable[..., Any]]):
    """A cache of compiled functions, by the values of static parameters.

    Its lookup is faster than the one of `jax.jit`.
    """

    MOST: Final = 1024
    """The maximum number of entries, as a program may use any number of shapes."""

    def __init__(self, made: Compiled) -> None:
        self._made = made

    def __missing__(self, key: tuple[Any, ...]) -> Callable[..., Any]:
        if len(self) >= self.MOST:
            self.clear()
        body, static = self._made
        variant = functools.partial(body, **dict(zip(static, key, strict=True)))
        self[key] = function = jax.jit(functools.wraps(body)(variant))
        return function


@functools.cache
def _is_only_device() -> bool:
    """Whether there is one device, so that it is always the default."""
    return sum(map(len, devices().values())) == 1
