"""Calls of few elements under the automatic choice, beside NumPy's own.

Run it by `python -m benchmarks.small_calls [CALL...]`. Every function of the standard is here that NumPy has, called
with Arrays, and what one writes without a function: operators, indexing, writes, conversions to Python. Each is timed
beside the same call of ndarrays, in turns within one run, and that in several passes over all of them, minutes apart: a
busy machine gives a processor for seconds at half its speed. Those near the bound or beyond are timed as often again.
Loops over elements follow, which are made of such calls.
Without a profile of this machine, `python -m anyarray calibrate`, there is nothing to choose, and they take a little
less.
"""

from __future__ import annotations

import argparse
import copy
import math
import statistics
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from rich.progress import track
from rich.text import Text

import anyarray as xp
from benchmarks.alike import arguments_of
from benchmarks.overhead import AUTOMATIC_BOUND, console, host_arrays, print_table, progress, verdict
from benchmarks.turns import Entry, seconds_of

SIZES: Final = (8, 900)
"""Elements of a vector; below 1000 the bound holds."""
DOUBTFUL: Final = 0.8 * AUTOMATIC_BOUND
"""Seconds over NumPy from which a call is timed again: of many calls chance lets some be within the bound."""

OPERATORS: Final = (
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "x == y", "x != y", "x < y", "x <= y", "x > y",
    "x >= y", "i & j", "i | j", "i ^ j", "i << j", "i >> j", "m @ k", "-x", "abs(x)", "~b", "divmod(x, y)", "x + i",
    "x + 1", "1 + x", "x * 2.0", "2.0 - x", "x ** 2", "x ** 0.5", "2.0 / x", "x < 1.0", "x[0] * y[0]", "x[0] + 1.0",
)  # fmt: skip
IN_PLACE: Final = ("x += y", "x -= y", "x *= 1.0", "x /= 1.0", "i |= j")

WRITTEN: Final = (
    *OPERATORS,
    *IN_PLACE,
    "x + h", "h + x", "x * g", "g * x", "np.exp(x)", "np.add(x, y)",
    "x[0]", "x[-1]", "x[1:3]", "x[::-1]", "x[b]", "x[i]", "m[0]", "m[0, 1]", "m[:, 1]", "m[0, :]", "x[None]", "x[...]",
    "m[:, None]", "x[x > 1.0]", "m[e, e]",
    "x[0] = 1.0", "x[1:3] = 1.0", "x[b] = 1.0", "x[i] = 1.0", "x[...] = y", "m[0, 1] = 2.0", "m[:, 1] = 2.0",
    "m[0] = m[1]", "x[0] = y[1]", "x[b] = x[b]", "x[i] = x", "x[0] += 1.0", "i[0] = 3", "m[0, :] = 1",
    "float(x[0])", "int(i[0])", "bool(b[0])", "len(x)", "x.shape", "x.dtype", "x.ndim", "x.size", "m.T", "m.mT",
    "x.tolist()", "x[0].item()", "list(x)", "for _ in x: pass", "xp.any(b) and 1", "copy(x)",
    "xp.sum(x, axis=0)", "xp.sum(m, axis=1, keepdims=True)", "xp.max(m, axis=-1)", "xp.mean(m, axis=(0, 1))",
    "xp.where(b, x, 0.0)", "xp.where(b, 1.0, 0.0)", "xp.add(1, x)", "xp.maximum(x, 0.5)", "xp.clip(x, 0.7, y)",
    "xp.concat([x, y, x])", "xp.concat((m, m), axis=1)", "xp.stack([x, y], axis=1)", "xp.reshape(x, (-1,))",
    "xp.reshape(x, (2, rows))", "xp.astype(x, xp.float32)", "xp.astype(x, xp.int64)", "xp.astype(x, xp.float64)",
    "xp.expand_dims(x, axis=0)", "xp.broadcast_to(x, (2, size))", "xp.linspace(0.0, 1.0, size)",
    "xp.linspace(0, 1, size, endpoint=False)", "xp.arange(0, size)", "xp.arange(1, size, 2)",
    "xp.arange(size, dtype=xp.float32)", "xp.zeros((2, rows))", "xp.ones((2, rows))", "xp.empty((2, rows))",
    "xp.full((2, rows), 2.0)", "xp.full(size, 1)", "xp.zeros(size, dtype=xp.float32)",
    "xp.zeros_like(x, dtype=xp.int64)",
    "xp.eye(3)", "xp.asarray(1.0)", "xp.asarray(3)", "xp.asarray([1.0, 2.0])", "xp.asarray([[1, 2], [3, 4]])",
    "xp.asarray([1.0, 2.0], dtype=xp.float32)", "xp.asarray(x)", "xp.asarray(x, copy=True)", "xp.asarray(h)",
    "xp.asarray(h, copy=True)", "xp.asarray(x, dtype=xp.float32)", "np.asarray(x)", "xp.from_dlpack(h)",
    "xp.exp(h)", "xp.sum(h)", "xp.add(h, h)", "xp.matmul(m, k)", "xp.add(x, h)", "xp.concat([h, x])",
    "xp.isdtype(x.dtype, 'real floating')", "xp.result_type(x, i)", "xp.can_cast(i, xp.float64)",
)  # fmt: skip
"""What is written out, as the functions alone do not tell; `h` and `g` are an ndarray and a scalar of NumPy's."""

