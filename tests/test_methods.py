"""NumPy's methods and attributes of Arrays: each gives what ndarray's gives.

The expected dtype, shape, values and errors are those of NumPy's own methods, on ndarrays of the same values.
"""

from __future__ import annotations

import builtins
import io
import pickle
import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from comparison import assert_same, each
from expressions import evaluated, groups, head, rows, several, written

import anyarray as xp

pytestmark = pytest.mark.few_backends

ARRAYS: Final = {
    "F": np.asarray([[2.5, -1.0, 0.5], [7.25, 3.5, -4.0]]),
    "ROW": np.asarray([3.0, 1.0, 2.0, 1.0]),
    "TABLE": np.asarray([1.0, 2.0, 4.0]),
    "I": np.asarray([[5, -2, 3], [0, 4, 1]]),
    "P": np.asarray([-1, 5]),
    "BITS": np.asarray([1, 0, 1]),
    "S": np.asarray([3, 1, 2], dtype=np.int8),
    "U": np.asarray([1, 200, 3], dtype=np.uint8),
    "BYTES": np.arange(16, dtype=np.uint8).reshape(2, 8),
    "B": np.asarray([[True, False, True], [False, False, True]]),
    "Z": np.asarray([[1 + 2j, -3j], [0.5, 2 - 1j]]),
    "NANS": np.asarray([2, 1 + 3j, 1 + 2j, np.nan, 0]),
    "CUBE": np.arange(24.0).reshape(2, 3, 4),
    "N": np.asarray(2.5),
    "EMPTY": np.ones((0, 2)),
    "G": np.asarray([1.5, 2.5, 3.5], dtype=np.float32),
}
"""Of these values are the ndarrays and the Arrays of which methods are called."""
F: Final = ARRAYS["F"]
I: Final = ARRAYS["I"]  # noqa: E741 - integers
CUBE: Final = ARRAYS["CUBE"]
Z: Final = ARRAYS["Z"]

