"""A program of a user, for the type checkers; it is never run."""
# pyright: strict

from __future__ import annotations

from types import ModuleType
from typing import Any, assert_type

import numpy as np

import anyarray as xp
import anyarray.numpy as anp
from anyarray import special as sc
from anyarray.typing import SVD, AnyArray, DTypeLike, FloatInfo, Shape


def creation() -> xp.Array:
    x = xp.linspace(0, 1, 5, dtype=xp.float32, device="numpy")
    assert_type(x, xp.Array)
    assert_type(xp.asarray([[1, 2], [3, 4]]), xp.Array)
    assert_type(xp.zeros((2, 3)), xp.Array)
    assert_type(xp.zeros_like(x, dtype=xp.int64), xp.Array)
    assert_type(xp.meshgrid(x, x, indexing="ij"), tuple[xp.Array, ...])
    return x


def functions(x: xp.Array) -> None:
    assert_type(xp.exp(x), xp.Array)
    assert_type(xp.add(x, 1), xp.Array)
    assert_type(xp.sum(x, axis=(0, 1), keepdims=True), xp.Array)
    assert_type(xp.where(x > 0, x, 0.0), xp.Array)
    assert_type(xp.reshape(x, (-1,)), xp.Array)
    assert_type(xp.concat([x, x], axis=None), xp.Array)
    assert_type(xp.astype(x, xp.complex64), xp.Array)
    assert_type(xp.unique_all(x).values, xp.Array)
    assert_type(xp.fft.rfft(x), xp.Array)
    assert_type(xp.linalg.svd(x).S, xp.Array)
    values, vectors = xp.linalg.eigh(x)
    assert_type(values, xp.Array)
    assert_type(vectors, xp.Array)


def methods(x: xp.Array) -> None:
    assert_type(x.sum(axis=0), xp.Array)
    assert_type(x.mean((0, 1), keepdims=True), xp.Array)
    assert_type(x.reshape(2, -1).T.astype(xp.float32), xp.Array)
    assert_type(x.reshape((2, 3), order="F"), xp.Array)
    assert_type(x.dot(x).round(2), xp.Array)
    assert_type(x.nonzero(), tuple[xp.Array, ...])
    assert_type(x.real, xp.Array)
    assert_type(x.strides, tuple[int, ...])
    assert_type(x.flags.c_contiguous, bool)
    assert_type(x.flat[0], xp.Array)
    assert_type(x.tobytes(), bytes)
    x.sort(axis=0)
    x.flat[::2] = 0
    x.shape = (3, 2)
    assert_type({x[0]: 1}, dict[xp.Array, int])


def native_arrays(host: np.ndarray[Any, Any], arrays: list[xp.Array]) -> None:
    assert_type(xp.exp(host), xp.Array)
    assert_type(xp.add(host, xp.ones(3)), xp.Array)
    assert_type(xp.concat([host, host]), xp.Array)
    assert_type(xp.stack((host, xp.ones(3))), xp.Array)
    assert_type(xp.concat(arrays), xp.Array)
    assert_type(xp.linalg.solve(host, host), xp.Array)


def ways_to_write(x: xp.Array) -> None:
    assert_type(xp.reshape(x, -1), xp.Array)
    assert_type(xp.reshape(x, [2, 3]), xp.Array)
    assert_type(xp.sum(x, axis=[0, 1]), xp.Array)
    assert_type(xp.zeros(3, dtype=np.float32), xp.Array)
    assert_type(xp.astype(x, "int8"), xp.Array)
    assert_type(xp.asarray([1], dtype=float), xp.Array)


def names_for_annotations(x: AnyArray, dtype: DTypeLike, shape: Shape) -> tuple[SVD, FloatInfo]:
    y = xp.reshape(xp.astype(x, dtype), shape)
    return xp.linalg.svd(y), xp.finfo(y)


def any_array(x: AnyArray, y: AnyArray) -> None:
    z = xp.exp(-x[0] + 2 * y.T) @ y
    assert_type(z, xp.Array)
    assert_type(xp.sum(x**2 / y), xp.Array)
    xp.where(x > 0, x, y)


def loss_of_any(w: AnyArray) -> xp.Array:
    return xp.sum(w**2)


