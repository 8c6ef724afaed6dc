"""Fits a `Law` to measured times.

The four numbers are fitted in logarithms, so that a launch of microseconds counts as much as a call of seconds. A point
counts by how far its visits agree, and one that is far from the curve counts less (Huber's weights), so that one bad
visit cannot bend it. Few points are enough, as the numbers are drawn to what they usually are: a growth of 1, and half
the time for half the bytes. Where points disagree with that they win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._choice.law import Law


class Point(NamedTuple):
    """A measured time."""

    work: float
    seconds: float
    is_narrow: bool = False
    spread: float = 1.1
    """The factor by which its visits differ."""


LEAST_SPREAD: Final = 1.1
"""Repeated calls differ by so much on a quiet machine."""
GROWTHS: Final = 0.12
"""The usual deviation of a growth: 0.12 predicts best what was left out, of 0.06, 0.12, 0.2 and 0.3, on an H100."""
NARROW: Final = (-0.5, 0.35)
"""The usual logarithm of `narrow`, and its deviation: float32 takes 0.6 of the time, half of it where memory bounds."""
FAR: Final = 2.0
"""Deviations beyond which a point counts less, as in Huber's estimate."""
ROUNDS: Final = 60
"""Steps of Gauss-Newton at most; ten are usual."""


def fitted(
    points: Sequence[Point], *, growth: float = 1.0, narrow: float | None = None, is_by_width: bool = True
) -> Law:
    """The law through the points, at least one.

    `growth` and `narrow` are the usual ones of such functions. Without `is_by_width` there is one width.
    """
    work, seconds = np.array([[max(p.work, 1.0), max(p.seconds, 1e-9)] for p in points]).T
    is_narrow = np.array([float(p.is_narrow and is_by_width) for p in points])
    spread = np.log(np.array([max(p.spread, LEAST_SPREAD) for p in points]))
    x, y = np.log(work / work.max()), np.log(seconds)
    usual = np.array([y.min(), y.max(), growth, NARROW[0] if narrow is None else math.log(narrow)])
    deviation = np.array([1.0, 3.0, GROWTHS, NARROW[1]])

    def beside(found: Any) -> Any:
        launch, largest, slope, of_narrow = found
        return np.logaddexp(launch, largest + slope * x + of_narrow * is_narrow)

    def residuals(found: Any) -> Any:
        return np.concatenate([(y - beside(found)) / spread, (usual - found) / deviation])

    found = _least(residuals, usual)
    launch, largest, slope, of_narrow = [float(one) for one in found]
    slope = min(max(slope, 0.3), 2.0)
    half = float(work.max()) * math.exp((launch - largest) / slope)
    return Law(math.exp(launch), half, slope, math.exp(of_narrow) if is_by_width else 1.0, float(work.max()))


def _least(residuals: Any, start: Any) -> Any:
    """Where Huber's loss of the residuals is least, by damped Gauss-Newton."""

    def loss(of: Any) -> float:
        size = np.abs(of)
        return float(np.where(size <= FAR, size**2 / 2, FAR * size - FAR**2 / 2).sum())

    found, damping, step = start.copy(), 1e-2, 1e-5
    for _ in range(ROUNDS):
        now = residuals(found)
        slopes = np.stack([(residuals(found + step * one) - now) / step for one in np.eye(len(found))], axis=1)
        weights = np.sqrt(np.minimum(1.0, FAR / np.maximum(np.abs(now), 1e-9)))
        for _ in range(8):
            system = np.vstack([slopes * weights[:, None], math.sqrt(damping) * np.eye(len(found))])
            move = np.linalg.lstsq(system, np.concatenate([-now * weights, np.zeros(len(found))]), rcond=None)[0]
            if loss(residuals(found + move)) <= loss(now):
                found, damping = found + move, max(damping / 5, 1e-6)
                break
            damping *= 10
        else:
            break
        if float(np.abs(move).max()) < 1e-6:
            break
    return found
