"""A table of times by function, dtype, size and backend, for the cost model.

Run it by `python -m benchmarks.record FILE.csv [--backends NAMES] [--rounds N]`. Sizes are elements, of matrices their
side. Each figure is the median of a few calls, in microseconds: the first call, and one that is waited for. Of several
rounds the least counts, as noise only adds. The table of the tests is of three rounds on two cores, that of an H100 was
made by its forerunner in one.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.progress import track

import anyarray as xp
from anyarray._calibration.measuring import rest
from benchmarks.overhead import progress

VECTORS: Final = (64, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 23)
ORDERED: Final = VECTORS[:5]
SIDES: Final = (8, 64, 256, 768)
PRODUCTS: Final = (8, 64, 256, 1024)
LONGEST: Final = 0.8
"""Seconds of a call above which no larger size is timed."""

FUNCTIONS: Final[dict[str, tuple[str, Callable[..., Any], tuple[int, ...]]]] = {
    "add": ("x y", xp.add, VECTORS),
    "exp": ("x", xp.exp, VECTORS),
    "tanh": ("x", xp.tanh, VECTORS),
    "divide": ("x y", xp.divide, VECTORS),
    "sum": ("x", xp.sum, VECTORS),
    "max": ("x", xp.max, VECTORS),
    "std": ("x", xp.std, VECTORS),
    "cumulative_sum": ("x", xp.cumulative_sum, VECTORS),
    "where": ("b x y", xp.where, VECTORS),
    "vecdot": ("x y", xp.vecdot, VECTORS),
    "take": ("x i", xp.take, VECTORS),
    "concat": ("x y", lambda x, y: xp.concat([x, y]), VECTORS),
    "zeros": ("x", xp.zeros_like, VECTORS),
    "fft": ("c", xp.fft.fft, ORDERED),
    "sort": ("x", xp.sort, ORDERED),
    "argsort": ("x", xp.argsort, ORDERED),
    "searchsorted": ("s x", xp.searchsorted, ORDERED),
    "unique_values": ("k", xp.unique_values, ORDERED),
    "matmul": ("m m", xp.matmul, PRODUCTS),
    "matvec": ("m v", xp.matmul, PRODUCTS),
    "svd": ("m", xp.linalg.svd, SIDES),
    "cholesky": ("q", xp.linalg.cholesky, SIDES),
    "solve": ("q v", xp.linalg.solve, SIDES),
    "qr": ("m", xp.linalg.qr, SIDES),
    "eigh": ("q", xp.linalg.eigh, SIDES),
    "inv": ("q", xp.linalg.inv, SIDES),
}
"""By name: its arguments, the function, and its sizes."""


def arguments(names: str, n: int, dtype: np.dtype[Any]) -> list[Any]:
    """The arrays that `names` stand for, of n elements or n rows."""
    random = np.random.default_rng(0)
    makers: dict[str, Callable[[], Any]] = {
        "x": lambda: random.uniform(0.1, 1, n).astype(dtype),
        "y": lambda: random.uniform(0.1, 1, n).astype(dtype),
        "s": lambda: np.sort(random.uniform(0.1, 1, n).astype(dtype)),
        "b": lambda: random.random(n) < 0.5,
        "i": lambda: random.integers(0, n, n),
        "k": lambda: random.integers(0, 1000, n).astype(f"i{dtype.itemsize}"),
        "c": lambda: random.random(2 * n).astype(dtype).view(np.result_type(dtype, np.complex64)),
        "m": lambda: random.normal(size=(n, n)).astype(dtype),
        "v": lambda: random.normal(size=n).astype(dtype),
        "q": lambda: (n * np.eye(n) + random.random((n, n)) * 0.5).astype(dtype),
    }
    return [makers[name]() for name in names.split()]


def seconds_of(function: Callable[..., Any], arrays: list[Any], wait: Callable[[Any], None]) -> tuple[float, float]:
    """Seconds of the first call, and of a usual one, both waited for."""

    def once() -> float:
        started = time.perf_counter()
        result = function(*arrays)
        wait((result[0] if isinstance(result, tuple) else result)._native)
        return time.perf_counter() - started

    first, times = once(), [once()]
    while len(times) < 3 or (sum(times) < 0.01 and len(times) < 200):
        times.append(once())
    return first, statistics.median(times)


def rows(backends: list[str]) -> tuple[list[str], list[list[str]]]:
    """The head of the table, and its rows."""
    head = ["function", "dtype", "n", *[f"{name} {what}" for name in backends for what in ("first", "waited")]]
    found: list[list[str]] = []
    too_long: set[tuple[str, str, str]] = set()
    for name, (given, function, sizes) in track(FUNCTIONS.items(), "functions", console=progress, transient=True):
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            for n in sizes:
                host, cells = arguments(given, n, dtype), []
                for backend in backends:
                    key = (name, dtype.name, backend)
                    if key in too_long:
                        cells += ["", ""]
                        continue
                    rest()
                    with xp.backend(backend):
                        arrays = [xp.asarray(a) for a in host]
                        first, usual = seconds_of(function, arrays, xp.device(backend).hook("synchronize"))
                    cells += [f"{first * 1e6:.4g}", f"{usual * 1e6:.4g}"]
                    if usual > LONGEST:
                        too_long.add(key)
                found.append([name, dtype.name, str(n), *cells])
    return head, found


def least(alike: Sequence[list[str]]) -> list[str]:
    """The row of the least figures, without what took too long once."""
    figures = [min(cells, key=float) if all(cells) else "" for cells in list(zip(*alike, strict=True))[3:]]
    return [*alike[0][:3], *figures]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE.csv")
    parser.add_argument("--backends", default="numpy,jax-cpu,tf-cpu", help="default: numpy,jax-cpu,tf-cpu")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    rounds = [rows(options.backends.split(",")) for _ in range(options.rounds)]
    head, found = rounds[0][0], [least(alike) for alike in zip(*[table for _, table in rounds], strict=True)]
    with options.file.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *found])


if __name__ == "__main__":
    main()
