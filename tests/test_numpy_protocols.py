"""NumPy's functions on Arrays stay on their backend if our namespace can.

Where it lacks them, NumPy computes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each
from expressions import rows, several

import anyarray as xp

pytestmark = [pytest.mark.few_backends, pytest.mark.usefixtures("backend")]

STAYING: Final = """
np.exp(x); np.arctan2(x, y); np.power(x, y); np.absolute(x); np.true_divide(x, y); np.conjugate(x); np.rint(x)
np.add(x, y); np.add(x, [1.0, 2.0, 3.0]); np.sum(x); np.sum(x, axis=0); np.sum(x, axis=0, keepdims=True)
np.mean(x, axis=0); np.max(x); np.amax(x); np.argmax(x); np.where(x > 1, x, y); np.clip(x, 1, 2)
np.concatenate([x, y]); np.concatenate([np.ones(2), x]); np.stack([x, y], axis=1); np.reshape(x, (3, 1))
np.transpose(np.reshape(x, (3, 1)), (1, 0)); np.sort(x); np.cumsum(x, axis=0); np.transpose(np.stack([x, y]))
np.squeeze(np.reshape(x, (1, 3, 1))); np.sort(np.stack([x, y]), axis=None); np.argsort(np.stack([x, y]), axis=None)
np.cumsum(np.stack([x, y])); np.cumprod(np.stack([x, y])); np.take(np.stack([x, y]), [0, 4]); np.zeros_like(x)
np.tensordot(x, y, axes=1); np.matmul(x, y); np.linalg.vector_norm(x); np.fft.fft(x); np.fft.fft(x, norm=None)
np.expand_dims(x, 0); np.flip(x); np.isnan(x); np.logical_and(x > 1, y > 1)
"""
"""Calls of functions that our namespace has."""


@each("call", several(STAYING))
def test_a_function_that_we_have_stays_on_the_backend(call: str, backend: xp.Backend) -> None:
    a, b = np.asarray([3.0, 1.0, 2.0]), np.asarray([0.5, 1.5, 2.5])
    expected = eval(call, {"np": np, "x": a, "y": b})
    for _ in range(2):  # the second time a plan is there
        got = eval(call, {"np": np, "x": xp.asarray(a), "y": xp.asarray(b)})
        assert type(got) is xp.Array
        assert got.device is backend
        assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12)  # a few roundings of float64


FORMS: Final = """
np.sort(x, axis=0); np.sort(x, axis=None)
np.cumsum(x, axis=None); np.cumsum(x, axis=1)
np.take(x, [1], axis=0); np.take(x, [4], axis=None); np.take(x, np.asarray([[1]]), axis=1)
np.transpose(x, axes=(0, 1)); np.transpose(x, axes=None)
np.fft.fft(x, None, -1, "ortho"); np.fft.fft(x, None, -1, None); np.fft.fft(x, norm="forward"); np.fft.fft(x, norm=None)
np.sum(x, axis=0); np.sum([x, x], axis=0); np.sum(x, axis=np.int64(1))
np.concatenate([x, x], axis=1); np.concatenate((x, [[7.0, 8.0, 9.0]]), axis=0); np.concatenate([x, x], axis=None)
np.clip(x, a_max=3, a_min=2); np.clip(x, a_min=1, a_max=2)
"""
"""Calls with the same parameters, whose values decide what each is."""


@each("row", rows(FORMS))
def test_calls_of_one_form_are_each_as_their_values_say(row: str) -> None:
    a = np.asarray([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    calls = row.split("; ")
    for call in [*calls, *calls[::-1]]:
        got, expected = (eval(call, {"np": np, "x": x}) for x in (xp.asarray(a), a))
        assert got.shape == expected.shape
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12)  # a few roundings of float64


LEAVING: Final = """
np.median(x); np.add.reduce(x); np.percentile(x, 50); np.histogram(x)[0]; np.interp(1.5, x, x); np.polyfit(x, x, 1)
np.array_equal(x, x); np.allclose(x, x); np.nan_to_num(x); np.atleast_2d(x); np.einsum("i,i->", x, x)
np.linalg.norm(x); np.take(x, 1); np.repeat(x, [1, 2, 0]); np.diff(x, prepend=0.0)
np.linalg.qr(np.stack([x, x ** 2]), mode="r")
"""


@each("call", several(LEAVING))
def test_a_function_that_we_lack_is_computed_by_numpy(call: str) -> None:
    a = np.asarray([1.0, 2.0, 4.0])
    found, expected = (eval(call, {"np": np, "x": x}) for x in (xp.asarray(a), a))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


ASKING: Final = """
np.common_type(x, np.zeros(2, np.float32)); np.iscomplexobj(x); np.isrealobj(x); np.ndim(x)
np.result_type(x, np.float64, x); np.shape(x); np.size(x); np.size(x, axis=1)
"""


def test_what_a_shape_and_a_dtype_answer_needs_no_values() -> None:
    def asked(x: Any) -> Any:
        found.append([eval(call, {"np": np, "x": x}) for call in several(ASKING)])
        return x

    found: list[Any] = []
    asked(np.zeros((2, 3), np.float32))
    xp.jit(asked)(xp.zeros((2, 3), dtype=xp.float32))
    asked(xp.zeros((2, 3), dtype=xp.float32))
    assert found == [found[0]] * len(found)


def test_what_numpy_refuses_too_is_our_error() -> None:
    with pytest.raises(TypeError, match=re.escape("sort: axis must be an int, not 1.5")):
        np.sort(xp.zeros(2), axis=1.5)


def test_a_ufunc_that_we_lack_is_computed_by_numpy_and_comes_back(backend: xp.Backend) -> None:
    got, (fraction, exponent) = np.cbrt(xp.asarray([8.0, 27.0])), np.frexp(xp.asarray([8.0, 3.0]))
    assert type(got) is xp.Array
    assert got.device is fraction.device is exponent.device is backend
    assert got.tolist() == pytest.approx([2.0, 3.0])
    assert (fraction.tolist(), exponent.tolist()) == ([0.5, 0.75], [4, 2])


def test_a_ufunc_s_objects_and_dates_stay_numpy_s() -> None:
    x = xp.asarray([1, 2])
    for got, expected in (
        (np.frompyfunc(lambda a: [a], 1, 1)(x), [[1], [2]]),
        (np.add(np.datetime64("2020-01-01"), x), [np.datetime64("2020-01-02"), np.datetime64("2020-01-03")]),
        (np.timedelta64(2, "D") * x, [np.timedelta64(2, "D"), np.timedelta64(4, "D")]),
        (np.longdouble(2) * x, [2.0, 4.0]),
    ):
        assert type(got) is np.ndarray
        assert list(got) == expected


def test_an_out_ndarray_is_filled() -> None:
    out = np.zeros(2)
    result = np.exp(xp.zeros(2), out=out)
    assert result is out
    assert out.tolist() == [1.0, 1.0]


OUTS: Final = """
np.exp(x[0], out=out); np.sum(x, axis=0, out=out); np.cumsum(x[0], out=out); np.median(x, axis=0, out=out)
np.concatenate([x[0][:1], x[1][:1]], out=out); np.add.reduce(x, out=out); np.multiply(np.ones(2), 3, out=out)
"""


@each("call", several(OUTS))
def test_an_out_array_is_written(call: str) -> None:
    values = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    out, expected = xp.zeros(2), np.zeros(2)
    eval(call, {"np": np, "x": values, "out": expected})
    assert eval(call, {"np": np, "x": xp.asarray(values), "out": out}) is out
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-15)


def test_one_of_two_results_is_written_to_an_out_array() -> None:
    out = xp.zeros(2)
    quotient, rest = np.divmod(xp.asarray([3.0, 4.0]), 2, out=(out, None))  # type: ignore[call-overload]  # an Array
    assert quotient is out
    assert out.tolist() == [1, 2]
    assert rest.tolist() == [1, 0]


def test_an_out_array_with_where_is_refused() -> None:
    out = xp.zeros(2)
    with pytest.raises(TypeError) as caught:
        np.exp(np.zeros(2), out=out, where=[True, False])  # type: ignore[call-overload]  # refused on purpose
    assert str(caught.value) == ("exp: where needs an out that is an ndarray, not Array. Take anyarray.numpy.exp")


def test_an_ndarray_takes_an_array_in_place_as_a_part_as_an_index_and_whole() -> None:
    a = np.ones(3)
    kept = a
    a += xp.ones(3)
    a[1:] = xp.asarray([1.0, 2.0])
    assert a is kept
    assert kept.tolist() == [2.0, 1.0, 2.0]
    assert np.arange(5)[xp.asarray([3, 1])].tolist() == [3, 1]
    assert np.arange(3)[xp.asarray([True, False, True])].tolist() == [0, 2]
    assert np.asarray(xp.arange(3)).dtype == np.int64
    assert np.asarray(xp.arange(3), dtype=np.float32).tolist() == [0.0, 1.0, 2.0]
    assert np.array([xp.asarray(1.0), xp.asarray(2.0)]).tolist() == [1.0, 2.0]


def test_a_conversion_without_a_copy_is_refused_if_it_needs_one() -> None:
    with pytest.raises(ValueError, match="copy"):
        np.asarray(xp.arange(3), dtype=np.float32, copy=False)


def test_numpy_s_assertions_take_arrays() -> None:
    np.testing.assert_allclose(xp.asarray([1.0, 2.0]), [1.0, 2.0])
    np.testing.assert_array_equal(xp.asarray([1, 2]), xp.asarray([1, 2]))
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        np.testing.assert_array_equal(xp.asarray([1, 2]), xp.asarray([1, 3]))


def test_a_ufunc_leaves_alone_what_where_leaves_out() -> None:
    x, y = xp.asarray([1.0, 2.0, 3.0]), xp.asarray([1.0, 0.0, 2.0])
    out = np.full(3, -7.0)
    assert np.add(x, 1, out=out, where=np.asarray([True, False, True])) is out
    assert out.tolist() == [2.0, -7.0, 4.0]
    assert np.divide(x, y, out=np.zeros(3), where=y != 0).tolist() == [1.0, 0.0, 1.5]
    assert float(np.add.reduce(np.ones(3), where=x > 1)) == 2.0
    assert float(np.sum(np.ones(3), where=x > 1)) == 2.0


def test_a_ufunc_fills_its_outs_as_numpy_casts() -> None:
    x = xp.asarray([1.0, 2.5])
    assert np.add(x, 1, out=np.zeros(2, int), casting="unsafe").tolist() == [2, 3]
    with pytest.raises(TypeError, match="Cannot cast"):
        np.add(x, 1, out=np.zeros(2, int))
    outs = np.zeros(2), np.zeros(2)
    assert np.divmod(x, 2, out=outs)[1] is outs[1]
    assert [one.tolist() for one in outs] == [[0.0, 1.0], [1.0, 0.5]]
    counts = np.zeros(3)
    np.add.at(counts, xp.asarray([0, 0, 1]), 1)
    assert counts.tolist() == [2.0, 1.0, 0.0]


@each("bounds", ["max=2", "min=2", "a_min=2, a_max=None", "a_min=1.5, a_max=2.5"])
def test_the_bounds_of_clip_are_told_by_their_names(bounds: str) -> None:
    found, expected = (
        eval(f"np.clip(x, {bounds})", {"np": np, "x": of([1.0, 2.0, 3.0])}) for of in (xp.asarray, np.asarray)
    )
    assert found.tolist() == expected.tolist()
    assert np.clip(xp.asarray([1.0, 2.0, 3.0]), a_max=2).tolist() == [1.0, 2.0, 2.0]


def test_a_ufunc_takes_what_only_numpy_takes() -> None:
    both = np.logical_and(xp.asarray([1, 0]), xp.asarray([2.0, 1.0]))
    assert type(both) is xp.Array
    assert both.tolist() == [True, False]
    assert np.logical_and(xp.asarray([True, False]), np.float64(2)).tolist() == [True, False]
    with pytest.raises(TypeError, match="add: x2 must be an Array, not str"):
        np.add(xp.asarray([1.0]), "a")


class Metres(np.ndarray[Any, Any]):
    """An ndarray with a unit, as those of astropy and unyt.

    It has ufuncs of its own and takes no other such.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        if any(type(one) is xp.Array for one in inputs):
            return NotImplemented
        bare = [one.view(np.ndarray) if isinstance(one, Metres) else one for one in inputs]
        result = getattr(ufunc, method)(*bare, **kwargs)
        return result.view(Metres) if ufunc in (np.add, np.multiply) else result


