"""Draw the pictures of docs/gallery.md: each program on three backends.

Run it by `python docs/_gallery.py`; it needs JAX, TensorFlow and Matplotlib.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

import anyarray as xp

DOCS: Final = Path(__file__).parent
BACKENDS: Final = ("numpy", "jax", "tf")
SECTION: Final = re.compile(r"^## (?P<title>.*?)$.*?^```python\n(?P<code>.*?)^```$", re.M | re.S)


def programs() -> Iterator[tuple[str, str]]:
    """Titles and programs of the page."""
    for found in SECTION.finditer((DOCS / "gallery.md").read_text()):
        yield found["title"], found["code"]


def picture(code: str, backend: str) -> np.ndarray[Any, Any]:
    """What a program draws on a backend."""
    names: dict[str, Any] = {"xp": xp}
    with xp.backend(backend):
        exec(code, names)
    return np.asarray(names["picture"])


def file_of(title: str) -> Path:
    return DOCS / "images" / f"gallery-{title.lower().replace(' ', '-')}.png"


def main() -> None:
    from matplotlib.figure import Figure

    for title, code in programs():
        figure = Figure(figsize=(9, 2.6), layout="constrained", dpi=80)
        for axes, backend in zip(figure.subplots(1, len(BACKENDS)), BACKENDS, strict=True):
            axes.imshow(picture(code, backend), cmap="viridis", origin="lower", aspect="auto")
            axes.set_title(backend, fontsize=10, loc="left")
            axes.axis("off")
        figure.savefig(file_of(title))


if __name__ == "__main__":
    main()
