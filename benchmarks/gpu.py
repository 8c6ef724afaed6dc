"""What calls and transfers take on each GPU, waited for.

Run it by `python -m benchmarks.gpu [BACKEND ...]`. Its parts are

    functions    every function of the standard
    transfers    an array to the device and to the host, from 1 kB to 256 MB, each time another one
    compiled     a sigmoid by `xp.jit`

Each time stands beside that of the library's own call, and beside the best of the other backends. What is beyond 1.2
and beyond 3 times the better of both is printed, then all transfers, then a summary. Each part runs on each backend in
a process of its own, so that one which fails takes no other with it; `--json` writes all times after each of them.
Without a GPU it runs on the backends of the CPU.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import math
import operator
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.progress import track

import anyarray as xp
from anyarray._registry import registry
from benchmarks.alike import NUMPY, TENSORFLOW, arguments_of, has
from benchmarks.overhead import console, host_arrays, print_table, progress

SIZES: Final = (1 << 10, 1 << 17, 1 << 23)
BYTES: Final = (1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28)
"""Of arrays that are transferred."""
COMPILED: Final = (1 << 10, 1 << 17, 1 << 24)
"""Elements of what a compiled function gets."""
LONGEST: Final = 1200.0
"""Seconds after which a part on one backend is given up."""
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
    """Seconds of one call on one backend.

    `size` is in elements, of a transfer in bytes.
    """

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
    namespaces = {
        "numpy": "numpy", "jax": "jax.numpy", "cupy": "array_api_compat.cupy", "torch": "array_api_compat.torch",
    }  # fmt: skip
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


def functions(name: str, sizes: Sequence[int], seconds: float, only: Sequence[str] = ()) -> Iterator[Time]:
    """Times of every function of the standard, or `only` of these."""
    backend = xp.device(name)
    for size in sizes:
        host = arrays_of(size)
        with xp.backend(backend):
            ours = {key: xp.asarray(a) if isinstance(a, np.ndarray) else a for key, a in host.items()}
        ours["xp"] = xp
        native = {key: xp.to_native(a) if type(a) is xp.Array else a for key, a in ours.items()}
        with xp.backend(backend):
            chosen = [(f, arguments) for f, arguments in calls(ours) if not only or f in only]
        for function, arguments in track(chosen, f"{name}, {size}", console=progress, transient=True):
            try:
                yield from _timed(backend, function, arguments, size, ours, native, seconds)
            except Exception as error:  # noqa: BLE001 - the other functions are to be timed all the same
                progress.print(f"{function} of {size} on {name}: {error!r}", highlight=False, markup=False)


TRANSFERS: Final = {
    "to the device": {
        "cupy": "cupy.asarray(a)", "jax": "jax.device_put(a)", "tf": "tf.constant(a)", "numpy": "a.copy()",
        "torch": "torch.as_tensor(a, device=device)",
    },
    "to the host": {
        "cupy": "cupy.asnumpy(a)", "jax": "numpy.asarray(a)", "tf": "a.numpy()", "numpy": "a.copy()",
        "torch": "a.cpu().numpy()",
    },
}  # fmt: skip
"""The libraries' own ways."""


