"""Distributions: pure functions of a key and a shape.

Parameters of a distribution are numbers or Arrays, which broadcast with the shape. An invalid parameter raises
ValueError. In a trace, where values are unknown, it gives NaN, or False or an arbitrary integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base import dtypes, errors
from anyarray._base.dtypes import DTypeLike, float64, int64, uint64
from anyarray._call.arguments import as_array, as_integer, as_shape
from anyarray._call.dispatch import composed
from anyarray._call.placement import constant
from anyarray._call.wrapping import is_array
from anyarray.extensions._axes import known
from anyarray.random import _rejection
from anyarray.random._draws import bits, floating, random, standard_normal
from anyarray.random._quantile import normal_quantile
from anyarray.random._threefry import threefry
from anyarray.random.keys import checked, split
from anyarray.standard import namespace as xp

__all__ = [
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "choice", "dirichlet", "exponential", "gamma", "gumbel",
    "integers", "laplace", "multivariate_normal", "normal", "permutation", "poisson", "random", "standard_normal",
    "student_t", "truncated_normal", "uniform",
]  # fmt: skip

Parameter = float | AnyArray


def uniform(
    key: AnyArray, shape: Shape = (), *, low: Parameter = 0.0, high: Parameter = 1.0, dtype: DTypeLike | None = None
) -> Array:
    """Floats in [`low`, `high`), up to rounding.

    >>> from anyarray import random
    >>> bool(2 <= random.uniform(random.key(7), low=2, high=3) <= 3)
    True

    Source: NumPy 2.4, numpy.random.Generator.uniform.
    """
    first = _operand("uniform", "low", low)
    return first + (_operand("uniform", "high", high) - first) * random(key, shape, dtype)


def normal(
    key: AnyArray, shape: Shape = (), *, loc: Parameter = 0.0, scale: Parameter = 1.0, dtype: DTypeLike | None = None
) -> Array:
    """Normal numbers with the mean `loc` and the standard deviation `scale`.

    Raises ValueError for a negative scale.

    >>> from anyarray import random
    >>> random.normal(random.key(7), (2, 3)).shape
    (2, 3)

    Source: NumPy 2.4, numpy.random.Generator.normal.
    """
    return _moved("normal", standard_normal(checked("normal", key), shape, dtype), loc, scale)


def truncated_normal(
    key: AnyArray, lower: float, upper: float, shape: Shape = (), *, dtype: DTypeLike | None = None
) -> Array:
    """Standard normal numbers between `lower` and `upper`.

    Raises ValueError unless `lower` is below `upper`.

    >>> from anyarray import random
    >>> bool(-1 <= random.truncated_normal(random.key(7), -1, 2) <= 2)
    True

    Source: jax.random.truncated_normal.
    """
    if not lower < upper:
        raise errors.ArgumentValueError(f"truncated_normal: lower must be below upper, not {lower} and {upper}")
    wanted, wide = floating("truncated_normal", dtype)
    # From the tail where the bounds are, as near 1 probabilities lose their digits.
    sign = -1.0 if lower > 0 else 1.0
    low, high = sorted((sign * lower, sign * upper))
    first, last = (0.5 * math.erfc(-bound / math.sqrt(2)) for bound in (low, high))
    p = first + (last - first) * random(key, shape, float64)
    x = sign * normal_quantile(p - 0.5, xp.minimum(p, 1 - p))
    return xp.astype(xp.clip(xp.astype(x, wide), lower, upper), wanted)


def exponential(key: AnyArray, shape: Shape = (), *, scale: Parameter = 1.0, dtype: DTypeLike | None = None) -> Array:
    """Exponential numbers with the mean `scale`.

    Raises ValueError for a negative scale.

    >>> from anyarray import random
    >>> bool(random.exponential(random.key(7)) >= 0)
    True

    Source: NumPy 2.4, numpy.random.Generator.exponential.
    """
    return _valid("exponential", "scale", scale, _not_negative) * -xp.log1p(-random(key, shape, dtype))


def laplace(
    key: AnyArray, shape: Shape = (), *, loc: Parameter = 0.0, scale: Parameter = 1.0, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of the Laplace distribution: exponential on both sides of `loc`.

    Raises ValueError for a negative scale.

    >>> from anyarray import random
    >>> random.laplace(random.key(7), (2,)).shape
    (2,)

    Source: NumPy 2.4, numpy.random.Generator.laplace.
    """
    u = 2 * random(key, shape, dtype) - 1
    away = -xp.log1p(-xp.minimum(xp.abs(u), 1 - float(xp.finfo(u.dtype).eps)))
    return _moved("laplace", xp.copysign(away, u), loc, scale)


