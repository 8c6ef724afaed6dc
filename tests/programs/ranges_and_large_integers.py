"""Ranges written to arrays, integers beyond 64 bits, and draws of bytes."""

import numpy as np


def main():
    table = np.zeros((3, 4))
    table[1] = range(4)
    table[:, 0] = range(2, 5)
    factorials = np.array([1, 2, 30 * 10**30])
    rng = np.random.default_rng(5)
    drawn = [rng.bytes(3), int(rng.integers(10)), float(np.round(rng.random(), 6))]
    total = 0.0
    for row in table:
        total += row[0] ** 2 - row[-1] ** 0.5
    return {
        "table": table,
        "factorials": [int(n) for n in factorials],
        "is_object": factorials.dtype == object,
        "drawn": drawn,
        "total": total,
        "formatted": [f"{v:.2f} {v}" for v in table[1]],
    }
