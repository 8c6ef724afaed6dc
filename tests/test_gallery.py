"""The programs of the gallery draw the same on every backend."""

from __future__ import annotations

from typing import Any, Final

import _gallery  # docs/_gallery.py
import numpy as np
import pytest
import scipy.stats

import anyarray as xp

pytestmark = pytest.mark.few_backends

PROGRAMS: Final = dict(_gallery.programs())


def test_there_are_seven_programs_with_a_picture_each() -> None:
    assert len(PROGRAMS) == 7
    for title in PROGRAMS:
        assert _gallery.file_of(title).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("title", list(PROGRAMS))
def test_a_program_draws_on_a_framework_what_it_draws_on_numpy(title: str, framework: str) -> None:
    wanted = _gallery.picture(PROGRAMS[title], "numpy")
    found = _gallery.picture(PROGRAMS[title], framework)
    assert np.ptp(wanted) > 0
    # The last bit of a square decides for a few points of the Mandelbrot set when they leave it.
    assert np.mean(np.abs(found - wanted) > 1e-6) < 1e-3


DISTRIBUTIONS: Final = {
    "beta": scipy.stats.beta(2.0, 3.5), "binomial": scipy.stats.binom(12, 0.3), "cauchy": scipy.stats.cauchy(),
    "gamma": scipy.stats.gamma(2.5), "gumbel": scipy.stats.gumbel_r(), "inverse gamma": scipy.stats.invgamma(2.5),
    "logistic": scipy.stats.logistic(), "lognormal": scipy.stats.lognorm(1.0), "nakagami": scipy.stats.nakagami(1.5),
    "normal": scipy.stats.norm(), "poisson": scipy.stats.poisson(3.5), "rice": scipy.stats.rice(1.5),
    "skew normal": scipy.stats.skewnorm(2.0), "student t": scipy.stats.t(4.5), "von mises": scipy.stats.vonmises(2.0),
}  # fmt: skip
"""SciPy's distributions, by their names in the gallery."""


def test_log_densities_of_the_gallery_are_those_of_scipy_with_their_slopes(framework: str, jits: list[Any]) -> None:
    names: dict[str, Any] = {"xp": xp}
    step, discrete = 1e-5, {name for name, theirs in DISTRIBUTIONS.items() if hasattr(theirs, "logpmf")}
    at = {name: np.asarray([1.0, 2.0] if name in discrete else [0.25, 0.75]) for name in DISTRIBUTIONS}
    with xp.backend(framework) as backend:
        exec(PROGRAMS["Fifteen distributions"], names)
        functions = names["log_densities"]
        assert list(functions) == list(DISTRIBUTIONS)

        def called(name: str, x: xp.Array) -> list[Any]:
            function = functions[name]
            ends = [function(x + step), function(x - step)] if name in discrete else []
            if backend is None or not backend.has_hook("value_and_grad"):
                return [function(x), None, *ends]
            return [function(x), xp.grad(lambda x: xp.sum(function(x)))(x), *ends]

        given = {name: xp.asarray(x) for name, x in at.items()}
        results = jits[0](lambda xs: {name: called(name, x) for name, x in xs.items()})(given)
    for name, (value, slope, *ends) in results.items():
        log = DISTRIBUTIONS[name].logpmf if name in discrete else DISTRIBUTIONS[name].logpdf
        np.testing.assert_allclose(np.asarray(value), log(at[name]), rtol=1e-12, err_msg=name)
        if slope is not None:
            later, earlier = map(np.asarray, ends or (log(at[name] + step), log(at[name] - step)))
            np.testing.assert_allclose(np.asarray(slope), (later - earlier) / (2 * step), rtol=1e-6, atol=1e-8)
