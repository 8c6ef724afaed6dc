"""What a call costs beside the native one.

Run it by `python -m benchmarks.overhead [numpy] [jax] [tf] [torch]`. On 8 float64 elements the layer is all that there
is to see; TensorFlow and PyTorch are also timed on 10,000. Every figure is a ratio or a difference within one run,
beside the target of the design.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import os
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import anyarray as xp
from benchmarks.alike import alike, alike_in_torch
from benchmarks.cases import BOUND, CASES, ELEMENTWISE, MATMUL, ON_NUMPY, REDUCTION, Case
from benchmarks.turns import Entry, seconds_of

console = Console()
progress = Console(stderr=True)

OURS = "anyarray"


def library(name: str) -> Any:
    """A module, or None and a line that says so if it is not installed."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        console.print(f"Left out: {name} is not installed.", highlight=False)
        return None
    return importlib.import_module(name)


def host_arrays(size: int) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays that the cases name, in NumPy."""
    random = np.random.default_rng(0)
    rows = 2 if size == 8 else round(size**0.5)
    x, y = random.uniform(0.5, 1.5, (2, size))
    return {
        "x": x, "y": y, "m": x.reshape(rows, -1), "k": y.reshape(-1, rows), "b": x < y,
        "i": (i := random.integers(0, size, size)), "j": i % 8, "c": x + 1j * y, "s": np.sort(y),
        "half": x / 2, "double": x * 2, "row": x[np.newaxis], "short": x.reshape(4, -1),
    }  # fmt: skip


def ours(host: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """The arrays as Arrays on a backend, and our namespace."""
    with xp.backend(backend):
        return {"xp": xp} | {name: xp.asarray(a) for name, a in host.items()}


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """Print a table whose first column is text and the others numbers."""
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*[cell if isinstance(cell, Text) else Text(cell) for cell in row])  # [x, y] is no markup
    console.print(table)


def verdict(value: float, bound: float, text: str) -> Text:
    """A figure, and whether it is within its bound: ok or NO."""
    holds = value <= bound
    return Text(f"{text} {'ok' if holds else 'NO'}", style="green" if holds else "bold red")


def print_target(what: str, ratios: Iterable[float], bound: float) -> None:
    """Print the median of ratios beside its bound."""
    median = statistics.median(ratios)
    line = Text(f" {what:<42} at most {bound:.2f}: ")
    console.print(line + verdict(median, bound, f"{median:.2f}"))


CHOSEN_BOUND: Final = 0.35e-6
"""Seconds over the native call, with a backend chosen."""
AUTOMATIC_BOUND: Final = 0.5e-6
"""Seconds over the native call, with none chosen."""


def on_numpy(seconds: float) -> None:
    """Microseconds over NumPy's own call."""
    host = host_arrays(8)
    native: dict[str, Any] = {"xp": np, "h": host["x"]} | host
    arrays = ours(host, "numpy") | {"h": host["x"]}
    strict, autoray = library("array_api_strict"), library("autoray")
    names = ["NumPy", "chosen", "automatic"] + ["strict"] * bool(strict) + ["autoray"] * bool(autoray)
    rows: list[list[str | Text]] = []
    for call, by_autoray in track(ON_NUMPY.items(), "numpy", console=progress, transient=True):
        entries = {
            "NumPy": Entry(call, native),
            "chosen": Entry(call, arrays, lambda: xp.backend("numpy")),
            "automatic": Entry(call, arrays, lambda: xp.backend("auto")),
        }
        if strict:
            strictly = {name: strict.asarray(a) for name, a in host.items()}
            entries["strict"] = Entry(call, {"xp": strict, "h": strictly["x"]} | strictly)
        if autoray and by_autoray:
            entries["autoray"] = Entry(by_autoray, {"do": autoray.do} | host)
        least = seconds_of(entries, seconds=seconds)
        over = {name: least[name] - least["NumPy"] for name in least}
        text = {name: f"{over[name] * 1e6:+.2f}" for name in over}
        bounds = {"chosen": CHOSEN_BOUND, "automatic": AUTOMATIC_BOUND} if call in BOUND else {}
        cells = [verdict(over[n], bounds[n], text[n]) if n in bounds else text.get(n, "") for n in names[1:]]
        rows.append([call, f"{least['NumPy'] * 1e6:.2f}", *cells])
    print_table(
        f"NumPy {np.__version__}, 8 elements: us, and us over it "
        f"(at most {CHOSEN_BOUND * 1e6:.2f} chosen, {AUTOMATIC_BOUND * 1e6:.2f} automatic)",
        ["call", *names],
        rows,
    )


