"""What only the JAX backend can get wrong, on native arrays.

That is its scope, donation, devices and traces.
"""

from __future__ import annotations

import importlib
import threading
import warnings
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

jax = pytest.importorskip("jax")
functions: Any = importlib.import_module("anyarray.backends.jax")
data_types: Any = importlib.import_module("anyarray.backends.jax.data_types")
elementwise: Any = importlib.import_module("anyarray.backends.jax.elementwise")
indexing: Any = importlib.import_module("anyarray.backends.jax.indexing")
hooks: Any = importlib.import_module("anyarray.backends.jax._hooks")
scope: Any = importlib.import_module("anyarray.backends.jax._scope")
seldom: Any = importlib.import_module("anyarray.backends.jax._seldom")

CPU = jax.local_devices(backend="cpu")[0]
FLOAT64 = np.dtype("float64")


def call(name: str, *args: Any, **options: Any) -> Any:
    return functions.scoped(getattr(functions, name), CPU)(*args, **options)


def native(values: Any) -> Any:
    return functions.from_numpy(np.asarray(values), CPU)


def scalar(value: Any) -> Any:
    return functions.scalar(value, FLOAT64, CPU)


def test_a_call_leaves_64_bits_as_they_were() -> None:
    before = jax.config.jax_enable_x64
    assert call("add", native([1.0]), native([2.0])).dtype == FLOAT64
    with pytest.raises(TypeError):
        call("less", native([1j]), native([1j]))
    assert jax.config.jax_enable_x64 == before


def test_a_call_leaves_64_bits_of_other_threads() -> None:
    seen: list[bool] = []

    def look() -> float:
        thread = threading.Thread(target=lambda: seen.append(jax.config.jax_enable_x64))
        thread.start()
        thread.join()
        return 0.0

    functions.scoped(look, CPU)()
    assert seen == [jax.config.jax_enable_x64]


def test_a_scalar_made_inside_a_trace_is_concrete() -> None:
    kept = []

    def function(x: Any) -> Any:
        kept.append(scalar(2.0))
        return call("add", x, kept[0])

    jax.jit(function)(native([1.0]))
    assert float(kept[0]) == 2.0