CALLS: Final = """
B.all(); B.all(axis=1); B.all(0, None); B.all(axis=1, where=[True, False, True])
F.any(axis=(0, 1), keepdims=True); F.any(where=[False, False, False])
F.argmax(); F.argmax(1, keepdims=True); B.argmax(axis=-1)
I.argmin(axis=0)
BITS[BITS.argpartition(1)][1]
F.argsort(); F.argsort(axis=None); NANS.argsort(); ROW.argsort(kind="stable")
F.astype(np.float32); F.astype(int); I.astype("int16", casting="same_kind")
BITS.choose([[1, 2, 3], [4.5, 5.5, 6.5]]); BITS.choose([10, 20])
P.choose([[1, 2], [3, 4], [5, 6]], mode="wrap"); P.choose([[1, 2], [3, 4], [5, 6]], mode="clip")
F.clip(-1, 3); F.clip(0); F.clip([0, 1, 2], 3.0); I.clip(max=2)
F.compress([True, False, True], axis=1); F.compress([0, 1, 1, 0, 1])
Z.conj(); F.conj(); Z.conjugate()
F.copy(); F.T.copy(order="F")
I.cumprod(axis=1); B.cumprod()
F.cumsum(); I.cumsum(0, np.float64); N.cumsum(); S.cumsum()
F.diagonal(); CUBE.diagonal(1, 0, 2)
ROW.dot(ROW); F.dot([1.0, 2.0, 3.0]); F.dot(F.T); F.dot(2); B.dot(B.T)
CUBE.dot(CUBE.swapaxes(1, 2)); CUBE.dot(CUBE[0, 0]); CUBE[0, :, 0].dot(CUBE)
pickle.loads(F.dumps())
F.flatten(); F.flatten("F"); F.T.flatten("A"); CUBE.transpose(1, 0, 2).flatten("K")
N.item(); F.item(4); F.item(-1); F.item(1, 2); I.item((0, -1))
F.max(); I.max(1); B.max(axis=0); S.max(initial=5); EMPTY.max(axis=0, initial=3)
F.max(axis=1, initial=-9.0, where=[[True, False, True], [False, False, False]])
F.min(axis=0, keepdims=True); I.min(initial=9, where=[True, False, True])
F.mean(); I.mean(axis=0); B.mean(axis=1); I.mean(0, np.float32); I.mean(axis=0, dtype=np.int64)
I.mean(axis=1, where=[True, False, True]); Z.mean(where=[True, False])
I.nonzero()[1]
I.prod(axis=1); ROW.prod(initial=2); ROW.prod(where=[True, True, True, False]); B.prod(axis=0, where=[[True], [False]])
F.ravel(); F.ravel(order="F"); CUBE.T.ravel(order="K")
F.repeat(2); F.repeat(2, axis=1); ROW.repeat([1, 0, 2, 1])
F.reshape(3, 2); F.reshape((3, -1)); F.reshape(-1); F.reshape([6, 1]); ROW[:1].reshape(())
F.reshape(3, 2, order="F"); F.T.reshape((2, 3), order="A"); ROW.reshape((2, 2), order="F")
F.round(); (F / 7).round(2); (I * 7).round(-1); I.round(2); (Z / 3).round(decimals=1); G.round(1)
TABLE.searchsorted([0, 2, 3, 9]); TABLE.searchsorted(2, side="right"); P[::-1].searchsorted([2], sorter=[1, 0])
F[None, :, None].squeeze(); F[None, :, None].squeeze(axis=0); F[None, :, None].squeeze((0, 2)); F.squeeze()
F.std(); F.std(axis=1, ddof=1); I.std(0); Z.std(); G.std(dtype=np.float64)
F.sum(); F.sum(axis=0); CUBE.sum((0, -1)); I.sum(1, np.float32, None, True); S.sum(); U.sum(); B.sum(axis=1)
ROW.sum(initial=10); S.sum(initial=2.7); F.sum(axis=1, where=host > 0); B.sum(where=[True, False, False])
CUBE.swapaxes(0, -1)
F.take([0, -1, 4]); F.take(3); F.take([2, 0], axis=1); CUBE.take(1, axis=-1); CUBE.take([[0, 1], [2, 2]], axis=1)
ROW.take([-6, 5, 9], mode="wrap"); ROW.take([-6, 1, 9], mode="clip"); ROW.take([])
F.tolist()
F.trace(); CUBE.trace(1, 1, 2); (S[:, None] * S).trace(dtype=np.float64)
CUBE.transpose(); CUBE.transpose(1, 2, 0); CUBE.transpose((2, 0, 1)); CUBE.transpose(None)
CUBE.T; ROW.T; N.T
F.var(axis=0); I.var(ddof=1); Z.var(axis=0); F.var(axis=1, ddof=1, where=[True, False, True])
F.var(axis=1, mean=F.mean(axis=1, keepdims=True))
F.view(); F.view(np.int64); G.view("uint32"); U.view(np.int8); Z[0].view(np.uint8); F.view(np.uint8)
CUBE[1:, ::2].view(np.int16); BYTES.view(np.int32); Z.view(np.float64); CUBE.view(np.complex128)
Z.astype(np.complex64)[0, 0].view(np.int64); B.view(np.uint8); BITS.astype(np.int8).view(np.bool_); EMPTY.view("f4")
Z.real; F.real; Z.imag; I.imag
F.flat[4]; F.T.flat[-2]; F.T.flat[1:4]; F.flat[[0, 5, 2]]; F.T.flat.copy(); [int(one) for one in I.T.flat]
"""
"""Methods, a row for each, or two."""


@pytest.mark.parametrize("group", groups(CALLS), ids=head)
@pytest.mark.usefixtures("backend")
def test_a_method_gives_what_ndarrays_gives(group: list[str]) -> None:
    names = {"np": np, "pickle": pickle, "host": F}
    for expression in group:
        got, expected = (evaluated(expression, ARRAYS, array, **names) for array in (xp.asarray, np.copy))
        if isinstance(expected, (np.ndarray, np.generic)):
            assert type(got) in (xp.Array, np.ndarray)
            assert_same(got, np.asarray(expected))
        else:
            assert (type(got), got) == (type(expected), expected)


