"""PyTorch's own tensors: what is taken, refused, and left as it was."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from comparison import each

import anyarray as xp

torch: Any = pytest.importorskip("torch")
hooks: Any = pytest.importorskip("anyarray.backends.torch._hooks")
loading: Any = pytest.importorskip("anyarray.backends.torch._loading")

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: torch.eye(2).to_sparse(), r"it is a sparse tensor\. Make it dense: x\.to_dense\(\)"),
    (lambda: torch.eye(2).to_sparse_csr(), r"it is a sparse tensor\. Make it dense: x\.to_dense\(\)"),
    *[(lambda layout=layout: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], layout=layout),
       r"it is a nested tensor\. Pad it") for layout in (torch.strided, torch.jagged)],
    (lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
     r"it is a quantized tensor\. Take its numbers: x\.dequantize\(\)"),
    (lambda: torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False])),
     r"it is a masked tensor\. Fill it: x\.to_tensor\(0\)"),
    (lambda: torch.empty(2, device="meta"), r"it is on the device meta, without values\. Make one"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, of what is a prototype
@each("make, sentence", REFUSED)
def test_what_is_no_array_in_memory_is_refused_with_a_cure(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        xp.sum(make())


LEAVING: dict[str, Callable[[xp.Array], Any]] = {
    "np.asarray": np.asarray,
    "np.from_dlpack": np.from_dlpack,
    "torch.from_dlpack": torch.from_dlpack,
    "to_device": lambda x: x.to_device("numpy"),
    "to_native": lambda x: xp.to_native(x, like="numpy"),
    "asarray": lambda x: xp.asarray(x, device="numpy"),
    "asarray shared": lambda x: xp.asarray(x, device="numpy", copy=False),
    "asarray of a list": lambda x: xp.asarray([x, x], device="numpy"),
    "a function that is NumPy's alone": np.min_scalar_type,
}


@each("way", LEAVING)
def test_a_tensor_that_requires_grad_does_not_leave_in_silence(way: str) -> None:
    x = xp.from_native(torch.ones(2, dtype=torch.float64, requires_grad=True) * 2)
    leave = LEAVING[way]
    with pytest.raises(xp.TransferError, match=r"requires grad and cannot .*lost\. Take x\.detach\(\) of"):
        leave(x)
    leave(xp.stop_gradient(x))
    with torch.no_grad():
        leave(x)


def test_what_was_copied_without_grad_is_not_used_again_with_it() -> None:
    with xp.backend("torch"):
        x = xp.from_native(torch.ones(2, requires_grad=True) * 2)
    with torch.no_grad():
        x.to_device("numpy")
    with pytest.raises(xp.TransferError, match="requires grad"):
        x.to_device("numpy")


def test_numbers_of_a_tensor_that_requires_grad_are_read() -> None:
    x = xp.from_native(torch.tensor([2.0, 3.0], requires_grad=True))
    assert (float(x[0]), x.tolist(), x[1].item(), bool(x[0] < 3)) == (2.0, [2.0, 3.0], 3.0, True)
    assert repr(x) == "Array([2., 3.], dtype=float32, device=torch-cpu)"


def test_a_tensor_that_requires_grad_stays_on_pytorch_inside_a_block() -> None:
    @xp.portable
    def loss(x: xp.Array) -> xp.Array:
        with xp.backend("numpy"):
            return xp.sum(xp.square(x) * xp.asarray([1.0, 3.0]))

    v = torch.tensor([1.0, 2.0], requires_grad=True)
    loss(v).backward()
    assert v.grad.tolist() == [2.0, 12.0]


def root_of_squares(x: xp.Array) -> xp.Array:
    """Their root, whose slope at 0 counts for nothing."""
    y = xp.square(x)
    return xp.where(y == 0, 0.0, xp.sqrt(y))


def test_a_tensor_that_requires_grad_after_calls_of_it_is_differentiated() -> None:
    t = torch.tensor([0.0, 2.0], dtype=torch.float64)
    x = xp.asarray(t, copy=False)
    for _ in range(3):  # from the third on, compiled calls know the way
        root_of_squares(x)
    t.requires_grad_(True)
    xp.to_native(xp.sum(root_of_squares(x))).backward()
    assert t.grad.tolist() == [0.0, 1.0]


def test_a_view_written_with_a_derivative_is_differentiated_in_the_whole() -> None:
    weight = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    with xp.backend("torch-cpu"):
        x = xp.square(xp.asarray([0.0, 2.0]))
        for _ in range(3):
            xp.sqrt(x)
        x[1:] = xp.asarray(weight)
        root = xp.where(x == 0, 0.0, xp.sqrt(x))
    xp.to_native(xp.sum(root)).backward()
    assert weight.grad.item() == pytest.approx(0.5 / 3**0.5)


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


def test_a_mask_in_a_batch_of_the_user_s_is_refused_with_a_cure() -> None:
    with pytest.raises(xp.UnsupportedError, match=r"index: the shape of the result depends on values, .* xp\.where"):
        torch.func.vmap(xp.portable(lambda x: x[x > 0]))(torch.ones(2, 3))


FIRST_USES = {
    "grad": "torch.func.grad(f)(torch.ones(2)).tolist() == [3.0, 3.0]",
    "vmap": "torch.func.vmap(f)(torch.ones(2, 2)).tolist() == [4.0, 4.0]",
    "trace": "torch.jit.trace(f, torch.ones(2), check_trace=False)(torch.ones(2)).item() == 4.0",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the uses share an import of PyTorch")
def test_pytorch_may_be_used_first_inside_of_a_transform(run_python: Callable[..., str]) -> None:
    program = f"""
        import os, torch, anyarray as xp
        f = xp.portable(lambda x: xp.sum(x**3 + 1))
        for transform, claim in {FIRST_USES}.items():
            if not os.fork():
                print(transform, eval(claim), float(f(torch.ones(3))), flush=True)
                os._exit(0)
            os.wait()
    """
    assert run_python(program, PYTHONWARNINGS="ignore").splitlines() == [f"{one} True 6.0" for one in FIRST_USES]


@pytest.mark.filterwarnings("ignore")  # TorchScript is deprecated
def test_torch_jit_trace_records_a_portable_function() -> None:
    def scaled_rows(x: xp.Array) -> xp.Array:
        y = xp.zeros_like(x)
        y[0] = x[1:][0] * x.shape[0]
        return xp.reshape(y + 1, (x.shape[1], x.shape[0])) / xp.sum(x)

    traced = torch.jit.trace(xp.portable(scaled_rows), torch.ones(2, 3), check_trace=False)
    assert traced(torch.tensor([[0.0, 0, 0], [1, 2, 5]])).tolist() == [[0.375, 0.625], [1.375, 0.125], [0.125, 0.125]]


def test_of_several_values_for_one_place_the_last_has_the_gradient() -> None:
    @xp.portable
    def written(x: xp.Array, values: xp.Array, at: xp.Array) -> xp.Array:
        y = 2 * x
        y[at] = values
        return y

    x = torch.zeros(3, 2, requires_grad=True)
    values = torch.arange(8.0).reshape(4, 2).requires_grad_()
    y = written(x, values, torch.tensor([2, 0, -1, 2]))
    assert y.tolist() == [[2, 3], [0, 0], [6, 7]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0], [2, 2], [0, 0]]
    assert values.grad.tolist() == [[0, 0], [1, 1], [0, 0], [1, 1]]


def test_what_is_put_off_without_grad_has_none_later() -> None:
    x = xp.from_native(torch.ones(2, requires_grad=True))
    with xp.fused():
        with torch.no_grad():
            y = xp.exp(x) * 2 + 1
        found = xp.to_native(y)
    assert not found.requires_grad


def test_functions_of_pytorch_take_arrays_as_tensors() -> None:
    t, x = torch.ones(3), xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32)
    for of_two in (torch.add(x, t), torch.add(t, x), torch.stack([x, t]).sum(0), torch.where(t > 0, x, t) + 1):
        assert type(of_two) is torch.Tensor
        assert of_two.tolist() == [2, 3, 4]
    assert type(t + x) is xp.Array
    layer = torch.nn.Linear(3, 2)
    layer.load_state_dict({"weight": xp.ones((2, 3), dtype=xp.float32), "bias": xp.zeros(2, dtype=xp.float32)})
    assert layer(x).tolist() == [6, 6]
    t[0] = x[2]
    t += x
    assert t.tolist() == [4, 3, 4]
    with pytest.raises(
        TypeError, match=r"relu_: writes to a tensor, not to an Array\. Write the result: x\[\.\.\.\] ="
    ):
        torch.relu_(x)
    with pytest.raises(TypeError, match=r"add: writes to a tensor, not to an Array"):
        torch.add(t, 1, out=x)


@pytest.mark.parametrize("home", ["numpy", "torch"])
def test_writes_to_what_pytorch_gives_do_not_reach_the_array(home: str) -> None:
    x = xp.asarray([-1.0, 2.0], device=home)
    for found in (torch.reshape(x, (2, 1)), torch.detach(x), *torch.split(x, 1), torch.nn.ReLU(inplace=True)(x)):
        found += 5
    assert x.tolist() == [-1, 2]


def test_writes_to_an_array_do_not_reach_what_pytorch_keeps_for_a_derivative() -> None:
    x, weight = xp.asarray([1.0, 2.0], device="torch"), torch.ones(2, dtype=torch.float64, requires_grad=True)
    loss = torch.sum(torch.mul(x, weight))
    x[0] = 9.0
    loss.backward()
    assert weight.grad.tolist() == [1, 2]


_OF_ITS_OWN = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
"""PyTorch warns of functions of its own when it imports its compiler, or computes in forward mode."""


@xp.portable
def softmax(x: xp.Array) -> xp.Array:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


@pytest.fixture
def compiled() -> Iterator[Any]:
    """What compiles by TorchDynamo, and runs graphs as they are.

    So no C++ compiler is needed. The session has TorchDynamo turned off.
    """

    def compiled(function: Any, **options: Any) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend="aot_eager", **options)

    with torch._dynamo.config.patch(disable=False):
        yield compiled
    torch._dynamo.reset()


@_OF_ITS_OWN
def test_torch_compile_takes_a_portable_function_into_its_graph(compiled: Any) -> None:
    @functools.wraps(softmax)
    def wrapped(x: Any) -> Any:
        return 2 * softmax(x * 2) + 1

    x, y = (torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.0, 1.0]]).requires_grad_() for _ in range(2))
    run = compiled(wrapped, fullgraph=True)  # which no break is allowed in
    expected = 2 * torch.softmax(y * 2, -1) + 1
    torch.testing.assert_close(run(x), expected)
    (run(x)[:, 0] ** 2).sum().backward()
    (expected[:, 0] ** 2).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


@_OF_ITS_OWN
def test_constants_and_containers_go_into_the_graph_of_torch_compile(compiled: Any) -> None:
    @xp.portable
    def parts(given: Any, factor: float = 2.0) -> Any:
        x = given["x"]
        x[0] = 7.0
        return {"ramp": xp.arange(3) * x, "sums": [xp.sum(x) / 3, xp.where(x > 0, x, 0.0) * factor]}

    def both(x: Any) -> Any:
        found = parts({"x": x}, factor=3.0)
        return found["ramp"], *found["sums"]

    x = torch.tensor([1.0, -2.0, 3.0])
    ramp, total, clipped = compiled(both, fullgraph=True)(x)
    assert (ramp.tolist(), clipped.tolist()) == ([0.0, -2.0, 6.0], [21.0, 0.0, 9.0])
    assert float(total) == pytest.approx(8 / 3)
    assert x.tolist() == [1.0, -2.0, 3.0]


@_OF_ITS_OWN
def test_a_portable_function_that_reads_values_breaks_the_graph_of_torch_compile(compiled: Any) -> None:
    @xp.portable
    def reading(x: xp.Array) -> xp.Array:
        return x + 1 if x[0] > 0 else x - 1

    run = compiled(lambda x: 2 * reading(x))
    assert run(torch.tensor([1.0, 2.0])).tolist() == [4.0, 6.0]
    assert run(torch.tensor([-1.0, 2.0])).tolist() == [-4.0, 2.0]
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(lambda x: 2 * reading(x), fullgraph=True)(torch.tensor([1.0, 2.0]))


@_OF_ITS_OWN
def test_derivatives_of_every_kind_go_through_a_portable_function() -> None:
    x = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    assert torch.autograd.gradcheck(softmax, (x.clone().requires_grad_(),))
    assert torch.autograd.gradgradcheck(softmax, (x.clone().requires_grad_(),))
    native = functools.partial(torch.softmax, dim=-1)
    for transform in (torch.func.jacrev, torch.func.jacfwd, torch.func.hessian):
        torch.testing.assert_close(transform(softmax)(x), transform(native)(x))
    value, slope = torch.func.jvp(softmax, (x,), (torch.ones_like(x),))
    torch.testing.assert_close(value, native(x))
    torch.testing.assert_close(slope, torch.zeros_like(x))


def test_integers_beyond_int64_are_divided_and_compared_exactly() -> None:
    host = np.asarray([2**64 - 1, 2**63, 7], np.uint64)
    x, y = xp.asarray(host, device="torch"), xp.asarray([3, 2**63, 2**64 - 1], dtype=xp.uint64, device="torch")
    assert (x // y).tolist() == [(2**64 - 1) // 3, 1, 0]
    assert (x % y).tolist() == [0, 0, 7]
    assert (x > y).tolist() == [True, False, False]
    assert xp.sort(x).tolist() == sorted(host.tolist())


@xp.portable
def waves(x: xp.Array) -> xp.Array:
    return xp.sum(xp.sqrt(xp.abs(x)) * xp.sin(x) + xp.where(x > 0, x, 0.0))


def test_a_checkpoint_may_leave_a_portable_function_when_it_has_what_it_needs() -> None:
    from torch.utils.checkpoint import checkpoint

    found = []
    for call in (waves, lambda x: checkpoint(waves, x, use_reentrant=False)):
        x = torch.tensor([1.0, 2.0, -3.0], dtype=torch.float64, requires_grad=True)
        for _ in range(3):
            call(x).backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


def test_pytorch_s_dtypes_are_taken_for_ours() -> None:
    for name in ("float32", "int64", "bool", "complex128", "uint16", "bfloat16"):
        assert xp.zeros(2, dtype=getattr(torch, name)).dtype is getattr(xp, name)
    with pytest.raises(TypeError, match=r"^zeros: dtype must be one of .*, not torch\.complex32"):
        xp.zeros(2, dtype=torch.complex32)


@pytest.mark.parametrize("attribute", ["backward", "grad", "requires_grad"])
def test_what_tensors_have_for_derivatives_is_said_of_an_array(attribute: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{attribute}'\. Use xp\."):
        getattr(xp.ones(2), attribute)


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


def test_looking_for_devices_is_quiet_where_the_driver_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_available() -> bool:
        warnings.warn("CUDA initialization: Unexpected error from cudaGetDeviceCount()", stacklevel=2)
        return False

    monkeypatch.setattr(torch.cuda, "is_available", is_available)
    assert list(hooks.devices())[-1] == "cpu"  # a warning would be an error here


BESIDE_TENSORFLOW = """
import anyarray as xp

