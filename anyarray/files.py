"""Arrays in files: npy, npz, Zarr and HDF5, each by its own library."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors, files
from anyarray._call.arguments import as_array
from anyarray._call.wrapping import wrap
from anyarray._choice import choice
from anyarray.standard.creation import asarray

__all__ = ["from_file", "to_file"]

FORMATS: Final = {".npy": "npy", ".npz": "npz", ".zarr": "zarr", ".h5": "hdf5", ".hdf5": "hdf5"}
"""The formats by the ends of the files' names."""


def from_file(path: str | os.PathLike[str], name: str | None = None, chunks: Any = "auto") -> Array:
    """An Array of the numbers in a file, on the chosen backend.

    The extension determines the format: `.npy`, `.npz`, `.zarr`, `.h5` or `.hdf5`. `name` chooses one of several arrays
    in a file. On NumPy, npy files and uncompressed HDF5 arrays are mapped read-only; other files are read. On Dask,
    blocks are read when they are needed: `chunks` are their lengths, as in Dask. On a mesh, each process reads its
    part.

    Zarr and HDF5 need the extra `files`. Raises ValueError for a file without such an array.

    >>> import anyarray as xp
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xp.to_file(xp.arange(3), f"{folder}/x.npy")
    ...     xp.from_file(f"{folder}/x.npy").tolist()
    [0, 1, 2]
    """
    source = Source(os.fspath(path), name)
    home = choice.chosen_home(None)
    backend, native = home.backend, None
    if backend.has_hook("from_source"):
        try:
            native = backend.hook("from_source")(source, backend.native_device, chunks)
        except (TypeError, ValueError) as error:
            raise errors.ArgumentValueError(
                f"from_file: chunks {chunks!r} do not fit the shape {source.shape}: {error}"
            ) from error
    return asarray(source.values()) if native is None else wrap(native, home)


def to_file(x: AnyArray, path: str | os.PathLike[str], name: str | None = None) -> None:
    """Write an Array to a file, replacing an existing one.

    The extension determines the format, as for `from_file`. `name` is the name of the array in an npz or HDF5 file, by
    default "x". A lazy Array is computed and written block by block. The file appears when it is complete.

    >>> import tempfile
    >>> import anyarray as xp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xp.to_file(xp.arange(3), f"{folder}/x.npy")
    ...     total = int(xp.sum(xp.from_file(f"{folder}/x.npy")))
    >>> total
    3
    """
    array = as_array("to_file", "x", x)
    where, kind = Path(path), _format("to_file", os.fspath(path))
    lazy = array._home.backend.has_hook("stored") and kind != "npz"
    whole = None if lazy else array.to_numpy()
    if whole is not None and not whole.flags.c_contiguous:
        whole = np.ascontiguousarray(whole)
    with _replacing(where, kind) as new:
        if whole is not None:
            _write(kind, new, name or DEFAULT, whole.shape, whole.dtype, whole.shape, whole)
        else:
            make: Callable[[Any], Target] = lambda pieces: Target(kind, new, name or DEFAULT, array, pieces)  # noqa: E731
            array._home.backend.hook("stored")(array._native, make, kind == "hdf5")


DEFAULT: Final = "x"
"""The name of an array in a file of several."""


