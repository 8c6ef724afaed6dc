"""NumPy's ufuncs by NumPy's rules: each ufunc, method and option beside NumPy's own.

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

import anyarray as xp
import anyarray.numpy

UFUNCS: Final = sorted({one.__name__ for one in vars(numpy).values() if isinstance(one, numpy.ufunc)} - {"isnat"})
PRODUCTS: Final = frozenset({"matmul", "matvec", "vecdot", "vecmat"})
STEPWISE: Final = frozenset("add fmax fmin logical_and logical_or maximum minimum".split())
"""Functions whose reductions are the same whether each step is cast to `out`, as NumPy does, or the last alone."""
CALLS: Final = {
    "__call__": """
f(A); f(*LISTS); f(A, dtype=np.float32); f(A, dtype=bool); f(A, dtype=int); f(A, casting='safe'); f(A, casting='no')
f(A, dtype=np.float32, casting='unsafe'); f(A, casting='none'); f(A, signature=DOUBLE); f(A, signature=('d', None))
f(A, dtype=float, signature=DOUBLE); f(A, out=OUT); f(A, out=FLOATS, casting='safe'); f(A, out=FLOATS, dtype=np.float32)
f(A, FLOATS); f(A, out=FLOATS); f(A, out=INTS); f(A, out=INTS, casting='unsafe'); f(A, out=BOOLS); f(A, out=(FLOATS,))
f(A, out=WIDE); f(A, out=SHORT); f(A, out=[1]); f(A, where=mask, out=FLOATS); f(A, where=mask, out=INTS)
f(A, where=mask[:, :1], out=BOOLS); f(A, where=numbers, out=FLOATS); f(A, where=[True, False], out=FLOATS)
f(A, where=False, out=FLOATS); f(A, order='F'); f(A, order='Z'); f(A, subok=False); f(A, subok=3); f(A, axis=0)
f(A, keepdims=True); f(A, axes=[0, 0, 0]); f(A, nonsense=1); f(); f(A, A, A, A)
""",
    "two operands": """
f(x, row); f(x, 2); f(2, x); f(x, 2.5); f(x, -1); f(x, True); f(x, 1j); f(x, 300); f(bytes_, 300); f(x, other)
f(x, np.float32(2)); f(x, x[:, :2]); f(x, other, dtype=np.float32); f(x, numbers, out=FLOATS, where=mask)
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
EVERY: Final = 23
"""Of so many cases one runs, without `--all-cases`."""
_compiled: Final[dict[str, Any]] = {}


def cases(method: str) -> Iterator[tuple[str, str, str]]:
    """A ufunc, the kind of its operand, and a call of it."""
    calls = [one.strip() for one in CALLS[method].replace("\n", ";").split(";") if one.strip()]
    for name in UFUNCS:
        nin = getattr(numpy, name).nin
        if method == "two operands" and (nin != 2 or name in PRODUCTS):
            continue
        for at, call in enumerate(calls):
            if method == "reduce" and "out=" in call and name not in STEPWISE:
                continue  # the first in all dtypes, of each other call one, which differ
            kinds = list(VALUES) if at == 0 else [list(VALUES)[zlib.crc32(f"{name} {call}".encode()) % len(VALUES)]]
            yield from itertools.product([name], kinds, [call])


def evaluated(np: Any, name: str, kind: str, call: str) -> Any:
    """The result of a call, and the arrays that it may have written; or its error."""
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
