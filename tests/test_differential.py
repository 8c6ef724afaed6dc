"""Every function of the standard on every backend, against array-api-strict.

The inputs are the same; compared are values, dtype and shape. One row of `CASES` for each function says how its
arguments are drawn and how its results are compared; a test asserts that no function is missing. Arguments hold
ndarrays and NumPy's dtypes, which each side gets as its own.

What is not drawn, and why:

- Subnormal numbers. The standard leaves their support open; XLA and TensorFlow take them for zero.
- Complex numbers that are not finite, quotients of complex numbers by zero and complex powers of zero. The standard
  leaves most of this arithmetic open, and C compilers differ.
- Sums and products of numbers of very different size: they depend on the order of additions, which is open.
  The numbers of `MODERATE` are short in binary, so that their sums are exact in any order.
- What the standard calls undefined: negative shifts, negative integer exponents, floats that do not fit an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import array_api_strict
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from comparison import assert_same, host
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_signatures import FUNCTIONS, NEWER, named

import anyarray as xp

# NumPy, below array-api-strict and as a backend, warns of divisions by zero and overflows, which are drawn on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@dataclass(frozen=True)
class Call:
    """Arguments of a function, with ndarrays and NumPy's dtypes in them."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def run(self, namespace: Any, function: str) -> Any:
        arguments = [self._of(namespace, one) for one in self.args]
        keywords = {name: self._of(namespace, value) for name, value in self.kwargs.items()}
        return named(namespace, function)(*arguments, **keywords)

    def _of(self, namespace: Any, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return namespace.asarray(value)
        if isinstance(value, np.dtype):
            return getattr(namespace, value.name)
        if isinstance(value, list):
            return [self._of(namespace, one) for one in value]
        return value


Compare = Callable[[Any, Any, Call], None]
Draw = st.SearchStrategy[Call]


BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGER = SIGNED + UNSIGNED
REAL = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
FLOATING = REAL + COMPLEX
REAL_NUMERIC = INTEGER + REAL
NUMERIC = REAL_NUMERIC + COMPLEX
ALL = BOOL + NUMERIC

# Few shapes, as JAX compiles anew for each.
SHAPES: Final = [(), (0,), (1,), (5,), (2, 3), (3, 0), (2, 1, 3)]
WITH_AXES: Final = [shape for shape in SHAPES if shape]
NOT_EMPTY: Final = [(1,), (5,), (2, 3), (2, 1, 3)]
PAIRS: Final = [
    ((), ()), ((5,), (5,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (5,)), ((5,), ()), ((0,), (1,)), ((2, 0), (2, 1)),
]  # fmt: skip

MODERATE: Final = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 12.0]


def special(dtype: str) -> list[Any]:
    """Values of a dtype at which functions are likely to be wrong."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [True, False]
    if kind in "iu":
        info = np.iinfo(dtype)
        ends = [-1, -2, -5, info.min + 1] if kind == "i" else [info.max - 1]
        return [info.min, info.max, 0, 1, 2, 3, 7, 100, *ends]
    if kind == "c":
        return [complex(a, b) for a in (0.0, -0.0, 1.0, -2.5, 0.5) for b in (0.0, -0.0, 1.5, -1.0)]
    limits = np.finfo(dtype)
    tiny, largest, eps = (float(v) for v in (limits.smallest_normal, limits.max, limits.eps))
    extremes = [tiny, -tiny, largest, -largest, eps, 1.0 + eps]
    return [*MODERATE, np.nan, np.inf, -np.inf, *extremes, 1e-3, 0.7, -0.3, 88.0, 1e10]


def moderate(dtype: str) -> list[Any]:
    """Values that add and multiply exactly, NaN and infinities among them."""
    return [*finite(dtype), np.nan, np.inf, -np.inf] if np.dtype(dtype).kind == "f" else finite(dtype)


def finite(dtype: str) -> list[Any]:
    """Values of a dtype that can be added and multiplied exactly."""
    return MODERATE if np.dtype(dtype).kind == "f" else special(dtype)


def divisors(dtype: str) -> list[Any]:
    """As `special`, but no complex zero."""
    return [value for value in special(dtype) if value != 0 or np.dtype(dtype).kind != "c"]


Pool = Callable[[str], list[Any]]


@st.composite
def arrays(
    draw: st.DrawFn, dtypes: list[str], shapes: list[tuple[int, ...]] = SHAPES, pool: Pool = special
) -> np.ndarray[Any, Any]:
    """An ndarray with elements of the pool of its dtype."""
    dtype, shape, seed = draw(st.sampled_from(dtypes)), draw(st.sampled_from(shapes)), draw(st.integers(0, 2**32 - 1))
    values = np.asarray(pool(dtype), dtype)
    return np.asarray(values[np.random.default_rng(seed).integers(values.size, size=shape)])


def axes_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[int]:
    return st.integers(-a.ndim, a.ndim - 1)


def several_axes_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    """None, an axis or a tuple of axes."""
    if not a.ndim:
        return st.just(None)
    tuples = st.lists(st.integers(0, a.ndim - 1), unique=True, max_size=a.ndim).map(tuple)
    return st.one_of(st.none(), axes_of(a), tuples)


def exactly(got: Any, expected: Any, call: Call) -> None:
    """Equal but for rounding; tuples one by one."""
    several = isinstance(expected, tuple)
    for one, other in zip(got if several else [got], expected if several else [expected], strict=True):
        assert_same(one, other)


def with_zeros(got: Any, expected: Any, call: Call) -> None:
    """As `exactly`, and zeros of the same sign."""
    assert_same(got, expected, zeros=True)


def exactly_unless_real(got: Any, expected: Any, call: Call) -> None:
    """As `exactly` for complex numbers, as `with_zeros` for real ones."""
    assert_same(got, expected, zeros=host(expected).dtype.kind == "f", looser=10)


def scaled(got: Any, expected: Any, call: Call) -> None:
    """As `exactly`, 100 times looser, relative to the largest element."""
    several = isinstance(expected, tuple)
    for one, other in zip(got if several else [got], expected if several else [expected], strict=True):
        assert_same(one, other, looser=100, scaled=True)


def by_shape(got: Any, expected: Any, call: Call) -> None:
    assert (got.shape, str(got.dtype)) == (expected.shape, host(expected).dtype.name)


def by_text(got: Any, expected: Any, call: Call) -> None:
    """Plain Python results: shapes, bools, dtypes by name."""
    assert str(got).removeprefix("anyarray.") == str(expected).removeprefix("array_api_strict.")


def by_limits(got: Any, expected: Any, call: Call) -> None:
    assert (got.bits, got.max, got.min) == (expected.bits, expected.max, expected.min)
    by_text(got.dtype, expected.dtype, call)


def alike(got: Any, expected: Any) -> None:
    several = isinstance(expected, tuple)
    for one, other in zip(got if several else [got], expected if several else [expected], strict=True):
        by_shape(one, other, Call())


def matrix(got: Any) -> np.ndarray[Any, Any]:
    """In double precision, for checks that multiply results."""
    found = host(got)
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)


def assert_product(product: np.ndarray[Any, Any], call: Call) -> None:
    """Assert that factors give the argument, to the precision of its dtype."""
    x = call.args[0]
    np.testing.assert_allclose(product, x, atol=coarse(x) * max(1, np.abs(x).max(initial=0)))


def coarse(x: np.ndarray[Any, Any]) -> float:
    """What an algorithm of many steps may lose, relative to its numbers."""
    return 1e-4 if x.dtype.name in ("float32", "complex64") else 1e-10


def conjugate_transpose(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.conj(np.swapaxes(a, -1, -2))


def by_svd(got: Any, expected: Any, call: Call) -> None:
    """Singular vectors are open in sign: compare the values, and multiply."""
    alike(got, expected)
    scaled(got.S, expected.S, call)
    k = got.S.shape[-1]
    u, s, vh = matrix(got.U)[..., :k], matrix(got.S), matrix(got.Vh)[..., :k, :]
    assert_product((u * s[..., None, :]) @ vh, call)


def by_qr(got: Any, expected: Any, call: Call) -> None:
    """Signs are open: R is triangular, Q unitary, and Q R the argument."""
    alike(got, expected)
    q, r = matrix(got.Q), matrix(got.R)
    np.testing.assert_array_equal(r, np.triu(r))
    np.testing.assert_allclose(
        conjugate_transpose(q) @ q, 0 * (conjugate_transpose(q) @ q) + np.eye(q.shape[-1]), atol=1e-4
    )
    assert_product(q @ r, call)


def by_eigenvectors(got: Any, expected: Any, call: Call) -> None:
    """Eigenvectors are open in a factor: compare the values, and multiply."""
    values, vectors = matrix(got[0]), matrix(got[1])
    alike(got, expected)
    by_eigenvalues(got[0], expected[0], call)
    # Both sides are of the size of the matrix, whose elements are below 20.
    np.testing.assert_allclose(call.args[0] @ vectors, vectors * values[..., None, :], atol=20 * coarse(call.args[0]))


def by_eigenvalues(got: Any, expected: Any, call: Call) -> None:
    """In any order."""
    alike(got, expected)
    first, second = np.sort_complex(matrix(got).round(3)), np.sort_complex(matrix(expected).round(3))
    np.testing.assert_allclose(first, second, atol=2e-3)


def by_order(got: Any, expected: Any, call: Call) -> None:
    """Indices that sort: the same ones if stable, else the same elements."""
    alike(got, expected)
    axis = call.kwargs.get("axis", -1)
    if call.kwargs.get("stable", True):
        np.testing.assert_array_equal(host(got), host(expected))
    else:
        x = call.args[0]
        taken = [np.take_along_axis(x, host(indices), axis) for indices in (got, expected)]
        np.testing.assert_array_equal(*taken)


_MIXED: Final = "int8,int32 uint8,int16 uint16,uint64 float32,float64 complex64,float64 float32,complex64"
MIXED: Final[list[tuple[Any, ...]]] = [tuple(pair.split(",")) for pair in _MIXED.split()]


def promoting(dtypes: list[str]) -> list[tuple[str, str]]:
    """Pairs of equal dtypes, and of some that the standard promotes."""
    return [(dtype, dtype) for dtype in dtypes] + [pair for pair in MIXED if set(pair) <= set(dtypes)]


def beside_complex(pool: Pool) -> Pool:
    """Finite values; without zero if the complex side has none."""
    has_zero = 0 in pool("complex64")
    return lambda dtype: pool(dtype) if np.dtype(dtype).kind == "c" else [v for v in MODERATE if v or has_zero]


@st.composite
def binary(draw: st.DrawFn, dtypes: list[str], first_pool: Pool = special, second_pool: Pool = special) -> Call:
    pair, shapes = draw(st.sampled_from(promoting(dtypes))), draw(st.sampled_from(PAIRS))
    pools = [first_pool, second_pool]
    if any(dtype in COMPLEX for dtype in pair):
        pools = [beside_complex(pool) for pool in pools]
    drawn = [draw(arrays([dtype], [shape], pool)) for dtype, shape, pool in zip(pair, shapes, pools, strict=True)]
    return Call(tuple(drawn))


def exponents(dtype: str) -> list[Any]:
    """Exponents and shifts of a dtype: no negative integer or complex zero."""
    return [value for value in divisors(dtype) if np.dtype(dtype).kind not in "iu" or 0 <= value <= 100]


@dataclass(frozen=True)
class Elementwise:
    """A function of arrays, its dtypes, a comparison, and pools of values."""

    arity: int
    dtypes: list[str]
    compare: Compare
    first: Pool
    second: Pool

    def draw(self) -> Draw:
        if self.arity == 1:
            return arrays(self.dtypes, pool=self.first).map(lambda x: Call((x,)))
        return binary(self.dtypes, self.first, self.second)

    def grid(self, dtype: str) -> Call:
        """All values of a dtype, or all pairs."""
        x1, x2 = (np.asarray(pool(dtype), dtype=dtype) for pool in (self.first, self.second))
        return Call((x1,)) if self.arity == 1 else Call((x1[:, None], x2))


def elementwise(
    names: str, arity: int, dtypes: list[str], compare: Compare = exactly, first: Pool = special, second: Pool = special
) -> dict[str, Elementwise]:
    """One row for each of the names."""
    return dict.fromkeys(names.split(), Elementwise(arity, dtypes, compare, first, second))


@st.composite
def clips(draw: st.DrawFn) -> Call:
    x = draw(arrays(REAL_NUMERIC))
    bounds = []
    for _ in range(2):
        as_array = arrays([x.dtype.name], [x.shape, ()])
        as_scalar = st.sampled_from([v for v in (0, 1, 2) if x.dtype.kind in "iu"] or MODERATE)
        bounds.append(draw(st.one_of(st.none(), as_array, as_scalar)))
    low, high = bounds
    if low is not None and high is not None:
        assume(not np.any(np.greater(low, high)))  # open; array-api-strict raises, NumPy takes `max`
    return Call((x, *bounds))


def of(x: st.SearchStrategy[Any], *args: Any, **kwargs: Any) -> Draw:
    """Calls of an array, with strategies, or functions of it that give one."""

    @st.composite
    def call(draw: st.DrawFn) -> Call:
        first = draw(x)

        def drawn(one: Any) -> Any:
            return draw(one(first) if callable(one) else one)

        return Call((first, *map(drawn, args)), {name: drawn(one) for name, one in kwargs.items()})

    return call()


flags: Final = st.booleans()
small: Final = st.integers(-2, 2)


def some_axes_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    return several_axes_of(a).filter(lambda axis: axis != ())


def maybe_axis_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), axes_of(a)) if a.ndim else st.none()


def wider_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    return maybe_dtypes_of([{"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[a.dtype.kind]])


def maybe_dtypes_of(names: list[str]) -> st.SearchStrategy[Any]:
    return st.sampled_from([None, *map(np.dtype, names)])


def reductions(dtypes: list[str], pool: Pool = moderate, shapes: list[tuple[int, ...]] = SHAPES, **more: Any) -> Draw:
    return of(arrays(dtypes, shapes, pool), **{"axis": several_axes_of, "keepdims": flags} | more)


SCALARS: Final = [True, False, 0, 3, -7, 2.5, -0.0, float("nan"), float("inf"), 1 - 2j]
FITTING: Final = {bool: ALL, int: INTEGER[:4] + FLOATING, float: FLOATING, complex: COMPLEX}
"""dtypes that a Python scalar can be written in without loss of kind."""
shapes = st.sampled_from(SHAPES)
maybe_dtype = maybe_dtypes_of(ALL)


@st.composite
def fills(draw: st.DrawFn, is_like: bool) -> Call:
    value = draw(st.sampled_from(SCALARS))
    fitting = FITTING[type(value)]
    return Call((draw(arrays(fitting) if is_like else shapes), value), {"dtype": draw(maybe_dtypes_of(fitting))})


@st.composite
def ranges(draw: st.DrawFn) -> Call:
    numbers = draw(st.sampled_from([[0, 1, -3, 10], [0.0, 0.5, -2.5, 4.0]]))
    one = st.sampled_from(numbers)
    form = draw(st.integers(1, 3))
    args = [draw(one) for _ in range(form)]
    if form == 3:
        args[2] = draw(st.sampled_from([1, -1, 3, -2] if isinstance(numbers[0], int) else [0.5, -0.25, 1.5]))
    dtypes = maybe_dtypes_of((SIGNED if isinstance(numbers[0], int) else []) + REAL)
    return Call(tuple(args), {"dtype": draw(dtypes)})


@st.composite
def linspaces(draw: st.DrawFn) -> Call:
    is_complex = draw(st.booleans())
    bound = st.sampled_from([0.0, 1.0, -2.5, 3, 1 - 2j] if is_complex else [0.0, 1.0, -2.5, 3, 1e6])
    start, stop = draw(bound), draw(bound)
    fitting = COMPLEX if isinstance(start, complex) or isinstance(stop, complex) else FLOATING
    return Call(
        (start, stop, draw(st.integers(0, 6))), {"dtype": draw(maybe_dtypes_of(fitting)), "endpoint": draw(flags)}
    )


@st.composite
def takes(draw: st.DrawFn) -> Call:
    x = draw(arrays(ALL, NOT_EMPTY))
    axis = draw(axes_of(x))
    positions = st.integers(0, x.shape[axis] - 1)
    indices = draw(hnp.arrays(draw(st.sampled_from(INTEGER)), st.sampled_from([0, 1, 4]), elements=positions))
    return Call((x, indices), {"axis": axis if x.ndim > 1 else draw(st.sampled_from([axis, None]))})


@st.composite
def takes_along(draw: st.DrawFn) -> Call:
    x = draw(arrays(ALL, NOT_EMPTY))
    axis = draw(axes_of(x))
    shape = list(x.shape)
    shape[axis] = draw(st.sampled_from([0, 1, 4]))
    n = x.shape[axis]
    return Call((x, draw(hnp.arrays(np.int64, tuple(shape), elements=st.integers(-n, n - 1)))), {"axis": axis})


PRODUCTS: Final = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 1)), ((2, 1, 2, 3), (4, 3, 2)),
    ((0, 3), (3, 2)), ((2, 0), (0, 3)),
]  # fmt: skip
TENSORDOTS: Final[list[tuple[Any, Any]]] = [
    (((2, 3), (3, 4)), 1), (((2, 3), (2, 3)), 2), (((2,), (3,)), 0), (((2, 3, 4), (4, 3, 5)), ((1, 2), (1, 0))),
    (((2, 0), (0, 3)), 1), (((), (2,)), 0),
]  # fmt: skip
VECDOTS: Final[list[tuple[Any, Any]]] = [
    (((3,), (3,)), -1), (((2, 3), (3,)), -1), (((2, 3), (2, 1)), -2), (((4, 1, 3), (5, 3)), -1), (((2, 0), (2, 0)), -1),
]  # fmt: skip
CROSSES: Final[list[tuple[Any, Any]]] = [
    (((3,), (3,)), -1), (((2, 3), (3,)), -1), (((3, 2), (3, 2)), -2), (((4, 1, 3), (2, 3)), -1)
]  # fmt: skip
"""Shapes of two arrays, and the axes of their products."""


@st.composite
def products(draw: st.DrawFn, pairs: list[Any] = PRODUCTS, dtypes: list[str] = NUMERIC, **kwargs: Any) -> Call:
    first, second = draw(st.sampled_from(promoting(dtypes)))
    shapes = draw(st.sampled_from(pairs))
    return Call((draw(arrays([first], [shapes[0]], finite)), draw(arrays([second], [shapes[1]], finite))), kwargs)


def products_along(rows: list[tuple[Any, Any]], name: str = "axis") -> Draw:
    return st.sampled_from(rows).flatmap(lambda row: products([row[0]], **{name: row[1]}))


@st.composite
def joins(draw: st.DrawFn, stacking: bool) -> Call:
    dtypes = draw(st.sampled_from(promoting(ALL)))
    shape = draw(st.sampled_from([(2,), (2, 3), (0, 2)] + ([()] if stacking else [])))
    xs = [draw(arrays([dtypes[i % 2]], [shape])) for i in range(draw(st.integers(1, 3)))]
    ndim = len(shape) + stacking
    axis = draw(st.integers(-ndim, ndim - 1))
    return Call((xs,), {"axis": axis if stacking else draw(st.sampled_from([axis, None]))})


RESHAPES: Final[dict[int, list[tuple[int, ...]]]] = {
    0: [(0,), (0, 4), (2, 0)],
    1: [(), (1,), (1, 1), (-1,)],
    5: [(5,), (-1,), (1, 5)],
    6: [(6,), (3, 2), (-1, 2), (2, 1, 3)],
}
"""Shapes, by the number of elements."""


@st.composite
def rolls(draw: st.DrawFn) -> Call:
    x = draw(arrays(ALL, WITH_AXES))
    axis = draw(several_axes_of(x))
    shift = draw(st.integers(-7, 7))
    if isinstance(axis, tuple) and draw(st.booleans()):
        shift = tuple(range(shift, shift + len(axis)))
    return Call((x, shift), {"axis": axis})


@st.composite
def repeats(draw: st.DrawFn) -> Call:
    x = draw(arrays(ALL, WITH_AXES))
    axis = draw(st.one_of(st.none(), axes_of(x)))
    n = x.size if axis is None else x.shape[axis]
    counts = hnp.arrays(np.int64, n, elements=st.integers(0, 3))
    return Call((x, draw(st.one_of(st.integers(0, 3), counts))), {"axis": axis})


@st.composite
def moves(draw: st.DrawFn) -> Call:
    x = draw(arrays(ALL, WITH_AXES))
    k = draw(st.integers(0, x.ndim))
    source, destination = (tuple(draw(st.permutations(range(x.ndim)))[:k]) for _ in range(2))
    return Call((x, source, destination) if k != 1 else (x, source[0], destination[0] - x.ndim))


def new_axes_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    many = st.lists(st.integers(0, a.ndim + 1), unique=True, min_size=2, max_size=2).map(tuple)
    return st.one_of(st.integers(-a.ndim - 1, a.ndim), many)


BROADCASTS: Final = [((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1,), (0,)), ((2, 0), (3, 2, 0))]
"""Shapes, and others to which they broadcast."""

SQUEEZES: Final[list[Any]] = [
    ((1,), 0), ((2, 1, 3), 1), ((2, 1, 3), -2), ((1, 1), (0, 1)), ((1, 1), (0, -1)), ((2, 1), ()), ((0, 1), 1)
]  # fmt: skip
"""Shapes, and axes of length 1."""


TILES: Final = [(), (1,), (2,), (0,), (2, 3), (1, 2, 1), (2, 1, 1, 2)]


def with_argument(rows: list[Any]) -> Draw:
    return st.sampled_from(rows).flatmap(lambda row: of(arrays(ALL, [row[0]]), st.just(row[1])))


@st.composite
def searches(draw: st.DrawFn) -> Call:
    first, second = draw(st.sampled_from(promoting(REAL_NUMERIC)))
    x1 = draw(arrays([first], [(0,), (1,), (5,)]))
    order = np.argsort(x1, stable=True)
    sorter = draw(st.sampled_from([None, order]))
    x2 = draw(arrays([second], SHAPES))
    kwargs = {"side": draw(st.sampled_from(["left", "right"])), "sorter": sorter}
    return Call((x1 if sorter is not None else x1[order], x2), kwargs)


@st.composite
def wheres(draw: st.DrawFn) -> Call:
    call = draw(binary(ALL))
    condition = draw(arrays(BOOL, [np.broadcast_shapes(*(x.shape for x in call.args)), ()]))
    return Call((condition, *call.args))


@st.composite
def memberships(draw: st.DrawFn) -> Call:
    first, second = draw(st.sampled_from(promoting(INTEGER)))
    return Call((draw(arrays([first])), draw(arrays([second]))), {"invert": draw(st.booleans())})


def ends_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), arrays([a.dtype.name], [a.shape], finite))


def casts_of(a: np.ndarray[Any, Any]) -> st.SearchStrategy[Any]:
    return dtypes_of({"b": ALL, "i": ALL, "u": ALL, "f": BOOL + FLOATING, "c": COMPLEX}[a.dtype.kind])


KINDS: Final = ["bool", "signed integer", "integral", "numeric", ("bool", "real floating"), ()]


def dtypes_of(names: list[str]) -> st.SearchStrategy[np.dtype[Any]]:
    return st.sampled_from(names).map(np.dtype)


def dtype_pairs() -> Draw:
    return st.sampled_from(promoting(ALL)).map(lambda pair: Call(tuple(map(np.dtype, pair))))


@st.composite
def grids(draw: st.DrawFn) -> Call:
    xs = draw(st.lists(arrays(["float64"], [(0,), (1,), (3,)]), min_size=1, max_size=3))
    return Call(tuple(xs), {"indexing": draw(st.sampled_from(["xy", "ij"]))})


MATRICES: Final = [(1, 1), (3, 3), (2, 3, 3), (0, 0), (0, 2, 2)]
RECTANGULAR: Final = [(2, 3), (3, 2), (3, 3), (2, 2, 3), (0, 2, 3)]


@st.composite
def square_matrices(
    draw: st.DrawFn, kind: str, dtypes: list[str] = FLOATING, shapes: list[Any] = MATRICES
) -> np.ndarray[Any, Any]:
    """Well-conditioned matrices: small integers and a strong diagonal.

    They are hermitian or positive definite if asked for.
    """
    dtype, shape = draw(st.sampled_from(dtypes)), draw(st.sampled_from(shapes))
    parts = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(-2, 3, (2, *shape))
    x = parts[0] if np.dtype(dtype).kind == "f" else parts[0] + 1j * parts[1]
    n = shape[-1]
    diagonal = np.diag(np.asarray([7, -9, 12][:n])).astype(dtype)
    if kind == "hermitian":
        return ((x + conjugate_transpose(x)) / 2 + diagonal).astype(dtype)
    if kind == "positive":
        return (x @ conjugate_transpose(x) + 3 * np.eye(n)).astype(dtype)
    return (x + diagonal).astype(dtype)


def of_matrices(kind: str = "general", *args: Any, **more: Any) -> Draw:
    return of(square_matrices(kind), *args, **more)


def of_rectangles(**more: Any) -> Draw:
    return of(arrays(FLOATING, RECTANGULAR, finite), **more)


@st.composite
def systems(draw: st.DrawFn) -> Call:
    dtype = draw(st.sampled_from(FLOATING))
    pairs = [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 1)), ((1, 1), (1,)), ((0, 0), (0,))]
    first, second = draw(st.sampled_from(pairs))
    return Call((draw(square_matrices("general", [dtype], [first])), draw(arrays([dtype], [second], finite))))


ORDERS: Final = [0, 1, 2, 3, np.inf, -np.inf, -1, 0.5]
NORMS: Final = ["backward", "ortho", "forward"]


@st.composite
def transforms(draw: st.DrawFn, dtypes: list[str], real_result: bool = False) -> Call:
    x = draw(arrays(dtypes, [(1,), (4,), (5,), (2, 6)], finite))
    n = draw(st.sampled_from([None, 2, 4, 7]))
    if real_result and n is None and x.shape[-1] == 1:
        n = 2  # of a single number no real signal follows
    axis = draw(axes_of(x)) if n is not None else -1
    return Call((x,), {"n": n, "axis": axis, "norm": draw(st.sampled_from(NORMS))})


@st.composite
def transforms_n(draw: st.DrawFn, dtypes: list[str]) -> Call:
    x = draw(arrays(dtypes, [(4,), (2, 3), (2, 3, 4)], finite))
    axes = draw(st.sampled_from([None, (-1,), (0,), tuple(range(x.ndim))]))
    s = None if axes is None else draw(st.sampled_from([None, (4,) * len(axes), (2, 3, 5)[: len(axes)]]))
    return Call((x,), {"s": s, "axes": axes, "norm": draw(st.sampled_from(NORMS))})


def frequencies() -> Draw:
    return no_arrays(st.integers(1, 7), d=st.sampled_from([1.0, 0.25]), dtype=maybe_dtypes_of(REAL))


def no_arrays(*args: st.SearchStrategy[Any], **kwargs: st.SearchStrategy[Any]) -> Draw:
    return st.builds(Call, st.tuples(*args), st.fixed_dictionaries(kwargs))


def of_array(
    dtypes: list[str] = ALL, shapes: list[tuple[int, ...]] = SHAPES, pool: Pool = special, *args: Any, **more: Any
) -> Draw:
    return of(arrays(dtypes, shapes, pool), *args, **more)


def rows(names: str, draw: Draw, compare: Compare = exactly) -> dict[str, tuple[Draw, Compare]]:
    """One row for each of the names."""
    return dict.fromkeys(names.split(), (draw, compare))


OF_ONE_FLOAT: Final = "acos acosh asin asinh atan atanh cos cosh exp log log10 log1p log2 sin sinh sqrt tan tanh"


ELEMENTWISE: Final = {
    **elementwise(OF_ONE_FLOAT, 1, FLOATING, with_zeros),
    # NumPy's is -0 at -0+0j, where the standard has 0; XLA follows the standard.
    **elementwise("expm1", 1, FLOATING, exactly_unless_real),
    **elementwise("reciprocal", 1, FLOATING, exactly_unless_real, divisors),
    **elementwise("abs conj negative positive real round square", 1, NUMERIC, with_zeros),
    **elementwise("sign isfinite isinf isnan", 1, NUMERIC),
    **elementwise("ceil floor trunc", 1, REAL_NUMERIC, with_zeros),
    **elementwise("imag", 1, COMPLEX, with_zeros),
    **elementwise("signbit", 1, REAL),
    **elementwise("bitwise_invert", 1, BOOL + INTEGER),
    **elementwise("logical_not", 1, BOOL),
    **elementwise("add subtract multiply", 2, NUMERIC, with_zeros),
    **elementwise("divide", 2, FLOATING, exactly_unless_real, special, divisors),
    **elementwise("pow", 2, NUMERIC, exactly_unless_real, divisors, exponents),
    **elementwise("equal not_equal", 2, ALL),
    **elementwise("less less_equal greater greater_equal maximum minimum", 2, REAL_NUMERIC),
    **elementwise("floor_divide remainder", 2, REAL_NUMERIC, with_zeros),
    **elementwise("atan2 copysign hypot logaddexp nextafter", 2, REAL, with_zeros),
    **elementwise("bitwise_and bitwise_or bitwise_xor", 2, BOOL + INTEGER),
    **elementwise("bitwise_left_shift bitwise_right_shift", 2, INTEGER, exactly, special, exponents),
    **elementwise("logical_and logical_or logical_xor", 2, BOOL),
}

CASES: Final[dict[str, tuple[Draw, Compare]]] = {
    **{name: (row.draw(), row.compare) for name, row in ELEMENTWISE.items()},
    **rows("clip", clips()),
    # creation
    **rows("arange", ranges()),
    **rows("asarray", of_array(copy=st.sampled_from([None, True]))),
    **rows("from_dlpack", of_array(INTEGER + FLOATING), with_zeros),
    **rows("empty", no_arrays(shapes, dtype=maybe_dtype), by_shape),
    **rows("empty_like", of_array(dtype=maybe_dtype), by_shape),
    **rows("zeros ones", no_arrays(shapes, dtype=maybe_dtype)),
    **rows("zeros_like ones_like", of_array(dtype=maybe_dtype)),
    **rows("full", fills(is_like=False), with_zeros),
    **rows("full_like", fills(is_like=True), with_zeros),
    **rows("eye", no_arrays(st.integers(0, 4), st.sampled_from([None, 0, 2, 5]), k=small, dtype=maybe_dtype)),
    **rows("linspace", linspaces(), scaled),
    **rows("tril triu", of_array(ALL, [(2, 3), (3, 0), (3, 3), (2, 2, 3)], k=small)),
    **rows("meshgrid", grids()),
    # data types
    **rows("astype", of_array(ALL, SHAPES, moderate, casts_of, copy=flags)),
    **rows("can_cast result_type", dtype_pairs(), by_text),
    **rows("finfo", no_arrays(dtypes_of(FLOATING)), by_limits),
    **rows("iinfo", no_arrays(dtypes_of(INTEGER)), by_limits),
    **rows("isdtype", no_arrays(dtypes_of(ALL), st.sampled_from(KINDS)), by_text),
    # indexing
    **rows("take", takes()),
    **rows("take_along_axis", takes_along()),
    # linear algebra
    **rows("matmul linalg.matmul", products(), scaled),
    **rows("matrix_transpose linalg.matrix_transpose", of_array(ALL, [(2, 3), (0, 3), (2, 3, 4)])),
    **rows("tensordot linalg.tensordot", products_along(TENSORDOTS, "axes"), scaled),
    **rows("vecdot linalg.vecdot", products_along(VECDOTS), scaled),
    **rows("linalg.cross", products_along(CROSSES), scaled),
    **rows("linalg.outer", products([((2,), (3,)), ((0,), (2,)), ((1,), (1,))]), scaled),
    **rows("linalg.cholesky", of_matrices("positive", upper=flags), scaled),
    **rows("linalg.det linalg.inv linalg.slogdet", of_matrices(), scaled),
    **rows("linalg.diagonal", of_array(ALL, [(2, 3), (3, 3), (2, 3, 2), (0, 3)], offset=small)),
    **rows("linalg.trace", of_array(NUMERIC, [(2, 3), (3, 3), (2, 3, 2), (0, 3)], finite, offset=small)),
    **rows("linalg.eigh", of_matrices("hermitian"), by_eigenvectors),
    **rows("linalg.eigvalsh", of_matrices("hermitian"), scaled),
    **rows("linalg.eig", of_matrices(), by_eigenvectors),
    **rows("linalg.eigvals", of_matrices(), by_eigenvalues),
    **rows(
        "linalg.matrix_norm",
        of_rectangles(keepdims=flags, ord=st.sampled_from(["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])),
        scaled,
    ),
    **rows(
        "linalg.vector_norm",
        reductions(FLOATING, finite, NOT_EMPTY, axis=some_axes_of, ord=st.sampled_from(ORDERS)),
        scaled,
    ),
    **rows("linalg.matrix_power", of_matrices("general", st.integers(-2, 4)), scaled),
    **rows("linalg.matrix_rank", of_rectangles()),
    **rows("linalg.pinv", of_matrices(), scaled),
    **rows("linalg.qr", of_rectangles(mode=st.sampled_from(["reduced", "complete"])), by_qr),
    **rows("linalg.solve", systems(), scaled),
    **rows("linalg.svd", of_rectangles(full_matrices=flags), by_svd),
    **rows("linalg.svdvals", of_rectangles(), scaled),
    # manipulation
    **rows("broadcast_arrays", binary(ALL)),
    **rows("broadcast_shapes", st.sampled_from(PAIRS).map(Call), by_text),
    **rows("broadcast_to", with_argument(BROADCASTS)),
    **rows("concat", joins(stacking=False)),
    **rows("stack", joins(stacking=True)),
    **rows("expand_dims", of_array(ALL, SHAPES, special, new_axes_of)),
    **rows("flip", of_array(axis=several_axes_of)),
    **rows("moveaxis", moves()),
    **rows("permute_dims", of_array(ALL, SHAPES, special, lambda a: st.permutations(range(a.ndim)).map(tuple))),
    **rows("repeat", repeats()),
    **rows(
        "reshape",
        of_array(ALL, SHAPES, special, lambda a: st.sampled_from(RESHAPES[a.size]), copy=st.sampled_from([None, True])),
    ),
    **rows("roll", rolls()),
    **rows("squeeze", with_argument(SQUEEZES)),
    **rows("tile", of_array(ALL, SHAPES, special, st.sampled_from(TILES))),
    **rows("unstack", of_array(ALL, WITH_AXES, axis=axes_of)),
    # searching, sets, sorting
    **rows("argmax argmin", reductions(REAL_NUMERIC, special, [(), *NOT_EMPTY], axis=maybe_axis_of)),
    **rows("count_nonzero", reductions(ALL, special)),
    **rows("nonzero", of_array(ALL, WITH_AXES)),
    **rows("searchsorted", searches()),
    **rows("where", wheres(), with_zeros),
    **rows("isin", memberships()),
    **rows("unique_all unique_counts unique_inverse unique_values", of_array(BOOL + REAL_NUMERIC)),
    **rows("sort", of_array(REAL_NUMERIC, WITH_AXES, axis=axes_of, descending=flags, stable=flags)),
    **rows("argsort", of_array(REAL_NUMERIC, WITH_AXES, axis=axes_of, descending=flags, stable=flags), by_order),
    # statistics and utilities
    **rows("sum", reductions(NUMERIC, dtype=wider_of)),
    **rows("prod", reductions(NUMERIC, finite, dtype=wider_of)),
    **rows(
        "cumulative_sum cumulative_prod",
        of_array(
            NUMERIC,
            WITH_AXES,
            finite,
            include_initial=flags,
            axis=lambda a: axes_of(a) if a.ndim > 1 else st.sampled_from([None, 0, -1]),
        ),
    ),
    **rows("max min", reductions(REAL_NUMERIC, special, [(), *NOT_EMPTY])),
    **rows("mean", reductions(FLOATING, shapes=[(), *NOT_EMPTY])),
    **rows(
        "std var",
        reductions(REAL, finite, [(5,), (2, 3)], axis=some_axes_of, correction=st.sampled_from([0, 0.5, 1, 1.0])),
    ),
    **rows("all any", reductions(ALL, special)),
    **rows(
        "diff", of_array(NUMERIC, NOT_EMPTY, finite, axis=axes_of, n=st.integers(0, 3), prepend=ends_of, append=ends_of)
    ),
    # fft
    **rows("fft.fft fft.ifft", transforms(COMPLEX), scaled),
    **rows("fft.rfft fft.ihfft", transforms(REAL), scaled),
    **rows("fft.irfft fft.hfft", transforms(COMPLEX, real_result=True), scaled),
    **rows("fft.fftn fft.ifftn", transforms_n(COMPLEX), scaled),
    **rows("fft.rfftn", transforms_n(REAL), scaled),
    **rows("fft.irfftn", transforms_n(COMPLEX), scaled),
    **rows("fft.fftfreq fft.rfftfreq", frequencies()),
    **rows("fft.fftshift fft.ifftshift", of_array(FLOATING, WITH_AXES, finite, axes=several_axes_of)),
}
"""How the arguments of each function are drawn, and how results are compared."""

NOT_COMPARED: Final = {"__array_namespace_info__": "the inspection API tells of the backend; tests/test_backends.py"}


def reference(function: str, call: Call) -> Any:
    """What array-api-strict gives; NumPy where it has none or a wrong one."""
    if function in NEWER:
        found = named(np, function)(*call.args, **call.kwargs)
        wide = [
            a.astype(np.result_type(a.dtype, np.complex64)) for a in (found if isinstance(found, tuple) else (found,))
        ]
        return tuple(wide) if isinstance(found, tuple) else wide[0]
    if function == "isin":  # this release of array-api-strict forgets `invert`
        return np.isin(*call.args, **call.kwargs)
    return call.run(array_api_strict, function)


def test_every_function_of_the_standard_is_compared() -> None:
    assert set(CASES) | set(NOT_COMPARED) == {*FUNCTIONS, *NEWER}


@st.composite
def calls(draw: st.DrawFn, function: str) -> Call:
    assume(draw(st.integers(0, 99)))  # Hypothesis begins with the simplest call, which is not worth compiling
    return draw(CASES[function][0])


@pytest.mark.parametrize("function", sorted(CASES))
def test_a_function_gives_what_array_api_strict_gives(function: str, backend: xp.Backend) -> None:
    usual = settings.default.max_examples

    @settings(max_examples=FEW if backend.library == "jax" and usual == USUAL else usual)
    @given(calls(function))
    def check(call: Call) -> None:
        CASES[function][1](call.run(xp, function), reference(function, call), call)

    check()


USUAL: Final = settings.get_profile("repeatable").max_examples
FEW: Final = 2
"""So many examples are enough on JAX, which compiles for each."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "dtype"), [(name, dtype) for name, row in ELEMENTWISE.items() for dtype in row.dtypes]
)
@pytest.mark.usefixtures("backend")
def test_a_function_is_right_at_every_special_value(function: str, dtype: str) -> None:
    row = ELEMENTWISE[function]
    call = row.grid(dtype)
    row.compare(call.run(xp, function), reference(function, call), call)
