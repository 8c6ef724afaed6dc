"""Values inside `xp.jit` and `xp.vmap`.

They are those for which an optimiser, or what maps a function, would take another path.
"""

from __future__ import annotations

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
