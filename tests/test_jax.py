"""What JAX's users do with Arrays: transforms, trees, devices.

Also, what of JAX must not be seen.
"""

from __future__ import annotations

import copy
import importlib
import json
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anyarray as xp

jax = pytest.importorskip("jax", reason="these tests are about JAX")
jnp = jax.numpy


def on_jax(values: Any, dtype: Any = None) -> xp.Array:
    return xp.asarray(values, dtype=dtype, device="jax")


def test_functions_and_operators_take_the_arrays_of_each_other() -> None:
    for y, values in ((xp.exp(jnp.zeros(2)), [1.0, 1.0]), (on_jax([1.0]) + jnp.ones(1), [2.0])):
        assert (type(y), y.device, y.tolist()) == (xp.Array, xp.device("jax"), values)
    assert jnp.exp(on_jax([0.0], xp.float32)).tolist() == [1.0]


def test_a_float64_array_of_jax_stays_one() -> None:
    with jax.enable_x64(True):
        native = jnp.asarray([0.1])
    y = xp.asarray(native) + 1
    assert (y.dtype, y.tolist()) == (xp.float64, [1.1])


@pytest.mark.parametrize(
    "function", [xp.sum, xp.mean, lambda x: x @ x, lambda x: x + 1, lambda x: xp.where(x > 0, x, 0.0)]
)
def test_64_bits_are_exact_outside_any_trace(function: Callable[[xp.Array], xp.Array]) -> None:
    a = np.asarray([0.1, 1 / 3, 1e-9])
    np.testing.assert_allclose(np.asarray(function(on_jax(a))), np.asarray(function(xp.asarray(a))), rtol=1e-15)


FEW, MANY = 3, 20_000
"""Elements; from some thousands on an assignment takes over the memory of an array that is alone."""


@pytest.mark.parametrize("is_first", [True, False])
def test_jax_knows_the_arrays_of_numpy_that_are_made_when_it_is_imported(
    forked: Callable[..., str], is_first: bool
) -> None:
    program = f"""
        import sys
        import jax
        if not {is_first}:
            del sys.modules["jax"]  # as if anyarray were imported before it
        import anyarray as xp
        from anyarray._registry import registry
        sys.modules["jax"] = jax
        x = xp.ones(2, dtype=xp.float32)
        print([str(one) for one in registry.loaded_backends()], x.device)
        print(jax.numpy.negative(x).tolist(), jax.jit(lambda a: a * 2)(x).tolist(), len(jax.tree.leaves(dict(a=x))))
    """
    assert forked(program).splitlines() == ["['numpy'] numpy", "[-1.0, -1.0] [2.0, 2.0] 1"]


def test_a_jax_that_does_not_work_is_no_hindrance(run_python: Callable[..., str]) -> None:
    program = """
        import sys, types
        import anyarray as xp

        sys.modules["jax"] = types.ModuleType("jax")
        x = xp.ones(2)
        try:
            xp.device("jax")
        except Exception:
            print("refused", x.tolist(), xp.zeros(1).tolist())
    """
    assert run_python(program).split("\n")[0] == "refused [1.0, 1.0] [0.0]"


def test_bringing_values_over_compiles_nothing(forked: Callable[..., str]) -> None:
    program = """
        import jax, numpy as np
        import anyarray as xp

        x = xp.asarray(np.arange(6.0), device="jax")
        mask = x > 0
        compiled = []
        jax.monitoring.register_event_duration_secs_listener(
            lambda event, *rest, **names: compiled.append(event) if event.endswith("backend_compile_duration") else None
        )
        y = xp.asarray(np.ones((3, 7)), device="jax")
        z = xp.asarray(np.ones(100_000), device="jax")
        selected = x[mask]
        print(len(compiled), selected.tolist(), float(y[0, 0]))
        compiled.clear()
        for _ in range(2000):
            y = xp.asarray(np.ones((3, 7)), device="jax")  # from some hundred times on, compiling pays
        print(len(compiled) <= 1, y.shape, [xp.to_native(one).committed for one in (x, y, z)])
    """
    assert forked(program).splitlines() == ["0 [1.0, 2.0, 3.0, 4.0, 5.0] 1.0", "True (3, 7) [False, False, False]"]


