"""Products, diagonals and `einsum`, against NumPy's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from against_numpy import Case, assert_parts_same

import anyarray as xp

pytestmark = pytest.mark.few_backends

RNG: Final = np.random.default_rng(0)
V: Final = np.asarray([1.0, -5.0, 2.5])
W: Final = np.asarray([1, 2, 3, 4])
INTS: Final = np.arange(12).reshape(3, 4)
I8: Final = INTS.astype(np.int8)
B: Final = INTS % 2 == 0
A: Final = RNG.normal(size=(3, 4))
F32: Final = A.T.astype(np.float32)
M: Final = RNG.normal(size=(3, 3))
C: Final = M + 1j * M.T
T: Final = RNG.normal(size=(2, 3, 4))
POINT: Final = np.asarray(3.0)
LARGE: Final = RNG.normal(size=(40, 30))

SUBSCRIPTS: Final = [
    ("ij,jk->ik", INTS, A.T), ("ij,jk", INTS, A.T), ("ii", M), ("ii->i", M), ("ij->ji", INTS), ("ji", INTS),
    ("ij->", INTS), ("ij->j", I8), ("i,i", V, V), ("i,j", V, W), ("i,i->i", B[0], B[1]), ("ij,jk->ik", B, B.T),
    ("ij->i", B), ("...ij,jk->...ik", T, F32), ("ijk,jk->i", T, INTS),
    ("bij,bjk->bik", T, np.swapaxes(T, 1, 2)), ("...,...", T, INTS), ("...i,...i->...", T, INTS),
    ("i...->...", T), ("...", T), ("...ii->...i", np.ones((2, 3, 3))), ("ij,ij->ij", np.ones((1, 4)), INTS),
    ("ij,jk->ik", np.ones((3, 1)), A.T), ("ii,ij->j", M, M), ("iij->ij", np.ones((3, 3, 2))),
    ("ijij->ij", RNG.normal(size=(2, 3, 2, 3))), ("i->", C[0]), ("ij,j", C, V), ("ij,kl->ijkl", M, INTS),
    (" ij , jk -> ik ", INTS, A.T), (",", POINT, POINT), (",i->i", POINT, V), ("Ab,bA->A", INTS, INTS.T),
    ("ij,jk,kl->il", INTS, A.T, A), ("ij,kj,lj->ikl", INTS, INTS, I8), ("a,b,c->abc", V, W, V),
    ("i,ij,j", V, M, V), ("i,j,ij->", V, W, INTS), ("ij,ij,ij->", INTS, INTS, INTS),
    ("bhqd,bhkd->bhqk", np.ones((2, 2, 3, 4)), np.ones((2, 2, 5, 4))),
]  # fmt: skip

CASES: Final = [
    *[Case(name, *pair) for name in ("dot", "inner") for pair in ((V, V), (POINT, V), (INTS, POINT), (C[0], C[1]))],
    *[Case("dot", *pair) for pair in ((INTS, F32), (T, F32), (W, F32), (A, W), (T, np.swapaxes(T, 1, 2)), (C, M))],
    *[Case("dot", *pair) for pair in ((B, B.T), (I8, I8.T), (W, F32), (INTS, B.T), (np.ones((2, 0)), np.ones((0, 3))))],
    *[Case("inner", *pair) for pair in ((T, INTS), (INTS, W), (B, B), (I8, F32.T))],
    *[Case("vdot", *pair) for pair in ((C, C), (INTS, A), (B, B), (POINT, POINT), (I8, I8.T))],
    *[Case("outer", *pair) for pair in ((V, INTS), (B, B), (C, V), (POINT, I8))],
    *[Case("kron", *pair) for pair in ((V, V), (INTS, M), (INTS, V), (T, V), (B, B), (POINT, V), (I8, F32))],
    Case("cross", V, M),
    Case("cross", M, M.T, axis=0),
    Case("cross", M, C, 0, 1, 0),
    Case("cross", V, INTS[:, :3]),
    *[Case("diagonal", INTS, offset) for offset in (0, -1, 3, 9)],
    Case("diagonal", T),
    Case("diagonal", T, 1, -1, 0),
    *[Case("trace", x) for x in (INTS, T, I8, B)],
    Case("trace", T, 1, 0, 2),
    Case("trace", INTS, dtype=np.float32),
    *[Case("diag", V, k) for k in (0, 1, -2)],
    *[Case("diag", INTS, k) for k in (0, 1, -2)],
    *[Case("diag", x) for x in (np.asarray([np.nan, 1.0]), B[0], F32[0])],
    *[Case("diagflat", INTS, k) for k in (0, 1)],
    *[Case("vander", V, n) for n in (None, 0, 1, 2)],
    *[Case("vander", x, 3, True) for x in (W, F32[0], B[0], C[0])],
    *[Case("einsum", *given, looser=10.0) for given in SUBSCRIPTS],
    *[Case("einsum", *given, looser=10.0, optimize=True) for given in SUBSCRIPTS if len(given) > 3],
    *[
        Case("einsum", *given, looser=10.0, optimize=np.einsum_path(*given)[0])
        for given in SUBSCRIPTS
        if len(given) > 3
    ],
    Case("einsum", INTS, [0, 1], A.T, [1, 2], [0, 2]),
    Case("einsum", INTS, [30, 1], A.T, [1, 2]),
    Case("einsum", T, [Ellipsis, 0], W, [0], [Ellipsis]),
    Case("einsum", M, [0, 0]),
    Case("einsum", "ij,kj->ik", LARGE, LARGE, looser=100.0),
]

TRANSFORMED: Final = [
    Case("dot", A, W),
    Case("vdot", A, INTS),
    Case("inner", T, A),
    Case("outer", V, W),
    Case("kron", V, W),
    Case("cross", V, M),
    Case("diagonal", T),
    Case("trace", T),
    Case("diag", V, 1),
    Case("diagflat", A),
    Case("vander", V),
    *[Case("einsum", *given, looser=10.0) for given in SUBSCRIPTS[:2] + SUBSCRIPTS[13:17] + SUBSCRIPTS[-6:-3]],
]

SMOOTH: Final = [
    Case("dot", V, V + 1.0),
    Case("vdot", A, A + 1.0),
    Case("inner", V, V),
    Case("outer", V, V),
    Case("kron", V, V),
    Case("cross", V, V[::-1]),
    Case("diag", V, 1),
    Case("trace", M),
    Case("vander", V, 4),
    Case("vander", np.asarray([0.0, 1.0]), 4),
    Case("einsum", "ii->i", M),
    Case("einsum", "ij,jk,k->i", M, M, V),
    Case("einsum", "...i,...i->...", T[:, :1], T),
]


@pytest.mark.parametrize("shape", [(3, None, 0), (2, 4, 1), (4, 2, -1), (0, 2, 0)])
@pytest.mark.usefixtures("backend")
def test_a_triangle_of_ones_is_numpy_s(shape: tuple[Any, ...]) -> None:
    assert_parts_same(xp.tri(*shape), np.tri(*shape))
    assert_parts_same(xp.tri(*shape, dtype=xp.int32), np.tri(*shape, dtype=np.int32))


@pytest.mark.usefixtures("backend")
def test_a_path_is_numpy_s() -> None:
    given = ("ij,jk,kl->il", INTS, A.T, A)
    path, text = xp.einsum_path(given[0], *map(xp.asarray, given[1:]))
    assert path == np.einsum_path(*given)[0]
    assert "Complete contraction:  ij,jk,kl->il" in text


@pytest.mark.usefixtures("backend")
def test_einsum_of_one_array_without_sums_is_a_view() -> None:
    x = xp.zeros((3, 3))
    diagonal, transposed = xp.einsum("ii->i", x), xp.einsum("ij->ji", x)
    diagonal[...] = xp.asarray([1.0, 2.0, 3.0])
    transposed[0, 1] = 9.0
    x[2, 2] = 7.0
    assert x.tolist() == [[1, 0, 0], [9, 2, 0], [0, 0, 7]]
    assert (diagonal.tolist(), transposed.tolist()) == ([1, 2, 7], [[1, 9, 0], [0, 2, 0], [0, 0, 7]])
    shown = xp.diag(x)
    x[1, 1] = 99.0
    assert shown[1] == 99.0


@pytest.mark.usefixtures("backend")
def test_a_write_to_a_diagonal_does_not_reach_what_the_user_holds() -> None:
    given = np.zeros((2, 2))
    diagonal = xp.einsum("ii->i", xp.asarray(given))
    diagonal[...] = 1.0
    assert diagonal.tolist() == [1, 1]
    assert not given.any()


GIVEN: Final = INTS
WRONG: Final[list[Any]] = [
    (lambda x: xp.dot(x, x), ValueError,
     "dot: a of shape (3, 4) and b of shape (3, 4) do not fit, as axis 1 of a has 4 elements"),
    (lambda x: xp.inner(x, x[:, :2]), ValueError,
     "inner: a of shape (3, 4) and b of shape (3, 2) do not fit, as axis 1 of a"),
    (lambda x: xp.vdot(x, x[0]), ValueError, "vdot: a of shape (3, 4) and b of shape (4,) must have as many elements"),
    (lambda x: xp.cross(x, x), ValueError, "cross: the vectors of a and b must be of length 3, not 4 and 4"),
    (lambda x: xp.diag(x[None]), ValueError, "diag: v must have 1 or 2 axes, not 3"),
    (lambda x: xp.trace(x[0]), ValueError, "trace: a must have at least 2 axes, not 1"),
    (lambda x: xp.diagonal(x, 0, 1, 1), ValueError, "diagonal: axis1 and axis2 must not be the same, 1"),
    (lambda x: xp.vander(x), ValueError, "vander: x must "),
    (lambda x: xp.einsum("ij,jk->ik", x, x), ValueError,
     "einsum: operands[1] of shape (3, 4) does not fit 'jk', as 'j' is of"),
    (lambda x: xp.einsum("ii", x), ValueError,
     "einsum: operands[0] of shape (3, 4) does not fit 'ii', as 'i' is of length 3"),
    (lambda x: xp.einsum("ij,jk", x), ValueError, "einsum: subscripts 'ij,jk' are of 2 operands, but 1 were given"),
    (lambda x: xp.einsum("i", x), ValueError, "einsum: subscripts 'i' do not fit operands[0], which has 2 axes"),
    (lambda x: xp.einsum("i$", x), ValueError, "einsum: invalid subscript '$' in 'i$', not a letter"),
    (lambda x: xp.einsum("ij->k", x), ValueError,
     "einsum: the output 'k' must name axes of the operands, each once, in 'ij->k'"),
    (lambda x: xp.einsum("ij->ii", x), ValueError, "einsum: the output 'ii' must name axes of the operands, each once"),
    (lambda x: xp.einsum("...j->j", x), ValueError, "einsum: the output 'j' must hold '...', as the operands do"),
    (lambda x: xp.einsum("ij"), ValueError, "einsum: operands must hold subscripts and at least one Array"),
    (lambda x: xp.einsum(x, [0, 99]), ValueError, "einsum: an axis must be an integer from 0 to 51, not 99"),
    (lambda _: xp.einsum("i,i", xp.asarray(V), [1, 2, 3]), TypeError, "einsum: operands[1] must be an Array, not list"),
    (lambda _: xp.outer(1, xp.asarray(V)), TypeError, "outer: a must be an Array, not int"),  # type: ignore[arg-type]
]  # fmt: skip
"""Calls of an Array of `GIVEN`, with the error and what it says."""
