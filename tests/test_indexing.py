"""Indexing: the standard's keys and NumPy's beyond them.

Random keys read and write what they do in NumPy.
"""

from __future__ import annotations

from typing import Any, Final

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from comparison import each
from expressions import several
from hypothesis import given
from hypothesis import strategies as st

import anyarray as xp

pytestmark = pytest.mark.usefixtures("backend")

# Few shapes, as JAX compiles anew for each.
SHAPES = st.sampled_from([(4,), (3, 4), (2, 1, 3), (0, 3), (2, 3, 2, 2)])


def filled(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


@st.composite
def basic_keys(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    """A shape and a key of ints, slices, None and `...`."""
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=6))


@st.composite
def array_keys(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    """A shape and a key with integer arrays among ints and slices.

    None or Ellipsis may be among them, too. NumPy's rules say where the new axes go.
    """
    shape = draw(SHAPES.filter(lambda s: 0 not in s))
    common = draw(st.sampled_from([(), (2,), (3, 1), (0,)]))
    key: list[Any] = []
    for n in draw(st.sampled_from([shape, shape[:-1], shape[:1]])):
        arrays = hnp.arrays(np.int64, common, elements=st.integers(-n, n - 1))
        narrow = hnp.arrays(np.int8, st.just((1,) * len(common)), elements=st.integers(-n, n - 1))
        key.append(draw(st.one_of(arrays, narrow, st.slices(n), st.integers(-n, n - 1))))
    if draw(st.booleans()):
        one = draw(st.sampled_from([None, Ellipsis]))
        # What comes after an ellipsis counts from the last axis: it is drawn for these if all axes have one.
        first = len(key) if one is Ellipsis and len(key) < len(shape) else 0
        key.insert(draw(st.integers(first, len(key))), one)
    return shape, tuple(key)


@st.composite
def mask_keys(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    """A shape and a key with a mask over some axes, alone or among slices."""
    shape = draw(SHAPES)
    first = draw(st.integers(0, len(shape) - 1))
    last = draw(st.integers(first + 1, len(shape)))
    mask = draw(hnp.arrays(np.bool_, shape[first:last]))
    before: list[Any] = [slice(None)] * first
    after = [draw(st.slices(n)) for n in draw(st.sampled_from([shape[last:], ()]))]
    return shape, (*before, mask, *after) if before or after else mask


KEYS = {"basic": basic_keys(), "arrays": array_keys(), "masks": mask_keys()}


def brought(key: Any) -> Any:
    """The key with Arrays for its ndarrays."""
    if isinstance(key, tuple):
        return tuple(brought(one) for one in key)
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@given(data=st.data())
def test_reading_gives_what_numpy_gives(keys: st.SearchStrategy[Any], data: st.DataObject) -> None:
    shape, key = data.draw(keys)
    a = filled(shape)
    got, expected = xp.asarray(a)[brought(key)], a[key]
    assert got.shape == expected.shape
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@given(data=st.data())
def test_writing_gives_what_numpy_gives(keys: st.SearchStrategy[Any], data: st.DataObject) -> None:
    shape, key = data.draw(keys)
    a = filled(shape)
    # Equal values for equal places: which of several writes to one place wins is not defined.
    value = -1 - a[key] if data.draw(st.booleans()) else np.asarray([-1.0])
    x = xp.asarray(a)
    try:
        a[key] = value
    except ValueError:  # (1,) does not fit a place without axes in some keys
        value = np.float64(-1)
        a[key] = value
    x[brought(key)] = xp.asarray(value)
    assert x.tolist() == a.tolist()
    x[brought(key)] = 7
    a[key] = 7
    assert x.tolist() == a.tolist()


READ: Final = """
x[1]; x[-1]; x[np.int8(1)]; x[()]; x[::-2]; x[1:100]; x[5:2:-1]; x[np.int64(0):np.int64(2)]; x[[0, 1, 0]]; x[[]]
x[[True, False]]; x[[0, 1], [2, 0]]; x[(0, 1), (2, 0)]; x[(), :]; x[:, [2, 0]]; x[True]; x[False]; x[None, [1, 0]]
x[[0, 1], ..., [2, 0]]; x[0, ..., 1]; x[np.asarray([1, 0], dtype=np.uint8)]; x[np.asarray(1)]; x[np.asarray(True)]
x[np.asarray([True, True]), np.asarray([True, False, True])]; x[np.asarray([True, False]), 1]
"""


@each("key", several(READ))
def test_a_key_of_numpy_reads_and_writes_what_it_does_in_numpy(key: str) -> None:
    a = filled((2, 3))
    x = xp.asarray(a)
    got, expected = (eval(key, {"np": np, "x": one}) for one in (x, a))
    assert (got.shape, got.tolist()) == (expected.shape, expected.tolist())
    for one in (x, a):
        exec(f"{key} = -1", {"np": np, "x": one})
    assert x.tolist() == a.tolist()


def test_arrays_may_be_bounds_of_a_slice() -> None:
    assert xp.arange(5)[xp.asarray(1) : xp.asarray(4)].tolist() == [1, 2, 3]


def test_an_array_without_axes_is_an_index() -> None:
    assert xp.arange(5)[xp.asarray(2)].tolist() == 2


def test_an_array_of_32_axes_can_be_indexed() -> None:
    x = xp.ones((1,) * 30 + (2, 2))
    assert x[(0,) * 30].shape == (2, 2)
    assert x[..., 1].shape == (1,) * 30 + (2,)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "uint64", "float16", "bfloat16", "complex64"])