@pytest.fixture(params=["rare", "frequent"])
def frequency(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a compiled function converts ndarrays."""
    if request.param == "frequent":
        monkeypatch.setattr(hooks, "is_rare", lambda key, microseconds: False)


@pytest.mark.usefixtures("frequency")
@pytest.mark.parametrize("size", [0, 3, 200_000])
def test_from_numpy_shares_nothing_with_its_source(size: int) -> None:
    room = np.empty(size * 8 + 64, np.uint8)
    aligned = room[-room.ctypes.data % 64 :][: size * 8].view(np.float64)
    aligned[...] = 1
    x = functions.from_numpy(aligned, CPU)
    aligned[...] = 99
    assert (np.asarray(x) == 1).all()


@pytest.mark.usefixtures("frequency")
@each(
    "source",
    [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6.0)[::-2], np.arange(3, dtype=">i4"), np.array(2.5),
     np.zeros((0, 2), np.float16), np.ones(3, jax.numpy.bfloat16)],
)  # fmt: skip
def test_from_numpy_takes_every_layout(source: np.ndarray) -> None:
    x = functions.from_numpy(source, CPU)
    assert x.dtype == source.dtype.newbyteorder("=")
    np.testing.assert_array_equal(np.asarray(x), source)


KEYS = [0, slice(1, 5), slice(None, None, -2), np.array([0, 2]), np.arange(8) % 2 == 0]


@pytest.mark.parametrize("key", KEYS, ids=["int", "slice", "step", "array", "mask"])
@pytest.mark.parametrize("handle", ["numpy", "dlpack"])
def test_a_donated_update_leaves_memory_that_others_see(key: Any, handle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # another thread might read meanwhile
    many = np.arange(20_000.0)
    if isinstance(key, np.ndarray) and key.dtype == bool:
        key = np.resize(key, many.shape)
    x = call("multiply", native(many), scalar(1.0))
    view = np.asarray(x) if handle == "numpy" else np.from_dlpack(x)
    expected = many.copy()
    expected[key] = 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = call("setitem", x, native(key) if isinstance(key, np.ndarray) else key, scalar(7.0), True)
    np.testing.assert_array_equal(np.asarray(y), expected)
    np.testing.assert_array_equal(view, many)


def test_a_donated_update_reuses_memory_that_nobody_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # another thread might read meanwhile
    x = call("zeros", (20_000,), dtype=FLOAT64, device=CPU)
    place = x.unsafe_buffer_pointer()
    for i in range(3):
        x = call("setitem", x, i, scalar(7.0), True)
    assert x.unsafe_buffer_pointer() == place


def test_an_update_waits_for_operations_in_flight() -> None:
    x = call("multiply", native(np.ones(1_000_000)), scalar(1.0))
    running = x
    for _ in range(20):
        running = call("sin", running)
    expected = x
    for _ in range(20):
        expected = jax.numpy.sin(expected) if jax.config.jax_enable_x64 else call("sin", expected)
    expected = np.array(expected)
    call("setitem", x, slice(None), scalar(1e9), True).block_until_ready()
    np.testing.assert_array_equal(np.asarray(running), expected)


def test_indices_do_not_compile_anew() -> None:
    x = native(np.arange(100.0))
    call("getitem", x, 0)
    before = indexing._read._cache_size()
    for i in range(1, 50):
        assert float(call("getitem", x, i)) == i
    # The first element starts at 0 as much as the others do: one compiled function serves all.
    assert indexing._read._cache_size() == before


def test_what_is_written_by_a_mask_does_not_compile_anew() -> None:
    x = native(np.zeros(9))
    before = data_types._converted.__wrapped__._cache_size()
    for n in range(1, 9):
        x = indexing.setitem(x, native(np.arange(9) < n), native(np.full(n, float(n))), False)
    assert x.tolist() == [8.0] * 8 + [0.0]
    assert data_types._converted.__wrapped__._cache_size() == before


COMPILED: Final[list[str]] = []
"""A name for each time that XLA compiled."""
jax.monitoring.register_event_duration_secs_listener(
    lambda name, _, **__: COMPILED.append(name) if name.endswith("backend_compile_duration") else None
)
VARYING: Final[dict[str, tuple[Any, int]]] = {
    "add": (lambda xp, x: xp.add(x, x), 3),
    "two dtypes": (lambda xp, x: xp.multiply(x, xp.astype(x, xp.float32)), 5),
    "a number": (lambda xp, x: xp.divide(x, 3.0), 7),
    "where": (lambda xp, x: xp.where(x > 5, x, xp.square(x)), 11),
    "cast": (lambda xp, x: xp.astype(x, xp.int32), 13),
    "cube": (lambda xp, x: x**3, 17),
    "sum": (lambda xp, x: xp.sum(x), 19),
    "any": (lambda xp, x: xp.any(x > 0), 23),
    "max": (lambda xp, x: xp.max(x), 29),
    "count": (lambda xp, x: xp.count_nonzero(x), 31),
    "concat": (lambda xp, x: xp.concat([x, x]), 37),
}
"""Functions of whole numbers, which are exact, and a number to begin their lengths with."""


@pytest.mark.parametrize("function", VARYING)
def test_lengths_that_vary_are_not_compiled_for(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, first = VARYING[function]
    for counted in ("_lengths", "_spent"):  # without those of other tests in this process
        monkeypatch.setattr(seldom, counted, {})
    jax.clear_caches()
    before = len(COMPILED)
    with xp.backend("jax-cpu"):
        for n in range(200 + first, 240 + first):
            x = np.arange(float(n))
            found, expected = np.asarray(call(xp, xp.asarray(x))), np.asarray(call(np, x))
            assert found.dtype == expected.dtype
            assert found.tolist() == expected.tolist()
    assert before < len(COMPILED) < before + 35  # of some functions, the first lengths and the power of two


def test_a_length_that_recurs_is_compiled_for() -> None:
    with xp.backend("jax-cpu"):
        for n in range(1000, 1010):
            xp.exp(xp.ones(n))
        x = xp.ones(1005)
        before = elementwise.exp._cache_size()
        for _ in range(seldom.COMPILATION // seldom._CALL + 1):
            xp.exp(x)
        assert elementwise.exp._cache_size() == before + 1


def test_rare_lengths_are_traced_and_differentiated() -> None:
    for n in range(300, 306):
        x = jax.numpy.arange(n, dtype=jax.numpy.float32)
        assert float(jax.jit(lambda x: xp.to_native(xp.sum(xp.from_native(x) * 2)))(x)) == n * (n - 1)
        slope = jax.grad(lambda x: xp.to_native(xp.sum(xp.square(xp.from_native(x)))))(x)
        assert slope.tolist() == (2 * x).tolist()


def test_an_error_of_a_rare_length_names_no_other_cause() -> None:
    with xp.backend("jax-cpu"):
        for n in range(500, 510):
            xp.add(xp.ones(n), xp.ones(n))
        with pytest.raises(ValueError, match="broadcast"):
            xp.add(xp.ones(511), xp.ones(512))
        with pytest.raises(TypeError):
            xp.bitwise_and(xp.ones(513), xp.ones(513))


@each("key", [..., (), slice(None), (slice(0, 2), slice(None, 9)), (..., slice(None))])
def test_the_whole_of_an_array_is_no_copy(key: Any) -> None:
    x = native(np.ones((2, 3)))
    assert indexing.getitem(x, key) is x
    assert indexing.getitem(x, slice(None, None, -1)) is not x
    assert call("reshape", x, (2, 3)) is x


def test_a_mask_is_refused_in_a_trace_unless_it_is_filled_with_a_scalar() -> None:
    x = native([1.0, 2.0, 3.0])
    with pytest.raises(NotImplementedError, match=r"x\[mask\]: the shape of the result depends on values"):
        jax.jit(lambda x: call("getitem", x, call("less", x, scalar(2.0))))(x)
    filled = jax.jit(lambda x: call("setitem", x, call("less", x, scalar(2.0)), scalar(0.0), False))(x)
    np.testing.assert_array_equal(np.asarray(filled), [0.0, 2.0, 3.0])


def test_functions_for_options_that_never_come_back_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope._Variants, "MOST", 4)
    broadcast_to = functions.scoped(functions.broadcast_to, CPU)
    for length in range(10):
        assert broadcast_to(native([1.0]), (length, 1)).shape == (length, 1)
    (variants,) = [v for v in broadcast_to.__globals__.values() if isinstance(v, scope._Variants)]
    assert len(variants) <= 4
