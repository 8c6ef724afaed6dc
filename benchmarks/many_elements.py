"""Functions of a million elements beside the library's own.

Run it by `python -m benchmarks.many_elements [numpy] [jax] [tf]`. Here are those that anyarray does in another way than
the library, as it takes less: masks, indexing, quotients rounded down, sorts, sums of long rows. Ours is timed beside
what one would write for the library itself, in turns within one run, on float64.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from rich.text import Text

import anyarray as xp
from benchmarks.overhead import console, library, print_table, verdict
from benchmarks.turns import Entry, seconds_of

SIZE: Final = 1_000_000
BOUND: Final = 1.2
"""Times what the library itself takes."""


class Row(NamedTuple):
    """A call as written for anyarray, NumPy, JAX and TensorFlow.

    Their modules are all named `np`. None where a library has nothing of the kind (of TensorFlow, 1 // 0.1 is 10) or
    gives a view at once.
    """

    anyarray: str
    numpy: str | None
    jax: str | None
    tf: str | None


ROWS: Final = (
    Row("x[b]", "x[b]", "x[b]", "np.boolean_mask(x, b)"),
    Row("x[b] = 0.5", "x[b] = 0.5", "x.at[b].set(0.5)", "np.where(b, np.constant(0.5, x.dtype), x)"),
    Row("x[b] = v", "x[b] = v", "x.at[b].set(v)", "np.tensor_scatter_nd_update(x, np.where(b), v)"),
    Row("xp.where(b, x, y)", "np.where(b, x, y)", "np.where(b, x, y)", "np.where(b, x, y)"),
    Row("xp.nonzero(xp.reshape(b, (1000, 1000)))[0]", "np.nonzero(b.reshape(1000, 1000))[0]",
        "np.nonzero(b.reshape(1000, 1000))[0]", "np.where(np.reshape(b, (1000, 1000)))"),
    Row("x[i]", "x[i]", "x[i]", "np.gather(x, i)"),
    Row("x[i] = w", "x[i] = w", "x.at[i].set(w)", "np.tensor_scatter_nd_update(x, i[:, None], w)"),
    Row("xp.take_along_axis(m, j, axis=0)", "np.take_along_axis(m, j, 0)", "np.take_along_axis(m, j, 0)", None),
    Row("xp.take_along_axis(m, j, axis=1)", "np.take_along_axis(m, j, 1)", "np.take_along_axis(m, j, 1)", None),
    Row("x[3]", None, "x[3]", "x[3]"),
    Row("x[3] = 0.5", None, "x.at[3].set(0.5)",
        "np.tensor_scatter_nd_update(x, [[3]], np.constant([0.5], x.dtype))"),
    Row("x[1:-1]", None, "x[1:-1]", "x[1:-1]"),
    Row("x // y", "x // y", "np.floor_divide(x, y)", None),
    Row("xp.isin(i, i[:5])", "np.isin(i, i[:5])", "np.isin(i, i[:5])", None),
    Row("x**y", "x**y", "x**y", "x**y"),
    Row("xp.sort(x)", "np.sort(x)", "np.sort(x)", "np.sort(x)"),
    Row("xp.sort(m)", "np.sort(m)", "np.sort(m)", "np.sort(m)"),
    Row("xp.argsort(x)", "np.argsort(x, stable=True)", "np.argsort(x)", "np.argsort(x, stable=True)"),
    Row("xp.searchsorted(s, x)", "np.searchsorted(s, x)", "np.searchsorted(s, x)", "np.searchsorted(s, x)"),
    Row("xp.argmax(x)", "np.argmax(x)", "np.argmax(x)", "np.argmax(x)"),
    Row("xp.argmax(xp.reshape(x, (100_000, 10)), axis=1)", "x.reshape(100_000, 10).argmax(1)",
        "x.reshape(100_000, 10).argmax(1)", "np.argmax(np.reshape(x, (100_000, 10)), 1)"),
    Row("xp.argmin(xp.reshape(x, (10, 100_000)), axis=1)", "x.reshape(10, 100_000).argmin(1)",
        "x.reshape(10, 100_000).argmin(1)", "np.argmin(np.reshape(x, (10, 100_000)), 1)"),
    Row("xp.sum(xp.reshape(x, (50, 20_000)), axis=0)", "x.reshape(50, 20_000).sum(0)", "x.reshape(50, 20_000).sum(0)",
        "np.reduce_sum(np.reshape(x, (50, 20_000)), 0)"),
    Row("xp.sum(xp.reshape(x, (250_000, 4)), axis=1)", "x.reshape(250_000, 4).sum(1)", "x.reshape(250_000, 4).sum(1)",
        "np.reduce_sum(np.reshape(x, (250_000, 4)), 1)"),
    Row("xp.mean(xp.reshape(x, (250_000, 4)), axis=0)", "x.reshape(250_000, 4).mean(0)",
        "x.reshape(250_000, 4).mean(0)", "np.reduce_mean(np.reshape(x, (250_000, 4)), 0)"),
    Row("xp.max(xp.reshape(x, (250_000, 4)), axis=1)", "x.reshape(250_000, 4).max(1)", "x.reshape(250_000, 4).max(1)",
        "np.reduce_max(np.reshape(x, (250_000, 4)), 1)"),
    Row("xp.cumulative_sum(xp.reshape(x, (1000, 1000)), axis=0)", "x.reshape(1000, 1000).cumsum(0)",
        "x.reshape(1000, 1000).cumsum(0)", "np.cumsum(np.reshape(x, (1000, 1000)), 0)"),
    Row("xp.var(x)", "np.var(x)", "np.var(x)", "np.math.reduce_variance(x)"),
    Row("xp.cumulative_sum(k)", "k.cumsum()", "k.cumsum()", "np.cumsum(k)"),
)  # fmt: skip
"""`b` is a random mask of half, `v` as many numbers as it holds, `i` are random places, `w` as many numbers.

`s` are a thousand in order, `k` integers, `m` is a matrix and `j` random places along its axes.
"""

MODULES: Final = {"numpy": "numpy", "jax": "jax.numpy", "tf": "tensorflow"}


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    x, y = random.uniform(0.5, 1.5, (2, SIZE))
    b = random.random(SIZE) < 0.5
    i = random.integers(0, SIZE, SIZE // 5)
    k = random.integers(0, 100, SIZE)
    j = random.integers(0, 1000, (1000, 1000))
    m, s = x.reshape(1000, 1000), np.sort(y[:1000])
    return {"x": x, "y": y, "b": b, "v": y[b], "i": i, "w": y[i], "s": s, "k": k, "m": m, "j": j}


def of(name: str, seconds: float) -> None:
    """Print what each row takes, ours and the library's own."""
    try:
        home = xp.device(name)  # our backend loads the library, as that quiets it
    except xp.BackendNotInstalledError as error:
        console.print(f"Left out: {error}", highlight=False)
        return
    module = library(MODULES[name])
    block: Callable[[], AbstractContextManager[Any]] = nullcontext
    if name == "jax":
        block = partial(library("jax").enable_x64, True)
    wait = home.hook("synchronize")
    rows: list[list[str | Text]] = []
    for row in ROWS:
        native = getattr(row, name)
        if native is None:
            continue
        ours = {key: xp.asarray(a, device=home, copy=True) for key, a in arrays().items()}
        theirs = {key: xp.to_native(xp.asarray(a, device=home, copy=True)) for key, a in arrays().items()}
        if name == "numpy":
            theirs = arrays()
        writes = "] = " in row.anyarray
        least = seconds_of(
            {
                "native": Entry(
                    native if "] = " in native else f"wait({native})",
                    theirs | {"np": module, "wait": wait},
                    block,
                ),
                "anyarray": Entry(
                    f"{row.anyarray}; wait(x._native)" if writes else f"wait(({row.anyarray})._native)",
                    ours | {"xp": xp, "wait": wait},
                    lambda: xp.backend(name),
                ),
            },
            seconds=seconds,
        )
        ratio = least["anyarray"] / least["native"]
        times = [f"{least[one] * 1e6:,.1f}" for one in ("native", "anyarray")]
        rows.append([row.anyarray, *times, verdict(ratio, BOUND, f"{ratio:.2f}")])
    print_table(f"{name}, {SIZE:,} elements: us, and the ratio", ["", "its own", "anyarray", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_elements", description=__doc__)
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help=f"of {', '.join(MODULES)}; default: all")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each figure")
    options = parser.parse_args()
    unknown = set(options.backends) - set(MODULES)
    if unknown:
        parser.error(f"unknown backend {', '.join(sorted(unknown))}; known: {', '.join(MODULES)}")
    for name in options.backends or MODULES:
        of(name, options.seconds)


if __name__ == "__main__":
    main()
