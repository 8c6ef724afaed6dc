"""The automatic choice on an H100, replayed: rows of calls by the real rule.

The three accelerators are simulated, each a library of its own. Predictions are fitted to the recorded times of single
calls (`test_replay`); what is true was recorded by itself: what each row of `benchmarks.automatic` takes on each
backend (`rows_h100.csv`), and transfers (`routes_h100.csv`). A row's calls share its time as the predictions have it.
"""

from __future__ import annotations

import csv
import functools
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from test_replay import laws

import anyarray as xp
from anyarray._calibration.fitting import Point, fitted
from anyarray._call import execution, slow_path, wrapping
from anyarray._choice import automatic, choice, cost, learning, machine
from anyarray._registry import libraries, registry
from anyarray.backends import sim

DATA: Final = Path(__file__).parent / "data"
DEVICES: Final = {"simcupy": "cupy", "simjax": "jax-gpu", "simtf": "tf-gpu"}
RECORDED: Final = {"numpy": "numpy", **DEVICES}
"""The names in the tables, by backend."""
COMPILING: Final = {"numpy": 0.0, "simcupy": 3e-4, "simjax": 0.07, "simtf": 1e-3}
"""Seconds of a first call: CuPy looks its kernel up, JAX compiles."""
DECIDED, KEPT = 1e-4, 3e-6
"""Seconds that a decision takes, and one that was made before."""
SETTLING, MOST = 0.6, 200
"""Seconds or passes of a row until its time counts, as in `benchmarks.automatic`."""
COUNTED: Final = 6
"""Passes whose mean counts."""
CLASSES: Final = {
    "add": "arithmetic", "exp": "transcendental", "sum": "sum", "max": "extremum", "std": "variance",
    "cumulative_sum": "cumulative", "sort": "sort", "argsort": "argsort", "searchsorted": "search",
    "unique_values": "unique", "matmul": "matmul", "matvec": "product with a vector", "vecdot": "dot", "fft": "fft",
    "solve": "solve", "cholesky": "cholesky", "qr": "qr", "svd": "svd", "eigh": "eigh", "take": "gather",
    "concat": "join", "zeros": "creation", "sum_rows16": "sum of short rows",
    "divide": "divide", "tanh": "tanh", "inv": "inv", "where": "where",
}  # fmt: skip
"""Classes, and functions with a law of their own, by their names in the table of times."""

Call = Callable[..., Any]


def sigmoid(call: Call, x: Any) -> Any:
    return call("divide", 1, call("add", 1, call("exp", call("negative", x))))


def standardise_and_reduce(call: Call, x: Any) -> Any:
    centred = call("subtract", x, call("mean", x, axis=0))
    z = call("divide", centred, call("std", x, axis=0))
    _, _, components = call("linalg.svd", z, full_matrices=False)
    return call("matmul", z, components[:10, :].T)


def logistic_loss(call: Call, x: Any, w: Any, y: Any) -> Any:
    product = call("multiply", call("negative", y), call("matmul", x, w))
    return call("mean", call("log1p", call("exp", product)))


def chain(call: Call, x: Any) -> Any:
    y = call("add", call("multiply", call("tanh", x), 2), 1)
    root = call("sqrt", call("abs", call("subtract", call("multiply", y, y), x)))
    return call("divide", root, call("add", 1, call("exp", call("negative", y))))


def sort_and_unique(call: Call, x: Any) -> Any:
    return call("unique_values", call("sort", x))


def filtered(call: Call, x: Any) -> Any:
    weights = call("exp", call("negative", call("abs", x)))
    return call("real", call("fft.ifft", call("multiply", call("fft.fft", x), weights)))


def alone(name: str) -> Callable[..., Any]:
    return lambda call, *xs: call(name, *xs)


