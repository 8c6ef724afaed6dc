"""Times of what runs correct a wrong profile, on a simulated clock.

The accelerator is simulated; what NumPy's calls take is what the true model says. Each class in turn is ten times wrong
in the profile, in either direction, on either side.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

import anyarray as xp
from anyarray import testing
from anyarray._base.extension import speedups
from anyarray._call import slow_path
from anyarray._choice import automatic, cost, learning, machine
from anyarray._choice.law import Law

N: Final = 1 << 14
EACH: Final = 1e-7
"""Seconds of NumPy's for an element of arithmetic."""
LAUNCH, LATENCY = 2e-5, 5e-5
SPEED: Final = 1e9
"""Elements in a second on the accelerator."""
FACTORS: Final = {"negative": 1.0, "tanh": 4.0, "cumsum": 3.0, "max": 0.5}
"""How much longer functions take in NumPy than arithmetic."""
DEVICE_FACTORS: Final = {"tanh": 2.0, "cumsum": 400.0, "max": 20.0}
KINDS: Final = {"negative": "arithmetic", "tanh": "transcendental", "cumulative_sum": "cumulative", "max": "extremum"}
NAMES: Final = {"cumulative_sum": "cumsum"}


def numpys(name: str, elements: int) -> float:
    """What a call takes in NumPy."""
    return 1e-6 + FACTORS[NAMES.get(name, name)] * EACH * elements


def true_model() -> cost.Model:
    numpy, sim = {}, {}
    for name, kind in KINDS.items():
        factor, its = FACTORS[NAMES.get(name, name)], DEVICE_FACTORS.get(NAMES.get(name, name), 1.0)
        numpy[kind] = Law(1e-6, 1e-6 / (factor * EACH))
        sim[kind] = Law(its * LAUNCH, LAUNCH * SPEED)
    route = cost.Route(Law(LATENCY, LATENCY * 1e10))
    backends = {"numpy": cost.Costs(numpy), "sim": cost.Costs(sim)}
    return cost.Model(backends, {("numpy", "sim"): route, ("sim", "numpy"): route})


def wrong(model: cost.Model, backend: str, kind: str, factor: float) -> cost.Model:
    """The model where one class takes `factor` times as long."""
    costs = model.backends[backend]
    law = costs.laws[kind]
    laws = {**costs.laws, kind: law._replace(launch=law.launch * factor)}
    return model._replace(backends={**model.backends, backend: costs._replace(laws=laws)})


class World:
    """Counts what a program takes, checks included."""

    def __init__(self, simulated: testing.Machine) -> None:
        self.machine, self.host = simulated, 0.0
        self.calls: list[tuple[str, float, float]] = []
        """Function, and seconds under auto and in NumPy."""

    @property
    def seconds(self) -> float:
        return self.host + self.machine.seconds

    def call(self, name: str, x: xp.Array) -> xp.Array:
        before = self.seconds
        y: xp.Array = getattr(xp, name)(x)
        if y.device.library == "numpy":
            self.host += numpys(name, x.size)
        self.calls.append((name, self.seconds - before, numpys(name, x.size)))
        return y


@contextmanager
def world(model: cost.Model, monkeypatch: pytest.MonkeyPatch) -> Generator[World]:
    """A program's world, with a profile that may be wrong."""
    figures: Any = {"launch": LAUNCH, "speed": SPEED, "latency": LATENCY, "bandwidth": 1e10, "factors": DEVICE_FACTORS}
    timed = slow_path._timed
    with testing.simulated(**figures) as simulated, monkeypatch.context() as patch:
        found = World(simulated)

        def on_the_clock(declaration: Any, prepared: Any, home: Any) -> tuple[Any, float]:
            result, seconds = timed(declaration, prepared, home)
            if home.backend.library == "numpy":
                seconds = numpys(declaration.name, declaration.arrays_of(prepared)[0].size)
            return result, seconds

        patch.setattr(learning, "clock", lambda: simulated.seconds)
        patch.setattr(learning, "is_on", lambda: True)
        patch.setattr(slow_path, "_timed", on_the_clock)
        xp.device("sim")
        learning.forget()
        machine.use(model)
        try:
            with xp.backend("auto"):
                yield found
        finally:
            machine.use(None)
            learning.forget()


PROGRAMS: Final[dict[str, tuple[str, list[str]]]] = {
    "chain": ("last", ["tanh negative"] * 60),
    "fresh": ("new", ["tanh max"] * 60),
    "ping pong": ("last", ["tanh cumulative_sum"] * 60),
    "on one array": ("first", ["negative max"] * 60),
    "sums": ("last", ["cumulative_sum"] * 60),
    "mixed": ("new", ["tanh negative cumulative_sum max", "negative cumulative_sum max", "cumulative_sum max"] * 10),
}
"""The array that each turn starts from, and the functions of each turn."""