@contextmanager
def _replacing(path: Path, kind: str) -> Generator[str]:
    """A path to write to, which replaces `path` in the end."""
    if kind != "zarr":
        with files.replacement(path) as (temporary, there):
            yield str(temporary)
            os.replace(temporary, there)
        return
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield str(new)
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(new, path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _write(kind: str, path: str, name: str, shape: Any, dtype: Any, pieces: Any, values: Any) -> None:
    """Write an array to a new file, without values if they are None."""
    if kind == "npy":
        mapped = np.lib.format.open_memmap(path, "w+", dtype, shape)
        if values is not None:
            mapped[...] = values
    elif kind == "npz":
        with open(path, "wb") as file:
            np.savez(file, **{name: values})
    elif kind == "zarr":
        made = _library("zarr", "to_file").create_array(path, shape=shape, dtype=dtype, chunks=tuple(pieces) or "auto")
        if values is not None:
            made[...] = values
    else:
        with _library("h5py", "to_file").File(path, "w") as opened:
            opened.create_dataset(name, shape, dtype, data=values)


class Target:
    """A file that is written in parts, from any process."""

    def __init__(self, kind: str, path: str, name: str, array: Array, pieces: tuple[int, ...]) -> None:
        self.kind, self.path, self.name, self.shape = kind, path, name, array.shape
        _write(kind, path, name, array.shape, array.dtype.dtype, pieces, None)

    def __setitem__(self, key: Any, values: Any) -> None:
        if self.kind == "npy":
            np.load(self.path, mmap_mode="r+")[key] = values
        elif self.kind == "zarr":
            _library("zarr", "to_file").open_array(self.path, mode="r+")[key] = values
        else:
            with _library("h5py", "to_file").File(self.path, "r+") as opened:
                opened[self.name][key] = values


class Source:
    """An array in a file, of which parts are read.

    It can be sent to other processes.
    """

    def __init__(self, path: str, name: str | None) -> None:
        self.path = os.path.abspath(path)
        self.kind = _format("from_file", path)
        status = os.stat(self.path)
        try:
            self.member = self._member(name)
            opened = self._opened()
            self.shape, self.dtype = tuple(opened.shape), np.dtype(opened.dtype)
            self.chunks = getattr(opened, "chunks", None)
        except (errors.AnyarrayError, MemoryError):
            raise
        except Exception as error:
            raise errors.ArgumentValueError(f"from_file: {path} holds no {self.kind} array: {error}") from error
        self.ndim = len(self.shape)
        identity = f"{self.path}:{self.member}:{status.st_mtime_ns}:{status.st_size}"
        self.name = hashlib.sha256(identity.encode()).hexdigest()[:32]

    def _member(self, name: str | None) -> str | None:
        """The name of the array in its file; None if the file is the array."""
        if self.kind == "npy":
            return None
        if self.kind == "npz":
            with np.load(self.path) as opened:
                return _chosen(self.path, name, list(opened.files))
        if self.kind == "zarr":
            found = _library("zarr", "from_file").open(self.path, mode="r")
            return None if hasattr(found, "shape") else _chosen(self.path, name, sorted(found.array_keys()))
        with _library("h5py", "from_file").File(self.path, "r") as opened:
            names: list[str] = []
            opened.visititems(lambda path, item: names.append(path) if hasattr(item, "shape") else None)
            return _chosen(self.path, name, names)

    def _opened(self) -> Any:
        if self.kind == "npy":
            return np.load(self.path, mmap_mode="r")
        if self.kind == "npz":
            with np.load(self.path) as opened:
                return opened[self.member]
        if self.kind == "zarr":
            found = _library("zarr", "from_file").open(self.path, mode="r")
            return found if self.member is None else found[self.member]
        return _library("h5py", "from_file").File(self.path, "r")[self.member]

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self._opened()[key])

    def values(self) -> Any:
        """All of it: mapped if it lies in the file as in memory, else read."""
        opened = self._opened()
        if self.kind == "hdf5" and self.chunks is None and opened.id.get_offset() is not None:
            return np.memmap(self.path, self.dtype, "r", opened.id.get_offset(), self.shape)
        return opened if self.kind == "npy" else np.asarray(opened[...])


def _chosen(path: str, name: str | None, names: list[str]) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name.strip("/") not in names:
        wanted = "" if name is None else f" no {name!r}, but"
        raise errors.ArgumentValueError(
            f"from_file: {path} holds{wanted} {len(names)} arrays. Give name: one of {names}"
        )
    return name.strip("/")


def _format(function: str, path: str) -> str:
    end = os.path.splitext(path.rstrip("/\\"))[1].lower()
    if end not in FORMATS:
        raise errors.ArgumentValueError(f"{function}: path must end in one of {', '.join(FORMATS)}, not {path!r}")
    return FORMATS[end]


def _library(package: str, function: str) -> ModuleType:
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise errors.BackendNotInstalledError(
            f'{function}: needs {package}, which is not installed. Run: pip install "anyarray[files]"'
        ) from error