class Labelled:
    """An array that is no ndarray, as those of pint, xarray and pandas.

    It takes any other one inside.
    """

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        bare = [one.values if isinstance(one, Labelled) else one for one in inputs]
        return Labelled(getattr(ufunc, method)(*bare, **kwargs))


@each("how", ["x * y", "y * x", "operator.imul(x, y)", "np.multiply(x, y)", "np.multiply(y, x)"])
def test_a_subclass_with_ufuncs_of_its_own_keeps_what_it_means(how: str, backend: xp.Backend) -> None:
    x = xp.asarray([1.0, 2.0])
    product = eval(how, {"np": np, "operator": operator, "x": x, "y": np.asarray([2.0, 3.0]).view(Metres)})
    assert type(product) is Metres
    assert product.tolist() == [2.0, 6.0]
    is_less = x < np.asarray([2.0, 1.0]).view(Metres)
    assert (type(is_less), is_less.device, is_less.tolist()) == (xp.Array, backend, [True, False])


def test_a_subclass_with_ufuncs_of_its_own_is_not_taken_for_bare_numbers() -> None:
    x, metres = xp.zeros(2), np.ones(2).view(Metres)
    calls: list[Callable[[], Any]] = [
        lambda: xp.add(x, metres),
        lambda: xp.sum(metres),
        lambda: xp.stack([x, metres]),
        lambda: x.__setitem__(0, metres[0:1]),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"must be an Array, not Metres. Wrap it: xp.asarray"):
            call()
    bare = xp.asarray(metres)
    metres[0] = 5
    assert bare.tolist() == [1.0, 1.0]


