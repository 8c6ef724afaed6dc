"""The time of a call by its work: a launch, and a throughput that saturates.

    seconds(work) = launch + launch * (work / half) ** growth

`half` is the work at which launching is half of the time; `growth` is close to 1, more where larger data leaves the
caches, less where larger matrices are computed more efficiently. float32 takes `narrow` of the second term. Beyond the
largest work that was measured the term is proportional to the work, as nothing is known of the curve there.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Law(NamedTuple):
    """Seconds of a call, or of a transfer by bytes."""

    launch: float
    """Seconds of a small call."""
    half: float = math.inf
    """The work at which launching is half of the time; infinite where work takes no time."""
    growth: float = 1.0
    narrow: float = 1.0
    """The part of the time of work that dtypes of at most 4 bytes take."""
    reach: float = math.inf
    """The largest work that was measured."""

    def __call__(self, work: float, *, is_narrow: bool = False) -> float:
        """Seconds of so much work."""
        return self.launch + self.working(work, is_narrow=is_narrow)

    def working(self, work: float, *, is_narrow: bool = False) -> float:
        """Seconds without the launch."""
        if self.half == math.inf or work <= 0:
            return 0.0
        measured = min(work, self.reach)
        seconds: float = self.launch * (measured / self.half) ** self.growth * (work / measured)
        return seconds * self.narrow if is_narrow else seconds

    def work(self, seconds: float) -> float:
        """The work that takes so long, of the dtypes that take longer."""
        of_work = (seconds - self.launch) / max(1.0, self.narrow)
        if of_work <= 0:
            return 1.0
        if self.half == math.inf:
            return math.inf
        found: float = self.half * (of_work / self.launch) ** (1 / self.growth)
        return found if found <= self.reach else self.reach * of_work / self.working(self.reach)
