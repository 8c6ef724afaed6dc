"""What transforms gain and cost.

Run it by `python -m benchmarks.transforms [SECTION ...]`.

`jit` beside the library's own compiler on native arrays, and `nested` arguments beside plain ones; eager `derivatives`
beside those of JAX and PyTorch; a fused `sigmoid` beside NumPy's; the gradients of a small `model`, compiled beside
eager and all examples at once beside one after the other; a `batch`, which is vmap on NumPy, beside a loop; `loops`
in `jit` beside the library's own, and what their compilation takes; `turns` of loops on NumPy beside loops of Python;
`portable` beside the function that it wraps. Figures to be compared are taken in turns within one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Final

import numpy as np
from rich.text import Text

import anyarray as xp
from benchmarks.overhead import library, print_table, verdict
from benchmarks.turns import Entry, seconds_of

FRAMEWORKS: Final = {"jax": "jax", "tf": "tensorflow"}


def installed() -> dict[str, Any]:
    """The modules of the frameworks by the names of their backends.

    Our backends load them, as that quiets them.
    """
    found: dict[str, Any] = {}
    for name, module in FRAMEWORKS.items():
        try:
            xp.device(name)
        except xp.BackendNotInstalledError:
            pass
        found[name] = library(module)
    return {name: module for name, module in found.items() if module is not None}


JIT_BOUND: Final = 1.1
"""Times the library's own compiled function of the same mathematics on native arrays."""


def sigmoid(x: xp.Array) -> xp.Array:
    return 1 / (1 + xp.exp(-x))


def of_jit(seconds: float) -> None:
    """Times jax.jit and tf.function(jit_compile=True), on float64."""
    rows: list[list[str | Text]] = []
    for name, module in installed().items():
        for size in (1, 1_000_000):
            least = seconds_of(jit_entries(name, module, size), seconds=seconds)
            ratio = least["anyarray"] / least["native"]
            times = [f"{least[one] * 1e6:.1f}" for one in ("native", "anyarray")]
            rows.append([f"{name}, {size:,} elements", *times, verdict(ratio, JIT_BOUND, f"{ratio:.2f}")])
    print_table(f"jit of a sigmoid: us, and the ratio (at most {JIT_BOUND})", ["", "native", "anyarray", "ratio"], rows)


def jit_entries(name: str, module: Any, size: int) -> dict[str, Entry]:
    """The compiled sigmoid of a framework on its arrays, ours on Arrays."""
    with xp.backend(name):
        x = xp.linspace(-3, 3, size)
    if name == "jax":
        native = module.jit(lambda v: 1 / (1 + module.numpy.exp(-v)))
        block = partial(module.enable_x64, True)  # which anyarray does by itself
    else:
        native = module.function(lambda v: 1 / (1 + module.exp(-v)), jit_compile=True)
        block = partial(nullcontext)
    wait = xp.device(name).hook("synchronize")
    names = {"f": native, "x": xp.to_native(x), "wait": wait}
    ours = {"f": xp.jit(sigmoid), "x": x, "wait": wait}
    if size == 1:  # the call alone; small results are ready when it returns
        return {"native": Entry("f(x)", names, block), "anyarray": Entry("f(x)", ours, lambda: xp.backend(name))}
    return {
        "native": Entry("wait(f(x))", names, block),
        "anyarray": Entry("wait(f(x)._native)", ours, lambda: xp.backend(name)),
    }


def of_nested(seconds: float) -> None:
    """Times a compiled function of a dict of two arrays, and of the two."""
    rows: list[list[str | Text]] = []
    for name in installed():
        with xp.backend(name):
            x, y = xp.linspace(-3, 3, 8), xp.ones(8)
        flat, nested = xp.jit(lambda x, y: x * y), xp.jit(lambda pair: pair["x"] * pair["y"])
        names = {"flat": flat, "nested": nested, "x": x, "y": y, "pair": {"x": x, "y": y}}
        entries = {"flat": Entry("flat(x, y)", names), "nested": Entry("nested(pair)", names)}
        least = seconds_of(entries, seconds=seconds)
        times = [least["flat"], least["nested"], least["nested"] - least["flat"]]
        rows.append([name, *[f"{one * 1e6:.1f}" for one in times]])
    print_table("jit of x * y, given as two arrays and as a dict: us", ["", "two", "dict", "more"], rows)


