"""PyTorch's own tensors: what is taken, refused, and left as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anyarray as xp

torch: Any = pytest.importorskip("torch")

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "sparse": (lambda: torch.eye(2).to_sparse(), r"it is a sparse tensor\. Make it dense: x\.to_dense\(\)"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]), r"it is a nested tensor\. Pad it"),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], layout=torch.jagged),
        r"it is a nested tensor\. Pad it",
    ),
    "meta": (lambda: torch.empty(2, device="meta"), r"a tensor on the device meta has no values\. Make one that has"),
}


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, of what is a prototype
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_array_in_memory_is_refused_with_a_cure(kind: str) -> None:
    make, sentence = REFUSED[kind]
    with pytest.raises(TypeError, match=sentence):
        xp.sum(make())


def test_a_shape_is_a_plain_tuple() -> None:
    assert repr(xp.from_native(torch.ones(2, 3)).shape) == "(2, 3)"


def test_a_tensor_that_is_handed_in_is_not_written() -> None:
    given = torch.tensor([1.0, 2.0, 3.0])
    x = xp.from_native(given)
    x[0] = 9
    assert given.tolist() == [1, 2, 3]
    assert x.tolist() == [9, 2, 3]


def test_a_view_in_the_reverse_order_follows_writes_to_either() -> None:
    x = xp.asarray([1.0, 2.0, 3.0], device="torch")
    turned, part = x[::-1], x[1:]
    part[0] = 7
    assert turned.tolist() == [3, 7, 1]
    turned[0] = 5
    assert x.tolist() == [1, 7, 5]
    assert part.tolist() == [7, 5]
    assert turned.strides == (-8,)


def test_gradients_go_through_a_portable_function_in_the_user_s_own_autograd() -> None:
    @xp.portable
    def loss(x: xp.Array) -> xp.Array:
        y = xp.asarray(x, copy=True)
        y[0] = 5.0
        y[1] *= 2.0
        return xp.sum(xp.where(y > 4, xp.sqrt(y), y**2))

    v = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
    loss(v).backward()
    np.testing.assert_allclose(v.grad.numpy(), [0, 2 / (2 * 6**0.5), 4], rtol=1e-6)


def test_a_portable_function_works_inside_torch_func() -> None:
    slope = torch.func.grad(xp.portable(lambda x: xp.sum(x**2)))
    rows = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(torch.func.vmap(slope)(rows), 2 * rows)


def test_integers_beyond_int64_are_divided_and_compared_exactly() -> None:
    host = np.asarray([2**64 - 1, 2**63, 7], np.uint64)
    x, y = xp.asarray(host, device="torch"), xp.asarray([3, 2**63, 2**64 - 1], dtype=xp.uint64, device="torch")
    assert (x // y).tolist() == [(2**64 - 1) // 3, 1, 0]
    assert (x % y).tolist() == [0, 0, 7]
    assert (x > y).tolist() == [True, False, False]
    assert xp.sort(x).tolist() == sorted(host.tolist())


def test_nothing_of_pytorch_s_own_state_is_changed() -> None:
    def state() -> tuple[Any, ...]:
        return (
            torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled(), torch.get_num_threads(),
            torch.are_deterministic_algorithms_enabled(), torch.backends.cuda.matmul.allow_tf32,
        )  # fmt: skip

    before = state()
    with xp.backend("torch"):
        x = xp.asarray([1.0, 2.0])
        xp.jit(lambda x: xp.exp(x) @ x)(x)
        xp.grad(lambda x: xp.sum(xp.linalg.inv(xp.eye(2) * x)))(x)
    assert state() == before


def test_a_default_dtype_and_inference_mode_of_the_user_s_make_no_difference() -> None:
    with xp.backend("torch"):
        torch.set_default_dtype(torch.float16)
        try:
            assert xp.ones(2).dtype == xp.float64
            assert (xp.arange(3) / 2).dtype == xp.float64
        finally:
            torch.set_default_dtype(torch.float32)
        with torch.inference_mode():
            x = xp.zeros(2)
        x[0] = 1.5
        assert x.tolist() == [1.5, 0]


def test_memory_is_shared_with_others_until_it_is_written() -> None:
    x = xp.arange(1000, dtype=xp.float64, device="torch") + 0.0
    with xp.transfers() as log:
        y = xp.to_native(x, like="numpy")
    assert [row.kind for row in log.rows] in ([], ["view"])
    x[0] = 5
    assert y[0] == 0
