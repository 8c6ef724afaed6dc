"""The experiments of `bench`: computations, their inputs and sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Host = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Experiment:
    """One computation at several sizes."""

    name: str
    meaning: str
    """A short description of the computation."""
    run: Callable[..., Any]
    """The computation; its arguments are an array namespace, then the inputs."""
    inputs: Callable[[np.random.Generator, int, np.dtype[Any]], tuple[Host, ...]]
    """Makes the inputs, of a given number of elements."""
    base: int
    exponents: tuple[int, ...]
    """The sizes are `base` to the power of these."""
    quick_exponents: tuple[int, ...]
    is_resident: bool = True
    """Whether the inputs are transferred to the backend before timing.

    Else each call starts from ndarrays.
    """
    is_compiled: bool = False
    """Whether `xp.jit` compiles the computation, where the backend compiles."""
    growth: float = 1.0
    """The power of the number of elements with which the time of large ones grows."""

    def size_text(self, size: int) -> str:
        """A size as text for tables: 2^20."""
        return f"{self.base}^{round(np.log(size) / np.log(self.base))}"

    def sizes(self, quick: bool) -> list[int]:
        """The sizes, in elements of each input."""
        return [self.base**exponent for exponent in (self.quick_exponents if quick else self.exponents)]


def sigmoid(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


def tanh(xp: Any, x: Any) -> Any:
    return xp.tanh(x)


def sort(xp: Any, x: Any) -> Any:
    """Not stable, so that each library uses its fastest sort."""
    return xp.sort(x, stable=False)


def fft(xp: Any, x: Any) -> Any:
    return xp.fft.fft(x)


def matmul(xp: Any, x1: Any, x2: Any) -> Any:
    return xp.matmul(x1, x2)


def dot(xp: Any, x1: Any, x2: Any) -> Any:
    return xp.vecdot(x1, x2)


def vector(random: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Host, ...]:
    return (random.standard_normal(size).astype(dtype),)


def complex_vector(random: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Host, ...]:
    wide = random.standard_normal(2 * size).view(np.complex128)
    return (wide.astype(np.result_type(dtype, np.complex64)),)


def two_vectors(random: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Host, ...]:
    return vector(random, size, dtype) + vector(random, size, dtype)


def two_matrices(random: np.random.Generator, size: int, dtype: np.dtype[Any]) -> tuple[Host, ...]:
    n = round(size**0.5)
    return tuple(random.standard_normal((n, n)).astype(dtype) for _ in range(2))


EXPERIMENTS: Final = (
    Experiment("sigmoid", "1 / (1 + exp(-x))", sigmoid, vector, 2, (0, 5, 10, 15, 20), (0, 10, 20)),
    Experiment("sigmoid, jit", "compiled by xp.jit", sigmoid, vector, 2, (10, 15, 20), (10, 20), is_compiled=True),
    Experiment("tanh", "tanh(x)", tanh, vector, 10, (1, 2, 3, 4, 5, 6, 7), (1, 3, 5)),
    Experiment("sort", "sort(x)", sort, vector, 10, (1, 2, 3, 4, 5, 6), (1, 3, 5)),
    Experiment("fft", "fft(x), x complex", fft, complex_vector, 10, (1, 2, 3, 4, 5, 6), (1, 3, 5)),
    Experiment("matmul", "square matrices", matmul, two_matrices, 10, (1, 2, 3, 4, 5, 6), (1, 3, 5)),
    Experiment("dot", "vectors, on the backend", dot, two_vectors, 10, (5, 6, 7), (5, 6)),
    Experiment("dot from NumPy", "vectors, brought over", dot, two_vectors, 10, (5, 6, 7), (5, 6), is_resident=False),
    Experiment("matrices", "matmul, on the backend", matmul, two_matrices, 10, (4, 6, 8), (4,), growth=1.5),
    Experiment(
        "matrices from NumPy", "matmul, brought over", matmul, two_matrices, 10, (4, 6, 8), (4,), is_resident=False,
        growth=1.5,
    ),
)  # fmt: skip
"""In the order in which they are run and shown."""