WRITES: Final = """
F.sort(); F.sort(axis=0); F[1].sort(); F[:, 1].sort(kind="stable"); CUBE.T.sort()
F.fill(7); F[:, ::2].fill(0.5)
F.put([0, -1, 3], [1, 2, 3]); F.put(2, 9.5); F.put([0, 1, 2, 3, 4], [1, 2]); F.put([0, 1], [1, 2, 3]); F.put([0, 1], [])
F.T.put([1, 2], [8, 9]); F.put([7, -8], [1, 2], mode="wrap"); F.put([7, -8], [1, 2], mode="clip"); F[1].put(0, 4)
F.flat[4] = 9; F.flat[1::2] = [1, 2, 3]; F.flat[[0, 5]] = 3; F.T.flat[:4] = [1, 2]; N.flat[0] = 4; F.flat[1:4][0] = 5
F.flat = [1, 2, 3, 4]; F[:, 1:].flat = 0
Z.real = 3; F.real = host * 2; Z.real[0] = 5
Z.imag = [[1, 2], [3, 4]]; Z[0].imag = 0
F.view(np.int64)[0, 0] = 4607182418800017408; Z.view(np.float64)[0, 1] = 8; CUBE.view(np.complex128)[0, 1] = 2 - 1j
F[1].view(np.uint8)[:8] = 0; F.view()[0] = 5
F.ravel()[0] = 5; F.T.ravel()[0] = 5; F.T.ravel("F")[0] = 5; F.flatten()[0] = 5; F.copy()[0] = 5
F.reshape(3, 2)[2, 0] = 5; F.T.reshape((6,), order="F")[1] = 5; F[None].squeeze()[0] = 5
F.swapaxes(0, 1)[0] = 5; CUBE.transpose(2, 0, 1)[0] = 5; CUBE.T[0, 0] = 5; ROW.T[0] = 5
F.sum(axis=0, out=F[1]); F.mean(axis=0, out=F[0]); F.cumsum(axis=1, out=F); F.clip(0, 2, out=F); F.round(out=F)
F.take([2, 1, 0], axis=1, out=F, mode="clip"); F.max(axis=1, out=F[:, 0]); I.argmax(axis=0, out=I[0])
F.std(axis=0, out=F[0]); F.dot(np.eye(3), out=F); G[None].sum(axis=0, dtype=np.float64, out=G)
B.any(axis=0, out=B[1])
F.shape = (3, 2); F.shape = -1
ROW.resize(2, **unwatched); ROW.resize((2, 3), **unwatched); ROW.resize(2, 2, **unwatched)
"""
"""Statements, each of which writes to new arrays."""


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy's own
@pytest.mark.parametrize("group", groups(WRITES), ids=head)
@pytest.mark.usefixtures("backend")
def test_a_method_writes_what_ndarrays_writes(group: list[str]) -> None:
    for statement in group:
        expected = written(statement, ARRAYS, np.copy, np=np, host=F, unwatched={"refcheck": False})
        found = written(statement, ARRAYS, lambda a: xp.asarray(a, copy=True), np=np, host=F, unwatched={})
        for name, array in expected.items():
            assert_same(found[name], array)


@pytest.mark.usefixtures("backend")
def test_a_partition_has_the_smaller_ones_in_front() -> None:
    x = xp.asarray([[5.0, 1.0, 4.0, 2.0, 3.0], [0.0, 9.0, 8.0, 7.0, 6.0]])
    x[1:].partition(2)
    assert x[0].tolist() == [5, 1, 4, 2, 3]
    assert float(x[1, 2]) == 7 and float(x[1, :2].max()) < 7 < float(x[1, 3:].min())
    x.partition((1, 3), axis=-1)
    assert x[0, 1].item() == 2 and x[0, 3].item() == 4


