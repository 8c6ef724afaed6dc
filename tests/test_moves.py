"""Chains of NumPy's that run on another backend as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest

import anyarray as xp
from anyarray import testing
from anyarray._base.extension import speedups
from anyarray._choice import automatic, cost, learning, machine
from anyarray._choice.law import Law
from anyarray._lazy import moves

pytestmark = pytest.mark.skipif(speedups is None, reason="chains are compiled")

MANY: Final = 1 << 16
VALUES: Final = np.linspace(0.5, 3, MANY)
CALL: Final = 1e-3
"""Seconds of a call in NumPy: eleven take longer than to go there and back, one does not."""
ROUTE: Final = 4e-3
"""Seconds of the transfer of `VALUES`."""


def model_of(name: str, there: float = 1e-6, route: float = ROUTE) -> cost.Model:
    """The model of a machine with a fast backend, far from NumPy."""

    def costs(seconds: float) -> cost.Costs:
        return cost.Costs({kind: Law(seconds) for kind in cost.CLASSES})

    way = cost.Route(Law(1e-6, VALUES.nbytes * 1e-6 / route))
    return cost.Model({"numpy": costs(CALL), name: costs(there)}, {("numpy", name): way, (name, "numpy"): way})


@pytest.fixture
def sim(monkeypatch: pytest.MonkeyPatch) -> Iterator[testing.Machine]:
    monkeypatch.setattr(automatic, "TWICE", 1e9)  # what calls have missed pays for no move
    with testing.simulated() as here:
        xp.device("sim")
        machine.use(model_of("sim"))
        yield here
    machine.forget()


def chain(x: Any, namespace: Any = xp) -> Any:
    """Eleven calls."""
    y = namespace.exp(-x * x) * 2 + 1
    z = namespace.where(y > 1.5, namespace.sqrt(y), y / 3)
    return z * x - 0.5


def of_values() -> Any:
    return xp.asarray(VALUES)


def close(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6 if expected.dtype == np.float32 else 1e-13)


def test_a_chain_moves_that_pays_as_a_whole(sim: testing.Machine) -> None:
    y = chain(of_values())
    assert sim.operations == sim.transfers == 0  # no call has paid for a move
    close(y, chain(VALUES, np))
    assert sim.operations == 11
    assert sim.transfers == 2
    assert y.device == xp.device("numpy")
    y[0] = 7.0
    assert float(y[0]) == 7.0


def test_a_chain_stays_that_does_not_pay(sim: testing.Machine) -> None:
    y = xp.sqrt(of_values()) + 1
    close(y, np.sqrt(VALUES) + 1)
    assert sim.operations == sim.transfers == 0


@pytest.mark.parametrize(
    "reduced",
    [
        lambda xp, x: xp.sum(x),
        lambda xp, x: xp.sum(x, axis=-1),
        lambda xp, x: xp.mean(x, axis=-1, keepdims=True),
        lambda xp, x: xp.max(x),
        lambda xp, x: xp.any(x > 1e9),
        lambda xp, x: xp.count_nonzero(x > 0.5),
    ],
)
def test_a_reduction_at_its_end_moves_with_it(sim: testing.Machine, reduced: Callable[[Any, Any], Any]) -> None:
    def values(namespace: Any, x: Any) -> Any:
        return reduced(namespace, chain(x, namespace))

    rows = VALUES.reshape(64, -1)
    found, expected = values(xp, xp.asarray(rows)), values(np, rows)
    assert found.shape == np.shape(expected)
    close(found, expected)
    assert sim.operations > 11


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_operands_may_be_broadcast_and_cast(sim: testing.Machine, dtype: str) -> None:
    machine.use(model_of("sim", route=CALL))
    rows, row = VALUES.reshape(64, -1).astype(dtype), np.arange(1024.0)
    column, one = np.arange(64)[:, None], np.float64(3)

    def values(namespace: Any, rows: Any, row: Any, column: Any) -> Any:
        x = chain((rows * rows + row) * column, namespace) if dtype[0] == "f" else (rows * rows + row) * column
        for _ in range(10):
            x = x * one + 2
        return x

    close(values(xp, *map(xp.asarray, (rows, row, column))), values(np, rows, row, column))
    assert sim.operations > 10


def test_what_has_a_name_comes_back_with_it(sim: testing.Machine) -> None:
    machine.use(model_of("sim", route=CALL))
    y = chain(of_values())
    z = (y * 2 + 1) * 3
    close(z, (chain(VALUES, np) * 2 + 1) * 3)
    assert sim.transfers == 3
    before = sim.operations
    close(y, chain(VALUES, np))
    assert sim.operations == before


def test_a_cast_of_what_was_computed_stays(sim: testing.Machine) -> None:
    y = chain(of_values())
    z = xp.astype(y, xp.float32)
    close(y, chain(VALUES, np))
    before = sim.operations
    close(z, chain(VALUES, np).astype(np.float32))
    assert sim.operations == before


def test_a_chain_stays_where_numpy_is_chosen(sim: testing.Machine) -> None:
    y, z, w = (chain(of_values()) for _ in range(3))
    with xp.backend("numpy"):
        close(y, chain(VALUES, np))
    with xp.no_transfers():
        close(z, chain(VALUES, np))
    with xp.policy(candidates=["numpy"]):
        close(w, chain(VALUES, np))
    assert sim.operations == sim.transfers == 0


def test_a_backend_that_fails_is_not_asked_again(sim: testing.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def failing(*_: Any) -> Any:
        asked.append(1)
        raise ValueError("by chance")

    monkeypatch.setattr(moves, "_values_on", failing)
    for _ in range(3):
        close(chain(of_values()), chain(VALUES, np))
    assert len(asked) == 1


def test_ctrl_c_leaves_a_chain_computable(sim: testing.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    y = chain(of_values())
    with monkeypatch.context() as patched:
        patched.setattr(moves, "_values_on", interrupted)
        with pytest.raises(KeyboardInterrupt):
            np.asarray(y)
    close(y, chain(VALUES, np))


def test_threads_that_need_one_chain_get_its_values(sim: testing.Machine) -> None:
    y, found = chain(of_values()), list[Any]()
    threads = [threading.Thread(target=lambda: found.append(np.asarray(y).copy())) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 4
    for one in found:
        close(one, chain(VALUES, np))


def test_explain_shows_it_as_one_row(sim: testing.Machine) -> None:
    with xp.explain() as report:
        np.asarray(chain(of_values()))
    rows = [row for row in report.decisions if row.home.backend.name == "sim"]
    assert [row.reason for row in rows] == ["moves from numpy: the calls together pay for it"]
    assert rows[0].where is not None
    assert rows[0].where[0] == __file__


@pytest.mark.parametrize(("route", "moves_there"), [(0.0, True), (1.0, False)])
def test_a_part_is_timed_before_a_chain_moves(
    sim: testing.Machine, monkeypatch: pytest.MonkeyPatch, route: float, moves_there: bool
) -> None:
    monkeypatch.setattr(learning, "is_on", lambda: True)
    monkeypatch.setattr(learning, "is_known", lambda name, call: True)
    monkeypatch.setattr(learning, "is_wanted", lambda name, call: False)
    monkeypatch.setattr(learning, "clock", lambda: sim.seconds)
    sim.latency = route  # of which the profile does not know
    for _ in range(2):
        close(chain(of_values()), chain(VALUES, np))
    assert sim.operations == 2 * 11 + (2 * 11 if moves_there else 0)  # a part is timed twice


def test_values_are_those_of_every_backend(backend: xp.Backend) -> None:
    if backend.name == "numpy":
        return
    try:
        machine.use(model_of(backend.name))
        with xp.backend("auto"), xp.transfers() as log:
            for _ in range(2):
                y = chain(of_values())
                rows = xp.sum(chain(xp.asarray(VALUES.reshape(64, -1).astype(np.float32))), axis=-1)
                close(y, chain(VALUES, np))
                close(rows, np.sum(chain(VALUES.reshape(64, -1).astype(np.float32), np), axis=-1))
        assert backend.name in str(log)
    finally:
        machine.forget()