JAX_BOUND: Final = 1.0
"""Times jnp's own call, the median over the cases."""
JAX_ITEM_BOUND: Final = 1 / 5
"""Times jnp's own x[0]."""


def on_jax(seconds: float) -> None:
    """Times the same call of jax.numpy under 64 bits, and ours.

    They are not waited for, as the way into the library is what differs.
    """
    jax = library("jax")
    if jax is None:
        return
    host = host_arrays(8)
    arrays = ours(host, "jax")
    with jax.enable_x64(True):
        native = {"xp": jax.numpy} | {name: jax.numpy.asarray(a) for name, a in host.items()}
    ratios: dict[str, float] = {}
    rows: list[list[str | Text]] = []
    for case in track(CASES, "jax", console=progress, transient=True):
        entries = {
            "jnp": Entry(case.standard, native, lambda: jax.enable_x64(True)),
            OURS: Entry(case.standard, arrays, lambda: xp.backend("jax")),
        }
        least = seconds_of(entries, seconds=seconds)
        ratio = ratios[case.standard] = least[OURS] / least["jnp"]
        rows.append([case.standard, f"{least['jnp'] * 1e6:.1f}", f"{least[OURS] * 1e6:.1f}", f"{ratio:.2f}"])
    print_table(f"JAX {jax.__version__}, 8 elements: us", ["call", "jnp", OURS, "ratio"], rows)
    print_target("median of the ratios to jnp", ratios.values(), JAX_BOUND)
    print_target("x[0]", [ratios["x[0]"]], JAX_ITEM_BOUND)


RAW_BOUND: Final = 1.15
"""Times the raw op, the median of elementwise functions, of reductions and of matmul."""
TNP_BOUND: Final = 1 / 3
"""Times tf.experimental.numpy, the median over the functions that both have."""
TF_BOUND: Final = 1.0
"""Times tf.* and keras.ops, the median over the functions that both have."""


def on_tensorflow(seconds: float) -> None:
    """Times the raw op with ready-made constants, and other namespaces.

    These are tf.*, tf.experimental.numpy and keras.ops.
    """
    if importlib.util.find_spec("tensorflow") is None:
        console.print("Left out: tensorflow is not installed.", highlight=False)
        return
    xp.device("tf")  # first, as it quiets TensorFlow's import
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    tensorflow, keras = importlib.import_module("tensorflow"), library("keras")
    for size in (8, 10_000):
        _on_tensorflow(tensorflow, keras, size, seconds)


