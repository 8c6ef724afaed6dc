"""Values inside `xp.jit` and `xp.vmap`.

They are those for which an optimiser, or what maps a function, would take another path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest

import anyarray as xp

NAN: Final = float("nan")


@pytest.mark.parametrize("function", ["maximum", "minimum", "clip", "logaddexp"])
@pytest.mark.usefixtures("backend")
def test_a_constant_that_is_nan_makes_nan_inside_jit(function: str) -> None:
    x = xp.asarray([-1.0, 0.0, 2.0])
    with np.errstate(invalid="ignore"):
        assert xp.all(xp.isnan(xp.jit(lambda x: getattr(xp, function)(x, NAN))(x)))
        if function != "clip":
            assert xp.all(xp.isnan(xp.jit(lambda x: getattr(xp, function)(NAN, x))(x)))


@pytest.mark.usefixtures("backend")
def test_a_bool_counts_as_a_number_beside_nan_inside_jit() -> None:
    mask = xp.asarray([True, False])
    assert xp.all(xp.isnan(xp.jit(lambda mask: mask * NAN)(mask)))
    assert xp.jit(lambda mask: xp.signbit(mask * -0.0))(mask).tolist() == [True, True]
    assert xp.isnan(xp.jit(lambda mask: mask / NAN)(mask)).tolist() == [True, True]
    assert xp.isnan(xp.jit(lambda mask: xp.asarray(False) * NAN + mask)(mask)).tolist() == [True, True]


@pytest.mark.parametrize("function", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.usefixtures("backend")
def test_a_bool_meets_an_integer_that_is_made_inside_jit(function: str) -> None:
    f = xp.jit(lambda x: getattr(xp, function)(x > 1, xp.asarray(3)))
    assert f(xp.asarray([1, 2])).tolist() == {"and": [0, 1], "or": [3, 3], "xor": [3, 2]}[function[8:]]


@pytest.mark.few_backends
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.usefixtures("backend")
def test_powers_of_integers_wrap_inside_jit_as_outside(dtype: str) -> None:
    width = int(dtype.lstrip("uint"))
    largest = 2 ** (width - dtype.startswith("i")) - 1
    base, exponent = [0, 1, 2, 3, largest], [0, 1, 5, 63, 64, 65, 100, largest]
    wanted = [[pow(a, n, 2**width) for n in exponent] for a in base]
    x1, x2 = (xp.asarray(v, dtype=getattr(xp, dtype)) for v in (base, exponent))
    unsigned = np.asarray(xp.jit(lambda x1, x2: x1[:, None] ** x2)(x1, x2)).view(f"uint{width}")
    assert unsigned.tolist() == wanted
    by_constant = np.asarray(xp.jit(lambda x1: x1**100)(x1)).view(f"uint{width}")
    assert by_constant.tolist() == [row[6] for row in wanted]


@pytest.mark.parametrize("function", ["argmax", "argmin"])
@pytest.mark.usefixtures("backend")
def test_a_compiler_may_drop_what_comes_of_a_position(function: str) -> None:
    # XLA crashed, and with it the process.
    x = xp.asarray([3, 1, 2], dtype=xp.int8)
    assert not xp.jit(lambda x: xp.isnan(getattr(xp, function)(x)))(x)


class Unlucky(Exception):  # noqa: N818 - no error of ours
    """An exception that cannot be made of a message."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(first + second)


@pytest.mark.usefixtures("backend")
def test_what_a_mapped_function_raises_comes_out_of_vmap_as_it_is() -> None:
    def raises(x: xp.Array) -> xp.Array:
        raise Unlucky(1, 2)

    with pytest.raises(Unlucky, match=r"^3"):
        xp.vmap(raises)(xp.ones(2))
    with pytest.raises(xp.AxisError, match=r"^sum: axis 4 is out of bounds"):
        xp.vmap(xp.vmap(lambda x: xp.sum(x, axis=4)))(xp.ones((2, 2, 2)))
    with pytest.raises(TypeError, match=r"^bitwise_invert: x must have an integer or boolean dtype"):
        xp.vmap(xp.bitwise_invert)(xp.ones(2))