VECTOR: Final = [lambda n: np.ones(n, np.float32)]
EXPERIMENTS: Final[dict[str, tuple[Callable[..., Any], list[Callable[[int], Any]]]]] = {
    "sigmoid": (sigmoid, VECTOR),
    "tanh": (alone("tanh"), VECTOR),
    "sort": (alone("sort"), VECTOR),
    "fft": (alone("fft.fft"), [lambda n: np.ones(n, np.complex64)]),
    "matmul": (alone("matmul"), [lambda n: np.ones((round(n**0.5),) * 2, np.float32)] * 2),
    "dot": (alone("vecdot"), VECTOR * 2),
    "standardise, SVD": (standardise_and_reduce, [lambda n: np.random.default_rng(0).normal(size=(20_000, 50))]),
    "logistic loss": (
        logistic_loss, [lambda n: np.ones((20_000, 50)), lambda n: np.ones(50), lambda n: np.ones(20_000)],
    ),
    "chain": (chain, [lambda n: np.ones(1_000_000)]),
    "sort, unique": (sort_and_unique, [lambda n: np.arange(300_000)]),
    "fft filter": (filtered, [lambda n: np.ones(1 << 18, np.complex64)]),
}  # fmt: skip
"""By the name of the row: the calls, and what makes its inputs."""


def table(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}_h100.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def transfers() -> dict[tuple[str, str], list[Point]]:
    """The recorded seconds of transfers, by backends and bytes."""
    names = {recorded: name for name, recorded in RECORDED.items()}
    found: dict[tuple[str, str], list[Point]] = {}
    for row in table("routes"):
        point = Point(float(row["bytes"]), float(row["copy"]) * 1e-6)
        found.setdefault((names[row["from"]], names[row["to"]]), []).append(point)
    return found


@functools.cache
def model() -> cost.Model:
    """The model that a calibration of the recorded machine comes to."""
    of_calls, of_shapes = laws("h100"), table("shapes")
    backends: dict[str, cost.Costs] = {}
    for name, recorded in RECORDED.items():
        its = {kind: of_calls[of, recorded] for of, kind in CLASSES.items() if (of, recorded) in of_calls}
        for kind in dict.fromkeys(row["class"] for row in of_shapes):
            points = [
                Point(float(row["work"]), float(row[recorded]) * 1e-6, row["dtype"] == "float32")
                for row in of_shapes
                if row["class"] == kind and row[recorded]
            ]
            if points:
                its[kind] = fitted(points)
        backends[name] = cost.Costs(its, dict.fromkeys(its, COMPILING[name]))
    routes = {ends: cost.Route(fitted(points, is_by_width=False)) for ends, points in transfers().items()}
    return cost.Model(backends, routes)


class Took(NamedTuple):
    """Seconds of a row."""

    name: str
    numpy: float
    cupy: float
    least: float
    """On the fastest backend."""
    auto: float


class World:
    """Counts what a row takes, by what was recorded of it on each backend."""

    def __init__(self, of_row: dict[str, float]) -> None:
        self.of_row = of_row
        self.factors: dict[str, float] = {}
        """By backend: what the row takes, over what is predicted."""
        self.model = model()
        self.moves = transfers()
        self.seconds = 0.0
        self.calls: list[cost.Call] = []
        self.is_counted = False

    def learn(self, run: Callable[[Call], Any]) -> None:
        """Find the row's calls, and how their time is shared."""
        with xp.backend("numpy"):
            run(self.call)
        for name, seconds in self.of_row.items():
            self.factors[name] = seconds / sum(self.model.seconds(name, one) or 0.0 for one in self.calls)

    def took(self, name: str, call: cost.Call | None) -> float:
        """What a call takes on a backend."""
        return 0.0 if call is None else (self.model.seconds(name, call) or 0.0) * self.factors[name]

    def call(self, name: str, *values: Any, **options: Any) -> Any:
        function: Any = xp
        for part in name.split("."):
            function = getattr(function, part)
        arrays = [one for one in values if isinstance(one, xp.Array)]
        shapes = automatic.shapes_of(arrays)
        its = cost.call(function.__name__, shapes, [a.dtype for a in arrays], axis=options.get("axis"))
        if its is not None:
            self.calls.append(its)
        with xp.transfers() as log:
            result = function(*values, **options)
        if self.is_counted:
            last = result[-1] if isinstance(result, tuple) else result
            self.seconds += self.took(last.device.name, its) + sum(self.moving(one) for one in log.rows)
            self.seconds += KEPT if last.device.name != "numpy" else 0.0
        return result

    def moving(self, one: Any) -> float:
        """Seconds of a transfer, in proportion between two recorded sizes."""
        source, target = ("numpy" if name == "host" else name for name in (one.source, one.target))
        points = self.moves[source, target]
        sizes, seconds = [math.log(p.work) for p in points], [math.log(p.seconds) for p in points]
        return math.exp(float(np.interp(math.log(max(one.nbytes, 1)), sizes, seconds)))


