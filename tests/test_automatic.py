"""The automatic choice on a simulated accelerator.

Tested are its bounds, what it moves and when, and what it says about it. The model is made of the simulated machine's
own figures, so predictions are exact, and the clock of NumPy's side is what the model says. So the bounds are those of
the rule, not of measurements.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anyarray as xp
from anyarray import testing
from anyarray._calibration import explanation
from anyarray._choice import automatic, choice, cost, learning, whole_functions
from anyarray._choice import machine as _machine
from anyarray._choice.law import Law
from anyarray.backends import sim
from anyarray.transforms import _jit

UNIT: Final = 1e-3
"""Seconds of a call with the factor 1."""
FUNCTIONS: Final = ("negative", "sin", "tanh")
N: Final = 16
"""Elements; what a call takes does not depend on it here."""

Factors = dict[str, float]


def model_of(numpy: Factors, sim: Factors, latency: float, bandwidth: float = 1e12) -> cost.Model:
    """The model of a machine where calls take their factor times `UNIT`."""

    def costs(factors: Factors) -> cost.Costs:
        laws = {name: Law(factor * UNIT) for name, factor in factors.items()}
        return cost.Costs({"arithmetic": Law(UNIT), "transcendental": Law(UNIT), **laws})

    route = cost.Route(Law(latency, latency * bandwidth))
    backends = {"numpy": costs(numpy), "sim": costs(sim)}
    return cost.Model(backends, {("numpy", "sim"): route, ("sim", "numpy"): route})


@pytest.fixture(autouse=True, scope="module")
def every_gain_counts() -> Iterator[None]:
    """Let a decision take no time, as calls take next to nothing here.

    What a decision takes is no part of the rule.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "DECIDING", 0.0)
        yield


class World:
    """A simulated machine and its model; counts what a program takes.

    NumPy's calls count too.
    """

    def __init__(self, numpy: Factors, sim: Factors, latency: float, machine: testing.Machine) -> None:
        self.numpy = numpy
        self.sim = sim
        self.latency = latency
        self.machine = machine
        self.decisions: list[xp.Decision] = []
        self.calls: list[str] = []
        self.host = 0.0

    def call(self, name: str, x: xp.Array) -> xp.Array:
        self.calls.append(name)
        function: Callable[[xp.Array], xp.Array] = getattr(xp, name)
        y = function(x)
        if y.device.library == "numpy":
            self.host += self.numpy[name] * UNIT
        return y

    @property
    def seconds(self) -> float:
        return self.host + self.machine.seconds

    @property
    def on_numpy(self) -> float:
        """What NumPy alone takes."""
        return sum(self.numpy[name] for name in self.calls) * UNIT

    @property
    def in_hindsight(self) -> float:
        """The least that any choice takes which starts and ends in NumPy."""
        here, there = 0.0, self.latency
        for name in self.calls:
            here, there = here + self.numpy[name] * UNIT, there + self.sim[name] * UNIT
            here, there = min(here, there + self.latency), min(there, here + self.latency)
        return here

    def assert_bounds(self) -> None:
        """Each function has an account, as full as the one that moves."""
        functions = len(set(self.calls))
        assert self.seconds <= max(2, (6 + functions) / 4) * self.on_numpy * (1 + 1e-6)
        assert self.seconds <= 4 * functions * self.in_hindsight * (1 + 1e-6)


@contextmanager
def world(numpy: Factors, sim: Factors, latency: float, **figures: Any) -> Iterator[World]:
    """A machine whose transfers take `latency` seconds."""
    with testing.simulated(
        launch=UNIT, speed=math.inf, latency=latency, bandwidth=1e12, factors=sim, **figures
    ) as machine:
        xp.device("sim")
        _machine.use(model_of(numpy, sim, latency))
        try:
            with xp.backend("auto"):
                yield World(numpy, sim, latency, machine)
        finally:
            _machine.use(None)


def repeated(function: str) -> Any:
    """The warning that a call ran on NumPy after it had failed elsewhere."""
    return pytest.warns(
        xp.OutOfMemoryWarning, match=rf"^{function}: sim is out of memory, so the call is repeated on numpy$"
    )


def read(x: xp.Array) -> np.ndarray[Any, Any]:
    """The values, brought to NumPy if they are not there."""
    return np.asarray(xp.to_native(x, like="numpy"))


costs = st.sampled_from([1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0])
factors = st.fixed_dictionaries(dict.fromkeys(FUNCTIONS, costs))
latencies = st.sampled_from([1e-6, 1e-4, 1e-3, 3e-3, 2e-2])


@given(
    numpy=factors,
    sim=factors,
    latency=latencies,
    calls=st.lists(st.sampled_from(sorted(FUNCTIONS)), max_size=60),
)
def test_random_work_stays_within_the_bounds(numpy: Factors, sim: Factors, latency: float, calls: list[str]) -> None:
    with world(numpy, sim, latency) as here:
        x = xp.ones(N)
        for name in calls:
            x = here.call(name, x)
        read(x)
        here.assert_bounds()


@given(fast=costs, slow=costs, latency=latencies, steps=st.integers(1, 80))
def test_an_adversary_who_sees_where_the_data_is_stays_within_the_bounds(
    fast: float, slow: float, latency: float, steps: int
) -> None:
    numpy: Factors = {"sin": slow, "tanh": fast * 1e-3, "negative": 1.0}
    sim: Factors = {"sin": fast * 1e-3, "tanh": slow, "negative": 1.0}
    with world(numpy, sim, latency) as here:
        x = xp.ones(N)
        for _ in range(steps):
            x = here.call("sin" if x.device.library == "numpy" else "tanh", x)
        read(x)
        here.assert_bounds()