def test_an_operand_with_ufuncs_of_its_own_is_asked_first(backend: xp.Backend) -> None:
    x = xp.asarray([8.0, 27.0])
    for product in (np.multiply(x, Labelled(x)), np.multiply(Labelled(x), x), np.cbrt(Labelled(x))):
        assert type(product) is Labelled
        assert type(product.values) is xp.Array
        assert product.values.device is backend
    assert np.multiply(x, Labelled(x)).values.tolist() == [64.0, 729.0]


def test_what_another_makes_of_ndarrays_is_its_own() -> None:
    class Sparse(Labelled):
        def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any:
            if any(type(one) is xp.Array for one in inputs):
                return NotImplemented
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    for ufunc in (np.add, np.arctan2, np.heaviside):  # of which we lack one
        assert type(ufunc(xp.ones(2), Sparse(np.ones(2)))) is Labelled
        assert type(ufunc(Sparse(np.ones(2)), xp.ones(2)).values) is np.ndarray


def test_a_function_of_arrays_and_of_what_has_units_is_left_to_the_latter(backend: xp.Backend) -> None:
    class WithUnit(Labelled):
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            (parts,) = args
            return Labelled(func([one.values if isinstance(one, Labelled) else one for one in parts], **kwargs))

    x = xp.asarray([1.0, 2.0])
    joined = np.concatenate([x, WithUnit(x)])
    assert type(joined) is Labelled
    assert joined.values.device is backend
    assert joined.values.tolist() == [1.0, 2.0, 1.0, 2.0]


PADDED: Final[list[tuple[Any, dict[str, Any]]]] = [
    ("constant", {"constant_values": (7.0, 8.0)}), ("linear_ramp", {"end_values": 5.0}),
    ("reflect", {"reflect_type": "odd"}),
]  # fmt: skip


@each("mode, options", PADDED)
def test_pad_takes_the_options_of_its_mode(mode: Any, options: dict[str, Any], backend: xp.Backend) -> None:
    host = np.asarray([1.0, 4.0, 2.0])
    for _ in range(2):  # the second by what is kept of the first
        padded = np.pad(xp.asarray(host), 2, mode=mode, **options)
        assert padded.device is backend
        assert padded.tolist() == np.pad(host, 2, mode=mode, **options).tolist()
