"""What bringing an array to another library takes: `python -m benchmarks.transfers`.

Every pair of what is installed of NumPy, JAX and TensorFlow, on the CPU, beside the libraries' own ways, of which some
copy, and autoray's; all in turns, within one run. The memory is ours: aligned, and nobody else can write to it. "first"
is an Array that was not there yet, "again" one that was, as its second copy is kept.
"""

from __future__ import annotations

import argparse
import itertools
from contextlib import nullcontext
from typing import Any, Final

from rich.progress import track
from rich.text import Text

import anyarray as xp
from benchmarks.overhead import console, library, print_table, progress, verdict
from benchmarks.transforms import installed
from benchmarks.turns import Entry, seconds_of

SIZES: Final = {"1 kB": 1_000, "100 MB": 100_000_000}
"""Bytes."""
ROUTE_BOUND: Final = 1.5
"""Times the fastest of the libraries' own ways."""
SIZE_BOUND: Final = 1.5
"""Times the smaller array, for the larger; one is meant, the rest is noise."""

WAYS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("numpy", "jax"): ("jnp.from_dlpack(a)", "jax.device_put(a)", "jnp.asarray(a)"),
    ("numpy", "tf"): ("dlpack.from_dlpack(a.__dlpack__())", "tf.constant(a)", "tf.convert_to_tensor(a)"),
    ("jax", "numpy"): ("np.asarray(a)", "np.from_dlpack(a)", "jax.device_get(a)"),
    ("tf", "numpy"): ("np.asarray(a)", "np.from_dlpack(a)", "a.numpy()"),
    ("jax", "tf"): ("dlpack.from_dlpack(a.__dlpack__())", "tf.convert_to_tensor(a)"),
    ("tf", "jax"): ("jnp.from_dlpack(a)", "jnp.asarray(a)"),
}
"""The libraries' own ways, as their documentation has them."""
AUTORAY: Final = {
    "numpy": "autoray.to_numpy(a)",
    "jax": "autoray.do('asarray', a, like='jax')",
    "tf": "autoray.do('asarray', a, like='tensorflow')",
}


def on_pair(source: str, target: str, nbytes: int, modules: dict[str, Any], seconds: float) -> dict[str, float]:
    """Seconds of each way between two backends."""
    x, theirs = (xp.ones(nbytes // 8, device=source) for _ in range(2))
    names = modules | {"a": theirs._native, "x": x, "target": xp.device(target)}
    entries = {
        "first": Entry("x._second = None; x.to_device(target)", names),
        "again": Entry("x.to_device(target)", names),
    }
    for way in WAYS[source, target] + ((AUTORAY[target],) if "autoray" in modules else ()):
        # JAX rounds to 32 bits, which is another task.
        entries[way] = Entry(way, names, lambda: modules["jax"].enable_x64(True) if target == "jax" else nullcontext())
    return seconds_of(entries, seconds=seconds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each figure; default: 0.1")
    seconds: float = parser.parse_args().seconds
    frameworks = installed()
    modules: dict[str, Any] = {"np": library("numpy")} | frameworks
    if "jax" in frameworks:
        modules["jnp"] = frameworks["jax"].numpy
    if "tf" in frameworks:
        modules["dlpack"] = frameworks["tf"].experimental.dlpack
    autoray = library("autoray")
    if autoray is not None:
        modules["autoray"] = autoray
    pairs = list(itertools.permutations(["numpy", *frameworks], 2))
    rows: list[list[str | Text]] = []
    firsts: dict[tuple[str, str], list[float]] = {}
    for (source, target), (label, nbytes) in track(
        list(itertools.product(pairs, SIZES.items())), "transfers", console=progress, transient=True
    ):
        least = on_pair(source, target, nbytes, modules, seconds)
        firsts.setdefault((source, target), []).append(least["first"])
        *_, slowest = ways = sorted(WAYS[source, target], key=least.__getitem__)
        fastest = ways[0]
        ratio = least["first"] / least[fastest]
        texts = {name: f"{least[name] * 1e6:,.1f}" for name in least}
        rows.append(
            [
                f"{source} to {target}, {label}",
                texts["again"],
                texts["first"],
                verdict(ratio, ROUTE_BOUND, f"{ratio:.2f}"),
                f"{texts[fastest]} {fastest}",
                f"{texts[slowest]} {slowest}",
                texts.get(AUTORAY[target], ""),
            ]
        )
    print_table(
        f"transfers on the CPU: us, and the ratio of the first to the fastest way (at most {ROUTE_BOUND})",
        ["", "again", "first", "ratio", "the libraries' fastest", "their slowest", "autoray"],
        rows,
    )
    for (source, target), (small, large) in firsts.items():
        ratio = large / small
        console.print(
            Text(f" {source} to {target}, {' over '.join(reversed(SIZES))}: ")
            + verdict(ratio, SIZE_BOUND, f"{ratio:.2f}")
        )


if __name__ == "__main__":
    main()
