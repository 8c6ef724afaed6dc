"""JAX: functions over `jax.Array`, each compiled by itself.

How the functions here are made, and why:

- **Compiled one by one.** `compiled` is `jax.jit` with `inline=True`: a call is a lookup in C++, less than
  a `jax.numpy` function or an operator takes; inside the user's own `jit` its body is inlined.
- **Promotion when traced.** The body runs once per dtype and shape. It applies our promotion rule, not
  JAX's (int64 with float32 would be float32), and refuses dtypes, at no cost in later calls.
- **64 bits and the device belong to a call.** JAX rounds to 32 bits outside `jax.enable_x64(True)`. `scoped` sets
  both for the thread during one call; no global flag is touched, and nothing is held over an `await`. Compiled
  functions need it only while they are traced, and around calls with tracers; see `_bare`.
  A backward pass of the user's own `jax.grad` runs after the calls, outside: with float64 it needs
  `jax.enable_x64(True)` around it, else some of it raises and matrix products are rounded to float32.
- **Full float32 products.** Matrix products ask for `Precision.HIGHEST`: TF32 is accurate to 1e-3.

Deviations from NumPy, as XLA has them: subnormal numbers count as zero; casts of floats to integers clamp and
NaN becomes 0; linear algebra gives NaN or infinity for a singular matrix instead of raising; an index array that is
out of range reads NaN (integers: the lowest number) and writes nothing where it cannot be checked without waiting.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
import os
import sys
import threading
from builtins import any as some
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

# JAX takes three quarters of a GPU's memory at first use and leaves none for another library. It is told not to,
# unless it is imported already or the user has said how it shall allocate.
if "jax" not in sys.modules and not some(name.startswith("XLA_PYTHON_CLIENT_") for name in os.environ):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters.partial_eval import DynamicJaxprTracer

from anyarray import _dtypes, _memory
from anyarray._errors import UnsupportedError

Native = Any
"""A jax.Array or a tracer."""
Axes = int | tuple[int, ...] | None

namespace = jnp
ARRAY_TYPES: Final = (jax.Array, jax.core.Tracer)
IS_IMMUTABLE: Final = True
READS_BY_BUFFER: Final = True

_DTYPES: Final = {name: jnp.dtype(name) for name in _dtypes.KNOWN}
_HIGHEST: Final = lax.Precision.HIGHEST


# ------------------------------------------------------------------------ hooks
def scoped(function: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """`function` with 64 bits enabled and `device` the default while it runs, in this thread only."""
    try:
        # What `with jax.enable_x64(True)` does in Python, for a quarter of its time: these swap a thread-local
        # value in C++. They are not documented, hence the way below.
        swap_x64, set_x64 = jax.enable_x64.swap_local, jax.enable_x64.set_local
        swap_device, set_device = jax.default_device.swap_local, jax.default_device.set_local
    except AttributeError:

        @functools.wraps(function)
        def in_managers(*args: Any, **kwargs: Any) -> Any:
            with jax.enable_x64(True), jax.default_device(device):
                return function(*args, **kwargs)

        return in_managers

    @functools.wraps(function)
    def in_wide_scope(*args: Any, **kwargs: Any) -> Any:
        outer_x64 = swap_x64(True)
        try:
            return function(*args, **kwargs)
        finally:
            set_x64(outer_x64)

    @functools.wraps(function)
    def in_scope(*args: Any, **kwargs: Any) -> Any:
        outer_device = swap_device(device)
        try:
            return in_wide_scope(*args, **kwargs)
        finally:
            set_device(outer_device)

    if not _is_only_device():
        return in_scope
    return _bare(function, in_wide_scope) if function in _compiled else in_wide_scope


class _Compiled(NamedTuple):
    """What `compiled` made a function of."""

    body: Callable[..., Any]
    static: list[str]
    """Names of the static parameters."""


_compiled: Final[dict[Callable[..., Any], _Compiled]] = {}
"""The functions that `compiled` made."""


def _bare(function: Callable[..., Any], in_scope: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function without a scope, its static parameters looked up here: a fifth less time for a call.

    Its body enables 64 bits itself, and `jax.jit` keeps the dtypes of arrays. The rules by which JAX differentiates and
    batches do not keep them, so tracers are still met within the scope.
    """
    parameters = inspect.signature(function).parameters
    static = _compiled[function].static
    arrays = [name for name in parameters if name not in static]
    if some(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return in_scope
    plain = [p.replace(annotation=p.empty, default=p.empty) for p in parameters.values()]
    passed = [f"{name}={name}" if p.kind is p.KEYWORD_ONLY else name for name, p in parameters.items()]
    chosen = f"variants[{''.join(f'{name}, ' for name in static)}]" if static else "function"
    text = f"""\
def bare{inspect.Signature(plain)}:
    if {" or ".join(f"isinstance({name}, Tracer)" for name in arrays)}:
        return in_scope({", ".join(passed)})
    return {chosen}({", ".join(arrays)})
"""
    made: dict[str, Any] = {
        "Tracer": jax.core.Tracer,
        "function": function,
        "in_scope": in_scope,
        "variants": _Variants(_compiled[function]),
    }
    exec(text, made)  # our own text, from a signature of ours
    bare: Any = functools.wraps(function)(made["bare"])
    given = [p for p in parameters.values() if p.default is not p.empty]
    bare.__defaults__ = tuple([p.default for p in given if p.kind is not p.KEYWORD_ONLY])
    bare.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return bare


class _Variants(dict[tuple[Any, ...], Callable[..., Any]]):
    """A compiled function by its static parameters, which takes less than `jax.jit` takes to look at them."""

    MOST: Final = 1024
    """Entries kept, as a program may ask for any number of shapes."""

    def __init__(self, made: _Compiled) -> None:
        self._made = made

    def __missing__(self, key: tuple[Any, ...]) -> Callable[..., Any]:
        if len(self) >= self.MOST:
            self.clear()
        body, static = self._made
        variant = functools.partial(body, **dict(zip(static, key, strict=True)))
        self[key] = function = jax.jit(functools.wraps(body)(variant), inline=True)
        return function


@functools.cache
def _is_only_device() -> bool:
    """Whether there is no other device that a default of the user's could name."""
    return builtins.sum(map(len, devices().values())) == 1


def devices() -> dict[str, list[Any]]:
    """The devices of this process by kind, best kind first."""
    found: dict[str, list[Any]] = {}
    for kind in ("gpu", "tpu", "cpu"):
        try:
            found[kind] = jax.local_devices(backend=kind)
        except RuntimeError:  # what JAX raises for a platform that it was not built for or does not find
            continue
    return found


def device_of(x: Native) -> Any:
    """The device of `x`; the first of a sharded array, JAX's default for a tracer."""
    if isinstance(x, jax.core.Tracer):
        return _default_device()
    found = x.devices()
    return next(iter(found)) if len(found) == 1 else builtins.min(found, key=operator.attrgetter("id"))


@functools.cache
def _default_device() -> Any:
    return jax.local_devices()[0]


def native_dtype(name: str) -> Any:
    """NumPy's dtype, which is JAX's."""
    return _DTYPES[name]


def dtype_of(x: Native) -> Any:
    """The dtype of `x`."""
    return x.dtype


def shape_of(x: Native) -> tuple[int | None, ...]:
    """The shape of `x`; None for an axis of symbolic length, as `jax.export` makes."""
    shape: tuple[Any, ...] = x.shape
    for length in shape:
        if type(length) is not int:
            return tuple(length if isinstance(length, int) else None for length in shape)
    return shape


def is_traced(x: Native) -> bool:
    """Whether `x` is a tracer."""
    return isinstance(x, jax.core.Tracer)


# A read-only view on the CPU, else a read-only copy.
to_numpy: Final[Callable[[Native], np.ndarray[Any, Any]]] = np.asarray


def from_numpy(a: np.ndarray[Any, Any], device: Any) -> Native:
    """A copy of `a`, in its dtype, on `device`."""
    # JAX reads its source later, in another thread, and may keep it as the array's own memory; `copy=True` and
    # `may_alias=False` do not change that. So it is given a copy that nobody else can write to, and that it can keep.
    return _lent(_memory.copied(a), device)


def _lent(a: np.ndarray[Any, Any], device: Any) -> Native:
    """`a` on `device`; nobody may write to `a` any more."""
    with jax.enable_x64(True), jax.default_device(device):
        if a.nbytes > _SMALL:
            return jax.device_put(a, device)
        return _placed(jnp.asarray(a), device)


_SMALL: Final = 1 << 16
"""Bytes up to which `jnp.asarray` (17 us) is faster than `jax.device_put` (30 us); it copies once more."""


def plain(x: Native) -> Native:
    """`x`, but for a tracer of 64-bit NumPy values which JAX, outside our scope, has promised to take as 32 bits."""
    if isinstance(x, jax.core.Tracer) and not isinstance(x, DynamicJaxprTracer) and not jax.config.jax_enable_x64:
        return jnp.copy(x)  # which keeps the promise
    return x


def exported(x: Native) -> Native:
    """`x` itself: its capsule says that it is not to be written."""
    return x


def from_dlpack(x: Any, device: Any) -> Native:
    """An array in the memory of `x`. In our scope, as JAX rounds to 32 bits here, too."""
    return jax.dlpack.from_dlpack(EagerTensor(x) if type(x) is np.ndarray else x, copy=False)


class EagerTensor:
    """An ndarray under the name by which `jax.dlpack.from_dlpack` knows TensorFlow's tensors.

    All others it asks for a stream. On a CPU that raises, within JAX, and takes 10 of 24 us.
    """

    __module__ = "tensorflow.python.framework.ops"
    __slots__ = ("_a",)

    def __init__(self, a: np.ndarray[Any, Any]) -> None:
        self._a = a

    def __dlpack__(self, **options: Any) -> Any:
        return self._a.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._a.__dlpack_device__()


def to_device(x: Native, device: Any) -> Native:
    """`x` itself if it is there already, else a copy on `device`."""
    # device_put to the same device makes a second handle of one buffer; donating either would delete both.
    if isinstance(x, jax.core.Tracer) or x.devices() != {device}:
        with jax.enable_x64(True):
            return jax.device_put(x, device)
    return x


def _placed(x: Native, device: Any) -> Native:
    """`x`, which was just made on the default device of the scope, bound to `device`."""
    # Arrays on JAX's own default device stay uncommitted, as `jnp` makes them: committing takes 30 us and would
    # forbid the user to mix them with arrays elsewhere. In a trace the device is the trace's business.
    if device is None or device == _default_device() or isinstance(x, jax.core.Tracer):
        return x
    return jax.device_put(x, device)


def scalar(value: bool | int | float | complex, dtype: Any, device: Any) -> Native:
    """0-d array; concrete even inside a trace, so that it can be kept."""
    with jax.ensure_compile_time_eval():
        return from_numpy(np.asarray(value, dtype), device)


def synchronize(x: Native) -> None:
    """Return when `x` is computed."""
    if not isinstance(x, jax.core.Tracer):
        x.block_until_ready()


def adopt(kind: type, unwrap: Callable[[Any], Native], wrap: Callable[[Native], Any]) -> None:
    """Make `kind` a pytree of one leaf, with nothing beside it that a trace would have to compare."""
    key = jax.tree_util.GetAttrKey("native")
    jax.tree_util.register_pytree_with_keys(
        kind,
        lambda instance: (((key, unwrap(instance)),), None),
        lambda _, leaves: wrap(leaves[0]),
        lambda instance: ((unwrap(instance),), None),
    )


# ------------------------------------------------------------------------ transforms
jit = jax.jit
stop_gradient = lax.stop_gradient


def prepared(function: Any, xs: Sequence[Native], device: Any) -> tuple[Any, Callable[..., Any] | None]:
    # jax.jit keeps what it compiled by the scope, too. An executable asks for none: it checks its arguments in C++ and
    # raises if their shapes, dtypes or devices are others, if they are tracers, or inside `jax.disable_jit`.
    traced = scoped(function.trace, device)(*xs)
    text = str(traced.jaxpr)
    if "callback" in text or "debug_print" in text:  # outside the scope JAX rounds what it hands to and fro
        return scoped(function, device)(*xs), None
    executable = scoped(lambda: traced.lower().compile(), device)()
    # Not in the scope: it has a cache by scopes all the same, and is fastest where it is called first.
    result = executable(*xs)
    # `Compiled.__call__` is a Python function around this one, which is not documented. Arrays on no particular device
    # would be spread over those of a sharded one.
    is_on_one_device = builtins.all(len(x.devices()) == 1 for x in xs)
    return result, getattr(executable, "_call", None) if is_on_one_device else None


def value_and_grad(function: Callable[..., Native], xs: Sequence[Native]) -> tuple[Native, Sequence[Native]]:
    return jax.value_and_grad(function, argnums=tuple(range(len(xs))))(*xs)


def vmap(function: Callable[..., list[Native]], xs: Sequence[Native]) -> list[Native]:
    return jax.vmap(function)(*xs)


def jacobian(function: Callable[..., list[Native]], xs: Sequence[Native], mode: str) -> list[Sequence[Native]]:
    transform = jax.jacfwd if mode == "forward" else jax.jacrev
    return transform(function, argnums=tuple(range(len(xs))))(*xs)


# ----------------------------------------------------------- how functions are made
def compiled(function: Callable[..., Any] | None = None, *, static: tuple[str, ...] = ()) -> Any:
    """`function` as a `jax.jit` function; its keyword-only parameters and those named in `static` are static."""
    if function is None:
        return functools.partial(compiled, static=static)
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY or p.name in static]

    @functools.wraps(function)
    def body(*args: Any, **options: Any) -> Any:
        with jax.enable_x64(True):
            return function(*args, **options)

    made = jax.jit(body, inline=True, static_argnames=names)
    _compiled[made] = _Compiled(body, names)
    return made


