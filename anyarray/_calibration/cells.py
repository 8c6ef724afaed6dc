"""The cells of a calibration: the functions measured, their sizes and inputs.

A class is measured by its first function at many sizes, and each other function at one of them, unless its declaration
says that it takes as long as another (`alike`). The kind of inputs is defined here for the class; their number and
dtypes follow from the declaration, or the option `timed` names a maker of inputs here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._call import diagnosis
from anyarray._call.declaration import ARRAY, SEQUENCE, WEAK, Declaration, declarations
from anyarray._choice import choice, cost
from anyarray._memory import alignment
from anyarray.standard import elementwise, fft, linalg, statistical
from anyarray.transforms import jit

Host = np.ndarray[Any, Any]
Maker = Callable[[np.random.Generator, int, Any], Any]
"""Makes an array of about n elements, or all inputs of a call."""


def _vector(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return uniform(n, np.dtype(dtype))


@functools.lru_cache(maxsize=len(cost.WIDTHS))
def uniform(n: int, dtype: np.dtype[Any]) -> Host:
    """The numbers with which most classes are measured.

    Cached, as classes are measured one after the other at a size.
    """
    numbers = np.resize(np.random.default_rng(0).uniform(0.1, 1.0, min(n, 1 << 20)).astype(dtype), n)
    numbers.flags.writeable = False
    return numbers


def _complex_vector(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return _vector(random, 2 * n, dtype).view(np.result_type(dtype, np.complex64))


def _numbers(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return random.integers(0, 1000, n).astype(f"i{np.dtype(dtype).itemsize}")


def _truths(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return random.random(n) < 0.5


def _matrix(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return random.standard_normal((round(n**0.5),) * 2).astype(dtype)


def _complex_matrix(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return _matrix(random, n, dtype).astype(np.result_type(dtype, np.complex64))


def _positive(random: np.random.Generator, n: int, dtype: Any) -> Host:
    a = _matrix(random, n, dtype)
    found: Host = a @ a.T + len(a) * np.eye(len(a), dtype=dtype)
    return found


def _short_rows(random: np.random.Generator, n: int, dtype: Any) -> Host:
    return _vector(random, n // cost.SHORT_ROW * cost.SHORT_ROW, dtype).reshape(-1, cost.SHORT_ROW)


def _over_rows(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    a = _vector(random, round((n / cost.SHORT_ROW) ** 0.5) * cost.SHORT_ROW, dtype).reshape(-1, 1, cost.SHORT_ROW)
    return a, a.reshape(1, -1, cost.SHORT_ROW)


def _slim(random: np.random.Generator, n: int, dtype: Any) -> Host:
    columns = round((n / cost.SLIMMEST) ** 0.5)
    return random.standard_normal((cost.SLIMMEST * columns, columns)).astype(dtype)


def _slim_and_square(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    a = _slim(random, n, dtype)
    return a, a[: a.shape[1]]


def _matrix_and_vector(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    a = _matrix(random, n, dtype)
    return a, a[0]


def _sought(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return np.sort(_vector(random, n, dtype)), _vector(random, n, dtype)


def _indices(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return _vector(random, n, dtype), random.integers(0, n, n)


def _beyond_one(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return (1 / _vector(random, n, dtype),)


def _shifted(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    return _numbers(random, n, dtype), _numbers(random, n, dtype) % 8


def _half_a_spectrum(random: np.random.Generator, n: int, dtype: Any) -> tuple[Host, ...]:
    # What a real transform of an even length gives: the length of the result tells how fast it can be.
    return (_complex_vector(random, n, dtype)[: n // 2 + 1],)


ODD: Final[dict[str, Maker]] = {
    "half a spectrum": _half_a_spectrum,
    "numbers beyond one": _beyond_one,
    "shifts": _shifted,
    "truths": lambda random, n, dtype: (_truths(random, n, dtype),),
}
"""Makers of inputs by the option `timed` of a declaration."""

LONG: Final = (1 << 6, 1 << 16, 1 << 20, 10_000_000, 1 << 26)
"""The second last is beyond 32 MiB, above which malloc maps new memory from the system for every array."""
ONE: Final = (1 << 20,)
"""For classes that grow as another one does."""
SQUARE: Final = (8**2, 128**2, 512**2, 1600**2, 4000**2)
SLIM: Final = tuple(cost.SLIMMEST * columns**2 for columns in (2, 16, 64, 200))


FUSED: Final = "fused"
"""The name of the compiled chain of elementwise calls, which is measured like a class."""


class Inputs(NamedTuple):
    """The inputs of a class."""

    sizes: tuple[int, ...] = LONG
    """In elements of 4 bytes."""
    each: Maker = _vector
    """Makes an array, which is passed for each array parameter."""
    all: Maker | None = None
    """Makes all inputs, if they differ."""


INPUTS: Final[dict[str, Inputs]] = {
    "arithmetic of short rows": Inputs(ONE, all=_over_rows),
    "sum of short rows": Inputs(ONE, _short_rows),
    "extremum of short rows": Inputs(ONE, _short_rows),
    "variance of short rows": Inputs(ONE, _short_rows),
    "search": Inputs(LONG, all=_sought),
    "unique": Inputs(LONG, _numbers),
    "matmul": Inputs(SQUARE, _matrix),
    "product of a slim matrix": Inputs(SLIM, all=_slim_and_square),
    "product with a vector": Inputs(SQUARE, all=_matrix_and_vector),
    "fft": Inputs(LONG, _complex_vector),
    "fft of columns": Inputs(ONE, _complex_matrix),
    "fft of all axes": Inputs(SQUARE, _complex_matrix),
    "solve": Inputs(SQUARE, _positive),
    "cholesky": Inputs(SQUARE, _positive),
    "qr": Inputs(SQUARE, _matrix),
    "qr of a slim matrix": Inputs(SLIM, _slim),
    "svd": Inputs(SQUARE, _matrix),
    "svd of a slim matrix": Inputs(SLIM, _slim),
    "eigh": Inputs(SQUARE, _positive),
    "gather": Inputs(LONG, all=_indices),
    FUSED: Inputs(LONG),
}
"""The inputs of the classes; vectors where a class is not named."""

_REAL: Final[dict[Maker, Maker]] = {_complex_vector: _vector, _complex_matrix: _matrix}


def _of_kinds(make: Maker, kinds: str) -> Maker:
    """A maker of arrays of dtype kinds that a function takes.

    They are as similar to those of its class as possible.
    """
    if "f" in kinds:
        return make if "c" in kinds else _REAL.get(make, make)
    return _truths if kinds == "b" else _complex_vector if kinds == "c" else _numbers


def _needed(declaration: Declaration, each: Maker, random: np.random.Generator, n: int, dtype: Any) -> tuple[Any, ...]:
    """All inputs of a function, lists of arrays included.

    The same array is passed for all parameters of the same kinds.
    """
    made: dict[Maker, Host] = {}
    inputs: list[Any] = []
    for p in declaration.parameters:
        if p.role in (ARRAY, WEAK, SEQUENCE) and not p.is_optional:
            make = _of_kinds(each, diagnosis.ACCEPTED[p.words])
            if make not in made:
                made[make] = make(random, n, dtype)
            inputs.append([made[make]] * 2 if p.role is SEQUENCE else made[make])
    return tuple(inputs)


def _chain(x: Any) -> Any:
    """A chain of elementwise calls, which a compiler fuses."""
    y = 1 / (1 + elementwise.exp(-x))
    return y * (1 - y) + elementwise.tanh(x) * 2 - x * x


MEANT: Final[Mapping[str, Callable[..., Any]]] = {
    FUSED: jit(_chain),
    "sum of short rows": functools.partial(statistical.sum, axis=-1),
    "extremum of short rows": functools.partial(statistical.max, axis=-1),
    "variance of short rows": functools.partial(statistical.var, axis=-1),
    "fft of columns": functools.partial(fft.fft, axis=0),
    "svd of a slim matrix": functools.partial(linalg.svd, full_matrices=False),
}
"""Where a class is measured with more than its first function and nothing else."""


@dataclass(frozen=True)
class Chained:
    """A function as NumPy runs it on large arrays: recorded with others."""

    function: Callable[..., Any]
    calls: int
    """The calls that the time counts for."""

    def __call__(self, *inputs: Any) -> Any:
        """The sum of four calls, which is not kept anywhere."""
        f = self.function
        with choice.fused():
            return f(*inputs) + f(*inputs) + f(*inputs) + f(*inputs)


@dataclass(frozen=True)
class Cell:
    """A class, or one of its other functions, at one width and one size."""

    kind: str
    width: int
    size: int
    """In elements of 4 bytes; of wider ones there are fewer."""
    other: str = ""
    """The function, if it is not the first of the class."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function to measure."""
        return MEANT.get(self.kind) or self._declaration.function

    @property
    def chained(self) -> Chained | None:
        """The function in a chain; None if none are made of it."""
        if self.kind == FUSED or not cost.CLASSES[WHOLE.get(self.kind, self.kind)].is_elementwise:
            return None
        return Chained(self.function, 4 if self.other or self.kind == "transcendental" else 7)  # with three sums

    @property
    def is_beyond_reused(self) -> bool:
        """Whether its arrays are larger than the blocks that malloc keeps."""
        return 4 * self.size > alignment.LARGEST_REUSED

    @property
    def _declaration(self) -> Declaration:
        return declarations[self.other or cost.CLASSES[self.kind].first]

    def inputs(self) -> tuple[Any, ...]:
        """NumPy arrays, or a list of them."""
        n, random, dtype = self.size * 4 // self.width, np.random.default_rng(0), np.dtype(f"f{self.width}")
        if self.kind == FUSED:
            return (_vector(random, n, dtype),)
        row = INPUTS.get(self.kind, Inputs())
        odd = self._declaration.timed
        make = ODD[odd] if odd else row.all
        made: tuple[Any, ...] = (
            make(random, n, dtype) if make else _needed(self._declaration, row.each, random, n, dtype)
        )
        return made

    def work(self, inputs: Sequence[Any]) -> float:
        """In the unit of the class; elements for the chain."""
        shapes = [a.shape for one in inputs for a in (one if isinstance(one, list) else [one])]
        return float(shapes[0][0]) if self.kind == FUSED else cost.CLASSES[self.kind].work(shapes).amount


