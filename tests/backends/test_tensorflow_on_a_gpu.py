"""TensorFlow's backend as it computes on a GPU, on kernels for a CPU.

The host reads no tensor in place, and kernels that read or write at an index raise nothing, as those of a GPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest
from comparison import each
from test_differential import ELEMENTWISE, reference

import anyarray as xp
from anyarray._memory import transfer

tf = pytest.importorskip("tensorflow", reason="these tests are about TensorFlow")
device = pytest.importorskip("anyarray.backends.tensorflow._device")
indexing = pytest.importorskip("anyarray.backends.tensorflow.indexing")
linear_algebra = pytest.importorskip("anyarray.backends.tensorflow.linear_algebra")
ops = pytest.importorskip("anyarray.backends.tensorflow._ops")
sorting = pytest.importorskip("anyarray.backends.tensorflow.sorting")


def kernels_that_raise_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the backend the gather and the scatter of a GPU.

    Out of bounds the one reads 0, the other writes nothing; of values for one place the scatter keeps any, here the
    first.
    """
    gather, scatter = ops.GatherV2, ops.TensorScatterUpdate

    def gathered(x: Any, index: Any, axis: Any, batched: int = 0) -> Any:
        length = x.shape[int(axis)]
        if not length:
            return tf.zeros([*x.shape[: int(axis)], *index.shape[batched:], *x.shape[int(axis) + 1 :]], x.dtype)
        is_out = (index < 0) | (index >= length)
        taken = gather(x, tf.where(is_out, tf.zeros_like(index), index), axis, batched)
        rest = x.shape.rank - int(axis) - 1 if taken.shape.rank > index.shape.rank else 0
        return tf.where(tf.reshape(is_out, [*index.shape, *[1] * rest]), tf.zeros((), taken.dtype), taken)

    def scattered(rows: Any, index: Any, value: Any) -> Any:
        index, value = index[::-1], value[::-1]
        is_in = tf.reshape((index >= 0) & (index < rows.shape[0]), [-1])
        return scatter(rows, tf.boolean_mask(index, is_in), tf.boolean_mask(value, is_in))

    monkeypatch.setattr(ops, "GatherV2", gathered)
    monkeypatch.setattr(ops, "TensorScatterUpdate", scattered)


@pytest.fixture
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with xp.backend("tf"):
        monkeypatch.setattr(device, "HOST", "no memory of the host")
        monkeypatch.setattr(device, "has_gpu", lambda: True)
        kernels_that_raise_nothing(monkeypatch)
        yield


OUT_OF_BOUNDS: Final[dict[str, Callable[[xp.Array], Any]]] = {
    "index: index 7 is out of bounds for axis 0 with size 3": lambda x: x[xp.asarray([0, 7])],
    "index: index -5 is out of bounds for axis 1 with size 4": lambda x: x[:, xp.asarray([0, -5])],
    "index: index 5 is out of bounds for axis 1 with size 4": lambda x: x[xp.asarray([0, 1]), xp.asarray([5, 0])],
    "index: index 3 is out of bounds for axis 0 with size 3": lambda x: x[3],
    "take: index 7 is out of bounds for axis 0 with size 3": lambda x: xp.take(x, xp.asarray([7]), axis=0),
    "take: index 4 is out of bounds for axis 1 with size 4": lambda x: xp.take(x, xp.asarray([4, 0]), axis=1),
    "take_along_axis: index -4 is out of bounds for axis 0 with size 3": lambda x: xp.take_along_axis(
        x, xp.asarray([[-4, 0, 0, 0]]), axis=0
    ),
}


@each("sentence", OUT_OF_BOUNDS)
@pytest.mark.usefixtures("on_a_gpu")
def test_an_index_out_of_bounds_is_refused(sentence: str) -> None:
    x = xp.reshape(xp.arange(12.0), (3, 4))
    with pytest.raises(IndexError) as caught:
        OUT_OF_BOUNDS[sentence](x)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "key", [xp.asarray([0, 3]), (xp.asarray([1]), xp.asarray([4])), (slice(1, None), xp.asarray([-5]))], ids=range(3)
)
@pytest.mark.usefixtures("on_a_gpu")
def test_nothing_is_written_out_of_bounds(key: Any) -> None:
    x = xp.zeros((3, 4))
    with pytest.raises(IndexError, match="is out of bounds for axis"):
        x[key] = 1.0
    assert not xp.any(x)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
