"""Arrays between the host and a GPU: by value, by pointer, and in order.

Each test is skipped where a library is missing or finds no GPU.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from test_sharing_on_a_gpu import GPUS, address

import anyarray as xp

carrier: Any = importlib.import_module("anyarray.backends._shared.carrier")
PIECE = carrier.LARGE
"""Bytes of a piece, and of the smallest array that CuPy carries."""
COUNTS = [0, 1, 255, 1 << 14, PIECE // 16 - 1, PIECE // 16, PIECE // 16 + 1, PIECE // 8, PIECE // 8 + 1, PIECE + 3]
"""Numbers of elements, around the borders of pieces for dtypes of 16, 8 and 1 byte."""
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64", "complex128"]
CARRIED = [name for name in GPUS if name in ("jax-gpu", "tf-gpu")] if "cupy" in GPUS else []


def values(count: int, dtype: str) -> np.ndarray[Any, Any]:
    kind = getattr(xp, dtype).dtype
    return (np.random.default_rng(count).integers(0, 200, count) % (2 if dtype == "bool" else 120)).astype(kind)


@pytest.mark.parametrize("library", GPUS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_brought_over_comes_back(dtype: str, library: str) -> None:
    if not xp.device(library).has_dtype(dtype):
        pytest.skip(f"{library} has no {dtype}")
    for count in COUNTS:
        a = values(count, dtype)
        x = xp.asarray(a, device=library)
        for _ in range(3):  # into ordinary, new pinned and kept memory
            back = np.asarray(x)
            assert back.dtype == a.dtype
            assert (back == a).all(), count


@pytest.mark.parametrize("library", GPUS)
def test_every_layout_is_brought_over(library: str) -> None:
    a = np.random.default_rng(0).random((3, 400, 2000))
    for one in (
        a.T,
        np.asfortranarray(a),
        a[:, ::-1, ::3],
        np.broadcast_to(a[0, 0], (1000, 2000)),
        a[:, :0],
        a[0, 0, 0],
    ):
        x = xp.asarray(one, device=library)
        np.testing.assert_array_equal(np.asarray(x), one)
        part = xp.asarray(a, device=library)[:, 1::2]
        np.testing.assert_array_equal(np.asarray(part), a[:, 1::2])


@pytest.mark.parametrize("library", GPUS)
def test_the_source_may_be_written_at_once(library: str) -> None:
    for nbytes in (1000, PIECE, 40 * PIECE):
        a = np.ones(nbytes // 4, np.float32)
        x = xp.asarray(a, device=library)
        a[...] = 2
        assert float(xp.sum(x)) == a.size


@pytest.mark.parametrize("library", GPUS)
def test_results_do_not_share_memory(library: str) -> None:
    results = [np.asarray(xp.full(PIECE, float(i), dtype=xp.float32, device=library)) for i in range(12)]
    assert [float(one[0]) for one in results] == list(range(12))
    assert [float(one[-1]) for one in results] == list(range(12))


@pytest.mark.parametrize("library", CARRIED)
def test_a_large_array_is_carried_by_cupy(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by = carrier.carrier()
    lent: list[int] = []
    export = by.exported_from_numpy

    def noting(a: Any, device: int) -> Any:
        found = export(a, device)
        lent.append(found.data.ptr)
        return found

    monkeypatch.setattr(by, "exported_from_numpy", noting)
    for dtype in ("float32", "float64", "int64", "bool", "complex64"):
        a = values(PIECE, dtype)
        x = xp.asarray(a, device=library)
        assert len(lent) == 1, dtype
        assert address(x) in (None, lent[0])
        assert address(x.to_device("cupy")) == lent.pop()
    assert not carrier._refused


@pytest.mark.parametrize("library", CARRIED)
def test_memory_that_is_given_back_is_not_written_while_it_is_read(library: str) -> None:
    count = 4 * PIECE
    sums: list[xp.Array] = []
    with xp.backend(library):
        for i in range(1, 30):
            x = xp.asarray(np.full(count, float(i), np.float32))
            for _ in range(10):  # some milliseconds of kernels, still to run when `x` is given back
                x = x + 0
            sums.append(xp.max(x) + xp.min(x))
            del x
    assert [float(one) for one in sums] == [2.0 * i for i in range(1, 30)]


@pytest.mark.parametrize("library", CARRIED)
def test_without_cupy_the_library_copies_itself(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrier, "carrier", lambda: None)
    a = values(4 * PIECE, "float32")
    assert (np.asarray(xp.asarray(a, device=library)) == a).all()


@pytest.mark.parametrize("library", GPUS)
def test_transfers_are_copies_to_the_ledger_and_the_guard(library: str) -> None:
    a = np.ones(PIECE, np.float32)
    with xp.transfers() as log:
        x = xp.asarray(a).to_device(library)
        x.to_device("numpy")
    assert [(row.target, row.kind, row.nbytes) for row in log.rows] == [
        (xp.device(library).name, "copy", a.nbytes),
        ("numpy", "copy", a.nbytes),
    ]
    with xp.no_transfers(), pytest.raises(xp.TransferError):
        np.asarray(x)


@pytest.mark.parametrize("library", GPUS)
def test_memory_can_be_freed_between_transfers(library: str) -> None:
    a = values(4 * PIECE, "float32")
    for _ in range(3):
        x = xp.asarray(a, device=library)
        assert (np.asarray(x) == a).all()
        del x
        xp.free_memory()
