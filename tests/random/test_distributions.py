"""Distributions: the right ones, the same everywhere and in every trace."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp
from anyarray import random

pytestmark = pytest.mark.few_backends

N: Final = (20_000,)
P: Final = 1e-4
"""The seed is fixed, so a test that passes always does; one in 10,000 good generators would fail."""


def _stats() -> Any:
    return pytest.importorskip("scipy.stats")


CONTINUOUS: Final[dict[str, tuple[Callable[..., xp.Array], Callable[[Any], Any]]]] = {
    "random": (lambda k: random.random(k, N), lambda s: s.uniform),
    "random of float32": (lambda k: random.random(k, N, "float32"), lambda s: s.uniform),
    "uniform": (lambda k: random.uniform(k, N, low=-1, high=3), lambda s: s.uniform(-1, 4)),
    "normal": (lambda k: random.normal(k, N, loc=2, scale=3), lambda s: s.norm(2, 3)),
    "normal of float32": (lambda k: random.normal(k, N, dtype=xp.float32), lambda s: s.norm),
    "truncated_normal": (lambda k: random.truncated_normal(k, -1, 2, N), lambda s: s.truncnorm(-1, 2)),
    "truncated_normal of the tail": (lambda k: random.truncated_normal(k, 8, 9, N), lambda s: s.truncnorm(8, 9)),
    "exponential": (lambda k: random.exponential(k, N, scale=2), lambda s: s.expon(scale=2)),
    "laplace": (lambda k: random.laplace(k, N, loc=1), lambda s: s.laplace(1)),
    "cauchy": (lambda k: random.cauchy(k, N), lambda s: s.cauchy),
    "gumbel": (lambda k: random.gumbel(k, N), lambda s: s.gumbel_r),
    "gamma below 1": (lambda k: random.gamma(k, 0.3, N), lambda s: s.gamma(0.3)),
    "gamma": (lambda k: random.gamma(k, 2.5, N, scale=3), lambda s: s.gamma(2.5, scale=3)),
    "beta": (lambda k: random.beta(k, 0.5, 3, N), lambda s: s.beta(0.5, 3)),
    "student_t": (lambda k: random.student_t(k, 3, N), lambda s: s.t(3)),
    "dirichlet": (lambda k: random.dirichlet(k, xp.asarray([1.0, 2.0]), N)[:, 0], lambda s: s.beta(1, 2)),
    "multivariate_normal": (
        lambda k: random.multivariate_normal(k, xp.zeros(2), xp.asarray([[4.0, 1.0], [1.0, 1.0]]), N)[:, 1],
        lambda s: s.norm,
    ),
}
DISCRETE: Final[dict[str, tuple[Callable[..., xp.Array], Callable[[Any], Any]]]] = {
    "integers": (lambda k: random.integers(k, N, 1, 7), lambda s: s.randint(1, 7)),
    "bernoulli": (lambda k: xp.astype(random.bernoulli(k, N, p=0.3), xp.int64), lambda s: s.bernoulli(0.3)),
    "poisson of few": (lambda k: random.poisson(k, 4.0, N), lambda s: s.poisson(4)),
    "poisson of many": (lambda k: random.poisson(k, 30.0, N), lambda s: s.poisson(30)),
    "binomial of few": (lambda k: random.binomial(k, 10, 0.3, N), lambda s: s.binom(10, 0.3)),
    "binomial of many": (lambda k: random.binomial(k, 100, 0.95, N), lambda s: s.binom(100, 0.95)),
    "choice": (lambda k: random.choice(k, 3, N, p=xp.asarray([0.1, 0.2, 0.7])), lambda s: _of([0.1, 0.2, 0.7])),
    "categorical": (lambda k: random.categorical(k, xp.log(xp.asarray([1.0, 3.0])), N), lambda s: _of([0.25, 0.75])),
}


def _of(chances: list[float]) -> Any:
    return _stats().rv_discrete(values=(range(len(chances)), chances))


@pytest.mark.parametrize("distribution", list(CONTINUOUS))
def test_numbers_have_the_distribution(distribution: str) -> None:
    draw, of = CONTINUOUS[distribution]
    assert _stats().kstest(np.asarray(draw(random.key(1))), of(_stats()).cdf).pvalue > P


@pytest.mark.parametrize("distribution", list(DISCRETE))
def test_integers_have_the_distribution(distribution: str) -> None:
    draw, of = DISCRETE[distribution]
    drawn = np.asarray(draw(random.key(2)))
    counts = np.bincount(drawn)
    expected = of(_stats()).pmf(np.arange(len(counts))) * drawn.size
    is_usual = expected >= 5
    assert expected[is_usual].sum() > 0.95 * drawn.size
    scale = counts[is_usual].sum() / expected[is_usual].sum()
    assert _stats().chisquare(counts[is_usual], expected[is_usual] * scale).pvalue > P


def test_normal_numbers_have_the_moments_and_tails() -> None:
    x = np.asarray(random.normal(random.key(5), (1_000_000,)))
    assert abs(x.mean()) < 0.005
    assert abs(x.var() - 1) < 0.005
    assert abs((x**3).mean()) < 0.02
    assert abs((x**4).mean() - 3) < 0.05
    assert abs((np.abs(x) > 3).mean() / 0.0026998 - 1) < 0.1


@each(
    "low, high, dtype",
    [(-128, 127, "int8"), (0, 2**64 - 1, "uint64"), (-(2**63), 2**63 - 1, "int64"), (5, 5, "int64"),
     (0, 3 * 2**62, "uint64")],
)  # fmt: skip
def test_integers_reach_every_bound(low: int, high: int, dtype: str) -> None:
    drawn = np.asarray(random.integers(random.key(4), (20_000,), low, high, dtype=dtype, endpoint=True))
    assert drawn.dtype == dtype
    span = high - low
    positions = [(int(one) - low) / max(span, 1) for one in drawn]
    assert 0 <= min(positions) < 0.01
    assert span == 0 or 0.99 < max(positions) <= 1
    assert span == 0 or abs(np.mean(positions) - 0.5) < 0.01


def test_integers_have_no_modulo_bias() -> None:
    count = 3 * (1 << 30)  # of 32 bits, a third of the numbers would come twice as often
    drawn = np.asarray(random.integers(random.key(6), (30_000,), count)) / count
    assert _stats().kstest(drawn, "uniform").pvalue > P


SMALL: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "bits": lambda k: random.bits(k, (3,), "uint64"),
    "random": lambda k: random.random(k, (2, 2)),
    "random of float16": lambda k: random.random(k, (2,), "float16"),
    "normal": lambda k: random.normal(k, (5,), loc=1.0, scale=xp.asarray([1.0, 2.0, 3.0, 4.0, 5.0])),
    "normal of float32": lambda k: random.normal(k, (5,), dtype="float32"),
    "one normal": random.normal,
    "truncated_normal": lambda k: random.truncated_normal(k, 0, 2, (3,)),
    "exponential": lambda k: random.exponential(k, (3,)),
    "laplace": lambda k: random.laplace(k, (3,)),
    "gumbel": lambda k: random.gumbel(k, (3,)),
    "bernoulli": lambda k: random.bernoulli(k, p=xp.asarray([0.0, 0.5, 1.0])),
    "integers": lambda k: random.integers(k, (4,), -3, 9),
    "integers of many": lambda k: random.integers(k, (4,), 0, 10**17),
    "permutation": lambda k: random.permutation(k, xp.asarray([5, 6, 7])),
    "choice": lambda k: random.choice(k, 4, (3,), replace=False, p=xp.asarray([0.1, 0.2, 0.3, 0.4])),
    "gamma": lambda k: random.gamma(k, xp.asarray([0.5, 2.0])),
    "poisson": lambda k: random.poisson(k, xp.asarray([0.5, 50.0])),
    "binomial": lambda k: random.binomial(k, xp.asarray([5, 500]), 0.4),
}


@functools.cache
def _in_numpy(distribution: str) -> np.ndarray[Any, Any]:
    with xp.backend("numpy"):
        return np.asarray(SMALL[distribution](random.key(21)))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("distribution", list(SMALL))
def test_every_backend_gives_the_same(distribution: str) -> None:
    expected = _in_numpy(distribution)
    found = np.asarray(SMALL[distribution](random.key(21)))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "iub" or distribution == "random":
        assert np.array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6 if "float" in distribution else 1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("distribution", list(SMALL))
def test_a_trace_gives_the_same(distribution: str, framework: str) -> None:
    with xp.backend(framework):
        found = np.asarray(xp.jit(SMALL[distribution])(random.key(21)))
        np.testing.assert_allclose(found, _in_numpy(distribution), rtol=1e-6 if "float" in distribution else 1e-11)


def test_many_normal_numbers_of_a_trace_are_those_of_the_host(framework: str) -> None:
    with xp.backend("numpy"):
        expected = np.asarray(random.normal(random.key(2), N, dtype="float32"))
    with xp.backend(framework):
        found = xp.jit(lambda key: random.normal(key, N, dtype="float32"))(random.key(2))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-5)  # also of those near 0


@pytest.mark.sampled
@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("distribution", ["bits", "normal", "integers", "permutation", "gamma"])
def test_a_batch_of_keys_gives_the_rows(distribution: str) -> None:
    keys = random.split(random.key(3), 2)
    rows = np.asarray(xp.vmap(SMALL[distribution])(keys))
    for row, key in zip(rows, keys, strict=True):
        np.testing.assert_allclose(row, np.asarray(SMALL[distribution](key)), rtol=1e-12)


def test_normal_numbers_have_slopes_by_their_parameters(differentiating: xp.Backend) -> None:
    key = random.key(8)
    slope = xp.grad(lambda scale: xp.sum(random.normal(key, (4,), loc=1.0, scale=scale)))
    assert float(slope(xp.asarray(2.0))) == pytest.approx(float(xp.sum(random.normal(key, (4,)))))


@pytest.mark.usefixtures("backend")
def test_numbers_are_drawn_where_they_are_needed() -> None:
    key = random.key(1)
    with xp.transfers() as log:
        random.normal(key, (1000,))
    assert not log.rows


REFUSED: Final[dict[str, Callable[[xp.Array], Any]]] = {
    "^normal: scale must be 0 or more, not -1": lambda k: random.normal(k, scale=-1.0),
    "^normal: scale must be 0 or more, but one is": lambda k: random.normal(k, (2,), scale=xp.asarray([1.0, -2.0])),
    "^gamma: a must be above 0, not 0": lambda k: random.gamma(k, 0.0),
    r"^bernoulli: p must be from 0 to 1, not 1\.5": lambda k: random.bernoulli(k, p=1.5),
    r"^choice: p must sum to 1, not to 1\.5": lambda k: random.choice(k, 3, p=xp.asarray([0.5, 0.5, 0.5])),
    r"^choice: p must have the shape \(3,\), not \(2,\)": lambda k: random.choice(k, 3, p=xp.asarray([0.5, 0.5])),
    "^choice: p must not be negative, but one is": lambda k: random.choice(k, 3, p=xp.asarray([1.5, -0.5, 0.0])),
    "^choice: a has 3 elements, not 4": lambda k: random.choice(k, 3, (4,), replace=False),
    "^choice: a must have elements to choose from": lambda k: random.choice(k, 0),
    "^integers: no integer is in the range from low 5 to high 5": lambda k: random.integers(k, (3,), 5, 5),
    "^integers: low and high must be of int8": lambda k: random.integers(k, (3,), 0, 300, dtype="int8"),
    "^truncated_normal: lower must be below upper": lambda k: random.truncated_normal(k, 2.0, 1.0),
}


@each("sentence", REFUSED)
@pytest.mark.usefixtures("backend")
def test_a_wrong_parameter_is_refused(sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        REFUSED[sentence](random.key(0))


def test_a_wrong_parameter_gives_nan_in_a_trace(framework: str) -> None:
    with xp.backend(framework):
        key = random.key(0)
        found = xp.jit(lambda scale: random.normal(key, (2,), scale=scale))(xp.asarray([1.0, -1.0]))
        assert np.isnan(np.asarray(found)).tolist() == [False, True]