def stages(largest: int) -> list[list[Cell]]:
    """All cells up to some size, in the order in which they are measured.

    The first stages are enough to choose by: small and middle sizes of every class. Then come the functions of the
    classes that differ most, matrices that take long, float32, large sizes, and the functions that differ less.
    """
    narrow, wide = cost.WIDTHS
    kinds = (*cost.CLASSES, FUSED)
    by_rank = [
        [Cell(kind, wide, n) for kind in kinds for n in sizes(kind)[i : i + 1] if n <= largest] for i in range(5)
    ]
    others = [Cell(kind, wide, middle(kind), name) for name, kind in _measured_others().items()]
    differing = [cell for cell in others if cell.kind in DIFFERING]
    return [
        *by_rank[:2],
        [cell for cell in by_rank[2] if growth(cell.kind) == 1.0],
        differing,
        [cell for cell in by_rank[2] if growth(cell.kind) != 1.0],
        [Cell(kind, narrow, middle(kind)) for kind in kinds if kind not in WHOLE],
        by_rank[3],
        [cell for cell in others if cell.kind not in DIFFERING],
        [Cell(cell.kind, narrow, cell.size, cell.other) for cell in differing],
        by_rank[4],
    ]


ENOUGH: Final = 2
"""The number of stages after which transfers are measured: then all is known roughly."""
DIFFERING: Final = ("transcendental",)
"""The classes whose functions differ most."""
WHOLE: Final = {row.slim: whole for whole, row in cost.CLASSES.items() if row.slim and INPUTS[row.slim].sizes is ONE}
"""The class that a class of short rows or of columns grows as."""


def growth(kind: str) -> float:
    """The usual growth of a class: large matrices are more efficient."""
    return 0.8 if sizes(kind) in (SQUARE, SLIM) and kind != "fft of all axes" else 1.0


def middle(kind: str) -> int:
    """The size of other functions and dtypes: about where moving pays."""
    return sizes(kind)[min(2, len(sizes(kind)) - 1)]


def _measured_others() -> dict[str, str]:
    """The class of each measured function, without the first of each class."""
    return {
        name: kind
        for name, kind in cost.class_of.items()
        if name != cost.CLASSES[kind].first and not declarations[name].alike
    }


def alike(function: str) -> list[str]:
    """The functions that are declared to take as long as a measured one."""
    return [name for name, declaration in declarations.items() if function and declaration.alike == function]


def sizes(kind: str) -> tuple[int, ...]:
    """The sizes of a class, in elements of 4 bytes."""
    return INPUTS[kind].sizes if kind in INPUTS else LONG