def cauchy(
    key: AnyArray, shape: Shape = (), *, loc: Parameter = 0.0, scale: Parameter = 1.0, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of the Cauchy distribution, which has no mean.

    Raises ValueError for a negative scale.

    >>> from anyarray import random
    >>> random.cauchy(random.key(7), (2,)).shape
    (2,)

    Source: jax.random.cauchy.
    """
    return _moved("cauchy", xp.tan(math.pi * (_between(key, shape, dtype) - 0.5)), loc, scale)


def gumbel(
    key: AnyArray, shape: Shape = (), *, loc: Parameter = 0.0, scale: Parameter = 1.0, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of the Gumbel distribution, a limit for the largest of many.

    Raises ValueError for a negative scale.

    >>> from anyarray import random
    >>> random.gumbel(random.key(7), (2,)).shape
    (2,)

    Source: NumPy 2.4, numpy.random.Generator.gumbel.
    """
    return _moved("gumbel", -xp.log(-xp.log(_between(key, shape, dtype))), loc, scale)


def bernoulli(key: AnyArray, shape: Shape | None = None, *, p: Parameter = 0.5) -> Array:
    """Booleans that are True with the probability `p`.

    `shape` defaults to that of `p`. Raises ValueError for a probability outside 0 to 1.

    >>> from anyarray import random
    >>> random.bernoulli(random.key(7), (100,), p=0.0).any().item()
    False

    Source: jax.random.bernoulli.
    """
    chance = _valid("bernoulli", "p", p, _probability)
    return random(key, _shape_of("bernoulli", shape, chance), float64) < chance


def integers(
    key: AnyArray,
    shape: Shape,
    low: int,
    high: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    endpoint: bool = False,
) -> Array:
    """Integers in [`low`, `high`), or up to `high` with `endpoint`.

    All are equally likely, to 1 in 2**32 or better. Without `high`, they are in [0, `low`). `dtype` defaults to int64.
    Raises ValueError for bounds that the dtype cannot hold, or without an integer between them.

    >>> from anyarray import random
    >>> random.integers(random.key(7), (5,), 1, 7).tolist()
    [6, 1, 2, 1, 1]

    Source: NumPy 2.4, numpy.random.Generator.integers.
    """
    first, last = as_integer("integers", "low", low), None if high is None else as_integer("integers", "high", high)
    if last is None:
        first, last = 0, first
    last -= not endpoint
    wanted = int64 if dtype is None else dtypes.dtype(dtype, "integers")
    if wanted.kind not in "iu":
        raise errors.ArgumentTypeError(f"integers: dtype must be an integer dtype, not {wanted}")
    if first > last:
        raise errors.ArgumentValueError(f"integers: no integer is in the range from low {low} to high {high}")
    if not (dtypes.holds(wanted, first) and dtypes.holds(wanted, last)):
        raise errors.ArgumentValueError(f"integers: low and high must be of {wanted}, not {first} and {last}")
    return _integers(key, as_shape("integers", "shape", shape), first, last - first + 1, wanted)


@composed(key="integer", reads_no_values=True)
def _integers(key: AnyArray, shape: tuple[int, ...], first: int, count: int, dtype: DTypeLike) -> Array:
    """Integers of `count` values from `first` on.

    The high word of a product of bits and `count`: of 64 bits up to 2**32 values, else of 128.
    """
    given, wanted = checked("integers", key), dtypes.dtype(dtype)
    if count <= 1 << 32:
        high, low = (xp.astype(word, uint64) for word in threefry(given, shape))
        found = (high * count + ((low * count) >> 32)) >> 32
    elif count == 1 << 64:
        found = bits(given, shape, uint64)
    else:
        both = bits(given, (2, *shape), uint64)
        low_word = both[0, ...] * count
        found = _high_word(both[0, ...], count)
        found = found + xp.astype(low_word + _high_word(both[1, ...], count) < low_word, uint64)
    return xp.astype(found + first % (1 << 64), wanted)


def _high_word(x: Array, factor: int) -> Array:
    """The upper 64 bits of a product of uint64 by a number below 2**64."""
    low, high = x & 0xFFFFFFFF, x >> 32
    low_factor, high_factor = factor & 0xFFFFFFFF, factor >> 32
    crossed, other = low * high_factor, high * low_factor
    middle = ((low * low_factor) >> 32) + (crossed & 0xFFFFFFFF) + (other & 0xFFFFFFFF)
    return high * high_factor + (crossed >> 32) + (other >> 32) + (middle >> 32)


def permutation(key: AnyArray, x: int | AnyArray, *, axis: int = 0) -> Array:
    """The elements of `x` along an axis in random order.

    An int `x` means the integers from 0 to x - 1.

    >>> import anyarray as xp
    >>> from anyarray import random
    >>> sorted(random.permutation(random.key(7), 4).tolist())
    [0, 1, 2, 3]

    Source: jax.random.permutation.
    """
    if isinstance(x, int):
        return xp.argsort(bits(key, (x,), uint64))
    taken = as_array("permutation", "x", x)
    if not taken.ndim:
        raise errors.ArgumentTypeError("permutation: x must be an int or have an axis. Give int(x)")
    return xp.take(taken, xp.argsort(bits(key, (taken.shape[axis],), uint64)), axis=axis)


def choice(
    key: AnyArray,
    a: int | AnyArray,
    shape: Shape = (),
    *,
    replace: bool = True,
    p: AnyArray | None = None,
    axis: int = 0,
) -> Array:
    """Elements of `a` along an axis, chosen at random.

    An int `a` means the integers from 0 to a - 1. `p` holds the probabilities; by default, all elements are equally
    likely. Without `replace`, each element is chosen at most once.
    Raises ValueError for probabilities that do not sum to 1, for more elements than there are without `replace`, and
    for an `a` without elements.

    >>> from anyarray import random
    >>> sorted(random.choice(random.key(7), 3, (3,), replace=False).tolist())
    [0, 1, 2]

    Source: NumPy 2.4, numpy.random.Generator.choice.
    """
    elements = None if isinstance(a, int) else as_array("choice", "a", a)
    count = a if isinstance(a, int) else as_array("choice", "a", a).shape[axis]
    lengths = as_shape("choice", "shape", shape)
    wanted = math.prod(lengths)
    if not count and wanted:
        raise errors.ArgumentValueError("choice: a must have elements to choose from")
    if not replace and wanted > count:
        raise errors.ArgumentValueError(f"choice: a has {count} elements, not {wanted}. Choose with replace=True")
    if p is None:
        places = (
            integers(key, lengths, count)
            if replace and wanted
            else xp.reshape(permutation(key, count)[:wanted], lengths)
        )
    else:
        weights = _weights("choice", as_array("choice", "p", p), count, 1 if replace else wanted)
        if replace:
            sums = xp.cumulative_sum(weights)
            places = xp.searchsorted(sums, random(key, lengths, float64) * sums[-1], side="right")
            places = xp.minimum(places, count - 1)
        else:
            ranks = gumbel(key, (count,), dtype=float64) + xp.log(weights)
            places = xp.reshape(xp.argsort(ranks, descending=True)[:wanted], lengths)
    if elements is None:
        return places
    chosen = xp.take(elements, xp.reshape(places, (-1,)), axis=axis)
    axis %= elements.ndim
    return xp.reshape(chosen, (*elements.shape[:axis], *lengths, *elements.shape[axis + 1 :]))


def categorical(key: AnyArray, logits: AnyArray, shape: Shape | None = None, *, axis: int = -1) -> Array:
    """Positions along an axis, from the logarithms of their probabilities.

    The probabilities need not sum to 1: `logits` may differ by a constant. `shape` broadcasts with the shape of
    `logits` without the axis, which is the default.

    >>> import anyarray as xp
    >>> from anyarray import random
    >>> random.categorical(random.key(7), xp.asarray([[-xp.inf, 0.0], [0.0, -xp.inf]])).tolist()
    [1, 0]

    Source: jax.random.categorical.
    """
    rows = xp.moveaxis(as_array("categorical", "logits", logits), axis, -1)
    lengths = rows.shape[:-1] if shape is None else as_shape("categorical", "shape", shape)
    return xp.argmax(rows + gumbel(key, (*lengths, rows.shape[-1]), dtype=rows.dtype), axis=-1)


def multivariate_normal(
    key: AnyArray, mean: AnyArray, cov: AnyArray, shape: Shape = (), *, dtype: DTypeLike | None = None
) -> Array:
    """Normal vectors with a mean (..., n) and a covariance (..., n, n).

    The result has the shape `(*shape, n)`. Raises LinAlgError for a covariance that is not positive definite.

    >>> import anyarray as xp
    >>> from anyarray import random
    >>> random.multivariate_normal(random.key(7), xp.zeros(2), xp.eye(2), (3,)).shape
    (3, 2)

    Source: jax.random.multivariate_normal.
    """
    centre, spread = as_array("multivariate_normal", "mean", mean), as_array("multivariate_normal", "cov", cov)
    if spread.shape[-2:] != (centre.shape[-1], centre.shape[-1]):
        raise errors.ArgumentValueError(
            f"multivariate_normal: cov must be (..., n, n) for a mean of (..., n), not {spread.shape} for "
            f"{centre.shape}"
        )
    lengths = (*as_shape("multivariate_normal", "shape", shape), centre.shape[-1])
    root = xp.linalg.cholesky(spread)
    normals = standard_normal(key, lengths, spread.dtype if dtype is None else dtype)
    return centre + xp.squeeze(root @ xp.expand_dims(normals, axis=-1), axis=-1)


def gamma(
    key: AnyArray, a: Parameter, shape: Shape | None = None, *, scale: Parameter = 1.0, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of the gamma distribution with the shape parameter `a`.

    `shape` defaults to that of `a`. The method is that of Marsaglia and Tsang (2000). The derivative by `a` is that of
    the quantile at the same probability, as in `jax.random.gamma`. Raises ValueError unless `a` is positive.

    >>> from anyarray import random
    >>> bool(random.gamma(random.key(7), 2.5) > 0)
    True

    Source: NumPy 2.4, numpy.random.Generator.gamma.
    """
    wanted, _ = floating("gamma", dtype)
    alpha = _valid("gamma", "a", a, _positive)
    factor = _valid("gamma", "scale", scale, _not_negative)
    lengths = _shape_of("gamma", shape, alpha)
    first, second = split(checked("gamma", key))
    shapes = xp.astype(xp.broadcast_to(_array(alpha, first), lengths), float64)
    fixed = constant("gamma", shapes)
    d = xp.where(fixed < 1, fixed + 1, fixed) - 1 / 3

    def draw(one: Array) -> tuple[Array, Array]:
        of_normal, of_uniform = split(one)
        rows = (_rejection.ROWS, *lengths)
        return standard_normal(of_normal, rows, float64), random(of_uniform, rows, float64)

    def propose(x: Array, u: Array) -> tuple[Array, Array]:
        v = (1 + x / xp.sqrt(9 * d)) ** 3
        is_in = xp.log1p(-u) < 0.5 * x * x + d - d * v + d * xp.log(xp.where(v > 0, v, 1.0))
        return d * v, (v > 0) & is_in

    drawn = _rejection.accepted(first, draw, propose)
    boost = xp.where(fixed < 1, (1 - random(second, lengths, float64)) ** (1 / fixed), 1.0)
    return xp.astype(factor * random_gammas(shapes, drawn * boost), wanted)


@composed(own="jax tf torch", batch="elementwise", reads_no_values=True)
def random_gammas(a: AnyArray, drawn: AnyArray, /) -> Array:
    """`drawn`, with the derivative of gamma numbers by their shape `a`."""
    return xp.positive(drawn)  # where there are no derivatives


def beta(
    key: AnyArray, a: Parameter, b: Parameter, shape: Shape | None = None, *, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of the beta distribution with parameters `a` and `b`, in [0, 1].

    `shape` defaults to the shape to which both broadcast. Raises ValueError unless both are positive.

    >>> from anyarray import random
    >>> bool(0 < random.beta(random.key(7), 2.0, 3.0) < 1)
    True

    Source: NumPy 2.4, numpy.random.Generator.beta.
    """
    wanted, _ = floating("beta", dtype)
    alpha, other = _valid("beta", "a", a, _positive), _valid("beta", "b", b, _positive)
    lengths = _shape_of("beta", shape, alpha, other)
    first, second = split(checked("beta", key))
    x, y = gamma(first, alpha, lengths, dtype=float64), gamma(second, other, lengths, dtype=float64)
    return xp.astype(x / (x + y), wanted)


def dirichlet(key: AnyArray, alpha: AnyArray, shape: Shape = (), *, dtype: DTypeLike | None = None) -> Array:
    """Vectors that sum to 1, with the concentrations `alpha`.

    `alpha` has the shape (n,), and the result `(*shape, n)`. Raises ValueError unless all concentrations are positive.

    >>> import anyarray as xp
    >>> from anyarray import random
    >>> random.dirichlet(random.key(7), xp.ones(3), (2,)).shape
    (2, 3)

    Source: NumPy 2.4, numpy.random.Generator.dirichlet.
    """
    wanted, _ = floating("dirichlet", dtype)
    concentrations = _valid("dirichlet", "alpha", as_array("dirichlet", "alpha", alpha), _positive)
    lengths = (*as_shape("dirichlet", "shape", shape), *concentrations.shape)
    x = gamma(key, concentrations, lengths, dtype=float64)
    return xp.astype(x / xp.sum(x, axis=-1, keepdims=True), wanted)


def student_t(key: AnyArray, df: Parameter, shape: Shape | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """Numbers of Student's t distribution with `df` degrees of freedom.

    `shape` defaults to that of `df`. Raises ValueError unless `df` is positive.

    >>> from anyarray import random
    >>> random.student_t(random.key(7), 3.0, (2,)).shape
    (2,)

    Source: NumPy 2.4, numpy.random.Generator.standard_t.
    """
    wanted, _ = floating("student_t", dtype)
    freedom = _valid("student_t", "df", df, _positive)
    lengths = _shape_of("student_t", shape, freedom)
    first, second = split(checked("student_t", key))
    half = freedom / 2
    x = standard_normal(first, lengths, float64) * xp.sqrt(half / gamma(second, half, lengths, dtype=float64))
    return xp.astype(x, wanted)


def poisson(key: AnyArray, lam: Parameter, shape: Shape | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """Integers of the Poisson distribution with the mean `lam`.

    `shape` defaults to that of `lam`, and `dtype` to int64. Means below 10 use inversion, and others the method of
    Hoermann (1993). Raises ValueError for a negative mean.

    >>> from anyarray import random
    >>> bool(random.poisson(random.key(7), 4.0) >= 0)
    True

    Source: NumPy 2.4, numpy.random.Generator.poisson.
    """
    mean = _valid("poisson", "lam", lam, _not_negative)
    lengths = _shape_of("poisson", shape, mean)
    given = checked("poisson", key)
    rate = xp.astype(xp.broadcast_to(_array(mean, given), lengths), float64)
    return xp.astype(_rejection.poisson(given, rate), int64 if dtype is None else dtype)


def binomial(
    key: AnyArray, n: int | AnyArray, p: Parameter, shape: Shape | None = None, *, dtype: DTypeLike | None = None
) -> Array:
    """Numbers of successes in `n` trials, each with the probability `p`.

    `shape` defaults to the shape to which both broadcast, and `dtype` to int64. Means below 10 use inversion, and
    others the method of Hoermann (1993). Raises ValueError for a negative `n` and a probability outside 0 to 1.

    >>> from anyarray import random
    >>> bool(0 <= random.binomial(random.key(7), 10, 0.5) <= 10)
    True

    Source: NumPy 2.4, numpy.random.Generator.binomial.
    """
    trials, chance = _valid("binomial", "n", n, _not_negative), _valid("binomial", "p", p, _probability)
    lengths = _shape_of("binomial", shape, trials, chance)
    given = checked("binomial", key)
    of_trials = xp.astype(xp.broadcast_to(_array(trials, given), lengths), float64)
    of_chance = xp.astype(xp.broadcast_to(_array(chance, given), lengths), float64)
    return xp.astype(_rejection.binomial(given, of_trials, of_chance), int64 if dtype is None else dtype)


def _between(key: AnyArray, shape: Shape, dtype: DTypeLike | None) -> Array:
    """Floats between 0 and 1, without either."""
    wanted, wide = floating("random", dtype)
    u = random(key, shape, wide)
    return xp.astype(xp.clip(u, 2.0**-54 if wide is float64 else 2.0**-25, None), wanted)


def _array(value: Parameter, like: Array) -> Array:
    return value if is_array(value) else xp.asarray(value, device=like.device)


def _shape_of(function: str, shape: Shape | None, *parameters: Any) -> tuple[int, ...]:
    """The shape that was given, or that of the parameters."""
    if shape is not None:
        return tuple(as_shape(function, "shape", shape))
    lengths = [one.shape for one in parameters if is_array(one)]
    return np.broadcast_shapes(*lengths)


def _moved(function: str, numbers: Array, loc: Parameter, scale: Parameter) -> Array:
    """Numbers of the location 0 and the scale 1 with others."""
    return _operand(function, "loc", loc) + _valid(function, "scale", scale, _not_negative) * numbers


def _operand(function: str, name: str, value: Any) -> Array:
    """A number, which computes as a 0-d Array would, or an Array."""
    return value if isinstance(value, (int, float)) else as_array(function, name, value)  # type: ignore[return-value]


def _valid(function: str, name: str, value: Any, rule: Callable[[Any], Any]) -> Array:
    """A parameter of a distribution, for which a rule must hold.

    Raises ValueError if it does not. In a trace it is NaN where it does not.
    """
    if isinstance(value, (int, float)):
        if rule(value):
            return value  # type: ignore[return-value]  # as `_operand`
        raise errors.ArgumentValueError(f"{function}: {name} must be {_WORDS[rule]}, not {value}")
    array = as_array(function, name, value)
    values = known(array)
    if values is None:
        return xp.where(rule(array), array, math.nan)
    if not rule(values).all():
        wrong = values[~rule(values)].flat[0]
        raise errors.ArgumentValueError(f"{function}: {name} must be {_WORDS[rule]}, but one is {wrong}")
    return array


def _weights(function: str, p: Array, count: int, wanted: int) -> Array:
    """Probabilities, checked where their values are known."""
    if p.shape != (count,):
        raise errors.ArgumentValueError(f"{function}: p must have the shape ({count},), not {p.shape}")
    values = known(p)
    if values is not None:
        if not (values >= 0).all():
            raise errors.ArgumentValueError(f"{function}: p must not be negative, but one is {values.min()}")
        if abs(float(values.sum()) - 1) > 1e-6:
            raise errors.ArgumentValueError(f"{function}: p must sum to 1, not to {float(values.sum()):.6g}")
        if (values > 0).sum() < wanted:
            raise errors.ArgumentValueError(
                f"{function}: only {int((values > 0).sum())} elements of p are above 0, not {wanted}"
            )
    return xp.astype(p, float64)


def _not_negative(value: Any) -> Any:
    return value >= 0


def _positive(value: Any) -> Any:
    return value > 0


def _probability(value: Any) -> Any:
    return (value >= 0) & (value <= 1)


_WORDS: Final[dict[Callable[[Any], Any], str]] = {
    _not_negative: "0 or more",
    _positive: "above 0",
    _probability: "from 0 to 1",
}
