"""Where the commands print: lines, tables, and a bar on a terminal."""

from __future__ import annotations

import contextlib
import shutil
import sys
import textwrap
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import IO, NamedTuple

Progress = Callable[[float, str], None]
"""Shows how much is done, from 0 to 1, and what comes next."""


class Column(NamedTuple):
    """A column of a table."""

    title: str
    is_right: bool = False
    """Whether its texts end at the same place, as numbers do."""


@dataclass
class Table:
    """Columns, and rows of texts."""

    columns: Sequence[Column]
    rows: list[Sequence[str]] = field(default_factory=list[Sequence[str]])

    def add(self, *cells: str) -> None:
        """Add a row; columns on the right may be left out."""
        self.rows.append(cells)


class Console:
    """Prints to a stream; nothing but a terminal is shown progress."""

    def __init__(self, file: IO[str] | None = None, *, stderr: bool = False, width: int | None = None) -> None:
        self._file = file
        self._stderr = stderr
        self.width = width or shutil.get_terminal_size().columns
        """Columns of the terminal; 80 if there is none."""

    @property
    def _stream(self) -> IO[str]:
        return self._file or (sys.stderr if self._stderr else sys.stdout)  # which tests replace

    def table(self, table: Table) -> None:
        """Print a table."""
        titles = [column.title.split("\n") for column in table.columns]
        height = max(map(len, titles))
        head = [[title[i] if i < len(title) else "" for title in titles] for i in range(height)]
        every = [*head, *table.rows]
        widths = [max(len(row[i]) for row in every if i < len(row)) for i in range(len(table.columns))]
        for row in [*head, ["-" * width for width in widths], *table.rows]:
            cells = zip(row, widths, table.columns, strict=False)
            padded = [text.rjust(width) if column.is_right else text.ljust(width) for text, width, column in cells]
            print("  ".join(padded).rstrip(), file=self._stream)
        print(file=self._stream)

    def line(self, text: str, *, wrap: bool = True) -> None:
        """Print a text; what contains a path is not to be wrapped."""
        shown = textwrap.fill(text, self.width, break_on_hyphens=False, break_long_words=False) if wrap else text
        print(shown, file=self._stream)

    @contextlib.contextmanager
    def progress(self) -> Generator[Progress]:
        """Show how much is done while the block runs."""
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
