"""What a profile that is wrong about one class costs.

Run it by `python -m benchmarks.injection [--backends NAMES] [--classes NAMES] [--seconds N]`. Needs a profile of this
machine: `python -m anyarray calibrate`. Each class in turn takes ten times or a tenth of its time in the profile, in
NumPy or on all other backends, and the programs that call one of its functions run from scratch: nothing learned, and
nothing compiled by JAX. They are the ten of `benchmarks.programs` and workloads that are made to mislead the choice.
The other libraries are imported before, so a move costs no more than bringing the data.

Times are compared with those under the true profile, taken before: all runs together, and the first with NumPy's.
The least of two counts on either side. Classes come in order until the time is over, those of most programs first.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from rich.progress import track

import anyarray as xp
from anyarray._choice import automatic, cost, learning, machine
from benchmarks.overhead import print_table, progress, verdict
from benchmarks.programs import PROGRAMS

FACTORS: Final = (0.1, 10.0)
RUNS: Final = 4
"""Runs of a program from scratch, the first included."""
TOTAL_BOUND: Final = 1.3
"""Times what the true profile gives, for all programs of a class."""
FIRST_BOUND: Final = 2.0
"""Times NumPy, for the first run of each program."""


class Program(NamedTuple):
    """A program, and the classes of its calls."""

    name: str
    run: Callable[..., Any]
    inputs: tuple[Any, ...]


def there_and_back(x: Any) -> float:
    """A function that others make faster, and one that they do not."""
    for _ in range(10):
        x = xp.tanh(xp.sort(xp.exp(x)))
    return float(xp.sum(x))


def of_new_arrays(host: Any) -> float:
    """Arrays that are brought over pay only once."""
    return sum(float(xp.max(xp.tanh(xp.asarray(host + i)))) for i in range(10))


def read_each_time(x: Any) -> float:
    """The host reads after every call, which is free in NumPy alone."""
    total = 0.0
    for _ in range(20):
        x = xp.cumulative_sum(x) / x.size
        total += float(x[0]) + float(xp.sum(x))
    return total


def small_and_large(matrix: Any) -> float:
    """Products large enough to move, whose results are small."""
    return sum(float(xp.sum(xp.linalg.svd((matrix.T @ matrix)[:40, :40])[1])) for _ in range(20))


def programs() -> list[Program]:
    random = np.random.default_rng(0)
    found = [importlib.import_module(f"benchmarks.programs.{name}") for name in PROGRAMS]
    vector = random.random(300_000)
    return [
        *[
            Program(name, one.run, one.inputs(np.random.default_rng(0)))
            for name, one in zip(PROGRAMS, found, strict=True)
        ],
        Program("there and back", lambda host: there_and_back(xp.asarray(host)), (vector,)),
        Program("of new arrays", of_new_arrays, (vector,)),
        Program("read each time", lambda host: read_each_time(xp.asarray(host)), (vector,)),
        Program("small and large", lambda host: small_and_large(xp.asarray(host)), (random.random((600, 200)),)),
    ]


def classes_of(program: Program) -> set[str]:
    """The classes whose functions a program calls, with their variants."""
    with xp.backend("auto"), xp.explain() as why:
        program.run(*program.inputs)
    kinds = {cost.class_of.get(cost.predicted_as(one.function), "") for one in why.decisions} - {""}
    return {variant for kind in kinds for variant in cost._variants(kind)}


def wrong(model: cost.Model, kind: str, *, of_numpy: bool, factor: float) -> cost.Model:
    """The model where a class takes `factor` times as long, on one side."""

    def law(of: str, found: Any) -> Any:
        is_of_class = of == kind or cost.class_of.get(of) == kind
        return found._replace(launch=found.launch * factor) if is_of_class else found

    return model._replace(
        backends={
            name: costs._replace(laws={of: law(of, found) for of, found in costs.laws.items()})
            if (name == cost.NUMPY) == of_numpy
            else costs
            for name, costs in model.backends.items()
        }
    )


def timed(program: Program, model: cost.Model | None) -> list[float]:
    """Seconds of runs from scratch by a model; in NumPy without one."""
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()
    learning.forget()
    machine.use(model, are_limits_due=False)
    runs: list[float] = []
    with xp.backend("numpy" if model is None else "auto"):
        for _ in range(RUNS):
            started = time.perf_counter()
            program.run(*program.inputs)
            runs.append(time.perf_counter() - started)
    return runs


def least(program: Program, model: cost.Model | None) -> tuple[float, float]:
    """Seconds of the first run, and of all: the least of two times."""
    found = [timed(program, model) for _ in range(2)]
    return min(runs[0] for runs in found), min(map(sum, found))


def injected(model: cost.Model, kind: str, concerned: Sequence[Program], seconds: dict[str, float]) -> list[list[Any]]:
    """For each way to be wrong the loss, what it is, the worst first run."""
    rows: list[list[Any]] = []
    right = sum(least(program, model)[1] for program in concerned)
    for of_numpy in (True, False):
        for factor in FACTORS:
            bad = wrong(model, kind, of_numpy=of_numpy, factor=factor)
            taken, firsts = 0.0, list[tuple[float, str]]()
            for program in concerned:
                first, all_runs = least(program, bad)
                taken += all_runs
                firsts.append((first / seconds[program.name], program.name))
            where = "numpy" if of_numpy else "others"
            rows.append([taken / right, f"{kind}, {where} x {factor:g}", *max(firsts)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.injection", description=__doc__)
    parser.add_argument("--backends", default="jax", help="beside NumPy; default: jax")
    parser.add_argument("--classes", help="default: all that a program calls")
    parser.add_argument("--seconds", type=float, default=600.0, help="no class is begun after that; default: 600")
    options = parser.parse_args()
    end = time.perf_counter() + options.seconds
    others = [str(xp.device(name)) for name in options.backends.split(",")]
    model = automatic.model()
    if model is None:
        sys.exit(f"injection: this machine is not measured. {automatic.CURE}")
    model = machine.without(model, [name for name in model.backends if name not in (cost.NUMPY, *others)])
    known = {program.name: (program, classes_of(program)) for program in programs()}
    kinds = options.classes.split(",") if options.classes else list(cost.CLASSES)
    by_kind = {kind: [one for one, calls in known.values() if kind in calls] for kind in kinds}
    seconds = {name: least(program, None)[0] for name, (program, _) in known.items()}
    rows: list[list[Any]] = []
    left: list[str] = []
    order = sorted((kind for kind in kinds if by_kind[kind]), key=lambda kind: -len(by_kind[kind]))
    for kind in track(order, "classes", console=progress, transient=True):
        if time.perf_counter() < end:
            rows += injected(model, kind, by_kind[kind], seconds)
        else:
            left.append(kind)
    rows.sort(key=lambda row: -row[0])
    table = [
        [what, verdict(loss, TOTAL_BOUND, f"{loss:.2f}"), name, verdict(first, FIRST_BOUND, f"{first:.2f}")]
        for loss, what, first, name in rows
    ]
    print_table("a class that is wrong", ["class", "all/true profile", "worst first run", "first/numpy"], table)
    if left:
        sys.stdout.write(f"Not reached in the time: {', '.join(left)}\n")


if __name__ == "__main__":
    main()