x = xp.asarray([1.0, 2.0])
def total(x):
    return xp.sum(x * x)
for name in ("tf", "torch"):
    with xp.backend(name):
        print(float(xp.jit(total)(x)), xp.grad(total)(x).tolist())
"""


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="this test is about both libraries")
def test_functions_are_compiled_by_tensorflow_and_then_by_pytorch(forked: Callable[..., str]) -> None:
    # PyTorch imports Triton, with which the process ended, before it compiles anything.
    assert forked(BESIDE_TENSORFLOW, ANYARRAY_BACKEND="numpy") == "5.0 [2.0, 4.0]\n" * 2


@pytest.mark.skipif(not hasattr(os, "RTLD_DEEPBIND"), reason="only glibc has that mode")
def test_triton_is_loaded_apart_once_tensorflow_is_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loaded: list[tuple[str, int]] = []
    library = tmp_path / "triton" / "_C" / "libtriton.so"
    library.parent.mkdir(parents=True)
    library.touch()
    library.parents[1].joinpath("__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(loading, "_is_done", False)
    monkeypatch.setattr(loading.ctypes, "CDLL", lambda path, mode: loaded.append((path, mode)))
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    loading.load_triton()
    assert loaded == []
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    for _ in range(2):
        loading.load_triton()
    assert loaded == [(str(library), os.RTLD_DEEPBIND | os.RTLD_LOCAL)]


def test_a_gradient_has_the_derivatives_of_what_the_function_closes_over() -> None:
    parameter = torch.ones(3, dtype=torch.float64, requires_grad=True)
    with xp.backend("torch"):
        x = xp.asarray([1.0, 2.0, 3.0])
        gradient = xp.grad(lambda x: xp.sum(x * x * xp.from_native(parameter)))(x)
        xp.to_native(gradient).sum().backward()
        hessian = xp.jacobian(xp.grad(lambda x: xp.sum(x**3)))(x)
    assert parameter.grad is not None
    assert parameter.grad.tolist() == [2, 4, 6]
    assert hessian.tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]
    assert not xp.to_native(hessian).requires_grad
