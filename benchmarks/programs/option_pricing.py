"""Asian options by simulation: 100,000 paths of 32 steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import anyarray as xp


def inputs(random: np.random.Generator) -> tuple[Any, ...]:
    return (random.normal(size=(100_000, 32)),)


def run(shocks: Any) -> float:
    z = xp.asarray(shocks)
    rate, volatility, step = 0.03, 0.2, 1 / 32
    logs = xp.cumulative_sum((rate - volatility**2 / 2) * step + volatility * step**0.5 * z, axis=1)
    prices = 100 * xp.exp(logs)
    average = xp.mean(prices, axis=1)
    strikes = xp.linspace(80.0, 120.0, 5)
    payoff = xp.maximum(average[:, None] - strikes, xp.asarray(0.0))
    return float(xp.sum(xp.mean(payoff, axis=0))) * 0.97 + float(xp.std(prices[:, -1]))