@pytest.mark.parametrize("latency", [1e-5, 2e-2], ids=["unified memory", "over a bus"])
def test_fresh_data_in_every_step_stays_within_the_bound_of_numpy(latency: float) -> None:
    with world({"sin": 1.0, "tanh": 1.0, "negative": 1.0}, {"sin": 0.1, "tanh": 3.0, "negative": 0.5}, latency) as here:
        for _ in range(50):
            x = xp.ones(N)
            for name in ("sin", "negative", "tanh"):
                x = here.call(name, x)
            read(x)
        assert here.seconds <= 2 * here.on_numpy * (1 + 1e-6)


def test_what_nobody_does_faster_keeps_what_was_missed() -> None:
    # Without it each negation begins anew, and 133 sines of 400 calls never come to the 8 that pay for the move.
    numpy, sim = {"negative": 0.037, "sin": 0.98, "tanh": 0.018}, {"negative": 0.044, "sin": 0.065, "tanh": 0.013}
    with world(numpy, sim, latency=1.8e-3) as here:
        x = xp.ones(N)
        for i in range(400):
            x = here.call(("sin", "negative", "tanh")[i % 3], x)
        read(x)
        here.assert_bounds()


@pytest.mark.parametrize("importing", [0.0, 0.05])
@given(numpy=factors, sim=factors, latency=latencies, calls=st.lists(st.sampled_from(sorted(FUNCTIONS)), max_size=60))
def test_a_program_runs_where_it_does_when_it_is_watched(
    importing: float, numpy: Factors, sim: Factors, latency: float, calls: list[str]
) -> None:
    # Calls that stay in NumPy are decided about no more unless they are recorded.
    def ran(*, is_watched: bool) -> list[tuple[str, list[dict[str, float]]]]:
        with world(numpy, sim, latency) as here, xp.explain() if is_watched else nullcontext():
            arrays = [xp.ones(N)]
            for name in calls:
                arrays.append(here.call(name, arrays[-1]))
            return [
                (str(x.device), [one.missed for one in _machine.accounts_of(name).values()])
                for x, name in zip(arrays, ["", *calls], strict=True)
            ]

    with pytest.MonkeyPatch.context() as patch:
        if importing:
            patch.setattr(automatic, "importing", lambda name, known: importing)
            patch.setattr(automatic, "package_of", lambda name: "one that is not imported")
        assert ran(is_watched=False) == ran(is_watched=True)


def test_who_waits_for_an_import_decides_anew_once_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    with world({"sin": 1.0}, {"sin": 0.1}, latency=1e-4) as here:
        monkeypatch.setattr(automatic, "importing", lambda name, known: 10.0)
        monkeypatch.setattr(automatic, "package_of", lambda name: "one_that_is_imported_late")
        x = xp.ones(N)
        for _ in range(5):
            assert here.call("sin", x).device.library == "numpy"
        (resident,) = _machine.accounts_of("sin").values()
        assert [wait.name for wait in resident.waits] == ["sim"]
        monkeypatch.setitem(sys.modules, "one_that_is_imported_late", os)
        monkeypatch.setattr(automatic, "importing", lambda name, known: 0.0)
        assert here.call("sin", x).device.library == "sim"


def test_axes_in_an_ndarray_are_axes_where_calls_are_decided() -> None:
    with world(EVEN, EVEN, latency=1e-6):
        _machine.limit_of("max").set(cost.Limits(0, 0, 0, 0))
        x = xp.asarray([[1.0, 2.0], [3.0, 0.0]])
        assert xp.max(x, axis=np.array([0, 1])) == 3.0
        assert xp.max(x, axis=np.array(0)).tolist() == [3.0, 2.0]


def test_who_waits_for_compiling_decides_anew_once_it_is_done() -> None:
    with world({"sin": 1.0}, {"sin": 0.1}, latency=1e-4):
        known = _machine.state.model
        assert known is not None
        costs = known.backends["sim"]._replace(first={"transcendental": 10.0})
        _machine.use(known._replace(backends=dict(known.backends, sim=costs)))
        x = xp.ones(N)
        assert [xp.sin(x).device.library for _ in range(5)] == ["numpy"] * 5
        (resident,) = _machine.accounts_of("sin").values()
        assert [(wait.name, wait.package) for wait in resident.waits] == [("sim", "")]
        with xp.policy(candidates=["sim"]):
            assert xp.sin(x).device.library == "sim"
        assert xp.sin(x).device.library == "sim"