@pytest.mark.needs("traces")
def test_a_condition_on_a_value_is_refused_inside_vmap(framework: str) -> None:
    with xp.backend(framework), pytest.raises(xp.TransferError):
        xp.vmap(lambda x: x if x > 0 else -x)(xp.asarray([1.0, -2.0]))


def test_a_matrix_that_has_no_answer_is_named_inside_jit() -> None:
    pytest.importorskip("tensorflow")
    singular, lost = [[1.0, 2.0], [2.0, 4.0]], [[1.0, NAN], [NAN, 1.0]]

    def log(x: xp.Array) -> xp.Array:
        return xp.linalg.slogdet(x).logabsdet

    with xp.backend("tf"):
        with pytest.raises(np.linalg.LinAlgError, match=r"^jit: the function inverts a matrix that is singular$"):
            xp.jit(xp.grad(log))(xp.asarray(singular))
        slopes = xp.jit(xp.grad(log))
        assert np.allclose(slopes(xp.asarray([[1.0, 2.0], [3.0, 4.0]])), [[-2, 1.5], [1, -0.5]])
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            slopes(xp.asarray(singular))
        with pytest.raises(np.linalg.LinAlgError, match=r"^vmap: the function inverts a matrix that is singular$"):
            xp.vmap(xp.linalg.inv)(xp.asarray([singular]))
        for function in (lambda x: xp.linalg.eigh(x)[0], xp.linalg.eigvals):
            with pytest.raises(np.linalg.LinAlgError, match=r"^jit: the eigenvalues of a matrix do not converge$"):
                xp.jit(function)(xp.asarray(lost))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint16", "uint32", "uint64", "float16", "complex64"])
@pytest.mark.usefixtures("backend")
def test_a_result_of_vmap_that_depends_on_no_element_has_any_dtype(dtype: str) -> None:
    constant, mapped = xp.vmap(lambda x: (xp.ones_like(x), x))(xp.ones((3, 2), dtype=getattr(xp, dtype)))
    assert constant.dtype == mapped.dtype == dtype
    assert constant.tolist() == mapped.tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("function", ["acos", "acosh", "asin", "asinh", "atan", "atanh"])
@pytest.mark.usefixtures("backend")
def test_inverse_functions_keep_to_their_branches_inside_jit(function: str) -> None:
    z = np.asarray([-2 + 0.3j, complex(0.5, -0.0), complex(0.5, 0.0), 2 - 1j])
    wanted = getattr(np, f"arc{function[1:]}")(z)
    # Elementary functions differ in the last digits.
    np.testing.assert_allclose(np.asarray(xp.jit(getattr(xp, function))(xp.asarray(z))), wanted, rtol=1e-12, atol=1e-15)


