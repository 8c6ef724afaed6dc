"""For tests: a simulated accelerator, and a pytest fixture over every backend.

`import anyarray.testing` adds the backend "sim" (and "sim:1"): it computes with NumPy, but its memory is a device's.
The host cannot read it except by a transfer, and operations and transfers take time on a virtual clock. Library
authors find hidden transfers with it on any machine:

>>> import anyarray as xp
>>> from anyarray import testing
>>> with testing.simulated() as machine, xp.backend("sim"), xp.transfers() as log:
...     mean = xp.mean(xp.ones(1000))
>>> machine.operations, len(log)
(2, 0)

anyarray installs a pytest plugin: a test with the parameter `xp` runs once for each installed backend that has a
device, and once on "sim". `xp` is the namespace, and the test runs inside `with xp.backend(...)`. The names of the
backends are the test ids, so `pytest -k "numpy or sim"` selects backends. Your own fixture `xp`, or your own parameter
values, override the plugin's; `pytest -p no:anyarray` disables it. `@pytest.mark.xp_needs("derivatives")` skips the
test on backends without derivatives; "jit" and names of dtypes are accepted, too.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from anyarray._base.blocks import block
from anyarray._registry import libraries
from anyarray.backends import sim
from anyarray.backends.sim import Machine

__all__ = ["Machine", "simulated"]

libraries.register(libraries.Library("sim", "anyarray.backends.sim", "anyarray", ("gpu",)))


@block
@contextmanager
def simulated(
    *,
    launch: float = 5e-6,
    speed: float = 1e10,
    latency: float = 1e-5,
    bandwidth: float = 1e10,
    read_only: bool = False,
    float32_only: bool = False,
    memory: float = math.inf,
    factors: Mapping[str, float] | None = None,
) -> Generator[Machine]:
    """Simulate an accelerator with these figures inside a `with` block.

    Returns the machine, whose clock starts at 0. `launch` and `latency` are the seconds of an operation and of a
    transfer; `speed` is in elements and `bandwidth` in bytes per second. `factors` slow single operations by NumPy's
    names: {"sort": 10.0}. A result larger than `memory` bytes raises OutOfMemoryError. `read_only` arrays are never
    written in place, and a `float32_only` device lacks float64 and complex128.

    >>> import anyarray as xp
    >>> from anyarray import testing
    >>> with testing.simulated(launch=1.0, speed=1e9) as machine:
    ...     x = xp.zeros(8, device="sim")
    >>> round(machine.seconds)
    1
    """
    before = sim.machine
    sim.machine = Machine(launch, speed, latency, bandwidth, read_only, float32_only, memory, factors or {})
    try:
        yield sim.machine
    finally:
        sim.machine = before
