"""Manipulation functions beyond the standard, against NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case
from comparison import each

import anyarray as xp

pytestmark = pytest.mark.few_backends

V: Final = np.asarray([1.0, -5.0, 2.5])
INTS: Final = np.arange(12).reshape(3, 4)
I8: Final = INTS.astype(np.int8)
B: Final = INTS % 2 == 0
F32: Final = np.asarray([0.5, np.nan, -np.inf], dtype=np.float32)
T: Final = np.arange(24.0).reshape(2, 3, 4)
POINT: Final = np.asarray(7.0)
NONE: Final = np.zeros((0, 2))
U8: Final = np.asarray([[3, 200], [0, 255]], dtype=np.uint8)
ENDS: Final = np.asarray([0, 0, 1, 0, 2, 0])
MODES: Final = "constant edge reflect symmetric wrap linear_ramp maximum minimum mean median".split()

CASES: Final = [
    *[Case("ravel", x) for x in (T, POINT, NONE)],
    *[Case("transpose", T, *axes) for axes in ((), ((1, 0, 2),), ([-1, 0, 1],))],
    Case("transpose", V),
    Case("swapaxes", T, 0, -1),
    *[Case("rollaxis", T, *axes) for axes in ((2,), (0, 3), (1, -1), (-1, 1))],
    *[Case(f"atleast_{n}d", x) for n in (1, 2, 3) for x in (POINT, V, INTS, T)],
    Case("atleast_2d", V, INTS),
    *[Case(f"{kind}stack", [V, V]) for kind in ("h", "v", "d", "column_")],
    *[Case(f"{kind}stack", [INTS, T[0]]) for kind in ("h", "v", "d", "column_")],
    Case("hstack", [POINT, V]),
    Case("column_stack", (V, T[0])),
    Case("block", [[INTS, INTS], [I8, B]]),
    Case("block", [V, POINT]),
    Case("block", [[V[None, :], np.zeros((1, 1))], [np.ones((2, 4))]]),
    Case("block", V),
    *[Case("split", INTS, *cuts) for cuts in ((3,), (2, 1), ([1, 2],), ([-1, 9], -1), ([],), (np.asarray([2]), 1))],
    *[Case("array_split", V, n) for n in (1, 2, 3, 5)],
    Case("hsplit", V, 3),
    Case("hsplit", INTS, [1]),
    Case("vsplit", INTS, 3),
    Case("dsplit", T, 2),
    *[Case(name, INTS) for name in ("flipud", "fliplr")],
    *[Case("rot90", T, k, axes) for k in (0, 1, 2, 3, -1) for axes in ((0, 1), (2, 1))],
    Case("append", V, INTS),
    Case("append", INTS, I8, 0),
    Case("append", F32, 1.5),
    *[
        Case("insert", V, *rest)
        for rest in ((V.size, 9), (1, 9), ([0, 2], V[:2]), ([2, 0, -1], V), ([], []), (-1, [1, 2]))
    ],
    Case("insert", INTS, 1, np.asarray([7, 8, 9]), 1),
    Case("insert", INTS, [1], np.asarray([[7], [8], [9]]), 1),
    Case("insert", INTS, slice(0, 2), 5.9, 0),
    Case("insert", INTS, 2, 99),
    Case("insert", V, np.asarray([True, False, True]), 0.0, since="2.2.0"),
    *[Case("delete", V, obj) for obj in (1, -1, [0, 2], [], slice(None, None, 2), [True, False, False])],
    Case("delete", INTS, [0, 2], 1),
    Case("delete", INTS, slice(1, 3), -1),
    Case("delete", INTS, 3),
    *[Case("resize", V, shape) for shape in ((2, 4), 2, (), (0, 3))],
    Case("resize", NONE, (2, 2)),
    *[Case("trim_zeros", ENDS, *rest) for rest in ((), ("f",), ("B",))],
    Case("trim_zeros", np.zeros(3)),
    *[Case("trim_zeros", np.asarray(x), since="2.2.0") for x in ([[0, 0, 0], [0, 1, 0]], [[0, 0], [0, 0]])],
    Case("trim_zeros", np.asarray([[0, 0, 0], [0, 1, 0]]), "b", 1, since="2.2.0"),
    *[
        Case("packbits", x)
        for x in (np.asarray([1, 0, 3, 1, 0, 0, 0, 1, 1], dtype=np.uint8), B, np.asarray(True), INTS)
    ],
    Case("packbits", B, 1),
    Case("packbits", B, 0, "little"),
    *[Case("unpackbits", U8, *rest) for rest in ((), (1,), (0, 5, "little"), (None, -5), (None, 40))],
    *[Case("pad", x, ((1, 2),), mode) for mode in MODES for x in (V, I8)],
    *[Case("pad", INTS, ((4, 0), (0, 5)), mode) for mode in MODES],
    *[Case("pad", F32, 1, mode) for mode in ("mean", "maximum", "median")],
    *[Case("pad", POINT.reshape(1), 2, mode) for mode in ("reflect", "symmetric", "wrap")],
    *[Case("pad", V, (9, 8), mode, reflect_type="odd") for mode in ("reflect", "symmetric")],
    Case("pad", INTS, 2, constant_values=((1, 2), (3, 4))),
    Case("pad", INTS, 2, constant_values=1.7),
    Case("pad", B, 1),
    Case("pad", INTS, 2, "linear_ramp", end_values=(5, -4)),
    Case("pad", INTS, 2, "mean", stat_length=2),
    Case("pad", INTS, 2, "median", stat_length=((1, 2),)),
    Case("pad", T, {-1: 2, 0: (1, 0)}, since="2.4.0"),
    Case("pad", NONE, ((1, 0), (0, 0))),
]

TRANSFORMED: Final = [
    Case("ravel", INTS),
    Case("transpose", T),
    Case("swapaxes", T, 0, 2),
    Case("rollaxis", T, 2),
    Case("atleast_2d", V),
    Case("atleast_3d", V, INTS),
    *[Case(f"{kind}stack", [V, V]) for kind in ("h", "v", "d", "column_")],
    Case("block", [[INTS, INTS], [I8, B]]),
    Case("split", INTS, [1, 2]),
    Case("array_split", V, 2),
    Case("flipud", INTS),
    Case("fliplr", INTS),
    Case("rot90", INTS),
    Case("append", V, INTS),
    Case("insert", V, [0, 2], V[:2]),
    Case("delete", V, 1),
    Case("resize", V, (2, 4)),
    Case("packbits", I8),
    Case("unpackbits", U8, 1),
    Case("pad", V, 2),
    Case("pad", V, 2, "reflect"),
    Case("pad", V, 2, "linear_ramp"),
    Case("pad", V, 2, "median"),
    Case("sliding_window_view", V, 2),
    Case("apply_over_axes", lambda x, axis: xp.sum(x, axis=axis), T, (0, 2)),
    Case("apply_along_axis", lambda x: xp.cumulative_sum(x)[:2], 1, T),
]

SMOOTH: Final = [
    Case("hstack", [V, V]),
    Case("insert", V, [0, 2], V[:2]),
    Case("resize", V, (2, 4)),
    *[Case("pad", V, 2, mode) for mode in MODES if mode not in ("maximum", "minimum")],
    Case("pad", V, 5, "reflect", reflect_type="odd"),
    Case("rot90", T[0]),
]


VIEWS: Final[dict[str, Callable[[Any], Any]]] = {
    "ravel": xp.ravel,
    "transpose": xp.transpose,
    "swapaxes": lambda x: xp.swapaxes(x, 0, 1),
    "rollaxis": lambda x: xp.rollaxis(x, 1),
    "atleast_3d": xp.atleast_3d,
    "split": lambda x: xp.split(x, 2, axis=1)[0],
    "flipud": xp.flipud,
    "rot90": xp.rot90,
    "rot90 by nothing": lambda x: xp.rot90(x, 0),
    "trim_zeros": xp.trim_zeros,
}


@each("function", VIEWS.values())
@pytest.mark.usefixtures("backend")
def test_a_view_is_written_through_but_not_to_an_ndarray_that_was_handed_in(function: Callable[[Any], Any]) -> None:
    given, x = INTS + 1.0, xp.asarray(INTS + 1.0)
    for one in (x, given):
        y = function(one)
        y *= 100.0
    assert xp.max(x).tolist() >= 900.0
    np.testing.assert_array_equal(given, INTS + 1.0)


@pytest.mark.usefixtures("backend")
def test_an_array_with_axes_enough_is_returned_itself_and_a_block_of_it_is_a_copy() -> None:
    x = xp.asarray(INTS)
    assert xp.atleast_2d(x) is x
    xp.block(x)[0, 0] = 5
    assert x[0, 0] == 0


@each("shape, axis", [(3, 0), ((2, 2), None), ((2, 1), (1, 1)), (1, -1), ((), ())])
@pytest.mark.usefixtures("backend")
def test_windows_are_numpy_s(shape: Any, axis: Any) -> None:
    expected = np.lib.stride_tricks.sliding_window_view(INTS, shape, axis)
    np.testing.assert_array_equal(np.asarray(xp.sliding_window_view(xp.asarray(INTS), shape, axis)), expected)


def test_numpy_s_path_of_windows_is_there() -> None:
    assert xp.lib.stride_tricks.sliding_window_view is xp.sliding_window_view  # type: ignore[attr-defined]


@pytest.mark.usefixtures("backend")
def test_a_function_pads_each_vector() -> None:
    def fill(vector: Any, pair: tuple[int, int], axis: int, options: dict[str, Any]) -> None:
        vector[: pair[0]] = options["value"] + axis
        vector[-pair[1] :] = -options["value"]

    expected = np.pad(INTS, 1, fill, value=5)
    np.testing.assert_array_equal(np.asarray(xp.pad(xp.asarray(INTS), 1, fill, value=5)), expected)


@each("axis", [0, 1, -1])
@each("function", [lambda x, total: total(x), lambda x, total: x[1:] * total(x), lambda x, total: x[:2, None] * x[:2]])
@pytest.mark.usefixtures("backend")
def test_a_function_of_vectors_is_called_for_each(function: Callable[[Any, Any], Any], axis: int) -> None:
    """It gives a number, a vector or a matrix."""
    expected = np.apply_along_axis(function, axis, T, np.sum)
    found = xp.apply_along_axis(function, axis, xp.asarray(T), xp.sum)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


@pytest.mark.usefixtures("backend")
def test_a_vectorized_function_is_called_for_each_element() -> None:
    def smaller(a: Any, b: Any) -> Any:
        return a if a < b else -b

    found = xp.vectorize(smaller)(xp.asarray(V), xp.asarray(0.0))
    assert found.tolist() == [-0.0, -5.0, -0.0]
    assert isinstance(found, xp.Array)
    pair = xp.vectorize(divmod, otypes=[float, float])(xp.asarray(V), 2)
    assert [part.tolist() for part in pair] == [[0.0, -3.0, 1.0], [1.0, 1.0, 0.5]]
    mean = xp.vectorize(np.mean, signature="(n)->()")
    assert mean(xp.asarray(INTS)).tolist() == [1.5, 5.5, 9.5]


GIVEN: Final = INTS
WRONG: Final[list[Any]] = [
    (lambda x: xp.ravel([1, 2]), TypeError, "ravel: a must be an Array, not list. Wrap it: xp.asarray(...)"),
    (lambda x: xp.swapaxes(x, 0, 2), IndexError, "swapaxes: axis 2 is out of bounds for array of dimension 2"),
    (lambda x: xp.hstack(1), TypeError, "hstack: tup must be a list or a tuple of Arrays, not int"),
    (lambda x: xp.vstack([]), ValueError, "vstack: tup must hold at least one Array, but is empty"),
    (lambda x: xp.vstack([x, 1]), TypeError, r"vstack: tup[1] must be an Array, not int"),
    (lambda x: xp.block([[x], x]), ValueError, "block: arrays must be nested to the same depth, not to 1 and 2"),
    (lambda x: xp.split(x, 2), ValueError,
     "split: array split does not result in an equal division, as axis 0 has"),
    (lambda x: xp.dsplit(x, 2), ValueError, "dsplit: ary must have at least 3 axes, not 2"),
    (lambda x: xp.array_split(x, 0), ValueError, "array_split: indices_or_sections must be at least 1, not 0"),
    (lambda x: xp.rot90(x, 1, (0, 0)), ValueError, "rot90: axes must not name an axis twice, as (0, 0)"),
    (lambda x: xp.fliplr(x[0]), ValueError, "fliplr: m must have at least 2 axes, not 1"),
    (lambda x: xp.insert(x, 13, 0), IndexError, "insert: index 13 is out of bounds for axis 0 with size 12"),
    (lambda x: xp.delete(x, [0, 4], 1), IndexError, "delete: index 4 is out of bounds for axis 1 with size 4"),
    (lambda x: xp.delete(x, [0.5], 1), IndexError, "delete: "),
    (lambda x: xp.resize(x, -1), ValueError, "resize: all elements of `new_shape` must be non-negative"),
    (lambda x: xp.trim_zeros(x, "x"), ValueError, "trim_zeros: trim must be 'f', 'b' or 'fb', not 'x'"),
    (lambda x: xp.pad(x, -1), ValueError, "pad: pad_width must not be negative, but is -1"),
    (lambda x: xp.pad(x, 1.5), TypeError, "pad: pad_width must hold integers, not float64"),
    (lambda x: xp.pad(x, 1, "edge", end_values=1), ValueError, "pad: mode 'edge' takes no options, not end_values"),
    (lambda x: xp.pad(x, 1, "nearest"), ValueError, "pad: mode must be one of constant, edge, empty"),
    (lambda x: xp.pad(x, (1, 2, 3)), ValueError,
     "pad: pad_width must be a number, a pair, or a pair for each of 2"),
    (lambda x: xp.pad(x[:0], 1, "edge"), ValueError, "pad: array must not be empty on axis 0"),
    (lambda x: xp.unpackbits(x), TypeError, "unpackbits: a must have the dtype uint8, not int64"),
    (lambda x: xp.packbits(x * 0.5), TypeError, "packbits: a must have an integer or boolean dtype, not float64"),
    (lambda x: xp.sliding_window_view(x, (9, 9)), ValueError, "sliding_window_view: window_shape must not exceed"),
    (lambda x: xp.apply_along_axis(xp.sum, 0, x[:, :0]), ValueError, "apply_along_axis: arr must have a vector"),
]  # fmt: skip
"""Calls of an Array of `GIVEN`, with the error and what it says."""


@pytest.mark.usefixtures("differentiating")
def test_a_shape_that_depends_on_values_is_refused_inside_jit(framework: str) -> None:
    if framework == "jax":
        with pytest.raises(NotImplementedError, match="nonzero: the shape of the result depends on values"):
            xp.jit(xp.trim_zeros)(xp.asarray(ENDS))
    with pytest.raises((RuntimeError, NotImplementedError)):
        xp.jit(lambda x, at: xp.delete(x, at))(xp.asarray(V), xp.asarray([1]))


@pytest.mark.usefixtures("backend")
def test_windows_show_what_is_written_to_their_array() -> None:
    x = xp.arange(5)
    windows = xp.sliding_window_view(x, 3)
    x[2] = 9
    assert windows.tolist() == [[0, 1, 9], [1, 9, 3], [9, 3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        windows[0, 0] = 1
    given = np.arange(3)
    x = xp.asarray(given)
    windows = xp.sliding_window_view(x, 2)
    x[0] = 7
    assert windows.tolist() == [[7, 1], [1, 2]]
    assert given[0] == 0
