"""The standard's constants."""

from __future__ import annotations

import math
from typing import Final

__all__ = ["e", "inf", "nan", "newaxis", "pi"]

e: Final = math.e
"""Euler's number."""
inf: Final = math.inf
"""Positive infinity."""
nan: Final = math.nan
"""Not a number."""
newaxis: Final = None
"""In an index: a new axis of length 1."""
pi: Final = math.pi
"""The ratio of a circle's circumference to its diameter."""
