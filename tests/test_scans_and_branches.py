"""Loops and branches as functions: the same on every backend, in any transform.

They are `cond`, `switch`, `while_loop`, `fori_loop`, `scan`, `associative_scan` and `map`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest
from comparison import each

import anyarray as xp

X: Final = np.asarray([1.0, 2.0, 3.0])


@dataclass
class State:
    total: Any
    count: Any
    note: str = "kept"


def values(nested: Any) -> Any:
    """Nested Arrays as nested lists."""
    if isinstance(nested, (tuple, list)):
        return [values(one) for one in nested]
    if isinstance(nested, dict):
        return {key: values(one) for key, one in nested.items()}
    return nested.tolist() if isinstance(nested, xp.Array) else nested


def cleared(i: xp.Array, x: xp.Array) -> xp.Array:
    x[i] = x[i] * 10
    return x


PROGRAMS: Final[dict[str, tuple[Callable[[xp.Array], Any], Any]]] = {
    "while_loop": (
        lambda x: xp.while_loop(lambda c: c["i"] < 5, lambda c: {"i": c["i"] + 1, "x": c["x"] * 2}, {"i": 0, "x": x}),
        {"i": 5, "x": [32, 64, 96]},
    ),
    "while_loop that never turns": (lambda x: xp.while_loop(lambda c: xp.sum(c) < 0, lambda c: c * 2, x), [1, 2, 3]),
    "fori_loop": (lambda x: xp.fori_loop(0, 4, lambda i, c: c + x * i, x), [7, 14, 21]),
    "fori_loop of a number": (lambda x: xp.fori_loop(1, 4, lambda i, c: c + xp.sum(x) * i, 0.0), 36),
    "fori_loop without turns": (lambda x: xp.fori_loop(4, 1, lambda i, c: c * 2, x), [1, 2, 3]),
    "fori_loop to a value": (
        lambda x: xp.fori_loop(0, xp.astype(x[2], xp.int64), lambda i, c: c + i, x),
        [4, 5, 6],
    ),
    "fori_loop that writes": (lambda x: xp.fori_loop(0, 2, cleared, x), [10, 20, 3]),
    "scan": (lambda x: xp.scan(lambda c, v: (c + v, (c * v, None)), 0.0, x), [6, [[0, 2, 9], None]]),
    "scan in reverse": (lambda x: xp.scan(lambda c, v: (c + v, c * 2), 0.0, x, reverse=True), [6, [10, 6, 0]]),
    "scan of no elements": (lambda x: xp.scan(lambda c, v: (c + v, c * 2), 1.0, x[:0]), [1, []]),
    "scan by length": (lambda x: xp.scan(lambda c, _: (c * 2, c[0]), x, length=3), [[8, 16, 24], [1, 2, 4]]),
    "scan of nested elements": (
        lambda x: xp.scan(lambda c, v: (c + v["a"] * v["b"][0], None), x[0], {"a": x, "b": [x * 2]}),
        [29, None],
    ),
    "scan in scan": (
        lambda x: xp.scan(lambda c, v: xp.scan(lambda d, w: (d + v * w, d), c, x), 0.0, x),
        [36, [[0, 1, 3], [6, 8, 12], [18, 21, 27]]],
    ),
    "while_loop in scan": (
        lambda x: xp.scan(lambda c, v: (xp.while_loop(lambda d: d < v * 4, lambda d: d + x[0], c), c), 0.5, x),
        [12.5, [0.5, 4.5, 8.5]],
    ),
    "cond": (lambda x: xp.cond(xp.sum(x) > 3, lambda a: a * 2, lambda a: a - 1, x), [2, 4, 6]),
    "cond of a number": (lambda x: xp.cond(x[0] - 1, lambda: x, lambda: x + 1), [2, 3, 4]),
    "cond of a bool": (lambda x: xp.cond(False, lambda a: a, lambda a: {"a": a, "b": 1}, x), {"a": [1, 2, 3], "b": 1}),
    "switch": (
        lambda x: xp.switch(xp.astype(x[1] - 1, xp.int32), [lambda a: a * 2, lambda a: a - 1, lambda a: a + 9], x),
        [0, 1, 2],
    ),
    "switch beyond the branches": (
        lambda x: xp.switch(xp.astype(x[1] * 5, xp.int64), [lambda a: (a, 1), lambda a: (a + 9, 2)], x),
        [[10, 11, 12], 2],
    ),
    "switch before the branches": (lambda x: xp.switch(xp.astype(-x[1], xp.int8), [lambda: 1, lambda: 2]), 1),
    "map": (lambda x: xp.map(lambda a: {"y": a * 2 + xp.sum(x)}, x), {"y": [8, 10, 12]}),
    "map in batches": (lambda x: xp.map(lambda a: a * 2 + xp.sum(x), x, batch_size=2), [8, 10, 12]),
    "associative_scan": (lambda x: xp.associative_scan(xp.add, x), [1, 3, 6]),
    "associative_scan in reverse": (
        lambda x: xp.associative_scan(lambda a, b: (a[0] * b[0], a[1] + b[1]), (x, x + 1), reverse=True),
        [[6, 6, 3], [9, 7, 4]],
    ),
    "associative_scan along an axis": (
        lambda x: xp.associative_scan(xp.maximum, xp.stack([x, x[::-1]]), axis=-1),
        [[1, 2, 3], [3, 3, 3]],
    ),
    "dataclass": (
        lambda x: xp.fori_loop(0, 3, lambda i, s: State(s.total + x, s.count + 1, s.note), State(x * 0, 0)).total,
        [3, 6, 9],
    ),
    "random keys": (
        lambda x: xp.scan(
            lambda key, _: (xp.random.split(key)[0], xp.random.normal(key, ()) * 0 + x[1]), xp.random.key(7), length=2
        )[1],
        [2, 2],
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_the_loop_written_out(program: str, backend: xp.Backend) -> None:
    function, expected = PROGRAMS[program]
    x = xp.asarray(X)
    assert values(function(x)) == expected
    assert values(xp.jit(function)(x)) == expected
    assert x.tolist() == X.tolist()


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS)
def test_elements_of_a_batch_have_the_values_of_each_alone(program: str, backend: xp.Backend) -> None:
    function, _ = PROGRAMS[program]
    if program == "cond of a bool":
        return  # its result holds a constant
    rows = xp.asarray([X, X + 1])
    alone = [values(function(row)) for row in rows]

    def of_element(nested: Any, at: int) -> Any:
        if isinstance(nested, (tuple, list)):
            return [of_element(one, at) for one in nested]
        if isinstance(nested, dict):
            return {key: of_element(one, at) for key, one in nested.items()}
        return nested[at].tolist() if isinstance(nested, xp.Array) else nested

    for found in (xp.vmap(function)(rows), xp.jit(xp.vmap(function))(rows)):
        assert [of_element(found, at) for at in range(2)] == alone


def total(nested: Any) -> xp.Array:
    """The sum of all real numbers in nested Arrays."""
    if isinstance(nested, dict):
        nested = list(nested.values())
    if isinstance(nested, (tuple, list)):
        return sum(map(total, nested), xp.asarray(0.0))
    return xp.sum(nested) if isinstance(nested, xp.Array) and nested.dtype.kind == "f" else xp.asarray(0.0)


SLOPES: Final[dict[str, list[float]]] = {
    "fori_loop": [7, 7, 7],
    "fori_loop of a number": [6, 6, 6],
    "fori_loop that writes": [10, 10, 1],
    "scan": [6, 5, 4],
    "scan in reverse": [1, 3, 5],
    "scan of no elements": [0, 0, 0],
    "scan by length": [15, 8, 8],
    "scan of nested elements": [5, 8, 12],
    "scan in scan": [76, 52, 28],
    "cond": [2, 2, 2],
    "cond of a number": [1, 1, 1],
    "switch": [1, 1, 1],
    "map": [5, 5, 5],
    "map in batches": [5, 5, 5],
    "associative_scan": [3, 2, 1],
    "associative_scan in reverse": [7, 8, 8],
}


@pytest.mark.needs("derivatives")
@pytest.mark.sampled
@pytest.mark.parametrize("program", SLOPES)
def test_gradients_go_through(program: str, backend: xp.Backend) -> None:
    x, slope = xp.asarray(X), xp.grad(lambda x: total(PROGRAMS[program][0](x)))
    assert slope(x).tolist() == SLOPES[program]
    assert xp.jit(slope)(x).tolist() == SLOPES[program]


@pytest.mark.needs("derivatives")
@each("program", ("fori_loop", "scan", "cond", "while_loop"))
def test_derivatives_in_forward_mode_go_through(program: str, backend: xp.Backend) -> None:
    function = PROGRAMS[program][0]
    slopes = xp.jacobian(lambda x: total(function(x)), mode="forward")
    expected = [32.0] * 3 if program == "while_loop" else SLOPES[program]
    assert slopes(xp.asarray(X)).tolist() == expected


@pytest.mark.needs("derivatives")
@pytest.mark.parametrize(
    ("program", "compiled"), [("while_loop", False), ("while_loop", True), ("fori_loop to a value", True)]
)
def test_a_while_loop_has_no_derivative_in_reverse_mode(program: str, compiled: bool, backend: xp.Backend) -> None:
    slope = xp.grad(lambda x: total(PROGRAMS[program][0](x)))
    message = (
        "while_loop: has no derivative in reverse mode, as the number of turns follows from values. Use xp.scan, "
        'xp.fori_loop with known bounds, or forward mode: xp.jacobian(f, mode="forward")'
    )
    with pytest.raises(xp.UnsupportedError, match=re.escape(message)):
        (xp.jit(slope) if compiled else slope)(xp.asarray(X))


@pytest.mark.needs("derivatives")
def test_a_while_loop_outside_the_derivative_is_no_matter(backend: xp.Backend) -> None:
    def function(x: xp.Array) -> xp.Array:
        scale = xp.while_loop(lambda s: s < 10, lambda s: s * 2, xp.stop_gradient(x[0]))
        return xp.sum(x * scale)

    assert xp.grad(function)(xp.asarray(X)).tolist() == [16, 16, 16]
