"""Where a call runs if its backend is unmeasured, missing or left out.

Blocks that are shared are tested, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import anyarray as xp
from anyarray import testing
from anyarray._base.extension import speedups
from anyarray._choice import automatic, choice, cost, machine, whole_functions
from anyarray._choice.law import Law
from anyarray._cli import bench, info
from anyarray._cli.console import console
from anyarray._registry import libraries

N: Final = 16
SLOW: Final = Law(1.0)
FAST: Final = Law(1e-3)
ROUTE: Final = cost.Route(Law(1e-6))


def costs(law: Law, *kinds: str) -> cost.Costs:
    """Of a backend that was measured for some classes, and compiled."""
    return cost.Costs(dict.fromkeys(kinds, law), fused=law)


def model_of(**others: cost.Costs) -> cost.Model:
    """A machine on which NumPy takes a second for each call.

    An underscore in the name of another backend stands for a colon.
    """
    numpy = costs(SLOW, *cost.CLASSES)
    backends = {"numpy": numpy, **{name.replace("_", ":"): one for name, one in others.items()}}
    return cost.Model(backends, {(a, b): ROUTE for a in backends for b in backends if a != b})


@pytest.fixture
def sim() -> Iterator[None]:
    """An accelerator, and the automatic choice."""
    with testing.simulated(), xp.backend("auto"):
        xp.device("sim")
        yield


@pytest.mark.parametrize("others", [{}, {"sim": costs(FAST)}], ids=["not in the profile", "not measured for it"])
@pytest.mark.usefixtures("sim")
def test_a_policy_holds_for_what_was_not_measured(others: dict[str, cost.Costs]) -> None:
    machine.use(model_of(**others))
    x = xp.ones(N)
    with xp.policy(candidates=["sim"]), xp.explain() as why:
        assert xp.argsort(x).device.library == "sim"
        assert xp.argsort(xp.argsort(x)).device.library == "sim"
    assert why.decisions[0].reason == "moves from numpy: the policy leaves it out"


CALLS: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "in no class": lambda x: xp.roll(x, 1),
    "of a dtype that is not measured": lambda x: xp.exp(xp.astype(x, xp.complex64)),
    "of integers": lambda x: xp.astype(x, xp.int64) @ xp.astype(x, xp.int64),
    "of a tensor": lambda x: xp.tensordot(x, x, axes=1),
}


@pytest.mark.parametrize("model", [model_of(sim=costs(FAST, *cost.CLASSES)), None], ids=["measured", "no profile"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.usefixtures("sim")
def test_a_policy_holds_for_what_is_not_predicted(
    call: Callable[[xp.Array], xp.Array], model: cost.Model | None
) -> None:
    machine.use(model)
    with xp.policy(candidates=["sim"]):
        assert call(xp.ones(N)).device.library == "sim"
    with xp.policy(candidates=["numpy"]):
        assert call(xp.ones(N)).device.library == "numpy"


@pytest.mark.usefixtures("sim")
def test_what_is_not_predicted_runs_where_one_of_its_inputs_is() -> None:
    machine.use(model_of(sim=costs(FAST, *cost.CLASSES)))
    x = xp.ones(N)
    with xp.policy(candidates=["sim"]):
        y = xp.sin(x)
    with xp.policy(candidates=["numpy", "sim"]):
        assert xp.roll(y, 1).device.library == "sim"
        assert xp.roll(x, 1).device.library == "numpy"


def test_a_policy_takes_the_first_that_has_the_dtype() -> None:
    machine.use(model_of(sim=costs(FAST, *cost.CLASSES)))
    with testing.simulated(float32_only=True), xp.backend("auto"):
        x = xp.asarray(1.0)
        with xp.backend("sim"):
            y = xp.ones(N, dtype=xp.float32)
        assert automatic.narrowed("roll", {}, ["sim", "numpy"], [x.dtype]).name == "numpy"
        assert automatic.narrowed("roll", {}, ["sim", "numpy"], [y.dtype]).name == "sim"


def test_a_policy_takes_devices() -> None:
    with xp.policy(candidates=[xp.device("numpy")]):
        assert (xp.ones(2) + 1).device is xp.device("numpy")


NAMES: Final = 'policy: candidates must be names of backends, such as ["numpy", "jax"], '
AUTO: Final = 'policy: "auto" is the choice among backends, not one of them. Name some: numpy, tf, jax, torch, cupy'


@pytest.mark.parametrize(
    ("candidates", "kind", "wanted"),
    [
        *[(one, ValueError, f"{NAMES}not {one!r}$") for one in ("numpy", [], 3, None)],
        (["numpy", 3], TypeError, f"{NAMES}or devices, but one is int$"),
        (["auto"], xp.BackendNotFoundError, AUTO),
        (["jaxx"], xp.BackendNotFoundError, 'backend "jaxx" is unknown'),
    ],
)
def test_a_policy_refuses_what_is_no_list_of_names(candidates: Any, kind: type[Exception], wanted: str) -> None:
    with pytest.raises(kind, match="^" + re.escape(wanted).replace(r"\$", "$")), xp.policy(candidates=candidates):
        pass


@pytest.mark.usefixtures("sim")
def test_a_backend_that_a_thread_leaves_out_during_a_decision_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(sim=costs(FAST, *cost.CLASSES))
    machine.use(model)
    x = xp.ones(N)
    xp.sin(x)
    machine.compiled.clear()  # but what is predicted of the call is kept
    monkeypatch.setattr(automatic, "model", lambda: machine.without(model, ["sim"]))
    assert xp.sin(x).shape == (N,)


@pytest.mark.usefixtures("sim")
def test_a_measured_device_that_is_not_here_is_left_out() -> None:
    machine.use(model_of(sim_5=costs(FAST, *cost.CLASSES)))
    with xp.explain() as why:
        for _ in range(3):
            assert xp.sin(xp.ones(N)).device.library == "numpy"
    assert "sim:5" not in why.decisions[-1].predicted
    assert machine.state.model is not None and list(machine.state.model.backends) == ["numpy"]


@pytest.mark.usefixtures("sim")
def test_a_whole_function_leaves_out_a_device_that_is_not_here() -> None:
    machine.use(model_of(sim_5=costs(FAST), sim=costs(Law(1e-2))))
    whole = whole_functions.WholeFunction()
    places = []
    for _ in range(4):
        x = xp.ones(N)
        places.append(whole.decide("f", x._home, [x]).home.backend.name)
        whole.note(places[-1], 1.0 if places[-1] == "numpy" else 1e-2)
    assert places[-1] == "sim"


@pytest.mark.usefixtures("sim")
def test_a_policy_takes_the_device_that_is_here_for_one_that_was_measured() -> None:
    doubled = xp.jit(lambda x: x * 2)
    machine.use(model_of(sim_5=costs(FAST, *cost.CLASSES)))
    with xp.policy(candidates=["sim"]):
        assert xp.sin(xp.ones(N)).device is xp.device("sim")
        assert doubled(xp.ones(N)).device is xp.device("sim")
    # Where the library was not imported yet when the block was opened.
    assert automatic.narrowed("sin", {}, ["sim:5"], [xp.float64]) is xp.device("sim")


def test_a_policy_that_turns_out_to_leave_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic, "usable_backend", lambda name: None)
    wanted = 'sin: none of the backends that the policy leaves can be used here: jax-gpu. Add one that can: "numpy"'
    with pytest.raises(xp.BackendError, match=f"^{re.escape(wanted)}$"):
        automatic.narrowed("sin", {}, ["jax-gpu"], [xp.float64])


def test_a_backend_that_is_unknown_here_is_left_out() -> None:
    assert not machine.may_be_usable("no_such_library-cpu")
    assert machine.usable_backend("no_such_library-cpu") is None


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library whose import fails, as that of a version that does not fit."""
    module = "from nothing import it"
    monkeypatch.setitem(libraries.LIBRARIES, "broken", libraries.Library("broken", module, "json", ("cpu",)))

    def imported(name: str, package: str | None = None) -> Any:
        if name == module:
            raise TypeError("Descriptors cannot be created directly")
        return found(name, package)  # JAX imports parts of itself relative to a package

    found = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", imported)