EVEN: Final = dict.fromkeys(FUNCTIONS, 1.0)


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions about whose calls a decision was made."""
    found: list[str] = []
    decide = automatic.decide
    monkeypatch.setattr(automatic, "decide", lambda name, *a, **k: found.append(name) or decide(name, *a, **k))
    return found


def test_a_move_that_has_not_paid_yet_is_decided_about_again_when_it_may(decided: list[str]) -> None:
    with world({**EVEN, "sin": 3.0}, EVEN, latency=9.9 * UNIT) as here:
        x = xp.ones(N)
        places = []
        for _ in range(20):
            x = here.call("sin", x)
            places.append(x.device.library)
    # 2 ms are missed by each call, and twice 19.8 pay for the move, which is decided anew.
    assert places == ["numpy"] * 19 + ["sim"]
    assert decided == ["sin"] * 2


def test_a_resident_call_is_decided_about_once(decided: list[str]) -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=UNIT) as here:
        x = here.call("sin", xp.ones(N))
        for _ in range(10):
            x = here.call("tanh", here.call("negative", x))
            x = xp.where(x > 3, x, 0.5)
    assert decided.count("negative") == decided.count("tanh") == 1
    assert decided.count("where") <= 2


def test_a_call_that_is_not_predicted_is_decided_about_once(decided: list[str]) -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=UNIT) as here:
        x = here.call("sin", xp.ones(N))
        assert [xp.nonzero(x)[0].device.library for _ in range(5)] == ["sim"] * 5
    assert decided.count("nonzero") == 1


@pytest.mark.parametrize(("numpys", "place"), [(3.0, "sim"), (1.2, "numpy")])
def test_a_call_of_arrays_in_two_places_runs_where_it_ends_first(numpys: float, place: str) -> None:
    with world({**EVEN, "sin": 100.0, "add": numpys}, {**EVEN, "add": 1.0}, latency=1.5 * UNIT) as here:
        x, y = xp.ones(N), here.call("sin", xp.ones(N))
        assert xp.add(x, y).device.library == xp.add(y, x).device.library == place


def test_a_move_that_pays_for_itself_spends_nothing_that_others_missed() -> None:
    # Each tanh misses 2 ms. Where x is on the device, its result alone has to go back, which takes 2.5.
    with world({**EVEN, "sin": 100.0, "tanh": 3.0}, EVEN, latency=2.5 * UNIT) as here:
        x, places = xp.ones(N), []
        for _ in range(3):
            assert here.call("sin", x).device.library == "sim"
            places.append(here.call("tanh", x).device.library)
    assert places == ["numpy", "numpy", "sim"]


def test_a_move_spends_no_more_than_its_price_of_what_was_missed() -> None:
    # Each sine misses 9 ms and each negative of the device's 0; a move there and back takes 10.
    with world({**EVEN, "sin": 10.0}, EVEN, latency=5e-3) as here:
        x = xp.ones(N)
        places = [here.call("negative", here.call("sin", x)).device.library for _ in range(8)]
        here.assert_bounds()
    assert places[-1] == "sim"


def test_what_compiling_takes_drives_data_away_only_until_it_is_paid() -> None:
    with world({**EVEN, "sin": 100.0, "tanh": 1.2}, {**EVEN, "sin": 0.5, "tanh": 0.5}, latency=1e-4) as here:
        known = _machine.state.model
        assert known is not None
        costs = known.backends["sim"]._replace(first={"transcendental": 3 * UNIT})
        _machine.use(known._replace(backends=dict(known.backends, sim=costs)))
        x = here.call("sin", xp.ones(N))
        places = [here.call("tanh", x + 0).device.library for _ in range(12)]
    assert (places[0], places[-1]) == ("numpy", "sim")


def test_a_kept_move_asks_whether_the_device_has_room(decided: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic, "ASKED", 1)
    has_room = True
    monkeypatch.setattr(automatic, "has_room", lambda name, nbytes: has_room)
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6):
        assert [xp.sin(xp.ones(N)).device.library for _ in range(4)] == ["sim"] * 4
        count = len(decided)
        assert count < 4
        has_room = False
        assert xp.sin(xp.ones(N)).device.library == "numpy"
        assert len(decided) == count + 1


@pytest.mark.parametrize("kept", [0, 3])
def test_a_move_that_fails_for_lack_of_memory_is_handed_back(kept: int) -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6) as here:
        for _ in range(kept):
            assert here.call("sin", xp.ones(N)).device.library == "sim"
        here.machine.memory = 8.0
        with repeated("sin"):
            y = xp.sin(xp.ones(N))
    assert y.device.library == "numpy" and y.tolist() == pytest.approx([math.sin(1)] * N)


def test_a_long_loop_moves_once() -> None:
    with world(EVEN, dict.fromkeys(FUNCTIONS, 0.1), latency=5e-3) as here:
        x = xp.ones(N)
        for _ in range(300):
            x = here.call("sin", x)
        assert x.device.library == "sim"
        assert here.machine.transfers == 1


def test_ping_pong_does_not_thrash() -> None:
    numpy, sim = {**EVEN, "tanh": 0.1}, {**EVEN, "sin": 0.1}
    with world(numpy, sim, latency=5e-3) as here:
        x = xp.ones(N)
        for _ in range(200):
            x = here.call("tanh", here.call("sin", x))
        read(x)
        assert here.machine.transfers * 5e-3 <= here.on_numpy
        here.assert_bounds()


def test_one_call_that_pays_there_and_back_moves_at_once_and_both_copies_stay_valid_until_a_write() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=5e-3) as here:
        x = xp.ones(N)
        assert [xp.sin(x).device.library for _ in range(3)] == ["sim"] * 3
        assert here.machine.transfers == 1
        assert xp.tanh(xp.ones(N)).device.library == "numpy"
        x[0] = 2
        assert float(xp.to_native(xp.sin(x), like="numpy")[0]) == math.sin(2)
        assert here.machine.transfers == 3


def test_placed_arrays_are_never_moved() -> None:
    with world({**EVEN, "sin": 1000.0}, EVEN, latency=1e-6):
        for name in ("numpy", "sim"):
            assert xp.sin(xp.ones(N, device=name)).device is xp.device(name)


def test_importing_is_part_of_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6):
        monkeypatch.setattr(automatic, "importing", lambda name, known: 10.0)
        x = xp.ones(N)
        places = [xp.sin(x).device.library for _ in range(250)]
    # 0.099 s are missed by each call; twice ten seconds make 203 of them.
    assert places.index("sim") == 202


def test_what_the_program_imported_itself_has_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6) as here:
        model = model_of(here.numpy, here.sim, here.latency)
        known = model._replace(backends={"jax-cpu": cost.Costs({}, importing=3.0)})
        monkeypatch.setitem(sys.modules, "jax", None)
        assert automatic.importing("jax-cpu", known) == 0.0
        monkeypatch.delitem(sys.modules, "jax")
        assert automatic.importing("jax-cpu", known) == 3.0


OFFER: Final = automatic.Offer("sim", working=0.25, arriving=0.5, returning=0.5, once=0.0)
WEIGHED: Final[dict[str, tuple[dict[str, float], bool, bool]]] = {
    # 0.75 s are saved, and 1 s is the price.
    "nothing missed": ({}, False, False),
    "this call alone": ({"returning": 0.0}, True, True),
    "this call alone, and its return": ({"returning": 0.25}, True, True),
    "this call alone, not its return": ({"returning": 0.375}, False, False),
    "this call alone, or error": ({"working": 0.375, "returning": 0.0}, False, False),
    "twice the price, or error": ({"working": 0.6875, "arriving": 0.125, "returning": 0.0}, False, False),
    "the same, and something missed": (
        {"working": 0.6875, "arriving": 0.125, "returning": 0.0, "missed": 0.1},
        False,
        True,
    ),
    "too little missed": ({"missed": 1.0}, False, False),
    "twice the price missed": ({"missed": 1.25}, False, True),
    "too little missed to buy it": ({"missed": 3.0, "once": 1.0}, False, False),
    "enough missed to buy it": ({"missed": 3.25, "once": 1.0}, False, True),
    "nothing saved": ({"working": 1.0, "missed": 9.0}, False, False),
}


@pytest.mark.parametrize(("others", "pays_alone", "pays"), WEIGHED.values(), ids=WEIGHED)
def test_an_offer_is_weighed_by_the_rule(others: dict[str, Any], pays_alone: bool, pays: bool) -> None:
    offer = OFFER._replace(**{name: one for name, one in others.items() if name != "missed"})
    assert (offer.pays_alone(1.0), offer.pays(1.0, others.get("missed", 0.0))) == (pays_alone, pays)
    home = OFFER._replace(name="numpy")  # to go home the price is missed once
    assert (home.pays(1.0, 0.125), home.pays(1.0, 0.25)) == (False, True)
    assert OFFER.pays_alone(2.0)  # what compiling here takes is saved elsewhere


@pytest.mark.parametrize(
    ("there", "kind", "counts"),
    [
        ("jax-cpu", "svd", False), ("jax-cpu", "matmul", False), ("jax-cpu", "transcendental", True),
        ("jax-gpu", "svd", True), ("numpy", "svd", True),
    ],
)  # fmt: skip
def test_a_blas_beside_numpys_must_gain_more(there: str, kind: str, counts: bool) -> None:
    here = "tf-cpu" if there == "numpy" else "numpy"
    assert automatic.gains(here, 1.0, there, 0.6, kind) is counts
    assert automatic.gains(here, 1.0, there, 0.45, kind)


def test_the_decisions_are_the_same_every_time() -> None:
    def places() -> list[str]:
        with world({**EVEN, "sin": 3.0}, {**EVEN, "tanh": 4.0}, latency=2e-3) as here:
            x, found = xp.ones(N), []
            for i in range(60):
                x = here.call(("sin", "tanh", "sin")[i % 3], x)
                found.append(x.device.name)
            return found

    assert places() == places()


def test_a_broadcast_of_small_arrays_is_not_small() -> None:
    model = model_of(EVEN, EVEN, 1e-6)
    backends = {"numpy": cost.Costs({"arithmetic": Law(1e-9, 1.0)}), "sim": cost.Costs({"arithmetic": Law(1e-5, 1e6)})}
    with testing.simulated():
        xp.device("sim")
        _machine.use(cost.Model(backends, model.routes))
        x, y = xp.ones((3000, 1)), xp.ones((1, 3000))
        assert (x + y).device.library == "sim"
        assert (x + x).device.library == "numpy"
        column, row = np.ones((3000, 1)), np.ones((1, 3000))
        assert {(x + row).device.library, (row + x).device.library, xp.add(column, y).device.library} == {"sim"}
        assert {(x + column).device.library, (column + x).device.library} == {"numpy"}


def test_the_reason_tells_the_fastest_from_what_gains_too_little_and_from_what_is_not_known() -> None:
    with world(EVEN, {**EVEN, "sin": 0.8, "tanh": 1.2}, latency=1e-3) as here, xp.explain() as why:
        x = xp.ones(N)
        here.call("sin", x)
        here.call("tanh", x)
        xp.linalg.cross(xp.ones((N, 3)), xp.ones((N, 3)))
    assert [decision.reason for decision in why.decisions] == [
        "stays on numpy: elsewhere too little is gained",
        "stays on numpy: the fastest",
        "nothing to decide",
    ]


def test_a_call_that_is_numpys_is_decided_once(decided: list[str]) -> None:
    costs = {
        name: cost.Costs({"transcendental": Law(1e-9, 1.0, narrow=narrow)})
        for name, narrow in (("numpy", 1.0), ("sim", 0.01))
    }
    with testing.simulated(), xp.backend("auto"):
        xp.device("sim")
        _machine.use(cost.Model(costs, model_of(EVEN, EVEN, 1.0).routes))
        x = xp.ones(1 << 20)
        decided.clear()
        for _ in range(3):
            xp.exp(x)
        assert decided == ["exp"]
        xp.exp(x[1:])
        xp.exp(xp.ones(1 << 20, dtype=xp.float32))
    assert decided.count("exp") == 3


def test_a_reduction_along_an_axis_is_decided_for_itself() -> None:
    slow, fast = Law(1e-9, 1.0), Law(1e-9, 100.0)
    costs = {
        name: cost.Costs({"extremum": slow, "extremum of short rows": rows})
        for name, rows in (("numpy", slow), ("sim", fast))
    }
    with testing.simulated(), xp.backend("auto"):
        xp.device("sim")
        _machine.use(cost.Model(costs, model_of(EVEN, EVEN, 1e-6).routes))
        x = xp.reshape(xp.ones(1 << 20), (-1, 16))
        for _ in range(3):
            assert xp.max(x).device.library == "numpy"
        assert xp.max(x, axis=1).device.library == "sim"
        assert xp.max(xp.reshape(xp.ones(1 << 20), (16, -1)), axis=1).device.library == "numpy"
        assert xp.max(x, axis=0).device.library == "numpy"


VIEWS: Final[dict[str, Callable[[xp.Array], xp.Array]]] = {
    "none": lambda x: x,
    "slice": lambda x: x[:],
    "transpose": lambda x: x.T,
    "reshape": lambda x: xp.reshape(x, (4, 4)),
    "flip": lambda x: xp.flip(x),
    "copy": lambda x: xp.asarray(x, copy=True),
    "astype": lambda x: xp.astype(x, xp.float64),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_between_calls_keeps_what_was_missed(view: Callable[[xp.Array], xp.Array]) -> None:
    def last(numpy: Factors, sim: Factors) -> str:
        with world(numpy, sim, latency=5e-3) as here:
            x = here.call("sin", xp.ones((4, 4)))
            for _ in range(20):
                x = here.call("tanh", view(x))
        return x.device.library

    # 4 ms are missed by each call, and moving there and back takes 10.
    assert last({**EVEN, "tanh": 5.0}, EVEN) == "sim"
    assert last({**EVEN, "sin": 100.0}, {**EVEN, "tanh": 5.0}) == "numpy"


@pytest.mark.parametrize("read_only", [False, True])
def test_data_that_every_turn_starts_from_goes_home_with_the_call_that_pays(read_only: bool) -> None:
    with world({**EVEN, "sin": 100.0}, {**EVEN, "tanh": 5.0}, latency=2e-2, read_only=read_only) as here:
        x = here.call("sin", xp.ones(N))
        places = [here.call("tanh", x).device.library for _ in range(100)]
        here.assert_bounds()
        assert places.count("numpy") == places[::-1].index("sim")  # once there it stays
        x[0] = 2
        assert float(read(here.call("tanh", x))[0]) == math.tanh(2)


def test_each_array_that_goes_home_is_brought_once() -> None:
    with world({**EVEN, "sin": 100.0, "tanh": 0.5}, {**EVEN, "tanh": 5.0}, latency=UNIT / 10) as here:
        arrays = [here.call("sin", xp.ones(N)) for _ in range(3)]
        before = here.machine.transfers
        assert {here.call("tanh", x).device.library for x in arrays for _ in range(3)} == {"numpy"}
        assert here.machine.transfers == before + len(arrays)


@pytest.mark.parametrize(("host", "device", "place"), [(0.7, 1.0, "numpy"), (0.8, 1.0, "sim")])
def test_a_quarter_is_gain_enough_to_go_home(host: float, device: float, place: str) -> None:
    with world({**EVEN, "sin": 100.0, "tanh": host}, {**EVEN, "tanh": device}, latency=1e-6) as here:
        assert here.call("tanh", here.call("sin", xp.ones(N))).device.library == place


def test_a_policy_moves_no_data_home() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-3):
        x = xp.sin(xp.ones(N))
        with xp.policy(candidates=["numpy"]):
            assert xp.tanh(x).device.library == "numpy"
        assert xp.tanh(x).device.library == "sim"


def test_reading_a_little_of_much_that_is_won_moves_nothing_home() -> None:
    with world({**EVEN, "sin": 100.0, "tanh": 5.0}, EVEN, latency=2e-3) as here:
        x = here.call("sin", xp.ones(N))
        for _ in range(100):
            x = here.call("tanh", x)
            read(x)
        assert x.device.library == "sim"


def test_a_device_that_runs_full_sends_the_call_to_the_host() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6, memory=8.0 * N):
        y = xp.sin(xp.ones(N))
        assert y.device.library == "sim"
        with repeated("add"):
            z = xp.reshape(y, (N, 1)) + y
        assert z.device.library == "numpy"
        assert z[3, 4] == pytest.approx(2 * math.sin(1))


def test_who_is_careful_meets_an_error_that_comes_with_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(x: Any) -> None:
        raise MemoryError("allocating 1 bytes")

    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6):
        monkeypatch.setattr(sim, "synchronize", exhausted, raising=False)
        with xp.policy(careful=True), repeated("sin"):
            y = xp.sin(xp.ones(N))
    assert y.tolist() == pytest.approx([math.sin(1)] * N)


def test_a_device_without_float64_is_no_candidate_for_it() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6, float32_only=True):
        assert xp.sin(xp.ones(N)).device.library == "numpy"
        assert xp.sin(xp.ones(N, dtype=xp.float32)).device.library == "sim"


def test_an_explanation_pickles(backend: xp.Backend) -> None:
    with xp.backend("auto"), xp.explain() as why:
        xp.sum(xp.ones(3, device=backend))
    (again,) = pickle.loads(pickle.dumps(why)).decisions
    assert again.home is why.decisions[0].home
    assert again.function == "sum"


def test_explain_says_where_and_why() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=5e-3), xp.explain() as why:
        xp.tanh(xp.sin(xp.ones(N)))
    first, second = why.decisions
    assert (first.function, first.shapes, first.home.backend.name) == ("sin", ((N,),), "sim")
    assert first.reason == "moves from numpy: this call alone pays for it"
    assert first.predicted == pytest.approx({"numpy": 100 * UNIT, "sim": UNIT + 2 * 5e-3}, rel=1e-3)
    assert first.transferred == pytest.approx(5e-3, rel=1e-3)
    assert first.seconds is not None and second.seconds is not None
    assert second.reason == "stays on sim: the fastest"
    assert why.predicted_on_numpy == pytest.approx(101 * UNIT)
    assert "sin" in str(why) and "all in NumPy: 101 ms" in str(why)


def test_an_explanation_has_a_row_for_calls_that_were_decided_alike() -> None:
    with world({**EVEN, "sin": 3.0}, EVEN, latency=100 * UNIT), xp.explain() as why:
        x = xp.ones(N)
        for _ in range(5):
            xp.tanh(x)
        xp.sin(x)
    over, heads, tanh, of_tanh, sin, of_sin, took, predicted = str(why).splitlines()
    assert over.strip() == "predicted:"
    assert heads.split() == "ran on calls took numpy sim moving".split()
    assert tanh == f"tanh ({N},) stays on numpy: the fastest"
    assert of_tanh.split()[:2] == ["numpy", "5"]
    assert sin == f"sin ({N},) stays on numpy: moving has not paid yet (to sim: 200 ms)"
    assert of_sin.split()[:2] == ["numpy", "1"]
    assert took.startswith("took: numpy ") and len(why) == 6
    assert predicted == "predicted: 8.00 ms, all in NumPy: 8.00 ms"


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_an_explanation_is_as_wide_as_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    home, names = xp.asarray(1)._home, ("numpy", "tf-gpu", "jax-gpu", "cupy")
    seconds = dict.fromkeys(names, 0.123456)
    decisions = [
        xp.Decision(function, shapes, home, home, "reason", seconds, seconds, transferred=0.0123, seconds=0.0123)
        for function, shapes in (
            ("concat", ((1_000_000,),) * 30 + ((3, 4, 5), (2,)) * 9),
            ("subtract", ((1000, 1000, 1), (1, 1000))),
        )
    ]
    printed = str(xp.Explanation(decisions))
    assert max(map(len, printed.splitlines())) <= columns
    assert printed.count("123 ms") == 2 * len(names) and printed.count("12.3 ms") >= 2 * 2
    assert "30*(1000000,) (3,4,5) (2,)" in printed and "subtract (1000,1000,1) (1,1000)" in printed
    assert repr(xp.Explanation(decisions)) == printed


def test_an_explanation_of_nothing_says_so() -> None:
    with xp.explain() as why:
        pass
    assert str(why) == "No call was decided."


def test_an_explanation_adds_up_what_was_spent_and_not_what_moves_were_weighed_at() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=5e-3) as here, xp.explain() as why:
        x = here.call("sin", xp.ones(N))
        x = here.call("tanh", x)
        xp.roll(x, 1)
    assert why.decisions[0].predicted["sim"] == pytest.approx(11 * UNIT)
    assert why.predicted_seconds == pytest.approx(7 * UNIT)
    assert why.predicted_on_numpy == pytest.approx(101 * UNIT)
    assert str(why).splitlines()[-1] == "predicted: 7.00 ms, all in NumPy: 101 ms, of 2 of 3 calls"


def test_an_explanation_predicts_the_call_itself_and_gives_the_price_apart() -> None:
    with world({**EVEN, "sin": 3.0}, EVEN, latency=100 * UNIT), xp.explain() as why:
        xp.sin(xp.ones(N))
    _, _, sin, numbers, *_ = str(why).splitlines()
    assert numbers.split()[-4:] == ["3.00", "ms", "1.00", "ms"]
    assert sin.endswith("moving has not paid yet (to sim: 200 ms)")
    with world(EVEN, EVEN, latency=5e-3), xp.policy(candidates=["sim"]), xp.explain() as why:
        xp.tanh(xp.ones(N))
    assert (why.predicted_seconds, why.predicted_on_numpy) == pytest.approx((6 * UNIT, UNIT))


def test_an_explanation_tells_importing_from_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    is_imported: list[bool] = []
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6), xp.explain() as why:
        monkeypatch.setattr(automatic, "importing", lambda name, known: 0.0 if is_imported else 0.02)
        monkeypatch.setattr(automatic, "has_dtypes", lambda *_: is_imported.append(True) or True)
        assert xp.sin(xp.ones(N)).device.library == "sim"
    assert [(one.bought, one.imported) for one in why.decisions] == [(0.02, 0.02)]


def test_an_explanation_has_calls_that_raised() -> None:
    with world(EVEN, EVEN, latency=UNIT), xp.explain() as why, pytest.raises(ValueError, match="reshape"):
        xp.reshape(xp.ones(N), (N, N))
    assert [one.reason for one in why.decisions] == ["raised ArgumentValueError"]
    assert why.decisions[0].seconds is not None


def test_without_a_profile_nobody_is_asked_any_more_and_explain_says_so() -> None:
    _machine.forget()
    xp.sin(xp.ones(100_000))
    assert choice.process_default.backend is None
    with xp.backend("auto"), xp.explain() as why:
        xp.sin(xp.ones(3)) + xp.ones(3, device="numpy")
    assert [one.reason for one in why.decisions] == ["stays: no profile of this machine", "an input is placed on numpy"]


def test_a_policy_narrows_the_choice_also_inside_auto_and_explain() -> None:
    with world({**EVEN, "sin": 100.0}, EVEN, latency=1e-6):
        for name in ("numpy", "sim"):
            with xp.policy(candidates=[name]), xp.explain() as why, xp.backend("auto"):
                assert xp.sin(xp.ones(N)).device.library == xp.tanh(xp.ones(N)).device.library == name
            assert [one.home.backend.name for one in why.decisions] == [name] * 2


def test_a_policy_that_leaves_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = "policy: none of the candidates can be used here: cupy. Add one that can: "
    monkeypatch.setattr(explanation, "_present", lambda name: [])
    with pytest.raises(xp.BackendError, match=absent), xp.policy(candidates=["cupy"]):
        pass


def test_a_policy_narrows_the_choice_of_whole_functions() -> None:
    @xp.jit
    def doubled(x: xp.Array) -> xp.Array:
        return x * 2

    with testing.simulated():
        xp.device("sim")
        for model in (fused_model(compiling=0.0), None):
            _machine.use(model)
            for name in ("sim", "numpy", "sim"):
                with xp.policy(candidates=[name]):
                    assert doubled(xp.ones(N)).device.library == name


@pytest.fixture
def unmeasured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> pytest.LogCaptureFixture:
    """What is logged on a machine without a profile."""
    monkeypatch.setenv("ANYARRAY_PROFILE", str(tmp_path / "none.json"))
    xp.set_default_backend("auto")
    _machine.forget()
    return caplog


HINT: Final = (
    "anyarray: calls run where their arrays are, as this machine is not measured. Run: python -m anyarray calibrate"
)


@pytest.mark.parametrize(
    "call",
    [lambda: xp.ones(100_000), lambda: xp.asarray(np.ones(100_000)), lambda: xp.sin(np.ones(100_000))],
    ids=["made", "handed in", "of a native array"],
)
def test_the_first_large_call_mentions_calibrate_once(
    call: Callable[[], Any], unmeasured: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xp.sin(xp.ones(100))
        assert unmeasured.messages == []
        for _ in range(2):
            call()
    assert unmeasured.messages == [HINT]


def test_the_hint_is_seen_without_any_logging_set_up(tmp_path: Path) -> None:
    pytest.importorskip("jax")  # else there is nothing to choose
    program = "import anyarray as xp; x = xp.ones(5_000_000); [xp.sum(x) for _ in range(100)]"
    environment = {**os.environ, "ANYARRAY_PROFILE": str(tmp_path / "none.json")}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == HINT + "\n"


def test_nothing_is_mentioned_where_a_backend_is_chosen_or_no_profile_wanted(
    unmeasured: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    xp.ones(3)
    with xp.backend("numpy"):
        xp.sin(xp.ones(100_000))
    monkeypatch.setenv("ANYARRAY_PROFILE", "off")
    _machine.forget()
    xp.sin(xp.ones(100_000))
    assert unmeasured.messages == []


@pytest.fixture
def learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs is timed."""
    monkeypatch.setattr(learning, "is_on", lambda: True)