@pytest.mark.usefixtures("on_a_gpu")
def test_where_there_is_nothing_every_index_is_out_of_bounds(shape: tuple[int, ...]) -> None:
    x, far = xp.zeros(shape), xp.asarray([5])
    for use in (lambda: x[far], lambda: xp.take(x, far, axis=0), lambda: x.__setitem__(far, 1.0)):
        with pytest.raises(IndexError):
            use()
    assert x[xp.asarray([], dtype=xp.int64)].shape == (0, *shape[1:])


@pytest.mark.usefixtures("on_a_gpu")
def test_indices_in_bounds_read_and_write_as_in_numpy() -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    some, others = np.asarray([-1, 0, 1, 1]), np.asarray([[2], [-3]])
    mask = a.sum(-1) > 30
    for key in [some, (some, slice(None), -1), (slice(None), others, some), (mask,), (mask, 2), (..., others)]:
        x, expected = xp.asarray(a), a.copy()
        entries = key if isinstance(key, tuple) else (key,)
        of_ours = tuple(xp.asarray(one) if isinstance(one, np.ndarray) else one for one in entries)
        np.testing.assert_array_equal(np.asarray(x[of_ours]), a[key])
        expected[key] = 7
        x[of_ours] = 7.0
        np.testing.assert_array_equal(np.asarray(x), expected)


@pytest.mark.usefixtures("on_a_gpu")
def test_an_index_out_of_bounds_is_refused_where_an_op_runs_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # kernels raise again, as of dtypes that a GPU lacks
    monkeypatch.setattr(device, "HOST", "no memory of the host")
    monkeypatch.setattr(device, "has_gpu", lambda: True)
    x, far = xp.zeros(3, dtype=xp.int8), xp.asarray([0, 7])
    for use in (
        lambda: x[far],
        lambda: xp.take(x, far),
        lambda: xp.take_along_axis(x, far),
        lambda: x.__setitem__(far, xp.asarray([1, 2], dtype=xp.int8)),
    ):
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
            use()