def test_arrays_of_every_kind_are_indexed(dtype: str) -> None:
    x = xp.asarray([0, 1, 1, 0], dtype=getattr(xp, dtype))
    for key in (slice(1, 3), slice(None, None, -1), xp.asarray([1, 2]), x == xp.ones(1, dtype=x.dtype)):
        assert x[key].dtype is x.dtype
    assert [complex(v) for v in xp.astype(x[1:], xp.complex128).tolist()] == [1, 1, 0]


OUT_OF_RANGE: Final = [
    ((3,), 3), ((3,), -4), ((2, 3), (0, 3)), ((2, 3), (-3, 0)), ((0,), 0), ((2, 3), (slice(None), 3)),
    ((2, 3), (..., 3)),
]  # fmt: skip


@each("shape, key", OUT_OF_RANGE)
def test_an_int_out_of_range_cannot_be_read_or_written(shape: tuple[int, ...], key: Any) -> None:
    x = xp.zeros(shape)
    with pytest.raises(IndexError):
        x[key]
    with pytest.raises(IndexError):
        x[key] = 1
    assert float(xp.sum(x)) == 0


REFUSED: Final[dict[str, tuple[type[Exception], str]]] = {
    "x[0, 0, 0]": (IndexError, "index: too many indices, 3 for an array of 2 axes"),
    "x[0, ..., 0, 0]": (IndexError, "index: too many indices, 3 for an array of 2 axes"),
    "x[np.ones(1, bool)]": (IndexError, "index: a mask of shape (1,) does not fit axes of shape (2,)"),
    "x[np.ones((2, 2), bool)]": (IndexError, "index: a mask of shape (2, 2) does not fit axes of shape (2, 3)"),
    "x[np.ones(1)]": (IndexError, "index: key must be of an integer dtype or bool, not float64"),
    "x['a']": (IndexError, "index: key must hold integers, slices, ..., None and arrays of integers or bool, not str"),
    "x[1.0]": (
        IndexError,
        "index: key must hold integers, slices, ..., None and arrays of integers or bool, not float",
    ),
    "x[1.0:]": (TypeError, "index: bounds of a slice must be integers or None, not float"),
    "x['a':]": (TypeError, "index: bounds of a slice must be integers or None, not str"),
    "x[::0]": (ValueError, "index: slice step cannot be zero. Leave it out for 1"),
}


@each("key, error", REFUSED.items())
def test_a_key_that_does_not_fit_is_an_error(key: str, error: tuple[type[Exception], str]) -> None:
    with pytest.raises(error[0]) as caught:
        eval(key, {"np": np, "x": xp.zeros((2, 3))})
    assert str(caught.value) == error[1]


@pytest.mark.parametrize("place", ["take", "take_along_axis", "key"])
def test_an_index_array_out_of_range_is_an_index_error(place: str) -> None:
    x, indices = xp.arange(3.0), xp.asarray([0, 5])
    read = {"take": xp.take, "take_along_axis": xp.take_along_axis, "key": lambda x, i: x[i]}[place]
    with pytest.raises(IndexError):
        read(x, indices)


WRITTEN: Final = [
    (xp.bool, True, True), (xp.int8, True, 1), (xp.uint8, 255, 255), (xp.int64, 2**62, 2**62), (xp.float32, 3, 3.0),
    (xp.float32, 0.1, float(np.float32(0.1))), (xp.float64, 0.1, 0.1), (xp.float64, True, 1.0), (xp.complex128, 1j, 1j),
    (xp.complex64, 2, 2 + 0j), (xp.int16, 2.75, 2), (xp.bool, 2, True),
]  # fmt: skip


@each("dtype, value, written", WRITTEN)
def test_a_python_scalar_is_written_in_the_dtype_of_the_array(dtype: xp.DType, value: Any, written: Any) -> None:
    x = xp.zeros(3, dtype=dtype)
    x[1] = value
    assert x.dtype is dtype
    assert x[1].item() == written
    x[...] = value
    assert x[2].item() == written


@each("dtype, value", [(xp.int8, 300), (xp.uint8, -1), (xp.int64, 2**70)])
def test_a_python_integer_that_does_not_fit_is_not_written(dtype: xp.DType, value: int) -> None:
    x = xp.zeros(3, dtype=dtype)
    with pytest.raises(OverflowError):
        x[1] = value
    assert x.tolist() == [0, 0, 0]


def test_a_value_may_have_leading_axes_of_length_1_where_a_key_selects_several() -> None:
    x, mask = xp.zeros(3), xp.asarray([True, False, True])
    x[0:1] = xp.asarray([[5.0]])
    assert x.tolist() == [5.0, 0.0, 0.0]
    x[mask] = xp.asarray([[6.0, 7.0]])
    assert x.tolist() == [6.0, 0.0, 7.0]
    x[mask] = xp.asarray([[8.0]])
    assert x.tolist() == [8.0, 0.0, 8.0]
    y = xp.asarray(0.0)
    y[...] = xp.asarray([[9.0]])
    assert y.item() == 9.0


def test_an_array_without_axes_is_cast_as_other_arrays_are() -> None:
    x = xp.zeros(3, dtype=xp.int8)
    x[0] = xp.sum(xp.asarray([300]))
    x[1] = xp.asarray(300)
    x[2] = np.int64(300)
    assert x.tolist() == [44, 44, 44]


def test_slices_backwards_reach_the_first_element_inside_jit() -> None:
    host = np.arange(15).reshape(3, 5)
    keys = [np.s_[::-1], np.s_[:, ::-1], np.s_[1, 4::-2], np.s_[2::-2, 3::-1], np.s_[..., None, 1::-1]]
    for found, key in zip(xp.jit(lambda x: [x[one] for one in keys])(xp.asarray(host)), keys, strict=True):
        np.testing.assert_array_equal(np.asarray(found), host[key], err_msg=str(key))
