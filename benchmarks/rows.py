"""What `vmap` costs beside one call for all rows.

Run it by `python -m benchmarks.rows [--backends tf,jax] [NAME ...]`, with parts of expressions for names.

Each expression is a function of a row. It is run for all rows by one call (`all`), by `vmap`, by `jit` of that call and
by `jit` of `vmap`, in turns. The columns are times the first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from rich.text import Text

import anyarray as xp
from benchmarks.overhead import console, verdict
from benchmarks.turns import Entry, seconds_of

ROWS: Final = 2000
BOUND: Final = 3.0
"""Times one call for all rows."""

UNARY: Final = (
    *("abs", "acos", "asin", "atan", "cos", "exp", "expm1", "floor", "isfinite", "isnan", "log", "log1p", "negative"),
    *("positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc"),
)
BINARY: Final = (
    *("add", "atan2", "copysign", "divide", "equal", "floor_divide", "hypot", "less", "logaddexp", "maximum"),
    *("minimum", "multiply", "nextafter", "pow", "remainder", "subtract"),
)
OF_INTEGERS: Final = ("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor")
REDUCTIONS: Final = (
    *("all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"),
)
OF_MATRICES: Final = (
    *("cholesky", "det", "diagonal", "eigh", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "matrix_transpose"),
    *("pinv", "qr", "slogdet", "svd", "svdvals", "trace"),
)

EXPRESSIONS: Final[dict[str, str | None]] = {
    **{f"xp.{name}(x)": None for name in UNARY},
    **{f"xp.{name}(x, y)": None for name in BINARY},
    **{f"xp.{name}(i, j)": None for name in OF_INTEGERS},
    "xp.bitwise_invert(i)": None,
    "xp.logical_not(b)": None,
    "xp.logical_and(b, b)": None,
    "xp.conj(c)": None,
    "xp.real(c)": None,
    "xp.imag(c)": None,
    "xp.clip(x, min=0.3, max=0.6)": None,
    "xp.where(b, x, y)": None,
    "2 * x + 1": None,
    **{f"xp.{name}(x, axis=-1)": None for name in REDUCTIONS},
    "xp.cumulative_sum(x, axis=-1)": None,
    "xp.cumulative_prod(x, axis=-1)": None,
    "xp.diff(x)": None,
    "xp.sort(x)": None,
    "xp.argsort(x)": None,
    "xp.searchsorted(v, x)": None,
    "xp.isin(i, w)": None,
    "xp.linalg.vector_norm(x, axis=-1)": None,
    "xp.linalg.vector_norm(x, axis=-1, ord=1)": None,
    "xp.linalg.vector_norm(x, axis=-1, ord=3)": None,
    "xp.vecdot(x, y)": None,
    "xp.linalg.cross(x[..., :3], y[..., :3])": None,
    "xp.linalg.outer(x, y)": "x[:, :, None] * y[:, None, :]",
    "m @ k": None,
    "m @ v[:4]": None,
    **{f"xp.linalg.{name}(m)": None for name in OF_MATRICES},
    "xp.linalg.matrix_power(m, 3)": None,
    "xp.linalg.matrix_norm(m, ord=2)": None,
    "xp.linalg.solve(m, k)": None,
    "xp.tril(m)": None,
    "xp.triu(m)": None,
    "xp.tensordot(m, k, axes=1)": "m @ k",
    "xp.fft.fft(c)": None,
    "xp.fft.ifft(c)": None,
    "xp.fft.rfft(x)": None,
    "xp.fft.irfft(c)": None,
    "xp.fft.fftn(c, axes=(-1,))": None,
    "xp.fft.fftshift(x, axes=-1)": None,
    "xp.astype(x, xp.int32)": None,
    "xp.broadcast_to(x, (3, 8))": "xp.broadcast_to(x[:, None], (x.shape[0], 3, 8))",
    "xp.concat([x, y], axis=-1)": None,
    "xp.expand_dims(x, axis=-1)": None,
    "xp.flip(x, axis=-1)": None,
    "xp.moveaxis(m, -1, -2)": None,
    "xp.repeat(x, 2, axis=-1)": None,
    "xp.reshape(x, (2, 4))": "xp.reshape(x, (-1, 2, 4))",
    "xp.roll(x, 1, axis=-1)": None,
    "xp.stack([x, y], axis=-1)": None,
    "xp.tile(x, (2,))": "xp.tile(x, (1, 2))",
    "xp.unstack(x, axis=-1)[0]": None,
    "xp.ones_like(x)": None,
    "xp.meshgrid(x, v)[0]": "xp.broadcast_to(x[:, None, :], (x.shape[0], 8, 8))",
    "x[..., 2]": None,
    "x[..., 1:5]": None,
    "x[..., w]": None,
    "x[at]": "xp.take_along_axis(x, at, axis=-1)",
    "xp.take(x, w, axis=-1)": None,
    "xp.take(x, at)": "xp.take_along_axis(x, at, axis=-1)",
    "xp.take_along_axis(x, at, axis=-1)": None,
    "put(x, (..., 2), 7.0)": None,
    "put(x, (..., slice(1, 3)), 7.0)": None,
    "put(x, x > 0.5, 7.0)": None,
    "xp.grad(lambda z: xp.sum(z**3))(x)": "xp.grad(lambda z: xp.sum(z**3))(x)",
    "xp.grad(xp.linalg.vector_norm)(x)": "xp.grad(lambda z: xp.sum(xp.linalg.vector_norm(z, axis=-1)))(x)",
    "xp.grad(lambda z: xp.linalg.det(z))(m)": "xp.grad(lambda z: xp.sum(xp.linalg.det(z)))(m)",
    "xp.jacobian(lambda z: z**2)(x)": "2 * x[:, :, None] * xp.eye(8)",
    'xp.jacobian(lambda z: z**2, mode="forward")(x)': "2 * x[:, :, None] * xp.eye(8)",
    "xp.vmap(xp.linalg.vector_norm)(m)": "xp.linalg.vector_norm(m, axis=-1)",
}
"""Functions of a row, and what they are of all rows if that is written another way.