@pytest.mark.usefixtures("backend")
def test_a_method_returns_the_out_that_it_fills() -> None:
    x, out, host = xp.asarray(F), xp.zeros(3), np.zeros(3)
    assert x.sum(axis=0, out=out) is out
    assert x.sum(axis=0, out=(out,)) is out
    assert x.sum(0, None, host) is host
    assert out.tolist() == host.tolist() == F.sum(axis=0).tolist()


ERRORS: Final = """
x.sum(axis=0, out=xp.zeros(2))
    ValueError: sum: out must have the shape (3,) of the result, not (2,)
x.std(axis=0, out=xp.zeros(3, dtype=xp.int64))
    TypeError: std: out must have a dtype to which float64 can be cast, not int64. Make it of that dtype:
        xp.empty((3,), dtype=xp.float64)
x.mean(out=[0])
    TypeError: mean: out must be an Array or an ndarray, not list
x.max(where=[True, False, True])
    ValueError: max: initial is required with where, for lines without a chosen element
x.sort(kind="bubble")
    ValueError: sort: kind must be one of quicksort, mergesort, heapsort, stable, not 'bubble'
x.argsort(order="name")
    ValueError: argsort: order must be None, as no Array has fields
x.partition(3)
    ValueError: partition: kth must be from -3 to 2, not 3
x.swapaxes(0, 2)
    IndexError: swapaxes: axis 2 is out of bounds for array of dimension 2, must be between -2 and 1
x.take([0], axis=2)
    IndexError: take: axis 2 is out of bounds for array of dimension 2, must be between -2 and 1
x.take([0], mode="nearest")
    ValueError: take: mode must be 'raise', 'wrap' or 'clip', not 'nearest'
x.reshape(6, order="K")
    ValueError: reshape: order must be 'C', 'F' or 'A', not 'K'
x.ravel("X")
    ValueError: ravel: order must be 'C', 'F', 'A' or 'K', not 'X'
x.astype(int, casting="safe")
    TypeError: astype: x is float64 and cannot become int64 by casting='safe'
x[0].diagonal()
    ValueError: diagonal: x must have at least 2 axes, not 1
x.trace(axis1=1, axis2=-1)
    ValueError: trace: axis1 and axis2 must differ, not both be 1
x.fill([1, 2, 3])
    ValueError: fill: value must be one number. Write several: x[...] = ...
x.imag = 1
    TypeError: imag: x must be complex to have its imaginary part set, not float64
x.view(xp.complex128)
    ValueError: view: dtype must have 8 bytes as float64 has, not 16 as complex128, since the last axis of x has 3
        elements
x.T.view(xp.uint8)
    ValueError: view: dtype must have 8 bytes as float64 has, not 1 as uint8, since the last axis of x is not contiguous
x.sum().view(xp.uint8)
    ValueError: view: dtype must have 8 bytes as float64 has, not 1 as uint8, since x has no axes
x.choose([1, 2])
    TypeError: choose: x must have an integer dtype, not float64. Convert it: xp.astype(...)
x.item((1,))
    ValueError: item: args must be an index for each of 2 axes, or one for all elements, not 1 integers
x[0].resize(2)
    ValueError: resize: x is a view or has views, whose shape would not change. Make a new array: np.resize, or
        xp.reshape(x, ...)
view = x[:1]; x.resize(3)
    ValueError: resize: x is a view or has views, whose shape would not change. Make a new array: np.resize, or
        xp.reshape(x, ...)
xp.broadcast_to(x, (2, 2, 3)).sort()
    ValueError: sort: x is a read-only view, as broadcast_to and diagonal give. Copy it first: xp.asarray(x, copy=True)
xp.asarray([0, 2]).choose([[1, 2], [3, 4]])
    ValueError: choose: x must hold indices of 2 choices, from 0 on. Or let them wrap: mode='wrap'
x.compress([[True]])
    ValueError: compress: condition must have one axis, not shape (1, 1)
"""
"""Statements with an Array x of the values F, and their errors."""


