"""`Generator`: NumPy's methods, and no numbers twice."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray import random

pytestmark = pytest.mark.few_backends

CALLS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "random": ({"size": 3}, (3,)),
    "uniform": ({"low": 1.0, "high": 2.0, "size": (2, 2)}, (2, 2)),
    "standard_normal": ({}, ()),
    "normal": ({"loc": 1.0, "scale": 2.0, "size": 3}, (3,)),
    "exponential": ({"scale": 2.0, "size": 3}, (3,)),
    "laplace": ({"size": 3}, (3,)),
    "gumbel": ({"size": 3}, (3,)),
    "standard_cauchy": ({"size": 3}, (3,)),
    "standard_t": ({"df": 3.0, "size": 3}, (3,)),
    "gamma": ({"shape": 2.0, "size": 3}, (3,)),
    "beta": ({"a": 2.0, "b": 3.0, "size": 3}, (3,)),
    "dirichlet": ({"alpha": [1.0, 2.0], "size": 3}, (3, 2)),
    "poisson": ({"lam": 3.0, "size": 3}, (3,)),
    "binomial": ({"n": 5, "p": 0.5, "size": 3}, (3,)),
    "integers": ({"low": 1, "high": 7, "size": 3}, (3,)),
    "multivariate_normal": ({"mean": [0.0, 0.0], "cov": [[1.0, 0.0], [0.0, 1.0]], "size": 3}, (3, 2)),
    "choice": ({"a": 5, "size": 3, "replace": False}, (3,)),
    "permutation": ({"x": 5}, (5,)),
}


@pytest.mark.parametrize("method", sorted(CALLS))
def test_methods_take_what_those_of_numpy_take(method: str) -> None:
    options, shape = CALLS[method]
    ours = {name: xp.asarray(value) if isinstance(value, list) else value for name, value in options.items()}
    rng = random.Generator(3)
    first, second = (getattr(rng, method)(**ours) for _ in range(2))
    assert first.shape == np.shape(getattr(np.random.default_rng(3), method)(**options)) == shape
    assert first.dtype.kind == np.asarray(getattr(np.random.default_rng(3), method)(**options)).dtype.kind
    assert first.tolist() != second.tolist()


@pytest.mark.usefixtures("backend")
def test_it_gives_what_the_functions_give() -> None:
    rng = random.Generator(5)
    rng.random()
    expected = random.normal(random.fold_in(random.key(5), 1), (3,))
    assert rng.normal(size=3).tolist() == expected.tolist()


@pytest.mark.usefixtures("backend")
def test_it_shuffles_in_place() -> None:
    x = xp.arange(20)
    part = x[:10]
    random.Generator(1).shuffle(part)
    assert sorted(x[:10].tolist()) == list(range(10)) != x[:10].tolist()
    assert x[10:].tolist() == list(range(10, 20))
    with pytest.raises(TypeError, match=r"^shuffle: x must be an Array, not list$"):
        random.Generator(1).shuffle([1, 2])  # type: ignore[arg-type]  # on purpose


def test_threads_get_numbers_of_their_own() -> None:
    rng = random.Generator(2)
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: float(rng.random()), range(400)))
    alone = random.Generator(2)
    assert sorted(drawn) == sorted(float(alone.random()) for _ in range(400))
    assert len(set(drawn)) == 400


def test_what_is_pickled_goes_on_with_numbers_of_its_own() -> None:
    rng = random.Generator(2)
    copies = [pickle.loads(pickle.dumps(rng)) for _ in range(2)]
    assert len({float(one.random()) for one in (rng, *copies)}) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork, which this system lacks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_fork_goes_on_with_numbers_of_its_own() -> None:
    with xp.backend("numpy"):
        rng = random.Generator(2)
        rng.random()
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.write(writing, repr(float(rng.random())).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert float(os.read(reading, 100)) != float(rng.random())


def test_without_a_seed_it_differs_each_time() -> None:
    assert float(random.Generator().random()) != float(random.Generator().random())


def test_a_seed_is_an_int_or_a_key() -> None:
    assert float(random.Generator(random.key(4)).random()) == float(random.Generator(4).random())
    with pytest.raises(TypeError, match=r"^Generator: key must be "):
        random.Generator(1.5)  # type: ignore[arg-type]  # on purpose
