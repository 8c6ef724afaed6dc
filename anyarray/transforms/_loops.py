"""Loops and branches over nested values: in Python, for a batch, in a trace.

Where values are known, a loop is one of Python's over the Arrays themselves. In a trace the backend makes it a part
of the graph, see `while_loop`, `scan` and `switch` in `backends/__init__.py`: those are of flat native arrays. A
`Batch` lowers them to its stacks, on the home below.
"""

from __future__ import annotations

import functools
import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._array.array import Array
from anyarray._base import dtypes, errors, nested
from anyarray._base.functions import name_of
from anyarray._base.nested import LEAF, Static, Structure
from anyarray._call.batching import Batch, Batched
from anyarray._call.placement import native_on
from anyarray._call.wrapping import SCALARS, wrap, wrap_apart
from anyarray._memory import alignment, transfer, views
from anyarray._registry import home as _home
from anyarray._registry.home import Home, Native
from anyarray.standard.creation import asarray
from anyarray.transforms._call import leaf_of_argument, pair, wrapped_on

Function = Callable[..., Any]
Natives = list[Native]

for _name in ("while_loop", "scan", "switch"):
    _home.declare(_name)


def leaf(value: Any) -> Array | None:
    """An Array of an array of any library or of a Python number, else None."""
    return asarray(value) if type(value) in SCALARS else leaf_of_argument(value)


def is_staged(home: Home) -> bool:
    """Whether a loop of arrays of `home` becomes a part of an open trace."""
    backend = home.backend
    return backend.has_hook("while_loop") and bool(backend.hook("is_tracing")())


def apart(one: Array) -> Array:
    """An Array of the same values: no write to one is seen in the other."""
    native = one._native
    is_small = type(native) is np.ndarray and native.nbytes < alignment.MODEST
    if one._home.has_views and not is_small:
        views.guard(one)
    return wrap_apart(one._native, one._home)


