"""Elementwise calls that are recorded inside `fused()`, on every backend."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import pytest
from expressions import several

import anyarray as xp
from anyarray._base.extension import speedups
from anyarray._choice import cost, machine
from anyarray._choice.law import Law
from anyarray._lazy import compiler, recording

pytestmark = pytest.mark.skipif(speedups is None, reason="chains are compiled")

MANY = 1 << 15
VALUES = np.linspace(-3, 3, MANY)
TOLERANCE = {"float64": 1e-13, "float32": 1e-5, "complex128": 1e-13}
"""Compilers contract products and sums, and have exponentials of their own."""


@pytest.fixture(autouse=True)
def fused(backend: xp.Backend) -> Iterator[None]:
    with xp.fused():
        yield
    gc.collect()
    assert not any(map(is_lazy, gc.get_objects()))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains are compiled when they first run."""
    monkeypatch.setattr(compiler, "PATIENCE", 0.0)


@pytest.fixture
def few() -> Iterator[None]:
    """Calls of two elements are recorded, too."""
    before = speedups.record_from(2)
    yield
    speedups.record_from(before)


def is_lazy(value: Any) -> bool:
    """Whether this is a recorded call that is not computed."""
    return type(value) is recording.Lazy and not value.is_computed


def is_pending(x: Any) -> bool:
    """Whether the values of an Array are not computed yet."""
    return is_lazy(x._value)


def can_wait(backend: xp.Backend) -> bool:
    return backend.library == "numpy" or backend.has_hook("jit") or backend.has_hook("fused")


def of_values() -> Any:
    return xp.asarray(VALUES) + 0