def test_indexing_by_lengths_that_vary_compiles_nothing(forked: Callable[..., str]) -> None:
    text = """
        import jax
        import numpy as np
        import anyarray as xp

        compiled = []
        jax.monitoring.register_event_duration_secs_listener(
            lambda event, *rest, **names: compiled.append(event) if event.endswith("backend_compile_duration") else None
        )
        x = xp.asarray(np.arange(100.0), device="jax")
        expected = np.arange(100.0)
        ones = [xp.asarray(np.ones(n), device="jax") for n in range(1, 30)]
        indices = [xp.asarray(np.arange(n)[::-1].copy(), device="jax") for n in range(1, 30)]
        compiled.clear()
        for n, (one, index) in enumerate(zip(ones, indices), 1):
            x[n : 3 * n : 2] = one
            x[index] = x[index]
            expected[n : 3 * n : 2] = 1
            expected[np.arange(n)[::-1]] = expected[np.arange(n)[::-1]]
            assert x[n:].tolist() == expected[n:].tolist()
        print(len(compiled), x.tolist() == expected.tolist())
        compiled.clear()
        for _ in range(1000):
            y = x[3:40]  # from some hundred times on, compiling pays
        print(len(compiled) >= 1, y.tolist() == expected[3:40].tolist())
    """
    assert forked(text).split() == ["0", "True", "True", "True"]


@pytest.mark.parametrize("size", [FEW, MANY])
def test_the_other_elements_of_an_assignment_keep_64_bits(size: int) -> None:
    x = on_jax([0.1] * size)
    x[0] = 0.3
    assert x.tolist() == [0.3] + [0.1] * (size - 1)


def test_many_elements_are_written_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # another thread might read meanwhile
    x = on_jax(np.zeros(MANY)) + 1
    x[5] = 1.0  # copies: from now on the memory is known to be the Array's own
    part = on_jax([8.0, 9.0])
    for _ in range(1000):  # from some hundred times on it is compiled
        x[1:3] = part
    before = x._native.unsafe_buffer_pointer()
    x[0] = 7.0
    x[1:3] = part
    assert x._native.unsafe_buffer_pointer() == before
    assert x[:4].tolist() == [7.0, 8.0, 9.0, 1.0]


def test_memory_is_not_taken_over_beside_another_thread() -> None:
    x = on_jax(np.zeros(MANY)) + 1
    x[5] = 1.0
    before = x._native.unsafe_buffer_pointer()
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    try:
        x[0] = 7.0
    finally:
        is_over.set()
        thread.join()
    assert x._native.unsafe_buffer_pointer() != before
    assert x[:2].tolist() == [7.0, 1.0]


@pytest.mark.parametrize(
    "hand_out",
    [
        lambda x: jax.device_put(x, jax.devices()[0]),
        lambda x: jax.device_put({"x": x})["x"],
        lambda x: jax.device_put(xp.to_native(x), jax.devices()[0]),
    ],
)
def test_a_second_handle_of_the_same_memory_survives_assignment(hand_out: Callable[[xp.Array], Any]) -> None:
    x = on_jax(np.zeros(MANY)) + 1
    x[0] = 2.0
    other = hand_out(x)
    x[0] = 5.0
    assert float(other[0]) == 2.0
    native = jnp.zeros(MANY)
    other, y = jax.device_put(native, jax.devices()[0]), xp.from_native(native)
    del native
    y[0] = 5.0
    assert float(other[0]) == 0.0


def test_a_copy_survives_the_donation_of_what_was_copied() -> None:
    x = on_jax([1.0, 2.0])
    copies = [copy.copy(x), copy.deepcopy(x), xp.asarray(x, copy=True), xp.astype(x, x.dtype)]
    jax.jit(lambda v: v * 2, donate_argnums=0)(x)
    assert [one.tolist() for one in copies] == [[1.0, 2.0]] * 4
    kept = xp.ones(1000, dtype=xp.float32, device="numpy")
    jax.jit(lambda v: v + 1, donate_argnums=0)(jnp.asarray(kept))
    with xp.backend("jax"):
        assert float(xp.sum(kept)) == 1000.0