def ran(program: str, model: cost.Model, monkeypatch: pytest.MonkeyPatch) -> World:
    start, turns = PROGRAMS[program]
    with world(model, monkeypatch) as here:
        first = x = xp.ones(N)
        for names in turns:
            x = x if start == "last" else first if start == "first" else xp.ones(N)
            for name in names.split():
                x = here.call(name, x)
    return here


@pytest.mark.sampled
@pytest.mark.parametrize("factor", [0.1, 10.0], ids=["too fast", "too slow"])
@pytest.mark.parametrize("backend", ["numpy", "sim"])
@pytest.mark.parametrize("kind", sorted(KINDS.values()))
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_class_that_is_ten_times_wrong_costs_at_most_a_third(
    program: str, kind: str, backend: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ran(program, true_model(), monkeypatch)
    found = ran(program, wrong(true_model(), backend, kind, factor), monkeypatch)
    assert found.seconds <= 1.3 * right.seconds
    first = {name: (took, in_numpy) for name, took, in_numpy in reversed(found.calls)}
    assert all(took <= 2 * in_numpy for took, in_numpy in first.values())


def test_a_call_is_timed_where_it_is_before_it_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    with world(true_model(), monkeypatch) as here, xp.explain() as why:
        x = xp.ones(N)
        for _ in range(3):
            here.call("tanh", x)
    reasons = [one.reason for one in why.decisions]
    assert reasons[0] == "stays on numpy: timed there before it moves"
    assert reasons[1] == "moves from numpy: this call alone pays for it"


@pytest.fixture
def unchained(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No call is recorded, to run with others."""
    monkeypatch.setattr(machine, "RECORDED", 1 << 40)
    before = None if speedups is None else speedups.record_from(1 << 40)
    yield
    if speedups is not None:
        speedups.record_from(before)


@pytest.mark.usefixtures("unchained")
def test_a_call_in_numpy_is_timed_once_another_library_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    with world(wrong(true_model(), "numpy", "transcendental", 0.002), monkeypatch) as here:
        package = automatic.package_of
        monkeypatch.setattr(automatic, "package_of", lambda name: package(name) if name == "numpy" else "imported_late")
        x, larger = xp.ones(16 * N), xp.ones(32 * N)
        for _ in range(5):
            here.call("tanh", x)
        assert not learning._ratios
        monkeypatch.setitem(sys.modules, "imported_late", pytest)
        here.call("tanh", larger)
        assert {(backend, function) for backend, function, _ in learning._ratios} == {("numpy", "tanh")}
        assert here.call("tanh", x).device.library == "sim"


def test_a_call_is_timed_where_it_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    model = wrong(true_model(), "sim", "transcendental", 0.1)
    costs = model.backends["sim"]._replace(first={"transcendental": 0.04})  # more than a quarter of the call
    with world(model._replace(backends={**model.backends, "sim": costs}), monkeypatch) as here:
        x = xp.ones(16 * N)
        for _ in range(6):
            x = here.call("tanh", x)
        assert x.device.library == "sim"
        (ratios,) = learning._ratios["sim", "tanh", 8].values()
        assert min(ratios) == pytest.approx(10.0, rel=0.3)


def test_a_long_call_moves_on_the_word_of_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = wrong(true_model(), "numpy", "transcendental", 1000.0)  # 6.6 s predicted
    with world(slow, monkeypatch) as here:
        assert here.call("tanh", xp.ones(N)).device.library == "sim"


def test_a_call_that_is_timed_misses_nothing_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    model = wrong(true_model(), "numpy", "transcendental", 10.0)
    costs = model.backends["sim"]._replace(first={"transcendental": 0.03})  # less than is missed by the profile alone
    with world(model._replace(backends={**model.backends, "sim": costs}), monkeypatch) as here:
        for _ in range(3):
            assert here.call("tanh", xp.ones(N)).device.library == "numpy"


def test_a_repeated_decision_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[str] = []
    decide = automatic.decide
    with world(true_model(), monkeypatch) as here:
        x = xp.ones(N)
        for _ in range(10):
            x = here.call("tanh", x)
        assert x.device.library == "sim"
        monkeypatch.setattr(automatic, "decide", lambda name, *a, **k: decided.append(name) or decide(name, *a, **k))
        for _ in range(10):
            x = here.call("tanh", x)
    assert not decided


def test_the_least_of_the_last_times_counts() -> None:
    call = cost.call("tanh", [(N,)], [xp.float64])
    assert call is not None
    for seconds, factor in ((5.0, 5.0), (2.0, 2.0), (3.0, 2.0), (4.0, 2.0), (4.0, 3.0)):
        learning.note("numpy", call, seconds)
        assert learning.factor("numpy", call) == factor
    learning.forget()