LINALG: Final = {
    "cholesky": "p", "cross": "t, t", "det": "q", "diagonal": "q", "eig": "q", "eigh": "p", "eigvals": "q",
    "eigvalsh": "p", "inv": "q", "matmul": "q, q", "matrix_norm": "q", "matrix_power": "q, 3", "matrix_rank": "q",
    "matrix_transpose": "q", "outer": "t, t", "pinv": "q", "qr": "q", "slogdet": "q", "solve": "q, q", "svd": "q",
    "svdvals": "q", "tensordot": "q, q", "trace": "q", "vecdot": "x, y", "vector_norm": "x",
}  # fmt: skip
FOURIER: Final = {
    "fftfreq": "size", "rfftfreq": "size", "irfft": "c", "irfftn": "c", "hfft": "c",
    "fft2": "q", "ifft2": "q", "rfft2": "q", "irfft2": "q",
}  # fmt: skip
"""The arguments; other functions take `x`."""

IN_NUMPY: Final = {
    "xp.astype(x, xp.float64)": "np.astype(x, np.float64)",
    "copy(x)": "x.copy()",
    "xp.linalg.pinv(q)": "np.linalg.pinv(q, rtol=None)",
    "xp.sort(x)": "np.sort(x, stable=True)",
    "xp.argsort(x)": "np.argsort(x, stable=True)",
    "xp.asarray(x)": "np.asarray(x)",
    "xp.asarray(h)": "np.array(h)",
    "xp.from_dlpack(h)": "np.array(np.from_dlpack(h))",
    "xp.asarray(1.0)": "np.asarray(1.0)",
    "xp.isdtype(x.dtype, 'real floating')": "np.isdtype(x.dtype, 'real floating')",
}
"""What NumPy is asked for where it is not the same by name: a copy, where an Array is one; the standard's defaults."""


def names(size: int) -> dict[str, Any]:
    """What the calls are made of, in NumPy, with vectors of `size`."""
    host: dict[str, Any] = dict(host_arrays(size))
    q = np.random.default_rng(1).standard_normal((3, 3))
    host |= {"q": q, "p": q @ q.T + np.eye(3), "t": q[0].copy(), "e": host["i"] % 2}
    return host


def calls(ours: dict[str, Any]) -> Iterator[str]:
    """All calls, as written for anyarray."""
    for name in xp.__all__:
        if not hasattr(np, name):
            continue
        arguments = arguments_of(name, ours)
        if arguments is not None:
            yield f"xp.{name}({arguments})"
    for name, arguments in LINALG.items():
        yield f"xp.linalg.{name}({arguments})"
    for name in xp.fft.__all__:
        yield f"xp.fft.{name}({FOURIER.get(name, 'x')})"
    yield from WRITTEN


