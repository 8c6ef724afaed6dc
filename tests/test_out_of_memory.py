"""When a device is out of memory: what is freed, and what is raised."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anyarray as xp
from anyarray import testing

CALLS: dict[str, Callable[[xp.Array], Any]] = {
    "add": lambda x: x + x,
    "exp": xp.exp,
    "concat": lambda x: xp.concat([x, x]),
    "zeros": lambda x: xp.zeros(100),
    "astype": lambda x: xp.astype(x, xp.complex128),
    "sort": xp.sort,
    "unstack": xp.unstack,
}


@pytest.mark.parametrize("function", sorted(CALLS))
def test_memory_that_a_library_keeps_is_freed_and_else_the_error_says_who_holds_it(function: str) -> None:
    with testing.simulated() as machine, xp.backend("sim"):
        x = xp.ones((1, 100))
        machine.memory = machine.kept = 10_000
        CALLS[function](x)
        assert machine.kept == 0
        machine.memory = 500
        with pytest.raises(xp.OutOfMemoryError) as caught:
            CALLS[function](x)
    assert re.fullmatch(
        rf"{function}: sim is out of memory: allocating \d+ bytes, of 500 that are free\. "
        r"On gpu:0 .+ are free, .*sim holds 0 bytes.*\. "  # on a GPU others hold some, too
        r"On gpu:1 500 bytes of 500 bytes are free, sim holds 0 bytes\. "
        r"Delete what is no longer needed, work on smaller parts, or choose another backend",
        str(caught.value),
    )
    assert isinstance(caught.value, MemoryError)


def test_an_array_is_brought_over_after_memory_was_freed() -> None:
    with testing.simulated() as machine:
        machine.memory = machine.kept = 1000
        assert xp.asarray(np.ones(100)).to_device("sim").tolist() == [1.0] * 100
        machine.memory = 10
        with pytest.raises(xp.OutOfMemoryError, match=r"^to_device: sim is out of memory: "):
            xp.asarray(np.ones(100)).to_device("sim")


def test_a_write_without_memory_leaves_the_array_as_it_was() -> None:
    with testing.simulated(read_only=True) as machine, xp.backend("sim"):
        x = xp.zeros(100)
        machine.memory = 10
        with pytest.raises(xp.OutOfMemoryError):
            x[:50] = xp.ones(())
        machine.memory = 10_000
        assert xp.sum(x) == 0


def test_copies_on_other_backends_are_freed() -> None:
    x = xp.asarray(np.ones(100))
    with testing.simulated(), xp.backend("sim"):
        xp.free_memory()
        xp.exp(x)
        assert xp.free_memory() == 800
        assert xp.free_memory() == 0
        assert xp.sum(xp.exp(x)) == pytest.approx(271.828, abs=1e-3)


def test_memory_is_told_for_each_device() -> None:
    with testing.simulated(memory=1000) as machine, xp.backend("sim"):
        xp.ones(3)
        machine.kept = 200
        rows = {row.device: row for row in xp.memory()}
        assert (rows["gpu:1"].total, rows["gpu:1"].free, rows["gpu:1"].held["sim"]) == (1000, 800, 200)
        assert {"gpu:0", "cpu"} <= rows.keys()
        total, free = rows["cpu"].total, rows["cpu"].free
        assert total is None or (free is not None and 0 < free <= total)


def test_an_array_beyond_all_memory_is_refused(backend: xp.Backend) -> None:
    own = r"Unable to allocate 512\. TiB\. Delete" if backend.library == "numpy" else ".*Delete"  # without our memory
    told = rf"^ones: {backend.library} is out of memory: {own} what is no longer needed"
    with pytest.raises(xp.OutOfMemoryError, match=told):
        xp.ones((1 << 46,))
