"""Draw the animated terminal of the front page from docs/doctor.txt.

Run it by `python docs/_terminal.py`. The text is the output of `python -m anyarray doctor` for a real script.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parent
CHARACTER, LINE, MARGIN = 7.2, 17, 14
"""Pixels of a character, a line and the margin."""
TYPING, RUNNING, BETWEEN = 1.5, 1.2, 0.12
"""Seconds to type the command, until the output starts, and between its lines."""
STYLE: Final = """
  .box { fill: #f6f8fa; stroke: #d0d7de } .cover { fill: #f6f8fa }
  text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #24292f; white-space: pre }
  .advice { fill: #1a6b3c }
  .line { opacity: 0; animation: show 0s forwards }
  @keyframes show { to { opacity: 1 } }
  @keyframes type { to { transform: translateX(WIDTHpx) } }
  @media (prefers-color-scheme: dark) {
    .box { fill: #161b22; stroke: #30363d } .cover { fill: #161b22 }
    text { fill: #e6edf3 } .advice { fill: #7ee2a8 }
  }
  @media (prefers-reduced-motion: reduce) { .line { animation: none; opacity: 1 } .cover { display: none } }
"""


def picture() -> str:
    """The SVG."""
    command, *lines = (DOCS / "doctor.txt").read_text().splitlines()
    width = round(max(map(len, lines)) * CHARACTER) + 2 * MARGIN
    height = (len(lines) + 1) * LINE + 2 * MARGIN
    typed = round(len(command) * CHARACTER)
    cover = f'x="{MARGIN + 2 * CHARACTER:g}" y="{MARGIN}" width="{typed}" height="{LINE}"'
    motion = f"animation: type {TYPING}s steps({len(command)}) 0.5s forwards"
    parts = [
        f'<rect class="box" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>',
        text(command, 0),
        f'<rect class="cover" {cover} style="{motion}"/>',
    ]
    is_advice = False
    for at, line in enumerate(lines):
        is_advice = line.startswith("Up to") or (is_advice and bool(line))
        if line:
            delay = 0.5 + TYPING + RUNNING + at * BETWEEN
            kind = "line advice" if is_advice else "line"
            parts.append(text(line, at + 1, f' class="{kind}" style="animation-delay: {delay:.2f}s"'))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    style = STYLE.replace("WIDTH", str(typed))
    return "\n".join(
        [head, "<title>anyarray doctor runs a script and prints its time by line, and advice</title>",
         f"<style>{style}</style>", *parts, "</svg>", ""]
    )  # fmt: skip


def text(line: str, row: int, attributes: str = "") -> str:
    """A line of text at its row, stretched to the grid of characters."""
    indent = len(line) - len(line.lstrip())
    x, y = MARGIN + indent * CHARACTER, MARGIN + row * LINE + LINE - 4
    length = (len(line) - indent) * CHARACTER
    words = escape(line.lstrip(), quote=False)
    return f'<text x="{x:g}" y="{y}" textLength="{length:g}" xml:space="preserve"{attributes}>{words}</text>'


if __name__ == "__main__":
    (DOCS / "images" / "doctor.svg").write_text(picture())
