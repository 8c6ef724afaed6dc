"""Each ufunc, method and option beside NumPy's own.

A case is a call on fresh arrays. Its result, the arrays that it writes and the kind of its error are those of NumPy. A
fixed draw of the cases runs, all of them with `--all-cases`.
"""

from __future__ import annotations

import itertools
import re
import warnings
import zlib
from collections.abc import Iterator
from typing import Any, Final

import numpy
import pytest
from expressions import several

import anyarray as xp
import anyarray.numpy

pytestmark = pytest.mark.few_backends

UFUNCS: Final = sorted({one.__name__ for one in vars(numpy).values() if isinstance(one, numpy.ufunc)} - {"isnat"})
PRODUCTS: Final = frozenset({"matmul", "matvec", "vecdot", "vecmat"})
STEPWISE: Final = frozenset("add fmax fmin logical_and logical_or maximum minimum".split())
"""Functions whose reductions are the same whether each step is cast to `out`, as NumPy does, or the last alone."""
CALLS: Final = {
    "__call__": """
f(A); f(*LISTS); f(A, dtype=np.float32); f(A, dtype=bool); f(A, dtype=int); f(A, casting='safe'); f(A, casting='no')
f(A, dtype=np.float32, casting='unsafe'); f(A, casting='none'); f(A, signature=DOUBLE); f(A, signature=('d', None))
f(A, dtype=float, signature=DOUBLE); f(A, out=OUT); f(A, out=FLOATS, casting='safe'); f(A, out=FLOATS, dtype=np.float32)
f(A, FLOATS); f(A, out=FLOATS); f(A, out=INTS); f(A, out=BOOLS, casting='unsafe'); f(A, out=BOOLS); f(A, out=(FLOATS,))
f(A, out=WIDE); f(A, out=SHORT); f(A, out=[1]); f(A, where=mask, out=FLOATS); f(A, where=mask, out=INTS)
f(A, where=mask[:, :1], out=BOOLS); f(A, where=numbers, out=FLOATS); f(A, where=[True, False], out=FLOATS)
f(A, where=False, out=FLOATS); f(A, order='F'); f(A, order='Z'); f(A, subok=False); f(A, subok=3); f(A, axis=0)
f(A, keepdims=True); f(A, axes=[0, 0, 0]); f(A, nonsense=1); f(); f(A, A, A, A)
""",
    "two operands": """
f(x, row); f(x, 2); f(2, x); f(x, 2.5); f(x, -1); f(x, True); f(x, 1j); f(x, 300); f(bytes_, 300); f(x, other)
f(x, np.float32(2)); f(x, other, dtype=np.float32); f(x, numbers, out=FLOATS, where=mask)
""",
    "reduce": """
f.reduce(x); f.reduce(x, axis=1); f.reduce(x, axis=-1, keepdims=True); f.reduce(x, axis=None); f.reduce(x, axis=(0, 1))
f.reduce(x, axis=3); f.reduce(x, axis=(0, 0)); f.reduce(x, axis=()); f.reduce(x, axis=1.5); f.reduce(array=x)
f.reduce(x, dtype=np.float32); f.reduce(x, dtype=bool); f.reduce(x, 0, int); f.reduce(x, out=FLOATS[0])
f.reduce(x, out=INTS[0]); f.reduce(x, out=BOOLS[0]); f.reduce(x, out=(FLOATS[0],)); f.reduce(x, out=FLOATS)
f.reduce(x, axis=1, initial=2); f.reduce(x, initial=None); f.reduce(x, initial=2, where=mask); f.reduce(x, where=mask)
f.reduce(x, where=numbers); f.reduce(x[:0]); f.reduce(x[:0], initial=1); f.reduce(x[0, 0]); f.reduce(2)
f.reduce([[1, 2, 1], [2, 1, 1]]); f.reduce(x, casting='safe'); f.reduce(bytes_); f.reduce()
""",
    "accumulate": """
f.accumulate(x); f.accumulate(x, axis=1); f.accumulate(x, axis=-1); f.accumulate(x, axis=3); f.accumulate(x, axis=None)
f.accumulate(x, dtype=np.float32); f.accumulate(x, dtype=bool); f.accumulate(x, 0, int); f.accumulate(x, out=FLOATS)
f.accumulate(x, out=INTS); f.accumulate(x, out=BOOLS); f.accumulate(x, out=SHORT); f.accumulate(x[:0])
f.accumulate(x[0, 0]); f.accumulate(5); f.accumulate([1, 2, 1]); f.accumulate(x, where=mask); f.accumulate(bytes_)
""",
    "reduceat": """
f.reduceat(x, [0, 1]); f.reduceat(x, [0, 2, 1], axis=1); f.reduceat(x, [1, 0]); f.reduceat(x, [-1, 1])
f.reduceat(x, [5]); f.reduceat(x, []); f.reduceat(x, np.asarray([0.0])); f.reduceat(x, np.asarray([1, 0]), -1)
f.reduceat(x, [0, 1], axis=3); f.reduceat(x, [0], 0, np.float32); f.reduceat(x, [0], dtype=bool)
f.reduceat(x, [0, 1], out=FLOATS); f.reduceat(x, [0, 1], out=INTS); f.reduceat(x, [0], out=SHORT); f.reduceat(x)
f.reduceat(x[0, 0], [0]); f.reduceat(x, indices=[1]); f.reduceat(x, [[0]])
""",
    "products": """
np.matmul(x, x, axes=[(0, 1), (1, 0), (0, 1)]); np.matmul(x, x, axes=[(1, 0), (0, 1), (1, 0)]); np.matmul(x, x)
np.matmul(x, x.T, axes=[(0, 1)] * 3, out=SQUARE[:2, :2]); np.vecdot(x, x, axis=0); np.vecdot(x, x, axes=[0, 0])
np.vecdot(x, x, keepdims=True, axis=0); np.matvec(x, row, axes=[(0, 1), 0, 0]); np.vecmat(x, x, axes=[0, (1, 0), 1])
np.matmul(x, x, axes=[(0, 1)]); np.matmul(x, x.T, where=mask); np.vecdot(x, x, axis=3); np.vecdot(x, x, dtype=int)
""",
    "outer": """
f.outer(row, row); f.outer([1, 2, 3], row); f.outer(row, 2); f.outer(row, other[0]); f.outer(row, row, dtype=np.float32)
f.outer(row, row, dtype=bool); f.outer(row, row, out=SQUARE); f.outer(row, row, out=INTS); f.outer(row)
f.outer(row, row, where=square > 1, out=SQUARE); f.outer(row, row, casting='no'); f.outer(row, row, nonsense=1)
""",
    "at": """
f.at(x, [0, 0, 1]); f.at(x, 1); f.at(x, ([0, 1, 0], [2, 2, 2])); f.at(x, [[7]]); f.at(x, [0], [1], [2])
f.at(x, [0, 0, 1], x[:1]); f.at(x, [1, 0, 1], 2); f.at(x, 1, row); f.at(x, ([0, 1, 0], [2, 2, 2]), row)
f.at(x, (slice(None), [0, 0]), 1.5); f.at(x, mask, 1); f.at(x, [5], 1); f.at(x, [0.5], 1); f.at(x, [0], x)
f.at(x, [-1, -1], other[0]); f.at(x, [], 1); f.at(5, [0], 1); f.at(FLOATS, [0, 0], x); f.at(INTS, [0, 0], x)
""",
}
VALUES: Final = {
    "floats": numpy.array([[1.0, 2.0, 1.5], [0.5, 1.0, 3.0]]),
    "integers": numpy.array([[1, 2, 1], [3, 1, 2]]),
    "booleans": numpy.array([[True, False, True], [True, True, False]]),
    "complex numbers": numpy.array([[1 + 1j, 2, 1.5j], [0.5, 1 - 1j, 3]]),
    "small integers": numpy.array([[1, 2, 1], [3, 1, 2]], numpy.uint8),
}
UNDEFINED: Final = {("reciprocal", "f.at(x, [0, 0, 1])"), ("ldexp", "f(x, 300)")}
"""Calls whose values C leaves open: the reciprocal of the integer 0, and 0 times an infinite power of two."""
EVERY: Final = 47
"""Of so many cases one runs, without `--all-cases`."""
_compiled: Final[dict[str, Any]] = {}