class Carry:
    """The structure, shapes and dtypes that a loop carries along."""

    def __init__(self, name: str, parameter: str, structure: Structure, home: Home, natives: Sequence[Native]) -> None:
        self.name = name
        self._parameter = parameter
        self.structure = structure
        self.home = home
        self._dtypes = [home.dtype_of(x) for x in natives]
        self._shapes = [tuple(home.shape_of(x)) for x in natives]

    def value(self, natives: Sequence[Native]) -> Any:
        """The nested value of native arrays, which no write to it reaches."""
        return nested.unflatten(self.structure, wrapped_on(natives, self.home))

    def natives(self, function: Function, value: Any) -> Natives:
        """The native arrays of what `function` returned for the next turn.

        Raises TypeError if the structure, a shape or a dtype is another.
        """
        return [native_on(one, self.home, self.name) for one in self._arrays(function, value)]

    def _arrays(self, function: Function, value: Any) -> list[Array]:
        arrays: list[Array] = []

        def taken(one: Any) -> Array | None:
            if type(one) not in SCALARS:
                return leaf_of_argument(one)
            if len(arrays) < len(self._dtypes):
                dtype = self.home.dtypes[self._dtypes[len(arrays)]]
                if dtypes.weak_scalar(type(one), dtype.name) == dtype.name:
                    return asarray(one, dtype=dtype)
            return asarray(one)

        structure = nested.flatten(value, arrays, taken)
        if structure != self.structure:
            raise self._of_another_structure(function, structure)
        for at, one in enumerate(arrays):
            if one._home is not self.home:
                arrays[at] = one = wrap(native_on(one, self.home, self.name), self.home)
            native = one._native
            shape = tuple(self.home.shape_of(native))
            if self.home.dtype_of(native) != self._dtypes[at] or not _fits(shape, self._shapes[at]):
                raise self._of_another_kind(function, at, one)
        return arrays

    def _of_another_structure(self, function: Function, structure: Structure) -> errors.ArgumentTypeError:
        had, has = [", ".join(nested.labels(one, self._parameter)) for one in (self.structure, structure)]
        wanted = "one Array" if had == self._parameter else f"the Arrays {had}" if had else "no Arrays"
        said = f"the Arrays {has}" if has and had != has else "another structure" if has else "a value without Arrays"
        return errors.ArgumentTypeError(
            f"{self.name}: {name_of(function)} must return the structure of {self._parameter}, {wanted}, not {said}. "
            "Return as many in the same containers"
        )

    def _of_another_kind(self, function: Function, at: int, one: Array) -> errors.ArgumentTypeError:
        label = nested.labels(self.structure, self._parameter)[at]
        dtype, shape = self.home.dtypes[self._dtypes[at]], self._shapes[at]
        cure = f"Begin with that, or convert it: xp.astype(..., xp.{dtype})" if dtype != one.dtype else "Keep its shape"
        return errors.ArgumentTypeError(
            f"{self.name}: {name_of(function)} must keep the shapes and dtypes of {self._parameter}, but {label} was "
            f"{dtype} of shape {shape} and became {one.dtype} of shape {tuple(one.shape)}. {cure}"
        )

    def keeper(self, function: Function) -> Callable[[Any, Any], Any]:
        """A function of the next value and the one before: it checks the next.

        It returns it so that no write of the next turn reaches others.
        """
        home, structure = self.home, self.structure

        def kept(new: Any, old: Any) -> Any:
            olds: list[Array] = []
            nested.flatten(old, olds, leaf)
            news = self._arrays(function, new)
            own = [one if one is before else apart(one) for one, before in zip(news, olds, strict=True)]
            return nested.unflatten(structure, iter(own))

        def kept_one(new: Any, old: Any, dtype: Any, shape: Any) -> Array | None:
            if type(new) is Array and new._home is home:
                native = new._native
                if home.dtype_of(native) is dtype and home.shape_of(native) == shape:
                    return new if new is old else apart(new)
            return None

        def kept_several(new: Any, old: Any) -> Any:
            if type(new) is not type(old) or len(new) != len(old):
                return kept(new, old)
            own = list(map(kept_one, new, old, self._dtypes, self._shapes))
            return kept(new, old) if any(one is None for one in own) else type(old)(own)

        if self.is_flat:
            return kept_several
        if structure is not LEAF:
            return kept
        [dtype], [shape] = self._dtypes, self._shapes

        def kept_alone(new: Any, old: Any) -> Any:
            own = kept_one(new, old, dtype, shape)
            return kept(new, old) if own is None else own

        return kept_alone

    @property
    def is_flat(self) -> bool:
        """Whether it is a tuple or list of Arrays."""
        structure = self.structure
        if structure is LEAF or type(structure) is Static:
            return False
        return structure[0] in (tuple, list) and set(structure[2]) == {LEAF}

    def looped(self, loop: str, function: Function, value: Any, **names: Any) -> Any:
        """The last value of the loop `_WHILE`, `_FOR` or `_SCAN`.

        Functions and others are there by the names in `names`.
        """
        structure, scalars = self.structure, 0
        is_plain = self.home.backend.library == "numpy" and not self.home.depth and not any(self._shapes)
        if is_plain and (structure is LEAF or self.is_flat):
            scalars = len(self._dtypes)
            names |= {f"s{i}": dtype.type for i, dtype in enumerate(self._dtypes)}
        kind = structure[0].__name__ if self.is_flat else None  # pyright: ignore[reportAttributeAccessIssue]
        code = _code(loop, kind, scalars)
        space: dict[str, Any] = {**names, "Array": Array, "bool_": np.bool_, "body": function}
        space["kept"] = self.keeper(function)
        exec(code, space)
        return space["looped"](value)


# Of NumPy's scalars, which cannot be written, it is enough to look at the class: a call would take as long as the turn.
_WHILE: Final = """
while True:
    test = cond(value)
    if type(test) is Array and type(test._value) is bool_:
        test = test._value
    if not test:
        return value
    new = body(value)
"""
_FOR: Final = """
for i in turns:
    new = body(i, value)
"""
_SCAN: Final = """
for at, x in turns:
    found = body(value, x)
    if type(found) is not tuple or len(found) != 2:
        found = of_turn(name, body, found)
    new, y = found
    put(at, y)
"""


@functools.cache
def _code(loop: str, kind: str | None, scalars: int) -> Any:
    """The code of a loop that keeps so many of NumPy's scalars at once."""
    ones = ", ".join([f"x{i}" for i in range(scalars)])
    are_scalars = " and ".join([f"type(x{i}) is Array and type(x{i}._value) is s{i}" for i in range(scalars)])
    keep = f"if type(new) is {kind} and len(new) == {scalars}:\n    {ones}, = new" if kind else "x0 = new"
    keep += f"\n{'    ' if kind else ''}if {are_scalars}:\n{'    ' if kind else ''}    value = new\n"
    keep += "        continue\n" if kind else "    continue\n"
    turn = loop + textwrap.indent((keep if scalars else "") + "value = kept(new, value)\n", "    ")
    return compile(f"def looped(value):\n{textwrap.indent(turn, '    ')}    return value\n", "<anyarray loop>", "exec")


