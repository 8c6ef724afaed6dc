"""Every function of the standard on each GPU, waited for.

Run it by `python -m benchmarks.gpu [BACKEND ...]`. Each call stands beside the library's own call of that function, and
beside the best of the other backends. What is beyond 1.2 and beyond 3 times the better of both is printed. Without a
GPU it runs on the backends of the CPU.
"""

from __future__ import annotations

import argparse
import importlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from rich.progress import track

import anyarray as xp
from anyarray._registry import registry
from benchmarks.alike import NUMPY, TENSORFLOW, arguments_of, has
from benchmarks.overhead import console, host_arrays, print_table, progress

SIZES: Final = (1 << 10, 1 << 17, 1 << 23)
NEAR: Final = 1.2
"""The ratio to the best call beyond which a function is printed."""
FAR: Final = 3.0
"""The ratio beyond which it is marked."""
_SIDE: Final = 1024
"""Rows of the largest matrix that is factorised."""

LINALG: Final = {
    "cholesky": "q", "cross": "u, v", "det": "q", "eig": "q", "eigh": "q", "eigvals": "q", "eigvalsh": "q", "inv": "q",
    "matrix_norm": "q", "matrix_power": "q, 3", "matrix_rank": "q", "outer": "x[:side], y[:side]", "pinv": "q",
    "qr": "q", "slogdet": "q", "solve": "q, q", "svd": "q", "svdvals": "q", "trace": "q", "vector_norm": "x",
}  # fmt: skip
"""Arguments of the functions of `linalg` that the main namespace has not; `q` is positive definite."""
FFT: Final = {
    **dict.fromkeys(("fft", "ifft", "irfft", "hfft"), "c"),
    **dict.fromkeys(("fftn", "ifftn", "irfftn"), "d"),
    **dict.fromkeys(("rfft", "ihfft", "fftshift", "ifftshift"), "x"),
    "rfftn": "m", "fftfreq": "size", "rfftfreq": "size",
}  # fmt: skip


@dataclass(frozen=True)
class Time:
    """Seconds of one call on one backend."""

    function: str
    size: int
    backend: str
    ours: float
    own: float | None
    """Of the library's own call; None if it has none that takes the same arguments."""