def _on_tensorflow(tf: Any, keras: Any, size: int, seconds: float) -> None:
    host = host_arrays(size)
    arrays = ours(host, "tf")
    native: dict[str, Any] = {name: tf.constant(a) for name, a in host.items()}
    native |= {"tf": tf, "raw": tf.raw_ops, "tnp": tf.experimental.numpy, "ops": keras and keras.ops}
    ready = {"one": 1.0, "zero": 0, "axis": [0], "axes": [0, 1], "two_rows": [2, -1], "swapped": [1, 0]}
    native |= {name: tf.constant(value, "float64" if name == "one" else "int32") for name, value in ready.items()}
    for names in (arrays, native):
        names |= {"size": size, "rows": len(host["m"]), "side": math.isqrt(size)}
    with xp.backend("tf"):
        cases = (*CASES, *alike(arrays, native, CASES))
    others = ["raw", "tf", "tnp"] + ["keras"] * bool(keras)
    ratios: dict[Case, dict[str, float]] = {}
    rows: list[list[str | Text]] = []
    for case in track(cases, f"tf, {size} elements", console=progress, transient=True):
        ways = {name: getattr(case, name) for name in others}
        entries = {name: Entry(way, native) for name, way in ways.items() if way}
        entries[OURS] = Entry(case.standard, arrays, lambda: xp.backend("tf"))
        least = seconds_of(entries, seconds=seconds)
        ratios[case] = {name: least[OURS] / least[name] for name in entries if name in others}
        times = [f"{least[name] * 1e6:.1f}" if name in least else "" for name in ("raw", OURS)]
        rows.append([case.standard, *times, *[f"{ratios[case][n]:.2f}" if n in entries else "" for n in others]])
    print_table(
        f"TensorFlow {tf.__version__}, {size} elements: us, and ratios to each way",
        ["call", "raw", OURS, *[f"/{name}" for name in others]],
        rows,
    )
    for group in (ELEMENTWISE, REDUCTION, MATMUL):
        of_group = [row["raw"] for case, row in ratios.items() if case.group == group]
        print_target(f"median of the ratios to raw, {group}", of_group, RAW_BOUND)
    for name, bound in (("tnp", TNP_BOUND), ("tf", TF_BOUND), ("keras", TF_BOUND)):
        if name in others:
            of_library = [row[name] for row in ratios.values() if name in row]
            print_target(f"median of the {len(of_library)} ratios to {name}", of_library, bound)


TORCH_BOUND: Final = 1.15
"""Times PyTorch's own call, the median over the functions of the standard."""
TORCH_WRITE_BOUND: Final = 1.5
"""Times PyTorch's own write."""


def on_torch(seconds: float) -> None:
    """Times PyTorch's own call."""
    torch = library("torch")
    if torch is None:
        return
    for size in (8, 10_000):
        _on_torch(torch, size, seconds)


def _on_torch(torch: Any, size: int, seconds: float) -> None:
    host = host_arrays(size)
    arrays = ours(host, "torch-cpu")
    native: dict[str, Any] = {"torch": torch} | {name: torch.from_numpy(a.copy()) for name, a in host.items()}
    for names in (arrays, native):
        names |= {"size": size, "rows": len(host["m"]), "side": math.isqrt(size)}
    with xp.backend("torch-cpu"):
        cases = alike_in_torch(arrays, native)
    ratios: dict[str, float] = {}
    rows: list[list[str | Text]] = []
    for call, its_own in track(cases.items(), f"torch, {size} elements", console=progress, transient=True):
        new = arrays | ours(host, "torch-cpu")  # as a call before may have handed the memory to NumPy
        entries = {"torch": Entry(its_own, native), OURS: Entry(call, new, lambda: xp.backend("torch-cpu"))}
        least = seconds_of(entries, seconds=seconds)
        ratio = ratios[call] = least[OURS] / least["torch"]
        over = (least[OURS] - least["torch"]) * 1e6
        rows.append([call, f"{least['torch'] * 1e6:.2f}", f"{least[OURS] * 1e6:.2f}", f"{over:+.2f}", f"{ratio:.2f}"])
    title = f"PyTorch {torch.__version__}, {size} elements: us"
    print_table(title, ["call", "torch", OURS, "over", "ratio"], sorted(rows, key=lambda row: -float(str(row[-1]))))
    writes = [ratio for call, ratio in ratios.items() if "__setitem__" in call]
    print_target(f"median of the {len(ratios)} ratios to torch", ratios.values(), TORCH_BOUND)
    print_target(f"median of the {len(writes)} writes", writes, TORCH_WRITE_BOUND)


SECTIONS: Final[dict[str, Callable[[float], None]]] = {
    "numpy": on_numpy, "jax": on_jax, "tf": on_tensorflow, "torch": on_torch,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; default: all")
    parser.add_argument("--seconds", type=float, help="for each figure; default: 0.5 on NumPy, 0.1 else")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {', '.join(sorted(unknown))}; known: {', '.join(SECTIONS)}")
    for name in options.sections or SECTIONS:
        SECTIONS[name](options.seconds or (0.5 if name == "numpy" else 0.1))


if __name__ == "__main__":
    main()