SIGMOID_BOUND: Final = 1 / 2
"""Times NumPy."""


def of_sigmoid(seconds: float) -> None:
    """Times NumPy, on 2^20 float32."""
    host = np.linspace(-3, 3, 1 << 20, dtype=np.float32)
    rows: list[list[str | Text]] = []
    for name in installed():
        with xp.backend(name):
            names = {"f": xp.jit(sigmoid), "x": xp.asarray(host), "wait": xp.device(name).hook("synchronize")}
        entries = {
            "numpy": Entry("1 / (1 + np.exp(-a))", {"np": np, "a": host}, least=8),
            "jit": Entry("wait(f(x)._native)", names, least=8),
        }
        least = seconds_of(entries, seconds=seconds)
        ratio = least["jit"] / least["numpy"]
        times = [f"{least[one] * 1e3:.2f}" for one in entries]
        rows.append([name, *times, verdict(ratio, SIGMOID_BOUND, f"{ratio:.2f}")])
    print_table(
        f"fused sigmoid of 2^20 float32: ms, and the ratio (at most {SIGMOID_BOUND})",
        ["", "numpy", "jit", "ratio"],
        rows,
    )


DERIVATIVES_BOUND: Final = 2.0
"""Times the library's own transform of the same function of native arrays."""


def of_derivatives(seconds: float) -> None:
    """Times eager derivatives and `vmap`, beside the library's own."""
    rows: list[list[str | Text]] = []
    for name in ("jax", "torch"):
        module = library(name)
        if module is None:
            continue
        own, namespace = (module, module.numpy) if name == "jax" else (module.func, module)
        block = partial(module.enable_x64, True) if name == "jax" else partial(nullcontext)
        wait = xp.device(name).hook("synchronize")
        random = np.random.default_rng(0)
        with xp.backend(name):
            arrays = [xp.asarray(random.uniform(0.1, 0.9, shape)) for shape in ((128, 16), (16, 32), (32, 4), (128, 4))]
        natives = list(map(xp.to_native, arrays))
        theirs = transformed(own, namespace, *natives)
        for case, ours in transformed(xp, xp, *arrays).items():
            names = {"f": ours, "x": arrays[0], "wait": wait, "native": xp.to_native}
            entries = {
                "native": Entry("wait(f(x))", {"f": theirs[case], "x": natives[0], "wait": wait}, block),
                "anyarray": Entry("wait(native(f(x)))", names, partial(xp.backend, name)),
            }
            least = seconds_of(entries, seconds=seconds)
            ratio = least["anyarray"] / least["native"]
            times = [f"{least[one] * 1e3:.3f}" for one in entries]
            rows.append([f"{name}: {case}", *times, verdict(ratio, DERIVATIVES_BOUND, f"{ratio:.2f}")])
    print_table(
        f"eager derivatives: ms, and the ratio (at most {DERIVATIVES_BOUND})", ["", "native", "anyarray", "ratio"], rows
    )


def transformed(own: Any, namespace: Any, x: Any, dense: Any, last: Any, y: Any) -> dict[str, Callable[[Any], Any]]:
    """Functions of `x`, by the transforms and the functions of a library."""
    exp, tanh, total = namespace.exp, namespace.tanh, namespace.sum
    power, arctangent, extremum, products = (
        next(getattr(namespace, one) for one in names.split() if hasattr(namespace, one))
        for names in ("pow", "atan2", "amax max", "cumulative_prod cumprod")
    )
    jacobian = own.jacrev if hasattr(own, "jacrev") else own.jacobian

    def model(dense: Any) -> Any:
        z = tanh(x @ dense) @ last
        e = exp(z - extremum(z, axis=-1, keepdims=True))
        return namespace.mean((e / total(e, axis=-1, keepdims=True) - y) ** 2)

    def row(v: Any) -> Any:
        return total(tanh(v @ dense))

    sums: dict[str, Callable[[Any], Any]] = {
        "sum": lambda x: x,
        "max": extremum,
        "cumulative product": lambda x: products(x, axis=0),
        "tanh": tanh,
        "exp": exp,
        "log": namespace.log,
        "pow": lambda x: power(x, x),
        "atan2": lambda x: arctangent(x, x),
        "divide": lambda x: namespace.divide(x, x),
    }
    found: dict[str, Callable[[Any], Any]] = {
        "grad of a model": lambda x: own.grad(model)(dense),
        "vmap": own.vmap(row),
        "grad of vmap": own.grad(lambda x: total(own.vmap(row)(x))),
        "vmap of grad": own.vmap(own.grad(row)),
        "jacobian": lambda x: jacobian(lambda v: tanh(v @ dense))(x[0]),
    }
    return found | {f"grad of {name}": own.grad(lambda x, f=f: total(f(x))) for name, f in sums.items()}