def arrays_of(size: int) -> dict[str, Any]:
    """The arrays that calls name, in NumPy; floats are float32."""
    side = min(math.isqrt(size), _SIDE)
    square = np.random.default_rng(1).random((side, side))
    host = host_arrays(size) | {"q": square @ square.T + side * np.eye(side)}
    host |= {"d": host["m"] + 1j * host["m"], "u": host["x"][: size // 3 * 3].reshape(-1, 3)}
    host["v"] = host["u"][::-1].copy()
    narrow = {"f": np.float32, "c": np.complex64}
    numbers = {"size": size, "rows": len(host["m"]), "side": side}
    return {name: a.astype(narrow.get(a.dtype.kind, a.dtype)) for name, a in host.items()} | numbers


OPERATORS: Final = ("x + 1", "x[0]", "x[i]", "x[b]")
"""Expressions that Arrays and native arrays have in common."""


def calls(ours: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Functions of the standard with their arguments, and `OPERATORS`."""
    for expression in OPERATORS:
        yield expression, None
    for name in xp.__all__:
        arguments = arguments_of(name, ours)
        if arguments is not None:
            yield name, arguments
    for chapter, table in (("linalg", LINALG), ("fft", FFT)):
        for name, arguments in table.items():
            yield f"{chapter}.{name}", arguments


def spellings(backend: xp.Backend, name: str) -> list[tuple[Any, str]]:
    """The library's own functions of that name: namespaces and names."""
    if backend.library == "tf":
        tf = importlib.import_module("tensorflow")
        last = name.rpartition(".")[2]
        its_own = (TENSORFLOW.get(name, name), f"math.{name}", f"linalg.{last}", f"signal.{last}")
        numpys = ((tf.experimental.numpy, one) for one in (name, NUMPY.get(name, name)))
        return [*((tf, one) for one in its_own), *numpys]
    namespaces = {"numpy": "numpy", "jax": "jax.numpy", "cupy": "array_api_compat.cupy"}
    namespace = importlib.import_module(namespaces[backend.library])
    return [(namespace, name), (namespace, NUMPY.get(name, name))]


def scope_of(backend: xp.Backend) -> Callable[[], AbstractContextManager[Any]]:
    """The block in which the library's own calls compute as ours."""
    if backend.library == "jax":
        jax = importlib.import_module("jax")
        return lambda: jax.enable_x64(True)
    return nullcontext


def least_seconds(
    entries: Mapping[str, tuple[Callable[[], Any], Callable[[], AbstractContextManager[Any]]]],
    wait: Callable[[Any], None],
    seconds: float,
) -> dict[str, float]:
    """The least time of each call, waited for; they take turns."""
    least: dict[str, float] = {}
    for name, (call, block) in entries.items():
        try:
            with block():
                wait(call())
                wait(call())
        except Exception:  # noqa: BLE001 - whatever a library raises, it does not take the call
            continue
        least[name] = math.inf
    end = time.perf_counter() + seconds * len(least)
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        for name in least:
            call, block = entries[name]
            with block():
                started = time.perf_counter()
                wait(call())
                least[name] = min(least[name], time.perf_counter() - started)
        rounds += 1
    return least


def measured(names: Sequence[str], sizes: Sequence[int], seconds: float, only: Sequence[str] = ()) -> list[Time]:
    """Times of every function of the standard, or `only` of these."""
    times: list[Time] = []
    for size in sizes:
        host = arrays_of(size)
        for name in names:
            backend = xp.device(name)
            with xp.backend(backend):
                ours = {key: xp.asarray(a) if isinstance(a, np.ndarray) else a for key, a in host.items()}
            ours["xp"] = xp
            native = {key: xp.to_native(a) if isinstance(a, xp.Array) else a for key, a in ours.items()}
            with xp.backend(backend):
                chosen = [(f, arguments) for f, arguments in calls(ours) if not only or f in only]
            for function, arguments in track(chosen, f"{name}, {size}", console=progress, transient=True):
                times.extend(_timed(backend, function, arguments, size, ours, native, seconds))
    return times


def _timed(
    backend: xp.Backend,
    function: str,
    arguments: str | None,
    size: int,
    ours: Mapping[str, Any],
    native: Mapping[str, Any],
    seconds: float,
) -> Iterator[Time]:
    synchronize = backend.hook("synchronize")

    def wait(result: Any) -> None:
        last = result[-1] if isinstance(result, (tuple, list)) else result
        last = last._native if isinstance(last, xp.Array) else last
        if registry.backend_of_native(last) is not None:
            synchronize(last)

    entries: dict[str, Any] = {}
    expression = function if arguments is None else f"xp.{function}({arguments})"
    entries["ours"] = (eval(f"lambda: {expression}", dict(ours)), lambda: xp.backend(backend))
    if arguments is None:
        entries["own"] = (eval(f"lambda: {expression}", dict(native)), scope_of(backend))
    for number, (namespace, spelled) in enumerate(spellings(backend, function) if arguments is not None else ()):
        if has(namespace, spelled):
            its_own = eval(f"lambda: own.{spelled}({arguments})", {**native, "own": namespace})
            entries[f"own {number}"] = (its_own, scope_of(backend))
    least = least_seconds(entries, wait, seconds)
    if "ours" in least:
        own = min((value for key, value in least.items() if key != "ours"), default=None)
        yield Time(function, size, backend.name, least["ours"], own)


def best_other(time_: Time, times: Sequence[Time]) -> Time | None:
    """The best time of that call on another backend."""
    others = [t for t in times if (t.function, t.size) == (time_.function, time_.size) and t.backend != time_.backend]
    return min(others, key=lambda t: t.ours, default=None)


def report(times: Sequence[Time]) -> None:
    """Print what is far from the library's own call, or from the best."""
    for backend in dict.fromkeys(t.backend for t in times):
        of_it = [t for t in times if t.backend == backend]
        rows: list[tuple[float, list[str]]] = []
        near = far = 0
        for t in of_it:
            other = best_other(t, times)
            best = min([one for one in (t.own, other and other.ours) if one is not None], default=t.ours)
            ratio = t.ours / best
            near, far = near + (ratio > NEAR), far + (ratio > FAR)
            if ratio > NEAR:
                own = "" if t.own is None else f"{t.own * 1e6:.1f}"
                beside = "" if other is None else f"{other.ours * 1e6:.1f} {other.backend}"
                text = f"{ratio:.2f}{'!' if ratio > FAR else ''}"
                rows.append((ratio, [t.function, str(t.size), f"{t.ours * 1e6:.1f}", own, beside, text]))
        print_table(
            f"{backend}: us, waited for; what is beyond {NEAR} times the best",
            ["function", "size", "anyarray", "its own", "best other", "ratio"],
            [row for _, row in sorted(rows, key=lambda row: -row[0])],
        )
        console.print(f"{backend}: {near} of {len(of_it)} beyond {NEAR}, {far} beyond {FAR}", highlight=False)


def backends() -> list[str]:
    """The backends with a GPU; those of the CPU if there are none."""
    found = [name for name in ("cupy", "jax-gpu", "tf-gpu") if _is_here(name)]
    return found or [name for name in ("numpy", "jax-cpu", "tf-cpu") if _is_here(name)]


def _is_here(name: str) -> bool:
    try:
        xp.device(name)
    except (xp.BackendNotInstalledError, xp.DeviceNotFoundError):
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help="default: every one with a GPU")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=SIZES)
    parser.add_argument("--seconds", type=float, default=0.02, help="for each figure; default: 0.02")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], metavar="FUNCTIONS")
    options = parser.parse_args()
    report(measured(options.backends or backends(), options.sizes, options.seconds, options.only))


if __name__ == "__main__":
    main()
