"""Processes that measure for `calibrate`, one for each library.

A library that ends or blocks its process costs only what was measured of it.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, Final

from anyarray._base.files import LONGEST
from anyarray._calibration.measuring import MARK

PATIENCE: Final = 180.0
"""Seconds until a process that does not answer counts as blocked: on a busy machine an import can take two minutes."""
LOOK: Final = 0.2
"""Seconds between two looks whether it still runs; Windows delivers Ctrl-C only in between."""
PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from anyarray._calibration import measuring; measuring.serve()"
)


class EndedError(Exception):
    """The process has ended or does not answer; the message says how."""


class Process:
    """A process that answers the tasks of `measuring`."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, encoding="utf-8", errors="replace",
        )  # fmt: skip
        self._answers: queue.Queue[Any] = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                if line.startswith(MARK):
                    self._answers.put(json.loads(line[len(MARK) :]))

    def ask(self, task: str, *arguments: Any) -> Any:
        """The answer of a task; raises EndedError."""
        assert self._process.stdin is not None
        end = time.monotonic() + PATIENCE
        try:
            print(json.dumps([task, *arguments]), file=self._process.stdin, flush=True)
        except OSError:
            pass  # it has ended, as is found out below
        while time.monotonic() < end:
            has_ended = self._process.poll() is not None  # before the look for an answer, its last
            try:
                return self._answers.get(timeout=LOOK)
            except queue.Empty:
                if has_ended:
                    raise EndedError(f"its process ended {_how(self._process.returncode)}{self._last_line()}") from None
        raise EndedError(f"its process did not answer for {PATIENCE:.0f} s")

    def _last_line(self) -> str:
        """The last line of its standard error, in brackets, or ""."""
        self._errors.seek(max(0, self._errors.seek(0, 2) - (1 << 16)))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        return next((f" ({line.strip()[:LONGEST]})" for line in reversed(lines) if line.strip()), "")

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._reader.join(timeout=LOOK)  # a process of the library's may still hold the pipe
        for file in (self._process.stdin, self._errors):
            try:
                assert file is not None
                file.close()
            except OSError:
                pass  # what was not read by a process that has ended


def _how(status: int) -> str:
    if status >= 0:
        return f"with exit status {status}"
    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"