def close(found: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    found = np.asarray(found)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = TOLERANCE.get(str(expected.dtype), 0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_calls_are_recorded_until_a_value_is_read(backend: xp.Backend) -> None:
    y = 1 / (1 + xp.exp(-of_values()))
    assert is_pending(y) == can_wait(backend)
    assert y.shape == (MANY,)
    assert y.dtype == xp.float64
    assert (y.ndim, y.size, len(y)) == (1, MANY, MANY)
    assert y.device == backend
    assert is_pending(y) == can_wait(backend)
    assert abs(float(y[7]) - 1 / (1 + np.exp(-VALUES[7]))) < 1e-15
    assert not is_pending(y)


EXPRESSIONS: Final = """
1 / (1 + m.exp(-x)); ((x * 0.1 + 0.3) * x - 2.0) * x + 1.0; m.where(x * x + y * y < 4, x, y * 2)
(x - m.mean(x)) / m.std(x); m.where(x > 0, 1.5, 0.0) + y; m.clip(x, -1, 1) - m.clip(y, 0.5, 2.5)
x**2 + y**3 + abs(x) ** 0.5 + y**-1 + y**1.7
(x.astype("float32") * 2 + y.astype("int32")).astype("float32"); (x > 0) & ~(y > 2) | (x < -2)
m.reshape(x, (-1, 128)) * 2 - m.mean(m.reshape(y, (-1, 128)), axis=0) + 1; (x + y) * (x + y) - (x + y)
m.sin(x) * m.tanh(y) + m.sqrt(m.abs(x)) - m.log(y) + m.hypot(x, m.sign(y)); (x * 10).astype("int64") // 3 % 5 + 7
(x * 10).astype("int64") * 1.5 + (y > 2) * 2
"""


@pytest.mark.parametrize("when", ["at_once", "later"])
def test_values_are_those_of_single_calls_to_rounding(
    when: str, request: pytest.FixtureRequest, share: Callable[[Any], list[Any]]
) -> None:
    expressions = several(EXPRESSIONS)
    if when == "at_once":
        request.getfixturevalue("at_once")
    other = np.cos(VALUES) + 2
    for expression in expressions if when == "at_once" else share(expressions):
        for _ in range(3):
            found = eval(expression, {"m": xp, "x": of_values(), "y": xp.asarray(other)})
            close(found, eval(expression, {"m": np, "x": VALUES, "y": other}))


def test_an_intermediate_that_has_a_name_is_computed_with_the_chain(at_once: None, backend: xp.Backend) -> None:
    e = xp.exp(of_values())
    y = e * 2
    assert is_pending(e) == can_wait(backend)
    close(y, np.exp(VALUES) * 2)
    assert not is_pending(e)
    close(e, np.exp(VALUES))


def test_a_recorded_call_leaves_others_that_read_the_same_array_recorded(backend: xp.Backend) -> None:
    x = of_values()
    float(x[0])
    y, z = x * 2, x * 3
    assert is_pending(y) == is_pending(z) == can_wait(backend)
    close(y + z, VALUES * 5)


def test_what_nobody_needs_is_never_computed() -> None:
    x = of_values()
    float(x[0])
    y = x + 1
    value = y._value
    del y
    assert getattr(value, "value", None) is None
    del value


def test_a_long_chain_is_computed_on_the_way() -> None:
    x = of_values()
    for _ in range(200):
        x = x + 1
    close(x, VALUES + 200)


def test_a_write_does_not_reach_what_was_recorded_before_it() -> None:
    x = of_values()
    float(x[0])
    y, z = x * 2, x[: MANY // 2]
    x[0] = 9
    w = x * 3
    z[1] = 8
    x += 1
    close(y, VALUES * 2)
    expected = VALUES.copy()
    expected[0] = 9
    close(w, expected * 3)
    expected[1] = 8
    close(x, expected + 1)


def test_a_write_to_what_was_computed_does_not_reach_a_recorded_call() -> None:
    for reads_again in (False, True):
        y = of_values() * 2
        z = y + 1
        float(y[0])  # computes it, but not what reads it
        w = y * 3 if reads_again else None
        y[0] = 100
        close(z, VALUES * 2 + 1)
        if w is not None:
            close(w, VALUES * 6)


def test_an_update_in_place_is_recorded(backend: xp.Backend) -> None:
    x = of_values() * 1
    same = x
    x += 2
    x *= x
    assert x is same
    assert is_pending(x) == can_wait(backend)
    close(x, (VALUES + 2) ** 2)


def test_calls_that_the_automatic_choice_keeps_on_a_backend_are_recorded(backend: xp.Backend) -> None:
    slow, fast = (cost.Costs({"arithmetic": Law(seconds)}) for seconds in (1.0, 1e-3))
    name, route = backend.name, cost.Route(Law(1e-3))
    try:
        machine.use(
            cost.Model({"numpy": slow, name: fast}, {("numpy", name): route, (name, "numpy"): route})
            if name != "numpy"
            else cost.Model({"numpy": fast}, {})
        )
        x = of_values()
        with xp.backend("auto"):
            for _ in range(3):  # a decision is kept that was made once
                y = x * 2 + 1
        assert is_pending(y) == can_wait(backend)
        assert y.device == backend
        close(y, VALUES * 2 + 1)
    finally:
        machine.forget()


def test_an_update_in_place_is_seen_in_views() -> None:
    x = of_values()
    part = x[5:]
    x += 2
    close(part, VALUES[5:] + 2)
    part *= 2
    close(x[5:], (VALUES[5:] + 2) * 2)


def test_an_error_of_arguments_comes_at_the_call() -> None:
    x = of_values()
    with pytest.raises((TypeError, ValueError), match=r"must|broadcast|shape"):
        x + xp.zeros(3)
    with pytest.raises((TypeError, ValueError), match=r"must|broadcast|shape"):
        x & 1


def test_two_threads_compute_a_value_once(monkeypatch: pytest.MonkeyPatch, backend: xp.Backend) -> None:
    if backend.library == "numpy":
        return
    runs: list[int] = []
    values = compiler.Compiler.values
    monkeypatch.setattr(compiler.Compiler, "values", lambda *given, **how: (runs.append(1), values(*given, **how))[1])
    y = xp.exp(of_values()) * 2
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(np.asarray, [y] * 4))
    assert len(runs) == can_wait(backend)
    close(found[0], np.exp(VALUES) * 2)


def test_ctrl_c_leaves_a_chain_computable(monkeypatch: pytest.MonkeyPatch, backend: xp.Backend) -> None:
    y = xp.exp(of_values()) * 2
    if backend.library == "numpy" or not can_wait(backend):
        return

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(compiler.Compiler, "values", interrupted)
        with pytest.raises(KeyboardInterrupt):
            float(y[0])
    assert is_pending(y)
    close(y, np.exp(VALUES) * 2)


@pytest.mark.needs("derivatives")
def test_derivatives_see_plain_values() -> None:
    x = of_values()
    scale = xp.exp(of_values() * 0) * 3
    close(xp.grad(lambda x: xp.sum(scale * x * x))(x), 6 * VALUES)
    y = x * 2
    close(xp.grad(lambda y: xp.sum(y * y))(y), 4 * VALUES)


def test_transforms_compute_what_they_capture_outside(backend: xp.Backend) -> None:
    scale = xp.exp(of_values() * 0) * 3
    if backend.has_hook("jit"):
        close(xp.jit(lambda x: scale * x + 1)(of_values()), VALUES * 3 + 1)
    rows = xp.reshape(xp.asarray([1.0, 2.0]), (2, 1))
    close(xp.vmap(lambda row: scale * row)(rows), np.stack([np.full(MANY, 3.0), np.full(MANY, 6.0)]))
    close(scale * 2, np.full(MANY, 6.0))


def test_an_error_of_a_late_call_names_its_line(monkeypatch: pytest.MonkeyPatch, backend: xp.Backend) -> None:
    x = of_values()
    float(x[0])
    y = xp.exp(x)
    frame = inspect.currentframe()
    assert frame is not None
    where = f"exp was called at {__file__}:{frame.f_lineno - 3}"
    if backend.library == "numpy" or not can_wait(backend):
        return

    def failing(*_: Any) -> Any:
        raise ValueError("by chance")

    with monkeypatch.context() as patched:
        patched.setattr(compiler.devices, "tried", failing)
        with pytest.raises(ValueError, match="by chance") as caught:
            np.asarray(y)
    assert any(note.startswith(where) for note in caught.value.__notes__)
    del caught
    close(y, np.exp(VALUES))


def test_new_shapes_are_not_compiled_at_once_unless_calls_are(few: None, backend: xp.Backend) -> None:
    """Memory is bounded, however many shapes there are."""
    for length in range(2, 12):
        x = xp.asarray(VALUES[:length])
        close(x * 2 + 1, VALUES[:length] * 2 + 1)
    if can_wait(backend) and backend.library != "numpy":
        assert len(compiler.compilers[x._home]._known) <= compiler.MOST
