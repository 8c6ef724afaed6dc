"""Loops and branches as functions: `cond`, `switch`, `while_loop` and others.

Their signatures are those of `jax.lax`. If values are known, they run as Python loops and branches; in a trace, they
become loops and branches of the compiled function, without unrolling.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar, TypeVarTuple

from anyarray._array.array import Array
from anyarray._base import errors, nested
from anyarray._base.dtypes import bool_, int32
from anyarray._base.functions import is_any_of, is_async, name_of
from anyarray._base.nested import Structure
from anyarray._call import batching
from anyarray._call.batching import Batch
from anyarray._call.placement import native_on, traced_home
from anyarray._call.wrapping import NUMPY, SCALARS, wrap
from anyarray._choice import automatic, choice
from anyarray._memory import transfer
from anyarray._registry.home import Home
from anyarray.standard.creation import arange, asarray
from anyarray.standard.data_types import astype, result_type
from anyarray.standard.elementwise import clip
from anyarray.standard.manipulation import concat, flip, reshape, stack
from anyarray.transforms._call import clear_about_leaks, home_of, wrapped_on
from anyarray.transforms._jit import jit
from anyarray.transforms._loops import (
    Captured,
    Carry,
    Natives,
    Turns,
    apart,
    count_in_python,
    innermost,
    is_staged,
    leaf,
    natives_of_results,
    of_turn,
    scan_in_python,
    scan_natives,
    switch_natives,
    text_of,
    truth,
    while_in_python,
    while_natives,
)
from anyarray.transforms._reach import Programs, Reach
from anyarray.transforms._vmap import vmap

C = TypeVar("C")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")
X = TypeVar("X")
Y = TypeVar("Y")

_programs: Final = Programs()


class _Operands:
    """The values that a loop or branch gets, as native arrays on one home."""

    def __init__(self, name: str, functions: Sequence[Callable[..., Any]], values: Sequence[Any]) -> None:
        self.name = name
        arrays: list[Array] = []
        self.structures: list[Structure] = []
        ends = [0]
        for one in values:
            self.structures.append(nested.flatten(one, arrays, leaf))
            ends.append(len(arrays))
        self._reach = Reach(functions)
        every = [*arrays, *self._reach.arrays]
        self.home = _home(name, arrays, self._reach.arrays, traced_home(every))
        natives = [native_on(one, self.home, name) for one in arrays]
        self.natives: list[Natives] = [natives[i:j] for i, j in itertools.pairwise(ends)]
        """Those of each value."""
        backend = self.home.backend
        self.captured = Captured(self._reach.arrays, self.home)
        self.is_lowered = isinstance(self.home, Batch) or is_staged(self.home)
        """Whether it runs over flat native arrays."""
        self.is_compiled = (
            not self.is_lowered
            and backend.has_hook("COMPILES_LOOPS")
            and not any(transfer.has_derivative(one._native, one._home.backend) for one in every)
        )
        """Whether to compile it: its values are known, and the library's calls take long."""

    def program(self, options: tuple[Any, ...], run: Callable[..., Any]) -> Any:
        """The result of `run`, compiled and cached for the options."""
        key = None if self._reach.key is None else (self.name, *options, self._reach.key)
        called = _programs.of(key, lambda: jit(run))
        values = self.values()
        return self.run(lambda: called(*values))

    def values(self) -> list[Any]:
        """The nested values, of Arrays on the home."""
        pairs = zip(self.structures, self.natives, strict=True)
        return [nested.unflatten(structure, wrapped_on(natives, self.home)) for structure, natives in pairs]

    def forward(self, value: Any) -> Any:
        """A result that refuses derivatives in reverse mode."""
        arrays: list[Array] = []
        nested.flatten(value, arrays, leaf)
        backend = self.home.backend
        if backend.has_hook("is_reversed") and any(
            backend.hook("is_reversed")(getattr(*innermost(one))) for one in arrays
        ):
            raise errors.no_reverse_derivative()
        return value

    def run(self, function: Callable[[], R]) -> R:
        """Call a function with the backend chosen."""
        return choice.call_on(self.home.backend, function)


