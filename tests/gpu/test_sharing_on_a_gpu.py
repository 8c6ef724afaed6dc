"""What libraries share on a GPU, by the addresses of their memory.

Each test is skipped where the two libraries have no common GPU.
"""

from __future__ import annotations

import numpy as np
import pytest

import anyarray as xp


def has_gpu(name: str) -> bool:
    """Whether a backend is installed and has a GPU."""
    try:
        return xp.device(name).kind == "gpu"
    except (xp.BackendNotInstalledError, xp.DeviceNotFoundError):
        return False


GPUS = [name for name in ("jax-gpu", "tf-gpu", "cupy", "torch-gpu") if has_gpu(name)]
WRITABLE = ("cupy", "torch-gpu")
IMMUTABLE = [(one, other) for one in GPUS if one not in WRITABLE for other in GPUS if one != other]
N = 1_000_000


def address(x: xp.Array) -> int | None:
    """Where the memory of an Array begins, read without a copy."""
    found: int | None = x._home.backend.hook("address")(x._native)
    return found


@pytest.mark.parametrize(("source", "receiver"), IMMUTABLE)
def test_an_immutable_array_is_shared(source: str, receiver: str) -> None:
    x = xp.ones(N, device=source) + 1
    with xp.transfers() as log:
        y = x.to_device(receiver)
    assert [row.kind for row in log.rows] == ["view"]
    assert None in (address(x), address(y)) or address(x) == address(y)


@pytest.mark.parametrize(("source", "receiver"), IMMUTABLE)
def test_a_write_to_what_is_shared_is_seen_on_one_side(source: str, receiver: str) -> None:
    x = xp.ones(N, device=source) + 1
    y = x.to_device(receiver)
    y[0] = 5.0
    assert (float(x[0]), float(y[0])) == (2.0, 5.0)
    x[1] = 7.0
    assert (float(x[1]), float(y[1])) == (7.0, 2.0)


@pytest.mark.parametrize("receiver", [name for name in GPUS if name != "torch-gpu"] if "torch-gpu" in GPUS else [])
def test_what_one_tensor_holds_is_shared_until_it_is_written(receiver: str) -> None:
    x = xp.ones(N, device="torch-gpu") + 1
    with xp.transfers() as log:
        y = x.to_device(receiver)
    assert [row.kind for row in log.rows] == ["view"]
    assert None in (address(x), address(y)) or address(x) == address(y)
    x[0] = 5.0
    assert (float(y[0]), float(x[0])) == (2.0, 5.0)


@pytest.mark.parametrize("receiver", [name for name in GPUS if name != "cupy"] if "cupy" in GPUS else [])
def test_what_can_be_written_is_copied_on_the_device(receiver: str) -> None:
    x = xp.ones(N, device="cupy")
    with xp.transfers() as log:
        y = x.to_device(receiver)
    assert [(row.target, row.kind) for row in log.rows] == [(xp.device(receiver).name, "copy")]
    assert address(y) != address(x)
    x[0] = 5.0
    assert (float(y[0]), float(x[0])) == (1.0, 5.0)
    shared = xp.asarray(x, device=receiver, copy=False)
    assert address(shared) in (None, address(x))


@pytest.mark.parametrize("library", GPUS)
def test_reading_a_device_from_the_host_is_an_implicit_copy(library: str) -> None:
    x = xp.ones(3, device=library)
    with xp.no_transfers(), pytest.raises(xp.TransferError, match="would copy"):
        float(x[0])


@pytest.mark.parametrize("library", GPUS)
def test_functions_of_each_chapter_give_numpys_values(library: str) -> None:
    a = np.random.default_rng(0).standard_normal((64, 64))
    with xp.backend(library):
        x = xp.asarray(a)
        for got, expected in [
            (xp.exp(x), np.exp(a)),
            (x @ x, a @ a),
            (xp.sum(x, axis=0), a.sum(axis=0)),
            (xp.sort(x, axis=1), np.sort(a, axis=1)),
            (xp.linalg.svdvals(x), np.linalg.svd(a, compute_uv=False)),
            (xp.fft.fft(x), np.fft.fft(a)),
            (x[x > 0], a[a > 0]),
        ]:
            # Order of additions differs; float64 keeps ten digits through 64 terms.
            np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-10, atol=1e-10)
