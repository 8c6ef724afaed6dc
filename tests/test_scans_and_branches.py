"""Loops and branches as functions give the same everywhere.

They are `cond`, `switch`, `while_loop`, `fori_loop`, `scan`, `associative_scan` and `map`.
"""

from __future__ import annotations

import re
import types
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


def values(nested: Any, at: Any = ...) -> Any:
    """Nested Arrays, or an element of each, as nested lists."""
    if isinstance(nested, (tuple, list)):
        return [values(one, at) for one in nested]
    if isinstance(nested, dict):
        return {key: values(one, at) for key, one in nested.items()}
    return nested[at].tolist() if isinstance(nested, xp.Array) else nested


def cleared(i: xp.Array, x: xp.Array) -> xp.Array:
    x[i] = x[i] * 10
    return x


PROGRAMS: Final[dict[str, tuple[Callable[[xp.Array], Any], Any]]] = {
    "while_loop": (
        lambda x: xp.while_loop(lambda c: c["i"] < 5, lambda c: {"i": c["i"] + 1, "x": c["x"] * 2}, {"i": 0, "x": x}),
        {"i": 5, "x": [32, 64, 96]},
    ),
    "cond in while_loop": (
        lambda x: xp.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, xp.cond(c[0] > 0, lambda: c[1] * 2, lambda: c[1] + 1)), (0, x)
        ),
        [3, [8, 12, 16]],
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


Jits = list[Callable[[Any], Any]]


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_the_loop_written_out(program: str, backend: xp.Backend, jits: Jits) -> None:
    function, expected = PROGRAMS[program]
    x = xp.asarray(X)
    for jit in jits:
        assert values(jit(function)(x)) == expected
    assert x.tolist() == X.tolist()


@pytest.mark.sampled
@pytest.mark.parametrize("program", [one for one in PROGRAMS if one != "cond of a bool"])  # which gives a constant
def test_elements_of_a_batch_have_the_values_of_each_alone(program: str, backend: xp.Backend, jits: Jits) -> None:
    function, _ = PROGRAMS[program]
    rows = xp.asarray([X, X + 1])
    alone = [values(jits[0](function)(row)) for row in rows]
    for jit in jits:
        assert [values(found, at) for found in [jit(xp.vmap(function))(rows)] for at in range(2)] == alone


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
def test_gradients_go_through(program: str, backend: xp.Backend, jits: Jits) -> None:
    for jit in jits:
        slope = jit(xp.grad(lambda x: total(PROGRAMS[program][0](x))))
        assert slope(xp.asarray(X)).tolist() == SLOPES[program]


@pytest.mark.needs("derivatives")
@each("program", ("fori_loop", "scan", "cond", "while_loop"))
def test_derivatives_in_forward_mode_go_through(program: str, backend: xp.Backend, jits: Jits) -> None:
    function = PROGRAMS[program][0]
    slopes = jits[0](xp.jacobian(lambda x: total(function(x)), mode="forward"))
    expected = [32.0] * 3 if program == "while_loop" else SLOPES[program]
    assert slopes(xp.asarray(X)).tolist() == expected


@pytest.mark.needs("derivatives")
@pytest.mark.parametrize(
    ("program", "compiled"), [("while_loop", False), ("while_loop", True), ("fori_loop to a value", True)]
)
def test_a_while_loop_has_no_derivative_in_reverse_mode(program: str, compiled: bool, backend: xp.Backend) -> None:
    slope = xp.grad(lambda x: total(PROGRAMS[program][0](x)))
    message = (
        "while_loop: has no derivative in reverse mode, because the number of iterations depends on values. Use "
        'xp.scan, xp.fori_loop with known bounds, or forward mode: xp.jacobian(f, mode="forward")'
    )
    with pytest.raises(xp.UnsupportedError, match=re.escape(message)):
        (xp.jit(slope) if compiled else slope)(xp.asarray(X))


@pytest.mark.needs("derivatives")
def test_a_while_loop_outside_the_derivative_is_no_matter(backend: xp.Backend) -> None:
    def function(x: xp.Array) -> xp.Array:
        scale = xp.while_loop(lambda s: s < 10, lambda s: s * 2, xp.stop_gradient(x[0]))
        return xp.sum(x * scale)

    assert xp.grad(function)(xp.asarray(X)).tolist() == [16, 16, 16]