def cases(method: str) -> Iterator[tuple[str, str, str]]:
    """A ufunc, the kind of its operand, and a call of it."""
    calls = several(CALLS[method])
    for name in ["matmul"] if method == "products" else UFUNCS:
        nin = getattr(numpy, name).nin
        if method == "two operands" and (nin != 2 or name in PRODUCTS):
            continue
        for at, call in enumerate(calls):
            if (name, call) in UNDEFINED:
                continue
            if method == "reduce" and "out=" in call and name not in STEPWISE:
                continue
            # The first call runs in all dtypes, each other one in one of them, which differs from ufunc to ufunc.
            kinds = list(VALUES) if at == 0 else [list(VALUES)[zlib.crc32(f"{name} {call}".encode()) % len(VALUES)]]
            if method == "at" and nin == 1 and "l->l" not in getattr(numpy, name).types:
                kinds = [kind for kind in kinds if "integers" not in kind]  # C leaves open what NaN is as an integer
            yield from itertools.product([name], kinds, [call])


def evaluated(np: Any, name: str, kind: str, call: str) -> Any:
    """The result of a call and the arrays it wrote, or its error."""
    function = getattr(np, name)
    values = VALUES[kind]
    x, row, other = np.array(values), np.array(values[0]), np.array(VALUES["integers"])
    y = np.array(values[::-1].copy())
    if name in PRODUCTS:
        y = {"matmul": np.array(values.T.copy()), "vecmat": np.array(values.T.copy())}.get(name, y)
        x, y = {"matvec": (x, row), "vecmat": (row, y)}.get(name, (x, y))
    outs = [np.full((2, 3), 7.0), np.full((2, 3), 7), np.full((2, 3), True), np.full((2, 2, 3), 7.0), np.full(2, 7.0)]
    square = np.array([[1.0, 2.0, 1.0]] * 3)
    names = {
        "np": np, "f": function, "x": x, "y": y, "row": row, "other": other, "FLOATS": outs[0], "INTS": outs[1],
        "BOOLS": outs[2], "WIDE": outs[3], "SHORT": outs[4], "square": square * 1, "SQUARE": square,
        "OUT": (outs[0], None)[: function.nout], "mask": np.array([[True, False, True], [False, True, True]]),
        "numbers": np.array([[1, 0, 1], [0, 1, 1]]), "bytes_": np.array([[1, 2, 1]], dtype=np.uint8),
        "LISTS": [values.tolist()] * function.nin, "DOUBLE": "d" * function.nin + "->" + "d" * function.nout,
    }  # fmt: skip
    text = re.sub(r"\bA\b", "x, y" if function.nin == 2 else "x", call)
    code = _compiled.setdefault(text, compile(text, "<case>", "eval"))
    try:
        result = eval(code, names)
    except Exception as error:  # noqa: BLE001 - whose kind is compared
        return error
    return result, *outs, square, x