def _kind(x: Native) -> str:
    return _dtypes.KNOWN[x.dtype.name].kind


def _require(kinds: str, *arrays: Native) -> None:
    """Raise TypeError unless the dtypes of `arrays` are of these kinds; runs when traced, thus once."""
    for x in arrays:
        if _kind(x) not in kinds:
            raise TypeError(f"dtype {x.dtype.name} is not one of the kinds {kinds!r}")


def _as(x: Native, name: str) -> Native:
    return lax.convert_element_type(x, _DTYPES[name])


def _truth(x: Native) -> Native:
    """Whether each element is not zero; a conversion to bool would drop imaginary parts."""
    return x if x.dtype == bool else lax.ne(x, lax.full_like(x, 0))


def _promoted(*arrays: Native) -> tuple[Native, ...]:
    """`arrays` in the dtype that they promote to."""
    name = _dtypes.result_name(*(x.dtype.name for x in arrays))
    return tuple(_as(x, name) for x in arrays)


def _inexact(*arrays: Native) -> tuple[Native, ...]:
    """`arrays` in the floating dtype that they promote to; integers count as float64, as in NumPy's reductions."""
    arrays = _promoted(*arrays)
    return arrays if _kind(arrays[0]) in "fc" else tuple(_as(x, "float64") for x in arrays)


def _elementwise(function: Callable[..., Native], kinds: str) -> Any:
    """`function` of arrays in the dtype that they promote to, if it is of one of the `kinds`."""

    def body(*arrays: Native) -> Native:
        arrays = _promoted(*arrays)
        _require(kinds, arrays[0])
        return function(*arrays)

    body.__name__ = function.__name__
    return compiled(body)


def _floating(function: Callable[..., Native], kinds: str = "biufc") -> Any:
    """As `_elementwise`; integers and bools are taken as floats of their width."""

    def body(*arrays: Native) -> Native:
        arrays = _promoted(*arrays)
        _require(kinds, arrays[0])
        name = _dtypes.floating(arrays[0].dtype.name)
        return function(*(_as(x, name) for x in arrays))

    body.__name__ = function.__name__
    return compiled(body)


