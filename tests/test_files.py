"""Arrays in files, in NumPy's memory and on other backends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyarray as xp

VALUES = np.random.default_rng(4).normal(size=(6, 5))
NEEDS = {"npy": "numpy", "npz": "numpy", "zarr": "zarr", "h5": "h5py"}
ENDS = [*NEEDS]


def file(folder: Path, end: str, values: Any = VALUES) -> Path:
    """A file of that kind, written by its own library."""
    path = folder / f"a.{end}"
    library = pytest.importorskip(NEEDS[end])
    if end == "npy":
        np.save(path, values)
    elif end == "npz":
        np.savez(path, some=values)
    elif end == "zarr":
        library.create_array(path, data=values, chunks=(4, 5))
    else:
        with library.File(path, "w") as opened:
            opened["group/some"] = values
    return path


@pytest.mark.parametrize("end", ENDS)
def test_files_of_other_programs_are_read(end: str, backend: xp.Backend, tmp_path: Path) -> None:
    x = xp.from_file(file(tmp_path, end))
    assert (x.device, x.dtype) == (backend, xp.float64)
    np.testing.assert_array_equal(x.to_numpy(), VALUES)


@pytest.mark.parametrize("end", ENDS)
def test_what_is_written_is_read_by_other_programs(end: str, backend: xp.Backend, tmp_path: Path) -> None:
    library = pytest.importorskip(NEEDS[end])
    path = tmp_path / f"b.{end}"
    for values in (VALUES, VALUES.T[1:]):  # the second replaces the first
        xp.to_file(xp.asarray(values), path)
        if end == "npy":
            found = np.load(path)
        elif end == "npz":
            found = np.load(path)["x"]
        elif end == "zarr":
            found = library.open_array(path, mode="r")[...]
        else:
            with library.File(path) as opened:
                found = opened["x"][...]
        np.testing.assert_array_equal(found, values)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_lazy_arrays_are_read_and_written_in_blocks(end: str, scheduler: str, tmp_path: Path) -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.array")
    with xp.backend("dask"), dask.config.set(scheduler=scheduler):
        x = xp.from_file(file(tmp_path, end), chunks=(4, 3))
        assert x._native.chunks == ((4, 2), (3, 2))
        xp.to_file(x * 2, tmp_path / f"a.{end}")  # the file that is read
        y = xp.from_file(tmp_path / f"a.{end}")
        np.testing.assert_array_equal(y.to_numpy(), VALUES * 2)


@pytest.mark.parametrize("end", ["npy", "h5"])
def test_in_numpy_a_file_is_mapped_and_never_written(end: str, tmp_path: Path) -> None:
    path = file(tmp_path, end)
    x = xp.from_file(path)
    native = xp.to_native(x)
    while native.base is not None and not isinstance(native, np.memmap):
        native = native.base
    assert isinstance(native, np.memmap)
    x[0, 0] = 100.0
    np.testing.assert_array_equal(xp.from_file(path).to_numpy(), VALUES)
    assert float(x[0, 0]) == 100.0


def test_the_chunks_of_a_file_are_those_of_its_blocks(tmp_path: Path) -> None:
    dask = pytest.importorskip("dask")
    with xp.backend("dask"), dask.config.set({"array.chunk-size": "200B"}):
        assert xp.from_file(file(tmp_path, "zarr"))._native.chunks == ((4, 2), (5,))


def test_one_of_several_arrays_is_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "two.npz"
    np.savez(path, a=VALUES, b=VALUES + 1)
    np.testing.assert_array_equal(xp.from_file(path, "b").to_numpy(), VALUES + 1)
    for name, words in ((None, "holds 2 arrays"), ("c", "holds no 'c', but 2 arrays")):
        with pytest.raises(ValueError, match=re.escape(f"{words}. Give name: one of ['a', 'b']")):
            xp.from_file(path, name)
    xp.to_file(xp.asarray(VALUES), tmp_path / "named.npz", "mine")
    assert np.load(tmp_path / "named.npz").files == ["mine"]


def test_what_is_no_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(b"no array at all")
    with pytest.raises(xp.ArgumentValueError, match=rf"from_file: {re.escape(str(path))} holds no npy array: "):
        xp.from_file(path)
    np.save(path, VALUES)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(xp.ArgumentValueError, match="holds no npy array: mmap length is greater than file size"):
        xp.from_file(path)
    with pytest.raises(FileNotFoundError, match="none"):
        xp.from_file(tmp_path / "none.npy")
    for call in (lambda: xp.from_file("x.csv"), lambda: xp.to_file(xp.ones(1), "x.csv")):
        with pytest.raises(
            ValueError, match=r"path must end in one of \.npy, \.npz, \.zarr, \.h5, \.hdf5, not 'x\.csv'"
        ):
            call()


def test_a_truncated_zarr_is_an_error_where_its_values_are_needed(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    path = file(tmp_path, "zarr")
    (path / "c" / "0" / "0").write_bytes(b"\1")
    with xp.backend("dask"):
        x = xp.from_file(path)
        with pytest.raises(Exception, match=r"."):
            x.to_numpy()


def test_chunks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    with (
        xp.backend("dask"),
        pytest.raises(ValueError, match=re.escape("from_file: chunks (4, 3, 2) do not fit the shape (6, 5): ")),
    ):
        xp.from_file(file(tmp_path, "npy"), chunks=(4, 3, 2))


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    path = file(tmp_path, "npy")
    with xp.backend("dask"), pytest.raises(np.linalg.LinAlgError):
        xp.to_file(xp.linalg.inv(xp.zeros((2, 2))), path)
    np.testing.assert_array_equal(np.load(path), VALUES)
    assert [one.name for one in tmp_path.iterdir()] == ["a.npy"]


def test_blocks_of_a_file_do_not_wait_in_memory_for_its_mean(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    path = file(tmp_path, "npy")
    with xp.backend("dask"):
        x = xp.from_file(path, chunks=(2, 5))
        z = (xp.exp(x) - xp.mean(xp.exp(x), axis=0)) / xp.std(xp.exp(x), axis=0)
        read = [name for name in z._native.dask.layers if name.startswith("from_file")]
        assert sorted(name[-2:] for name in read) == ["-0", "-1"]
        wanted = (np.exp(VALUES) - np.exp(VALUES).mean(0)) / np.exp(VALUES).std(0)
        np.testing.assert_allclose(z.to_numpy(), wanted, rtol=1e-12)
        both = xp.mean(x) + xp.sum(x)
        assert len([name for name in both._native.dask.layers if name.startswith("from_file")]) == 1


def test_a_mesh_reads_parts(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    with xp.backend(xp.mesh("jax", rows=1)):
        x = xp.from_file(file(tmp_path, "npy"))
        assert str(x.device) == "jax-mesh(rows=1)"
        np.testing.assert_array_equal(x.to_numpy(), VALUES)
    with xp.backend("jax-cpu"):
        assert str(xp.from_file(file(tmp_path, "npy")).device) == "jax-cpu"
