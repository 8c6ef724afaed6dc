"""Accuracy of `anyarray.special` against mpmath, as a table for the docs.

`python -m benchmarks.special numpy jax tf torch` computes 2,000 points for each function and dtype, tails included, and
writes the greatest errors in units in the last place to docs/special.json, and the table to docs/special.md. The
references of mpmath take ten minutes; they are kept in a file of the folder for temporary files.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, NamedTuple

import mpmath
import numpy as np
from scipy import special as scipys

import anyarray as xp
from anyarray import special

Points = Callable[[np.random.Generator, int], np.ndarray]
POINTS: Final = 2000
DTYPES: Final = ("float64", "float32")
CALLS: Final = 11
"""After so many TensorFlow calls a graph."""
RESULTS: Final = Path(__file__).parents[1] / "docs" / "special.json"
mp: Final = mpmath.mp


class Case(NamedTuple):
    """A function, where it is computed, and its values by mpmath."""

    reference: Callable[..., Any]
    arguments: tuple[Points, ...]
    unit: Callable[..., Any] = lambda *xs: 0.0
    """What counts as the size of a result if that is smaller, as near the zeros of a function that oscillates."""


def _between(low: float, high: float) -> Points:
    return lambda rng, n: rng.uniform(low, high, n)


def _sized(low: float, high: float) -> Points:
    """Positive numbers of all magnitudes."""
    return lambda rng, n: np.exp(rng.uniform(np.log(low), np.log(high), n))


def _either(*parts: Points) -> Points:
    """Numbers of several ranges, in turn."""

    def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.choose(np.arange(n) % len(parts), [part(rng, n) for part in parts])

    return drawn


def _negative(part: Points) -> Points:
    return lambda rng, n: -part(rng, n)


def _signed(part: Points) -> Points:
    return _either(part, _negative(part))


def _from_one(part: Points, sign: int = -1) -> Points:
    return lambda rng, n: 1 + sign * part(rng, n)


def _integers(low: int, high: int) -> Points:
    return lambda rng, n: rng.integers(low, high, n, endpoint=True).astype(float)


def _solved(function: Callable[..., Any], slope: Callable[..., Any], start: str) -> Callable[..., Any]:
    """The inverse by the last argument, from SciPy's value."""

    def inverse(*xs: Any) -> Any:
        found = mp.mpf(float(getattr(scipys, start)(*map(float, xs))))
        for _ in range(5):
            step = (function(*xs[:-1], found) - xs[-1]) / slope(*xs[:-1], found)
            found -= step
            if abs(step) < mp.mpf(10) ** -28 * abs(found):
                return found
        return mp.nan

    return inverse


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def _gammainc(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _xlogx(x: Any) -> Any:
    return x * mp.log(x) if x else mp.mpf(0)


_PARAMETERS: Final = _either(_sized(1e-2, 1e4), _sized(0.5, 100))
_SHAPES: Final = _either(_sized(1e-2, 1e3), _sized(0.5, 50))
_PROBABILITIES: Final = _either(_between(0, 1), _sized(1e-30, 1), _from_one(_sized(1e-7, 1)))


def _near(rng: np.random.Generator, a: np.ndarray) -> np.ndarray:
    """Arguments where an incomplete gamma function is neither 0 nor 1."""
    spread = np.maximum(np.sqrt(a), 0.5)
    return np.where(
        rng.random(a.size) < 0.3, np.exp(rng.uniform(-5, 5, a.size)) * a, np.abs(a + spread * rng.normal(0, 3, a.size))
    )


CASES: Final[dict[str, Case]] = {
    "erf": Case(mp.erf, (_signed(_either(_sized(1e-20, 6), _between(0, 6))),)),
    "erfc": Case(mp.erfc, (_either(_between(-6, 27), _signed(_sized(1e-10, 5))),)),
    "erfcx": Case(
        _erfcx,
        (_either(_between(-26, 30), _signed(_sized(1e-10, 20)), _sized(10, 1e5)),),
    ),
    "erfinv": Case(mp.erfinv, (_signed(_either(_between(0, 1), _sized(1e-20, 1), _from_one(_sized(1e-14, 1)))),)),
    "erfcinv": Case(
        _solved(mp.erfc, lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x), "erfcinv"),
        (_either(_between(0, 2), _sized(1e-300, 1), _from_one(_sized(1e-10, 1))),),
    ),
    "gamma": Case(mp.gamma, (_either(_between(0, 171), _between(-30, 0), _signed(_sized(1e-10, 10))),)),
    "gammaln": Case(
        lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 1e6 else mp.loggamma(x).real,
        (
            _either(
                _sized(1e-20, 1e10), _between(0, 20), _negative(_between(0, 100)), _from_one(_signed(_sized(1e-8, 1)))
            ),
        ),
        lambda x: np.where(x < 0, 1.0, 0.0),
    ),
    "gammasgn": Case(lambda x: mp.sign(mp.gamma(x)), (_signed(_between(0, 50)),)),
    "digamma": Case(
        lambda x: mp.psi(0, x),
        (
            _either(
                _sized(1e-10, 1e10), _between(0, 20), _negative(_between(0, 50)), _from_one(_signed(_sized(1e-4, 1)))
            ),
        ),
        lambda x: np.where(x < 0, np.abs(x) + 1, 0.0),
    ),
    "polygamma": Case(lambda n, x: mp.psi(int(n), x), (_integers(0, 12), _either(_sized(1e-3, 1e3), _between(0, 20)))),
    "zeta": Case(
        lambda s, q: mp.zeta(s, q),
        (_either(_from_one(_sized(1e-3, 20), 1), _between(1, 10)), _either(_sized(1e-2, 1e4), _between(0, 10))),
    ),
    "beta": Case(mp.beta, (_either(_sized(1e-3, 500), _between(0, 20)), _either(_sized(1e-3, 500), _between(0, 20)))),
    "betaln": Case(
        lambda a, b: mp.log(mp.beta(a, b)),
        (_either(_sized(1e-3, 1e6), _between(0, 20)), _either(_sized(1e-3, 1e6), _between(0, 20))),
        lambda a, b: np.ones_like(a),
    ),
    "betainc": Case(_betainc, (_SHAPES, _SHAPES, _either(_between(0, 1), _sized(1e-10, 1)))),
    "betaincinv": Case(
        _solved(_betainc, lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b), "betaincinv"),
        (
            _either(_sized(0.1, 1e2), _between(0.5, 20)),
            _either(_sized(0.1, 1e2), _between(0.5, 20)),
            _either(_between(0, 1), _sized(1e-10, 1)),
        ),
    ),
    "gammainc": Case(_gammainc, (_PARAMETERS, _near)),
    "gammaincc": Case(lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), (_PARAMETERS, _near)),
    "gammaincinv": Case(
        _solved(_gammainc, lambda a, x: x ** (a - 1) * mp.exp(-x) / mp.gamma(a), "gammaincinv"),
        (_either(_sized(0.1, 1e3), _between(0.5, 20)), _either(_between(0, 1), _sized(1e-10, 1))),
    ),
    "expit": Case(lambda x: 1 / (1 + mp.exp(-x)), (_either(_between(-700, 50), _between(-10, 10)),)),
    "logit": Case(lambda x: mp.log(x / (1 - x)), (_either(_PROBABILITIES, _between(0.4, 0.6)),)),
    "log_expit": Case(lambda x: -mp.log1p(mp.exp(-x)), (_either(_between(-700, 700), _between(-10, 10)),)),
    "xlogy": Case(
        lambda x, y: x * mp.log(y), (_signed(_sized(1e-5, 1e5)), _either(_sized(1e-30, 1e30), _between(0.5, 2)))
    ),
    "xlog1py": Case(
        lambda x, y: x * mp.log1p(y), (_signed(_sized(1e-5, 1e5)), _either(_sized(1e-20, 1e30), _between(-1, 1)))
    ),
    "entr": Case(lambda x: -_xlogx(x), (_either(_sized(1e-30, 1e30), _between(0, 2)),)),
    "rel_entr": Case(lambda x, y: x * mp.log(x / y), (_sized(1e-5, 1e5), _sized(1e-5, 1e5))),
    "kl_div": Case(
        lambda x, y: x * mp.log(x / y) - x + y, (_sized(1e-5, 1e5), _sized(1e-5, 1e5)), lambda x, y: np.maximum(x, y)
    ),
    "ndtr": Case(_ndtr, (_either(_between(-37, 8), _signed(_sized(1e-10, 10))),)),
    "ndtri": Case(
        _solved(_ndtr, lambda x: mp.npdf(x), "ndtri"),
        (_either(_between(0, 1), _sized(1e-300, 1), _from_one(_sized(1e-7, 1))),),
    ),
    "log_ndtr": Case(
        lambda x: mp.log(_ndtr(x)) if x < 5 else mp.log1p(-_ndtr(-x)),
        (_either(_between(-40, 10), _negative(_sized(1e-3, 1e5))),),
    ),
    **{
        name: Case(
            (lambda order, scaled: lambda x: mp.besseli(order, x) * (mp.exp(-abs(x)) if scaled else 1))(
                int(name[1]), len(name) == 3
            ),
            (_signed(_either(_sized(1e-10, 100), _between(0, 20), _sized(1, 700))),),
        )
        for name in ("i0", "i0e", "i1", "i1e")
    },
    **{
        name: Case(
            (lambda order, scaled: lambda x: mp.besselk(order, x) * (mp.exp(x) if scaled else 1))(
                int(name[1]), len(name) == 3
            ),
            (_either(_sized(1e-10, 100), _between(0, 20), _sized(1, 700)),),
        )
        for name in ("k0", "k0e", "k1", "k1e")
    },
    **{
        name: Case(
            (lambda order: lambda x: mp.besselj(order, x))(int(name[1])),
            (_signed(_either(_sized(1e-10, 1e3), _between(0, 20), _between(0, 100))),),
            lambda x: np.minimum(1, np.sqrt(2 / (np.pi * np.abs(x)))) * (np.abs(x) > 1),
        )
        for name in ("j0", "j1")
    },
    "sinc": Case(
        mp.sincpi, (_signed(_either(_sized(1e-10, 100), _between(0, 10))),), lambda x: 1 / np.maximum(1, np.abs(x))
    ),
    "spence": Case(
        lambda x: mp.polylog(2, 1 - x).real,
        (_either(_between(0, 4), _sized(1e-10, 1e10)),),
    ),
    "exprel": Case(lambda x: mp.expm1(x) / x, (_either(_between(-700, 700), _signed(_sized(1e-10, 10))),)),
    "expi": Case(
        mp.ei,
        (_either(_sized(1e-10, 700), _between(0, 2), _negative(_sized(1e-10, 700))),),
        lambda x: np.where(np.abs(x - 0.37) < 0.2, 0.5, 0.0),
    ),
    "exp1": Case(lambda x: mp.e1(x).real, (_either(_sized(1e-10, 700), _between(0, 5)),)),
    "factorial": Case(mp.factorial, (_either(_between(0, 170), _integers(0, 170)),)),
    "comb": Case(mp.binomial, (_either(_integers(50, 500), _integers(10, 60)), _integers(0, 10))),
    "huber": Case(
        lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2), (_sized(1e-3, 1e3), _signed(_sized(1e-3, 1e3)))
    ),
    "pseudo_huber": Case(
        lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), (_sized(1e-3, 1e3), _signed(_sized(1e-3, 1e3)))
    ),
    "softplus": Case(lambda x: mp.log1p(mp.exp(x)), (_either(_between(-700, 700), _between(-10, 10)),)),
}