@each("row", rows(ERRORS))
@pytest.mark.usefixtures("backend")
def test_what_a_method_cannot_do_is_said(row: str) -> None:
    statement, kind, sentence = re.split(r" (\w+Error): ", row)
    x = xp.asarray(F)
    with pytest.raises(getattr(builtins, kind)) as caught:
        exec(statement, {"x": x, "xp": xp})
    assert str(caught.value) == sentence
    assert x.tolist() == F.tolist()


@pytest.mark.usefixtures("backend")
def test_complex_numbers_become_real_with_the_warning_of_numpy() -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        x = xp.asarray(Z).astype(np.float32)
    assert_same(x, Z.real.astype(np.float32))


@pytest.mark.usefixtures("backend")
def test_attributes_are_those_of_ndarrays() -> None:
    for values in (F, ARRAYS["S"], Z, ARRAYS["N"]):
        x = xp.asarray(values)
        assert (x.nbytes, x.itemsize, x.strides) == (values.nbytes, values.itemsize, values.strides)
        assert len(x.flat) == values.size
    x = xp.asarray(CUBE, copy=True)
    for part, its in ((x.T, CUBE.T), (x[0], CUBE[0]), (x[:, 1:, ::2], CUBE[:, 1:, ::2]), (x[::-1], CUBE[::-1])):
        assert part.strides == its.strides
        for name in ("c_contiguous", "f_contiguous", "contiguous", "forc", "fnc", "writeable", "aligned"):
            assert getattr(part.flags, name) == getattr(its.flags, name)
            assert part.flags[name.upper()] == getattr(part.flags, name)
        assert not part.flags.owndata
        assert part.base is not None
    assert x.flags.owndata
    assert x.base is None
    assert not xp.broadcast_to(x, (2, 2, 3, 4)).flags.writeable
    assert "WRITEABLE : True" in repr(x.flags)
    with pytest.raises(KeyError, match="flags: 'D' is unknown"):
        x.flags["D"]
    x = xp.zeros((200, 300))
    assert x.T.copy().flags.c_contiguous
    row = x[3:5]
    row[0, 0] = 7
    assert row.base is not None
    assert float(row.base.max()) == 7


@pytest.mark.usefixtures("backend")
def test_a_view_of_bits_in_another_byte_order_is_refused() -> None:
    x = xp.asarray([1, 256], dtype=xp.int16)
    other = np.dtype("int16").newbyteorder()
    for dtype in (other, other.str):
        with pytest.raises(TypeError, match="view: dtype must be in the byte order of the machine"):
            x.view(dtype)
    assert x.view(np.dtype("int16").newbyteorder("=").str).tolist() == [1, 256]


@pytest.mark.usefixtures("backend")
def test_the_iterator_over_all_elements_says_where_it_is() -> None:
    x = xp.asarray(I)
    each = x.flat
    assert [int(next(each)) for _ in range(4)] == [5, -2, 3, 0]
    assert each.index == 4
    assert each.coords == (1, 1)
    assert each.base is x
    assert np.asarray(x.flat).tolist() == I.ravel().tolist()
    with pytest.raises(ValueError, match="flat: value must hold at least one element, for 6 places"):
        x.flat = []


def test_bytes_and_files_are_those_of_ndarrays(backend: xp.Backend, tmp_path: Path) -> None:
    x = xp.asarray(F)
    assert x.tobytes() == F.tobytes()
    assert x.T.tobytes() == F.T.tobytes()
    assert x.tobytes("F") == F.tobytes("F")
    x.tofile(tmp_path / "values")
    assert np.fromfile(tmp_path / "values").tolist() == F.ravel().tolist()
    assert bytes(x.T.data) == F.T.tobytes()
    assert x.data.shape == (2, 3)
    x.dump(tmp_path / "pickle")
    assert_same(pickle.loads((tmp_path / "pickle").read_bytes()), F)
    file = io.BytesIO()
    x.dump(file)
    assert_same(pickle.loads(file.getvalue()), F)
    assert pickle.loads(x.dumps()).device == backend