@contextmanager
def compiling_world(compiling: float, **figures: Any) -> Iterator[testing.Machine]:
    """An accelerator with the model of `fused_model`; the automatic choice."""
    with testing.simulated(**figures) as machine, xp.backend("auto"):
        xp.device("sim")
        _machine.use(fused_model(compiling))
        yield machine


def fused_model(compiling: float) -> cost.Model:
    """A model where a compiled chain takes a tenth of NumPy's time.

    Compiling takes `compiling` seconds.
    """
    route = cost.Route(Law(1e-6))
    return cost.Model(
        {"numpy": cost.Costs({}, fused=Law(1.0)), "sim": cost.Costs({}, fused=Law(0.1), compiling=compiling)},
        {("numpy", "sim"): route, ("sim", "numpy"): route},
    )


def places_of(whole: whole_functions.WholeFunction, calls: int, seconds: dict[str, float]) -> list[str]:
    """Where calls run that take so long on each backend."""
    xp.device("sim")
    found = []
    for _ in range(calls):
        x = xp.ones(N)
        name = whole.decide("f", x._home, [x]).home.backend.name
        whole.note(name, seconds[name])
        found.append(name)
    return found


def test_a_whole_function_is_compiled_when_that_has_paid() -> None:
    _machine.use(fused_model(compiling=3.0))
    places = places_of(whole_functions.WholeFunction(), 12, {"numpy": 1.0, "sim": 0.1})
    # 0.9 s are missed by each call whose time is known; twice three seconds make seven of them.
    assert places == ["numpy"] * 7 + ["sim"] * 5