def _home(name: str, arrays: Sequence[Array], reached: Sequence[Array], traced: Home | None) -> Home:
    """The home of its Arrays, or of the Arrays that its functions read."""
    if traced is not None:
        return batching.home_inside(traced)
    home = home_of(name, arrays)
    if home is NUMPY and choice.chosen() is None:
        home = automatic.meeting([one._home for one in reached])
    return batching.home_inside(home)


def _check(name: str, **functions: Any) -> None:
    """Raise TypeError unless it is callable and returns its result."""
    for parameter, function in functions.items():
        if not callable(function):
            raise errors.ArgumentTypeError(f"{name}: {parameter} must be a function, not {type(function).__name__}")
        if is_async(function) or is_any_of(function, inspect.isgeneratorfunction, inspect.isasyncgenfunction):
            kind = "async" if is_async(function) else "generator"
            raise errors.ArgumentTypeError(
                f"{name}: {parameter} must be a function that returns its result, not the {kind} function "
                f"{name_of(function)}. Return the values"
            )


@clear_about_leaks("cond")
def cond(pred: Any, true_fun: Callable[[*Ts], R], false_fun: Callable[[*Ts], R], *operands: *Ts) -> R:
    """`true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    `pred` is a bool, a number or an Array without axes. If its value is known, the other function does not run. In a
    trace, both functions are traced and must return the same structure, shapes and dtypes; the compiled function runs
    one of them. Under `vmap` with a `pred` for each element, both run. Operands and results are nested Arrays; Python
    numbers become Arrays of their default dtypes.
    Raises TypeError if `pred` has axes or the results differ.

    >>> import anyarray as xp
    >>> halved = xp.jit(lambda x: xp.cond(xp.sum(x) > 10, lambda x: x / 2, lambda x: x, x))
    >>> halved(xp.asarray([8.0, 4.0])).tolist()
    [4.0, 2.0]
    """
    _check("cond", true_fun=true_fun, false_fun=false_fun)
    if isinstance(pred, (bool, int, float)):
        index: Any = int(bool(pred))
    else:
        index = leaf(pred)
        if index is None or index.ndim or index.dtype.kind == "c":
            raise errors.ArgumentTypeError(
                f"cond: pred must be one truth value without axes, not {_said(pred, index)}. "
                "Choose elements: xp.where(...)"
            )
        index = astype(index, bool_)
    return _branched("cond", index, [false_fun, true_fun], ["false_fun", "true_fun"], operands)  # type: ignore[no-any-return]


@clear_about_leaks("switch")
def switch(index: Any, branches: Sequence[Callable[[*Ts], R]], *operands: *Ts) -> R:
    """`branches[index](*operands)`: a call of one of several functions.

    `index` is an integer or an integer Array without axes. An index that is too small or too large means the first or
    last branch. Otherwise `switch` is like `cond`.
    Raises TypeError if `index` is not an integer or the results differ, ValueError without branches.

    >>> import anyarray as xp
    >>> branches = [xp.sin, xp.cos, lambda x: x * 0]
    >>> xp.switch(1, branches, xp.asarray(0.0)).tolist()
    1.0
    """
    branches = list(branches)
    if not branches:
        raise errors.ArgumentValueError("switch: branches must hold one function at least, not none")
    names = [f"branches[{i}]" for i in range(len(branches))]
    _check("switch", **dict(zip(names, branches, strict=True)))
    return _branched("switch", _integer("switch", "index", index), branches, names, operands)  # type: ignore[no-any-return]