def arguments(name: str, dtype: str, points: int, seed: int = 0) -> list[np.ndarray]:
    """The points at which a function is computed, of that dtype."""
    rng = np.random.default_rng([seed, *name.encode()])
    found: list[np.ndarray] = []
    for part in CASES[name].arguments:
        drawn = part(rng, found[0]) if part is _near else part(rng, points)
        found.append(drawn.astype(dtype))
    for values in found:  # parameters in one order need not stand beside arguments in the same order
        if CASES[name].arguments[-1] is not _near:
            rng.shuffle(values)
    return found


def references(name: str, xs: list[np.ndarray]) -> list[Any]:
    """The values by mpmath, None where it finds none."""
    found = []
    for point in zip(*xs, strict=True):
        try:
            with mp.workdps(100 if name == "zeta" else 40):  # with less, its zeta function is wrong for large q
                value = CASES[name].reference(*[mp.mpf(float(x)) for x in point])
            found.append(value if mp.isfinite(value) else None)
        except (ArithmeticError, ValueError, TypeError, mpmath.libmp.NoConvergence):
            found.append(None)
    return found


def errors(name: str, xs: list[np.ndarray], values: np.ndarray, wanted: list[Any]) -> np.ndarray:
    """Errors in units in the last place; NaN where that has no meaning."""
    limits = np.finfo(values.dtype)
    sizes = CASES[name].unit(*[x.astype(float) for x in xs])
    found = np.full(len(wanted), np.nan)
    is_flushed = np.any([(x != 0) & (np.abs(x) < limits.tiny) for x in xs], axis=0)
    for at, (value, right, size) in enumerate(zip(values, wanted, np.broadcast_to(sizes, values.shape), strict=True)):
        if right is None or is_flushed[at] or not float(limits.tiny) < abs(right) < float(limits.max):
            continue
        largest = max(abs(right), mp.mpf(float(size)))
        unit = mp.mpf(2) ** (int(mp.floor(mp.log(largest, 2))) - limits.nmant)
        found[at] = float(abs(mp.mpf(float(value)) - right) / unit) if np.isfinite(value) else np.inf
    return found