def test_what_compiling_took_counts_for_other_arguments() -> None:
    _machine.use(fused_model(compiling=0.0))
    compiling: dict[str, float] = {}
    first, second = (whole_functions.WholeFunction(None, compiling) for _ in range(2))
    assert places_of(first, 2, {"numpy": 1.0, "sim": 3.0}) == ["numpy", "sim"]
    assert compiling == {"sim": 3.0}
    # As where a profile says so: twice three seconds are missed before it is compiled anew.
    assert places_of(second, 9, {"numpy": 1.0, "sim": 0.1}) == ["numpy"] * 7 + ["sim"] * 2
    assert compiling == {"sim": 0.1}


def test_a_whole_function_goes_back_if_it_turns_out_slower() -> None:
    _machine.use(fused_model(compiling=0.0))
    places = places_of(whole_functions.WholeFunction(), 8, {"numpy": 1.0, "sim": 5.0})
    assert places == ["numpy", "sim", "sim", "numpy", "numpy", "numpy", "numpy", "numpy"]


@pytest.mark.usefixtures("learns")
def test_a_whole_function_that_fails_elsewhere_runs_where_its_arguments_are() -> None:
    with compiling_world(0.0) as machine:

        @xp.jit
        def refusing(x: xp.Array) -> xp.Array:
            x = long_chain(x)
            if x.device.library == "sim":
                raise xp.UnsupportedError("no kernel")
            return x

        assert [refusing(xp.ones(N)).device.library for _ in range(4)] == ["numpy"] * 4
        done = machine.operations
        refusing(xp.ones(N))
        assert 0 < done == machine.operations


