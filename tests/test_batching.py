"""`vmap` by the rules of batches gives what a loop gives, in one run.

The function runs once, for all elements: where the library has no `vmap`, and on TensorFlow, whose own takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Final

import numpy as np
import pytest
from comparison import assert_same, each

import anyarray as xp
from anyarray import testing

RANDOM: Final = np.random.default_rng(11)
A: Final = RANDOM.normal(size=(4, 3, 3))
B: Final = RANDOM.normal(size=(4, 3))
S: Final = RANDOM.normal(size=4)
I: Final = RANDOM.integers(-3, 3, size=(4, 2))  # noqa: E741 - the integers
M: Final = B > 0
C: Final = B + 1j * B[::-1]

W = np.asarray([[1.0, 2.0, -1.0], [0.5, -3.0, 2.0], [0.0, 1.0, 1.0]])
V = np.asarray([2.0, -1.0, 0.5])


def w() -> xp.Array:
    return xp.asarray(W)


def v() -> xp.Array:
    return xp.asarray(V)


def written(x: xp.Array, key: Any, value: Any) -> xp.Array:
    y = x + 0
    y[key] = value
    return y


def grown(x: xp.Array) -> xp.Array:
    y = xp.zeros(3)
    for i in range(3):
        y += x * i
    return y


linalg, fft = xp.linalg, xp.fft

AT_ONCE: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    # elementwise
    "exp": (lambda x: xp.exp(x), (B,)),
    "scalars": (lambda x: 2 * x - 1, (B,)),
    "scalars and integers": (lambda x: x * 2.5 + True, (I,)),
    "0-d": (lambda s: s**2 + 1, (S,)),
    "of two ranks": (lambda s, b: s * b, (S, B)),
    "of three ranks": (lambda s, b, a: s + b - a, (S, B, A)),
    "with what is the same for all": (lambda b: b * v() + w(), (B,)),
    "a rank above": (lambda s: s + w(), (S,)),
    "where": (lambda b, s: xp.where(b > s, b, 0.0), (B, S)),
    "where by a constant": (lambda b: xp.where(v() > 0, b, v()), (B,)),
    "clip": (lambda b, s: xp.clip(b, min=s, max=1.0), (B, S)),
    "promotion": (lambda i, b: i[0] + b, (I, B.astype(np.float32))),
    "shifts": (lambda i: i << 1, (I % 3,)),
    "complex": (lambda c: xp.conj(c) * xp.imag(c) + xp.real(c), (C,)),
    "logical": (lambda m: ~m & xp.logical_or(m, m), (M,)),
    "comparison": (lambda b: b >= v(), (B,)),
    "atan2": (lambda b, s: xp.atan2(b, s), (B, S)),
    "nextafter": (lambda b, s: xp.nextafter(b, s), (B, S)),
    "in place": (grown, (B,)),
    # along axes
    "sum": (xp.sum, (A,)),
    "sum of a number": (xp.sum, (S,)),
    "sum of integers": (xp.sum, (I.astype(np.int8),)),
    "sum along an axis": (lambda a: xp.sum(a, axis=0), (A,)),
    "sum along the last": (lambda a: xp.sum(a, axis=-1, keepdims=True), (A,)),
    "sum along two": (lambda a: xp.sum(a, axis=(0, -1)), (A,)),
    "sum, keepdims": (lambda a: xp.sum(a, keepdims=True), (A,)),
    "prod": (lambda b: xp.prod(b, dtype=xp.float64), (B,)),
    "max and min": (lambda a: (xp.max(a, axis=1), xp.min(a)), (A,)),
    "mean, var, std": (lambda a: (xp.mean(a), xp.var(a, axis=0), xp.std(a, correction=1.0)), (A,)),
    "all, any, count": (lambda m: (xp.all(m), xp.any(m), xp.count_nonzero(m)), (M,)),
    "argmax": (lambda a: (xp.argmax(a), xp.argmin(a, axis=0), xp.argmax(a, keepdims=True)), (A,)),
    "argmax along, keepdims": (lambda a: xp.argmax(a, axis=-1, keepdims=True), (A,)),
    "cumulative": (lambda a: (xp.cumulative_sum(a, axis=0), xp.cumulative_prod(a, axis=-1)), (A,)),
    "cumulative of a vector": (lambda b: xp.cumulative_sum(b, include_initial=True), (B,)),
    "sort": (lambda a: (xp.sort(a), xp.sort(a, axis=0, descending=True), xp.argsort(a, axis=0)), (A,)),
    "diff": (lambda b, s: (xp.diff(b), xp.diff(b, n=2), xp.diff(b, append=xp.reshape(s, (1,)))), (B, S)),
    "diff of a constant": (lambda b: xp.diff(v(), prepend=b), (B,)),
    "softmax": (lambda a: xp.exp(a - xp.max(a, axis=-1, keepdims=True)), (A,)),
    "norm": (lambda a: (linalg.vector_norm(a), linalg.vector_norm(a, axis=0, ord=1)), (A,)),
    # products and linear algebra
    "matrix and matrix": (lambda a, b: a @ b, (A, A[::-1])),
    "matrix and vector": (lambda a, b: a @ b, (A, B)),
    "vector and matrix": (lambda a, b: b @ a, (A, B)),
    "vector and vector": (lambda b, c: b @ c, (B, B[::-1])),
    "vector and constant": (lambda b: (b @ w(), w() @ b, b @ v(), v() @ b), (B,)),
    "matrix and constant": (lambda a: (a @ w(), w() @ a, a @ v(), v() @ a), (A,)),
    "vector and a stack": (lambda b: b @ xp.stack([w(), w() + 1]), (B,)),
    "vecdot": (lambda a, b: linalg.vecdot(a, b), (A, B)),
    "vecdot of complex": (lambda c, b: xp.vecdot(c, b), (C, B)),
    "cross": (lambda b: linalg.cross(b, v()), (B,)),
    "outer": (lambda b: (linalg.outer(b, v()), linalg.outer(v(), b), linalg.outer(b, b)), (B,)),
    "inverse": (lambda a: (linalg.inv(a), linalg.det(a)), (A,)),
    "solve": (lambda a, b: (linalg.solve(a, b), linalg.solve(w(), b), linalg.solve(a, v())), (A, B)),
    "solve matrices": (lambda a: (linalg.solve(a, w()), linalg.solve(w(), a)), (A,)),
    "cholesky": (lambda a: linalg.cholesky(a @ a.mT + xp.eye(3), upper=True), (A,)),
    "singular values": (lambda a: (linalg.svdvals(a), linalg.matrix_rank(a), linalg.pinv(a)), (A,)),
    "eigenvalues": (lambda a: (linalg.eigvalsh(a + a.mT), linalg.slogdet(a).logabsdet), (A,)),
    "eigenvalues of any matrix": (lambda a: xp.sort(xp.real(linalg.eigvals(a))), (A,)),
    "norms of matrices": (lambda a: (linalg.matrix_norm(a, ord=2), linalg.matrix_norm(a, ord=1)), (A,)),
    "factors": (lambda a: linalg.qr(a).Q @ linalg.qr(a).R, (A,)),
    "powers and norms": (lambda a: (linalg.matrix_power(a, 3), linalg.matrix_norm(a, keepdims=True)), (A,)),
    "trace": (lambda a: (linalg.trace(a), linalg.diagonal(a, offset=1), xp.tril(a), xp.triu(a, k=1)), (A,)),
    "transposed": (lambda a: (a.T, a.mT, xp.matrix_transpose(a)), (A,)),
    # shapes
    "reshape": (lambda a: (xp.reshape(a, (9,)), xp.reshape(a, (-1, 1)), xp.reshape(a, (1, 3, -1))), (A,)),
    "reshape a number": (lambda s: xp.reshape(s, (1, -1)), (S,)),
    "new axes": (lambda b: (xp.expand_dims(b, axis=0), xp.expand_dims(b, axis=-1), b[None], b[:, None]), (B,)),
    "new axes at two places": (lambda b: xp.expand_dims(b, axis=(0, -1)), (B,)),
    "squeeze": (lambda b: xp.squeeze(b[None, :, None], axis=(0, -1)), (B,)),
    "permuted": (lambda a: (xp.permute_dims(a, (1, 0)), xp.moveaxis(a, 0, -1)), (A,)),
    "flip": (lambda a: (xp.flip(a), xp.flip(a, axis=0), a[::-1, 1:]), (A,)),
    "roll": (lambda a: (xp.roll(a, 2), xp.roll(a, 1, axis=0), xp.roll(a, (1, 2), axis=(0, 1))), (A,)),
    "repeat": (lambda a: (xp.repeat(a, 2), xp.repeat(a, 2, axis=0)), (A,)),
    "repeat by an array": (lambda b: xp.repeat(b, xp.asarray([1, 0, 2])), (B,)),
    "tile": (lambda b: (xp.tile(b, (2,)), xp.tile(b, (2, 3)), xp.tile(b[None], (2,))), (B,)),
    "concat": (lambda a, b: (xp.concat([a, b[None]]), xp.concat([w(), a], axis=1)), (A, B)),
    "concat of all elements": (lambda a, b: xp.concat([a, b, v()], axis=None), (A, B)),
    "stack": (lambda b: (xp.stack([b, v()]), xp.stack([v(), b], axis=-1)), (B,)),
    "unstack": (lambda a: xp.unstack(a, axis=1)[1], (A,)),
    "iteration": (lambda b: [x * 2 for x in b], (B,)),
    "broadcast": (lambda b: (xp.broadcast_to(b, (2, 3)), xp.broadcast_to(b[:, None], (3, 2))), (B,)),
    "broadcast of several": (lambda b, s: xp.broadcast_arrays(b, s, w()), (B, S)),
    "like it": (lambda b: (xp.zeros_like(b), xp.ones_like(b, dtype=xp.int8), xp.full_like(b, 3)), (B,)),
    "full": (lambda s: xp.full((2, 2), s), (S,)),
    "astype": (lambda b: (xp.astype(b, xp.int32), xp.astype(b, xp.bool), xp.astype(b, xp.float64)), (B,)),
    # elements
    "by integers": (lambda a: (a[0], a[-1, 1], a[..., 2]), (A,)),
    "by slices": (lambda a: (a[1:], a[:, ::2], a[..., ::-1], a[1, 1:]), (A,)),
    "by an array": (lambda a: (a[xp.asarray([2, 0])], a[:, xp.asarray([[0, 1]])]), (A,)),
    "by an own array": (lambda b, i: (b[i], b[i[0]]), (B, I)),
    "rows by an own number": (lambda a, i: a[i[1]], (A, I)),
    "take": (lambda a, i: (xp.take(a, i, axis=1), xp.take(a, xp.asarray([2, 2]), axis=-1)), (A, I % 3)),
    "take of a vector": (lambda b, i: (xp.take(b, i), xp.take(v(), i)), (B, I % 3)),
    "take along": (lambda a: xp.take_along_axis(a, xp.argsort(a, axis=0), axis=0), (A,)),
    "writes": (lambda a, b: (written(a, 0, b), written(a, (slice(None), 1), 7), written(a, ..., b)), (A, B)),
    "writes numbers": (lambda b, s: (written(b, 1, s), written(b, slice(1, None), s)), (B, S)),
    "writes at an array": (lambda a, b: written(a, xp.asarray([2, 0]), b), (A, B)),
    "writes by a mask": (lambda b, s: (written(b, b > 0, 0.0), written(b, b < s, s)), (B, S)),
    "writes rounded": (lambda i, b: written(i, i > 0, b[0]), (I, B)),
    "searchsorted": (lambda b: xp.searchsorted(xp.sort(v()), b), (B,)),
    "isin": (lambda i: xp.isin(i, xp.asarray([0, 1])), (I,)),
    # Fourier transforms
    "fft": (lambda a: (fft.fft(a + 0j), fft.rfft(a, axis=0, n=4), fft.irfft(a + 0j)), (A,)),
    "fftn": (lambda a: (fft.fftn(a + 0j), fft.rfftn(a), fft.fftn(a + 0j, s=(2,), axes=(0,))), (A,)),
    "fftshift": (lambda a: (fft.fftshift(a), fft.ifftshift(a, axes=0)), (A,)),
    # what does not vary, and other transforms
    "constants": (lambda b: (1.5, v(), b.shape[0], b), (B,)),
    "nested": (lambda a, b: xp.vmap(lambda x, y: x * y + v())(a, b), (A, B)),
    "nested over one": (lambda a, b: xp.vmap(lambda x: x @ b)(a), (A, B)),
    "nested over a constant": (lambda b: xp.vmap(lambda x: x * b)(w()), (B,)),
    "nested, other axes": (lambda a: xp.vmap(xp.sort, in_axes=1, out_axes=1)(a), (A,)),
    "thrice": (lambda a, s: xp.vmap(xp.vmap(lambda x: x * s))(a), (A, S)),
    "linear algebra inside": (lambda a: xp.vmap(lambda x: linalg.outer(x, x) @ x)(a), (A,)),
    "compiled inside": (lambda b: xp.jit(lambda x: x * 2)(b), (B,)),
    "stopped": (lambda b: xp.stop_gradient(b) + 1, (B,)),
    "writes into a constant": (lambda b: written(xp.zeros(3), 0, b[0]), (B,)),
    "a constant at an own index": (lambda i: v()[i], (I,)),
}

ONE_BY_ONE: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "a branch": (lambda b: b if xp.sum(b) > 0 else -b, (B,)),
    "a branch behind a net": (lambda b: -b if is_positive_in_silence(b) else b, (B,)),
    "a number": (lambda b: b * float(b[0]), (B,)),
    "an ndarray": (lambda b: b + np.asarray(b), (B,)),
    "tensordot": (lambda a, b: xp.tensordot(a, b, axes=1), (A, B)),
    "meshgrid": (lambda b: xp.meshgrid(b, v())[0], (B,)),
    "integers beside an array": (lambda a: a[xp.asarray([0, 1]), 1], (A,)),
    "linspace": (lambda s: xp.linspace(0.0, s, 3), (S,)),
}


def is_positive_in_silence(x: xp.Array) -> bool:
    try:
        return bool(xp.sum(x) > 0)
    except Exception:  # noqa: BLE001 - what a careless caller does
        return False


def opened(name: str) -> Iterator[str]:
    """A block in which a library is chosen."""
    if name == "tf":
        pytest.importorskip("tensorflow")
    with testing.simulated() if name == "sim" else nullcontext(), xp.backend(name):
        yield name


@pytest.fixture(params=["numpy", "sim"])
def looping(request: pytest.FixtureRequest) -> Iterator[str]:
    """A library without a vmap of its own."""
    yield from opened(request.param)


@pytest.fixture(params=["numpy", "sim", "tf"])
def batching(request: pytest.FixtureRequest) -> Iterator[str]:
    """A library on which rules come first."""
    yield from opened(request.param)


def leaves(value: Any) -> list[Any]:
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (tuple, list)) else [value]


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[None]]:
    runs: list[None] = []

    def body(*args: Any) -> Any:
        runs.append(None)
        return function(*args)

    return body, runs


def rows_of(function: Callable[..., Any], hosts: tuple[Any, ...]) -> list[Any]:
    """What a loop over the elements gives, stacked."""
    rows = [leaves(function(*[xp.asarray(a[i]) for a in hosts])) for i in range(len(hosts[0]))]
    return [np.stack([np.asarray(xp.asarray(one)) for one in column]) for column in zip(*rows, strict=True)]


def assert_as_in_a_loop(function: Callable[..., Any], hosts: tuple[Any, ...]) -> int:
    """Compare with a loop over the elements; how often the mapped one ran."""
    body, runs = counted(function)
    found = leaves(xp.vmap(body)(*map(xp.asarray, hosts)))
    count = len(runs)
    for one, wanted in zip(found, rows_of(function, hosts), strict=True):
        assert_same(one, wanted, looser=10)
    return count


@pytest.mark.parametrize("what", AT_ONCE)
def test_a_function_runs_once_for_all_elements(what: str, batching: str) -> None:
    function, hosts = AT_ONCE[what]
    assert assert_as_in_a_loop(function, hosts) == 1


@pytest.mark.parametrize("what", ONE_BY_ONE)
def test_what_has_no_rule_runs_for_one_element_after_the_other(what: str, looping: str) -> None:
    function, hosts = ONE_BY_ONE[what]
    assert assert_as_in_a_loop(function, hosts) == 1 + len(hosts[0])


def assert_compiles_without_loops(
    function: Callable[..., Any], hosts: tuple[Any, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Compare `jit(vmap(function))` on TensorFlow with a loop.

    No graph of it may have one, and nothing be logged.
    """
    tf = pytest.importorskip("tensorflow")
    graphs: list[Any] = []

    def body(*args: Any) -> Any:
        graphs.append(tf.compat.v1.get_default_graph())
        return function(*args)

    with xp.backend("tf"):
        found = leaves(xp.jit(xp.vmap(body))(*map(xp.asarray, hosts)))
        for one, wanted in zip(found, rows_of(function, hosts), strict=True):
            assert_same(one, wanted, looser=100)  # XLA joins operations
    for graph in graphs:
        definition = graph.as_graph_def()
        nodes = [*definition.node, *(node for one in definition.library.function for node in one.node_def)]
        assert not [node.name for node in nodes if "While" in node.op]
    assert not caplog.records