def remembering(scoped: Callable[..., Any]) -> Callable[..., Any]:
    """A library's hook `scoped` whose functions compute once for each shape.

    What the values are does not matter here.
    """

    def of(function: Callable[..., Any], device: int) -> Callable[..., Any]:
        call, found = scoped(function, device), dict[str, Any]()

        def called(*values: Any, **options: Any) -> Any:
            key = repr((function, values, options))  # of an array shape, dtype and device
            if key not in found:
                found[key] = call(*values, **options)
            return found[key]

        return called

    return of


@pytest.fixture(scope="module")
def accelerators() -> Iterator[None]:
    """Three simulated libraries beside NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        for name in DEVICES:
            spec = importlib.util.spec_from_file_location(f"anyarray_{name}", sim.__file__)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            patch.setitem(sys.modules, spec.name, module)
            spec.loader.exec_module(module)
            patch.setattr(module, "scoped", remembering(module.scoped))
            patch.setitem(libraries.LIBRARIES, name, libraries.Library(name, spec.name, "anyarray", ("gpu",)))
        yield
        for name in DEVICES:
            registry._loaded.pop(name, None)
            registry._backends.pop(name, None)


def replay(row: dict[str, str], monkeypatch: pytest.MonkeyPatch, *, learns: bool) -> Took:
    """What a row takes under the automatic choice, once it has settled."""
    of_row = {name: float(row[recorded]) * 1e-6 for name, recorded in RECORDED.items()}
    function, makers = EXPERIMENTS[row["row"]]
    host = [make(int(row["n"] or 0)) for make in makers]
    here = World(of_row)

    def timed(declaration: Any, prepared: Any, home: Any) -> tuple[Any, float]:
        result = execution.call_on(declaration, prepared, home)
        arrays = wrapping.arrays_among(prepared)
        axis = None if declaration.axis_at is None else prepared[declaration.axis_at]
        its = cost.call(declaration.name, automatic.shapes_of(arrays), [a.dtype for a in arrays], axis=axis)
        return result, here.took(home.backend.name, its)

    def decided(*given: Any, **options: Any) -> Any:
        here.seconds += DECIDED
        return automatic.decide(*given, **options)

    inputs = [xp.asarray(a) for a in host]
    here.learn(lambda call: function(call, *inputs))
    with monkeypatch.context() as patch:
        patch.setattr(learning, "is_on", lambda: learns)
        patch.setattr(slow_path, "_timed", timed)
        patch.setattr(choice, "automatic", type("", (), {**vars(automatic), "decide": staticmethod(decided)}))
        for name in DEVICES:
            xp.device(name)
        learning.forget()
        machine.use(here.model, are_limits_due=False)
        here.is_counted = True
        passes = 0
        try:
            with xp.backend("auto"), xp.policy(fuse=False), np.errstate(all="ignore"):
                while here.seconds < SETTLING and (passes := passes + 1) < MOST:
                    function(here.call, *inputs)
                settled = here.seconds
                for _ in range(COUNTED):
                    function(here.call, *inputs)
        finally:
            machine.use(None)
            learning.forget()
    name = f"{row['row']} {row['n']}".strip()
    return Took(name, of_row["numpy"], of_row["simcupy"], min(of_row.values()), (here.seconds - settled) / COUNTED)


@pytest.mark.sampled
@pytest.mark.usefixtures("accelerators")
@pytest.mark.parametrize(("learns", "beside_least", "beside_cupy"), [(False, 1.1, 1.0), (True, 1.13, 1.02)])
def test_the_rows_of_an_h100_lose_little_to_hindsight(
    learns: bool, beside_least: float, beside_cupy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    took = [replay(row, monkeypatch, learns=learns) for row in table("rows")]
    auto = sum(one.auto for one in took)
    assert auto <= beside_least * sum(one.least for one in took)
    assert auto <= beside_cupy * sum(one.cupy for one in took)
    assert [one.name for one in took if one.auto > 1.1 * one.numpy] == []
