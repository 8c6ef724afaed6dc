"""Draw the picture of the front page from docs/front.json.

Run it by `python docs/_front.py`. The figures are those of docs/automatic-choice.md and docs/gpu.md.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parent
WIDTH, HEIGHT, ROW, LEFT, BAR = 860, 372, 28, 142, 170
STYLE: Final = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px } .note { fill: #57606a; font-size: 11px }
  .numpy { fill: #b6bfc9 } .ours { fill: #2f6f9f } .loss { fill: #b3541e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #9da7b1 }
    .numpy { fill: #4b5563 } .ours { fill: #58a6d8 } .loss { fill: #e08e5a }
  }
"""


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def bar(x: float, y: float, width: float, kind: str) -> str:
    """A bar of a chart."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:.1f}" height="9" rx="2" class="{kind}"/>'


def chart(left: float, title: str, note: str, rows: dict[str, list[float]], *, is_logarithmic: bool) -> list[str]:
    """A pair of bars for each row, NumPy's time and ours, and their ratio."""
    found = [text(left, 22, title, kind="title"), text(left, 40, note, kind="note")]
    most = max(numpy for numpy, _ in rows.values())
    for at, (name, (numpy, ours)) in enumerate(rows.items()):
        y, x = 58 + at * ROW, left + LEFT
        if is_logarithmic:
            least = min(one for _, one in rows.values()) / 3
            lengths = [BAR * math.log(one / least) / math.log(most / least) for one in (numpy, ours)]
        else:
            lengths = [BAR * one / most for one in (numpy, ours)]
        ratio = numpy / ours
        found += [
            text(x - 8, y + 14, name, anchor="end"),
            bar(x, y, lengths[0], "numpy"),
            bar(x, y + 10, lengths[1], "ours" if ratio >= 1 else "loss"),
            text(x + max(lengths) + 8, y + 14, f"{float(f'{ratio:.3g}'):g} x"),
        ]
    return found


def picture() -> str:
    """The SVG."""
    data = json.loads((DOCS / "front.json").read_text())
    cpu, gpu = data["programs"]["milliseconds"], data["gpu"]["milliseconds"]
    parts = [
        *chart(10, "NumPy programs, two cores", "time; anyarray chooses where calls run", cpu, is_logarithmic=False),
        *chart(440, "Calls on a GPU", "time, logarithmic; H100 and 16 cores", gpu, is_logarithmic=True),
        bar(10, HEIGHT - 18, 24, "numpy"), text(40, HEIGHT - 9, "NumPy", kind="note"),
        bar(90, HEIGHT - 18, 24, "ours"), text(120, HEIGHT - 9, "anyarray", kind="note"),
        bar(180, HEIGHT - 18, 24, "loss"), text(210, HEIGHT - 9, "anyarray, slower than NumPy", kind="note"),
    ]  # fmt: skip
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    label = "<title>Times of NumPy programs and of calls on a GPU, by NumPy and by anyarray</title>"
    return "\n".join([head, label, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


if __name__ == "__main__":
    (DOCS / "images" / "front.svg").write_text(picture())
