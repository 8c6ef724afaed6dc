"""`Generator`: a key and a counter, with NumPy's methods."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from anyarray._array.array import AnyArray, Array, Shape
from anyarray._base import errors
from anyarray._base.dtypes import DTypeLike
from anyarray.random import distributions
from anyarray.random.distributions import Parameter
from anyarray.random.keys import checked, fold_in
from anyarray.random.keys import key as key_of

Size = int | tuple[int, ...] | None


class Generator:
    """A sequence of random numbers, with the methods of NumPy's generator.

    `seed` is an int, a key, or None for a different one each time. The n-th call gives the result of the function for
    `random.fold_in(key, n)`. Threads may share a generator. A forked process and an unpickled copy continue with other
    keys, so no numbers repeat. Numbers that are drawn while a function is traced become constants of it: draw them
    outside, or pass the function a key.

    >>> from anyarray import random
    >>> rng = random.Generator(7)
    >>> rng.normal(size=(2, 3)).shape
    (2, 3)
    >>> rng.integers(1, 7, size=2).tolist() == random.integers(random.fold_in(random.key(7), 1), (2,), 1, 7).tolist()
    True
    """

    def __init__(self, seed: int | AnyArray | None = None) -> None:
        if seed is None:
            seed = int.from_bytes(os.urandom(8))
        self._key = key_of(seed) if isinstance(seed, int) else checked("Generator", seed)
        self._count = 0
        self._lock = threading.Lock()
        self._process = os.getpid()

    def key(self) -> Array:
        """The next key, for functions of a key."""
        with self._lock:
            if self._process != os.getpid():  # a fork, whose numbers would be those of its parent
                self._process = os.getpid()
                self._key = fold_in(fold_in(self._key, (1 << 63) + self._count), self._process)
                self._count = 0
            at, self._count = self._count, self._count + 1
            return fold_in(self._key, at)

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (fold_in(self.key(), 1 << 62),)

    def __repr__(self) -> str:
        return f"Generator({self._key.tolist()}, {self._count} calls)"

    def random(self, size: Size = None, dtype: DTypeLike | None = None) -> Array:
        """As `random.random`."""
        return distributions.random(self.key(), _shape(size), dtype)

    def uniform(self, low: Parameter = 0.0, high: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.uniform`."""
        return distributions.uniform(self.key(), _shape(size, low, high), low=low, high=high)

    def standard_normal(self, size: Size = None, dtype: DTypeLike | None = None) -> Array:
        """As `random.standard_normal`."""
        return distributions.standard_normal(self.key(), _shape(size), dtype)

    def normal(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.normal`."""
        return distributions.normal(self.key(), _shape(size, loc, scale), loc=loc, scale=scale)

    def exponential(self, scale: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.exponential`."""
        return distributions.exponential(self.key(), _shape(size, scale), scale=scale)

    def laplace(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.laplace`."""
        return distributions.laplace(self.key(), _shape(size, loc, scale), loc=loc, scale=scale)

    def gumbel(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.gumbel`."""
        return distributions.gumbel(self.key(), _shape(size, loc, scale), loc=loc, scale=scale)

    def standard_cauchy(self, size: Size = None) -> Array:
        """As `random.cauchy`."""
        return distributions.cauchy(self.key(), _shape(size))

    def standard_t(self, df: Parameter, size: Size = None) -> Array:
        """As `random.student_t`."""
        return distributions.student_t(self.key(), df, None if size is None else _shape(size))

    def gamma(self, shape: Parameter, scale: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.gamma`."""
        return distributions.gamma(self.key(), shape, None if size is None else _shape(size), scale=scale)

    def beta(self, a: Parameter, b: Parameter, size: Size = None) -> Array:
        """As `random.beta`."""
        return distributions.beta(self.key(), a, b, None if size is None else _shape(size))

    def dirichlet(self, alpha: AnyArray, size: Size = None) -> Array:
        """As `random.dirichlet`."""
        return distributions.dirichlet(self.key(), alpha, _shape(size))

    def poisson(self, lam: Parameter = 1.0, size: Size = None) -> Array:
        """As `random.poisson`."""
        return distributions.poisson(self.key(), lam, None if size is None else _shape(size))

    def binomial(self, n: int | AnyArray, p: Parameter, size: Size = None) -> Array:
        """As `random.binomial`."""
        return distributions.binomial(self.key(), n, p, None if size is None else _shape(size))

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        dtype: DTypeLike | None = None,
        endpoint: bool = False,
    ) -> Array:
        """As `random.integers`."""
        return distributions.integers(self.key(), _shape(size), low, high, dtype=dtype, endpoint=endpoint)

    def multivariate_normal(self, mean: AnyArray, cov: AnyArray, size: Size = None) -> Array:
        """As `random.multivariate_normal`."""
        return distributions.multivariate_normal(self.key(), mean, cov, _shape(size))

    def choice(
        self,
        a: int | AnyArray,
        size: Size = None,
        replace: bool = True,
        p: AnyArray | None = None,
        axis: int = 0,
    ) -> Array:
        """As `random.choice`."""
        return distributions.choice(self.key(), a, _shape(size), replace=replace, p=p, axis=axis)

    def permutation(self, x: int | AnyArray, axis: int = 0) -> Array:
        """As `random.permutation`."""
        return distributions.permutation(self.key(), x, axis=axis)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Put the elements of `x` along an axis in random order, in place."""
        if type(x) is not Array:
            raise errors.ArgumentTypeError(f"shuffle: x must be an Array, not {type(x).__name__}")
        x[...] = distributions.permutation(self.key(), x, axis=axis)


def _shape(size: Size, *parameters: Any) -> Shape:
    """The shape that was asked for, or that of the parameters."""
    if size is not None:
        return (size,) if isinstance(size, int) else tuple(size)
    return np.broadcast_shapes(*[one.shape for one in parameters if hasattr(one, "shape")])
