"""A plugin for pytest: NumPy's assertions read the values of Arrays.

They ask for NumPy's own class, which no Array is, so two Arrays of several elements cannot be compared. The values are
still compared by NumPy. The option `--repeat=N` runs each test that passes N times more and reports the processor time
of the fastest, in seconds.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import anyarray.numpy.testing as of_arrays

for _name in of_arrays.__all__:
    if _name.startswith("assert_"):
        setattr(numpy.testing, _name, getattr(of_arrays, _name))

LONGEST = 0.5
"""The processor time after which a test is not repeated again, in seconds."""


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    parser.addoption("--repeat", type=int, default=0)


def pytest_configure(config: Any) -> None:
    """Let Hypothesis, if installed, draw the same few examples each time."""
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import settings

        settings.register_profile("judge", max_examples=10, derandomize=True, deadline=None, database=None)
        settings.load_profile("judge")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """Repeat a test that passes, and report its processor time."""
    result = yield
    times: list[float] = []
    while len(times) < item.config.getoption("repeat") and sum(times) < LONGEST:
        start = time.process_time()
        item.runtest()
        times.append(time.process_time() - start)
    if times:
        item.user_properties.append(("seconds", min(times)))
    return result