@pytest.mark.usefixtures("broken")
def test_a_library_that_is_broken_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    machine.use(model_of(broken=costs(FAST, *cost.CLASSES)))
    assert xp.sin(xp.ones(100_000)).device == xp.device("numpy")
    assert machine.state.model is not None and "broken" not in machine.state.model.backends
    problem = "TypeError: Descriptors cannot be created directly"
    rows = {row.name: row for row in info.backend_rows(look_for_devices=True)}
    assert rows["broken"].problem == problem
    assert "broken" not in {one.library for one in bench._participants(None, console(stderr=True))}
    assert f"Left out: broken, {problem}\n" in capsys.readouterr().err


def test_a_tensordot_is_the_product_that_its_shapes_tell() -> None:
    def work(*shapes: tuple[int, ...]) -> float | None:
        found = cost.call("tensordot", shapes, [xp.float64, xp.float64])
        return None if found is None else found.work.amount

    assert work((5, 6), (6, 7)) == 2 * 5 * 6 * 7
    assert work((2, 3, 4), (3, 4, 5)) == 2 * 2 * 12 * 5
    assert work((9, 9), (9, 9)) is None  # over one axis, or both
    assert work((5, 6), (7, 6)) is None


def test_functions_are_predicted_like_others() -> None:
    power, product = (
        cost.call(name, shapes, [xp.float64] * len(shapes))
        for name, shapes in (("matrix_power", [(8, 8)]), ("matmul", [(8, 8), (8, 8)]))
    )
    assert power == product
    assert cost.call("conj", [(8,)], [xp.complex64]) == cost.call("negative", [(8,)], [xp.complex64])
    assert cost.call("conj", [(8,)], [xp.float64]) is None
    model = model_of(sim=costs(FAST, *cost.CLASSES))
    assert model.limits("matrix_power") == model.limits("matmul")