@pytest.mark.usefixtures("backend")
def test_an_element_is_a_key() -> None:
    labels = xp.asarray([2, 0, 2, 1])
    counts: dict[Any, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    assert counts == {2: 2, 0: 1, 1: 1}
    assert counts[xp.asarray(2)] == counts[np.int64(2)] == 2
    assert len(set(labels)) == 3
    assert hash(xp.asarray(0.5)) == hash(0.5)
    assert hash(xp.asarray(True)) == hash(1)
    assert hash(xp.asarray(1 + 2j)) == hash(1 + 2j)
    nothing = xp.asarray(float("nan"))
    assert hash(nothing) == hash(nothing)


def test_a_traced_array_is_no_key(framework: str) -> None:
    @xp.jit
    def keyed(x: Any) -> Any:
        return x + len({x})

    with xp.backend(framework), pytest.raises(TypeError, match="hash: unhashable type: 'Array' in a trace"):
        keyed(xp.asarray(1.0))


TRACED: Final = """
B.all(axis=1, where=[True, False, True]); F.argmax(); F.argsort(); F.astype(np.float32); BITS.choose([10, 20])
P.choose([[1, 2], [3, 4], [5, 6]], mode="clip"); F.clip(-1, 3); Z.conj(); F.cumsum(); F.diagonal()
CUBE.dot(CUBE.swapaxes(1, 2)); F.flatten("F"); CUBE.transpose(1, 0, 2).flatten("K")
ROW.max(initial=5, where=[False, True, False, True]); I.mean(axis=1, where=[True, False, True])
ROW.prod(initial=2); F.ravel(); F.reshape(3, 2, order="F"); F.round(1)
TABLE.searchsorted([0, 2, 3, 9]); F[None].squeeze(); F.std(axis=1, ddof=1); CUBE.sum((0, -1))
F.sum(axis=1, where=host > 0); CUBE.take([[0, 1], [2, 2]], axis=1); ROW.take([-6, 5, 9], mode="wrap")
CUBE.take(1, axis=-1); CUBE.trace(1, 1, 2)
CUBE.transpose(1, 2, 0); CUBE.T; ROW.T; F.var(axis=1, ddof=1, where=[True, False, True]); Z.var(axis=0)
F.view(np.int64); Z.view(np.float64); Z.real; Z.imag; F.T.flat[1:4]
"""
WRITTEN_IN_A_TRACE: Final = """
F[1].sort(); F[:, ::2].fill(0.5); F.put([0, 1, 2, 3, 4], [1, 2]); F.T.put([1, 2], [8, 9]); F.flat[1::2] = [1, 2, 3]
F.T.flat[:4] = [1, 2]; Z.imag = [[1, 2], [3, 4]]; Z.real[0] = 5; F.view(np.int64)[0, 0] = 4607182418800017408
F[1].view(np.uint8)[:8] = 0; F.ravel()[0] = 5; F.sum(axis=0, out=F[1]); F.cumsum(axis=1, out=F); CUBE.T[0, 0] = 5
F.T.reshape((6,), order="F")[1] = 5; F.shape = (3, 2)
"""


@pytest.mark.usefixtures("backend")
def test_methods_give_the_same_under_jit() -> None:
    names, expressions = {"np": np, "host": F}, several(TRACED)
    run = xp.jit(lambda arrays: [evaluated(one, arrays, lambda x: x, **names) for one in expressions])
    found = run({name: xp.asarray(value) for name, value in ARRAYS.items()})
    for got, expression in zip(found, expressions, strict=True):
        assert_same(got, np.asarray(evaluated(expression, ARRAYS, np.copy, **names)))


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.usefixtures("backend")
def test_methods_write_the_same_under_jit_and_leave_the_arguments() -> None:
    statements = several(WRITTEN_IN_A_TRACE)
    expected = [written(one, ARRAYS, np.copy, np=np) for one in statements]
    given = [{name: xp.asarray(ARRAYS[name]) for name in several} for several in expected]
    run = xp.jit(lambda given: [written(*one, lambda x: x, np=np) for one in zip(statements, given, strict=True)])
    for got, wanted, arguments in zip(run(given), expected, given, strict=True):
        for name, array in wanted.items():
            assert_same(got[name], array)
            assert_same(arguments[name], ARRAYS[name])


DERIVATIVES: Final = """
(x * x).sum() -> 2 * x
x.mean() -> np.full(x.shape, 1 / x.size)
x[0].dot(x[1]) -> x[::-1]
(x * x).sum(where=[True, False, True]) -> 2 * x * [1, 0, 1]
x.max() -> (x == x.max()) * 1.0
(x.T * xp.asarray([1.0, 2.0])).sum() -> np.asarray([[1.0], [2.0]]) + 0 * x
x.ravel("F")[1] -> np.eye(2, 3)[::-1] * [1, 0, 0]
x.clip(0, 3).sum() -> ((x > 0) & (x < 3)) * 1.0
x.take([0, 0, 4]).sum() -> np.asarray([[2.0, 0, 0], [0, 1, 0]])
x.astype(np.float32).sum() -> np.ones_like(x)
x.trace() -> np.eye(2, 3)
x.cumsum()[-2] -> np.asarray([[1.0, 1, 1], [1, 1, 0]])
_filled(x).sum() -> np.asarray([[0.0, 0, 0], [1, 1, 1]])
_into(x).sum() -> np.asarray([[1.0, 1, 1], [1, 1, 1]])
"""
"""Functions of F by methods, and their gradients."""


def _filled(x: Any) -> Any:
    y = x.copy()
    y[0].fill(1)
    return y


def _into(x: Any) -> Any:
    y = x.copy()
    x.sum(axis=0, out=y[0])
    y[1] = 0
    return y


@each("row", rows(DERIVATIVES))
@pytest.mark.usefixtures("differentiating")
def test_methods_have_derivatives(row: str) -> None:
    function, gradient = row.split(" -> ")
    names = {"xp": xp, "np": np, "_filled": _filled, "_into": _into}
    found = xp.grad(lambda x: eval(function, names | {"x": x}))(xp.asarray(F))
    assert_same(found, eval(gradient, names | {"x": F}))


def test_an_element_may_be_a_static_argument(framework: str) -> None:
    scaled = xp.jit(lambda x, n: x * int(n), static_argnames="n")
    with xp.backend(framework):
        assert scaled(xp.ones(2), xp.asarray(3)).tolist() == [3, 3]
        assert scaled(xp.ones(2), xp.asarray(4)).tolist() == [4, 4]
        with pytest.raises(TypeError, match=r"jit: n of .* must be made of Arrays and hashable values"):
            scaled(xp.ones(2), xp.asarray([3]))


def test_completion_lists_methods() -> None:
    assert {"sum", "reshape", "flat", "sort", "T"} < set(dir(xp.ones(1))) & set(dir(xp.Array))


@pytest.mark.usefixtures("backend")
def test_what_ndarrays_alone_have_leads_to_an_ndarray() -> None:
    x = xp.ones(3)
    for name in ("ctypes", "setfield", "getfield"):
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match="'Array' object has no attribute"):
            getattr(x, name)
    # NumPy asks for these first, and what it read so would not be told of a write that gives the Array other memory.
    for protocol in ("__array_interface__", "__array_struct__", "__buffer__"):
        assert not hasattr(x, protocol)


def test_no_method_of_ndarrays_is_forgotten() -> None:
    lacking = {name for name in dir(np.ndarray) if name[0] != "_" and not hasattr(xp.Array, name)}
    meaningless = {"ctypes", "device", "getfield", "setfield", "to_device"}
    assert lacking <= meaningless
