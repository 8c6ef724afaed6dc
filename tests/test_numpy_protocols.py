"""NumPy's functions on Arrays stay on their backend if our namespace can.

Where it lacks them, NumPy computes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anyarray as xp

pytestmark = [pytest.mark.few_backends, pytest.mark.usefixtures("backend")]

STAYING: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda x, y: np.exp(x),
    "arctan2": np.arctan2,
    "power": np.power,
    "absolute": lambda x, y: np.absolute(x),
    "true_divide": np.true_divide,
    "conjugate": lambda x, y: np.conjugate(x),
    "rint": lambda x, y: np.rint(x),
    "add": np.add,
    "add of a list": lambda x, y: np.add(x, [1.0, 2.0, 3.0]),
    "sum": lambda x, y: np.sum(x),
    "sum over an axis": lambda x, y: np.sum(x, axis=0),
    "sum with keepdims": lambda x, y: np.sum(x, axis=0, keepdims=True),
    "mean": lambda x, y: np.mean(x, axis=0),
    "max": lambda x, y: np.max(x),
    "amax": lambda x, y: np.amax(x),
    "argmax": lambda x, y: np.argmax(x),
    "where": lambda x, y: np.where(x > 1, x, y),
    "clip": lambda x, y: np.clip(x, 1, 2),
    "concatenate": lambda x, y: np.concatenate([x, y]),
    "concatenate with ndarrays": lambda x, y: np.concatenate([np.ones(2), x]),
    "stack": lambda x, y: np.stack([x, y], axis=1),
    "reshape": lambda x, y: np.reshape(x, (3, 1)),
    "transpose": lambda x, y: np.transpose(np.reshape(x, (3, 1)), (1, 0)),
    "sort": lambda x, y: np.sort(x),
    "cumsum": lambda x, y: np.cumsum(x, axis=0),
    "transpose without axes": lambda x, y: np.transpose(np.stack([x, y])),
    "squeeze without an axis": lambda x, y: np.squeeze(np.reshape(x, (1, 3, 1))),
    "sort of a flattened matrix": lambda x, y: np.sort(np.stack([x, y]), axis=None),
    "argsort of a flattened matrix": lambda x, y: np.argsort(np.stack([x, y]), axis=None),
    "cumsum of a flattened matrix": lambda x, y: np.cumsum(np.stack([x, y])),
    "cumprod of a flattened matrix": lambda x, y: np.cumprod(np.stack([x, y])),
    "take of a flattened matrix": lambda x, y: np.take(np.stack([x, y]), [0, 4]),
    "zeros_like": lambda x, y: np.zeros_like(x),
    "tensordot": lambda x, y: np.tensordot(x, y, axes=1),
    "matmul": np.matmul,
    "linalg.norm of a product": lambda x, y: np.linalg.vector_norm(x),
    "fft.fft": lambda x, y: np.fft.fft(x),
    "fft.fft without a norm": lambda x, y: np.fft.fft(x, norm=None),
    "expand_dims": lambda x, y: np.expand_dims(x, 0),
    "flip": lambda x, y: np.flip(x),
    "isnan": lambda x, y: np.isnan(x),
    "logical_and": lambda x, y: np.logical_and(x > 1, y > 1),
}


@pytest.mark.parametrize("call", STAYING.values(), ids=STAYING)
def test_a_function_that_we_have_stays_on_the_backend(call: Callable[[Any, Any], Any], backend: xp.Backend) -> None:
    a, b = np.asarray([3.0, 1.0, 2.0]), np.asarray([0.5, 1.5, 2.5])
    expected = call(a, b)
    for _ in range(2):  # the second time a plan is there
        got = call(xp.asarray(a), xp.asarray(b))
        assert type(got) is xp.Array
        assert got.device is backend
        assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12)  # a few roundings of float64


FORMS: dict[str, list[Callable[[Any], Any]]] = {
    "an axis, then none": [lambda x: np.sort(x, axis=0), lambda x: np.sort(x, axis=None)],
    "no axis, then one": [lambda x: np.cumsum(x, axis=None), lambda x: np.cumsum(x, axis=1)],
    "places along an axis, then of all": [
        lambda x: np.take(x, [1], axis=0),
        lambda x: np.take(x, [4], axis=None),
        lambda x: np.take(x, np.asarray([[1]]), axis=1),
    ],
    "axes, then none": [lambda x: np.transpose(x, axes=(0, 1)), lambda x: np.transpose(x, axes=None)],
    "a norm, then none": [
        lambda x: np.fft.fft(x, None, -1, "ortho"),
        lambda x: np.fft.fft(x, None, -1, None),
        lambda x: np.fft.fft(x, norm="forward"),
        lambda x: np.fft.fft(x, norm=None),
    ],
    "what only NumPy takes, after what we take": [
        lambda x: np.sum(x, axis=0),
        lambda x: np.sum([x, x], axis=0),
        lambda x: np.sum(x, axis=np.int64(1)),
    ],
    "joined along an axis, then flat": [
        lambda x: np.concatenate([x, x], axis=1),
        lambda x: np.concatenate((x, [[7.0, 8.0, 9.0]]), axis=0),
        lambda x: np.concatenate([x, x], axis=None),
    ],
    "bounds in either order": [lambda x: np.clip(x, a_max=3, a_min=2), lambda x: np.clip(x, a_min=1, a_max=2)],
}


@pytest.mark.parametrize("calls", FORMS.values(), ids=FORMS)
def test_calls_of_one_form_are_each_as_their_values_say(calls: list[Callable[[Any], Any]]) -> None:
    a = np.asarray([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    for call in [*calls, *calls[::-1]]:
        got, expected = call(xp.asarray(a)), call(a)
        assert got.shape == expected.shape
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12)  # a few roundings of float64


LEAVING: dict[str, Callable[[Any], Any]] = {
    "median": np.median,
    "percentile": lambda x: np.percentile(x, 50),
    "histogram": lambda x: np.histogram(x)[0],
    "interp": lambda x: np.interp(1.5, x, x),
    "polyfit": lambda x: np.polyfit(x, x, 1),
    "array_equal": lambda x: np.array_equal(x, x),
    "allclose": lambda x: np.allclose(x, x),
    "nan_to_num": np.nan_to_num,
    "atleast_2d": np.atleast_2d,
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "linalg.norm": np.linalg.norm,
    "take at an integer": lambda x: np.take(x, 1),
    "repeat by a list": lambda x: np.repeat(x, [1, 2, 0]),
    "diff after a number": lambda x: np.diff(x, prepend=0.0),
    "linalg.qr of R alone": lambda x: np.linalg.qr(np.stack([x, x**2]), mode="r"),
}


@pytest.mark.parametrize("call", LEAVING.values(), ids=LEAVING)
def test_a_function_that_we_lack_is_computed_by_numpy(call: Callable[[Any], Any]) -> None:
    a = np.asarray([1.0, 2.0, 4.0])
    np.testing.assert_allclose(np.asarray(call(xp.asarray(a))), call(a), rtol=1e-12, atol=1e-12)


ASKING: dict[str, Callable[[Any], Any]] = {
    "common_type": lambda x: np.common_type(x, np.zeros(2, np.float32)),
    "iscomplexobj": np.iscomplexobj,
    "isrealobj": np.isrealobj,
    "ndim": np.ndim,
    "result_type": lambda x: np.result_type(x, np.float64, x),
    "shape": np.shape,
    "size": np.size,
    "size of an axis": lambda x: np.size(x, axis=1),
}


@pytest.mark.parametrize("call", ASKING.values(), ids=ASKING)
def test_what_a_shape_and_a_dtype_answer_needs_no_values(call: Callable[[Any], Any], backend: xp.Backend) -> None:
    expected = call(np.zeros((2, 3), np.float32))
    found = []

    def asked(x: xp.Array) -> xp.Array:
        found.append(call(x))
        return x

    xp.jit(asked)(xp.zeros((2, 3), dtype=xp.float32))
    asked(xp.zeros((2, 3), dtype=xp.float32))
    assert found == [expected] * len(found)


def test_what_numpy_refuses_too_is_our_error() -> None:
    with pytest.raises(TypeError, match=re.escape("sort: axis must be an int, not 1.5")):
        np.sort(xp.zeros(2), axis=1.5)


def test_a_ufunc_that_we_lack_is_computed_by_numpy_and_comes_back(backend: xp.Backend) -> None:
    got = np.cbrt(xp.asarray([8.0, 27.0]))
    assert type(got) is xp.Array
    assert got.device is backend
    assert got.tolist() == pytest.approx([2.0, 3.0])


def test_a_ufunc_with_two_results_gives_two_arrays(backend: xp.Backend) -> None:
    fraction, exponent = np.frexp(xp.asarray([8.0, 3.0]))
    assert (fraction.tolist(), exponent.tolist()) == ([0.5, 0.75], [4, 2])
    assert fraction.device is exponent.device is backend


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


def test_a_ufunc_s_reduce_is_numpy_s() -> None:
    assert float(np.add.reduce(xp.asarray([1.0, 2.0, 4.0]))) == 7.0


def test_an_out_ndarray_is_filled() -> None:
    out = np.zeros(2)
    result = np.exp(xp.zeros(2), out=out)
    assert result is out
    assert out.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: np.exp(x[0], out=out),
        lambda x, out: np.sum(x, axis=0, out=out),
        lambda x, out: np.cumsum(x[0], out=out),
        lambda x, out: np.concatenate([x[0][:1], x[1][:1]], out=out),
        lambda x, out: np.median(x, axis=0, out=out),
        lambda x, out: np.add.reduce(x, out=out),
        lambda x, out: np.multiply(np.ones(2), 3, out=out),
    ],
)
def test_an_out_array_is_written(call: Callable[[Any, Any], Any]) -> None:
    values = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    out, expected = xp.zeros(2), np.zeros(2)
    call(values, expected)
    assert call(xp.asarray(values), out) is out
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


def test_an_in_place_operator_of_an_ndarray_fills_it() -> None:
    a = np.ones(2)
    kept = a
    a += xp.ones(2)
    assert a is kept
    assert kept.tolist() == [2.0, 2.0]


def test_an_array_is_assigned_to_part_of_an_ndarray() -> None:
    a = np.zeros(3)
    a[1:] = xp.asarray([1.0, 2.0])
    assert a.tolist() == [0.0, 1.0, 2.0]


def test_an_array_is_the_index_of_an_ndarray() -> None:
    assert np.arange(5)[xp.asarray([3, 1])].tolist() == [3, 1]
    assert np.arange(3)[xp.asarray([True, False, True])].tolist() == [0, 2]


def test_numpy_converts_an_array() -> None:
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


@pytest.mark.parametrize(
    ("bounds", "clipped"),
    [({"max": 2}, [1.0, 2.0, 2.0]), ({"a_max": 2}, [1.0, 2.0, 2.0]), ({"min": 2}, [2.0, 2.0, 3.0]),
     ({"a_min": 2, "a_max": None}, [2.0, 2.0, 3.0]), ({"a_min": 1.5, "a_max": 2.5}, [1.5, 2.0, 2.5])],
)  # fmt: skip
def test_the_bounds_of_clip_are_told_by_their_names(bounds: dict[str, Any], clipped: list[float]) -> None:
    assert np.clip(xp.asarray([1.0, 2.0, 3.0]), **bounds).tolist() == clipped


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


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "x * y": lambda x, y: x * y,
    "y * x": lambda x, y: y * x,
    "x *= y": operator.imul,
    "np.multiply": np.multiply,
    "np.multiply, on the right": lambda x, y: np.multiply(y, x),
}


@pytest.mark.parametrize("how", PRODUCTS)
def test_a_subclass_with_ufuncs_of_its_own_keeps_what_it_means(how: str, backend: xp.Backend) -> None:
    x = xp.asarray([1.0, 2.0])
    product = PRODUCTS[how](x, np.asarray([2.0, 3.0]).view(Metres))
    assert type(product) is Metres
    assert product.tolist() == [2.0, 6.0]
    is_less = x < np.asarray([2.0, 1.0]).view(Metres)
    assert type(is_less) is xp.Array
    assert is_less.device is backend
    assert is_less.tolist() == [True, False]


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


@pytest.mark.parametrize("mode", ["constant", "linear_ramp", "reflect"])
def test_pad_takes_the_options_of_its_mode(mode: str, backend: xp.Backend) -> None:
    options: Any = {
        "constant": {"constant_values": (7.0, 8.0)},
        "linear_ramp": {"end_values": 5.0},
        "reflect": {"reflect_type": "odd"},
    }[mode]
    host = np.asarray([1.0, 4.0, 2.0])
    for _ in range(2):  # the second by what is kept of the first
        padded = np.pad(xp.asarray(host), 2, mode=mode, **options)
        assert padded.device is backend
        assert padded.tolist() == np.pad(host, 2, mode=mode, **options).tolist()
