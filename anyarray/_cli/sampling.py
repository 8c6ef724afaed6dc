"""Where a program's time goes by line: its stacks, looked at by a thread."""

from __future__ import annotations

import dis
import importlib
import itertools
import linecache
import math
import os
import re
import sys
import sysconfig
import threading
import time
from collections import Counter
from types import CodeType, FrameType
from typing import Final

from anyarray._array.array import Array
from anyarray._base.callers import SKIPPED_FILES
from anyarray._registry import libraries

Line = tuple[str, int]
_FIRST, _LAST, _PART = 1e-3, 1e-2, 1e-3
"""Seconds between two looks: at the beginning, at most, and as a part of the time so far."""
_SWITCH: Final = 1e-3
"""Seconds after which a thread that runs Python hands over the GIL to the thread that looks."""
_LIBRARIES: Final = tuple([os.path.join(one, "") for one in set(sysconfig.get_paths().values())])
"""Folders of the standard library and of what is installed."""
_INSTALLED: Final = tuple([os.path.join(sysconfig.get_path(one), "") for one in ("purelib", "platlib")])
_PACKAGES: Final = {one.package for one in libraries.libraries().values()}
_OURS: Final = SKIPPED_FILES[:2]
_IMPORTING: Final = ("<frozen importlib.", importlib.__file__)
"""Beginnings of the names of files that import others."""

USERS, LIBRARY, OURS = "the user's", "a library's", "ours"
IMPORTING, COMPILING, READS = "importing", "compiling", "reading"
_COMPILING: Final = {
    "cache_miss": os.path.join("jax", "_src", "pjit.py"),
    "trace_function": os.path.join("polymorphic_function", "tracing_compilation.py"),
    "_compiled": os.path.join("backends", "torch", "_compiling.py"),
}
"""The functions of libraries, with the ends of their files, that trace and compile."""
_READING: Final = {
    "tolist": "makes lists of Arrays",
    "__array__": "makes NumPy arrays of Arrays",
    **dict.fromkeys(
        ("__bool__", "__complex__", "__float__", "__index__", "__int__", "item"), "makes Python numbers of Arrays"
    ),
}
"""The methods of Array that give values to Python and NumPy."""
ITERATES: Final = "goes through an Array element by element"
_READERS: Final = os.path.join("anyarray", "_array", "array.py")
_JIT: Final = os.path.join("anyarray", "transforms", "_jit.py")
_ITERATING: Final = re.compile(r"(?<![\w.])(?:all|any|list|max|min|set|sorted|sum|tuple)\((\w+)[,)]")
"""A call of a function of Python's that goes through what it gets."""

_CHECKS: Final = ("CALL", "JUMP_BACKWARD", "RESUME")
"""Instructions after which Python may switch to another thread."""
_OPERATIONS: Final = ("BINARY", "CALL", "COMPARE", "CONTAINS", "STORE_SLICE", "STORE_SUBSCR", "UNARY")
"""Instructions that may take long."""


def between_checks(code: CodeType) -> dict[int, list[int]]:
    """The lines of operations between two instructions that switch threads.

    By the offset of the second one. A line is there once for each operation.
    """
    found: dict[int, list[int]] = {}
    lines: list[int] = []
    is_checked = False
    for one in dis.get_instructions(code):
        if is_checked and not one.opname.startswith(_CHECKS):
            found[one.offset] = found[max(found)]  # where a frame stands in newer versions of Python
        is_checked = one.opname.startswith(_CHECKS)
        line = one.positions.lineno if one.positions else None
        if line is not None and one.opname.startswith(_OPERATIONS):
            lines.append(line)
        if is_checked:
            found[one.offset], lines = lines, []
    return found