def long_chain(x: xp.Array) -> xp.Array:
    for _ in range(2000):
        x = x * 0.5 + 1
    return x


@pytest.mark.usefixtures("learns")
def test_a_whole_function_without_memory_elsewhere_is_handed_back_as_explain_says() -> None:
    with compiling_world(0.0, memory=8.0), xp.explain() as why:
        slow = xp.jit(long_chain)
        x = xp.ones(N)
        slow(x)
        for expected in (repeated("jit"), nullcontext()):
            with expected:
                assert slow(x).device.library == "numpy"
    assert why.decisions[1].home.backend.name == "numpy"
    assert why.decisions[1].reason.startswith("repeated, as sim could not: ")


@pytest.mark.usefixtures("learns")
def test_what_a_whole_function_raises_itself_is_raised_once() -> None:
    with compiling_world(0.0):
        is_wrong = False

        @xp.jit
        def slow(x: xp.Array) -> xp.Array:
            x = long_chain(x)
            if is_wrong:
                raise ValueError("wrong")
            return x

        x = xp.ones(N)
        slow(x)
        is_wrong = True
        with pytest.raises(ValueError, match=r"^wrong$") as caught:
            slow(x)
        assert caught.value.__context__ is None
        is_wrong = False
        assert slow(x).device.library == "sim"  # where it did not fail by itself