def slopes_of_any(host: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    value, slope = xp.value_and_grad(loss_of_any)(host)
    assert_type(value, xp.Array)
    assert_type(slope, xp.Array)


def array_object(x: xp.Array) -> None:
    assert_type(x + 1, xp.Array)
    assert_type(1 / x, xp.Array)
    assert_type(x + np.ones(2), xp.Array)
    assert_type(x < np.ones(2), xp.Array)
    assert_type(x @ x, xp.Array)
    assert_type(x @ np.ones(2), xp.Array)
    assert_type(x == x, xp.Array)
    assert_type(-x, xp.Array)
    assert_type(x[0, ..., None, ::2], xp.Array)
    assert_type(x[x > 0], xp.Array)
    x[x > 0] = 0
    x[:, 0] = [1.0, 2.0]
    x += 2
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, xp.DType)
    assert_type(x.device, xp.Backend)
    assert_type(x.mT, xp.Array)
    assert_type(x.to_device("jax"), xp.Array)
    assert_type(float(x), float)
    assert_type(bool(x), bool)
    assert_type(len(x), int)
    assert_type(list(x), list[xp.Array])
    assert_type(x.__array_namespace__(api_version="2025.12"), ModuleType)
    assert_type(np.asarray(x), np.ndarray[tuple[Any, ...], np.dtype[Any]])


def dtypes(x: xp.Array) -> None:
    assert_type(xp.float64, xp.DType)
    assert_type(xp.result_type(x, xp.int8, 1.0), xp.DType)
    assert_type(xp.isdtype(x.dtype, "real floating"), bool)
    assert_type(xp.finfo(xp.float32).eps, float)
    assert_type(xp.iinfo(x).max, int)
    with xp.default_dtypes(float=xp.float32):
        assert_type(xp.ones(3), xp.Array)


@xp.backend("jax")
def decorated(x: xp.Array, *, scale: float) -> xp.Array:
    return x * scale


@xp.portable
def norm(v: Any, axis: int = -1) -> Any:
    return xp.linalg.vector_norm(v, axis=axis)


@xp.portable
def centred(x: xp.Array, axis: int = -1) -> xp.Array:
    return x - xp.mean(x, axis=axis, keepdims=True)


@xp.portable
def distance(x: xp.Array, y: AnyArray) -> xp.Array:
    return xp.linalg.vector_norm(x - y)


@xp.portable(convert=True)
def total(x: xp.Array, *, axis: int = -1) -> xp.Array:
    return xp.sum(x, axis=axis)


def kinds(host: np.ndarray[tuple[int, ...], np.dtype[np.float64]], x: xp.Array) -> None:
    assert_type(centred(host, axis=0), np.ndarray[tuple[int, ...], np.dtype[np.float64]])
    assert_type(centred(x), xp.Array)
    assert_type(total(host), np.ndarray[tuple[int, ...], np.dtype[np.float64]])
    assert_type(total([1.0, 2.0], axis=0), Any)
    assert_type(distance(host, host), np.ndarray[tuple[int, ...], np.dtype[np.float64]])
    assert_type(distance(x, host), xp.Array)
    centred(x=host, axis=0)
    centred(host, axes=0)  # type: ignore[call-overload]  # so a checker must say


class Layer:
    weights: xp.Array

    @xp.portable
    def applied(self, x: xp.Array, scale: float = 1.0) -> xp.Array:
        return x @ self.weights * scale

    @xp.portable(convert=True)
    def converted(self, x: xp.Array) -> xp.Array:
        return x @ self.weights


def kinds_of_methods(host: np.ndarray[tuple[int, ...], np.dtype[np.float64]], x: xp.Array, layer: Layer) -> None:
    assert_type(layer.applied(host, scale=2.0), np.ndarray[tuple[int, ...], np.dtype[np.float64]])
    assert_type(layer.applied(x), xp.Array)
    assert_type(Layer.applied(layer, x), xp.Array)
    assert_type(layer.converted(host), np.ndarray[tuple[int, ...], np.dtype[np.float64]])
    assert_type(layer.converted([1.0, 2.0]), Any)
    layer.applied(x=host)
    layer.applied(host, scale="1")  # type: ignore[call-overload]  # so a checker must say


