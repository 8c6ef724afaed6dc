"""Bringing arrays to another backend: right values from any buffer.

No memory is shared by accident.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray._memory import transfer

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
SHAPES = [(), (0,), (1,), (5,), (2, 3), (0, 3), (3, 0, 2), (2, 1, 3, 1, 2)]


def same_bytes(x: xp.Array, a: np.ndarray[Any, Any]) -> None:
    """Assert that an Array has the values of an ndarray, bit by bit."""
    got = np.asarray(x)
    assert (got.dtype, got.shape) == (a.dtype.newbyteorder("="), a.shape)
    assert got.tobytes() == a.astype(a.dtype.newbyteorder("=")).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_brought_over(dtype: str, name: str, target: str) -> None:
    x = xp.asarray([[0, 1], [1, 0]], dtype=getattr(xp, dtype), device=name)
    y = x.to_device(target)
    assert (y.dtype, y.device, y.tolist()) == (x.dtype, xp.device(target), x.tolist())


LAYOUTS: dict[str, tuple[np.ndarray[Any, Any], Callable[[Any], Any]]] = {
    **{str(shape): (np.arange(float(math.prod(shape))).reshape(shape), lambda x: x) for shape in SHAPES},
    "special": (np.asarray([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308]), lambda x: x),
    "strided": (np.arange(12.0).reshape(4, 3), lambda x: x[::2]),
    "reversed": (np.arange(12.0).reshape(4, 3), lambda x: x[::-1]),
    "empty": (np.arange(12.0).reshape(4, 3), lambda x: x[1:1]),
    "column": (np.arange(12.0).reshape(4, 3), lambda x: x[:, 0]),
    "transposed": (np.arange(6.0).reshape(2, 3), lambda x: x.T),
    "broadcast": (np.arange(3.0), lambda x: (xp if isinstance(x, xp.Array) else np).broadcast_to(x, (2, 3))),
    # of every size and alignment
    **{f"{n} bytes": (np.arange(n + 1, dtype=np.uint8), lambda x: x[1:]) for n in (1, 7, 8, 9, 63, 64, 65, 1_000_003)},
}


def test_every_layout_is_brought_over_bit_by_bit(name: str, target: str) -> None:
    for a, part in LAYOUTS.values():
        same_bytes(part(xp.asarray(a, device=name)).to_device(target), part(a))
        same_bytes(xp.asarray(part(a), device=name).to_device(target), part(a))


def test_what_was_brought_over_can_be_computed_with(name: str, target: str) -> None:
    # A wrongly shared buffer ends the process at the next operation of TensorFlow, not before.
    y = xp.arange(100_001.0, device=name).to_device(target)
    assert float(xp.sum(y * 2 + 1)) == 100_001.0 * 100_001.0


def test_a_round_trip_changes_nothing(name: str, target: str) -> None:
    x = xp.linspace(-1, 1, 1001, device=name)
    there = xp.asarray(x, device=target)
    back = there.to_device(name)
    assert (there.device, back.device, back.tolist()) == (xp.device(target), x.device, x.tolist())
    with xp.backend(target):
        assert xp.exp(np.zeros(3)).device is xp.device(target)


@pytest.mark.usefixtures("backend")
def test_a_copy_that_would_be_needed_can_be_forbidden() -> None:
    with pytest.raises(ValueError) as caught:
        xp.asarray(xp.arange(3), dtype=xp.float32, copy=False)
    assert str(caught.value) == "asarray: obj of dtype int64 cannot become float32 without a copy"


BUFFERS: dict[str, Callable[[], Any]] = {
    "strided": lambda: np.arange(20.0)[::3],
    "negative stride": lambda: np.arange(20.0)[::-2],
    "Fortran order": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "transposed": lambda: np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "broadcast": lambda: np.broadcast_to(np.arange(3.0), (4, 3)),
    "read-only": lambda: np.frombuffer(bytes(range(16)), dtype=np.int32),
    "byte-swapped": lambda: np.arange(5, dtype=">i4"),
    "byte-swapped floats": lambda: np.linspace(0, 1, 5).astype(">f8"),
    "0-d": lambda: np.asarray(2.5),
    "NumPy scalar": lambda: np.float32(2.5),
    "zero-size": lambda: np.zeros((3, 0, 2), dtype=np.int16),
    "zero-size strided": lambda: np.zeros((4, 4))[::2, 4:],
    "unaligned": lambda: np.frombuffer(b"\0" + np.arange(4.0).tobytes(), dtype=np.uint8)[1:].view(np.float64),
    "field of a record": lambda: np.zeros(4, dtype=[("a", "i1"), ("b", "f8")])["b"],
    "float16": lambda: np.asarray([0.1, 65504, np.inf, np.nan], dtype=np.float16),
    "bool": lambda: np.asarray([[True, False]]),
    "subclass": lambda: np.asarray([[1.0, 2.0]]).view(np.matrix),
}


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
@pytest.mark.usefixtures("backend")
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_an_odd_buffer_of_numpy_is_read_right_and_computed_with(make: Callable[[], Any]) -> None:
    a = make()
    same_bytes(xp.asarray(a), np.asarray(a))
    total = xp.sum(xp.asarray(a, copy=True) * 1, dtype=xp.float64)
    assert total.tolist() == pytest.approx(np.sum(np.asarray(a), dtype=np.float64), nan_ok=True)


@pytest.mark.parametrize(
    "number", [np.float64(2), np.float32(-0.0), np.int8(3), np.uint64(2**63), np.bool_(True)], ids=repr
)
def test_a_number_of_numpys_is_a_constant_beside_an_array(number: Any, backend: xp.Backend) -> None:
    host = np.asarray([1.5, -2.0], dtype=np.float32)
    x = xp.asarray(host)
    with xp.transfers() as log:
        found = [x * number, xp.where(x > 0, x, number), xp.equal(number, x)]
    assert not log.rows
    for one, expected in zip(found, [host * number, np.where(host > 0, host, number), number == host], strict=True):
        assert one.device is backend
        same_bytes(one, expected)


@pytest.mark.needs("bfloat16")
def test_bfloat16_of_ml_dtypes_is_taken(backend: xp.Backend) -> None:
    import ml_dtypes

    x = xp.asarray(np.asarray([0.5, -1.5], dtype=ml_dtypes.bfloat16))
    assert (x.dtype, x.device, x.tolist()) == (xp.bfloat16, backend, [0.5, -1.5])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.asarray([1, "a"], dtype=object), "has the dtype object, which no Array can have"),
        (np.asarray(["a", "bc"]), "has the dtype <U2, which no Array can have"),
        (np.asarray([b"a"]), "has the dtype |S1, which no Array can have"),
        (np.asarray(["2020-01-01"], dtype="datetime64[D]"), "has the dtype datetime64[D], which no Array can have"),
        (np.asarray([1], dtype="timedelta64[s]"), "has the dtype timedelta64[s], which no Array can have"),
        (np.zeros(2, dtype=[("a", "i4")]), "has the dtype [('a', '<i4')], which no Array can have"),
        (["a"], "must hold numbers or booleans, not list of <U1"),
        ("a", "must hold numbers or booleans, not str of <U1"),
        ([None], "must hold numbers or booleans, not list of object"),
        ({}, "must hold numbers or booleans, not dict of object"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("backend")
def test_values_that_no_array_can_have_are_a_type_error(value: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        xp.asarray(value)
    assert str(caught.value) == f"asarray: obj {said}"
    with pytest.raises(TypeError):
        xp.exp(value)


@pytest.mark.usefixtures("backend")
def test_a_ragged_sequence_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^asarray: obj must be a regular nested sequence: "):
        xp.asarray([[1, 2], [3]])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([], "float64"), ([[]], "float64"), ([True, False], "bool"), ([1, True], "int64"), ([1, 2.5], "float64"),
        ([1, 2j], "complex128"), ([2**63], "uint64"), ([-(2**63)], "int64"), (range(3), "int64"), ((1, 2), "int64"),
        ([(1.0,), (2.0,)], "float64"), ([np.float32(1)], "float32"), ([np.int8(1), np.int8(2)], "int8"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.usefixtures("backend")
def test_a_sequence_has_the_dtype_of_its_values(value: Any, dtype: str) -> None:
    x = xp.asarray(value)
    assert x.dtype is getattr(xp, dtype)
    assert x.tolist() == np.asarray(value).tolist()


def test_a_sequence_may_hold_arrays(backend: xp.Backend) -> None:
    x = xp.asarray([xp.asarray(1.5), 2, [xp.asarray(3)][0]])
    assert (x.tolist(), x.dtype, x.device) == ([1.5, 2.0, 3.0], xp.float64, backend)


@pytest.mark.parametrize(
    "value", [b"\x01\x02", bytearray(b"\x01\x02"), memoryview(b"\x01\x02")], ids=lambda v: type(v).__name__
)
@pytest.mark.usefixtures("backend")
def test_a_buffer_of_bytes_is_taken(value: Any) -> None:
    x = xp.asarray(value)
    assert (x.tolist(), x.dtype) == ([1, 2], xp.uint8)


@pytest.mark.usefixtures("backend")
def test_an_object_with_array_is_taken() -> None:
    class Holder:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
            return np.asarray([1.0, 2.0], dtype=np.float32)

    x = xp.asarray(Holder())
    assert (x.tolist(), x.dtype) == ([1.0, 2.0], xp.float32)


def test_the_ledger_says_copy_where_the_memory_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    source, target = xp.device("jax"), xp.device("numpy")
    with xp.backend("jax"):
        x = xp.ones(1000) + 1
    with xp.transfers() as log:
        x.to_device("numpy")
        way = transfer.route(source, target)
        copying = way._replace(alias=lambda native, _: np.array(native))  # a library that shares nothing after all
        monkeypatch.setitem(source.routes, target, copying)
        transfer.transferred(x._native, source, target, "to_device", is_safe=True)
    assert [row.kind for row in log.rows] == ["view", "copy"]