REFUSED: Final[list[tuple[Callable[[xp.Array], Any], type[Exception], str]]] = [
    (lambda x: xp.while_loop(lambda c: c["n"][0] < 3, lambda c: {"n": [c["n"][0] + 0.5]}, {"n": [0]}), TypeError,
     ("while_loop: <lambda> must keep the shapes and dtypes of init_val, but init_val['n'][0] was int64 of shape "
      "() and became float64 of shape (). Begin with that, or convert it: xp.astype(..., xp.int64)")),
    (lambda x: xp.fori_loop(0, 3, lambda i, c: (c[0], xp.stack([c[1], c[1]])), (x, x)), TypeError,
     ("fori_loop: <lambda> must keep the shapes and dtypes of init_val, but init_val[1] was float64 of shape "
      "(3,) and became float64 of shape (2, 3). Keep its shape")),
    (lambda x: xp.scan(lambda c, v: (c[0] + v, None), [x], x), TypeError,
     ("scan: <lambda> must return the structure of init, the Arrays init[0], not the Arrays init. Return as many "
      "in the same containers")),
    (lambda x: xp.scan(lambda c, v: ((c[0], c[0]), None), [x], x), TypeError,
     ("scan: <lambda> must return the structure of init, the Arrays init[0], not the Arrays init[0], init[1]. "
      "Return as many in the same containers")),
    (lambda x: xp.scan(lambda c, v: c, x, x), TypeError,
     "scan: <lambda> must return a pair, the next carry and a result, not Array. Return carry, None"),
    (lambda x: xp.while_loop(lambda c: c < 0, lambda c: c, x), TypeError,
     ("while_loop: <lambda> must return one truth value without axes, not an Array of bool of shape (3,). Reduce "
      "it: xp.all(...)")),
    (lambda x: xp.scan(lambda c, v: (c, None), 0, (x, x[:2])), ValueError,
     "scan: xs must have one length along the first axis, but xs[0] has 3 and xs[1] 2"),
    (lambda x: xp.scan(lambda c, v: (c, None), x), ValueError,
     "scan: there must be xs or a length, but neither was given. Give length=..."),
    (lambda x: xp.map(lambda v: v, x[0]), ValueError, "map: xs must have an axis to go along, but it has no axes"),
    (lambda x: xp.scan(lambda c, v: (c, v), 0, [1.0, 2.0]), ValueError,
     ("scan: xs[0] must have an axis to go along, but it has no axes. Make one Array of a list of numbers: "
      "xp.asarray(xs)")),
    (lambda x: xp.cond(x > 1, lambda: x, lambda: x), TypeError,
     ("cond: pred must be one truth value without axes, not an Array of bool of shape (3,). Choose elements: "
      "xp.where(...)")),
    (lambda x: xp.switch(x[0], [lambda: x, lambda: x]), TypeError,
     ("switch: index must be an integer without axes, not an Array of float64 of shape (). Convert it: "
      "xp.astype(...)")),
    (lambda x: xp.switch(0, [], x), ValueError, "switch: branches must hold one function at least, not none"),
    (lambda x: xp.while_loop(x, lambda c: c, x), TypeError, "while_loop: cond_fun must be a function, not Array"),
    (lambda x: xp.fori_loop(0, 2.0, lambda i, c: c, x), TypeError,
     "fori_loop: upper must be an integer without axes, not float. Convert it: xp.astype(...)"),
    (lambda x: xp.associative_scan(lambda a, b: xp.sum(a + b), x), TypeError,
     ("associative_scan: <lambda> must keep the shapes and dtypes of elems, but elems was float64 of shape (1,) "
      "and became float64 of shape ()")),
]  # fmt: skip