COMPILED_BOUND: Final = 1 / 2
"""Times the eager gradients."""
EXAMPLES_BOUND: Final = 1 / 20
"""Times a loop over the examples. Where that is compiled, too, it is shown only: jax.jit alone gains 11 times there."""
BATCH: Final = 128


def loss(weights: tuple[xp.Array, xp.Array], x: xp.Array, y: xp.Array) -> xp.Array:
    """Squared error of dense, relu, projection."""
    dense, projection = weights
    return xp.mean((xp.maximum(x @ dense, 0) @ projection - y) ** 2)


def of_model(seconds: float) -> None:
    """Times gradients of the loss, compiled and eager.

    Those of each example are taken at once and in a loop.
    """
    random = np.random.default_rng(0)
    rows: list[list[str | Text]] = []
    for name in installed():
        wait = xp.device(name).hook("synchronize")
        with xp.backend(name):
            weights = (xp.asarray(random.normal(size=(16, 32))), xp.asarray(random.normal(size=(32, 4))))
            x, y = xp.asarray(random.normal(size=(BATCH, 16))), xp.asarray(random.normal(size=(BATCH, 4)))
            gradient = xp.grad(loss)
            names = {
                "eager": gradient,
                "compiled": xp.jit(gradient),
                "examples": xp.jit(xp.vmap(gradient, in_axes=(None, 0, 0))),
                "wait": wait,
                "n": range(BATCH),
            } | {"w": weights, "x": x, "y": y, "xs": list(x), "ys": list(y)}
            least = seconds_of(
                {
                    "eager": Entry("wait(eager(w, x, y)[0]._native)", names),
                    "compiled": Entry("wait(compiled(w, x, y)[0]._native)", names),
                    "one": Entry("wait(eager(w, xs[0], ys[0])[0]._native)", names),
                    "compiled loop": Entry("wait([compiled(w, xs[i], ys[i]) for i in n][-1][0]._native)", names),
                    "at once": Entry("wait(examples(w, x, y)[0]._native)", names),
                },
                seconds=seconds,
            )
        least["loop"] = BATCH * least["one"]
        at_once = f"{BATCH} examples at once beside a"
        for what, slow, fast, bound in (
            ("compiled beside eager", "eager", "compiled", COMPILED_BOUND),
            (f"{at_once} loop", "loop", "at once", EXAMPLES_BOUND),
            (f"{at_once} compiled loop", "compiled loop", "at once", None),
        ):
            ratio = least[fast] / least[slow]
            times = [f"{least[one] * 1e3:.3f}" for one in (slow, fast)]
            text = f"{ratio:.3f}"
            rows.append([f"{name}: {what}", *times, verdict(ratio, bound, text) if bound else text])
    print_table("gradients of a small model: ms, and the ratio", ["", "slow", "fast", "ratio"], rows)


def of_batch(seconds: float) -> None:
    """Times `vmap` on NumPy, and the function in a loop over the examples."""
    random = np.random.default_rng(0)
    x, w = xp.asarray(random.normal(size=(BATCH, 16))), xp.asarray(random.normal(size=(16, 32)))

    def normalised(row: xp.Array) -> xp.Array:
        hidden = xp.exp(xp.maximum(row @ w, 0))
        return hidden / xp.sum(hidden)

    names = {"batch": xp.vmap(normalised), "one": normalised, "x": x, "xp": xp}
    entries = {"loop": Entry("xp.stack([one(row) for row in x])", names), "vmap": Entry("batch(x)", names)}
    least = seconds_of(entries, seconds=seconds)
    times = [f"{least[one] * 1e3:.3f}" for one in ("loop", "vmap")]
    rows: list[list[str | Text]] = [[f"{BATCH} examples", *times, f"{least['vmap'] / least['loop']:.3f}"]]
    print_table("vmap on NumPy beside a loop: ms, and the ratio", ["", "loop", "vmap", "ratio"], rows)