@pytest.mark.parametrize("size", [FEW, MANY])
@pytest.mark.parametrize("hand_out", [xp.to_native, np.asarray, np.from_dlpack, lambda x: jnp.asarray(x._native)])
def test_a_jax_array_handed_out_or_in_survives_assignment(hand_out: Callable[[xp.Array], Any], size: int) -> None:
    x, native = on_jax(np.zeros(size)) + 1, jnp.ones(size)
    given, y = hand_out(x), xp.asarray(native)
    for one in (x, y):
        one[0] = 9
        one[1] = 9
    assert given.tolist() == native.tolist() == [1.0] * size


def test_what_was_computed_from_an_array_survives_assignment() -> None:
    x = on_jax(np.zeros(MANY)) + 1
    derived = [+x, xp.exp(x), x.to_device("numpy"), copy.copy(x)]
    before = [one.tolist() for one in derived]
    part, pair = x[1:], xp.reshape(x, (2, -1))
    x[...] = 9.0
    x[0] = 8.0
    assert [one.tolist() for one in derived] == before
    assert part.tolist() == [9.0] * (MANY - 1)
    assert pair[0, :2].tolist() == [8.0, 9.0]


def test_an_array_is_a_tree_with_one_leaf() -> None:
    leaves, structure = jax.tree.flatten(on_jax([1.0, 2.0]))
    assert len(leaves) == 1
    assert jax.tree.unflatten(structure, leaves).tolist() == [1.0, 2.0]


def test_transforms_take_and_give_arrays_and_trees_of_them() -> None:
    y = jax.jit(lambda tree: {"sum": tree["a"] + xp.exp(tree["b"][0])})({"a": on_jax([1.0]), "b": [on_jax([0.0])]})[
        "sum"
    ]
    assert (type(y), y.dtype, y.tolist()) == (xp.Array, xp.float64, [2.0])
    x = on_jax([[1.0, 2.0], [3.0, 4.0]], xp.float32)
    assert np.asarray(jax.vmap(lambda row: xp.sum(row * 2))(x)).tolist() == [6.0, 14.0]
    assert np.asarray(jax.grad(lambda x: xp.to_native(xp.sum(x**3)))(x[0])).tolist() == [3.0, 12.0]


@pytest.mark.parametrize("transform", ["vmap", "jvp", "grad", "jit"])
def test_64_bit_numpy_data_counts_as_32_bits_in_the_users_transforms(transform: str) -> None:
    def halved(v: Any) -> Any:
        return xp.to_native(xp.sum(xp.from_native(v) / 2))

    a = np.ones((2, 3))
    calls: dict[str, Callable[[], Any]] = {
        "vmap": lambda: jax.vmap(halved)(a),
        "jvp": lambda: jax.jvp(halved, (a,), (a,))[1],
        "grad": lambda: jax.grad(halved)(a),
        "jit": lambda: jax.jit(halved)(a),
    }
    result = calls[transform]()
    assert result.dtype == np.float32
    assert float(result.sum()) == 3.0


def test_scan_carries_arrays() -> None:
    def step(carry: xp.Array, x: xp.Array) -> tuple[xp.Array, xp.Array]:
        total = carry + x
        return total, total

    carry, seen = jax.lax.scan(step, on_jax(0.0, xp.float32), on_jax([1.0, 2.0, 3.0], xp.float32))
    assert (float(carry), np.asarray(seen).tolist()) == (6.0, [1.0, 3.0, 6.0])


def test_jit_compiles_once_for_one_shape() -> None:
    traces: list[xp.Array] = []
    f = jax.jit(lambda x: traces.append(x) or x * 2)
    assert [f(on_jax([one])).tolist() for one in (1.0, 2.0)] == [[2.0], [4.0]]
    assert len(traces) == 1


def test_subnormals_are_not_claimed() -> None:
    # What XLA does on a CPU; the standard leaves it open, and docs/deviations tells of it.
    assert float(on_jax(5e-324) * 1) in (0.0, 5e-324)


