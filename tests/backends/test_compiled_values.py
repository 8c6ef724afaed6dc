"""Values inside `xp.jit` and `xp.vmap`.

They are those for which an optimiser, or what maps a function, would take another path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

NAN: Final = float("nan")


COMPLEX: Final = np.asarray([-2 + 0.3j, complex(0.5, -0.0), complex(0.5, 0.0), 2 - 1j])
VALUES: Final[dict[str, tuple[Callable[..., Any], Any, Any]]] = {
    **{
        f"{name} of {'nan and an array' if is_first else 'an array and nan'}": (
            lambda x, f=getattr(xp, name), is_first=is_first: f(NAN, x) if is_first else f(x, NAN),  # noqa: B008
            np.asarray([-1.0, 0.0, 2.0]),
            [NAN] * 3,
        )
        for name in ("maximum", "minimum", "logaddexp", "clip")
        for is_first in (False, *([True] if name != "clip" else []))
    },
    "a bool times nan": (lambda mask: mask * NAN, np.asarray([True, False]), [NAN, NAN]),
    "a bool times -0": (lambda mask: xp.signbit(mask * -0.0), np.asarray([True, False]), [True, True]),
    "a bool by nan": (lambda mask: mask / NAN, np.asarray([True, False]), [NAN, NAN]),
    "a constant bool times nan": (
        lambda mask: xp.asarray(False) * NAN + mask, np.asarray([True, False]), [NAN, NAN]
    ),
    "a bool and an integer": (lambda x: (x > 1) & xp.asarray(3), np.asarray([1, 2]), [0, 1]),
    "a bool or an integer": (lambda x: (x > 1) | xp.asarray(3), np.asarray([1, 2]), [3, 3]),
    "a bool or else an integer": (lambda x: (x > 1) ^ xp.asarray(3), np.asarray([1, 2]), [3, 2]),
    # XLA crashed where it dropped what comes of a position, and with it the process.
    "isnan of argmax": (lambda x: xp.isnan(xp.argmax(x)), np.asarray([3, 1, 2], np.int8), False),
    "isnan of argmin": (lambda x: xp.isnan(xp.argmin(x)), np.asarray([3, 1, 2], np.int8), False),
    **{
        f"the branch of {name}": (getattr(xp, name), COMPLEX, getattr(np, f"arc{name[1:]}")(COMPLEX))
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")
    },
}  # fmt: skip
"""Functions, an array, and the values inside jit."""


@np.errstate(invalid="ignore")
@pytest.mark.usefixtures("backend")
def test_values_are_right_inside_jit() -> None:
    functions = {name: function for name, (function, *_) in VALUES.items()}
    given = {name: xp.asarray(x) for name, (_, x, _) in VALUES.items()}
    for name, found in xp.jit(lambda xs: {key: functions[key](x) for key, x in xs.items()})(given).items():
        # Elementary functions differ in the last digits.
        np.testing.assert_allclose(np.asarray(found), VALUES[name][2], rtol=1e-12, atol=1e-15, err_msg=name)


@pytest.mark.few_backends
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.usefixtures("backend")
def test_powers_of_integers_wrap_inside_jit_as_outside(dtype: str) -> None:
    width = int(dtype.lstrip("uint"))
    largest = 2 ** (width - dtype.startswith("i")) - 1
    base, exponent = [0, 1, 2, 3, largest], [0, 1, 5, 63, 64, 65, 100, largest]
    wanted = [[pow(a, n, 2**width) for n in exponent] for a in base]
    x1, x2 = (xp.asarray(v, dtype=getattr(xp, dtype)) for v in (base, exponent))
    powers, by_constant = xp.jit(lambda x1, x2: (x1[:, None] ** x2, x1**100))(x1, x2)
    assert np.asarray(powers).view(f"uint{width}").tolist() == wanted
    assert np.asarray(by_constant).view(f"uint{width}").tolist() == [row[6] for row in wanted]


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


@each("dtype", ["bool", "int8", "uint8", "uint16", "uint32", "uint64", "float16", "complex64"])
@pytest.mark.usefixtures("backend")
def test_a_result_of_vmap_that_depends_on_no_element_has_any_dtype(dtype: str) -> None:
    constant, mapped = xp.vmap(lambda x: (xp.ones_like(x), x))(xp.ones((3, 2), dtype=getattr(xp, dtype)))
    assert constant.dtype == mapped.dtype == dtype
    assert constant.tolist() == mapped.tolist() == [[1, 1]] * 3


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
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.needs("traces")
def test_what_is_out_of_range_reads_no_other_element_inside_jit(dtype: str, framework: str) -> None:
    with xp.backend(framework):
        m = xp.astype(xp.asarray([[0, 0, 0], [0, 1, 1]]), getattr(xp, dtype))
        arguments = m, xp.asarray(OUTSIDE), xp.asarray([1, 1, 1, 1])
        if framework == "torch":  # it checks the indices of a graph, too
            for read in READS.values():
                with pytest.raises(IndexError):
                    xp.jit(read)(*arguments)
            return
        results = xp.jit(lambda *xs: {way: read(*xs) for way, read in READS.items()})(*arguments)
    limits = xp.iinfo(m.dtype) if m.dtype.kind in "iu" else None
    nothing: Any = NAN if limits is None else limits.min if m.dtype.kind == "i" else limits.max
    wanted = [nothing if dtype != "bool" else True, 1, 1, nothing if dtype != "bool" else True]
    for way, found in results.items():
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted, np.asarray(found).dtype), way)


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
    others = [a[1::2], a[:1], a[:0], np.asarray([[1, 3], [3, 1]], dtype)]
    results = xp.jit(lambda x, *ys: [[xp.isin(x, y, invert=invert) for invert in (False, True)] for y in ys])(
        xp.asarray(a), *map(xp.asarray, others)
    )
    for b, found in zip(others, results, strict=True):
        assert [one.tolist() for one in found] == [np.isin(a, b, invert=invert).tolist() for invert in (False, True)]


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


AS_BOOL: Final[dict[str, tuple[Callable[[xp.Array], xp.Array], Any]]] = {
    "sum": (lambda x: xp.sum(x, axis=0, dtype=xp.bool), [True] * 3),
    "prod": (lambda x: xp.prod(x, axis=1, dtype=xp.bool, keepdims=True), [[True], [False]]),
    "cumulative_sum": (
        lambda x: xp.cumulative_sum(x, axis=1, dtype=xp.bool, include_initial=True),
        [[False, True, True, True], [False, False, True, True]],
    ),
    "cumulative_prod": (
        lambda x: xp.cumulative_prod(x, axis=1, dtype=xp.bool, include_initial=True),
        [[True, True, True, True], [True, False, False, False]],
    ),
    "trace": (lambda x: xp.linalg.trace(x, offset=1, dtype=xp.bool), True),
}
"""Sums and products of (2, 3) that are bools, and those of [[True, True, True], [False, True, False]]."""


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
@pytest.mark.usefixtures("backend")
def test_a_sum_of_bools_tells_of_any_and_a_product_of_all(dtype: str, jits: list[Callable[[Any], Any]]) -> None:
    values = np.asarray([[2, 1, 3], [0, 5, 0]]).astype(dtype)
    if dtype == "float64":
        values[0] = 0.5, -0.25, np.nan
    x = xp.asarray(values)

    def all_of_them(x: xp.Array) -> Any:
        return {name: (f(x), xp.vmap(f)(x[None, ...])[0, ...]) for name, (f, _) in AS_BOOL.items()}

    for jit in jits:
        for name, results in jit(all_of_them)(x).items():
            for found in results:
                assert (found.dtype, found.tolist()) == (xp.bool, AS_BOOL[name][1]), name


OF_NOTHING: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "matrix_norm": xp.linalg.matrix_norm,
    "svdvals": xp.linalg.svdvals,
    "inv": xp.linalg.inv,
    "isin": lambda x: xp.isin(x, xp.asarray([1.0, 2.0])),
    "argmax": xp.argmax,
    "a constant": lambda x: xp.ones(3, dtype=xp.uint16),
}
"""Functions of matrices (2, 2) with results of known shapes."""


@pytest.mark.usefixtures("backend")
def test_a_map_over_no_elements_gives_none(jits: list[Callable[[Any], Any]]) -> None:
    x = xp.zeros((0, 2, 2))
    for jit in jits:
        results = jit(lambda x, y: {name: (f(x), xp.vmap(f)(y)) for name, f in OF_NOTHING.items()})(xp.eye(2), x)
        for name, (one, found) in results.items():
            assert (found.shape, found.dtype) == ((0, *one.shape), one.dtype), name
    for name, (one, _) in results.items():
        assert xp.vmap(xp.vmap(OF_NOTHING[name]))(xp.zeros((3, 0, 2, 2))).shape == (3, 0, *one.shape)
