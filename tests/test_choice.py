"""Where a call runs: blocks, decorators, defaults, placed and free Arrays."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import anyarray as xp
from anyarray._choice import automatic, machine
from anyarray._registry import registry

pytestmark = pytest.mark.few_backends


def here() -> str:
    """The library on which creation functions run now."""
    return xp.ones(1).device.library


def test_a_block_gives_its_backend_on_which_creation_runs(name: str) -> None:
    assert here() == "numpy"
    for given in (name, xp.device(name)):
        with xp.backend(given) as entered:
            assert entered is xp.ones(1).device is xp.device(name)


def test_the_innermost_block_wins(framework: str) -> None:
    with xp.backend(framework):
        with xp.backend("numpy"):
            assert here() == "numpy"
        assert here() == framework
    assert here() == "numpy"


def test_auto_inside_a_block_is_the_automatic_choice(framework: str) -> None:
    with xp.backend(framework), xp.backend("auto") as entered:
        assert entered is None
        assert here() == "numpy"


def test_a_block_brings_placed_inputs_over(framework: str) -> None:
    x, y = xp.ones(2, device="numpy"), xp.ones(2, device=framework)
    with xp.backend("numpy"):
        assert (x + y).device is xp.device("numpy")
    with xp.backend(framework):
        for one in (xp.exp(x), x + y, xp.arange(3, device="numpy")[1]):
            assert one.device is xp.device(framework)


def test_an_array_that_is_written_in_a_block_stays_where_it_is(framework: str) -> None:
    x = xp.arange(3)
    with xp.backend(framework):
        x[0] = xp.asarray(7)
    assert x.device is xp.device("numpy")
    assert x.tolist() == [7, 1, 2]


def test_an_exception_restores_what_was_chosen_before(framework: str) -> None:
    for kind, fail in ((ZeroDivisionError, lambda: 1 / 0), (ValueError, lambda: xp.ones(2) + xp.ones(3))):
        with pytest.raises(kind), xp.backend(framework):
            fail()
        assert here() == "numpy"


def test_a_block_that_fails_to_open_changes_nothing() -> None:
    with pytest.raises(xp.DeviceNotFoundError), xp.backend("numpy:7"):
        pass
    assert here() == "numpy"


def test_a_decorated_function_or_method_runs_on_its_backend_and_may_call_itself(framework: str) -> None:
    class Model:
        @xp.backend(framework)
        def depth(self, n: int) -> list[str]:
            """How deep."""
            return [here(), *(self.depth(n - 1) if n else [])]

    assert Model().depth(2) == [framework] * 3
    assert here() == "numpy"
    assert (Model.depth.__name__, Model.depth.__doc__) == ("depth", "How deep.")


def test_callables_of_every_kind_run_and_are_resumed_on_their_backend(framework: str) -> None:
    async def asked(x: int) -> tuple[str, str, int]:
        before = here()
        await asyncio.sleep(0)
        return before, here(), x

    def steps(n: int) -> Iterator[str]:
        for _ in range(n):
            yield here()

    class Asked:
        async def __call__(self) -> tuple[str, str, int]:
            return await asked(3)

    class Steps:
        def __call__(self) -> Iterator[str]:
            yield from steps(2)

    decorate = xp.backend(framework)
    for one in (functools.partial(asked, 3), Asked()):
        assert asyncio.run(decorate(one)()) == (framework, framework, 3)
    for other in (functools.partial(steps, 2), Steps()):
        assert list(decorate(other)()) == [framework] * 2
    assert decorate(functools.partial(here))() == framework
    assert here() == "numpy"


def test_what_cannot_be_called_is_not_decorated() -> None:
    with pytest.raises(TypeError, match=r"^backend: decorates a function, not int$"):
        xp.backend("numpy")(5)  # type: ignore[arg-type]  # the fault is the point


def test_a_thread_begins_without_the_block_that_started_it_unless_python_hands_it_on(framework: str) -> None:
    seen: list[str] = []
    with xp.backend(framework):
        thread = threading.Thread(target=lambda: seen.append(here()))
        thread.start()
        thread.join()
    is_handed_on = getattr(sys.flags, "thread_inherit_context", 0)  # from Python 3.14 on without a GIL
    assert seen == [framework if is_handed_on else "numpy"]


def test_two_tasks_choose_for_themselves(framework: str) -> None:
    async def work(name: str) -> list[str]:
        seen = []
        with xp.backend(name):
            for _ in range(5):
                await asyncio.sleep(0)
                seen.append(here())
        return seen

    async def main() -> list[list[str]]:
        return list(await asyncio.gather(work("numpy"), work(framework)))

    assert asyncio.run(main()) == [["numpy"] * 5, [framework] * 5]


def test_a_task_starts_with_the_choice_of_its_maker(framework: str) -> None:
    async def where() -> str:
        return here()

    async def main() -> str:
        with xp.backend(framework):
            task = asyncio.create_task(where())
        return await task

    assert asyncio.run(main()) == framework


def test_a_copied_context_keeps_the_choice(framework: str) -> None:
    with xp.backend(framework):
        context = contextvars.copy_context()
    assert context.run(here) == framework


def test_the_default_is_the_choice_where_no_block_is_open_and_in_new_threads(framework: str) -> None:
    for given in (framework, xp.device(framework)):
        xp.set_default_backend(given)
        seen: list[str] = []
        thread = threading.Thread(target=lambda seen=seen: seen.append(here()))
        thread.start()
        thread.join()
        with xp.backend("numpy"):
            assert (*seen, here()) == (framework, "numpy")
        assert here() == framework
        xp.set_default_backend("auto")
        assert here() == "numpy"


def test_a_default_that_a_thread_sets_while_a_library_is_imported_stays(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = registry.backend_of_name

    def meanwhile(name: str) -> xp.Backend:
        xp.set_default_backend("numpy")
        return found(name)

    xp.set_default_backend(framework)
    monkeypatch.setattr(registry, "backend_of_name", meanwhile)
    here()
    assert here() == "numpy"


def test_a_default_that_a_thread_sets_while_the_profile_is_read_stays(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.forget()
    monkeypatch.setattr(automatic, "_load_model", lambda: xp.set_default_backend(framework))
    xp.sum(xp.ones(machine.LARGE))
    assert here() == framework


def test_an_unknown_default_is_refused_and_changes_nothing() -> None:
    with pytest.raises(xp.BackendNotFoundError, match=re.escape('backend "nunpy" is unknown. Did you mean "numpy"?')):
        xp.set_default_backend("nunpy")
    assert here() == "numpy"


def test_a_default_backend_is_imported_at_the_first_call(run_python: Callable[..., str]) -> None:
    program = """
        import sys
        import anyarray as xp
        xp.set_default_backend("jax")
        print("jax" in sys.modules)
    """
    assert run_python(program) == "False\n"


def test_the_environment_sets_the_default(framework: str, forked: Callable[..., str]) -> None:
    program = "import anyarray as xp; print(xp.ones(1).device.library)"
    for given, library in ((framework, framework), ("", "numpy"), (f" {framework} ", framework)):
        assert forked(program, ANYARRAY_BACKEND=given) == f"{library}\n"


def test_an_unknown_name_in_the_environment_is_an_error_at_the_first_call(forked: Callable[..., str]) -> None:
    program = """
        import anyarray as xp
        try:
            xp.ones(1)
        except xp.BackendNotFoundError as error:
            print(str(error).partition(" Known")[0])
    """
    assert forked(program, ANYARRAY_BACKEND="nunpy") == 'backend "nunpy" is unknown. Did you mean "numpy"?\n'


def placed(name: str) -> xp.Array:
    return xp.ones(2, device=name)


def free(name: str) -> xp.Array:
    with xp.backend(name):
        return xp.ones(2)


def is_placed(x: xp.Array) -> bool:
    """Whether an Array of a framework refuses to meet one placed on NumPy."""
    try:
        x + placed("numpy")
    except xp.BackendMismatchError:
        return True
    return False


def test_an_array_made_like_another_in_a_block_is_not_placed(framework: str) -> None:
    x = xp.asarray([1.0, 2.0])
    with xp.backend(framework):
        made = [xp.empty_like(x), xp.zeros_like(x), xp.ones_like(x), xp.full_like(x, 3.0)]
    assert not any(map(is_placed, made))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (placed, True),
        (lambda name: xp.ones(2).to_device(name), True),
        (lambda name: xp.asarray(free(name)._native), True),
        (lambda name: xp.exp(placed(name)) * 2, True),
        (lambda name: xp.ones(2) + placed(name), True),
        (lambda name: xp.zeros_like(placed(name)), True),
        (lambda name: placed(name)[:], True),
        (free, False),
        (lambda name: xp.exp(free(name)) * 2, False),
    ],
    ids=["device", "moved", "wrapped", "placed inputs", "both", "like", "part", "in a block", "free inputs"],
)
def test_what_is_made_with_a_device_or_of_placed_arrays_is_placed(
    make: Callable[[str], xp.Array], expected: bool, framework: str
) -> None:
    assert is_placed(make(framework)) is expected


def test_a_free_array_follows_a_placed_one_and_numpy_data_a_framework_s(framework: str) -> None:
    for one, other, there in (
        (placed("numpy"), free(framework), "numpy"),
        (placed(framework), xp.ones(2), framework),
        (placed(framework), np.ones(2), framework),
        (xp.ones(2), free(framework), framework),
    ):
        assert (one + other).device is (other + one).device is xp.device(there)
    assert xp.exp(free(framework)._native).device is xp.device(framework)


def test_a_free_array_follows_a_placed_index(framework: str) -> None:
    x, index = xp.arange(3), xp.asarray([2], device=framework)
    assert x[index].device is xp.device(framework)
    assert x[None, index].device is xp.device(framework)
    assert x[xp.to_native(index)].device is xp.device(framework)
    assert x.device is xp.device("numpy")


def test_a_free_array_that_is_written_follows_what_is_placed(framework: str) -> None:
    index, one = xp.asarray([0], device=framework), xp.ones(1, device=framework)[0]
    for key, value, there in (
        (0, one, framework),
        (index, 1.0, framework),
        (0, xp.asarray(one, device="numpy"), "numpy"),
    ):
        x = xp.zeros(2)
        x[key] = value
        assert x.device is xp.device(there)
        assert x.tolist() == [1.0, 0.0]


def test_an_index_placed_elsewhere_is_an_error(framework: str) -> None:
    x, index = xp.arange(3, device="numpy"), xp.asarray([0], device=framework)
    with pytest.raises(xp.BackendMismatchError, match=r"index: one input is placed on numpy and another on "):
        x[index]
    with pytest.raises(xp.BackendMismatchError, match=r"setitem: one input is placed on numpy and another on "):
        x[index] = 1
    with pytest.raises(xp.BackendMismatchError, match=r"setitem: one input is placed on numpy and another on "):
        x[0] = index[0]
    with xp.backend("numpy"):
        x[index] = index
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "function"),
    [
        (lambda x, y: x + y, "add"),
        (lambda x, y: xp.where(xp.asarray([True, False]), x, y), "where"),
        (lambda x, y: xp.concat([x, y]), "concat"),
        (lambda x, y: xp.broadcast_arrays(x, y), "broadcast_arrays"),
        (lambda x, y: x @ y, "matmul"),
        (lambda x, y: xp.asarray([x, y]), "asarray"),
    ],
    ids=["operator", "where", "concat", "variadic", "matmul", "asarray"],
)
def test_inputs_placed_on_two_backends_are_an_error(
    call: Callable[[xp.Array, xp.Array], object], function: str, framework: str
) -> None:
    device = xp.device(framework)
    with pytest.raises(xp.BackendMismatchError) as caught:
        call(placed("numpy"), placed(framework))
    assert str(caught.value) == (
        f"{function}: one input is placed on numpy and another on {device}. Bring one over with "
        f'x.to_device("{device}"), or choose for a block: with xp.backend("numpy")'
    )


def test_equal_names_give_one_device_that_shows_its_name(name: str) -> None:
    device = xp.device(name)
    for one in (str(device), device, xp.ones(1, device=name).device):
        assert xp.device(one) is device
    assert pickle.loads(pickle.dumps(device)) is device
    assert (str(device), repr(device)) == (device.name, f'device("{device.name}")')


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: xp.device(3), 'device: must be a device or its name, such as "numpy" or "jax-gpu:1", not int'),
        (lambda: xp.backend(3), 'backend: must be a name, such as "jax", or a device, not int'),
        (
            lambda: xp.set_default_backend(None),
            'set_default_backend: must be a name, such as "jax", or a device, not NoneType',
        ),
    ],
)
def test_what_is_no_name_and_no_device_is_refused(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        call()


def test_to_device_gives_the_same_values_and_leaves_the_array_where_it_is(name: str) -> None:
    x = xp.asarray([1.5, -0.0])
    moved = x.to_device(name)
    assert x.device is xp.device("numpy") and moved.device is xp.device(name)
    assert str(moved.tolist()) == "[1.5, -0.0]"
    assert moved.to_device(name) is moved


def test_threads_that_meet_at_the_first_use_of_a_library_all_get_it(forked: Callable[..., str]) -> None:
    forked(
        """
        from concurrent.futures import ThreadPoolExecutor
        import anyarray as xp

        names = [row.name for row in xp.backends() if row.is_installed and row.name != "cupy"]

        def total(name):
            with xp.backend(name):
                return float(xp.sum(xp.ones(3)))

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(total, names * 10)) == {3.0}
        """
    )