def _integer(name: str, parameter: str, value: Any) -> Any:
    """An integer: a Python int if its value is known, else an Array."""
    if isinstance(value, int) and type(value) is not bool:
        return int(value)
    one = leaf(value)
    if one is None or one.ndim or one.dtype.kind not in "iu":
        raise errors.ArgumentTypeError(
            f"{name}: {parameter} must be an integer without axes, not {_said(value, one)}. Convert it: xp.astype(...)"
        )
    return one if one._home.is_traced(one._native) else int(one)


def _said(value: Any, array: Array | None) -> str:
    if array is None or type(value) in SCALARS:
        return type(value).__name__
    return f"an Array of {array.dtype} of shape {tuple(array.shape)}"


def _branched(
    name: str, index: Any, branches: Sequence[Callable[..., Any]], labels: Sequence[str], operands: tuple[Any, ...]
) -> Any:
    if type(index) is Array and not index._home.is_traced(index._native):
        index = int(index)
    if type(index) is int or len(branches) == 1:
        # The value is known: no other branch runs, nor is it looked at.
        chosen = branches[min(max(index, 0), len(branches) - 1) if type(index) is int else 0]
        ops = _Operands(name, [chosen], operands)
        values = ops.values()
        return ops.run(lambda: _of_its_own(chosen(*values)))
    index = astype(index, int32) if index.dtype.kind == "b" else clip(index, 0, len(branches) - 1)
    ops = _Operands(name, branches, (index, *operands))
    home = ops.home
    [[number], *_] = ops.natives
    flat = [x for natives in ops.natives[1:] for x in natives]
    structure = (tuple, None, tuple(ops.structures[1:]))
    structures: list[Structure] = []
    kinds: list[Any] = []

    def flattened(at: int) -> Callable[..., Natives]:
        def branch(*xs: Any) -> Natives:
            found = branches[at](*nested.unflatten(structure, wrapped_on(xs, home)))
            result, natives = natives_of_results(name, home, found)
            kind = [(home.dtype_of(x), tuple(home.shape_of(x))) for x in natives]
            if not structures:
                structures.append(result)
                kinds.append((at, kind))
            elif structures[0] != result or kinds[0][1] != kind:
                raise _unlike(name, home, labels, kinds[0], (at, kind), structures[0] == result)
            return natives

        return branch

    found = ops.run(
        lambda: switch_natives(home, number, [flattened(at) for at in range(len(branches))], flat, ops.captured)
    )
    return nested.unflatten(structures[0], wrapped_on(found, home))


def _unlike(
    name: str, home: Home, labels: Sequence[str], first: tuple[int, Any], other: tuple[int, Any], is_alike: bool
) -> errors.ArgumentTypeError:
    where = "" if is_alike else " in other containers"
    return errors.ArgumentTypeError(
        f"{name}: {labels[first[0]]} and {labels[other[0]]} must return the same structure, shapes and dtypes, not "
        f"{text_of(home, first[1])}, and {text_of(home, other[1])}{where}. Convert one: xp.astype(...)"
    )


def _of_its_own(value: Any) -> Any:
    """A result as in a trace: Arrays that no other code can write to.

    Python numbers in it are Arrays.
    """
    return _each(apart, value)


