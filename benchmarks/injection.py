"""What a profile that is wrong about one class costs.

Run it by `python -m benchmarks.injection [--backends NAMES] [--classes NAMES] [--seconds N]`. Needs a profile of this
machine: `python -m anyarray calibrate`. Each class in turn takes ten times or a tenth of its time in the profile, in
NumPy or on all other backends, and the programs that call one of its functions run from scratch: nothing learned, and
nothing compiled by JAX. They are the ten of `benchmarks.programs` and workloads that are made to mislead the choice.
The other libraries are imported before, so a move costs no more than bringing the data.

Times are compared with those taken in turns: all runs together with those under the true profile, and the first with
NumPy's. The least of a few rounds counts. Classes come in order until the time is over, those of most programs first.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
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
NUMPY: Final = "numpy"
TRUE: Final = "the true profile"


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
    numbers = np.random.default_rng(0)
    found = [importlib.import_module(f"benchmarks.programs.{name}") for name in PROGRAMS]
    vector = numbers.random(300_000)
    return [
        *[
            Program(name, one.run, one.inputs(np.random.default_rng(0)))
            for name, one in zip(PROGRAMS, found, strict=True)
        ],
        Program("there and back", lambda host: there_and_back(xp.asarray(host)), (vector,)),
        Program("of new arrays", of_new_arrays, (vector,)),
        Program("read each time", lambda host: read_each_time(xp.asarray(host)), (vector,)),
        Program("small and large", lambda host: small_and_large(xp.asarray(host)), (numbers.random((600, 200)),)),
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


def injected(
    model: cost.Model, kind: str, concerned: Sequence[Program], rounds: int
) -> list[tuple[float, str, float, str]]:
    """For each way to be wrong the loss, what it is, the worst first run."""
    ways = {
        f"{kind}, {'numpy' if of_numpy else 'others'} x {factor:g}": wrong(
            model, kind, of_numpy=of_numpy, factor=factor
        )
        for of_numpy in (True, False)
        for factor in FACTORS
    }
    models = {NUMPY: None, TRUE: model, **ways}
    firsts, totals = ({way: dict[str, float]() for way in models} for _ in range(2))
    order = random.Random(0)
    for program in concerned:
        # In turns, as a spell in which the machine is slow hits all of them.
        for way in [way for _ in range(rounds) for way in order.sample(list(models), len(models))]:
            runs = timed(program, models[way])
            firsts[way][program.name] = min(runs[0], firsts[way].get(program.name, math.inf))
            totals[way][program.name] = min(sum(runs), totals[way].get(program.name, math.inf))
    right = sum(totals[TRUE].values())
    return [
        (
            sum(totals[way].values()) / right,
            way,
            *max((firsts[way][one.name] / firsts[NUMPY][one.name], one.name) for one in concerned),
        )
        for way in (TRUE, *ways)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.injection", description=__doc__)
    parser.add_argument("--backends", default="jax", help="beside NumPy; default: jax")
    parser.add_argument("--classes", help="default: all that a program calls")
    parser.add_argument("--programs", help="default: all")
    parser.add_argument("--rounds", type=int, default=2, help="of which the least time counts; default: 2")
    parser.add_argument("--seconds", type=float, default=600.0, help="no class is begun after that; default: 600")
    options = parser.parse_args()
    end = time.perf_counter() + options.seconds
    others = [str(xp.device(name)) for name in options.backends.split(",")]
    model = automatic.model()
    if model is None:
        sys.exit(f"injection: this machine is not measured. {automatic.CURE}")
    model = machine.without(model, [name for name in model.backends if name not in (cost.NUMPY, *others)])
    names = options.programs.split(",") if options.programs else None
    known = [(one, classes_of(one)) for one in programs() if names is None or one.name in names]
    kinds = options.classes.split(",") if options.classes else list(cost.CLASSES)
    by_kind = {kind: [one for one, calls in known if kind in calls] for kind in kinds}
    rows: list[tuple[float, str, float, str]] = []
    left: list[str] = []
    order = sorted((kind for kind in kinds if by_kind[kind]), key=lambda kind: -len(by_kind[kind]))
    for kind in track(order, "classes", console=progress, transient=True):
        if time.perf_counter() < end:
            rows += injected(model, kind, by_kind[kind], options.rounds)
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