Of a row x, y are vectors of 8 numbers between 0 and 1, c is a complex one, b a bool one, i and j are integers, `at`
two places; m, k are 4 x 4 matrices, m positive definite. The same for all rows are the vector v and the places w.
"""


def put(x: xp.Array, key: Any, value: float) -> xp.Array:
    """A copy of `x`, written to."""
    y = x + 0.0
    y[key] = value
    return y


def arguments() -> dict[str, xp.Array]:
    """What differs from row to row, by its name in the expressions."""
    random = np.random.default_rng(0)
    x, y = random.uniform(0.05, 0.95, (2, ROWS, 8))
    i, j = random.integers(0, 8, (2, ROWS, 8))
    k, root = random.normal(size=(2, ROWS, 4, 4))
    hosts = {"x": x, "y": y, "i": i, "j": j, "b": x > 0.5, "c": x + 1j * y, "at": i[:, :2], "k": k}
    hosts["m"] = root @ np.swapaxes(root, -1, -2) + np.eye(4)
    return {name: xp.asarray(host) for name, host in hosts.items()}


def function_of(expression: str, constants: dict[str, Any], names: list[str]) -> Callable[..., Any]:
    """The function of those of `names` that an expression has."""
    found: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {expression}", constants)
    return found


def ratios(expression: str, whole: str | None, backend: str, seconds: float) -> list[str | Text]:
    """The time of one call, and the others beside it."""
    given = arguments()
    constants: dict[str, Any] = {"xp": xp, "put": put, "v": xp.linspace(0, 1, 8), "w": xp.asarray([2, 0, 5])}
    used = compile(expression, "expression", "eval").co_names
    names = [name for name in given if name in used]
    row, all_rows = (function_of(one, constants, names) for one in (expression, whole or expression))
    functions = {"all": all_rows, "vmap": xp.vmap(row), "jit": xp.jit(all_rows), "jit(vmap)": xp.jit(xp.vmap(row))}
    shared = {"wait": xp.device(backend).hook("synchronize"), "first": first, "given": [given[name] for name in names]}
    entries = {
        name: Entry("wait(first(f(*given))._native)", {**shared, "f": function}, most=5)
        for name, function in functions.items()
    }
    least = seconds_of(entries, seconds=seconds)
    cells: list[str | Text] = [f"{least['all'] * 1e6:.0f}"]
    for name in ("vmap", "jit", "jit(vmap)"):
        ratio = least[name] / least["all"]
        cells.append(verdict(ratio, BOUND, f"{ratio:.2f}"))
    return cells


def first(value: Any) -> xp.Array:
    """The Array, or the first of several."""
    return value[0] if isinstance(value, tuple) else value


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rows", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the expressions to time; default: all")
    parser.add_argument("--backends", default="tf,jax", help="default: tf,jax")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each figure")
    options = parser.parse_args()
    console.print(f"{ROWS} rows: us of one call for all, and times that (at most {BOUND:.0f})")
    console.print(line("", ["all", "vmap", "jit", "jit(vmap)"]))
    for backend in options.backends.split(","):
        with xp.backend(backend):
            for expression, whole in EXPRESSIONS.items():
                if not options.names or any(name in expression for name in options.names):
                    cells = ratios(expression, whole, backend, options.seconds)
                    console.print(line(f"{backend}: {expression}", cells))  # each at once, as all take minutes


def line(label: str, cells: Sequence[str | Text]) -> Text:
    """A row of the table."""
    found = Text(f"{label:<44}")
    for cell in cells:
        found += Text(" " * (10 - len(cell))) + (cell if isinstance(cell, Text) else Text(cell))
    return found


if __name__ == "__main__":
    main()