OUTSIDE: Final = [7, 1, -1, -9]
"""Indices of which the first and the last are out of range."""
READS: Final = {
    "take": lambda m, i, rows: xp.take(m, i, axis=1)[1, :],
    "one axis": lambda m, i, rows: m[:, i][1, :],
    "two axes": lambda m, i, rows: m[rows, i],
    "two axes, one constant": lambda m, i, rows: m[xp.asarray([1, 1, 1, 1]), i],
    "along an axis": lambda m, i, rows: xp.take_along_axis(m, xp.stack([i, i]), axis=1)[1, :],
    "one at a time": lambda m, i, rows: xp.stack([m[1, i[k]] for k in range(4)]),
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.needs("traces")
def test_what_is_out_of_range_reads_no_other_element_inside_jit(way: str, dtype: str, framework: str) -> None:
    with xp.backend(framework):
        m = xp.astype(xp.asarray([[0, 0, 0], [0, 1, 1]]), getattr(xp, dtype))
        arguments = m, xp.asarray(OUTSIDE), xp.asarray([1, 1, 1, 1])
        if framework == "torch":  # it checks the indices of a graph, too
            with pytest.raises(IndexError):
                xp.jit(READS[way])(*arguments)
            return
        found = xp.jit(READS[way])(*arguments)
    if m.dtype.kind in "iu":
        limits = xp.iinfo(m.dtype)
        nothing = limits.min if m.dtype.kind == "i" else limits.max
        assert found.tolist() == [nothing, 1, 1, nothing]
    elif m.dtype.kind == "b":
        assert found.tolist() == [True] * 4
    else:
        assert xp.isnan(found).tolist() == [True, False, False, True]
        assert found[1:3].tolist() == [1, 1]


@pytest.mark.parametrize("key", ["one axis", "two axes"])
@pytest.mark.needs("traces")
def test_what_is_out_of_range_writes_nothing_inside_jit(key: str, framework: str) -> None:
    def written(m: xp.Array, i: xp.Array, rows: xp.Array, value: xp.Array) -> xp.Array:
        m = xp.asarray(m, copy=True)
        if key == "one axis":
            m[:, i] = value
        else:
            m[rows, i] = value
        return m

    with xp.backend(framework):
        arguments = xp.zeros((2, 3)), xp.asarray(OUTSIDE), xp.asarray([1, 1, 1, 1]), xp.asarray([5.0, 6.0, 7.0, 8.0])
        if framework == "torch":
            with pytest.raises(IndexError):
                xp.jit(written)(*arguments)
            return
        found = xp.jit(written)(*arguments)
    assert found.tolist() == [[0, 6, 7] if key == "one axis" else [0, 0, 0], [0, 6, 7]]


@pytest.mark.needs("derivatives")
def test_derivatives_leave_out_what_is_out_of_range(framework: str) -> None:
    def loss(x: xp.Array, i: xp.Array) -> xp.Array:
        taken = x[i]
        return xp.sum(xp.where(xp.isnan(taken), 0.0, taken**2))

    with xp.backend(framework):
        if framework == "torch":
            with pytest.raises(IndexError):
                xp.jit(xp.grad(loss))(xp.asarray([1.0, 2.0, 3.0]), xp.asarray(OUTSIDE))
            return
        slopes = xp.jit(xp.grad(loss))(xp.asarray([1.0, 2.0, 3.0]), xp.asarray(OUTSIDE))
    assert slopes.tolist() == [0, 4, 6]


@pytest.mark.parametrize("key", ["one axis", "two axes"])
def test_an_index_out_of_range_is_an_error_where_a_kernel_reads_it(key: str) -> None:
    pytest.importorskip("tensorflow")

    def found(m: xp.Array, i: xp.Array, rows: xp.Array) -> tuple[xp.Array, xp.Array]:
        return xp.unique_values(m), m[:, i] if key == "one axis" else m[
            rows, i
        ]  # XLA has no shapes that depend on values

    with (
        xp.backend("tf"),
        pytest.raises(IndexError, match=r"^jit: an index in the function is out of bounds\. Call it without jit "),
    ):
        xp.jit(found)(xp.zeros((2, 3)), xp.asarray([1, 4]), xp.asarray([0, 0]))


def test_an_axis_that_is_named_twice_is_an_error_inside_jit(framework: str) -> None:
    with xp.backend(framework), pytest.raises(ValueError, match=r"^\w+: .* axis twice"):
        xp.jit(lambda x: xp.mean(x, axis=(0, -2)))(xp.ones((2, 3)))


def test_a_search_among_many_compares_no_pairs_inside_jit(framework: str) -> None:
    """XLA on its own would want memory for all of them, 300 GB."""
    n = 200_000
    with xp.backend(framework):
        x = xp.arange(n, dtype=xp.float32)
        assert xp.all(xp.jit(xp.searchsorted)(x, x) == xp.arange(n))
        assert xp.all(xp.jit(xp.isin)(x, xp.flip(x)))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.usefixtures("backend")
def test_what_is_in_an_array_is_the_same_inside_jit(dtype: str) -> None:
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 2.5, 1] if dtype.startswith("f") else [0, 1, 5, 100]
    a = np.asarray([*special, 3, 1], dtype)
    for b in (a[1::2], a[:1], a[:0], np.asarray([[1, 3], [3, 1]], dtype)):
        for invert in (False, True):
            found = xp.jit(lambda x, y, invert=invert: xp.isin(x, y, invert=invert))(xp.asarray(a), xp.asarray(b))
            assert found.tolist() == np.isin(a, b, invert=invert).tolist()