@clear_about_leaks("while_loop")
def while_loop(cond_fun: Callable[[C], Any], body_fun: Callable[[C], C], init_val: C) -> C:
    """`init_val`, updated by `body_fun` as long as `cond_fun` is true.

    `init_val` is an Array or a nested value of Arrays. `body_fun` returns the same structure, shapes and dtypes, and
    `cond_fun` returns one truth value. Python numbers become Arrays of their default dtypes. Both functions may read
    other Arrays and write to their arguments; `init_val` does not change. The loop runs in Python on NumPy, CuPy,
    PyTorch and Dask, and is compiled on JAX and TensorFlow and in a trace. It has no derivative in reverse mode: use
    `fori_loop` or `scan`.
    Raises TypeError if the structure, a shape or a dtype changes.

    >>> import anyarray as xp
    >>> def error(x):
    ...     return xp.abs(x * x - 2.0)
    >>> root = xp.while_loop(lambda x: error(x) > 1e-12, lambda x: (x + 2.0 / x) / 2.0, 1.0)
    >>> round(float(root), 6)
    1.414214
    """
    _check("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    return _while_loop(cond_fun, body_fun, init_val)  # type: ignore[no-any-return]


def _while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any, inside: bool = False) -> Any:
    name = "while_loop"
    ops = _Operands(name, [cond_fun, body_fun], [init_val])
    if ops.is_compiled and not inside:
        return ops.program((), lambda init: _while_loop(cond_fun, body_fun, init, inside=True))
    home = ops.home
    carry = Carry(name, "init_val", ops.structures[0], home, ops.natives[0])

    def run() -> Any:
        if not ops.is_lowered:
            return ops.forward(while_in_python(carry, cond_fun, body_fun, carry.value(ops.natives[0])))

        def test(*xs: Any) -> Any:
            return native_on(truth(name, cond_fun, cond_fun(carry.value(xs))), home, name)

        def body(*xs: Any) -> Natives:
            return carry.natives(body_fun, body_fun(carry.value(xs)))

        return ops.forward(carry.value(while_natives(home, test, body, ops.natives[0], ops.captured)))

    return ops.run(run)


@clear_about_leaks("fori_loop")
def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Array, C], C], init_val: C) -> C:
    """`init_val`, updated by `body_fun(i, init_val)` for `i` in a range.

    `i` goes from `lower` to `upper - 1`, as an Array without axes. If the values of both bounds are known, the loop has
    a derivative in reverse mode; otherwise it is a `while_loop`. See there for other rules.
    Raises TypeError if a bound is not an integer, or the structure, a shape or a dtype changes.

    >>> import anyarray as xp
    >>> xp.fori_loop(1, 6, lambda i, product: product * i, 1).tolist()
    120
    >>> def swap(i, x):
    ...     x[i] = -x[i]
    ...     return x
    >>> xp.fori_loop(1, 3, swap, xp.asarray([1.0, 2.0, 3.0])).tolist()
    [1.0, -2.0, -3.0]
    """
    _check("fori_loop", body_fun=body_fun)
    bounds = [_integer("fori_loop", "lower", lower), _integer("fori_loop", "upper", upper)]
    given = [asarray(bound).dtype for bound in (lower, upper) if not isinstance(bound, int)]
    dtype = result_type(*given) if given else asarray(0).dtype
    return _counted(bounds, dtype, body_fun, init_val)  # type: ignore[no-any-return]


def _counted(bounds: Sequence[Any], dtype: Any, body_fun: Callable[..., Any], init: Any, inside: bool = False) -> Any:
    name = "fori_loop"
    lower, upper = bounds
    is_static = type(lower) is int and type(upper) is int
    counters = [asarray(one, dtype=dtype) if type(one) is int else astype(one, dtype) for one in bounds]
    ops = _Operands(name, [body_fun], [init, *[one for one in bounds if type(one) is not int]])
    if ops.is_compiled and not inside:
        options = (lower, upper, str(dtype))
        return ops.program(options, lambda init: _counted(bounds, dtype, body_fun, init, inside=True))
    home = ops.home
    carry = Carry(name, "init_val", ops.structures[0], home, ops.natives[0])

    def next_of(i: Any, xs: Natives) -> Natives:
        return carry.natives(body_fun, body_fun(wrap(i, home), carry.value(xs)))

    def run() -> Any:
        if not ops.is_lowered:
            return count_in_python(carry, body_fun, carry.value(ops.natives[0]), _numbers(lower, upper, dtype))
        if not is_static:
            first, last = [native_on(one, home, name) for one in counters]
            one = native_on(asarray(1, dtype=dtype), home, name)

            def test(i: Any, end: Any, *_: Any) -> Any:
                return home.less(i, end)

            def body(i: Any, end: Any, *xs: Any) -> Natives:
                return [home.add(i, one), end, *next_of(i, list(xs))]

            found = while_natives(home, test, body, [first, last, *ops.natives[0]], ops.captured)
            return ops.forward(carry.value(found[2:]))

        def turn(values: Natives, row: Natives) -> tuple[Natives, Natives]:
            return next_of(row[0], values), []

        numbers = [native_on(arange(lower, max(lower, upper), dtype=dtype), home, name)]
        found, _ = scan_natives(home, turn, ops.natives[0], numbers, Turns(max(upper - lower, 0)), ops.captured)
        return carry.value(found)

    return ops.run(run)