def _fits(shape: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    """Whether two shapes are the same, as far as a trace knows."""
    if shape == other or len(shape) != len(other):
        return shape == other
    return all(None in pair or pair[0] == pair[1] for pair in zip(shape, other, strict=True))


# In Python, over nested values.


def while_in_python(carry: Carry, cond_fun: Function, body_fun: Function, value: Any) -> Any:
    truth(carry.name, cond_fun, cond_fun(value))
    return carry.looped(_WHILE, body_fun, value, cond=cond_fun)


def truth(name: str, function: Function, value: Any) -> Array:
    """What a condition returned, an Array of one truth value.

    Raises TypeError for anything else.
    """
    found = leaf(value)
    if found is None or found.ndim or found.dtype.kind != "b":
        came = type(value).__name__ if found is None else f"an Array of {found.dtype} of shape {tuple(found.shape)}"
        raise errors.ArgumentTypeError(
            f"{name}: {name_of(function)} must return one truth value without axes, not {came}. Reduce it: xp.all(...)"
        )
    return found


def count_in_python(carry: Carry, body_fun: Function, value: Any, counters: Iterator[Array]) -> Any:
    return carry.looped(_FOR, body_fun, value, turns=counters)


def scan_in_python(
    carry: Carry, f: Function, value: Any, xs: tuple[Structure, Natives], length: int, reverse: bool
) -> tuple[Any, Any]:
    home, (structure, natives) = carry.home, xs
    arrays = list(wrapped_on(natives, home))
    stacks = Stacks(carry.name, f, home, length)
    if not length:
        _, y = of_turn(carry.name, f, f(carry.value(carry.natives(f, value)), xs_of_zeros(home, structure, natives)))
        stacks.put(0, y)
        return value, stacks.value(reverse)
    if reverse:
        arrays = [one[::-1] for one in arrays]
    turns = zip(range(length)[:: -1 if reverse else 1], _elements(structure, arrays), strict=False)
    value = carry.looped(_SCAN, f, value, turns=turns, of_turn=of_turn, name=carry.name, put=stacks.put)
    return value, stacks.value(reverse)


def _elements(structure: Structure, arrays: Sequence[Array]) -> Iterable[Any]:
    """The elements of nested Arrays along their first axes."""
    if structure is LEAF:
        return arrays[0]
    if not arrays:
        return itertools.repeat(nested.unflatten(structure, iter(())))
    return (nested.unflatten(structure, iter(ones)) for ones in zip(*arrays, strict=True))


def xs_of_zeros(home: Home, structure: Structure, natives: Natives) -> Any:
    """An element of `xs` that has none: it tells what a function returns."""
    return nested.unflatten(structure, wrapped_on(_zeros(home, natives), home))


def _zeros(home: Home, xs: Natives) -> Natives:
    device = home.backend.native_device
    return [home.zeros(home.shape_of(x)[1:], dtype=home.dtype_of(x), device=device) for x in xs]


def of_turn(name: str, f: Function, result: Any) -> tuple[Any, Any]:
    """What the function of a scan returned. Raises TypeError for no pair."""
    wanted = "return a pair, the next carry and a result"
    return pair(name, f, result, wanted, "Return carry, None")


class Stacks:
    """What the turns of a scan return besides, stacked along a first axis."""

    def __init__(self, name: str, f: Function, home: Home, length: int) -> None:
        self._name = name
        self._f = f
        self._home = home
        self._length = length
        self._structure: Structure = None
        self._kinds: list[tuple[Any, tuple[int, ...]]] = []
        self._has_memory = home.has_views
        """Whether the stacks are memory that is written in place."""
        self._stacks: list[Any] = []
        self._dtype: Any = None
        self._scalar: Any = None
        """If there is one Array without axes, of NumPy: its class and dtype."""

    def put(self, at: int, y: Any) -> None:
        if y is None and self._structure == _NOTHING:
            return
        if type(y) is Array and type(y._value) is self._scalar:
            self._stacks[0][at] = y._value
            return
        home = self._home
        arrays: list[Array] = []
        structure = nested.flatten(y, arrays, leaf)
        natives = [native_on(one, home, self._name) for one in arrays]
        kinds = [(home.dtype_of(x), tuple(home.shape_of(x))) for x in natives]
        if self._structure is None:
            self._begin(structure, kinds, natives)
        elif structure != self._structure or kinds != self._kinds:
            raise errors.ArgumentTypeError(
                f"{self._name}: the stacked results of {name_of(self._f)} must have one structure, shape and dtype, "
                f"not {text_of(home, self._kinds)} in one iteration and {text_of(home, kinds)} in another"
            )
        if self._length:
            for stack, native in zip(self._stacks, natives, strict=True):
                if self._has_memory:
                    stack[at] = native
                else:
                    stack.append(native)

    def _begin(self, structure: Structure, kinds: list[tuple[Any, tuple[int, ...]]], natives: Natives) -> None:
        home = self._home
        self._structure, self._kinds = structure, kinds
        # Arrays that are differentiated or traced are not written in place, and so can be kept.
        self._has_memory &= not any(home.is_traced(x) or transfer.has_derivative(x, home.backend) for x in natives)
        device = home.backend.native_device
        if self._has_memory or not self._length:
            self._stacks = [home.empty((self._length, *shape), dtype=dtype, device=device) for dtype, shape in kinds]
        else:
            self._stacks = [[] for _ in kinds]
        if structure is LEAF and isinstance(natives[0], np.generic):
            self._scalar = type(natives[0])

    def value(self, reverse: bool) -> Any:
        home = self._home
        stacks = self._stacks
        if self._length and not self._has_memory:
            stacks = [home.stack(one[::-1] if reverse else one, axis=0) for one in stacks]
        return nested.unflatten(self._structure, iter([wrap(one, home) for one in stacks]))


_NOTHING: Final = Static(None)


def text_of(home: Home, kinds: Sequence[tuple[Any, tuple[int, ...]]]) -> str:
    """Dtypes and shapes, for a message."""
    return " and ".join([f"{home.dtypes[dtype]} of shape {shape}" for dtype, shape in kinds]) or "no Array"


def innermost(array: Array) -> tuple[Any, str]:
    """The object and attribute with the library's array, inside batches."""
    holder, attribute = array, "_native"
    while isinstance(getattr(holder, attribute), Batched):
        holder, attribute = getattr(holder, attribute), "stack"
    return holder, attribute


class Captured:
    """The Arrays of a trace that functions close over.

    Some libraries make graphs of their own of the functions, which may use nothing but their arguments.
    """

    def __init__(self, arrays: Sequence[Array], home: Home) -> None:
        self._holders: list[tuple[Any, str, int]] = []
        self.natives: Natives = []
        numbers: dict[int, int] = {}
        for array in arrays if home.backend.has_hook("TAKES_CAPTURED") else ():
            holder, attribute = innermost(array)
            native = getattr(holder, attribute)
            if home.backend.free.is_traced(native) and array._home.backend is home.backend:
                number = numbers.setdefault(id(native), len(numbers))
                if number == len(self.natives):
                    self.natives.append(native)
                self._holders.append((holder, attribute, number))

    def taken(self, function: Function, count: int) -> Function:
        """A function of so many arguments as one that takes these besides."""
        if not self._holders:
            return function

        def called(*xs: Any) -> Any:
            natives = xs[count:]
            before = [getattr(holder, attribute) for holder, attribute, _ in self._holders]
            try:
                for holder, attribute, number in self._holders:
                    setattr(holder, attribute, natives[number])
                return function(*xs[:count])
            finally:
                for (holder, attribute, _), native in zip(self._holders, before, strict=True):
                    setattr(holder, attribute, native)

        return called


# Flat native arrays: for a batch and in a trace.


def while_natives(home: Home, test: Function, body: Function, xs: Natives, captured: Captured) -> Natives:
    """The same loop over native arrays; `body` returns a list of them."""
    if isinstance(home, Batch):
        return _while_of_batch(home, test, body, xs, captured)
    if is_staged(home):
        test, body = captured.taken(test, len(xs)), captured.taken(body, len(xs))
        return list(home.while_loop(test, body, xs, captured.natives))
    while wrap(test(*xs), home):
        xs = body(*xs)
    return xs


def _while_of_batch(batch: Batch, test: Function, body: Function, xs: Natives, captured: Captured) -> Natives:
    """The loop goes on for all elements until none goes on.

    Those that do not keep their values.
    """
    below = batch.below

    def of_stacks(*stacks: Native) -> Natives:
        return [batch._batched(one) for one in stacks]

    def test_any(goes_on: Native, *_: Native) -> Native:
        return below.any(goes_on)

    def body_of_all(goes_on: Native, *stacks: Native) -> Natives:
        olds = of_stacks(*stacks)
        going = batch._batched(goes_on)
        news = [batch.where(going, new, old) for new, old in zip(body(*olds), olds, strict=True)]
        still = below.logical_and(goes_on, batch.stack_of(test(*news)))
        return [still, *map(batch.stack_of, news)]

    stacks = list(map(batch.stack_of, xs))
    goes_on = batch.stack_of(test(*of_stacks(*stacks)))
    return of_stacks(*while_natives(below, test_any, body_of_all, [goes_on, *stacks], captured)[1:])


class Turns(NamedTuple):
    """How a scan goes along its first axes."""

    length: int | None
    """None if a trace does not know it."""
    reverse: bool = False
    unroll: int = 1


def scan_natives(
    home: Home, body: Function, carry: Natives, xs: Natives, turns: Turns, captured: Captured
) -> tuple[Natives, Natives]:
    """A scan over native arrays; `body` returns two lists of them."""
    if isinstance(home, Batch):
        return _scan_of_batch(home, body, carry, xs, turns, captured)
    length, reverse, _ = turns
    if length == 0:
        device = home.backend.native_device
        _, ys = body(carry, _zeros(home, xs))
        return carry, [home.zeros((0, *home.shape_of(y)), dtype=home.dtype_of(y), device=device) for y in ys]
    if is_staged(home):
        body = captured.taken(body, 2)
        found, stacks = home.scan(body, carry, xs, *turns, captured.natives)
        return list(found), list(stacks)
    if length is None:
        raise errors.unknown_length("scan")
    rows: list[Natives] = []
    for at in reversed(range(length)) if reverse else range(length):
        carry, ys = body(carry, [home.getitem(x, at) for x in xs])
        rows.append(ys)
    rows = rows[::-1] if reverse else rows
    return carry, [home.stack(list(column), axis=0) for column in zip(*rows, strict=True)]


def _scan_of_batch(
    batch: Batch, body: Function, carry: Natives, xs: Natives, turns: Turns, captured: Captured
) -> tuple[Natives, Natives]:
    below = batch.below
    is_held = [batch.holds(x) for x in xs]

    def body_of_all(stacks: Natives, rows: Natives) -> tuple[Natives, Natives]:
        elements = [batch._batched(x) if held else x for x, held in zip(rows, is_held, strict=True)]
        found, ys = body([batch._batched(one) for one in stacks], elements)
        return list(map(batch.stack_of, found)), list(map(batch.stack_of, ys))

    rows = [below.moveaxis(x.stack, 1, 0) if held else x for x, held in zip(xs, is_held, strict=True)]
    stacks = list(map(batch.stack_of, carry))
    found, ys = scan_natives(below, body_of_all, stacks, rows, turns, captured)
    return [batch._batched(one) for one in found], [batch._batched(below.moveaxis(y, 0, 1)) for y in ys]


def switch_natives(home: Home, index: Native, branches: Sequence[Function], xs: Natives, captured: Captured) -> Natives:
    """What the branch of an index returns; the index is traced."""
    if isinstance(home, Batch) and not home.holds(index):

        def on_stacks(branch: Function) -> Function:
            return lambda *stacks: [home.stack_of(y) for y in branch(*[home._batched(one) for one in stacks])]

        stacks = list(map(home.stack_of, xs))
        found = switch_natives(home.below, index, list(map(on_stacks, branches)), stacks, captured)
        return [home._batched(one) for one in found]
    if not isinstance(home, Batch) and is_staged(home):
        taken = [captured.taken(one, len(xs)) for one in branches]
        return list(home.switch(index, taken, xs, captured.natives))
    # All branches run, and each result is chosen among theirs.
    first, *others = [branch(*xs) for branch in branches]
    for number, ys in enumerate(others, 1):
        is_it = home.equal(index, home.constants.named(number, home.dtype(index).name))
        first = [home.where(is_it, y, x) for x, y in zip(first, ys, strict=True)]
    return list(first)


def natives_of_results(name: str, home: Home, value: Any) -> tuple[Structure, Natives]:
    """What a function returned, as native arrays of `home`."""
    arrays: list[Array] = []
    structure = nested.flatten(value, arrays, leaf)
    return structure, [native_on(one, home, name) for one in arrays]