def fault(found: Any, expected: Any) -> str | None:
    """How a result differs from NumPy's."""
    if isinstance(expected, Exception):
        kinds = (numpy.exceptions.AxisError, TypeError, IndexError, OverflowError, RuntimeError, ValueError)
        wanted = next(kind for kind in kinds if isinstance(expected, kind))
        return None if isinstance(found, wanted) else f"{found!r} instead of {expected!r}"
    if isinstance(found, Exception):
        return f"{found!r} instead of {expected!r}"
    if isinstance(expected, tuple):
        return next(filter(None, map(fault, found, expected)), None)
    if expected is None:
        return None if found is None else f"{found!r} instead of None"
    actual, wanted = numpy.asarray(found), numpy.asarray(expected)
    rtol = 1e-2 if wanted.dtype == numpy.float16 else 1e-5
    has_same = actual.dtype == wanted.dtype and actual.shape == wanted.shape
    if has_same and numpy.allclose(actual, wanted, rtol=rtol, atol=rtol / 10, equal_nan=True):
        return None
    return f"{actual!r} instead of {wanted!r}"


@pytest.mark.parametrize("method", CALLS)
def test_a_ufunc_follows_numpys_rules(method: str, backend: xp.Backend, request: pytest.FixtureRequest) -> None:
    is_whole = request.config.getoption("--all-cases")
    faults: list[str] = []
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in cases(method):
            if is_whole or zlib.crc32(" ".join(case).encode()) % EVERY == 0:
                found = fault(evaluated(anyarray.numpy, *case), evaluated(numpy, *case))
                if found is not None:
                    faults.append(f"{case}: {found}")
    assert not faults, f"{backend}: {len(faults)} differ from NumPy:\n" + "\n".join(faults[:40])