_BLOCK: Final = 1 << 12


def _numbers(lower: int, upper: int, dtype: Any) -> Iterator[Array]:
    """The integers as Arrays, made in blocks."""
    starts = range(lower, upper, _BLOCK)
    return itertools.chain.from_iterable(arange(one, min(one + _BLOCK, upper), dtype=dtype) for one in starts)


@clear_about_leaks("scan")
def scan(
    f: Callable[[C, X], tuple[C, Y]],
    init: C,
    xs: X | None = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
) -> tuple[C, Y]:
    """A loop over `xs` that carries a value and stacks results.

    `f` takes the carry and an element of `xs` along the first axis, and returns a pair: the next carry and a result.
    `scan` returns the last carry and all results, stacked along a new first axis. `xs` may be nested Arrays whose first
    axes have the same length, or None: then `length` is the number of iterations. With `reverse`, the last element
    comes first. On JAX, `unroll` iterations are compiled as one. `scan` has derivatives in both modes. See `while_loop`
    for other rules.
    Raises TypeError if the structure, a shape or a dtype of the carry changes, ValueError if lengths differ.

    >>> import anyarray as xp
    >>> def step(total, x):
    ...     return total + x, total * x
    >>> total, products = xp.scan(step, 0.0, xp.asarray([1.0, 2.0, 3.0]))
    >>> float(total), products.tolist()
    (6.0, [0.0, 2.0, 9.0])
    """
    _check("scan", f=f)
    return _scanned("scan", f, init, xs, length, bool(reverse), operator.index(unroll))  # type: ignore[no-any-return]


def _scanned(
    name: str,
    f: Callable[..., Any],
    init: Any,
    xs: Any,
    length: Any = None,
    reverse: bool = False,
    unroll: int = 1,
    given: tuple[Any, ...] = (),
    inside: bool = False,
) -> Any:
    """The same for `f`, which is one of ours if `given` has the user's."""
    functions = [one for one in given if callable(one)] or [f]
    ops = _Operands(name, functions, [init, xs])
    home = ops.home
    length = _length(name, home, ops, length)
    if ops.is_compiled and not inside:
        options = (length, reverse, unroll, *[one for one in given if not callable(one)])
        return ops.program(
            options, lambda init, xs: _scanned(name, f, init, xs, length, reverse, unroll, given, inside=True)
        )
    values, rows = ops.natives
    carry = Carry(name, "init", ops.structures[0], home, values)
    structure = ops.structures[1]

    def run() -> Any:
        if not ops.is_lowered:
            return scan_in_python(carry, f, carry.value(values), (structure, rows), length, reverse)
        stacked: Structure = None

        def turn(values: Natives, row: Natives) -> tuple[Natives, Natives]:
            nonlocal stacked
            x = nested.unflatten(structure, wrapped_on(row, home))
            new, y = of_turn(name, f, f(carry.value(values), x))
            stacked, ys = natives_of_results(name, home, y)
            return carry.natives(f, new), ys

        turns = Turns(length, reverse, unroll)
        found, stacks = scan_natives(home, turn, values, rows, turns, ops.captured)
        return carry.value(found), nested.unflatten(stacked, wrapped_on(stacks, home))

    return ops.run(run)


