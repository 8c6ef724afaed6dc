"""The programs of the gallery draw the same on every backend."""

from __future__ import annotations

from typing import Final

import _gallery  # docs/_gallery.py
import numpy as np
import pytest

pytestmark = pytest.mark.few_backends

PROGRAMS: Final = dict(_gallery.programs())


def test_there_are_six_programs_with_a_picture_each() -> None:
    assert len(PROGRAMS) == 6
    for title in PROGRAMS:
        assert _gallery.file_of(title).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("title", list(PROGRAMS))
def test_a_program_draws_on_a_framework_what_it_draws_on_numpy(title: str, framework: str) -> None:
    wanted = _gallery.picture(PROGRAMS[title], "numpy")
    found = _gallery.picture(PROGRAMS[title], framework)
    assert np.ptp(wanted) > 0
    # The last bit of a square decides for a few points of the Mandelbrot set when they leave it.
    assert np.mean(np.abs(found - wanted) > 1e-6) < 1e-3
