"""Elementwise calls that are put off, and computed together by one kernel.

On a library that runs one kernel for each call, a chain of them reads and writes all elements each time. `Deferring`
is a home whose elementwise functions only note what is to be computed, where the backend's hook `fusible` allows it.
What needs values, as a reduction, and the end of the function have all that was noted computed at once, by the hook
`fused`; one call alone is made as ever. So `xp.jit` makes few kernels of a function, whose Python code runs each time.

What the host would read, and writes, are refused: the caller then runs the function as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._call.inner import Inner, Standing
from anyarray._registry.home import Constants, Home, Native, Step

MOST: Final = 64
"""The most calls in a kernel: compilers take the longer for each."""


class Deferred(Standing):
    """An array that is computed when its values are needed."""

    __slots__ = ("count", "dtype", "function", "operands", "shape", "value")

    base = None

    def __init__(
        self, home: Deferring, shape: tuple[int, ...], dtype: Any, function: str = "", operands: Sequence[Deferred] = ()
    ) -> None:
        self.home = home
        self.shape = shape
        self.dtype = dtype
        self.function = function
        self.operands = operands
        self.value: Native = None
        self.count: int = sum([one.count for one in operands], 1)
        """The number of calls that are put off, at most."""


class Gathered(NamedTuple):
    """The calls that lead to some, each after those that it reads."""

    calls: list[Deferred]
    operands: list[tuple[str, ...]]
    """For each call what it reads, as in a `Step`."""
    arrays: list[Any]
    """What else is read, as it is among the operands: `x0`, `x1` ..."""
    names: dict[int, str]
    """The names of all by the identities of their objects."""

    def steps(self, dtypes: Sequence[Any]) -> tuple[Step, ...]:
        """The calls as the hook `fused` takes them.

        `dtypes` are those of the arrays.
        """
        known = {f"x{number}": dtype for number, dtype in enumerate(dtypes)}
        found: list[Step] = []
        for number, (call, operands) in enumerate(zip(self.calls, self.operands, strict=True)):
            found.append(Step(call.function, operands, tuple([known[name] for name in operands]), call.dtype))
            known[f"v{number}"] = call.dtype
        return tuple(found)


def gathered(wanted: Sequence[Deferred]) -> Gathered:
    """The calls that lead to these, and what they read."""
    found = Gathered([], [], [], {})
    for one in wanted:
        _name(one, found)
    return found


def _name(x: Any, found: Gathered) -> str:
    """The name of a call, or of what one reads, added to those found."""
    name = found.names.get(id(x))
    if name is None:
        if isinstance(x, Deferred) and x.value is None:
            operands = tuple([_name(one, found) for one in x.operands])
            name = f"v{len(found.calls)}"
            found.calls.append(x)
            found.operands.append(operands)
        else:
            name = f"x{len(found.arrays)}"
            found.arrays.append(x)
        found.names[id(x)] = name
    return name


def _is_array(value: Any) -> bool:
    return type(value) is Deferred or (hasattr(value, "dtype") and hasattr(value, "shape"))


def _has_array(value: Any) -> bool:
    """Whether there is an array of the home below in a nest of values."""
    if isinstance(value, (tuple, list)):
        return any(map(_has_array, value))
    return type(value) is not Deferred and _is_array(value)


class Deferring(Inner):
    """A home that puts elementwise calls off."""

    def __init__(self, below: Home) -> None:
        super().__init__(below)
        self._fusible: Callable[..., Any] = self.backend.hook("fusible")
        self._fused: Callable[..., Callable[..., Any]] = self.backend.hook("fused")
        self.constants = Constants(self)
        self.has_fused = False
        """Whether several calls were computed together."""
        self.is_mixed = False
        """Whether anything besides elementwise calls on what was given was done with arrays of this home."""
        self.program: tuple[Callable[..., Any], Sequence[Deferred]] | None = None
        """The kernel and its arguments, if one has computed all that was done."""

    def constant(self, value: Any, name: str, function: str = "asarray") -> Native:
        return self.given(self.below.constants.named(value, name))

    def given(self, x: Native) -> Deferred:
        """An array of the home below; nothing is written to it meanwhile."""
        found = Deferred(self, tuple(self.below.shape_of(x)), self.below.dtype_of(x))
        found.value, found.count = x, 0
        return found

    def lookup(self, name: str) -> Callable[..., Any]:
        below = getattr(self.below, name)

        def put_off(*args: Any, **kwargs: Any) -> Any:
            given = (*args, *kwargs.values())
            if name == "setitem" or (not self.is_open and self.is_within(given)):
                self.refuse(name)
            if not self.is_within(given):
                return below(*args, **kwargs)
            operands = args[:1] if name == "astype" else args
            dtype = None
            if not kwargs and all(map(_is_array, operands)):
                dtype = self._fusible(name, tuple([one.dtype for one in operands]), *args[len(operands) :])
            # What comes from outside the function may be written before the kernel runs.
            is_ours = not _has_array(given)
            if dtype is not None and is_ours:
                found = self._put_off(name, operands, dtype)
                if found is not None:
                    return found
            self.is_mixed, self.program = True, None
            result = below(*self._values_in(args), **{key: self._values_in(one) for key, one in kwargs.items()})
            return self._given_in(result) if is_ours or dtype is not None else result

        return put_off

    def _put_off(self, name: str, operands: Sequence[Deferred], dtype: Any) -> Deferred | None:
        """The call, put off; None if the shapes do not broadcast."""
        shapes = {one.shape for one in operands}
        try:
            shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        except ValueError:
            return None
        # A kernel computes all at the shape of its results: what is smaller is computed before, not again and again.
        is_long = sum([one.count for one in operands]) >= MOST
        self.values([one for one in operands if is_long or one.shape != shape])
        return Deferred(self, shape, dtype, name, operands)

    def _given_in(self, value: Any) -> Any:
        """The same with all arrays of the home below as arrays of this."""
        if isinstance(value, (tuple, list)):
            return tuple(map(self._given_in, value))
        return self.given(value) if _is_array(value) and not self.holds(value) else value

    def _values_in(self, value: Any) -> Any:
        """The same with the values of all arrays of this home."""
        if isinstance(value, (tuple, list)):
            return type(value)(map(self._values_in, value))
        return self.values([value])[0] if self.holds(value) else value

    def values_of(self, xs: Sequence[Native]) -> list[Native]:
        """As `values`; arrays of the home below stay."""
        self.values([x for x in xs if self.holds(x)])
        return [x.value if self.holds(x) else x for x in xs]

    def values(self, xs: Sequence[Deferred]) -> list[Native]:
        """The values of arrays, computed now unless they are there."""
        wanted = {id(x): x for x in xs if x.value is None}
        for shape in {x.shape for x in wanted.values()}:
            self._compute([x for x in wanted.values() if x.shape == shape])
        return [x.value for x in xs]

    def _compute(self, wanted: Sequence[Deferred]) -> None:
        """Compute arrays of one shape."""
        chain = gathered(wanted)
        if len(chain.calls) == 1:
            found: Sequence[Native] = [self._called(wanted[0])]
            self.is_mixed, self.program = True, None
        else:
            dtypes = tuple([one.dtype for one in chain.arrays])
            unscoped = self._fused(chain.steps(dtypes), dtypes, tuple([chain.names[id(x)] for x in wanted]))
            kernel = self.backend.hook("scoped")(unscoped, self.backend.native_device)
            made = kernel(*[one.value for one in chain.arrays])
            found = made if len(wanted) > 1 else [made]
            self.program = None if self.has_fused or self.is_mixed else (kernel, chain.arrays)
            self.has_fused = True
        for x, value in zip(wanted, found, strict=True):
            x.value, x.count, x.operands = value, 0, ()

    def _called(self, x: Deferred) -> Native:
        more = [x.dtype] if x.function == "astype" else []
        return getattr(self.below, x.function)(*self._values_in(list(x.operands)), *more)

    def shape_of(self, x: Native) -> tuple[int, ...]:
        shape: tuple[int, ...] = x.shape if self.holds(x) else self.below.shape_of(x)
        return shape

    def dtype_of(self, x: Native) -> Any:
        """Dtype, as on the home below."""
        return x.dtype if self.holds(x) else self.below.dtype_of(x)

    def base_of(self, x: Native) -> Any:
        """What the array is a view of; None for no view."""
        return None if self.holds(x) else self.below.base_of(x)