def over_numpy(size: int, seconds: float, passes: int, wanted: list[str], *, is_whole: bool) -> None:
    """Print the calls that take longer than they may, or all."""
    host = names(size)
    lengths = {"size": size, "rows": size // 2, "side": math.isqrt(size)}
    plain = lengths | {"np": np, "h": host["x"], "g": np.float64(1.5), "copy": copy.copy}
    least: dict[str, dict[str, float]] = {}
    every = calls(plain | {"xp": xp} | {name: xp.asarray(a) for name, a in host.items()})
    chosen = [call for call in every if not wanted or any(one in call for one in wanted)]
    if not chosen:
        return

    def is_doubtful(call: str) -> bool:
        return least[call]["anyarray"] - least[call]["NumPy"] > DOUBTFUL

    for again in (False, True):
        turns = [call for call in dict.fromkeys(chosen) if not again or is_doubtful(call)] * passes
        for call in track(turns, f"{size} elements{', again' * again}", console=progress, transient=True):
            scope = f"global {call[0]}; " if call in IN_PLACE else ""
            native = plain | {"xp": np} | {name: a.copy() for name, a in host.items()}  # as some calls write to them
            ours = plain | {"xp": xp} | {name: xp.asarray(a) for name, a in host.items()}
            entries = {
                "NumPy": Entry(scope + IN_NUMPY.get(call, call), native),
                "anyarray": Entry(scope + call, ours, lambda: xp.backend("auto")),
            }
            found, before = seconds_of(entries, seconds=seconds / passes), least.get(call, {})
            least[call] = {name: min(one, before.get(name, one)) for name, one in found.items()}
    over = {call: of["anyarray"] - of["NumPy"] for call, of in least.items()}
    rows: list[list[str | Text]] = [
        [call, f"{least[call]['NumPy'] * 1e6:.2f}", verdict(one, AUTOMATIC_BOUND, f"{one * 1e6:+.2f}")]
        for call, one in over.items()
        if is_whole or one > AUTOMATIC_BOUND
    ]
    print_table(f"NumPy {np.__version__}, {size} elements: us, and us over it", ["call", "NumPy", "over"], rows)
    holds = sum(one <= AUTOMATIC_BOUND for one in over.values())
    median = statistics.median(over.values()) * 1e6
    console.print(
        f" {holds} of {len(over)} calls of {size} elements take at most {AUTOMATIC_BOUND * 1e6:.1f} us over NumPy; "
        f"the median {median:+.2f}",
        highlight=False,
    )


def confusion(counts: Any, true: Any, guessed: Any) -> Any:
    """A confusion matrix, in place."""
    for t, g in zip(true, guessed, strict=True):
        counts[t, g] += 1
    return counts


def distances(table: Any, a: Any, b: Any) -> Any:
    """The edit distances of all beginnings of two sequences, in place."""
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return table


LOOPS: Final = {"confusion": "confusion(counts, true, guessed)", "distances": "distances(table, a, b)"}
LOOPS_BOUND: Final = 3.0
"""Times NumPy's own."""


def loops_over_elements(seconds: float, wanted: list[str]) -> None:
    """Print loops over single elements beside the same loops over ndarrays."""
    random, side = np.random.default_rng(0), np.arange(21)
    host = {
        "counts": np.zeros((5, 5), dtype=np.int64), "true": random.integers(0, 5, 400),
        "guessed": random.integers(0, 5, 400), "table": side + side[:, None], "a": random.integers(0, 4, 20),
        "b": random.integers(0, 4, 20),
    }  # fmt: skip
    functions = {"confusion": confusion, "distances": distances}
    rows: list[list[str | Text]] = []
    for name, call in LOOPS.items():
        if wanted and not any(one in call for one in wanted):
            continue
        arrays = {key: xp.asarray(a) for key, a in host.items()}
        least = seconds_of(
            {
                "NumPy": Entry(call, functions | host),
                "anyarray": Entry(call, functions | arrays, lambda: xp.backend("auto")),
            },
            seconds=seconds,
        )
        ratio = least["anyarray"] / least["NumPy"]
        rows.append([name, f"{least['NumPy'] * 1e6:.0f}", verdict(ratio, LOOPS_BOUND, f"{ratio:.2f}")])
    if rows:
        title = f"Loops over elements: us, and times NumPy's (at most {LOOPS_BOUND:.0f})"
        print_table(title, ["loop", "NumPy", "times"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_calls", description=__doc__)
    parser.add_argument("calls", nargs="*", metavar="CALL", help="parts of the calls to time; default: all")
    parser.add_argument("--all", action="store_true", help="print all calls, not those alone that take too long")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each figure, in all passes")
    parser.add_argument("--passes", type=int, default=4, help="over all calls")
    options = parser.parse_args()
    for size in SIZES:
        over_numpy(size, options.seconds, options.passes, options.calls, is_whole=options.all)
    loops_over_elements(10 * options.seconds, options.calls)


if __name__ == "__main__":
    main()
