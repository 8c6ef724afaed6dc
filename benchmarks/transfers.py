"""What bringing an array to another library takes.

Run it by `python -m benchmarks.transfers`.

Every pair of what is installed of NumPy, JAX and TensorFlow, on the CPU, beside the libraries' own ways, of which some
copy, and autoray's; all in turns, within one run. The memory is ours: nobody else can write to it, and it is aligned,
but for the results of NumPy, which has its own allocator. "first" is an Array that was not there yet, each time
another; "again" one that was; "native" is `xp.to_native(x, like=...)` of an Array that was not there yet.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
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
MANY: Final = 1_000_000
"""Bytes of which there had better not be a hundred arrays."""
SIZE_BOUND: Final = 1.5
"""Times the smaller array, for the larger; one is meant, the rest is noise."""

RESULT: Final = "numpy's result"
"""Names an Array that a function of NumPy made."""

WAYS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("numpy", "jax"): ("jnp.from_dlpack(a)", "jax.device_put(a)", "jnp.asarray(a)"),
    ("numpy", "tf"): ("dlpack.from_dlpack(a.__dlpack__())", "tf.constant(a)", "tf.convert_to_tensor(a)"),
    ("jax", "numpy"): ("np.asarray(a)", "np.from_dlpack(a)", "jax.device_get(a)"),
    ("tf", "numpy"): ("np.asarray(a)", "np.from_dlpack(a)", "a.numpy()"),
    ("jax", "tf"): ("dlpack.from_dlpack(a.__dlpack__())", "tf.convert_to_tensor(a)"),
    ("tf", "jax"): ("jnp.from_dlpack(a)", "jnp.asarray(a)"),
    # They copy, JAX while Python goes on. By DLPack TensorFlow would take what it cannot use.
    (RESULT, "jax"): tuple(f"jax.block_until_ready({way})" for way in ("jnp.from_dlpack(a)", "jnp.asarray(a)")),
    (RESULT, "tf"): ("tf.constant(a)", "tf.convert_to_tensor(a)"),
}
"""The libraries' own ways, as their documentation has them."""
AUTORAY: Final = {
    "numpy": "autoray.to_numpy(a)",
    "jax": "autoray.do('asarray', a, like='jax')",
    "tf": "autoray.do('asarray', a, like='tensorflow')",
}


def arrays_of(source: str, nbytes: int) -> Callable[[int], list[xp.Array]]:
    """What makes so many Arrays that were brought nowhere yet."""
    size = nbytes // 8
    if source == "numpy":
        return lambda count: [xp.empty(size, device=source) for _ in range(count)]
    if source == RESULT:
        x = xp.ones(size, device="numpy")
        return lambda count: [x + 1 for _ in range(count)]
    native = xp.to_native(xp.ones(size, device=source))
    return lambda count: [xp.from_native(native) for _ in range(count)]


def on_pair(source: str, target: str, nbytes: int, modules: dict[str, Any], seconds: float) -> dict[str, float]:
    """Seconds of each way between two backends."""
    fresh = arrays_of(source, nbytes)
    names = modules | {"xp": xp, "target": xp.device(target)}
    known = fresh(1)[0]
    known.to_device(target)
    most = 1 if source == RESULT and nbytes > MANY else 100
    entries = {
        "first": Entry("a.to_device(target)", names, fresh=fresh, most=most),
        "again": Entry("a.to_device(target)", names, fresh=lambda count: [known] * count, most=100),
        "native": Entry("xp.to_native(a, like=target)", names, fresh=fresh, most=most),
    }

    def wide() -> AbstractContextManager[Any]:
        # JAX rounds to 32 bits, which is another task.
        return modules["jax"].enable_x64(True) if target == "jax" else nullcontext()  # type: ignore[no-any-return]  # JAX's

    for way in WAYS[source, target] + ((AUTORAY[target],) if "autoray" in modules else ()):
        entries[way] = Entry(way, names, wide, lambda count: [x._native for x in fresh(count)], most=most)
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
    pairs = [*itertools.permutations(["numpy", *frameworks], 2), *[(RESULT, name) for name in frameworks]]
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
                texts["native"],
                texts["first"],
                verdict(ratio, ROUTE_BOUND, f"{ratio:.2f}"),
                f"{texts[fastest]} {fastest}",
                f"{texts[slowest]} {slowest}",
                texts.get(AUTORAY[target], ""),
            ]
        )
    print_table(
        f"transfers on the CPU: us, and the ratio of the first to the fastest way (at most {ROUTE_BOUND})",
        ["", "again", "native", "first", "ratio", "the libraries' fastest", "their slowest", "autoray"],
        rows,
    )
    for (source, target), (small, large) in firsts.items():
        if source == RESULT:
            continue  # is copied
        ratio = large / small
        console.print(
            Text(f" {source} to {target}, {' over '.join(reversed(SIZES))}: ")
            + verdict(ratio, SIZE_BOUND, f"{ratio:.2f}")
        )


if __name__ == "__main__":
    main()
