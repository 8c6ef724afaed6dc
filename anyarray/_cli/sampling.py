"""Where a program's time goes by line: its stacks, each millisecond."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
import threading
import time
from types import FrameType
from typing import Final

from anyarray._base.callers import SKIPPED_FILES

Line = tuple[str, int]
INTERVAL: Final = 1e-3
"""Seconds between two looks; more where a thread keeps the GIL, whose time counts in full all the same."""
_LIBRARIES: Final = tuple([os.path.join(one, "") for one in set(sysconfig.get_paths().values())])
"""Folders of the standard library and of what is installed."""
_IMPORTING: Final = ("<frozen importlib.", importlib.__file__)
"""Beginnings of the names of files that import others."""


class Sampler(threading.Thread):
    """Adds up the seconds of the user's lines, in all threads.

    The user's line is the innermost that is none of a library; those under `folder` are the user's wherever that is.
    """

    def __init__(self, folder: str) -> None:
        super().__init__(name="anyarray doctor", daemon=True)
        self.seconds: dict[Line, float] = {}
        self.importing: dict[Line, float] = {}
        """The part of them that went into importing modules."""
        self.libraries = 0.0
        """The part of that for libraries that calls of ours needed."""
        self.is_parallel = False
        """Whether several threads ran the user's code at once."""
        self._folder = os.path.join(folder, "") if folder.startswith(_LIBRARIES) else None
        self._is_users: dict[str, bool] = {}
        self._stopped = threading.Event()

    def run(self) -> None:
        before = time.perf_counter()
        while not self._stopped.wait(INTERVAL):
            now = time.perf_counter()
            running = [self._line(frame) for thread, frame in sys._current_frames().items() if thread != self.ident]
            for line, importer in running:
                if line is not None:
                    self.seconds[line] = self.seconds.get(line, 0.0) + now - before
                if line is not None and importer:
                    self.importing[line] = self.importing.get(line, 0.0) + now - before
                    self.libraries += now - before if importer.startswith(SKIPPED_FILES) else 0.0
            self.is_parallel |= sum([line is not None for line, _ in running]) > 1
            before = now

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self.join()

    def has_met(self, part: str) -> bool:
        """Whether code ran whose file has a name with this part."""
        return any(part in file for file in self._is_users)

    def is_busy(self) -> bool:
        """Whether a thread of the user's runs for which Python waits."""
        frames, own = sys._current_frames(), threading.current_thread()
        others = [one for one in threading.enumerate() if not one.daemon and one not in (own, threading.main_thread())]
        return any(one.ident in frames and self._line(frames[one.ident])[0] is not None for one in others)

    def _line(self, frame: FrameType | None) -> tuple[Line | None, str]:
        """The user's line, and the file that imports a module now, if any."""
        importer, is_importing = "", False
        while frame is not None:
            file = frame.f_code.co_filename
            is_users = self._is_users.get(file)
            if is_users is None:
                is_users = self._is_users[file] = self._is_of_user(file)
            if is_importing and not file.startswith(_IMPORTING):
                importer = file
            if is_users:
                return (file, frame.f_lineno), importer
            is_importing = file.startswith(_IMPORTING)
            frame = frame.f_back
        return None, ""

    def _is_of_user(self, file: str) -> bool:
        whole = os.path.abspath(file)
        if self._folder is not None and whole.startswith(self._folder):
            return True
        return not (file.startswith(("<", *SKIPPED_FILES)) or whole.startswith(_LIBRARIES))