class Sampler(threading.Thread):
    """Adds up the seconds of the user's lines, in all threads.

    The user's line is the innermost that is none of a library; those under `folder` are the user's wherever that is.
    A look tells the line that runs now, and the time since the look before is added to it. Python hands the GIL over
    only at some instructions, so that time goes to all operations since the last of them, in equal parts.
    """

    def __init__(self, folder: str) -> None:
        super().__init__(name="anyarray doctor", daemon=True)
        self.seconds: Counter[Line] = Counter()
        self.parts: Counter[tuple[Line, str, str]] = Counter()
        """The part of them for importing, compiling and reading, with what is imported or read.

        What is imported has a name only if calls of ours needed it.
        """
        self.looks = 0
        self.looking = 0.0
        """Seconds that the looks took."""
        self.has_met_calls = False
        """Whether a call of ours was seen."""
        self.is_parallel = False
        """Whether several threads ran the user's code at once."""
        self._squares = 0.0
        self._folder = os.path.join(folder, "") if folder.startswith(_LIBRARIES) else None
        self._kinds: dict[tuple[str, str], str] = {}
        self._between: dict[int, tuple[CodeType, dict[int, list[int]]]] = {}
        self._iterating: dict[tuple[CodeType, int], bool] = {}
        self._running = threading.Lock()
        self._switch = sys.getswitchinterval()

    @property
    def error(self) -> float:
        """Twice the standard error of a line's seconds, at most."""
        return math.sqrt(self._squares)

    def start(self) -> None:
        self._running.acquire()
        sys.setswitchinterval(min(_SWITCH, self._switch))
        super().start()

    def run(self) -> None:
        started = before = time.perf_counter()
        due = before + _FIRST
        while not self._running.acquire(timeout=max(0.0, due - time.perf_counter())):
            now = time.perf_counter()
            self._look(now - before, is_late=now - due > _SWITCH / 2)
            self._squares += (now - before) ** 2
            self.looks += 1
            before = time.perf_counter()
            self.looking += before - now
            due = before + min(_LAST, max(_FIRST, _PART * (before - started)))

    def stop(self) -> None:
        """Look no more."""
        self._running.release()
        self.join()
        sys.setswitchinterval(self._switch)

    def is_busy(self) -> bool:
        """Whether a thread of the user's runs for which Python waits."""
        frames, own = sys._current_frames(), threading.current_thread()
        others = [one for one in threading.enumerate() if not one.daemon and one not in (own, threading.main_thread())]
        return any(one.ident in frames and self._seen(frames[one.ident])[0] is not None for one in others)

    def _look(self, seconds: float, *, is_late: bool) -> None:
        """Add the seconds since the look before to the lines that run now."""
        running = 0
        for thread, frame in sys._current_frames().items():
            users, kind, what = (None, "", "") if thread == self.ident else self._seen(frame)
            if users is None:
                continue
            running += 1
            file, lines = users.f_code.co_filename, [users.f_lineno]
            if is_late and users is frame:
                lines = self._lines_before(users) or lines
            for line in lines:
                self.seconds[file, line] += seconds / len(lines)
            if users is frame and self._is_iterating(users):
                kind, what = READS, ITERATES
            if kind:
                self.parts[(file, lines[0]), kind, what] += seconds
        self.is_parallel |= running > 1

    def _is_iterating(self, frame: FrameType) -> bool:
        key = frame.f_code, frame.f_lasti
        known = self._iterating.get(key)
        if known is None:  # asked once, as until Python 3.13 it writes to what `locals()` gave
            known = self._iterating[key] = _is_iterating(frame)
        return known

    def _lines_before(self, frame: FrameType) -> list[int] | None:
        code = frame.f_code
        known = self._between.get(id(code))
        if known is None:
            known = self._between[id(code)] = code, between_checks(code)
        return known[1].get(frame.f_lasti)

    def _seen(self, innermost: FrameType) -> tuple[FrameType | None, str, str]:
        """The frame of the user's line, and what it does if that is of note.

        What a trace calls belongs to the line that has it compiled.
        """
        users: FrameType | None = None
        frame: FrameType | None = innermost
        kind = what = library = ""
        is_call = False
        while frame is not None:
            code = frame.f_code
            key = code.co_filename, code.co_name
            its = self._kinds.get(key)
            if its is None:
                its = self._kinds[key] = self._kind_of(*key)
            if its == COMPILING:
                users = None
                kind, what = kind or COMPILING, what if kind == IMPORTING else ""
            elif users is not None:
                pass
            elif its == USERS:
                users = frame
            elif its == IMPORTING:
                kind, what = IMPORTING, ""
            elif its == LIBRARY:
                library = _package(key[0]) or library
            else:
                is_call = True
                if kind == IMPORTING:
                    what = what or library
                elif kind == COMPILING:
                    what = what or ("jit" if code.co_filename.endswith(_JIT) else "")
                elif its != OURS and not kind and not (frame is innermost and _is_computing(frame)):
                    kind, what = READS, its
            frame = frame.f_back
        self.has_met_calls |= is_call and users is not None
        return users, kind, what

    def _kind_of(self, file: str, function: str) -> str:
        if file.startswith(_IMPORTING):
            return IMPORTING
        if file.endswith(_COMPILING.get(function, os.sep)):
            return COMPILING
        if file.startswith(_OURS):
            return _READING.get(function, OURS) if file.endswith(_READERS) else OURS
        return USERS if self.is_of_user(file) else LIBRARY

    def is_of_user(self, file: str) -> bool:
        """Whether a file is none of a library's."""
        whole = os.path.abspath(file)
        if self._folder is not None and whole.startswith(self._folder):
            return True
        return not (file.startswith(("<", *SKIPPED_FILES)) or whole.startswith(_LIBRARIES))


def _is_computing(frame: FrameType) -> bool:
    """Whether a method of Array only gets its values, which may compute them."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "LOAD_ATTR"


def _is_iterating(frame: FrameType) -> bool:
    """Whether a call of Python's goes through the elements of an Array."""
    line, last, start, end = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if line is None or line != last:
        return False
    text = linecache.getline(frame.f_code.co_filename, line).encode()[start:end].decode(errors="replace")
    call = _ITERATING.search(text)
    name = call[1] if call else ""
    return type(frame.f_locals.get(name, frame.f_globals.get(name))) is Array


def _package(file: str) -> str:
    """The package of a file, if it is that of a backend."""
    folder = next((one for one in _INSTALLED if file.startswith(one)), "")
    name = file[len(folder) :].partition(os.sep)[0]
    return name if name in _PACKAGES else ""
