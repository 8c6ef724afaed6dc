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
from typing import Final, NamedTuple

from anyarray._array.array import Array
from anyarray._base.callers import SKIPPED_FILES
from anyarray._registry import libraries

Line = tuple[str, int]
INTERVAL: Final = 1e-3
"""Seconds between two looks; later a thousandth of the time so far."""
LONGEST: Final = 1e-2
"""The most seconds between two looks, unless a thread keeps the GIL."""

IMPORTING, COMPILING, READING = "importing", "compiling", "reading"
_USERS, _LIBRARYS, _OURS = "the user's", "a library's", "ours"
_LIBRARIES: Final = tuple([os.path.join(one, "") for one in set(sysconfig.get_paths().values())])
"""Folders of the standard library and of what is installed."""
_INSTALLED: Final = tuple([os.path.join(sysconfig.get_path(one), "") for one in ("purelib", "platlib")])
_PACKAGES: Final = {one.package for one in libraries.libraries().values()}
_PACKAGE: Final = SKIPPED_FILES[:2]
"""Beginnings of the names of our files, and those of generated bodies."""
_IMPORTERS: Final = ("<frozen importlib.", importlib.__file__)
"""Beginnings of the names of files that import others."""
_COMPILERS: Final = {
    "cache_miss": (os.path.join("jax", "_src", "pjit.py"), None),
    "trace_function": (os.path.join("polymorphic_function", "tracing_compilation.py"), None),
    "called": (os.path.join("backends", "tensorflow", "_transforms.py"), "is_fused"),
    "_compiled": (os.path.join("backends", "torch", "_compiling.py"), None),
}
"""Functions that trace and compile, with the ends of their files.

One with the name of a local variable does so once that is set.
"""
_READERS: Final = {
    "tolist": "makes lists of Arrays",
    "__array__": "makes NumPy arrays of Arrays",
    **dict.fromkeys(
        ("__bool__", "__complex__", "__float__", "__index__", "__int__", "item"), "makes Python numbers of Arrays"
    ),
}
"""The methods of Array that give values to Python and NumPy."""
_OF_ARRAY: Final = os.path.join("anyarray", "_array", "array.py")
_OF_JIT: Final = os.path.join("anyarray", "transforms", "_jit.py")
_ITERATING: Final = re.compile(r"(?<![\w.])(?:all|any|list|max|min|set|sorted|sum|tuple)\((\w+)[,)]")
"""A call of a function of Python's that goes through its argument."""

_CHECKS: Final = ("CALL", "JUMP_BACKWARD", "RESUME")
"""Instructions at which a thread hands over the GIL that it was asked for."""
_OPERATIONS: Final = ("BINARY", "CALL", "COMPARE", "CONTAINS", "STORE_SLICE", "STORE_SUBSCR", "UNARY")
"""Instructions that may take long."""


def between_checks(code: CodeType) -> dict[int, list[int]]:
    """The lines of the operations between two checks, by the offset of the second.

    A line is there once for each operation.
    """
    found: dict[int, list[int]] = {}
    lines: list[int] = []
    latest: list[int] | None = None
    for one in dis.get_instructions(code):
        line = one.positions.lineno if one.positions else None
        if line is not None and one.opname.startswith(_OPERATIONS):
            lines.append(line)
        if one.opname.startswith(_CHECKS):
            found[one.offset] = latest = lines
            lines = []
        elif latest is not None:
            found[one.offset], latest = latest, None  # where a frame stands in newer versions of Python
    return found


class _Known(NamedTuple):
    """What is known of the user's code."""

    code: CodeType
    between: dict[int, list[int]]
    iterates: dict[int, bool]
    """Whether an instruction goes through an Array, by its offset."""