LOOPS_BOUND: Final = 1.1
COMPILING_BOUND: Final = 1.2
"""Both are times the library's own loop of the same mathematics, compiled."""
TURNS: Final = 1000


def recurrent(w: xp.Array, xs: xp.Array) -> xp.Array:
    return xp.scan(lambda h, x: (xp.tanh(w @ h + x), h), xs[0], xs)[1]


def repeated(w: xp.Array, xs: xp.Array) -> xp.Array:
    return xp.while_loop(lambda c: c[0] < TURNS, lambda c: (c[0] + 1, xp.tanh(w @ c[1])), (0, xs[0]))[1]


def native_loops(name: str, module: Any) -> dict[str, Callable[..., Any]]:
    """The same by the library itself."""
    if name == "jax":
        jnp, lax = module.numpy, module.lax
        return {
            "scan": lambda w, xs: lax.scan(lambda h, x: (jnp.tanh(w @ h + x), h), xs[0], xs)[1],
            "while_loop": lambda w, xs: lax.while_loop(
                lambda c: c[0] < TURNS, lambda c: (c[0] + 1, jnp.tanh(w @ c[1])), (0, xs[0])
            )[1],
        }

    def scan(w: Any, xs: Any) -> Any:
        rows = module.TensorArray(xs.dtype, TURNS, element_shape=xs.shape[1:]).unstack(xs)

        def turn(i: Any, h: Any, stack: Any) -> Any:
            return i + 1, module.tanh(module.linalg.matvec(w, h) + rows.read(i)), stack.write(i, h)

        stack = module.TensorArray(xs.dtype, TURNS, element_shape=xs.shape[1:])
        return module.while_loop(lambda i, *_: i < TURNS, turn, (0, xs[0], stack))[2].stack()

    def while_loop(w: Any, xs: Any) -> Any:
        return module.while_loop(
            lambda i, _: i < TURNS, lambda i, h: (i + 1, module.tanh(module.linalg.matvec(w, h))), (0, xs[0])
        )[1]

    return {"scan": scan, "while_loop": while_loop}


def of_loops(seconds: float) -> None:
    """Times loops of 1,000 products with a 32 x 32 matrix, first calls too."""
    rows: list[list[str | Text]] = []
    for name, module in installed().items():
        for loop, own in native_loops(name, module).items():
            rows += rows_of_loop(name, module, loop, own, seconds)
    print_table("loops of 1,000 turns in jit: ms, and the ratio", ["", "native", "anyarray", "ratio"], rows)


def rows_of_loop(name: str, module: Any, loop: str, own: Callable[..., Any], seconds: float) -> list[list[str | Text]]:
    random = np.random.default_rng(0)
    block = partial(module.enable_x64, True) if name == "jax" else partial(nullcontext)
    compiled = module.jit if name == "jax" else partial(module.function, jit_compile=True, autograph=False)
    ours = {"scan": recurrent, "while_loop": repeated}[loop]
    with xp.backend(name):
        w, xs = [xp.asarray(random.normal(size=(n, 32)) / 8) for n in (32, TURNS)]
    native, wait = (xp.to_native(w), xp.to_native(xs)), xp.device(name).hook("synchronize")
    first = {"native": np.inf, "anyarray": np.inf}
    for _ in range(5):
        # Each is another function, so that nothing is known of it.
        with block():
            started = time.perf_counter()
            wait(compiled(lambda w, xs: own(w, xs))(*native))
            first["native"] = min(first["native"], time.perf_counter() - started)
        with xp.backend(name):
            started = time.perf_counter()
            wait(xp.jit(lambda w, xs: ours(w, xs))(w, xs)._native)
            first["anyarray"] = min(first["anyarray"], time.perf_counter() - started)
    names = {"f": compiled(own), "w": native[0], "xs": native[1], "wait": wait}
    entries = {
        "native": Entry("wait(f(w, xs))", names, block),
        "anyarray": Entry(
            "wait(f(w, xs)._native)", {**names, "f": xp.jit(ours), "w": w, "xs": xs}, lambda: xp.backend(name)
        ),
    }
    rows: list[list[str | Text]] = []
    least = seconds_of(entries, seconds=seconds)
    for what, found, bound in (("a call", least, LOOPS_BOUND), ("the first call", first, COMPILING_BOUND)):
        ratio = found["anyarray"] / found["native"]
        times = [f"{found[one] * 1e3:.2f}" for one in ("native", "anyarray")]
        rows.append([f"{name}: {loop}, {what}", *times, verdict(ratio, bound, f"{ratio:.2f}")])
    return rows


