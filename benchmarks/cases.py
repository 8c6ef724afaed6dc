"""What the benchmark of overhead calls: a row each, in each library's words.

The names in the expressions: x, y are vectors of positive float64, m, k matrices, b a bool vector, i indices.
`zero`, `axis`, `axes` ... are constants that TensorFlow's raw ops get ready-made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ELEMENTWISE, REDUCTION, MATMUL, OTHER = "elementwise", "reduction", "matmul", "other"


@dataclass(frozen=True)
class Case:
    """A call as the standard writes it, and in TensorFlow's ways, if any.

    The standard's has `xp` for the namespace.
    """

    group: str
    standard: str
    raw: str | None = None
    tf: str | None = None
    tnp: str | None = None
    keras: str | None = None


def unary(name: str, raw: str, tf: str | None = None) -> Case:
    """A function of x that is called alike everywhere but in the raw ops."""
    return Case(
        ELEMENTWISE, f"xp.{name}(x)", f"raw.{raw}(x=x)", f"tf.{tf or name}(x)", f"tnp.{name}(x)", f"ops.{name}(x)"
    )


def binary(name: str, raw: str, tf: str | None = None) -> Case:
    """As `unary`, of x and y."""
    return Case(
        ELEMENTWISE,
        f"xp.{name}(x, y)",
        f"raw.{raw}(x=x, y=y)",
        f"tf.{tf or name}(x, y)",
        f"tnp.{name}(x, y)",
        f"ops.{name}(x, y)",
    )


def reduction(name: str, raw: str, tf: str, array: str = "x") -> Case:
    """A reduction over all elements."""
    ready = "axis" if array in "xb" else "axes"
    return Case(
        REDUCTION,
        f"xp.{name}({array})",
        f"raw.{raw}(input={array}, axis={ready})",
        f"tf.{tf}({array})",
        f"tnp.{name}({array})",
        f"ops.{name}({array})",
    )


CASES: Final = (
    unary("exp", "Exp"),
    unary("log", "Log", "math.log"),
    unary("sqrt", "Sqrt"),
    unary("sin", "Sin"),
    unary("tanh", "Tanh"),
    unary("floor", "Floor"),
    unary("abs", "Abs"),
    unary("negative", "Neg"),
    unary("square", "Square"),
    unary("sign", "Sign"),
    unary("isnan", "IsNan", "math.is_nan"),
    binary("add", "AddV2"),
    binary("subtract", "Sub"),
    binary("multiply", "Mul"),
    binary("divide", "RealDiv"),
    Case(ELEMENTWISE, "xp.pow(x, y)", "raw.Pow(x=x, y=y)", "tf.pow(x, y)", "tnp.power(x, y)", "ops.power(x, y)"),
    binary("maximum", "Maximum"),
    binary("less", "Less"),
    binary("equal", "Equal"),
    Case(
        ELEMENTWISE, "xp.logical_and(b, b)", "raw.LogicalAnd(x=b, y=b)", "tf.logical_and(b, b)",
        "tnp.logical_and(b, b)", "ops.logical_and(b, b)",
    ),
    Case(ELEMENTWISE, "x + 1", "raw.AddV2(x=x, y=one)", "tf.add(x, 1)", "tnp.add(x, 1)", "ops.add(x, 1)"),
    Case(ELEMENTWISE, "x * y", "raw.Mul(x=x, y=y)", "x * y", "tnp.multiply(x, y)", "ops.multiply(x, y)"),
    Case(
        ELEMENTWISE, "xp.where(b, x, y)", "raw.SelectV2(condition=b, t=x, e=y)", "tf.where(b, x, y)",
        "tnp.where(b, x, y)", "ops.where(b, x, y)",
    ),
    reduction("sum", "Sum", "reduce_sum"),
    reduction("mean", "Mean", "reduce_mean"),
    reduction("prod", "Prod", "reduce_prod"),
    reduction("max", "Max", "reduce_max"),
    reduction("all", "All", "reduce_all", "b"),
    Case(
        REDUCTION, "xp.sum(m, axis=0)", "raw.Sum(input=m, axis=zero)", "tf.reduce_sum(m, axis=0)",
        "tnp.sum(m, axis=0)", "ops.sum(m, axis=0)",
    ),
    Case(
        REDUCTION, "xp.argmax(x, axis=0)", "raw.ArgMax(input=x, dimension=zero)", "tf.argmax(x, axis=0)",
        "tnp.argmax(x, axis=0)", "ops.argmax(x, axis=0)",
    ),
    Case(MATMUL, "xp.matmul(m, k)", "raw.MatMul(a=m, b=k)", "tf.matmul(m, k)", "tnp.matmul(m, k)", "ops.matmul(m, k)"),
    Case(
        OTHER, "xp.reshape(x, (2, -1))", "raw.Reshape(tensor=x, shape=two_rows)", "tf.reshape(x, (2, -1))",
        "tnp.reshape(x, (2, -1))", "ops.reshape(x, (2, -1))",
    ),
    Case(
        OTHER, "xp.permute_dims(m, (1, 0))", "raw.Transpose(x=m, perm=swapped)", "tf.transpose(m, (1, 0))",
        "tnp.transpose(m, (1, 0))", "ops.transpose(m, (1, 0))",
    ),
    Case(
        OTHER, "xp.concat([x, y])", "raw.ConcatV2(values=[x, y], axis=zero)", "tf.concat([x, y], 0)",
        "tnp.concatenate([x, y])", "ops.concatenate([x, y])",
    ),
    Case(
        OTHER, "xp.take(x, i)", "raw.GatherV2(params=x, indices=i, axis=zero)", "tf.gather(x, i)",
        "tnp.take(x, i)", "ops.take(x, i)",
    ),
    Case(
        OTHER, "xp.cumulative_sum(x)", "raw.Cumsum(x=x, axis=zero)", "tf.cumsum(x)", "tnp.cumsum(x)", "ops.cumsum(x)",
    ),
    Case(OTHER, "x[0]", "raw.GatherV2(params=x, indices=zero, axis=zero)", "x[0]", "x[0]", "x[0]"),
)  # fmt: skip
"""The calls that are compared on JAX and TensorFlow, there beside their raw ops."""

ON_NUMPY: Final = {
    "x + y": "do('add', x, y)",
    "x + 1": "do('add', x, 1)",
    "xp.exp(x)": "do('exp', x)",
    "xp.sum(x)": "do('sum', x)",
    "x < y": "do('less', x, y)",
    "x ** 2": "do('square', x)",
    "x[0]": None,
    "xp.reshape(x, (2, 4))": "do('reshape', x, (2, 4))",
    "xp.max(x)": "do('max', x)",
    "xp.where(b, x, y)": "do('where', b, x, y)",
    "xp.where(b, x, 0.0)": None,
    "xp.add(1, x)": None,
    "xp.exp(h)": None,
    "x + h": None,
    "xp.matmul(m, k)": "do('matmul', m, k)",
    "xp.concat([x, y])": "do('concatenate', [x, y])",
    "xp.zeros(8)": "do('zeros', 8, like='numpy')",
    "xp.asarray([1.0, 2.0])": None,
    "xp.asarray(h, copy=True)": None,
    "x[b]": None,
    "float(x[0])": None,
    "x.__setitem__(0, 1.0)": None,
}
"""The calls that are compared on NumPy, and what autoray makes of them; `h` is an ndarray also to us."""

BOUND: Final = ("x + y", "x + 1", "xp.exp(x)", "xp.sum(x)")
"""The calls on NumPy for which the design states a bound."""