def test_what_xla_does_by_loops_is_left_to_tensorflow_inside_jit() -> None:
    pytest.importorskip("tensorflow")
    rng = np.random.default_rng(0)
    a = rng.random((64, 64))
    definite = a @ a.T + np.eye(64)
    with xp.backend("tf"):
        root = xp.jit(xp.linalg.cholesky)(xp.asarray(definite))
        np.testing.assert_allclose(np.asarray(root), np.linalg.cholesky(definite), rtol=1e-12, atol=1e-12)
        inverse = xp.jit(xp.linalg.inv)(xp.asarray(definite))
        np.testing.assert_allclose(np.asarray(inverse), np.linalg.inv(definite), rtol=1e-10, atol=1e-10)
        # TensorFlow's kernel says that a matrix is singular, XLA's loops do not.
        with pytest.raises(xp.LinAlgError, match=r"^jit: the function inverts a matrix that is singular$"):
            xp.jit(xp.linalg.inv)(xp.zeros((64, 64)))


def test_an_error_of_a_large_call_changes_nothing_for_small_ones() -> None:
    pytest.importorskip("tensorflow")
    with xp.backend("tf"):
        found = xp.jit(lambda x, i: xp.sort(x)[i])
        with pytest.raises(IndexError):
            found(xp.arange(5000.0), xp.asarray([9999]))  # TensorFlow's kernels sort, and look at the index
        assert xp.isnan(found(xp.arange(5.0), xp.asarray([9])))
        assert found(xp.arange(5000.0), xp.asarray([4999])).tolist() == [4999]


AS_BOOL: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "sum": lambda x: xp.sum(x, axis=0, dtype=xp.bool),
    "prod": lambda x: xp.prod(x, axis=1, dtype=xp.bool, keepdims=True),
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=1, dtype=xp.bool, include_initial=True),
    "cumulative_prod": lambda x: xp.cumulative_prod(x, axis=1, dtype=xp.bool, include_initial=True),
    "trace": lambda x: xp.linalg.trace(x, offset=1, dtype=xp.bool),
}
"""Sums and products of (2, 3) that are bools."""

OF_BOOLS: Final = {
    "sum": [True, True, True],
    "prod": [[True], [False]],
    "cumulative_sum": [[False, True, True, True], [False, False, True, True]],
    "cumulative_prod": [[True, True, True, True], [True, False, False, False]],
    "trace": True,
}
"""The same of [[True, True, True], [False, True, False]]."""


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
@pytest.mark.parametrize("function", AS_BOOL)
@pytest.mark.usefixtures("backend")
def test_a_sum_of_bools_tells_of_any_and_a_product_of_all(function: str, dtype: str) -> None:
    values = np.asarray([[2, 1, 3], [0, 5, 0]]).astype(dtype)
    if dtype == "float64":
        values[0] = 0.5, -0.25, np.nan
    x = xp.asarray(values)
    summed = AS_BOOL[function]
    for found in (summed(x), xp.jit(summed)(x), xp.vmap(summed)(x[None, ...])[0, ...]):
        assert found.dtype == xp.bool
        assert found.tolist() == OF_BOOLS[function]


OF_NOTHING: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "matrix_norm": xp.linalg.matrix_norm,
    "svdvals": xp.linalg.svdvals,
    "inv": xp.linalg.inv,
    "isin": lambda x: xp.isin(x, xp.asarray([1.0, 2.0])),
    "argmax": xp.argmax,
    "a constant": lambda x: xp.ones(3, dtype=xp.uint16),
}
"""Functions of matrices (2, 2) with results of known shapes."""


@pytest.mark.parametrize("function", OF_NOTHING)
@pytest.mark.usefixtures("backend")
def test_a_map_over_no_elements_gives_none(function: str) -> None:
    f = OF_NOTHING[function]
    one, x = f(xp.eye(2)), xp.zeros((0, 2, 2))
    for found in (xp.vmap(f)(x), xp.jit(xp.vmap(f))(x)):
        assert (found.shape, found.dtype) == ((0, *one.shape), one.dtype)
    assert xp.vmap(xp.vmap(f))(xp.zeros((3, 0, 2, 2))).shape == (3, 0, *one.shape)