def _data_dependent(name: str, function: Callable[..., Any], on_host: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose shape depends on values: `on_host` of NumPy in its place where that takes no transfer.

    XLA compiles anew for every shape: tens of milliseconds where NumPy takes microseconds.
    """

    def chosen(*args: Any, **options: Any) -> Any:
        if not _in_host_memory(args):
            try:
                result = function(*args, **options)
            except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as cause:
                expand_dims(args[0], 0)  # which raises if it outlived its trace
                raise _unknown_shape(name) from cause
            return tuple(result) if isinstance(result, tuple) else result
        result = on_host(*(np.asarray(x) if isinstance(x, jax.Array) else x for x in args), **options)
        device = device_of(args[0])
        return tuple(_lent(a, device) for a in result) if isinstance(result, tuple) else _lent(result, device)

    return chosen


def _in_host_memory(args: Sequence[Any]) -> bool:
    """Whether all arrays among `args` have values, in memory that NumPy can read in place."""
    arrays = [x for x in args if isinstance(x, jax.Array)]
    if some(map(is_traced, arrays)):
        return False
    return not some(device_of(x).platform != "cpu" for x in arrays)


def _unknown_shape(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name}: the shape of the result depends on values, which JAX does not know inside jit, grad or vmap. "
        "Call it outside, or mask instead of selecting: xp.where(...)"
    )


# ------------------------------------------------------- elementwise: arithmetic
def _by_parts(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of a real array; of the parts of a complex one."""

    @functools.wraps(function)
    def parts(x: Native) -> Native:
        if _kind(x) == "c":
            return lax.complex(function(lax.real(x)), function(lax.imag(x)))
        return function(x)

    return parts


def _round_to_even(x: Native) -> Native:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _unless_integer(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` of floats; integers and bools as they are."""

    @functools.wraps(function)
    def kept(x: Native) -> Native:
        return x if _kind(x) in "biu" else function(x)

    return kept


def _abs(x: Native) -> Native:
    if _kind(x) == "c":  # XLA gives NaN for infinity beside NaN
        return jnp.where(lax.is_finite(lax.abs(x)) | ~_any_infinite(x), lax.abs(x), jnp.inf)
    return jnp.abs(x)


def _any_infinite(x: Native) -> Native:
    return jnp.isinf(lax.real(x)) | jnp.isinf(lax.imag(x))


def _sign(x: Native) -> Native:
    if _kind(x) != "c":
        return jnp.where(x == 0, lax.full_like(x, 0), jnp.sign(x))
    # An infinite part outweighs a finite one; then x / abs(x).
    infinite = _any_infinite(x)
    re, im = (
        jnp.where(infinite, jnp.where(jnp.isinf(part), jnp.sign(part), 0), part) for part in (lax.real(x), lax.imag(x))
    )
    undefined = jnp.isinf(lax.real(x)) & jnp.isinf(lax.imag(x))
    size = jnp.where(undefined, jnp.nan, lax.abs(lax.complex(re, im)))
    return jnp.where(x == 0, lax.full_like(x, 0), lax.complex(re / size, im / size))


def _dividend_and_divisor(x1: Native, x2: Native) -> tuple[Native, Native]:
    """`x1` and `x2` in one shape. Behind the barrier XLA does not see that the divisor repeats itself.

    It would multiply by reciprocals, which are rounded, and zero for the largest numbers.
    """
    wide1, wide2 = jnp.broadcast_arrays(x1, x2)
    return wide1, wide2 if wide2.shape == x2.shape else lax.optimization_barrier(wide2)


def _divide(x1: Native, x2: Native) -> Native:
    return lax.div(*_dividend_and_divisor(*_inexact(x1, x2)))


def _divided(x1: Native, x2: Native) -> tuple[Native, Native]:
    """Quotient rounded down and remainder, as NumPy has them: signs of zeros, zero divisors and infinities too."""
    x1, x2 = _dividend_and_divisor(x1, x2)
    zero = lax.full_like(x1, 0)
    if _kind(x1) in "iu":
        none = x2 == 0
        safe = jnp.where(none, lax.full_like(x2, 1), x2)
        quotient, rest = lax.div(x1, safe), lax.rem(x1, safe)
        if _kind(x1) == "i":
            down = (rest != 0) & ((rest < 0) != (x2 < 0))
            quotient, rest = quotient - _as(down, x1.dtype.name), jnp.where(down, rest + x2, rest)
        return jnp.where(none, zero, quotient), jnp.where(none, zero, rest)
    name = x1.dtype.name
    if x1.dtype.itemsize == 2:
        x1, x2 = _as(x1, "float32"), _as(x2, "float32")
    exact = lax.div(x1, x2)
    rest = lax.rem(x1, x2)
    quotient = lax.div(x1 - rest, x2)
    down = (rest != 0) & ((rest < 0) != (x2 < 0))
    quotient = jnp.where(down, quotient - 1, quotient)
    rest = jnp.where(down, rest + x2, rest)
    rest = jnp.where(rest == 0, jnp.copysign(lax.full_like(rest, 0), x2), rest)
    whole = lax.floor(quotient)
    whole = jnp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = jnp.where(quotient == 0, jnp.copysign(lax.full_like(whole, 0), exact), whole)
    return _as(jnp.where(x2 == 0, exact, whole), name), _as(rest, name)


def _floor_divide(x1: Native, x2: Native) -> Native:
    return _divided(x1, x2)[0]


def _remainder(x1: Native, x2: Native) -> Native:
    return _divided(x1, x2)[1]


def _power(x1: Native, x2: Native) -> Native:
    if _kind(x1) == "f":
        return jnp.power(x1, x2)
    if _kind(x1) == "c":  # XLA takes the logarithm of zero
        of_zero = jnp.where(lax.real(x2) > 0, 0, jnp.nan).astype(x1.dtype)
        power = jnp.power(jnp.where(x1 == 0, lax.full_like(x1, 1), x1), x2)
        return jnp.where(x2 == 0, lax.full_like(power, 1), jnp.where(x1 == 0, of_zero, power))

    # jnp.power looks at six bits of an exponent. A negative one gives the integer part of the exact result.
    def squared(state: tuple[Native, Native, Native]) -> tuple[Native, Native, Native]:
        result, base, exponent = state
        return jnp.where(exponent & 1 == 1, result * base, result), base * base, lax.shift_right_logical(exponent, one)

    base, exponent = jnp.broadcast_arrays(x1, x2)
    one = lax.full_like(base, 1)
    if _kind(x1) == "i":
        is_unit = (base == 1) | (base == -1)
        base = jnp.where((exponent < 0) & ~is_unit, 0, base)
        exponent = jnp.where(is_unit, exponent & 1, exponent)
    return lax.while_loop(lambda state: jnp.any(state[2] != 0), squared, (one, base, exponent))[0]


def _root(x: Native) -> Native:
    # Not by adding 0, as for XLA -0 plus 0 is -0; nor by the absolute value, whose derivative at 0 would make NaN.
    return lax.sqrt(jnp.where(jnp.signbit(x) & ((x == 0) | (x == -jnp.inf)), -x, x))


def _comparison(function: Callable[[Native, Native], Native], kinds: str) -> Any:
    """As `_elementwise`, but int64 with uint64 is exact, as in NumPy."""

    def body(x1: Native, x2: Native) -> Native:
        signed = [_kind(x) == "i" for x in (x1, x2)]
        if "uint64" in (x1.dtype.name, x2.dtype.name) and some(signed):
            negative = x1 < 0 if signed[0] else x2 < 0
            below = function(np.int64(-1), np.int64(0)) if signed[0] else function(np.int64(0), np.int64(-1))
            return jnp.where(negative, below, function(_as(x1, "uint64"), _as(x2, "uint64")))
        x1, x2 = _promoted(x1, x2)
        _require(kinds, x1)
        return function(x1, x2)

    body.__name__ = function.__name__
    return compiled(body)


def _itself_unless(kinds: str, function: Callable[[Native], Native]) -> Callable[[Native], Native]:
    """The array itself, as nobody can write to it; `function` of one whose dtype is of these kinds."""

    def kept(x: Native) -> Native:
        return function(x) if x.dtype.kind in kinds else x

    return kept


@compiled
def clip(x: Native, min: Native | None = None, max: Native | None = None) -> Native:
    given = iter(_promoted(x, *(bound for bound in (min, max) if bound is not None)))
    x, low, high = (None if bound is None else next(given) for bound in (x, min, max))
    _require("biuf", x)
    if low is not None:
        x = jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


abs = _elementwise(_abs, "biufc")
add = _elementwise(jnp.add, "biufc")
atan2 = _floating(jnp.arctan2, "biuf")
bitwise_and = _elementwise(jnp.bitwise_and, "biu")
bitwise_invert = _elementwise(jnp.bitwise_not, "biu")
bitwise_left_shift = _elementwise(jnp.left_shift, "iu")
bitwise_or = _elementwise(jnp.bitwise_or, "biu")
bitwise_right_shift = _elementwise(jnp.right_shift, "iu")
bitwise_xor = _elementwise(jnp.bitwise_xor, "biu")
ceil = _elementwise(_unless_integer(lax.ceil), "biuf")
conj = _itself_unless("c", _elementwise(jnp.conj, "c"))
copysign = _floating(jnp.copysign, "biuf")
cube = _elementwise(lambda x: x * x * x, "iuf")
divide = compiled(_divide)
equal = _comparison(jnp.equal, "biufc")
floor = _elementwise(_unless_integer(lax.floor), "biuf")
floor_divide = _elementwise(_floor_divide, "iuf")
greater = _comparison(jnp.greater, "biuf")
greater_equal = _comparison(jnp.greater_equal, "biuf")
hypot = _floating(jnp.hypot, "biuf")
imag = _elementwise(jnp.imag, "c")
isfinite = _elementwise(jnp.isfinite, "biufc")
isinf = _elementwise(jnp.isinf, "biufc")
isnan = _elementwise(jnp.isnan, "biufc")
less = _comparison(jnp.less, "biuf")
less_equal = _comparison(jnp.less_equal, "biuf")
logaddexp = _floating(jnp.logaddexp, "biuf")
logical_and = _elementwise(jnp.logical_and, "b")
logical_not = _elementwise(jnp.logical_not, "b")
logical_or = _elementwise(jnp.logical_or, "b")
logical_xor = _elementwise(jnp.logical_xor, "b")
maximum = _elementwise(jnp.maximum, "biuf")
minimum = _elementwise(jnp.minimum, "biuf")
multiply = _elementwise(jnp.multiply, "biufc")
negative = _elementwise(jnp.negative, "iufc")
nextafter = _floating(jnp.nextafter, "biuf")
not_equal = _comparison(jnp.not_equal, "biufc")
positive = _itself_unless("b", _elementwise(jnp.positive, "iufc"))
pow = _elementwise(_power, "iufc")
real = _itself_unless("c", _elementwise(jnp.real, "c"))
reciprocal = _floating(jnp.reciprocal)
remainder = _elementwise(_remainder, "iuf")
root = _elementwise(_root, "f")
round = _elementwise(_unless_integer(_by_parts(_round_to_even)), "biufc")
sign = _elementwise(_sign, "iufc")
signbit = _floating(jnp.signbit, "biuf")
square = _elementwise(jnp.square, "iufc")
subtract = _elementwise(jnp.subtract, "iufc")
trunc = _elementwise(_unless_integer(jnp.trunc), "biuf")


# ------------------------------------------------ elementwise: exponentials and angles
# XLA's complex functions lose the sign of zero, hence the side of a branch cut, and most NaN and infinities of C99.
# The functions below mend that from outside, so that accuracy and derivatives stay XLA's.
def _mirrored(function: Callable[[Native], Native], symmetry: str) -> Callable[[Native], Native]:
    """A function of complex numbers evaluated where no part that the symmetry covers is negative.

    `symmetry` is "conjugate" for f(conj z) = conj f(z), "odd" if f(-z) = -f(z) holds too.
    """

    def mirrored(z: Native) -> Native:
        re, im = lax.real(z), lax.imag(z)
        one = lax.full_like(re, 1)
        beside, above = (jnp.copysign(one, re) if symmetry == "odd" else one), jnp.copysign(one, im)
        w = function(lax.complex(re * beside, im * above))
        return lax.complex(lax.real(w) * beside, lax.imag(w) * above)

    return mirrored


def _product(a: Native, b: Native) -> Native:
    """The product, where zero times infinity or NaN is zero: what C99 wants of the parts of complex functions."""
    signs = (jnp.where(jnp.isnan(v), 1, lax.clamp(lax.full_like(v, -1), v, lax.full_like(v, 1))) for v in (a, b))
    return jnp.where((a == 0) | (b == 0), operator.mul(*signs), a * b)


def _turned(z: Native) -> Native:
    """Times i, exactly."""
    return lax.complex(-lax.imag(z), lax.real(z))


def _turned_back(z: Native) -> Native:
    """Times -i, exactly."""
    return lax.complex(lax.imag(z), -lax.real(z))


def _exp(z: Native) -> Native:
    re, im = lax.real(z), lax.imag(z)
    half = lax.exp(re / 2)  # exp(re) may overflow where its product with a small cosine does not
    u = _product(_product(half, lax.cos(im)), half)
    v = _product(_product(half, lax.sin(im)), half)
    return lax.complex(jnp.where((re == jnp.inf) & ~lax.is_finite(im), re, u), v)


def _cosh(z: Native) -> Native:
    re, im = lax.real(z), lax.imag(z)
    u = jnp.where(jnp.isinf(re) & ~lax.is_finite(im), lax.abs(re), _product(lax.cosh(re), lax.cos(im)))
    return lax.complex(u, _product(lax.sinh(re), lax.sin(im)))


def _sinh(z: Native) -> Native:
    re, im = lax.real(z), lax.imag(z)
    u = jnp.where(jnp.isinf(re) & ~lax.is_finite(im), re, _product(lax.sinh(re), lax.cos(im)))
    return lax.complex(u, _product(lax.cosh(re), lax.sin(im)))


def _tanh(z: Native) -> Native:
    w = _mirrored(lax.tanh, "odd")(z)
    re, im = lax.real(z), lax.imag(z)
    return lax.complex(jnp.where((re == 0) & ~lax.is_finite(im), re, lax.real(w)), jnp.where(im == 0, im, lax.imag(w)))


def _infinite_log(log: Callable[[Native], Native]) -> Callable[[Native], Native]:
    def patched(z: Native) -> Native:
        w = _mirrored(log, "conjugate")(z)
        return lax.complex(jnp.where(_any_infinite(z), jnp.inf, lax.real(w)), lax.imag(w))

    return patched


_log: Final = _infinite_log(lax.log)


def _log_to(base: float) -> Callable[[Native], Native]:
    def log_to_base(z: Native) -> Native:
        w, scale = _log(z), 1 / math.log(base)
        return lax.complex(lax.real(w) * scale, lax.imag(w) * scale)

    return log_to_base


def _sqrt(z: Native) -> Native:
    w = _mirrored(lax.sqrt, "conjugate")(z)
    re, im = lax.real(z), lax.imag(z)
    u = jnp.where(jnp.isinf(im) | (re == jnp.inf), jnp.inf, lax.real(w))
    v = jnp.where(jnp.isinf(im), im, lax.imag(w))
    return lax.complex(u, jnp.where((re == -jnp.inf) & jnp.isnan(im), jnp.inf, v))


def _asinh(z: Native) -> Native:
    w = _mirrored(lax.asinh, "odd")(z)
    re, im = lax.real(z), lax.imag(z)
    return lax.complex(lax.real(w), jnp.where(jnp.isnan(re) & (im == 0), im, lax.imag(w)))


def _atanh(z: Native) -> Native:
    w = _mirrored(lax.atanh, "odd")(z)
    re, im = lax.real(z), lax.imag(z)
    unknown = jnp.isnan(im) | (jnp.isnan(re) & lax.is_finite(im))
    zero = jnp.copysign(lax.full_like(re, 0), re)
    u = jnp.where(jnp.isinf(im) | (jnp.isnan(im) & ((re == 0) | jnp.isinf(re))), zero, lax.real(w))
    return lax.complex(u, jnp.where(unknown, jnp.nan, lax.imag(w)))


def _acos(z: Native) -> Native:
    w = _mirrored(lax.acos, "conjugate")(z)
    right = (lax.real(z) == 0) & jnp.isnan(lax.imag(z))
    return lax.complex(jnp.where(right, math.pi / 2, lax.real(w)), lax.imag(w))


def _acosh(z: Native) -> Native:
    w = _mirrored(lax.acosh, "conjugate")(z)
    right = (lax.real(z) == 0) & jnp.isnan(lax.imag(z))
    return lax.complex(lax.real(w), jnp.where(right, math.pi / 2, lax.imag(w)))


def _by_kind(real: Callable[[Native], Native], complex: Callable[[Native], Native]) -> Any:
    def either(x: Native) -> Native:
        return (complex if _kind(x) == "c" else real)(x)

    either.__name__ = getattr(real, "__name__", "function")
    return _floating(either)


def _rotated(function: Callable[[Native], Native]) -> Callable[[Native], Native]:
    """The function -i f(i z): sin from sinh, tan from tanh, and their inverses."""
    return lambda z: _turned_back(function(_turned(z)))


acos = _by_kind(lax.acos, _acos)
acosh = _by_kind(lax.acosh, _acosh)
asin = _by_kind(lax.asin, _rotated(_asinh))
asinh = _by_kind(lax.asinh, _asinh)
atan = _by_kind(lax.atan, _rotated(_atanh))
atanh = _by_kind(lax.atanh, _atanh)
cos = _by_kind(lax.cos, lambda z: _cosh(_turned(z)))
cosh = _by_kind(lax.cosh, _cosh)
exp = _by_kind(lax.exp, _exp)
expm1 = _by_kind(lax.expm1, _mirrored(lax.expm1, "conjugate"))
log = _by_kind(lax.log, _log)
log1p = _by_kind(lax.log1p, _infinite_log(lax.log1p))
log2 = _by_kind(jnp.log2, _log_to(2))
log10 = _by_kind(jnp.log10, _log_to(10))
sin = _by_kind(lax.sin, _rotated(_sinh))
sinh = _by_kind(lax.sinh, _sinh)
sqrt = _by_kind(lax.sqrt, _sqrt)
tan = _by_kind(lax.tan, _rotated(_tanh))
tanh = _by_kind(lax.tanh, _tanh)


# --------------------------------------------------------------------- creation
def _creation(function: Callable[..., Native]) -> Callable[..., Native]:
    """`function` made on the default device of the scope, then bound to `device`."""

    @functools.wraps(function)
    def on_device(*args: Any, device: Any = None, **kwargs: Any) -> Native:
        return _placed(function(*args, **kwargs), device)

    return on_device


@_creation
@compiled(static=("shape",))
def zeros(shape: tuple[int, ...], *, dtype: Any) -> Native:
    return lax.full(shape, 0, dtype)


@_creation
@compiled(static=("shape",))
def ones(shape: tuple[int, ...], *, dtype: Any) -> Native:
    return lax.full(shape, 1, dtype)


empty = zeros


@compiled(static=("shape",))
def _full(shape: tuple[int, ...], fill_value: Native, *, dtype: Any) -> Native:
    return lax.broadcast(lax.convert_element_type(fill_value, dtype), shape)


@_creation
def full(shape: tuple[int, ...], fill_value: Any, *, dtype: Any) -> Native:
    value = fill_value if isinstance(fill_value, jax.Array) else np.asarray(fill_value, dtype)
    return _full(shape, value, dtype=dtype)


def zeros_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(x: Native, /, *, dtype: Any = None, device: Any = None) -> Native:
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def full_like(x: Native, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Native:
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


empty_like = zeros_like


@compiled
def _ramp(start: Native, step: Native, *, length: int, dtype: Any) -> Native:
    steps = lax.iota(start.dtype, length)
    return lax.convert_element_type(start + steps * step, dtype)


@_creation
def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any) -> Native:
    if stop is None:
        start, stop = 0, start
    first: np.generic
    by: np.generic
    if dtype.kind in "iu" and float(start).is_integer() and float(step).is_integer():
        # Modulo 2**64, so that every integer dtype has its whole range and negative steps.
        length = -((int(start) - stop) // int(step)) if isinstance(stop, int) else math.ceil((stop - start) / step)
        first, by = (np.uint64(int(value) % 2**64) for value in (start, step))
    else:
        length = math.ceil((stop - start) / step)
        first, by = np.float64(start), np.float64(step)
        if dtype.kind in "iu":  # NumPy steps by the difference of the first two, each rounded toward zero
            first, by = np.float64(int(start)), np.float64(int(start + step) - int(start))
    return _ramp(first, by, length=builtins.max(length, 0), dtype=dtype)


@compiled
def _line(start: Native, stop: Native, *, num: int, endpoint: bool, dtype: Any) -> Native:
    steps = lax.iota(jnp.float64, num)
    intervals = num - 1 if endpoint else num
    line = start + steps * ((stop - start) / (intervals if intervals > 0 else 1))
    if endpoint and num > 1:
        line = jnp.where(steps == num - 1, stop, line)
    if _dtypes.KNOWN[dtype.name].kind in "iu":
        line = lax.floor(line)
    return lax.convert_element_type(line, dtype)


@_creation
def linspace(start: complex, stop: complex, /, num: int, *, dtype: Any, endpoint: bool = True) -> Native:
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, not {num}")
    wide: Any = np.complex128 if isinstance(start, complex) or isinstance(stop, complex) else np.float64
    return _line(wide(start), wide(stop), num=num, endpoint=endpoint, dtype=dtype)


@compiled(static=("n_rows", "n_cols"))
def _eye(n_rows: int, n_cols: int, *, k: int, dtype: Any) -> Native:
    rows, columns = (lax.broadcasted_iota(jnp.int64, (n_rows, n_cols), axis) for axis in (0, 1))
    return lax.convert_element_type(rows + k == columns, dtype)


@_creation
def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any) -> Native:
    return _eye(n_rows, n_rows if n_cols is None else n_cols, k=k, dtype=dtype)


@compiled
def tril(x: Native, *, k: int = 0) -> Native:
    return jnp.tril(x, k)


@compiled
def triu(x: Native, *, k: int = 0) -> Native:
    return jnp.triu(x, k)


@compiled
def meshgrid(*arrays: Native, indexing: str = "xy") -> tuple[Native, ...]:
    return tuple(jnp.meshgrid(*arrays, indexing=indexing)) if arrays else ()


# ------------------------------------------------------------------- data types
@compiled(static=("dtype",))
def _cast(x: Native, dtype: Any) -> Native:
    return _truth(x) if dtype.kind == "b" else lax.convert_element_type(x, dtype)


def astype(x: Native, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Native:
    if device is not None:
        x = to_device(x, device)
    return x if x.dtype == dtype and not copy else _cast(x, dtype)


# ------------------------------------------------------------------- reductions
def _total(x: Native, dtype: Any) -> Any:
    """The dtype of a sum or product over `x`."""
    return dtype or _DTYPES[_dtypes.summed(x.dtype.name)]


@compiled
def sum(x: Native, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    return jnp.sum(x, axis=axis, dtype=_total(x, dtype), keepdims=keepdims)


@compiled
def prod(x: Native, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Native:
    return jnp.prod(x, axis=axis, dtype=_total(x, dtype), keepdims=keepdims)


def _with_nan(found: Native, x: Native, axis: Axes, keepdims: bool) -> Native:
    """`found`, the largest or smallest of what is made of `x`, with NaN where there is one among these.

    XLA's reductions on the CPU drop NaN from 4096 elements and more, in jaxlib 0.10: those of YNNPACK, which
    `xla_cpu_experimental_ynn_fusion_type=""` turns off. May go when jnp.max finds a NaN among so many.
    """

    def marked() -> Native:
        return jnp.where(jnp.any(x != x, axis=axis, keepdims=keepdims), jnp.nan, found)

    def guarded() -> Native:
        # A NaN, or infinities of both signs, make the sum NaN; the sum takes a third of the time of `marked`.
        return lax.cond(jnp.isnan(jnp.sum(x)), marked, lambda: found)

    if _kind(x) not in "fc":
        return found
    return lax.platform_dependent(cpu=guarded if x.size >= 4096 else marked, default=lambda: found)


@compiled
def max(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    _require("biuf", x)
    return _with_nan(jnp.max(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


@compiled
def min(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    _require("biuf", x)
    return _with_nan(jnp.min(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


@compiled
def mean(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    (x,) = _inexact(x)
    return jnp.mean(x, axis=axis, keepdims=keepdims)


def _variance(x: Native, axis: Axes, correction: float, keepdims: bool) -> Native:
    (x,) = _inexact(x)
    name = x.dtype.name
    if x.dtype.itemsize == 2:
        x = _as(x, "float32")
    centred = x - jnp.mean(x, axis=axis, keepdims=True)
    squares = lax.real(centred * lax.conj(centred)) if _kind(x) == "c" else centred * centred
    total = jnp.sum(squares, axis=axis, keepdims=keepdims)
    count = x.size // math.prod(total.shape) if total.size else 0
    variance = total / (count - correction if count > correction else 0.0)
    return _as(variance, name) if name in ("float16", "bfloat16") else variance


@compiled
def var(x: Native, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return _variance(x, axis, correction, keepdims)


@compiled
def std(x: Native, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Native:
    return lax.sqrt(_variance(x, axis, correction, keepdims))


@compiled
def all(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return jnp.all(_truth(x), axis=axis, keepdims=keepdims)


@compiled
def any(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return jnp.any(_truth(x), axis=axis, keepdims=keepdims)


@compiled
def count_nonzero(x: Native, *, axis: Axes = None, keepdims: bool = False) -> Native:
    return jnp.sum(_as(_truth(x), "int64"), axis=axis, keepdims=keepdims)


def _extreme(exceeds: Callable[[Native, Native], Native], worst: int) -> Any:
    """The position of the first element that exceeds all others, or is NaN; `worst` is an index of `_range`.

    Not by `lax.argmax`, which JAX lowers after the scope of this call has ended: in the user's own jit, with 32 bits,
    that raises.
    """

    def first(one: tuple[Native, Native], other: tuple[Native, Native]) -> tuple[Native, Native]:
        (a, i), (b, j) = one, other
        is_nan = a != a, b != b
        wins = exceeds(a, b) | (is_nan[0] & ~is_nan[1])
        ties = (a == b) | (is_nan[0] & is_nan[1])
        is_one = wins | (ties & (i < j))
        return jnp.where(is_one, a, b), jnp.where(is_one, i, j)

    def body(x: Native, *, axis: int | None = None, keepdims: bool = False) -> Native:
        _require("biuf", x)
        if axis is not None and not -x.ndim <= axis < x.ndim:
            raise ValueError(f"axis {axis} is out of range for {x.ndim} axes")
        flat = lax.reshape(x, (x.size,)) if axis is None else x
        along = 0 if axis is None else operator.index(axis) % builtins.max(x.ndim, 1)
        if not flat.shape[along]:
            raise ValueError("there is no first among no elements")
        index = np.int32 if flat.shape[along] < 2**31 else np.int64
        pairs = lax.stop_gradient(flat), lax.broadcasted_iota(index, flat.shape, along)
        start = np.asarray(_range(x)[worst], x.dtype), index(0)
        position = _as(lax.reduce(pairs, start, first, (along,))[1], "int64")
        if not keepdims:
            return position
        return lax.expand_dims(position, range(x.ndim) if axis is None else (along,))

    return compiled(body)


def _range(x: Native) -> tuple[Any, Any]:
    """The least and the greatest value in the dtype of `x`, a real one."""
    if _kind(x) == "f":
        return -np.inf, np.inf
    return (False, True) if x.dtype == bool else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)


argmax = _extreme(lax.gt, 0)
argmin = _extreme(lax.lt, 1)


def _running(function: Callable[..., Native]) -> Any:
    def body(x: Native, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Native:
        return function(x, axis=axis, dtype=_total(x, dtype), include_initial=include_initial)

    body.__name__ = function.__name__
    return compiled(body)


cumulative_sum = _running(jnp.cumulative_sum)
cumulative_prod = _running(jnp.cumulative_prod)


@compiled
def _diff(x: Native, prepend: Native | None, append: Native | None, *, axis: int, n: int) -> Native:
    given = iter(_promoted(x, *(end for end in (prepend, append) if end is not None)))
    x, prepend, append = (None if end is None else next(given) for end in (x, prepend, append))
    return jnp.diff(x, n=n, axis=axis, prepend=prepend, append=append)


def diff(
    x: Native, /, *, axis: int = -1, n: int = 1, prepend: Native | None = None, append: Native | None = None
) -> Native:
    return _diff(x, prepend, append, axis=axis, n=n)


# ------------------------------------------------------- searching, sorting, sets
@compiled
def where(condition: Native, x1: Native, x2: Native) -> Native:
    x1, x2 = _promoted(x1, x2)
    return jnp.where(_truth(condition), x1, x2)


@compiled
def _searchsorted(x1: Native, x2: Native, sorter: Native | None, *, side: str) -> Native:
    x1, x2 = _promoted(x1, x2)
    _require("biuf", x1)
    return _as(jnp.searchsorted(x1, x2, side=side, sorter=sorter), "int64")


def searchsorted(x1: Native, x2: Native, /, *, side: str = "left", sorter: Native | None = None) -> Native:
    return _searchsorted(x1, x2, sorter, side=side)


def nonzero(x: Native, /) -> tuple[Native, ...]:
    if x.ndim == 0:
        raise ValueError("nonzero: x must have at least one axis")
    return _nonzero(x)


_nonzero: Final = _data_dependent("nonzero", jnp.nonzero, np.nonzero)


@compiled
def sort(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    _require("biuf", x)
    return jnp.sort(x, axis=axis, descending=descending, stable=stable)


@compiled
def argsort(x: Native, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Native:
    _require("biuf", x)
    if not x.ndim:
        raise ValueError("argsort: x must have at least one axis")
    return jnp.argsort(x, axis=axis, descending=descending, stable=stable)


@compiled
def isin(x1: Native, x2: Native, *, invert: bool = False) -> Native:
    x1, x2 = _promoted(x1, x2)
    # The default compares everything with everything, in memory of the size of the product.
    method = "compare_all" if _kind(x1) == "c" or x1.size * x2.size <= _SMALL else "sort"
    return jnp.isin(x1, x2, invert=invert, method=method)


unique_all = _data_dependent("unique_all", jnp.unique_all, np.unique_all)
unique_counts = _data_dependent("unique_counts", jnp.unique_counts, np.unique_counts)
unique_inverse = _data_dependent("unique_inverse", jnp.unique_inverse, np.unique_inverse)
unique_values = _data_dependent("unique_values", jnp.unique_values, functools.partial(np.unique, equal_nan=False))


# ----------------------------------------------------------------- manipulation
@compiled(static=("shape",))
def broadcast_to(x: Native, shape: tuple[int, ...]) -> Native:
    return jnp.broadcast_to(x, shape)


@compiled
def _broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    return tuple(jnp.broadcast_arrays(*arrays))


def broadcast_arrays(*arrays: Native) -> tuple[Native, ...]:
    are_alike = builtins.all(x.shape == arrays[0].shape for x in arrays)
    return arrays if are_alike else _broadcast_arrays(*arrays)


@compiled
def _concat(*arrays: Native, axis: int | None) -> Native:
    return jnp.concatenate(_promoted(*arrays), axis=axis)


def concat(arrays: Sequence[Native], /, *, axis: int | None = 0) -> Native:
    return _concat(*arrays, axis=axis)


@compiled
def _stack(*arrays: Native, axis: int) -> Native:
    return jnp.stack(_promoted(*arrays), axis=axis)


def stack(arrays: Sequence[Native], /, *, axis: int = 0) -> Native:
    return _stack(*arrays, axis=axis)


@compiled
def _unstack(x: Native, *, axis: int) -> tuple[Native, ...]:
    return tuple(jnp.unstack(x, axis=axis))


def unstack(x: Native, *, axis: int = 0) -> tuple[Native, ...]:
    # XLA compiles for 5 ms for each array that a function gives, once for each shape: many rows are read one by one.
    n = x.shape[axis]
    if n <= 32 or isinstance(x, jax.core.Tracer):
        return _unstack(x, axis=axis)
    rows = moveaxis(x, axis, 0) if axis else x
    return tuple(_row(rows, i) for i in range(n))


@compiled(static=("axis",))
def expand_dims(x: Native, axis: int | tuple[int, ...]) -> Native:
    return jnp.expand_dims(x, axis)


@compiled(static=("axis",))
def squeeze(x: Native, axis: int | tuple[int, ...]) -> Native:
    return jnp.squeeze(x, axis)


@compiled
def flip(x: Native, *, axis: Axes = None) -> Native:
    return jnp.flip(x, axis)


@compiled(static=("source", "destination"))
def moveaxis(x: Native, source: int | tuple[int, ...], destination: int | tuple[int, ...]) -> Native:
    return jnp.moveaxis(x, source, destination)


@compiled(static=("axes",))
def permute_dims(x: Native, axes: tuple[int, ...]) -> Native:
    return jnp.permute_dims(x, tuple(axis + x.ndim if axis < 0 else axis for axis in axes))


@compiled
def matrix_transpose(x: Native) -> Native:
    return jnp.matrix_transpose(x)


@compiled(static=("shape",))
def _reshape(x: Native, shape: tuple[int, ...]) -> Native:
    return jnp.reshape(x, shape)


def reshape(x: Native, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Native:
    return _reshape(x, shape)


@compiled(static=("repeats",))
def _repeat(x: Native, repeats: int, *, axis: int | None) -> Native:
    return jnp.repeat(x, repeats, axis=axis)


_repeat_each: Final = _data_dependent("repeat", jnp.repeat, np.repeat)


def repeat(x: Native, repeats: int | Native, /, *, axis: int | None = None) -> Native:
    return (_repeat if isinstance(repeats, int) else _repeat_each)(x, repeats, axis=axis)


@compiled
def _roll(x: Native, *shifts: Native, axis: Axes) -> Native:
    return jnp.roll(x, shifts if isinstance(axis, tuple) else shifts[0], axis)


def roll(x: Native, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Native:
    if isinstance(shift, int):
        return _roll(x, *(shift,) * (len(axis) if isinstance(axis, tuple) else 1), axis=axis)
    return _roll(x, *shift, axis=axis if isinstance(axis, tuple) else (axis,) * len(shift))


@compiled(static=("repetitions",))
def tile(x: Native, repetitions: tuple[int, ...]) -> Native:
    return jnp.tile(x, repetitions)


# --------------------------------------------------------------- linear algebra
@compiled
def matmul(x1: Native, x2: Native) -> Native:
    return jnp.matmul(*_promoted(x1, x2), precision=_HIGHEST)


@compiled
def _tensordot(x1: Native, x2: Native, *, axes: int | tuple[tuple[int, ...], tuple[int, ...]]) -> Native:
    return jnp.tensordot(*_promoted(x1, x2), axes=axes, precision=_HIGHEST)


def tensordot(x1: Native, x2: Native, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Native:
    return _tensordot(x1, x2, axes=axes if isinstance(axes, int) else tuple(tuple(pair) for pair in axes))


@compiled
def vecdot(x1: Native, x2: Native, *, axis: int = -1) -> Native:
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: x1 and x2 must be of one length along axis {axis}, not {x1.shape} and {x2.shape}")
    x1, x2 = (jnp.moveaxis(x, axis, -1) for x in _promoted(x1, x2))
    return jnp.matmul(jnp.conj(x1)[..., None, :], x2[..., None], precision=_HIGHEST)[..., 0, 0]


@compiled
def outer(x1: Native, x2: Native) -> Native:
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: x1 and x2 must have one axis, not {x1.ndim} and {x2.ndim}")
    x1, x2 = _promoted(x1, x2)
    return jnp.multiply(x1[:, None], x2[None, :])


@compiled
def cross(x1: Native, x2: Native, *, axis: int = -1) -> Native:
    return jnp.linalg.cross(*_promoted(x1, x2), axis=axis)


@compiled
def diagonal(x: Native, *, offset: int = 0) -> Native:
    return jnp.linalg.diagonal(x, offset=offset)


@compiled
def trace(x: Native, *, offset: int = 0, dtype: Any = None) -> Native:
    return jnp.sum(jnp.linalg.diagonal(x, offset=offset), axis=-1, dtype=_total(x, dtype))


def _factoring(function: Callable[..., Any]) -> Any:
    """`function` of `jnp.linalg` on floating arrays; its parameters but arrays are keyword-only."""

    @functools.wraps(function)
    def body(*arrays: Native, **options: Any) -> Any:
        # Some of these multiply matrices inside; the setting is read while they are traced.
        with jax.default_matmul_precision("highest"):
            result = function(*_inexact(*arrays), **options)
        return tuple(result) if isinstance(result, tuple) else result

    return compiled(body)


@_factoring
def cholesky(x: Native, /, *, upper: bool = False) -> Native:
    return jnp.linalg.cholesky(x, upper=upper)


@_factoring
def det(x: Native, /) -> Native:
    return jnp.linalg.det(x)


@_factoring
def eig(x: Native, /) -> tuple[Native, Native]:
    return jnp.linalg.eig(x)


@_factoring
def eigh(x: Native, /) -> tuple[Native, Native]:
    return jnp.linalg.eigh(x)


@_factoring
def eigvals(x: Native, /) -> Native:
    return jnp.linalg.eigvals(x)


@_factoring
def eigvalsh(x: Native, /) -> Native:
    return jnp.linalg.eigvalsh(x)


@_factoring
def inv(x: Native, /) -> Native:
    return jnp.linalg.inv(x)


@_factoring
def matrix_norm(x: Native, /, *, keepdims: bool = False, ord: Any = "fro") -> Native:
    norm = jnp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return _with_nan(norm, x, (-2, -1), keepdims) if ord in (1, -1, math.inf, -math.inf) else norm


@_factoring
def _matrix_power(x: Native, /, *, n: int) -> Native:
    return jnp.linalg.matrix_power(x, n)


def matrix_power(x: Native, n: int, /) -> Native:
    return _matrix_power(x, n=n)


@_factoring
def qr(x: Native, /, *, mode: str = "reduced") -> tuple[Native, Native]:
    return jnp.linalg.qr(x, mode=mode)


@_factoring
def slogdet(x: Native, /) -> tuple[Native, Native]:
    return jnp.linalg.slogdet(x)


@_factoring
def solve(x1: Native, x2: Native, /) -> Native:
    return jnp.linalg.solve(x1, x2)


@_factoring
def svd(x: Native, /, *, full_matrices: bool = True) -> tuple[Native, Native, Native]:
    return jnp.linalg.svd(x, full_matrices=full_matrices)


@_factoring
def svdvals(x: Native, /) -> Native:
    return jnp.linalg.svdvals(x)


@_factoring
def vector_norm(x: Native, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Native:
    norm = jnp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return _with_nan(norm, x, axis, keepdims) if math.isinf(ord) else norm


def _tolerance(x: Native, rtol: Native | float | None) -> Native:
    """`rtol`, or the standard's default for the singular values of `x`."""
    if rtol is None:
        return builtins.max(x.shape[-2:]) * jnp.finfo(x.dtype).eps
    return rtol


@compiled
def _matrix_rank(x: Native, rtol: Native | float | None) -> Native:
    (x,) = _inexact(x)
    values = jnp.linalg.svdvals(x)
    largest = jnp.max(values, axis=-1, keepdims=True, initial=0)
    return jnp.sum(values > largest * jnp.asarray(_tolerance(x, rtol))[..., None], axis=-1, dtype=jnp.int64)


def matrix_rank(x: Native, /, *, rtol: Native | float | None = None) -> Native:
    return _matrix_rank(x, rtol)


@compiled
def _pinv(x: Native, rtol: Native | float | None) -> Native:
    (x,) = _inexact(x)
    with jax.default_matmul_precision("highest"):
        return jnp.linalg.pinv(x, rtol=_tolerance(x, rtol))


def pinv(x: Native, /, *, rtol: Native | float | None = None) -> Native:
    return _pinv(x, rtol)


# ---------------------------------------------------------------------- Fourier
def _spectral(x: Native) -> Native:
    """`x` in a dtype that XLA transforms: float16 as float32, as in NumPy."""
    (x,) = _inexact(x)
    return _as(x, "float32") if x.dtype.itemsize == 2 else x


def _transform(function: Callable[..., Native]) -> Any:
    def body(x: Native, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Native:
        return function(_spectral(x), n=n, axis=axis, norm=norm)

    body.__name__ = function.__name__
    return compiled(body)


def _transform_n(function: Callable[..., Native]) -> Callable[..., Native]:
    def body(x: Native, *, s: tuple[int, ...] | None, axes: tuple[int, ...] | None, norm: str) -> Native:
        return function(_spectral(x), s=s, axes=axes, norm=norm)

    body.__name__ = function.__name__
    transform = compiled(body)

    def over_axes(
        x: Native, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Native:
        return transform(x, s=None if s is None else tuple(s), axes=None if axes is None else tuple(axes), norm=norm)

    return over_axes


fft = _transform(jnp.fft.fft)
ifft = _transform(jnp.fft.ifft)
rfft = _transform(jnp.fft.rfft)
irfft = _transform(jnp.fft.irfft)
hfft = _transform(jnp.fft.hfft)
ihfft = _transform(jnp.fft.ihfft)
fftn = _transform_n(jnp.fft.fftn)
ifftn = _transform_n(jnp.fft.ifftn)
rfftn = _transform_n(jnp.fft.rfftn)
irfftn = _transform_n(jnp.fft.irfftn)


@compiled
def _frequencies(spacing: Native, *, n: int, half: bool, dtype: Any) -> Native:
    steps = lax.iota(jnp.int64, n // 2 + 1 if half else n)
    if not half:
        steps = jnp.where(steps < (n + 1) // 2, steps, steps - n)
    return lax.convert_element_type(_as(steps, "float64") / (n * spacing), dtype)


@_creation
def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any) -> Native:
    return _frequencies(np.float64(d), n=n, half=False, dtype=dtype)


@_creation
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any) -> Native:
    return _frequencies(np.float64(d), n=n, half=True, dtype=dtype)


@compiled
def _shift(x: Native, *, axes: Axes, inverse: bool) -> Native:
    return (jnp.fft.ifftshift if inverse else jnp.fft.fftshift)(x, axes)


def fftshift(x: Native, /, *, axes: int | Sequence[int] | None = None) -> Native:
    return _shift(x, axes=axes if axes is None or isinstance(axes, int) else tuple(axes), inverse=False)


def ifftshift(x: Native, /, *, axes: int | Sequence[int] | None = None) -> Native:
    return _shift(x, axes=axes if axes is None or isinstance(axes, int) else tuple(axes), inverse=True)


# --------------------------------------------------------------------- indexing
@compiled
def _take(x: Native, indices: Native, *, axis: int) -> Native:
    _require("iu", indices)
    return jnp.take(x, indices, axis=axis, mode="fill")


def take(x: Native, indices: Native, /, *, axis: int | None = None) -> Native:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis must be given for an array of {x.ndim} axes")
        axis = 0
    if indices.dtype != bool:  # which is refused
        _check_bounds(indices, x.shape[axis])
    return _take(x, indices, axis=axis)


@compiled
def _take_along_axis(x: Native, indices: Native, *, axis: int) -> Native:
    return jnp.take_along_axis(x, indices, axis=axis, mode="fill")


def take_along_axis(x: Native, indices: Native, /, *, axis: int = -1) -> Native:
    _check_bounds(indices, x.shape[axis])
    return _take_along_axis(x, indices, axis=axis)


def _check_bounds(indices: Native, length: int) -> None:
    """Raise IndexError if an index is out of range, unless that would mean to wait for a device or an operation."""
    if isinstance(indices, jax.core.Tracer):
        return
    if isinstance(indices, jax.Array):
        if device_of(indices).platform != "cpu" or not indices.is_ready():
            return
        indices = np.asarray(indices)
    if not indices.size:
        return
    for index in (
        np.minimum.reduce(indices, None),
        np.maximum.reduce(indices, None),
    ):  # their methods take twice as long
        if not -length <= int(index) < length:
            raise IndexError(f"index {index} is out of bounds for an axis of length {length}")


class _Region(NamedTuple):
    """What a key of ints, slices, None and Ellipsis selects, but for where it starts along each axis."""

    extents: tuple[int, ...]
    """Length of the block that holds the region, along each axis of x."""
    steps: tuple[int, ...]
    moving: tuple[int, ...]
    """The axes whose start is not 0."""
    shape: tuple[int, ...]
    """Shape of the result."""

    def starts(self, moving: tuple[Native, ...]) -> list[Native]:
        """Start along every axis of x."""
        starts: list[Native] = [np.int64(0)] * len(self.extents)
        for axis, start in zip(self.moving, moving, strict=True):
            starts[axis] = lax.convert_element_type(start, jnp.int64)
        return starts

    @property
    def reversed_axes(self) -> tuple[int, ...]:
        """Axes with a negative step."""
        return tuple(axis for axis, step in enumerate(self.steps) if step < 0)

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps without their signs."""
        return tuple(builtins.abs(step) for step in self.steps)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of elements taken along each axis of x."""
        return tuple(-(-extent // stride) for extent, stride in zip(self.extents, self.strides, strict=True))


def _basic(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[_Region, list[int]]:
    """The region that `key` selects from an array of `shape`, and the starts along its moving axes."""
    taken = builtins.sum(entry is not None and entry is not Ellipsis for entry in key)
    ellipses = builtins.sum(entry is Ellipsis for entry in key)
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if taken > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} axes, but {taken} were indexed")
    rest = (slice(None),) * (len(shape) - taken)
    if ellipses:
        at = next(i for i, entry in enumerate(key) if entry is Ellipsis)
        key = (*key[:at], *rest, *key[at + 1 :])
    else:
        key = (*key, *rest)
    extents: list[Any] = []
    steps: list[Any] = []
    moving: list[Any] = []
    starts: list[Any] = []
    result: list[Any] = []
    for entry in key:
        if entry is None:
            result.append(1)
            continue
        axis = len(extents)
        length = shape[axis]
        if isinstance(entry, slice):
            start, stop, step = entry.indices(length)
            count = len(range(start, stop, step))
            extent = (count - 1) * builtins.abs(step) + 1 if count else 0
            start = (start if step > 0 else start - extent + 1) if count else 0
            step = step if count > 1 else 1
            result.append(count)
        else:
            if not -length <= entry < length:
                raise IndexError(f"index {entry} is out of bounds for axis {axis} with size {length}")
            start, extent, step = entry % length, 1, 1
        extents.append(extent)
        steps.append(step)
        # Where the start is an argument, all slices of one length and step share a compiled function.
        if extent < length and extent:
            moving.append(axis)
            starts.append(start)
    return _Region(tuple(extents), tuple(steps), tuple(moving), tuple(result)), starts


@compiled(static=("region",))
def _read(region: _Region, x: Native, *starts: Native) -> Native:
    if region.moving:
        x = lax.dynamic_slice(x, region.starts(starts), region.extents)
    elif region.extents != x.shape:
        x = lax.slice(x, (0,) * x.ndim, region.extents)
    x = lax.slice(x, (0,) * x.ndim, x.shape, region.strides)
    return lax.reshape(lax.rev(x, region.reversed_axes), region.shape)


@compiled
def _row(x: Native, index: Native) -> Native:
    """`x[index]`, as `_read` would give it; loops over an array do nothing else."""
    return lax.dynamic_index_in_dim(x, index, keepdims=False)


def _written(region: _Region, x: Native, value: Native, *starts: Native) -> Native:
    value = _fitted(value, x, region.shape)
    value = lax.rev(lax.reshape(value, region.lengths), region.reversed_axes)
    if 0 in value.shape:
        return x
    corner = region.starts(starts)
    if set(region.strides) - {1}:
        # A step leaves gaps: the value is spread out, and the gaps keep what they hold.
        gaps = [(0, 0, stride - 1) for stride in region.strides]
        hit = lax.pad(lax.full(value.shape, True), np.bool_(False), gaps)
        spread = lax.pad(value, lax.full((), 0, value.dtype), gaps)
        value = lax.select(hit, spread, lax.dynamic_slice(x, corner, region.extents))
    return lax.dynamic_update_slice(x, value, corner)


def _fitted(value: Native, x: Native, shape: tuple[int, ...]) -> Native:
    """`value` in the dtype of `x`, broadcast to `shape`; leading axes of length 1 may be too many, as in NumPy."""
    if _kind(value) == "c" and _kind(x) not in "cb":
        raise TypeError(f"cannot assign {value.dtype.name} to an array of dtype {x.dtype.name}")
    extra = builtins.max(value.ndim - len(shape), 0)
    if math.prod(value.shape[:extra]) == 1:
        value = lax.reshape(value, value.shape[extra:])
    return jnp.broadcast_to(lax.convert_element_type(value, x.dtype), shape)


class _Slot(NamedTuple):
    """An entry of a key without its values, as compiled functions are told of it."""

    kind: str
    """"array" for an argument, "slice", "none" or "ellipsis"."""
    bounds: tuple[int | None, int | None, int | None] = (None, None, None)


def _advanced(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[tuple[_Slot, ...], tuple[int, ...], list[Native]]:
    """The slots of a key that holds arrays, the axes to add to x for 0-d masks, and its integer arrays."""
    slots: list[_Slot] = []
    added: list[int] = []
    arrays: list[Native] = []
    width = builtins.sum(_width(entry) for entry in key)
    if width > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} axes, but {width} were indexed")
    axis = 0
    for entry in key:
        if entry is None:
            slots.append(_Slot("none"))
        elif entry is Ellipsis:
            slots.append(_Slot("ellipsis"))
            axis += len(shape) - width
        elif isinstance(entry, slice):
            slots.append(_Slot("slice", (entry.start, entry.stop, entry.step)))
            axis += 1
        elif isinstance(entry, int):
            if not -shape[axis] <= entry < shape[axis]:
                raise IndexError(f"index {entry} is out of bounds for axis {axis} with size {shape[axis]}")
            slots.append(_Slot("array"))
            arrays.append(np.int64(entry))
            axis += 1
        elif entry.dtype == bool:
            if entry.shape != shape[axis : axis + entry.ndim]:
                raise IndexError(f"a mask of shape {entry.shape} does not fit axes {shape[axis : axis + entry.ndim]}")
            mask = np.asarray(entry)
            if not mask.ndim:
                added.append(axis + len(added))
            chosen = np.nonzero(mask) if mask.ndim else (np.zeros(int(mask), np.int64),)
            slots.extend([_Slot("array")] * len(chosen))
            arrays.extend(chosen)
            axis += mask.ndim
        else:
            _check_bounds(entry, shape[axis])
            slots.append(_Slot("array"))
            arrays.append(entry)
            axis += 1
    if len(arrays) > 1:
        try:
            np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError as cause:
            raise IndexError(str(cause)) from cause
    return tuple(slots), tuple(added), arrays


def _width(entry: Any) -> int:
    """How many axes an entry of a key indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if _is_mask(entry) else 1


def _filled(slots: tuple[_Slot, ...], arrays: tuple[Native, ...]) -> tuple[Any, ...]:
    """The key that `slots` describe."""
    remaining = iter(arrays)
    makers: dict[str, Callable[[_Slot], Any]] = {
        "array": lambda slot: lax.convert_element_type(next(remaining), jnp.int64),
        "slice": lambda slot: slice(*slot.bounds),
        "none": lambda slot: None,
        "ellipsis": lambda slot: Ellipsis,
    }
    return tuple(makers[slot.kind](slot) for slot in slots)


@compiled(static=("slots", "added"))
def _gather(slots: tuple[_Slot, ...], added: tuple[int, ...], x: Native, *arrays: Native) -> Native:
    return lax.expand_dims(x, added).at[_filled(slots, arrays)].get(mode="fill")


def _scattered(slots: tuple[_Slot, ...], added: tuple[int, ...], x: Native, value: Native, *arrays: Native) -> Native:
    key = _filled(slots, arrays)
    expanded = lax.expand_dims(x, added)
    shape = jax.eval_shape(lambda x: x[key], expanded).shape
    return lax.squeeze(expanded.at[key].set(_fitted(value, x, shape), mode="drop"), added)


def _masked(before: int, x: Native, mask: Native, value: Native) -> Native:
    after = x.ndim - before - mask.ndim
    return jnp.where(lax.reshape(mask, (1,) * before + mask.shape + (1,) * after), _fitted(value, x, ()), x)


class _Update(NamedTuple):
    """A function that returns a changed x, compiled twice: leaving x as it is, and taking over its memory."""

    keeping: Any
    reusing: Any

    def __call__(self, exclusive: bool, *args: Any) -> Native:
        return (self.reusing if exclusive else self.keeping)(*args)


def _update(function: Callable[..., Native], static: tuple[str, ...]) -> _Update:
    # Donation is safe whatever else refers to the buffer: XLA copies it instead if a NumPy view, a DLPack
    # export or memory of another library is alive, and operations in flight end first.
    return _Update(
        jax.jit(function, static_argnames=static, inline=True),
        jax.jit(function, static_argnames=static, inline=True, donate_argnames="x"),
    )


_DONATED: Final = 1 << 13
"""Elements from which on it takes longer to copy an array than to take over its memory, which costs 6 us."""

_write: Final = _update(_written, ("region",))
_scatter: Final = _update(_scattered, ("slots", "added"))
_fill: Final = _update(_masked, ("before",))


def _is_array(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or isinstance(entry, int | slice))


def _is_mask(entry: Any) -> bool:
    return _is_array(entry) and entry.dtype == bool


def getitem(x: Native, key: Any) -> Native:
    """`x[key]`."""
    if type(key) is int and x.shape and -x.shape[0] <= key < x.shape[0]:
        return _row(x, key)
    entries = key if type(key) is tuple else (key,)
    if not some(map(_is_array, entries)):
        region, starts = _basic(x.shape, entries)
        return _read(region, x, *starts)
    if some(map(_is_mask, entries)) and _in_host_memory((x, *entries)):
        return _lent(np.asarray(x)[_on_host(entries)], device_of(x))
    try:
        slots, added, arrays = _advanced(x.shape, entries)
    except jax.errors.TracerArrayConversionError as cause:
        raise _unknown_shape("x[mask]") from cause
    return _gather(slots, added, x, *arrays)


def setitem(x: Native, key: Any, value: Native, exclusive: bool) -> Native:
    """`x` with `value` at `key`; takes over the memory of `x` if `exclusive`."""
    # A thread that takes x up meanwhile would find it deleted.
    exclusive = (
        exclusive
        and not isinstance(x, jax.core.Tracer)
        and math.prod(x.shape) >= _DONATED
        and threading.active_count() == 1
    )
    entries = key if type(key) is tuple else (key,)
    if not some(map(_is_array, entries)):
        region, starts = _basic(x.shape, entries)
        return _write(exclusive, region, x, value, *starts)
    if some(map(_is_mask, entries)):
        mask, before = _only_mask(x.shape, entries)
        if mask is not None and not value.ndim:
            return _fill(exclusive, before, x, mask, value)
        if _in_host_memory((x, value, *entries)):
            changed = np.array(x)
            changed[_on_host(entries)] = np.asarray(_cast(value, x.dtype))
            return _lent(changed, device_of(x))
    try:
        slots, added, arrays = _advanced(x.shape, entries)
    except jax.errors.TracerArrayConversionError as cause:
        raise _unknown_shape("x[mask] = value") from cause
    return _scatter(exclusive, slots, added, x, value, *arrays)


def _on_host(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries of a key as NumPy takes them."""
    return tuple(np.asarray(entry) if _is_array(entry) else entry for entry in entries)


def _only_mask(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[Native | None, int]:
    """The mask of a key that holds nothing else but whole slices, and its first axis; else None."""
    masks = [entry for entry in key if _is_array(entry)]
    if len(masks) != 1 or masks[0].dtype != bool:
        return None, 0
    (mask,) = masks
    at = next(i for i, entry in enumerate(key) if entry is mask)
    if some(entry is not mask and entry is not Ellipsis and entry != slice(None) for entry in key):
        return None, 0
    before = len(shape) - mask.ndim - (len(key) - at - 1) if Ellipsis in key[:at] else at
    return (mask, before) if shape[before : before + mask.ndim] == mask.shape else (None, 0)