def _length(name: str, home: Home, ops: _Operands, given: Any) -> int | None:
    """The number of iterations; None if a trace does not know it."""
    labels = nested.labels(ops.structures[1], "xs")
    known: dict[str, int] = {}
    if given is not None:
        known["length"] = operator.index(given)
    for label, native in zip(labels, ops.natives[1], strict=True):
        shape = home.shape_of(native)
        if not shape:
            cure = "" if label == "xs" else ". Make one Array of a list of numbers: xp.asarray(xs)"
            raise errors.ArgumentValueError(f"{name}: {label} must have an axis to go along, but it has no axes{cure}")
        if shape[0] is not None:
            known[label] = shape[0]
    if not known:
        if labels:
            return None
        raise errors.ArgumentValueError(f"{name}: there must be xs or a length, but neither was given. Give length=...")
    first, *others = known.items()
    for label, n in others:
        if n != first[1]:
            raise errors.ArgumentValueError(
                f"{name}: xs must have one length along the first axis, but {first[0]} has {first[1]} and {label} {n}"
            )
    if first[1] < 0:
        raise errors.ArgumentValueError(f"{name}: length must not be negative, but is {first[1]}")
    return first[1]


@clear_about_leaks("map")
def map(f: Callable[[X], Y], xs: X, *, batch_size: int | None = None) -> Y:  # noqa: A001 - jax.lax's name
    """Results of `f` for each element of `xs` along the first axis.

    The elements are computed one after another, and the results are stacked. This takes less memory than `vmap`, and
    more time. With `batch_size`, that many elements at a time go through `vmap`. `xs` and the results are nested
    Arrays.
    Raises ValueError if the first axes of `xs` have different lengths.

    >>> import anyarray as xp
    >>> xp.map(lambda row: xp.sort(row)[-1], xp.asarray([[1.0, 3.0], [4.0, 2.0]])).tolist()
    [3.0, 4.0]
    """
    _check("map", f=f)
    if batch_size is None:
        return _scanned("map", lambda _, x: (None, f(x)), None, xs, given=(f,))[1]  # type: ignore[no-any-return]
    size = operator.index(batch_size)
    if size < 1:
        raise errors.ArgumentValueError(f"map: batch_size must be 1 or more, not {size}")
    ops = _Operands("map", [f], [None, xs])
    length = _length("map", ops.home, ops, None)
    if length is None:
        raise errors.unknown_length("map")
    whole = length // size * size
    arrays: list[Array] = []
    structure = nested.flatten(xs, arrays, leaf)
    results = []
    if whole or not length:
        parts = [reshape(one[:whole], (length // size, size, *one.shape[1:])) for one in arrays]
        parts_of_xs = nested.unflatten(structure, iter(parts))
        _, found = _scanned("map", lambda _, x: (None, vmap(f)(x)), None, parts_of_xs, given=(f, size))
        results.append(_each(lambda y: reshape(y, (whole, *y.shape[2:])), found))
    if whole < length:
        results.append(vmap(f)(nested.unflatten(structure, iter([one[whole:] for one in arrays]))))
    return results[0] if len(results) == 1 else _each(lambda *ys: concat(list(ys), axis=0), *results)  # type: ignore[no-any-return]


def _each(change: Callable[..., Array], *values: Any) -> Any:
    """A nested value of what a function makes of the Arrays of several."""
    every: list[list[Array]] = [[] for _ in values]
    structures = [nested.flatten(value, arrays, leaf) for value, arrays in zip(values, every, strict=True)]
    return nested.unflatten(structures[0], itertools.starmap(change, zip(*every, strict=True)))


@clear_about_leaks("associative_scan")
def associative_scan(fn: Callable[[C, C], C], elems: C, reverse: bool = False, axis: int = 0) -> C:
    """All partial results of an associative function along `axis`.

    `fn` takes two nested values like `elems`, with any number of elements along `axis`, and combines them element by
    element. It must be associative: `fn(a, fn(b, c))` equals `fn(fn(a, b), c)`. Elements are combined in pairs, so the
    number of steps is the logarithm of the length. With `reverse`, the last element comes first.
    Raises TypeError if `fn` changes the structure, a shape or a dtype.

    >>> import anyarray as xp
    >>> xp.associative_scan(xp.maximum, xp.asarray([1.0, 3.0, 2.0, 5.0])).tolist()
    [1.0, 3.0, 3.0, 5.0]
    """
    name = "associative_scan"
    _check(name, fn=fn)
    ops = _Operands(name, [fn], [elems])
    home, structure = ops.home, ops.structures[0]
    labels = nested.labels(structure, "elems")
    axis = operator.index(axis)
    lengths = {}
    for label, native in zip(labels, ops.natives[0], strict=True):
        shape = home.shape_of(native)
        if not -len(shape) <= axis < len(shape):
            raise errors.no_such_axis(name, axis, len(shape))
        lengths[label] = shape[axis]
    if None in lengths.values():
        raise errors.unknown_length(name)
    if len(set(lengths.values())) > 1:
        said = ", ".join([f"{label} {n}" for label, n in lengths.items()])
        raise errors.ArgumentValueError(f"{name}: elems must have one length along axis {axis}, but have: {said}")

    def combined(first: list[Array], second: list[Array]) -> list[Array]:
        values = [nested.unflatten(structure, wrapped_on([x._native for x in one], home)) for one in (first, second)]
        found: list[Array] = []
        if nested.flatten(fn(*values), found, leaf) != structure:
            raise errors.ArgumentTypeError(f"{name}: {name_of(fn)} must return the structure of elems")
        for label, one, given in zip(labels, found, first, strict=True):
            if one.dtype != given.dtype or one.shape != given.shape:
                raise errors.ArgumentTypeError(
                    f"{name}: {name_of(fn)} must keep the shapes and dtypes of elems, but {label} was {given.dtype} of "
                    f"shape {given.shape} and became {one.dtype} of shape {one.shape}"
                )
        return found

    def scanned(ones: list[Array]) -> list[Array]:
        length = ones[0].shape[axis]
        if length < 2:
            return ones
        pairs = combined([_cut(x, axis, 0, length - 1, 2) for x in ones], [_cut(x, axis, 1, length, 2) for x in ones])
        odd = scanned(pairs)
        before = odd if length % 2 else [_cut(x, axis, 0, length // 2 - 1, 1) for x in odd]
        even = [_cut(x, axis, 0, 1, 1) for x in ones]
        if length > 2:
            later = combined(before, [_cut(x, axis, 2, length, 2) for x in ones])
            even = [concat([x, y], axis=axis) for x, y in zip(even, later, strict=True)]
        return [_interleaved(x, y, axis) for x, y in zip(even, odd, strict=True)]

    def run() -> Any:
        arrays = list(wrapped_on(ops.natives[0], home))
        if not arrays:
            return elems
        arrays = [flip(x, axis=axis) for x in arrays] if reverse else arrays
        found = scanned(arrays)
        return nested.unflatten(structure, iter([flip(x, axis=axis) for x in found] if reverse else found))

    return ops.run(run)  # type: ignore[no-any-return]


def _cut(x: Array, axis: int, start: int, stop: int, step: int) -> Array:
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, stop, step),)]


def _interleaved(even: Array, odd: Array, axis: int) -> Array:
    axis %= even.ndim
    length = odd.shape[axis]
    both = stack([_cut(even, axis, 0, length, 1), odd], axis=axis + 1)
    shape = odd.shape
    found = reshape(both, (*shape[:axis], 2 * length, *shape[axis + 1 :]))
    if even.shape[axis] == length:
        return found
    return concat([found, _cut(even, axis, length, length + 1, 1)], axis=axis)
