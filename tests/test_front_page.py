"""The pictures of the front page are those that their script draws."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Final

import _front  # docs/_front.py
import _terminal  # docs/_terminal.py
import pytest

DOCS: Final = Path(_front.__file__).parent


@pytest.mark.parametrize(("file", "drawn"), [("front.svg", _front.picture), ("doctor.svg", _terminal.picture)])
def test_the_picture_is_drawn_from_its_data(file: str, drawn: Callable[[], str]) -> None:
    assert (DOCS / "images" / file).read_text() == drawn()


@pytest.mark.parametrize("file", ["doctor.svg", "front.svg", "logo.svg"])
def test_a_picture_is_well_formed_and_has_a_form_for_the_dark(file: str) -> None:
    text = (DOCS / "images" / file).read_text()
    assert ET.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None
    assert "prefers-color-scheme: dark" in text


def test_the_figures_of_the_gpu_are_those_of_its_page() -> None:
    page = (DOCS / "gpu.md").read_text()
    for numpy, ours in json.loads((DOCS / "front.json").read_text())["gpu"]["milliseconds"].values():
        assert re.search(rf"\| {numpy:g} \|(.*\|)? {ours:g}0? \|", page), (numpy, ours)