SHAPES: Final[dict[str, Callable[[int, int], list[tuple[tuple[int, ...], ...]]]]] = {
    "add": lambda n, many: [
        ((many,), (many,)), ((many,), ()), ((), (many,)), ((n, 1), (1, n)), ((many, 3), (many, 3)),
        ((n, 1, 3), (n, 3)), ((many, 3), (3,)),
    ],
    "matmul": lambda n, many: [
        ((n, n), (n, n)), ((n, n), (n,)), ((n,), (n, n)), ((many,), (many,)), ((n, 2), (2, n)), ((2, n), (n, 2)),
        ((3, n, n), (n, n)), ((n, n), (3, n, n)), ((n, n), (3, n, 1)), ((n, 1, 2, 2), (n, 2, 2)),
    ],
    "take": lambda n, many: [((many,), (many,)), ((many,), (2 * many,)), ((3 * many,), (many,)), ((n, n), (n,))],
    "exp": lambda n, many: [((many,),), ((many, 3),)],
    "sum": lambda n, many: [((many,),), ((many, 3),)],
    "sort": lambda n, many: [((many,),), ((n, 3),)],
}  # fmt: skip
"""Of inputs, by numbers of elements."""


@pytest.mark.usefixtures("sim")
@pytest.mark.parametrize("function", SHAPES)
def test_what_is_not_looked_at_is_fastest_in_numpy(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_work = {"numpy": (1e-6, 2e-9), "sim": (2e-5, 2e-10)}
    laws = {name: Law(launch, launch / each) for name, (launch, each) in by_work.items()}
    model = model_of(sim=costs(laws["sim"], *cost.CLASSES))
    model = model._replace(backends={**model.backends, "numpy": costs(laws["numpy"], *cost.CLASSES)})
    looked_at: list[str] = []
    decide = automatic.decide

    def noted(name: str, *args: Any, **rest: Any) -> xp.Decision:
        looked_at.append(name)
        return decide(name, *args, **rest)

    monkeypatch.setattr(automatic, "decide", noted)
    machine.use(model)
    skipped, seen = 0, 0
    for n in (2, 20, 60, 150, 200, 400, 1000):
        for shapes in SHAPES[function](n, 300 * n):
            indices = function == "take"
            arrays = [
                xp.zeros(shape, dtype=xp.int64 if at and indices else xp.float64) for at, shape in enumerate(shapes)
            ]
            looked_at.clear()
            getattr(xp, function)(*arrays, **({"axis": 0} if indices else {}))
            seen += bool(looked_at)
            if not looked_at:
                skipped += 1
                prediction = machine.prediction_of(function, shapes, tuple([a.dtype for a in arrays]), None)
                assert prediction.call is not None
                in_numpy, elsewhere = prediction.seconds["numpy"], prediction.seconds["sim"]
                is_numpys = not automatic.gains("numpy", in_numpy, "sim", elsewhere, prediction.call.kind)
                assert is_numpys or in_numpy < cost.LOOKED * cost.DECIDING, shapes
    assert skipped and seen


def here() -> str:
    return xp.ones(1).device.library


def test_threads_may_share_a_block(framework: str) -> None:
    block = xp.backend(framework)
    both = threading.Barrier(2)
    seen: list[str] = []

    def work() -> None:
        for _ in range(20):
            both.wait(60)
            with block:
                both.wait(60)
                seen.append(here())
            seen.append(here())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted([framework, "numpy"] * 40)


def test_tasks_may_share_a_block(framework: str) -> None:
    block = xp.backend(framework)

    async def work(turns: int) -> list[str]:
        with block:
            for _ in range(turns):
                await asyncio.sleep(0)
            inside = here()
        return [inside, here()]

    async def main() -> list[list[str]]:
        return list(await asyncio.gather(work(4), work(1), work(2)))

    assert asyncio.run(main()) == [[framework, "numpy"]] * 3


def test_an_exception_closes_the_inner_of_two_uses_of_a_block(framework: str) -> None:
    block = xp.backend(framework)
    with block:
        with pytest.raises(ZeroDivisionError), xp.backend("numpy"), block:
            1 / 0  # noqa: B018 - for the exception
        assert here() == framework
    assert here() == "numpy"


def test_blocks_that_end_in_another_order_leave_nothing_behind(framework: str) -> None:
    def suspended() -> Generator[None]:
        with xp.backend(framework):
            yield

    outside = choice.current()
    generator = suspended()
    next(generator)
    with xp.backend("numpy"):
        next(generator, None)
        assert here() == "numpy"
    assert choice.current() is outside


def test_what_a_block_recorded_and_left_in_ends_with_it(framework: str) -> None:
    explanations: list[xp.Explanation] = []

    @contextlib.contextmanager
    def opened() -> Generator[None]:
        with xp.policy(candidates=[framework]), xp.explain() as why, xp.backend(framework):
            explanations.append(why)
            yield

    x = xp.ones(3, device="numpy")
    manager = opened()
    manager.__enter__()
    with xp.explain() as inner:
        assert here() == framework
        manager.__exit__(None, None, None)
        assert here() == "numpy"
        with xp.explain() as innermost:
            xp.exp(x)
    assert [len(one) for one in (*explanations, inner, innermost)] == [0, 1, 1]

    manager = opened()
    manager.__enter__()
    with xp.backend("auto"):
        manager.__exit__(None, None, None)
        assert choice.current().records == () and choice.current().candidates is None


def test_a_block_that_ends_in_another_context_leaves_that_alone(framework: str) -> None:
    def suspended() -> Generator[None]:
        with xp.backend(framework):
            yield

    left: list[Any] = []

    def begin() -> None:
        left.append(suspended())
        next(left[0])

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    with xp.backend("numpy"):
        left.clear()
        gc.collect()
        assert here() == "numpy"


def test_a_class_is_refused() -> None:
    wanted = r"is a class, and only its construction would run in the block\. Decorate its methods$"
    with pytest.raises(TypeError, match=rf"^backend: .+Model {wanted}"):

        @xp.backend("numpy")
        class Model:
            pass


PROGRAM: Final = """
import os, pickle, sys
import anyarray as xp
from anyarray._calibration import measuring
from anyarray._choice import machine

machine.use(pickle.loads(bytes.fromhex(sys.argv[1])))
doubled = xp.jit(lambda x: xp.exp(x) * 2)

def places():
    x = xp.ones(1_000_000)
    return [str(y.device) for y in (xp.sin(x), *[doubled(x) for _ in range(3)])]

with xp.policy(candidates=["numpy", "jax-cpu"]):
    parent = places()
    # Early versions of Python 3.11 may hang in the child while a thread of JAX's ends (python/cpython#112275).
    measuring.rest()
    child = os.fork()
    if not child:
        found = [*places(), *machine.state.model.backends]
        try:
            with xp.policy(candidates=["jax"]):
                pass
        except xp.BackendError as error:
            found.append(str(error))
        print(*found, sep="\\n", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(parent)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_leaves_out_what_was_imported_before_it() -> None:
    pytest.importorskip("jax")
    fast = cost.Costs({"transcendental": FAST}, fused=FAST)
    backends = {"numpy": costs(SLOW, "transcendental"), "jax-cpu": fast}
    routes = {("numpy", "jax-cpu"): ROUTE, ("jax-cpu", "numpy"): ROUTE}
    model = pickle.dumps(cost.Model(backends, routes)).hex()
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), model]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, cwd=Path(__file__).parents[1]
    )
    *child, parent = done.stdout.splitlines()
    assert "jax-cpu" in parent
    error = 'policy: none of the candidates can be used here: jax. Add one that can: "numpy"'
    assert child == [*["numpy"] * 4, "numpy", error]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_can_write_what_another_thread_wrote_at_the_fork(run_python: Callable[..., str]) -> None:
    program = """
        import os, signal, threading
        import anyarray as xp
        from anyarray._choice import machine
        from anyarray._memory import ownership, second_copies

        x, held, done = xp.zeros(3), threading.Event(), threading.Event()

        def hold():
            with second_copies._lock, machine.state.load_lock:
                for lock in ownership._LOCKS:
                    lock.acquire()
                held.set()
                done.wait()

        threading.Thread(target=hold).start()
        held.wait()
        child = os.fork()
        if not child:
            signal.alarm(30)
            x[0] = 1
            with second_copies._lock, machine.state.load_lock:
                os._exit(0)
        print(os.waitpid(child, 0)[1], flush=True)
        done.set()
        """
    assert run_python(program) == "0\n"


@pytest.mark.skipif(speedups is None, reason="in Python an upper bound of the work counts")
@pytest.mark.usefixtures("sim")
def test_the_work_of_a_call_decides_and_not_the_product_of_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = {"arithmetic": Law(1e-6, 1e3), "matmul": Law(1e-6, 1e4), "product with a vector": Law(1e-6, 1e3)}
    machine.use(
        cost.Model({"numpy": cost.Costs(laws), "sim": cost.Costs(laws)}, dict.fromkeys([("numpy", "sim")], ROUTE))
    )
    x, weights, sums = (xp.ones(shape, device="numpy") for shape in ((300, 64), (64, 3), (300, 1)))
    xp.ones(10**6) + 1  # the thresholds of functions are set at the first large call
    xp.matmul(xp.ones((500, 500)), xp.ones((500, 500)))
    looked_at: list[str] = []
    monkeypatch.setattr(automatic, "decide", lambda name, *_, **__: looked_at.append(name))
    xp.matmul(x, weights)
    xp.divide(x, sums)
    assert not looked_at