def kept_references() -> dict[tuple[str, str], Any]:
    """Points and references for each function and dtype, once computed."""
    file = Path(tempfile.gettempdir()) / "anyarray-special.pickle"
    if file.exists():
        return pickle.loads(file.read_bytes())  # our own file
    found = {}
    for name in CASES:
        for dtype in DTYPES:
            xs = arguments(name, dtype, POINTS)
            found[name, dtype] = (xs, references(name, xs))
    file.write_bytes(pickle.dumps(found))
    return found


def worst_errors(backend: str, only: Collection[str]) -> dict[str, float]:
    """The greatest error of each of these functions and dtypes."""
    found = {}
    with xp.backend(backend), np.errstate(all="ignore"):
        for (name, dtype), (xs, wanted) in kept_references().items():
            if name not in only:
                continue
            for _ in range(CALLS):
                values = np.asarray(getattr(special, name)(*[xp.asarray(x) for x in xs]))
            found[f"{name} {dtype}"] = float(np.nanmax(errors(name, xs, values, wanted)))
            print(backend, name, dtype, found[f"{name} {dtype}"], flush=True)
    return found


def table(worst: dict[str, dict[str, float]]) -> str:
    """The errors in Markdown, a row for each function."""
    lines = [
        ["function", *[f"{backend}, {dtype}" for dtype in DTYPES for backend in worst]],
        ["---"] * (1 + len(DTYPES) * len(worst)),
        *[
            [f"`{name}`", *[written(worst[backend][f"{name} {dtype}"]) for dtype in DTYPES for backend in worst]]
            for name in sorted(CASES)
        ],
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def written(error: float) -> str:
    return f"{error:.1f}" if error < 9.95 else f"{float(f'{error:.1e}'):,.0f}" if error < 1e5 else f"{error:.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", default=["numpy", "jax", "tf", "torch"])
    parser.add_argument("--only", nargs="*", default=list(CASES), help="functions")
    given = parser.parse_args()
    worst = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for backend in given.backends:
        worst[backend] = worst.get(backend, {}) | worst_errors(backend, given.only)
        RESULTS.write_text(json.dumps(worst, indent=1) + "\n")
    page = RESULTS.with_suffix(".md")
    head, _, rest = page.read_text().partition("| function |")
    page.write_text(head + table(worst) + rest[rest.index("\n\n") :])


if __name__ == "__main__":
    main()