def test_ever_new_values_leave_no_more_behind_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jit, "MOST_KNOWN", 8)
    made: list[whole_functions.WholeFunction] = []
    monkeypatch.setattr(_jit, "WholeFunction", lambda *args: made.append(whole := WHOLE(*args)) or whole)
    with compiling_world(1e9):
        scaled = xp.jit(lambda x, by: x * by)
        for i in range(100):
            assert scaled(xp.ones(N), i)[0] == i
    alive = [weakref.ref(one) for one in made]
    made.clear()
    assert len(alive) == 100 and sum(one() is not None for one in alive) <= 8


WHOLE: Final = whole_functions.WholeFunction


@pytest.mark.usefixtures("learns")
def test_jit_runs_a_whole_function_elsewhere() -> None:
    with compiling_world(0.0):
        slow = xp.jit(long_chain)
        x = xp.ones(N)
        assert [slow(x).device.library for _ in range(2)] == ["numpy", "sim"]
        assert slow(xp.ones(N, device="numpy")).device is xp.device("numpy")


@pytest.mark.usefixtures("learns")
@pytest.mark.parametrize("most_saved", [0.0, 1.0])
def test_a_function_by_which_no_backend_can_win_is_decided_about_no_more(
    monkeypatch: pytest.MonkeyPatch, most_saved: float
) -> None:
    decided: list[str] = []
    decide = WHOLE.decide
    monkeypatch.setattr(WHOLE, "CHOOSING", most_saved)
    monkeypatch.setattr(WHOLE, "decide", lambda self, *args: decided.append(args[0]) or decide(self, *args))

    def calls(x: xp.Array, n: object, count: int = 20) -> int:
        """How many of so many calls were decided about."""
        decided.clear()
        for _ in range(count):
            assert times(x, n).tolist() == [2.0] * x.size
        return len(decided)

    with compiling_world(1e9):
        times = xp.jit(lambda x, n: x * n)
        first = WHOLE.MOST + 1  # the last of them finds that it may rest
        for shape in (3, 4):
            for n in (2, 2.0):
                assert calls(xp.ones(shape), n) == (first if most_saved else 20)
        assert calls(xp.ones(3), 2) == (0 if most_saved else 20)
        with xp.explain() as why:
            assert calls(xp.ones(3), 2) == 20
        assert len(why.decisions) == 20
        with xp.policy(candidates=["numpy", "sim"]):
            assert calls(xp.ones(3), 2) == 20
        _machine.use(fused_model(compiling=1e9))  # what was found by another model counts no more
        assert calls(xp.ones(3), 2, count=1) == 1