def transfers(name: str, sizes: Sequence[int], seconds: float, only: Sequence[str] = ()) -> Iterator[Time]:
    """Medians of the times of transfers, of an array that was nowhere yet."""
    backend = xp.device(name)
    synchronize = backend.hook("synchronize")
    modules = _modules(backend)
    for direction, nbytes in track(
        [(direction, nbytes) for nbytes in sizes for direction in TRANSFERS if not only or direction in only],
        f"{name}, transfers", console=progress, transient=True,
    ):  # fmt: skip
        to_device = direction == "to the device"
        own = eval(f"lambda a: {TRANSFERS[direction][backend.library]}", modules)
        ours = operator.methodcaller("to_device", name if to_device else "numpy")
        found: dict[str, list[float]] = {"ours": [], "own": []}
        end = time.perf_counter() + 10 * seconds
        while len(found["own"]) < 7 or (time.perf_counter() < end and len(found["own"]) < 100):
            for key, bring in (("ours", ours), ("own", own)):
                x = xp.full(nbytes // 4, float(len(found[key])), dtype=xp.float32, device="numpy")
                if not to_device:
                    x = x.to_device(name)
                    synchronize(x._native)
                given = x if key == "ours" else x._native
                started = time.perf_counter()
                y = bring(given)
                if to_device:
                    synchronize(y._native if type(y) is xp.Array else y)
                found[key].append(time.perf_counter() - started)
                del x, y, given
        # The first times pin memory, import CuPy, and fill the libraries' pools.
        least = {key: statistics.median(values[2:]) for key, values in found.items()}
        yield Time(direction, nbytes, name, least["ours"], least["own"])


def _modules(backend: xp.Backend) -> dict[str, Any]:
    names = {"numpy": "numpy", "jax": "jax", "cupy": "cupy", "tf": "tensorflow", "torch": "torch"}
    modules: dict[str, Any] = {one: importlib.import_module(names[one]) for one in {"numpy", backend.library}}
    return modules | {"device": backend.native_device}


SIGMOIDS: Final = {
    "numpy": "lambda x: 1 / (1 + numpy.exp(-x))",
    "jax": "jax.jit(lambda x: 1 / (1 + jax.numpy.exp(-x)))",
    "cupy": "cupy.fuse()(lambda x: 1 / (1 + cupy.exp(-x)))",
    "tf": "tf.function(lambda x: 1 / (1 + tf.exp(-x)), jit_compile=True)",
    "torch": "torch.compile(lambda x: 1 / (1 + torch.exp(-x)))",
}
"""As the libraries compile it."""


def compiled(name: str, sizes: Sequence[int], seconds: float, only: Sequence[str] = ()) -> Iterator[Time]:
    """Times of a sigmoid, compiled and as it is."""
    backend = xp.device(name)
    modules = _modules(backend)
    own = eval(SIGMOIDS[backend.library], modules)

    def sigmoid(x: xp.Array) -> xp.Array:
        return 1 / (1 + xp.exp(-x))

    for size in sizes:
        x = xp.asarray(np.random.default_rng(0).standard_normal(size, np.float32), device=name)
        native = xp.to_native(x)
        for function, call in (("sigmoid", sigmoid), ("sigmoid, jit", xp.jit(sigmoid))):
            if only and function not in only:
                continue
            entries: dict[str, Any] = {"ours": (lambda x=x, call=call: call(x), lambda: xp.backend(backend))}
            if function != "sigmoid":
                entries["own"] = (lambda native=native: own(native), scope_of(backend))
            least = least_seconds(entries, _wait_for(backend), seconds)
            yield Time(function, size, name, least["ours"], least.get("own"))


def _wait_for(backend: xp.Backend) -> Callable[[Any], None]:
    """What waits for a result on a backend."""
    synchronize = backend.hook("synchronize")

    def wait(result: Any) -> None:
        last = result[-1] if isinstance(result, (tuple, list)) else result
        last = last._native if type(last) is xp.Array else last
        if registry.backend_of_native(last) is not None:
            synchronize(last)

    return wait


PARTS: Final[dict[str, tuple[Callable[..., Iterator[Time]], Sequence[int]]]] = {
    "functions": (functions, SIZES),
    "transfers": (transfers, BYTES),
    "compiled": (compiled, COMPILED),
}
"""What measures each part, and at which sizes."""


def _timed(
    backend: xp.Backend,
    function: str,
    arguments: str | None,
    size: int,
    ours: Mapping[str, Any],
    native: Mapping[str, Any],
    seconds: float,
) -> Iterator[Time]:
    entries: dict[str, Any] = {}
    expression = function if arguments is None else f"xp.{function}({arguments})"
    entries["ours"] = (eval(f"lambda: {expression}", dict(ours)), lambda: xp.backend(backend))
    if arguments is None:
        entries["own"] = (eval(f"lambda: {expression}", dict(native)), scope_of(backend))
    for number, (namespace, spelled) in enumerate(spellings(backend, function) if arguments is not None else ()):
        if has(namespace, spelled):
            its_own = eval(f"lambda: own.{spelled}({arguments})", {**native, "own": namespace})
            entries[f"own {number}"] = (its_own, scope_of(backend))
    least = least_seconds(entries, _wait_for(backend), seconds)
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
    found = [name for name in ("cupy", "jax-gpu", "tf-gpu", "torch-gpu") if _is_here(name)]
    return found or [name for name in ("numpy", "jax-cpu", "tf-cpu", "torch-cpu") if _is_here(name)]


def _is_here(name: str) -> bool:
    try:
        xp.device(name)
    except (xp.BackendNotInstalledError, xp.DeviceNotFoundError):
        return False
    return True


def report_transfers(times: Sequence[Time]) -> None:
    """Print all transfers, with the ratio to the best of each direction."""
    of_transfers = [t for t in times if t.function in TRANSFERS]
    rows: list[list[str]] = []
    for t in of_transfers:
        best = min(one.ours for one in of_transfers if (one.function, one.size) == (t.function, t.size))
        own = "" if t.own is None else f"{t.own * 1e6:.0f}"
        rate, ratio = f"{t.size / t.ours / 1e9:.2f}", f"{t.ours / best:.2f}"
        rows.append([f"{t.backend} {t.function}", f"{t.size:,}", f"{t.ours * 1e6:.0f}", own, rate, ratio])
    if rows:
        columns = ["transfers", "bytes", "us", "its own", "GB/s", "to the best"]
        print_table("transfers: us, waited for", columns, sorted(rows, key=lambda row: row[0].split(" ", 1)[::-1]))


@dataclass(frozen=True)
class Outcome:
    """How a part went on a backend."""

    part: str
    backend: str
    times: int
    seconds: float
    failure: str | None
    """The end of what it wrote, if it failed."""


def measured(
    names: Sequence[str], parts: Sequence[str], options: Sequence[str] = (), written: Path | None = None
) -> tuple[list[Time], list[Outcome]]:
    """All times, and how each part went on each backend, in processes."""
    times: list[Time] = []
    outcomes: list[Outcome] = []
    for part in parts:
        for name in names:
            started = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                rows, log = Path(folder, "rows"), Path(folder, "log")
                rows.touch()
                command = [sys.executable, "-m", "benchmarks.gpu", name, "--part", part, "--rows", str(rows), *options]
                try:
                    with log.open("wb") as file:
                        subprocess.run(command, check=True, stderr=file, timeout=LONGEST)
                    failure = None
                except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                    failure = f"{error}\n{log.read_text(errors='replace')[-2000:]}"
                found = [Time(**json.loads(line)) for line in rows.read_text().splitlines() if line.endswith("}")]
            if failure is None and not found:
                failure = "nothing was timed"
            times += found
            outcomes.append(Outcome(part, name, len(found), time.perf_counter() - started, failure))
            if written is not None:
                result = {
                    "machine": machine(),
                    "times": [dataclasses.asdict(one) for one in times],
                    "outcomes": [dataclasses.asdict(one) for one in outcomes],
                }
                written.write_text(json.dumps(result, indent=1))
    return times, outcomes


def machine() -> dict[str, Any]:
    """What tells one machine from another, as far as it is known."""
    try:
        told = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
        gpus = subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip().splitlines()
    except (OSError, subprocess.CalledProcessError):
        gpus = []
    versions = {row.name: row.version for row in xp.backends() if row.is_installed}
    return {"gpus": gpus, "python": platform.python_version(), "numpy": np.__version__, "libraries": versions}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help="default: every one with a GPU")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="may be repeated; default: all")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=None)
    parser.add_argument("--seconds", type=float, default=0.02, help="for each figure; default: 0.02")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], metavar="FUNCTIONS")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="where to write all times")
    parser.add_argument("--rows", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows is not None:  # a process for one part on one backend
        measure, sizes = PARTS[options.part[0]]
        with options.rows.open("a") as file:
            for one in measure(options.backends[0], options.sizes or sizes, options.seconds, options.only):
                print(json.dumps(dataclasses.asdict(one)), file=file, flush=True)
        return
    passed_on = ["--seconds", str(options.seconds)]
    passed_on += ["--sizes", ",".join(map(str, options.sizes))] if options.sizes else []
    passed_on += ["--only", ",".join(options.only)] if options.only else []
    times, outcomes = measured(options.backends or backends(), options.part or list(PARTS), passed_on, options.json)
    report(times)
    report_transfers(times)
    print_table(
        "summary",
        ["part", "backend", "times", "s", ""],
        [[o.part, o.backend, str(o.times), f"{o.seconds:.0f}", "FAILED" if o.failure else "ok"] for o in outcomes],
    )
    failures = [one for one in outcomes if one.failure]
    for one in failures:
        console.print(f"{one.part} on {one.backend}: {one.failure}", highlight=False, markup=False)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