TURNS_BOUND: Final = 1.3
"""Times a loop of Python that calls the same functions of Arrays."""


def of_turns(seconds: float) -> None:
    """Times 10,000 turns with scalars on NumPy."""

    def goes_on(c: tuple[xp.Array, xp.Array]) -> xp.Array:
        return c[0] < 10_000

    def turn(c: tuple[xp.Array, xp.Array]) -> tuple[xp.Array, xp.Array]:
        return c[0] + 1, c[1] * 0.999 + 0.5

    def decayed(i: xp.Array, x: xp.Array) -> xp.Array:
        return x * 0.999 + i

    def step(x: xp.Array, d: xp.Array) -> tuple[xp.Array, xp.Array]:
        x = x * 0.999 + d
        return x, x

    def while_in_python() -> Any:
        c = xp.asarray(0), xp.asarray(1.0)
        while goes_on(c):
            c = turn(c)
        return c

    def for_in_python() -> Any:
        x = xp.asarray(1.0)
        for i in xp.arange(10_000):
            x = decayed(i, x)
        return x

    def scan_in_python() -> Any:
        x, ys = xp.asarray(1.0), []
        for d in data:
            x, y = step(x, d)
            ys.append(y)
        return xp.stack(ys)

    data = xp.linspace(0, 1, 10_000)
    rows: list[list[str | Text]] = []
    for name, loop, ours in (
        ("while_loop", while_in_python, lambda: xp.while_loop(goes_on, turn, (0, 1.0))),
        ("fori_loop", for_in_python, lambda: xp.fori_loop(0, 10_000, decayed, 1.0)),
        ("scan", scan_in_python, lambda: xp.scan(step, 1.0, data)),
    ):
        entries = {"python": Entry("f()", {"f": loop}), "anyarray": Entry("f()", {"f": ours})}
        least = seconds_of(entries, seconds=seconds)
        ratio = least["anyarray"] / least["python"]
        times = [f"{least[one] * 1e3:.2f}" for one in ("python", "anyarray")]
        rows.append([name, *times, verdict(ratio, TURNS_BOUND, f"{ratio:.2f}")])
    print_table("10,000 turns on NumPy beside Python's: ms, and the ratio", ["", "python", "anyarray", "ratio"], rows)


PORTABLE_BOUND: Final = 5.0
"""Microseconds beside the body, for two inputs."""


def of_portable(seconds: float) -> None:
    """Times a portable function of native arrays, and its body on Arrays."""
    rows: list[list[str | Text]] = []

    def first(x: xp.Array, y: xp.Array) -> xp.Array:
        return x

    for name in ("numpy", *installed()):
        x = xp.ones(8, device=name)
        names = {"f": xp.portable(first), "body": first, "x": x, "a": xp.to_native(x)}
        least = seconds_of({"body": Entry("body(x, x)", names), "portable": Entry("f(a, a)", names)}, seconds=seconds)
        more = (least["portable"] - least["body"]) * 1e6
        rows.append([name, verdict(more, PORTABLE_BOUND, f"{more:.1f}")])
    print_table(f"portable of two inputs: us beside the body (at most {PORTABLE_BOUND})", ["", "more"], rows)


SECTIONS: Final[dict[str, Callable[[float], None]]] = {
    "jit": of_jit,
    "nested": of_nested,
    "derivatives": of_derivatives,
    "sigmoid": of_sigmoid,
    "model": of_model,
    "batch": of_batch,
    "loops": of_loops,
    "turns": of_turns,
    "portable": of_portable,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transforms", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; default: all")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {', '.join(sorted(unknown))}; known: {', '.join(SECTIONS)}")
    for name in options.sections or SECTIONS:
        SECTIONS[name](options.seconds)


if __name__ == "__main__":
    main()