@pytest.mark.usefixtures("on_a_gpu")
def test_masks_and_indices_on_the_host_are_checked_without_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    x, index = xp.arange(5.0), xp.asarray([1, -1])
    monkeypatch.setattr(indexing, "is_on_host", lambda one: one is xp.to_native(index))
    monkeypatch.setattr(indexing, "_check_on_device", None)
    assert x[index].tolist() == [1.0, 4.0]
    assert x[-2] == 3.0
    assert x[x > 2].tolist() == [3.0, 4.0]
    x[x > 2] = xp.asarray([1.0, 2.0])
    assert x.tolist() == [0.0, 1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize("key", [[1, -1], np.asarray([[0], [4]]), (np.asarray([2, 3]),)], ids=range(3))
@pytest.mark.usefixtures("on_a_gpu")
def test_indices_from_the_host_do_not_ask_the_device(key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = importlib.import_module("anyarray.backends.tensorflow._hooks")
    monkeypatch.setattr(hooks, "_HOST", "no device of the host")  # or they would be imported by DLPack
    monkeypatch.setattr(transfer.Route, "share", lambda route, native: None)  # as a GPU shares no memory of the host
    monkeypatch.setattr(indexing, "_check_on_device", None)
    a = np.arange(5.0)
    x = xp.asarray(a)
    assert x[key].tolist() == a[key].tolist()
    x[key] = a[key] + 1
    a[key] += 1
    assert x.tolist() == a.tolist()
    monkeypatch.undo()
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        x[[0, 5]]


@pytest.mark.usefixtures("on_a_gpu")
def test_in_a_graph_what_is_out_of_bounds_is_nan_and_not_written() -> None:
    x, index = tf.constant([1.0, 2.0, 3.0]), tf.constant([2, 9], tf.int64)

    @tf.function
    def read_and_written(x: Any, index: Any) -> Any:
        x, index = xp.from_native(x), xp.from_native(index)
        taken = x[index]
        x = xp.asarray(x, copy=True)
        x[index] = 5.0
        return xp.to_native(taken), xp.to_native(x)

    taken, written = read_and_written(x, index)
    np.testing.assert_array_equal(taken.numpy(), [3.0, np.nan])
    np.testing.assert_array_equal(written.numpy(), [1.0, 2.0, 5.0])


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.usefixtures("on_a_gpu")
def test_of_values_for_one_place_the_last_is_written_and_has_the_slope(is_compiled: bool) -> None:
    def written(value: xp.Array) -> xp.Array:
        x = xp.zeros(4)
        x[xp.asarray([2, 0, 2, 2])] = value
        return x

    value = xp.asarray([1.0, 2.0, 3.0, 4.0])
    assert (xp.jit(written) if is_compiled else written)(value).tolist() == [2.0, 0.0, 4.0, 0.0]
    slopes = xp.grad(lambda v: xp.sum(written(v) * xp.asarray([1.0, 1.0, 5.0, 1.0])))
    assert (xp.jit(slopes) if is_compiled else slopes)(value).tolist() == [0.0, 1.0, 0.0, 5.0]


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int8", "uint64"])
@pytest.mark.usefixtures("on_a_gpu")
def test_an_element_and_a_slice_are_written(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    update = ops.TensorStridedSliceUpdate

    def kernel_of_a_gpu(x: Any, *others: Any) -> Any:
        assert x.dtype not in (tf.int16, tf.uint16)
        return update(x, *others)

    monkeypatch.setattr(ops, "TensorStridedSliceUpdate", kernel_of_a_gpu)
    x = xp.zeros(5, dtype=dtype)
    x[1] = 2
    x[2:] = xp.asarray([3, xp.iinfo(dtype).max, 5], dtype=dtype)
    assert x.tolist() == [0, 2, 3, xp.iinfo(dtype).max, 5]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.usefixtures("on_a_gpu")
def test_a_matrix_without_a_root_has_a_factor_that_is_not_finite(
    is_complex: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = np.asarray([[[4.0, 2.0], [2.0, 5.0]], [[1.0, 2.0], [2.0, 1.0]]])
    of_gpu = np.asarray([[[2.0, 0.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, -3.0]]])  # the second stops half way
    dtype = np.complex128 if is_complex else np.float64
    monkeypatch.setattr(ops, "Cholesky", lambda x: tf.constant(of_gpu.astype(dtype)))
    found = np.asarray(xp.linalg.cholesky(xp.asarray(a.astype(dtype))))
    np.testing.assert_array_equal(found[0], of_gpu[0])
    assert not np.isfinite(found[1]).all()


@pytest.mark.parametrize("function", ["svd", "svdvals", "pinv"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.usefixtures("on_a_gpu")
def test_singular_values_of_what_is_not_finite_are_nan(
    function: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    svd = ops.Svd

    def of_zeros(x: Any, *options: Any) -> Any:  # a GPU gives any numbers
        return svd(tf.where(tf.math.is_finite(tf.abs(x)), x, tf.zeros_like(x)), *options)

    monkeypatch.setattr(ops, "Svd", of_zeros)
    a = np.asarray([[[1.0, np.inf], [0.0, 1.0]], [[2.0, 0.0], [0.0, 1.0]]]).astype(dtype)
    found = getattr(xp.linalg, function)(xp.asarray(a))
    for part in found if isinstance(found, tuple) else (found,):
        assert np.isnan(np.asarray(part)[0]).all()
        assert np.isfinite(np.asarray(part)[1]).all()


@pytest.mark.parametrize("sorter", [[0, 3], [0, 1, 3], [0, 1, -4]])
@pytest.mark.usefixtures("on_a_gpu")
def test_a_wrong_sorter_is_refused(sorter: list[int]) -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    with pytest.raises((IndexError, ValueError), match=r"^searchsorted: sorter must"):
        xp.searchsorted(x, x, sorter=xp.asarray(sorter))
    assert xp.searchsorted(x, x, sorter=xp.asarray([0, 1, 2])).tolist() == [0, 1, 2]


@pytest.mark.parametrize("exponent", [-1, -2])
@pytest.mark.usefixtures("on_a_gpu")
def test_a_negative_power_of_an_integer_is_refused(exponent: int) -> None:
    with pytest.raises(ValueError, match="negative integer powers are not allowed"):
        xp.asarray([1, 2]) ** exponent


VECTORS: Final = ["float16", "float32", "float64", "int8", "int16", "int64", "uint8", "uint32", "uint64", "bool"]


def vector(dtype: str, n: int) -> np.ndarray[Any, Any]:
    """Numbers with many equal ones, zeros of both signs, infinity and NaN."""
    a = np.random.default_rng(n).integers(-9, 9, n).astype(dtype)
    if a.dtype.kind == "f" and n > 9:
        a[[1, 5, 6]], a[2], a[3], a[4] = np.nan, -0.0, 0.0, np.inf
    return a


@pytest.mark.parametrize("n", [0, 1, 7, 1024, 3000])
@pytest.mark.parametrize("dtype", VECTORS)
@pytest.mark.usefixtures("on_a_gpu")
def test_a_vector_is_sorted_by_xla_as_by_numpy(dtype: str, n: int) -> None:
    a = vector(dtype, n)
    assert np.asarray(xp.argsort(xp.asarray(a))).tolist() == np.argsort(a, stable=True).tolist()
    np.testing.assert_array_equal(np.asarray(xp.sort(xp.asarray(a))), np.sort(a))
    backwards = n - 1 - np.argsort(a[::-1], stable=True)[::-1]
    assert np.asarray(xp.argsort(xp.asarray(a), descending=True)).tolist() == backwards.tolist()
    assert not sorting._not_compiled


@pytest.mark.usefixtures("on_a_gpu")
def test_a_sort_that_xla_refuses_is_left_to_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: Any) -> Any:
        raise tf.errors.InternalError(None, None, "no XLA here")

    monkeypatch.setattr(sorting, "_compiled", refusing)
    monkeypatch.setattr(sorting, "_not_compiled", set())
    a = vector("float32", 100)
    for _ in range(2):
        assert np.asarray(xp.argsort(xp.asarray(a))).tolist() == np.argsort(a, stable=True).tolist()
    assert sorting._not_compiled == {(tf.float32, False)}


@pytest.mark.usefixtures("on_a_gpu")
def test_no_kernel_for_int32_orders_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a GPU these compute on the host.
    x = xp.asarray(vector("float32", 40).reshape(5, 8))
    assert sorting.order_keys(xp.to_native(x)).dtype == tf.int64
    np.testing.assert_array_equal(np.asarray(xp.argsort(x, axis=0)), np.argsort(np.asarray(x), axis=0, stable=True))
    table, sought = np.sort(vector("float32", 100)), vector("float32", 50)
    for side in ("left", "right"):
        found = xp.searchsorted(xp.asarray(table), xp.asarray(sought), side=side)
        assert found.tolist() == np.searchsorted(table, sought, side).tolist()


@pytest.mark.parametrize("n", [0, 1, 10, 2000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.usefixtures("on_a_gpu")
def test_distinct_values_are_found_without_sums_by_segments(
    dtype: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ops, "UnsortedSegmentSum", None)
    a = vector(dtype, n)
    expected = np.unique(a, True, True, True, equal_nan=False)
    for found, right in zip(xp.unique_all(xp.asarray(a)), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(found), right)
    np.testing.assert_array_equal(np.asarray(xp.unique_values(xp.asarray(a))), expected[0])
    np.testing.assert_array_equal(np.asarray(xp.unique_counts(xp.asarray(a)).counts), expected[3])


@pytest.mark.parametrize("shape", [(20_000,), (16_384,), (3, 20_001), (20_001, 2), (2, 16_400, 3)])
@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
@pytest.mark.usefixtures("on_a_gpu")
def test_a_long_axis_is_summed_up_in_rows(shape: tuple[int, ...], dtype: str) -> None:
    axis = int(np.argmax(shape))
    a = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    for initial in (False, True):
        found = xp.cumulative_sum(xp.asarray(a), axis=axis, include_initial=initial)
        expected = np.cumulative_sum(a, axis=axis, include_initial=initial)
        np.testing.assert_array_equal(np.asarray(found), expected)
    signs = np.sign(a) + (a == 0)
    np.testing.assert_array_equal(np.asarray(xp.cumulative_prod(xp.asarray(signs), axis=axis)), np.cumprod(signs, axis))
    if dtype == "float64":
        weights = np.arange(float(a.size)).reshape(shape)
        slopes = xp.grad(lambda x: xp.sum(xp.cumulative_sum(x, axis=axis) * xp.asarray(weights)))(xp.asarray(a))
        np.testing.assert_allclose(np.asarray(slopes), np.flip(np.cumsum(np.flip(weights, axis), axis), axis))


@pytest.mark.parametrize(
    ("shape1", "shape2"),
    [((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)), ((4,), (4, 3)), ((600, 600),) * 2],
)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.usefixtures("on_a_gpu")
def test_a_product_keeps_float32_beside_tf32(
    shape1: tuple[int, ...], shape2: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = ops.BatchMatMulV2

    def in_tf32(x1: Any, x2: Any, *options: Any) -> Any:
        assert x1.dtype not in (tf.float32, tf.complex64)
        return product(x1, x2, *options)

    monkeypatch.setattr(linear_algebra, "_knows_tf32", lambda: True)
    monkeypatch.setattr(ops, "BatchMatMulV2", in_tf32)
    random = np.random.default_rng(0)
    a, b = random.random(shape1).astype(dtype), random.random(shape2).astype(dtype)
    found = xp.asarray(a) @ xp.asarray(b)
    assert found.dtype == a.dtype
    np.testing.assert_allclose(np.asarray(found), a @ b, rtol=1e-5)


OTHERWISE: Final = "abs cos cosh exp expm1 hypot log log1p log2 log10 pow round sign sin sinh tan tanh".split()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the reference
@pytest.mark.parametrize(("function", "dtype"), [(f, d) for f in OTHERWISE for d in ELEMENTWISE[f].dtypes])
@pytest.mark.usefixtures("on_a_gpu")
def test_a_function_is_right_at_every_special_value_on_a_gpu(function: str, dtype: str) -> None:
    row = ELEMENTWISE[function]
    call = row.grid(dtype)
    row.compare(call.run(xp, function), reference(function, call), call)


SPECIAL: Final = [0.0, -0.0, 1.0, -1.0, -800.0, np.inf, -np.inf, np.nan]
CORNERS: Final = np.asarray([complex(a, b) for a in SPECIAL for b in SPECIAL])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy
@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("function", ["exp", "cosh", "sinh", "cos", "sin", "log"])
@pytest.mark.usefixtures("on_a_gpu")
def test_complex_numbers_of_infinite_and_nan_parts_are_as_in_c(function: str, dtype: str, is_traced: bool) -> None:
    z = CORNERS.astype(dtype)
    called = getattr(xp, function)
    if is_traced:
        found = tf.function(lambda x: xp.to_native(called(xp.from_native(x))))(tf.constant(z)).numpy()
    else:
        found = np.asarray(called(xp.asarray(z)))
    expected = getattr(np, function)(z)
    # C leaves the sign of what is infinite or zero open where the other part is NaN or infinite.
    is_open = ~np.isfinite(expected) | ~np.isfinite(z)
    for part, right in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_allclose(
            np.where(is_open, np.abs(part), part), np.where(is_open, np.abs(right), right), rtol=1e-6, equal_nan=True
        )


@pytest.mark.usefixtures("on_a_gpu")
def test_expm1_of_infinite_numbers_is_what_the_standard_says_on_a_gpu() -> None:
    nan, inf = np.nan, np.inf
    wanted = {
        (inf, inf): (inf, nan), (inf, 0.0): (inf, 0.0), (inf, nan): (inf, nan), (-inf, 0.0): (-1.0, 0.0),
        (-inf, inf): (-1.0, 0.0), (-inf, nan): (-1.0, 0.0), (nan, 0.0): (nan, 0.0), (0.0, inf): (nan, nan),
    }  # fmt: skip
    found = np.asarray(xp.expm1(xp.asarray([complex(*one) for one in wanted])))
    np.testing.assert_array_equal(np.abs([found.real, found.imag]).T, np.abs(list(wanted.values())))


def dtypes_on_a_gpu(name: str) -> set[Any]:
    """The dtypes for which an op has a kernel for GPUs, by its registry."""
    kernels = importlib.import_module("tensorflow.python.framework.kernels")
    found = set()
    for one in kernels.get_registered_kernels_for_op(name).kernel:
        attributes = {c.name: [tf.as_dtype(t) for t in c.allowed_values.list.type] for c in one.constraint}
        if one.device_type == "GPU":
            found |= set(attributes.get("T") or attributes.get("Tparams") or ())
    return found


RELIED_ON: Final = (
    "GreaterEqual uint64, UnsortedSegmentMax float64, TensorScatterUpdate int64, GatherV2 int64, TopKV2 int64, "
    "LowerBound int64, UpperBound int64, Cumsum int64, Where bool, SelectV2 int64, Mul complex64, Sum complex64, "
    "Expm1 float64"
)
"""Kernels: of the check of indices, the last of several values, a sort where XLA refuses, a product of few elements."""


@pytest.mark.skipif(not dtypes_on_a_gpu("AddV2"), reason="this TensorFlow has no kernels for GPUs")
def test_kernels_that_are_relied_on_exist_for_gpus_and_those_gone_round_do_not() -> None:
    def exists(row: str) -> bool:
        kernel, dtype = row.split()
        return tf.as_dtype(dtype) in dtypes_on_a_gpu(kernel)

    assert [row for row in RELIED_ON.split(", ") if not exists(row)] == []
    assert [row for row in ("UnsortedSegmentSum int64", "Expm1 complex128") if exists(row)] == []