def test_the_second_of_two_devices_is_used_and_named(forked: Callable[..., str]) -> None:
    program = """
        import json
        import numpy as np
        import jax, jax.numpy as jnp
        jax.config.update("jax_platforms", "cpu")
        import anyarray as xp

        def place(x):
            (device,) = xp.to_native(x).devices()
            return device.id

        with xp.backend("jax-cpu:1"):
            x = xp.linspace(0, 1, 5)
            placed = {
                "creation": x, "function": xp.exp(x), "operator": x + 1, "indexing": x[1:],
                "linalg": xp.linalg.inv(xp.eye(2)), "brought from numpy": xp.asarray(np.ones(2)),
            }
            x[0] = 7
        y = xp.ones(2, device="jax-cpu:0").to_device("jax-cpu:1")
        native = jax.device_put(jnp.ones(2), jax.devices()[1])
        written = xp.ones(3, device="jax-cpu:1")
        written[1] = 5
        placed |= {
            "assignment": x, "to_device": y, "of a placed array": y * 2, "the user's array": xp.asarray(native),
            "computed on the user's array": xp.exp(native), "assignment to a placed array": written,
        }
        found = {"elsewhere": {k: v for k, x in placed.items() if (v := (place(x), str(x.device))) != (1, "jax-cpu:1")}}
        z = xp.ones(2, device="jax-cpu:1").to_device("jax-cpu")
        found["back"] = place(z), str(z.device)
        found["the user's default"] = jnp.ones(1).devices().pop().id
        found["devices"] = [row.devices for row in xp.backends() if row.name == "jax"][0]
        try:
            y + z
        except xp.BackendMismatchError as error:
            found["mismatch"] = str(error).partition(".")[0]
        print(json.dumps(found))
    """
    flags = "--xla_force_host_platform_device_count=2"
    assert json.loads(forked(program, XLA_FLAGS=flags).splitlines()[-1]) == {
        "elsewhere": {},
        "back": [0, "jax-cpu"],
        "the user's default": 0,
        "devices": ["jax-cpu", "jax-cpu:1"],
        "mismatch": "add: one input is placed on jax-cpu:1 and another on jax-cpu",
    }


def test_a_traced_integer_of_jax_is_an_index() -> None:
    x = xp.from_native(jnp.arange(1.0, 4.0))

    def written(i: Any, total: Any) -> Any:
        y = xp.from_native(total)
        y[i] = x[i] * 2
        return xp.to_native(y)

    assert float(jax.lax.fori_loop(0, 3, lambda i, total: total + xp.to_native(x[i]), jnp.float32(0))) == 6.0
    assert jax.lax.fori_loop(0, 3, written, jnp.zeros(3)).tolist() == [2.0, 4.0, 6.0]


def test_a_composed_function_is_traced_once_for_each_form() -> None:
    traces: list[Any] = []

    def function(x: Any, pair: Any, c: Any, *, others: Any = ()) -> Any:
        traces.append((pair, c))
        return sum(others, x * c)

    called = importlib.import_module("anyarray.backends.jax").compiled_composition(
        function, xp.device("jax").native_device
    )
    x, y = jnp.ones(2), jnp.zeros(2)
    assert called(x, (1, 2), 2, others=[y, x]).tolist() == [3, 3]
    assert called(y, (1, 2), 2, others=[x, x]).tolist() == [2, 2]
    assert len(traces) == 1
    for constant in (1, True, 1.0, 0.0, -0.0):
        called(x, (1, 2), constant)
    called(x, (1, 2.0), 1)
    assert len(traces) == 7
    assert math.copysign(1, float(called(x, (), -0.0)[0])) == -1


def test_a_composed_function_takes_what_cannot_be_a_key() -> None:
    called = importlib.import_module("anyarray.backends.jax").compiled_composition(
        lambda x, options: x + options["n"], xp.device("jax").native_device
    )
    assert called(jnp.ones(2), {"n": 1}).tolist() == [2, 2]
    assert jax.jit(lambda x: called(x, {"n": 1}))(jnp.ones(2)).tolist() == [2, 2]


def test_a_composed_function_computes_in_64_bits() -> None:
    x = on_jax([1.0, 2.0, np.nan])
    assert xp.nanvar(x).dtype == xp.float64
    assert float(xp.nanmean(on_jax([1e-12, 1.0]))) == 0.5000000000005
