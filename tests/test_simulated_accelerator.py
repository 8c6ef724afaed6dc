"""The simulated accelerator is like a device, and its clock runs as told."""

from __future__ import annotations

import importlib.metadata
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import anyarray as xp
from anyarray import testing

IS_INSTALLED: Final = bool(importlib.metadata.entry_points(group="pytest11", name="anyarray"))
PLUGIN: Final = [] if IS_INSTALLED else ["-p", "anyarray._pytest_plugin"]


def test_the_host_cannot_read_it() -> None:
    x = xp.ones(3, device="sim")
    with pytest.raises(TypeError, match="cannot be read by the host"):
        np.asarray(xp.to_native(x))
    assert x.to_device("numpy").tolist() == [1.0, 1.0, 1.0]


def test_the_clock_counts_launches_work_and_transfers() -> None:
    with testing.simulated(launch=1.0, speed=10.0, latency=100.0, bandwidth=8.0) as machine:
        x = xp.ones(20, device="sim")
        assert machine.seconds == 1.0 + 2.0
        y = x + x
        assert machine.seconds == 2 * (1.0 + 2.0)
        y.to_device("numpy")
        assert math.isclose(machine.seconds, 6.0 + 100.0 + 20.0)
        assert (machine.operations, machine.transfers) == (2, 1)


def test_hidden_transfers_are_found() -> None:
    with testing.simulated(), xp.backend("sim"), xp.no_transfers():
        x = xp.arange(5)
        with pytest.raises(xp.TransferError, match=r"^float: would copy 8 bytes from sim to host in "):
            float(x[0])
        with pytest.raises(xp.TransferError, match=r"^add: would copy 24 bytes from numpy to sim in "):
            x[:3] + np.ones(3)


def test_a_device_without_float64_says_so() -> None:
    with testing.simulated(float32_only=True), xp.backend("sim"):
        with pytest.raises(TypeError, match=r"^dtype: sim has no float64\. Give another dtype"):
            xp.ones(3)
        with xp.default_dtypes(float=xp.float32):
            assert (xp.ones(3) * 0.5).dtype is xp.float32
        assert "float64" not in xp.__array_namespace_info__().dtypes()


@pytest.mark.parametrize("read_only", [False, True])
def test_views_are_written_through(read_only: bool) -> None:
    with testing.simulated(read_only=read_only), xp.backend("sim"):
        x = xp.zeros(4)
        y, z = x[1:], xp.reshape(x, (2, 2))
        x[...] = 1.0
        assert (y.tolist(), z.tolist(), x.tolist()) == ([1.0] * 3, [[1.0] * 2] * 2, [1.0] * 4)
        same, alike = xp.real(x[1:]), xp.broadcast_arrays(x[1:], xp.zeros(3))[0]
        same[0] = 5.0
        z[1] += 1.0
        assert (x.tolist(), y.tolist(), alike.tolist()) == ([1.0, 5.0, 2.0, 2.0], [5.0, 2.0, 2.0], [5.0, 2.0, 2.0])


USERS: Final = """
import numpy as np
import pytest
from anyarray import random

SEEN = set()

@pytest.mark.parametrize("xp", ["numpy", "sim"], indirect=True)
@pytest.mark.xp_needs("derivatives")
def test_slope(xp):
    raise AssertionError("neither has them")

@pytest.mark.parametrize("xp", ["numpy", "sim"], indirect=True)
@pytest.mark.xp_needs("float64")
def test_half(xp):
    assert xp.ones(1, dtype=xp.float64).dtype == xp.float64

@pytest.mark.parametrize("xp", ["numpy"], indirect=True)
@pytest.mark.xp_needs("wings")
def test_flight(xp):
    pass

@pytest.fixture
def ones(xp):
    return xp.ones(3)

@pytest.mark.parametrize("xp", [np])
def test_direct(xp, ones):
    assert isinstance(ones, np.ndarray)

@pytest.mark.parametrize(("n", "xp"), [(1, "numpy")], indirect=["xp"])
def test_indirect(n, xp):
    assert xp.ones(n).device == xp.device("numpy")

def test_key(xp, key):
    assert random.normal(key, (2,)).device == xp.ones(2).device
    SEEN.add(tuple(key.tolist()))

def test_other_key(key):
    assert len(SEEN) == 1 and tuple(key.tolist()) not in SEEN
"""


def test_the_fixtures_and_the_mark_of_the_plugin_run_the_tests_of_a_user(
    forked: Callable[..., str], tmp_path: Path
) -> None:
    file = tmp_path / "test_of_a_user.py"
    file.write_text(USERS)
    given = ["-p", "no:cacheprovider", "-c", os.devnull, *PLUGIN, "-v", "-rs", "--strict-markers", str(file)]
    told = forked(f"import pytest; pytest.main({[*given, '-k', 'numpy or sim or direct or other']})")
    for name in ("test_half[numpy]", "test_half[sim]", "test_key[numpy]", "test_key[sim]", "test_other_key"):
        assert re.search(rf"::{re.escape(name)} PASSED", told), told
    assert 'xp_needs: a word must be one of derivatives, jit or the name of a dtype, not "wings"\n' in told
    assert re.search("SKIPPED.*numpy has no derivatives", told), told
    assert re.search("= 7 passed, 2 skipped(, .* deselected)?, 1 error in ", told), told
