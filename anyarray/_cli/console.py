"""Where the commands print: by rich where it is installed, else plain text.

`console()` chooses. What is printed is data, so that both show the same: a `Table` of cells, lines, and a progress bar.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
import textwrap
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import IO, Final, NamedTuple, Protocol

HINT: Final = 'Plain text, as rich is not installed. Run: pip install "anyarray[cli]"'

Progress = Callable[[float, str], None]
"""Shows how much is done, from 0 to 1, and what comes next."""


class Cell(NamedTuple):
    """A text in a table, and its style in rich's words."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    is_right: bool = False
    """Whether its texts end at the same place, as numbers do."""
    is_folded: bool = False
    """Whether a text that is too long takes several lines; where it is not, it widens the column."""
    style: str = ""


@dataclass
class Table:
    """Columns, and rows of as many cells."""

    columns: Sequence[Column]
    rows: list[tuple[Sequence[Cell], str]] = field(default_factory=list[tuple[Sequence[Cell], str]])
    """Cells and the style of the row. A row without cells separates those before it from those after it."""

    def add(self, *cells: str | Cell, style: str = "") -> None:
        """Add a row; columns on the right may be left out."""
        self.rows.append(([Cell(one) if isinstance(one, str) else one for one in cells], style))

    def separate(self) -> None:
        """Leave a gap before the next row."""
        self.rows.append(((), ""))


class Console(Protocol):
    """Prints to a stream; a terminal gets colours and progress, no other."""

    @property
    def width(self) -> int:
        """Columns of the terminal; 80 if there is none."""
        ...

    def table(self, table: Table) -> None:
        """Print a table."""
        ...

    def line(self, text: str, *, style: str = "", wrap: bool = True) -> None:
        """Print a text; what contains a path is not to be wrapped."""
        ...

    def working(self, text: str) -> AbstractContextManager[None]:
        """Show a text while the block runs."""
        ...

    def progress(self) -> AbstractContextManager[Progress]:
        """Show a bar while the block runs."""
        ...


class PlainConsole:
    """A console without rich."""

    def __init__(self, file: IO[str] | None = None, *, stderr: bool = False, width: int | None = None) -> None:
        self._file = file
        self._stderr = stderr
        self.width = width or shutil.get_terminal_size().columns
        self._has_said_so = False

    @property
    def _stream(self) -> IO[str]:
        return self._file or (sys.stderr if self._stderr else sys.stdout)  # which tests replace

    def table(self, table: Table) -> None:
        if not self._has_said_so:
            self._has_said_so = True
            print(HINT, file=sys.stderr)
        rows = [[cell.text for cell in cells] for cells, _ in table.rows]
        titles = [column.title.split("\n") for column in table.columns]
        height = max(map(len, titles))
        head = [[title[i] if i < len(title) else "" for title in titles] for i in range(height)]
        widths = [max(len(row[i]) for row in head + rows if i < len(row)) for i in range(len(table.columns))]
        lines = [*head, ["-" * width for width in widths], *rows]
        for row in lines:
            cells = zip(row, widths, table.columns, strict=False)
            padded = [text.rjust(width) if column.is_right else text.ljust(width) for text, width, column in cells]
            print("  ".join(padded).rstrip(), file=self._stream)
        print(file=self._stream)

    def line(self, text: str, *, style: str = "", wrap: bool = True) -> None:
        shown = textwrap.fill(text, self.width, break_on_hyphens=False, break_long_words=False) if wrap else text
        print(shown, file=self._stream)

    @contextlib.contextmanager
    def working(self, text: str) -> Generator[None]:
        with self.progress() as show:
            show(0.0, text)
            yield

    @contextlib.contextmanager
    def progress(self) -> Generator[Progress]:
        longest = 0

        def show(done: float, text: str) -> None:
            nonlocal longest
            shown = f"{done:4.0%} {text}"[: self.width - 1]
            longest = max(longest, len(shown))
            self._stream.write(f"\r{shown:<{longest}}")
            self._stream.flush()

        is_terminal = bool(self._stream) and self._stream.isatty()  # there is none where it was closed at the start
        try:
            yield show if is_terminal else lambda done, text: None
        finally:
            if longest:
                self._stream.write(f"\r{'':<{longest}}\r")
                self._stream.flush()


def has_rich() -> bool:
    """Whether rich is installed."""
    return importlib.util.find_spec("rich") is not None


def console(file: IO[str] | None = None, *, stderr: bool = False, width: int | None = None) -> Console:
    """A console for a stream, by default standard output, else errors."""
    if not has_rich():
        return PlainConsole(file, stderr=stderr, width=width)
    from anyarray._cli.rich_console import RichConsole  # imports rich

    return RichConsole(file, stderr=stderr, width=width)