@each("function, kind, message", REFUSED)
@pytest.mark.usefixtures("backend")
def test_what_is_wrong_is_named(function: Callable[[xp.Array], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        function(xp.asarray(X))


@pytest.mark.needs("traces")
def test_branches_of_a_trace_must_agree(framework: str) -> None:
    function = xp.jit(lambda x: xp.cond(x[0] > 0, lambda: x, lambda: x[0]))
    message = r"cond: \w+_fun and \w+_fun must return the same structure, shapes and dtypes, not float64 of shape"
    with pytest.raises(TypeError, match=message):
        function(xp.asarray(X, device=framework))


@pytest.mark.needs("traces")
@each("ask,cure", ((bool, "xp.cond(...), xp.while_loop(...)"), (range, "xp.fori_loop(...), xp.scan(...)")))
def test_loops_of_python_are_refused_with_these_as_the_cure(ask: Callable[..., Any], cure: str, framework: str) -> None:
    with pytest.raises(xp.TransferError, match=re.escape(cure)):
        xp.jit(lambda x: ask(x) and x)(xp.asarray(3, device=framework))


def test_a_body_sees_what_was_written_to_an_array_in_the_meantime(backend: xp.Backend) -> None:
    weights = xp.asarray(X)
    scale = [2.0]

    def body(total: xp.Array, x: xp.Array) -> tuple[xp.Array, xp.Array]:
        return total + x * scale[0], xp.sum(weights)

    found = []
    for step in range(3):
        found.append(values(xp.scan(body, 0.0, xp.asarray(X))))
        weights[0] = step * 10
        scale[0] += 1
    assert found == [[12, [6, 6, 6]], [18, [5, 5, 5]], [24, [15, 15, 15]]]


@pytest.mark.needs("traces")
def test_a_loop_is_compiled_once_for_functions_that_compute_the_same(framework: str) -> None:
    if framework == "torch":
        pytest.skip("loops of PyTorch that are not in jit are loops of Python")
    runs = []

    def doubled(x: xp.Array, times: int) -> xp.Array:
        def body(i: xp.Array, c: xp.Array) -> xp.Array:
            note()
            return c * 2

        return xp.fori_loop(0, times, body, x)

    note = type("Note", (), {"__call__": lambda self: runs.append(None)})()
    with xp.backend(framework):
        for _ in range(3):
            assert doubled(xp.asarray(X), 2).tolist() == [4, 8, 12]
        once = len(runs)
        assert doubled(xp.asarray(X), 3).tolist() == [8, 16, 24]
    assert once < 6 and len(runs) > once


def test_no_write_of_a_body_is_seen_outside(backend: xp.Backend) -> None:
    x, limit = xp.asarray(np.ones(3000)), xp.asarray([5.0, 5.0])

    def body(i: xp.Array, c: tuple[xp.Array, xp.Array]) -> tuple[xp.Array, xp.Array]:
        c[0][0] += 1
        c[1][0] += 1
        return c[0], xp.cond(i > 0, lambda: c[1], lambda: limit)

    found = xp.fori_loop(0, 3, body, (x, xp.zeros(2)))
    assert (float(found[0][0]), found[1].tolist()) == (4, [7, 5])
    assert float(xp.sum(x)) == 3000 and limit.tolist() == [5, 5]
    rows = xp.asarray(np.ones((2, 2000)))
    _, stacked = xp.scan(lambda c, row: (c, cleared(0, row)), None, rows)
    assert float(xp.sum(rows)) == 4000 and float(xp.sum(stacked)) == 4018
    pairs = xp.scan(lambda c, _: (cleared(0, c), c), xp.asarray([1.0, 1.0]), length=3)
    assert values(pairs) == [[1000, 1], [[10, 1], [100, 1], [1000, 1]]]


def test_no_write_to_a_result_of_a_branch_is_seen_outside(backend: xp.Backend) -> None:
    w = xp.asarray([1.0, 1.0])
    for branch in (lambda: w, lambda: w[:1]):
        found = xp.cond(True, branch, branch)
        found[0] = 9
        assert w.tolist() == [1, 1]


def test_numbers_go_where_the_arrays_are_that_a_body_reads(framework: str) -> None:
    x = xp.asarray(X, device=framework)
    found = xp.fori_loop(0, 2, lambda i, c: c + xp.sum(x), 0.0)
    assert found.device is x.device and float(found) == 12


def test_a_constant_of_a_module_that_changes_is_seen(backend: xp.Backend) -> None:
    module = types.ModuleType("settings_of_a_user")
    with xp.backend(backend):
        for rate in (2.0, 3.0):
            vars(module)["rate"] = rate
            assert float(xp.fori_loop(0, 2, lambda i, x: x * module.rate, 1.0)) == rate**2