@pytest.mark.sampled
@pytest.mark.parametrize("what", AT_ONCE)
def test_a_compiled_batch_on_tensorflow_has_no_loop(what: str, caplog: pytest.LogCaptureFixture) -> None:
    assert_compiles_without_loops(*AT_ONCE[what], caplog)


def cubes(x: xp.Array) -> xp.Array:
    return xp.sum(x**3)


def mixed(x: xp.Array) -> xp.Array:
    return w() @ x * xp.max(x)


def with_more(x: xp.Array) -> tuple[xp.Array, tuple[Any, ...]]:
    return cubes(x), (x * 2, xp.argmax(x), v(), 3)


def mixed_with_more(x: xp.Array) -> tuple[xp.Array, tuple[Any, ...]]:
    return mixed(x), with_more(x)[1]


DERIVATIVES: Final[dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "grad": (xp.grad(cubes), (B,)),
    "value and grad": (xp.value_and_grad(cubes), (B,)),
    "grad with more": (xp.grad(with_more, has_aux=True), (B,)),
    "value and grad with more": (xp.value_and_grad(with_more, has_aux=True), (B,)),
    "vmap of value and grad with more": (xp.vmap(xp.value_and_grad(with_more, has_aux=True)), (A,)),
    "grad by a part": (lambda b, i: xp.grad(lambda p: xp.sum(p[0] ** 3 * p[1][0] * p[2]))((b, i, 2))[0], (B, I)),
    "grad by two": (xp.grad(lambda s, b: xp.sum(s * b**2), argnums=(0, 1)), (S, B)),
    "grad by what is the same for all": (lambda b: xp.grad(lambda x: xp.sum(x**2 * b))(v()), (B,)),
    "grad of what is the same for all": (lambda b: xp.grad(cubes)(v()) + b, (B,)),
    "grad of a constant": (xp.grad(lambda b: xp.asarray(1.0)), (B,)),
    "grad of a norm": (xp.grad(linalg.vector_norm), (B,)),
    "grad of a norm of matrices": (xp.grad(linalg.matrix_norm), (A,)),
    "grad of a determinant": (xp.grad(linalg.det), (A,)),
    "grad of an inverse": (xp.grad(lambda a: xp.sum(linalg.inv(a) ** 2)), (A,)),
    "grad of singular values": (xp.grad(lambda a: xp.sum(linalg.svdvals(a))), (A,)),
    "grad of a maximum": (xp.grad(lambda b: xp.sum(xp.maximum(b, 0.0) * b)), (B,)),
    "grad of a sort": (xp.grad(lambda b: xp.sum(xp.sort(b) * v())), (B,)),
    "grad of writes": (xp.grad(lambda b: cubes(written(b, 0, b[1]))), (B,)),
    "grad of elements": (xp.grad(lambda b: b[0] * b[-1] + cubes(b[1:])), (B,)),
    "grad of products": (xp.grad(lambda b: xp.prod(b) + xp.sum(xp.cumulative_prod(b))), (B,)),
    "grad of what is stopped": (xp.grad(lambda b: xp.sum(xp.stop_gradient(b) * b)), (B,)),
    "grad of a compiled function": (xp.grad(xp.jit(cubes)), (B,)),
    "second": (xp.grad(lambda b: xp.sum(xp.grad(cubes)(b) ** 2)), (B,)),
    "grad of vmap": (xp.grad(lambda a: xp.sum(xp.vmap(cubes)(a) * v())), (A,)),
    "vmap of grad": (xp.vmap(xp.grad(cubes)), (A,)),
    "vmap of grad with what is outside": (
        lambda a, b: xp.vmap(xp.grad(lambda x: xp.sum(x**2 * b)))(a), (A, B)),
    "jacobian": (xp.jacobian(mixed), (B,)),
    "jacobian in forward mode": (xp.jacobian(mixed, mode="forward"), (B,)),
    "jacobian with more": (xp.jacobian(mixed_with_more, has_aux=True), (B,)),
    "jacobian with more in forward mode": (xp.jacobian(mixed_with_more, mode="forward", has_aux=True), (B,)),
    "jacobian of a number": (xp.jacobian(cubes), (B,)),
    "jacobian by a number": (xp.jacobian(lambda s: s * v(), mode="forward"), (S,)),
    "jacobian of many": (xp.jacobian(lambda b: xp.tile(b**2, (30,))), (B,)),
    "jacobian of many in forward mode": (xp.jacobian(lambda b: xp.tile(b**2, (30,)), mode="forward"), (B,)),
    "jacobian of matrices": (xp.jacobian(lambda a: a @ w()), (A,)),
    "jacobian of matrices in forward mode": (xp.jacobian(lambda a: a @ w(), mode="forward"), (A,)),
    "vmap of jacobian": (xp.vmap(xp.jacobian(mixed)), (A,)),
    "hessian": (xp.jacobian(xp.grad(cubes)), (B,)),
    "hessian by both modes": (xp.jacobian(xp.jacobian(cubes), mode="forward"), (B,)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("what", DERIVATIVES)
def test_derivatives_of_all_elements_are_those_of_each(
    what: str, differentiating: xp.Backend, jits: list[Callable[[Any], Any]]
) -> None:
    function, hosts = DERIVATIVES[what]
    expected = rows_of(jits[0](function), hosts)
    for jit in jits:
        found = leaves(jit(xp.vmap(function))(*map(xp.asarray, hosts)))
        for one, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.asarray(one), wanted, rtol=1e-9, atol=1e-9)  # other orders of sums


@pytest.mark.sampled
@pytest.mark.parametrize("what", DERIVATIVES)
def test_derivatives_on_tensorflow_take_no_loop(what: str, caplog: pytest.LogCaptureFixture) -> None:
    assert_compiles_without_loops(*DERIVATIVES[what], caplog)


def test_what_has_no_rule_is_mapped_in_silence_on_tensorflow(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("tensorflow")
    with xp.backend("tf"):
        for function, hosts in (ONE_BY_ONE[what] for what in ("tensordot", "meshgrid", "integers beside an array")):
            found = leaves(xp.vmap(function)(*map(xp.asarray, hosts)))
            for one, wanted in zip(found, rows_of(function, hosts), strict=True):
                assert_same(one, wanted, looser=10)
    assert not caplog.records


@pytest.mark.sampled
@pytest.mark.parametrize("what", AT_ONCE)
def test_a_batch_is_what_jax_makes_of_it(what: str) -> None:
    pytest.importorskip("jax")
    function, hosts = AT_ONCE[what]
    mapped = xp.vmap(function)
    if what != "repeat by an array":  # of which JAX's jit does not know the length
        mapped = xp.jit(mapped)
    found = []
    for name in ("numpy", "jax"):
        with xp.backend(name):
            found.append(leaves(mapped(*map(xp.asarray, hosts))))
    for ours, theirs in zip(*found, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6, atol=1e-6)  # some are float16


@each("what", [*AT_ONCE, *ONE_BY_ONE])
def test_an_empty_axis_gives_the_shapes_and_dtypes_of_a_full_one(what: str, looping: str) -> None:
    function, hosts = (AT_ONCE | ONE_BY_ONE)[what]
    full = leaves(xp.vmap(function)(*map(xp.asarray, hosts)))
    empty = leaves(xp.vmap(function)(*[xp.asarray(a[:0]) for a in hosts]))
    assert [(x.shape, x.dtype) for x in empty] == [((0, *x.shape[1:]), x.dtype) for x in full]


def test_an_error_of_the_function_is_that_of_an_element(batching: str) -> None:
    with pytest.raises(
        ValueError, match=r"^add: x1 of shape \(3,\) and x2 of shape \(2,\) cannot be broadcast together$"
    ):
        xp.vmap(lambda b: b + xp.ones(2))(xp.asarray(B))
    with pytest.raises(
        IndexError, match=r"^sum: axis 1 is out of bounds for array of dimension 1, must be between -1 and 0$"
    ):
        xp.vmap(lambda b: xp.sum(b, axis=1))(xp.asarray(B))
    with pytest.raises(ValueError, match=r"^inv: x must be \(\.\.\., n, n\), not shape \(3,\)$"):
        xp.vmap(linalg.inv)(xp.asarray(B[:3]))


@each(
    "use",
    [xp.exp, lambda x: x + 1, lambda x: xp.ones(3) + x, lambda x: x[0], float, bool, np.asarray, lambda x: x.tolist(),
     lambda x: xp.vmap(xp.sum)(x), lambda x: xp.jit(xp.exp)(x)],
)  # fmt: skip
def test_an_array_that_outlives_its_batch_is_refused(use: Callable[[Any], Any], batching: str) -> None:
    kept: list[xp.Array] = []

    def leaking(x: xp.Array) -> xp.Array:
        kept.append(x[0, 0] if use in (float, bool) else x * 2)
        return x

    xp.vmap(leaking)(xp.asarray(A))
    with pytest.raises(
        xp.TraceError,
        match=r"^\w+: an Array outlived the jit, grad or vmap in which it was made, and has no value\. "
        r"Return it from the transformed function$",
    ):
        use(kept[0])


def test_a_batch_shares_no_memory_with_what_was_handed_in() -> None:
    mine = B.copy()
    same, part, repeated = xp.vmap(lambda x: (x, x[:2], xp.asarray(1.0)))(mine)
    mine[:] = 0
    assert_same(same, B)
    assert_same(part, B[:, :2])
    repeated[0] = 2.0
    assert repeated.tolist() == [2.0, 1.0, 1.0, 1.0]


def test_any_axis_is_mapped_and_any_is_that_of_the_results(batching: str) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert_same(xp.vmap(lambda a: a * 2, in_axes=2, out_axes=1)(xp.asarray(x)), np.moveaxis(x * 2, 2, 1))


def test_a_write_inside_stays_inside(batching: str) -> None:
    x = xp.asarray(B)

    def cleared(row: xp.Array) -> xp.Array:
        row[0] = 0.0
        row += 1
        return row

    expected = B + 1
    expected[:, 0] = 1
    assert_same(xp.vmap(cleared)(x), expected)
    assert_same(x, B)


def test_an_element_shows_its_own_shape(batching: str) -> None:
    seen: list[Any] = []

    def look(x: xp.Array) -> xp.Array:
        seen.append((x.shape, x.ndim, x.size, len(x), x.dtype, x.device.library))
        assert repr(x).startswith("Array(<traced, shape=(3, 3)>, dtype=float64, device=")
        return x

    xp.vmap(look)(xp.asarray(A))
    assert seen == [((3, 3), 2, 9, 3, xp.float64, batching)]