def choice(x: xp.Array) -> None:
    with xp.backend("tf-gpu:1"):
        assert_type(xp.exp(x), xp.Array)
    assert_type(decorated(x, scale=2.0), xp.Array)
    assert_type(xp.device("numpy"), xp.Backend)
    assert_type(xp.backends()[0].version, str | None)
    assert_type(xp.from_native(np.ones(3)), xp.Array)
    info = xp.__array_namespace_info__()
    assert_type(info.default_dtypes()["integral"], xp.DType)


def loss(w: xp.Array, scale: float) -> xp.Array:
    return xp.sum(w**2) * scale


def loss_and_more(w: xp.Array) -> tuple[xp.Array, dict[str, xp.Array]]:
    return xp.sum(w), {"w": w}


def loss_of_tree(tree: dict[str, xp.Array]) -> xp.Array:
    return xp.sum(tree["w"])


def stepped(w: xp.Array, scale: float) -> xp.Array:
    return w - 0.1 * xp.grad(loss)(w, scale)


def transforms(x: xp.Array) -> None:
    assert_type(xp.jit(loss)(x, 2.0), xp.Array)
    value, _slopes = xp.value_and_grad(loss)(x, 2.0)
    assert_type(value, xp.Array)
    (value, more), _slopes = xp.value_and_grad(loss_and_more, has_aux=True)(x)
    assert_type(value, xp.Array)
    assert_type(more, dict[str, xp.Array])
    assert_type(xp.grad(loss)(x, 2.0), xp.Array)
    assert_type(xp.grad(loss, backend="jax")(x, scale=2.0), xp.Array)
    assert_type(xp.grad(loss, (0, 1))(x, 2.0), Any)
    assert_type(xp.grad(loss_of_tree)({"w": x}), dict[str, xp.Array])
    assert_type(xp.jacobian(stepped)(x, 2.0), xp.Array)
    assert_type(xp.grad(loss_and_more, has_aux=True)(x)[1], dict[str, xp.Array])
    assert_type(xp.jacobian(loss_and_more, 0, "forward", has_aux=True)(x)[1], dict[str, xp.Array])


def loops_and_branches(x: xp.Array) -> None:
    state = (x, {"turns": xp.asarray(0)})
    assert_type(xp.cond(x[0] > 1, lambda a, b: a + b, lambda a, b: a, x, x), xp.Array)
    xp.cond(True, lambda a: a, lambda a: a)  # type: ignore[arg-type, misc]  # so a checker must say: no operand
    assert_type(
        xp.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1]), state), tuple[xp.Array, dict[str, xp.Array]]
    )
    assert_type(xp.fori_loop(0, 3, lambda i, a: a + i, x), xp.Array)
    assert_type(xp.scan(lambda c, row: (c + row, c), xp.asarray(0.0), x), tuple[xp.Array, xp.Array])
    assert_type(xp.map(lambda row: xp.sum(row), x), xp.Array)
    assert_type(xp.associative_scan(xp.add, x), xp.Array)


def special_functions(x: xp.Array) -> None:
    assert_type(sc.erf(x), xp.Array)
    assert_type(sc.logsumexp(x, axis=0), xp.Array)
    assert_type(sc.logsumexp(x, return_sign=True), tuple[xp.Array, xp.Array])


def numpy_names(x: xp.Array) -> None:
    assert_type(anp.linspace(0, 1, 5), xp.Array)
    assert_type(anp.array([1.0]), xp.Array)
    assert_type(anp.add.reduce(x), xp.Array)
    assert_type(anp.fft.fft(x), xp.Array)
    assert_type(anp.pi, float)
    anp.not_a_name()  # type: ignore[attr-defined]  # so a checker must say
    anp.linspace(0, 1, nun=5)  # type: ignore[call-arg]  # so a checker must say
    anp.linalg.not_a_name()  # type: ignore[attr-defined]  # so a checker must say


def errors() -> None:
    try:
        xp.set_default_backend("jaxx")
    except xp.BackendNotFoundError as error:
        assert_type(error, xp.BackendNotFoundError)


def mistakes(x: xp.Array) -> None:
    xp.exp("1")  # type: ignore[arg-type]  # so a checker must say
    xp.exp([1.0])  # type: ignore[arg-type]  # so a checker must say
    xp.sum(x, keep=True)  # type: ignore[call-arg]  # so a checker must say
    xp.grad(loss, has_aux=True)  # type: ignore[call-overload]  # so a checker must say
    xp.expp(x)  # type: ignore[attr-defined]  # so a checker must say