class Sampler(threading.Thread):
    """Adds up the seconds of the user's lines, in all threads.

    The user's line is the innermost that is none of a library; those under `folder` are the user's wherever that is.
    Each look adds the time since the one before to the line that runs. A thread that keeps the GIL is seen when it next
    checks whether to hand it over, so the operations since its last check share that time.
    """

    def __init__(self, folder: str) -> None:
        super().__init__(name="anyarray doctor", daemon=True)
        self.seconds: Counter[Line] = Counter()
        self.parts: Counter[tuple[Line, str, str]] = Counter()
        """The part of them for importing, compiling and reading values, with a word on it.

        That is the library, if calls of ours import one; whether `xp.jit` compiles; and what is made of the values.
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
        self._known: dict[int, _Known] = {}
        """By the identity of the code, which no other gets while it is here."""
        self._running = threading.Lock()
        self._switch = sys.getswitchinterval()

    @property
    def error(self) -> float:
        """Twice the standard error of a line's seconds, at most."""
        return math.sqrt(self._squares)

    def start(self) -> None:
        self._running.acquire()
        sys.setswitchinterval(min(INTERVAL, self._switch))
        super().start()

    def run(self) -> None:
        started = before = time.perf_counter()
        due = before + INTERVAL
        while not self._running.acquire(timeout=max(0.0, due - time.perf_counter())):
            now = time.perf_counter()
            self._look(now - before, is_late=now - due > INTERVAL / 2)
            self._squares += (now - before) ** 2
            self.looks += 1
            before = time.perf_counter()
            self.looking += before - now
            due = before + min(LONGEST, max(INTERVAL, (before - started) / 1000))

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

    def is_of_user(self, file: str) -> bool:
        """Whether a file is none of a library's."""
        whole = os.path.abspath(file)
        if self._folder is not None and whole.startswith(self._folder):
            return True
        return not (file.startswith(("<", *SKIPPED_FILES)) or whole.startswith(_LIBRARIES))

    def _look(self, seconds: float, *, is_late: bool) -> None:
        """Add the seconds since the look before to the lines that run now."""
        running = 0
        for thread, innermost in sys._current_frames().items():
            frame, kind, word = (None, "", "") if thread == self.ident else self._seen(innermost)
            if frame is None:
                continue
            running += 1
            file, line, code, at = frame.f_code.co_filename, frame.f_lineno, frame.f_code, frame.f_lasti
            known = self._known.get(id(code))
            if known is None:
                known = self._known[id(code)] = _Known(code, between_checks(code), {})
            if not kind:
                if at not in known.iterates:  # asked once, as until Python 3.13 it writes to what `locals()` gave
                    known.iterates[at] = _is_iterating(frame)
                if known.iterates[at]:
                    kind, word = READING, "goes through an Array element by element"
            if kind:
                self.parts[(file, line), kind, word] += seconds
            lines = known.between.get(at) if is_late and not kind and frame is innermost else None
            for one in lines or [line]:
                self.seconds[file, one] += seconds / len(lines or [line])
        self.is_parallel |= running > 1

    def _seen(self, innermost: FrameType) -> tuple[FrameType | None, str, str]:
        """The frame of the user's line, and what it does if that is of note.

        What runs in a trace belongs to the line that has it compiled.
        """
        users: FrameType | None = None
        frame: FrameType | None = innermost
        kind = word = library = ""
        is_call = False
        while frame is not None:
            code = frame.f_code
            key = code.co_filename, code.co_name
            its = self._kinds.get(key)
            if its is None:
                its = self._kinds[key] = self._kind_of(*key)
            if its == COMPILING:
                local = _COMPILERS[code.co_name][1]
                if local is None or local in frame.f_locals:
                    users = None
                    kind, word = (kind, word) if kind == IMPORTING else (COMPILING, "")
            elif users is not None:
                pass
            elif its == _USERS:
                users = frame
            elif its == IMPORTING:
                kind, word = IMPORTING, ""
            elif its == _LIBRARYS:
                library = _installed(key[0]) or library
            else:
                is_call = True
                if kind == IMPORTING:
                    word = library if library in _PACKAGES else ""
                elif kind == COMPILING:
                    word = "jit" if key[0].endswith(_OF_JIT) else word
                elif its != _OURS and not kind and not (frame is innermost and _is_computing(frame)):
                    kind, word = READING, its
            frame = frame.f_back
        self.has_met_calls |= is_call and users is not None
        return users, kind, word

    def _kind_of(self, file: str, function: str) -> str:
        if file.startswith(_IMPORTERS):
            return IMPORTING
        if function in _COMPILERS and file.endswith(_COMPILERS[function][0]):
            return COMPILING
        if file.startswith(_PACKAGE):
            return _READERS.get(function, _OURS) if file.endswith(_OF_ARRAY) else _OURS
        return _USERS if self.is_of_user(file) else _LIBRARYS


def _is_computing(frame: FrameType) -> bool:
    """Whether a method of Array gets its values, which may compute them."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "LOAD_ATTR"


def _is_iterating(frame: FrameType) -> bool:
    """Whether a call of a function of Python's goes through an Array."""
    line, last, start, end = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if line is None or line != last:
        return False
    text = linecache.getline(frame.f_code.co_filename, line).encode()[start:end].decode(errors="replace")
    call = _ITERATING.search(text)
    return call is not None and type(frame.f_locals.get(call[1], frame.f_globals.get(call[1]))) is Array


def _installed(file: str) -> str:
    """The package of a file that was installed; of the standard library none."""
    folder = next((one for one in _INSTALLED if file.startswith(one)), "")
    return file[len(folder) :].partition(os.sep)[0] if folder else ""
