"""A console with colours, tables that fold and a progress bar, by rich."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table as RichTable
from rich.text import Text

from anyarray._cli.console import Progress, Table


class RichConsole:
    """A console of rich. Brackets in a text are no markup."""

    def __init__(self, file: IO[str] | None = None, *, stderr: bool = False, width: int | None = None) -> None:
        self._console = Console(file=file, stderr=stderr, width=width)

    @property
    def width(self) -> int:
        return self._console.width

    def table(self, table: Table) -> None:
        shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for column in table.columns:
            shown.add_column(
                column.title,
                justify="right" if column.is_right else "left",
                style=column.style,
                overflow="fold" if column.is_folded else "ellipsis",
                no_wrap=not column.is_folded,
            )
        for cells, style in table.rows:
            if cells:
                shown.add_row(*[Text(cell.text, style=cell.style) for cell in cells], style=style)
            else:
                shown.add_section()
        self._console.print(shown)

    def line(self, text: str, *, style: str = "", wrap: bool = True) -> None:
        self._console.print(text, style=style or None, markup=False, highlight=False, soft_wrap=not wrap)

    @contextlib.contextmanager
    def working(self, text: str) -> Generator[None]:
        with self._console.status(text):
            yield

    @contextlib.contextmanager
    def progress(self) -> Generator[Progress]:
        columns = (TextColumn("{task.description:<24}"), BarColumn(), TimeRemainingColumn())
        with Bar(*columns, console=self._console, transient=True, disable=not self._console.is_terminal) as bar:
            task = bar.add_task("", total=1.0)
            yield lambda done, text: bar.update(task, completed=done, description=text)
