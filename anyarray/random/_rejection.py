"""Distributions that are drawn by proposals, of which some are rejected."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from anyarray._array.array import Array
from anyarray._base.dtypes import float64, uint8
from anyarray.extensions._axes import known
from anyarray.random._draws import random
from anyarray.random.keys import fold_in, split
from anyarray.standard import namespace as xp

ROWS: Final = 6
"""Proposals that are made at once for each element."""
ROUNDS: Final = 4
"""How often that is done at most. One is rejected with a probability below 0.35, so all are in one of 10**11."""
TERMS: Final = 64
"""Steps of an inversion, of which the means are below 10."""


def accepted(
    key: Array, draw: Callable[[Array], tuple[Array, ...]], propose: Callable[..., tuple[Array, Array]]
) -> Array:
    """The first proposal for each element that is accepted.

    `draw` gives so many rows of random numbers for a key, and `propose` the proposals that these make, and whether they
    are good. Where values are unknown, as in a trace, all rounds are made at once, as each takes seconds to compile.
    """
    drawn = draw(fold_in(key, 0))
    found, is_found = _first(*propose(*drawn))
    for n in range(1, ROUNDS):
        values = known(is_found)
        if values is None:
            rounds = [drawn, *[draw(fold_in(key, k)) for k in range(1, ROUNDS)]]
            return _first(*propose(*[xp.concat(rows, axis=0) for rows in zip(*rounds, strict=True)]))[0]
        if values.all():
            break
        proposed, is_good = _first(*propose(*draw(fold_in(key, n))))
        found = xp.where(is_found, found, proposed)
        is_found = is_found | is_good
    return found


def _first(proposed: Array, is_good: Array) -> tuple[Array, Array]:
    """Of each column the first good row, and whether there is one."""
    at = xp.argmax(xp.astype(is_good, uint8), axis=0, keepdims=True)
    return xp.take_along_axis(proposed, at, axis=0)[0, ...], xp.any(is_good, axis=0)


def poisson(key: Array, rate: Array) -> Array:
    """Integers of the Poisson distributions of these means, as floats."""
    is_small = rate < 10
    small, large = xp.where(is_small, rate, 1.0), xp.where(is_small, 100.0, rate)
    first, second = split(key)
    spread = 2.53 * xp.sqrt(large) + 0.931
    a = 0.02483 * spread - 0.059
    slope = 1.1239 + 1.1328 / (spread - 3.4)
    limit = 0.9277 - 3.6224 / (spread - 2)

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        u, k = _of_hat(u, a, spread, large + 0.43)
        scaled = xp.log(v * slope / (a / (u * u) + spread))
        is_in = scaled <= k * xp.log(large) - large - log_gamma(xp.maximum(k, 0.0) + 1)
        is_sure = (u >= 0.07) & (v <= limit)
        return k, is_sure | ((k >= 0) & ~((u < 0.013) & (v > u)) & is_in)

    def step(n: int, last: Array) -> Array:
        return last * small / n

    drawn = accepted(first, lambda one: _pairs(one, a.shape), propose)
    return xp.where(is_small, _inverted(second, xp.exp(-small), step), drawn)


def binomial(key: Array, trials: Array, chance: Array) -> Array:
    """Numbers of successes, as floats."""
    p = xp.minimum(chance, 1 - chance)
    is_small = trials * p < 10
    n_small, p_small = xp.where(is_small, trials, 1.0), xp.where(is_small, p, 0.5)
    n, q = xp.where(is_small, 100.0, trials), xp.where(is_small, 0.5, p)
    first, second = split(key)
    deviation = xp.sqrt(n * q * (1 - q))
    spread = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * spread + 0.01 * q
    alpha = (2.83 + 5.1 / spread) * deviation
    limit = 0.92 - 4.2 / spread
    mode = xp.floor((n + 1) * q)
    odds = xp.log(q / (1 - q))
    at_mode = log_gamma(mode + 1) + log_gamma(n - mode + 1)

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        u, k = _of_hat(u, a, spread, n * q + 0.5)
        is_inside = (k >= 0) & (k <= n)
        there = xp.where(is_inside, k, mode)
        scaled = xp.log(v * alpha / (a / (u * u) + spread))
        of_both = log_gamma(xp.stack([there + 1, n - there + 1]))
        is_in = scaled <= at_mode - of_both[0, ...] - of_both[1, ...] + (there - mode) * odds
        return k, ((u >= 0.07) & (v <= limit)) | (is_inside & is_in)

    def step(k: int, last: Array) -> Array:
        return last * xp.maximum(n_small - (k - 1), 0.0) / k * (p_small / (1 - p_small))

    start = xp.exp(n_small * xp.log1p(-p_small))
    drawn = accepted(first, lambda one: _pairs(one, a.shape), propose)
    k = xp.where(is_small, xp.minimum(_inverted(second, start, step), n_small), drawn)
    return xp.where(chance > 0.5, trials - k, k)


def _pairs(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Rows of uniform numbers, the second above 0."""
    of_place, of_height = split(key)
    u = random(of_place, (ROWS, *shape), float64)
    return u, xp.maximum(random(of_height, (ROWS, *shape), float64), 2.0**-54)


def _of_hat(u: Array, a: Array, spread: Array, centre: Array) -> tuple[Array, Array]:
    """Proposals of a transformed rejection.

    Their distances from the edge, and integers.
    """
    place = u - 0.5
    safe = xp.maximum(0.5 - xp.abs(place), 2.0**-54)
    return safe, xp.floor((2 * a / safe + spread) * place + centre)


def _inverted(key: Array, start: Array, step: Callable[[int, Array], Array]) -> Array:
    """Where the sums of probabilities exceed a uniform number."""
    u = random(key, start.shape, float64)
    chance, total, found = start, start, xp.zeros_like(start)
    for n in range(1, TERMS):
        is_beyond = u >= total
        values = known(is_beyond)
        if values is not None and not values.any():
            break
        found = found + xp.astype(is_beyond, float64)
        chance = step(n, chance)
        total = total + chance
    return found


def log_gamma(x: Array) -> Array:
    """The logarithm of the gamma function for x of 1 and more.

    By Stirling's series.
    """
    shift = xp.where(x < 10, 1.0, 0.0)
    product = xp.ones_like(x)
    for n in range(10):
        product = product * xp.where(shift > 0, x + n, 1.0)
    y = x + 10 * shift
    inverse = 1 / (y * y)
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / y
    return (y - 0.5) * xp.log(y) - y + 0.5 * math.log(2 * math.pi) + series - xp.log(product)
