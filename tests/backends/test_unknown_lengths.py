"""Lengths that a `tf.function` does not know, as of `TensorSpec([None, 3])`.

`x.shape` holds 0-d Arrays of integers for them, of which functions make the same as of the ints outside, or raise.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp
import anyarray.numpy as tnp

VALUES: Final = np.arange(12.0).reshape(4, 3)
Function = Callable[[Any], Any]


@pytest.fixture
def tf() -> ModuleType:
    module: ModuleType = pytest.importorskip("tensorflow")
    return module


def in_graph(tf: ModuleType, function: Function, *, compiled: bool = False) -> np.ndarray[Any, Any]:
    """A function of `VALUES`, in a graph that does not know the rows."""
    inner = xp.jit(function) if compiled else function

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def graph(native: Any) -> Any:
        return xp.to_native(inner(xp.from_native(native)))

    with xp.backend("tf"):
        return np.asarray(graph(tf.constant(VALUES)))


def written(x: Any, key: Any, value: Any) -> Any:
    y = x + 0
    y[key] = value
    return y


SAME: Final[dict[str, Function]] = {
    "a length": lambda x: x.shape[0] + 0,
    "the size": lambda x: x.size * 1,
    "the bytes": lambda x: x.nbytes + 0,
    "arange": lambda x: xp.arange(x.shape[0]),
    "arange from 1": lambda x: xp.arange(1, x.shape[0]),
    "arange by 2": lambda x: xp.arange(0, x.shape[0], 2),
    "arange backwards": lambda x: xp.arange(x.shape[0] - 1, -1, -1),
    "arange of floats": lambda x: xp.arange(0.5, x.shape[0], 0.7),
    "arange of no floats": lambda x: xp.arange(9.5, x.shape[0]),
    "arange of float32": lambda x: xp.arange(x.shape[0], dtype=xp.float32),
    "zeros": lambda x: xp.zeros(x.shape),
    "zeros of one axis": lambda x: xp.zeros(x.shape[0], dtype=xp.int32),
    "ones": lambda x: xp.ones((2, x.shape[0])),
    "empty": lambda x: xp.zeros_like(xp.empty(x.shape)),
    "full": lambda x: xp.full(x.shape, 7),
    "full of an element": lambda x: xp.full(x.shape, x[0, 1]),
    "full of a length": lambda x: xp.full((2,), x.shape[0]),
    "full_like": lambda x: xp.full_like(x, 7),
    "eye": lambda x: xp.eye(x.shape[0]),
    "eye with a diagonal": lambda x: xp.eye(x.shape[0], 5, k=1),
    "eye with a diagonal below": lambda x: xp.eye(3, x.shape[0], k=-1, dtype=xp.int64),
    "linspace": lambda x: xp.linspace(0, 1, x.shape[0]),
    "linspace without the end": lambda x: xp.linspace(2, 1, x.shape[0], endpoint=False),
    "linspace of one": lambda x: xp.linspace(2, 1, x.shape[0] - 3),
    "linspace up to a length": lambda x: xp.linspace(0, x.shape[0], 3),
    "reshape": lambda x: xp.reshape(x, (x.shape[1], x.shape[0])),
    "reshape with -1": lambda x: xp.reshape(x, (x.shape[0], -1, 1)),
    "reshape to one axis": lambda x: x.reshape(x.size),
    "broadcast_to": lambda x: xp.broadcast_to(x, (2, *x.shape)),
    "tile": lambda x: xp.tile(xp.asarray([1.0, 2.0]), (x.shape[0],)),
    "repeat": lambda x: xp.repeat(xp.asarray([1.0, 2.0]), x.shape[0]),
    "a mean by hand": lambda x: xp.sum(x, axis=0) / x.shape[0],
    "mean": lambda x: xp.mean(x, axis=0),
    "var": lambda x: xp.var(x, axis=0, correction=1),
    "std": lambda x: xp.std(x, correction=1),
    "median": lambda x: xp.median(x, axis=0),
    "quantile": lambda x: xp.quantile(x, 0.5, axis=0),
    "cov": lambda x: xp.cov(x.T),
    "a slice up to": lambda x: x[: x.shape[0] // 2],
    "a slice from": lambda x: x[x.shape[0] - 2 :],
    "a slice between": lambda x: x[1 : x.shape[0] - 1, ::-1],
    "a slice beyond": lambda x: x[: x.shape[0] + 3],
    "a slice of the other end": lambda x: x[-x.shape[0] // 2 :],
    "a slice by a step": lambda x: x[:: x.shape[0] // 2],
    "a slice backwards": lambda x: x[x.shape[0] - 2 :: -1],
    "a slice after an ellipsis": lambda x: x.T[..., : x.shape[0] - 1],
    "a slice beside an index": lambda x: x[: x.shape[0] - 1, xp.asarray([2, 0])],
    "a slice beside a new axis": lambda x: x[None, : x.shape[0] - 1, 1],
    "an index": lambda x: x[x.shape[0] - 1, 1],
    "a write to a slice": lambda x: written(x, slice(0, x.shape[0] // 2), -1.0),
    "a write of rows": lambda x: written(x, slice(1, x.shape[0] - 1), x[: x.shape[0] - 2] * 2),
    "a write backwards": lambda x: written(x, (slice(x.shape[0], None, -2), slice(1, None)), x[:2, 1:]),
    "take": lambda x: xp.take(x, xp.arange(x.shape[0] - 1), axis=0),
    "a grid": lambda x: xp.meshgrid(xp.arange(x.shape[0]), xp.arange(2))[0],
    "joined": lambda x: xp.concat([x, xp.zeros((x.shape[0], 1))], axis=1),
    "one hot": lambda x: xp.astype(xp.arange(x.shape[0])[:, None] == xp.arange(3), xp.float64),
    "an asarray of a shape": lambda x: xp.asarray(x.shape),
}
"""Functions that give the same in such a graph as eagerly."""

LEFT_OUT: Final[dict[str, Function]] = {
    "len": lambda x: xp.zeros(len(x)),
    "fftfreq": lambda x: xp.fft.fftfreq(x.shape[0]),
    "hamming": lambda x: xp.hamming(x.shape[0]),
    "tri": lambda x: xp.tri(x.shape[0]),
    "logspace": lambda x: xp.logspace(0, 1, x.shape[0]),
    "unstack": lambda x: xp.unstack(x)[0],
}
"""Functions that need to know the length, and say so."""

UNREADABLE: Final[dict[str, Function]] = {
    "an if": lambda x: x if x.shape[0] == 4 else -x,
    "range": lambda x: sum(xp.sum(x[i]) for i in range(x.shape[0])),
    "roll": lambda x: xp.roll(x, x.shape[0], axis=0),
    "resize": lambda x: xp.resize(x, x.shape),
    "unravel_index": lambda x: xp.unravel_index(xp.asarray(5), x.shape)[0],
    "irfft": lambda x: xp.fft.irfft(x, n=x.shape[0]),
}
"""What asks for the value of a length."""


IN_NUMPYS_WORDS: Final[dict[str, Function]] = {
    "NumPy's arange": lambda x: tnp.arange(1, x.shape[0], dtype=tnp.float32),
    "NumPy's linspace": lambda x: tnp.linspace(0.0, 1.0, x.shape[0]),
    "NumPy's linspace with its step": lambda x: tnp.linspace(0.0, 1.0, x.shape[0], retstep=True)[1] + x[0, 0],
    "NumPy's tile": lambda x: tnp.tile(x, (1, x.shape[0])),
    "NumPy's zeros": lambda x: tnp.zeros(x.shape, tnp.float32),
    "NumPy's full": lambda x: tnp.full(x.shape, 3),
    "NumPy's identity": lambda x: tnp.identity(x.shape[0]),
    "NumPy's the method reshape": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "NumPy's zeros_like": lambda x: tnp.zeros_like(x),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "jit"])
@each("case", [*SAME, *IN_NUMPYS_WORDS])
def test_what_follows_from_an_unknown_length_is_as_outside(tf: ModuleType, case: str, compiled: bool) -> None:
    function = (SAME | IN_NUMPYS_WORDS)[case]
    with xp.backend("tf"):
        expected = np.asarray(function(xp.asarray(VALUES)))
    found = in_graph(tf, function, compiled=compiled)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@each("case", LEFT_OUT)
def test_a_function_that_must_know_a_length_names_the_cure(tf: ModuleType, case: str) -> None:
    with pytest.raises(xp.TransferError, match=rf"{case}: .*input_signature"):
        in_graph(tf, LEFT_OUT[case])


@each("case", UNREADABLE)
def test_the_value_of_an_unknown_length_cannot_be_read(tf: ModuleType, case: str) -> None:
    with pytest.raises(xp.TransferError, match="no values yet"):
        in_graph(tf, UNREADABLE[case])


def test_no_row_is_none_of_a_slice_or_a_range(tf: ModuleType) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)  # type: ignore[untyped-decorator]  # as above
    def graph(native: Any) -> Any:
        x = xp.from_native(native)
        parts = x[: x.shape[0] // 2], xp.arange(1, x.shape[0]), xp.linspace(0, 1, x.shape[0]), xp.eye(x.shape[0])
        return [xp.to_native(part) for part in parts]

    for rows, shapes in ((0, [(0, 3), (0,), (0,), (0, 0)]), (1, [(0, 3), (0,), (1,), (1, 1)])):
        assert [tuple(part.shape) for part in graph(tf.zeros((rows, 3), tf.float64))] == shapes


def test_known_lengths_of_what_is_made_stay_known(tf: ModuleType) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)  # type: ignore[untyped-decorator]  # as above
    def graph(native: Any) -> Any:
        x = xp.from_native(native)
        return [xp.to_native(one) for one in (xp.zeros(x.shape), xp.reshape(x, (x.shape[0], 3, 1)), x[: x.shape[0]])]

    made = graph.get_concrete_function().structured_outputs
    assert [one.shape.as_list() for one in made] == [[None, 3], [None, 3, 1], [None, 3]]


def test_a_length_may_be_a_tensor_of_tensorflow(tf: ModuleType) -> None:
    with xp.backend("numpy"):  # under a trace the library of the trace decides

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)], autograph=False)  # type: ignore[untyped-decorator]  # as above
        def graph(native: Any) -> Any:
            n = tf.shape(native)[0]
            return xp.to_native(xp.zeros((n, 2))), xp.to_native(xp.arange(n))

        zeros, places = graph(tf.constant(VALUES))
    assert zeros.shape == (4, 2)
    assert places.numpy().tolist() == [0, 1, 2, 3]


def test_gradients_go_through_slices_of_unknown_bounds(tf: ModuleType) -> None:
    def loss(x: Any) -> Any:
        y = x * 1
        y[: x.shape[0] // 2] = x[x.shape[0] // 2 :] * 3
        return xp.sum(y)

    found = in_graph(tf, xp.grad(loss))
    np.testing.assert_array_equal(found, np.repeat([[0.0], [4.0]], [2, 2], axis=0) * np.ones(3))


def test_a_shape_on_tensorflow_is_a_tuple_with_the_attributes_of_a_tensor_shape(tf: ModuleType) -> None:
    shape = xp.ones((2, 3), device="tf").shape
    assert isinstance(shape, tuple)
    assert shape == (2, 3)
    assert {shape: 1}[2, 3] == 1
    assert repr(shape) == "(2, 3)"
    assert shape.rank == 2  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # known on TensorFlow alone
    assert shape.as_list() == [2, 3]  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # as above
    copied = pickle.loads(pickle.dumps(shape))
    assert type(copied) is tuple
    with pytest.raises(AttributeError):
        shape.no_such_name  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018 - as above