def test_a_whole_function_stays_where_nothing_is_learned() -> None:
    with compiling_world(0.0), xp.explain() as why:
        slow = xp.jit(long_chain)
        x = xp.ones(N)
        assert {slow(x).device.library for _ in range(5)} == {"numpy"}
    assert {one.reason for one in why.decisions} == {"stays on numpy: nothing is timed"}


@pytest.mark.usefixtures("learns")
def test_explain_records_whole_functions() -> None:
    with compiling_world(0.0), xp.explain() as why:
        slow = xp.jit(long_chain)
        x = xp.ones(N)
        for _ in range(2):
            slow(x)
        slow(xp.ones(3, device="sim"))
    first, second, placed = why.decisions  # and none of what the function calls
    assert {one.function for one in why.decisions} == {"jit(long_chain)"}
    assert [one.shapes for one in why.decisions] == [((N,),), ((N,),), ((3,),)]
    assert [str(one.home.backend) for one in why.decisions] == ["numpy", "sim", "sim"]
    assert first.reason == "stays on numpy: not timed there yet"
    assert second.reason == "moves from numpy: this call alone pays for it"
    assert placed.reason == "an input is placed on sim"
    # What NumPy took was measured, a tenth of it is predicted, and two transfers of a microsecond.
    assert second.predicted["sim"] == pytest.approx(second.predicted["numpy"] / 10 + 2e-6)
    assert second.transferred == pytest.approx(1e-6)
    assert all(one.seconds for one in why.decisions)
    assert "jit(long_chain)" in str(why)


def test_explain_tells_why_nothing_is_known_of_a_whole_function() -> None:
    _machine.use(fused_model(compiling=0.0))
    with xp.backend("auto"), xp.explain() as why:
        doubled = xp.jit(lambda x, n: x * 2)
        doubled(xp.ones(N), bytearray(2))
        _machine.use(None)
        doubled(xp.ones(N), 2)
    assert [one.reason for one in why.decisions] == [
        "stays on numpy: its arguments are not all hashable",
        "stays: no profile of this machine",
    ]


def test_a_policy_that_leaves_out_where_the_arguments_are_is_named_for_whole_functions() -> None:
    with testing.simulated(), xp.policy(candidates=["sim"]), xp.explain() as why:
        _machine.use(fused_model(compiling=2.0))
        xp.jit(lambda x: x * 2)(xp.ones(N, device="numpy"))
        xp.jit(lambda x: x * 2)(xp.ones(N))
    placed, free = why.decisions
    assert placed.reason == "an input is placed on numpy"
    assert free.reason == "moves from numpy: the policy leaves it out"
    assert free.predicted == {"sim": pytest.approx(0.1 + 2e-6 + 2.0)}