class Recorder:
    """An operand that answers each function by what it was asked."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ufunc.__name__, method, [type(one) is Recorder for one in inputs]


class Labelled:
    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function.__name__


class Silent:
    __array_ufunc__ = None

    def __radd__(self, other: Any) -> str:
        return "added"


class Declining:
    def __array_ufunc__(self, *args: Any, **options: Any) -> Any:
        return NotImplemented


class Convertible:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.asarray([1.0, 2.0])


class Derived(numpy.ndarray[Any, Any]):
    pass


ASKED: Final = """
x * u; u * x; x - u; u - x; x < u; u <= x; x == u; x @ u; divmod(x, u); x**u; np.add(x, u); np.exp(u); np.divmod(u, 2)
np.add.reduce(u); np.add.accumulate(u); np.add.reduceat(u, [0]); np.add.outer(x, u); np.add.outer(u, x)
np.add.at(u, [0], 1); np.add.at(x, [0], u); np.add(1, 2, out=u); np.add(x, 1, where=u); np.exp(x, out=(u,))
x + s; np.add(x, s); x.__iadd__(s); x + d; np.exp(d); np.add(x, d); x.__iadd__(d)
x + a; a + x; x - a; x == a; x < a; x.__iadd__(a); x.__setitem__(..., a); np.add(x, a); np.square(a); np.add.reduce(a)
x + range(2); range(2) - x; x == range(2); np.add(range(2), x); np.add.reduce(range(4)); x.__isub__(range(2))
np.sin(q); x + q; q + x; x - q; x == q; x.__iadd__(q); np.multiply(q, 2, out=x); np.add.reduce(q[None]); q.copy()
np.add.outer(q, x); np.cumsum(q); np.sort(q); np.zeros_like(q); np.full_like(q, 3); np.asanyarray(q); np.asarray(q)
np.array(q); np.concatenate([q, q]); np.stack([x, q]); np.where(q > 1, q, 0); np.dot(x, q); np.clip(q, 0, 1)
np.mean(q[None], axis=0); np.reshape(q, (2, 1)); np.ravel(q); np.tile(q, 2); np.linalg.norm(q); np.median(q)
np.concatenate([f, f]); np.sum(f); np.mean(f); np.sort(f); np.where(f, 1, 2); np.dot(x, f); np.stack([x, f])
np.reshape(f, 2); np.clip(f, 0, 1); np.cumsum(f); np.median(f); np.linalg.norm(f); np.fft.fft(f); np.tile(f, 2)
np.zeros_like(f); np.argsort(f); np.unique(f); np.histogram(f); np.allclose(f, 1); np.shape(f); np.transpose(f)
np.max(f); np.std(f); np.any(f); np.take(f, 0); np.nanmax(f); np.broadcast_to(f, 2); np.round(f); np.pad(f, 1)
"""


def answered(np: Any, expression: str) -> Any:
    """The result of an expression and the array it wrote, or its error."""
    x = np.asarray([1.0, 3.0])
    names = {"u": Recorder(), "s": Silent(), "d": Declining(), "a": Convertible(), "f": Labelled()}
    try:
        result = eval(expression, {"np": np, "x": x, "q": numpy.asarray([1.0, 2.0]).view(Derived), **names})
    except TypeError:
        return TypeError
    return plain(result), x.tolist()


def plain(value: Any) -> Any:
    """A value with lists in the place of arrays.

    Those of other classes come with their class.
    """
    if isinstance(value, (xp.Array, numpy.ndarray, numpy.generic)):
        return isinstance(value, Derived), numpy.asarray(value).tolist()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def test_classes_of_others_decide_where_numpy_asks_them(backend: xp.Backend) -> None:
    expressions = several(ASKED)
    expected = {one: answered(numpy, one) for one in expressions}
    assert {one: answered(anyarray.numpy, one) for one in expressions} == expected


def test_an_operator_beside_a_class_derived_from_ours_keeps_it(backend: xp.Backend) -> None:
    np: Any = anyarray.numpy

    class Measured(np.ndarray):  # type: ignore[misc]  # as a program for NumPy has it
        pass

    k, x = np.asarray([1.0, 2.0]).view(Measured), np.ones(2)
    for one in (x + k, k + x, x * k, np.add(x, k), np.sort(k)):
        assert type(one) is Measured


def test_complex_numbers_of_recorded_calls_are_in_numpys_order() -> None:
    values = numpy.arange(40_000) * (1 + 1j)
    c = anyarray.numpy.asarray(values) * 2
    for name in ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin"):
        found = getattr(anyarray.numpy, name)(c, c[::-1] * 1)
        numpy.testing.assert_array_equal(numpy.asarray(found), getattr(numpy, name)(values * 2, values[::-1] * 2))


@pytest.mark.needs("traces")
def test_at_adds_inside_a_trace(framework: str) -> None:
    np: Any = anyarray.numpy

    def added(x: Any, at: Any) -> Any:
        sums, largest, counts = np.zeros(4), np.zeros((2, 2)), np.zeros(3, dtype=np.int32)
        np.add.at(sums, [0, 0, 1], x)
        np.subtract.at(sums, at, x)
        np.maximum.at(largest, ([0, 0, 1], [1, 1, 0]), x)
        np.add.at(counts, at, np.astype(x, np.int32) - 2)
        return sums, largest, counts

    with xp.backend(framework):
        found = xp.jit(added)(np.asarray([1.0, 2.0, 4.0]), np.asarray([2, 1, 2]))
        assert [one.tolist() for one in found] == [[3, 2, -5, 0], [[0, 2], [4, 0]], [0, 0, 1]]
        with pytest.raises(TypeError, match=r"^maximum.at: indices must be known inside jit, grad and vmap"):
            xp.jit(lambda at: np.maximum.at(np.zeros(3), at, 1.0))(np.asarray([0, 1]))


def test_an_error_about_shapes_names_those_that_were_passed(backend: xp.Backend) -> None:
    a, b = xp.ones((40, 50)), xp.ones((60, 40))
    with pytest.raises(ValueError, match=r"^add: operands could not be broadcast .* shapes \(40,50\) \(60,40\)$"):
        anyarray.numpy.add(a, b, dtype=float)
    with pytest.raises(ValueError, match=r"^matmul: .* \(size 60 is different from 50\)$"):
        anyarray.numpy.matmul(a, b, dtype=float)
