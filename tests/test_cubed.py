"""cubed as a backend: lazy arrays in blocks, with bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anyarray as xp

cubed = pytest.importorskip("cubed")

VALUES = np.random.default_rng(3).normal(size=(12, 4))


def split() -> xp.Array:
    return xp.from_native(cubed.from_array(VALUES, chunks=(5, 4)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x - xp.mean(x, axis=0)) / xp.std(x, axis=0),
        lambda x: x.T @ x,
        lambda x: xp.where(x > 0, xp.exp(x), -1.5),
        lambda x: xp.max(xp.concat([x, 2 * x]), axis=1),
        lambda x: x[2:9, ::2] + x[xp.asarray([0, 3, 1, 5, 4, 2, 2]), 1:3],
        lambda x: xp.reshape(xp.astype(x, xp.float32), (48,)),
    ],
)
def test_functions_have_the_values_and_dtypes_of_numpy(function: Any) -> None:
    with xp.backend("cubed"):
        found = function(split())
    with xp.backend("numpy"):
        wanted = function(xp.asarray(VALUES))
    assert (found.device, found.dtype) == (xp.device("cubed"), wanted.dtype)
    np.testing.assert_allclose(found.to_numpy(), wanted.to_numpy(), rtol=1e-6)


def test_repr_computes_nothing_and_several_are_computed_together() -> None:
    x = split() * 1
    text = "Array(shape=(12, 4), dtype=float64, device=cubed, chunks=((5, 5, 2), (4,)))"
    assert repr(x) == text and "anyarray_computed" not in vars(xp.to_native(x))
    mean, total = xp.compute(xp.mean(x), xp.sum(x))
    np.testing.assert_allclose([float(mean), float(total)], [VALUES.mean(), VALUES.sum()])
    assert str(mean.device) == "numpy"


def test_what_cubed_lacks_is_refused_by_name() -> None:
    x = split()
    with pytest.raises(xp.UnsupportedError, match="getitem: cubed takes one index array of one axis, and no mask"):
        x[x > 0]
    with pytest.raises(xp.UnsupportedError, match="setitem: an array of cubed cannot be written to"):
        x[0] = 1.0
    for function in (xp.sort, xp.unique_values, xp.linalg.eigvalsh):
        with pytest.raises(xp.UnsupportedError, match=f"{function.__name__} is not implemented on cubed"):
            function(x)
    with pytest.raises(NotImplementedError, match="only supports operations that merge or split"):  # not "does not fit"
        xp.reshape(x, (4, 12))
