"""Where a program's time goes by line: a thread samples its stacks."""

from __future__ import annotations

import dis
import importlib
import itertools
import linecache
import os
import re
import sys
import sysconfig
import threading
import time
from collections import defaultdict
from types import CodeType, FrameType
from typing import Final

from anyarray._array.array import Array
from anyarray._base.callers import SKIPPED_FILES
from anyarray._registry import libraries

Line = tuple[str, int]
INTERVAL, LONGEST = 1e-3, 1e-2
"""Seconds between two samples: a thousandth of the time so far between these."""

Work = tuple[str, str]
"""What a line does besides computing, in a word, and advice that may save its time."""
_COMPUTING: Final = "", ""
_IMPORTING: Final = "importing", ""
_COMPILING: Final = "compiling", "compiles, once for each function and shape: use few shapes, or compute in NumPy."
_COMPILING_JIT: Final = "compiling", "compiles, once for each shape and call of xp.jit: call xp.jit outside of loops."
_IMPORTS: Final = "imports {} for its calls. That pays only if they save as much; NumPy needs no import."
_READS: Final = "{} an Array and waits for its values: compute with the Array, or convert once, after the loop."
_ITERATING: Final = "reading", _READS.format("loops over the elements of")
_READERS: Final = {"__bool__", "__complex__", "__float__", "__index__", "__int__", "__array__", "item", "tolist"}
"""The methods of Array that give values to Python and NumPy."""
_COMPILERS: Final = {
    "cache_miss": (os.path.join("jax", "_src", "pjit.py"), None),
    "trace_function": (os.path.join("polymorphic_function", "tracing_compilation.py"), None),
    "called": (os.path.join("backends", "tensorflow", "_transforms.py"), "is_fused"),
    "_compiled": (os.path.join("backends", "torch", "_compiling.py"), None),
}
"""Functions that trace and compile, with the ends of their files.

One with the name of a local variable does so once that is set.
"""
_ITERATES: Final = re.compile(r"(?<![\w.])(?:all|any|list|max|min|set|sorted|sum|tuple)\((\w+)[,)]")
"""A call of a function of Python's that goes through its argument."""

_LIBRARIES: Final = tuple([os.path.join(one, "") for one in set(sysconfig.get_paths().values())])
"""Folders of the standard library and of what is installed."""
_PACKAGES: Final = {one.package for one in libraries.libraries().values()}
_IMPORTERS: Final = ("<frozen importlib.", importlib.__file__)
"""Beginnings of the names of files that import others."""

_CHECKS: Final = ("CALL", "JUMP_BACKWARD", "RESUME")
"""Instructions at which a thread hands over the GIL."""
_OPERATIONS: Final = ("BINARY", "CALL", "COMPARE", "CONTAINS", "STORE_SLICE", "STORE_SUBSCR", "UNARY")
"""Instructions that may take long, unless the interpreter has specialized them for a class of Python's own."""
_OF_PYTHON: Final = ("_INT", "_FLOAT", "_UNICODE", "_LIST", "_TUPLE", "_DICT", "_STR")


def between_checks(code: CodeType) -> dict[int, list[int]]:
    """The lines of operations between two checks, by the second's offset.

    A line is there once for each operation.
    """
    found: dict[int, list[int]] = {}
    lines: list[int] = []
    latest: list[int] | None = None
    for one in dis.get_instructions(code, adaptive=True):
        line = [one.positions.lineno] if one.positions and one.positions.lineno else []
        if one.opname.startswith(_OPERATIONS) and not any(kind in one.opname for kind in _OF_PYTHON):
            lines += line
        if one.opname.startswith("PRECALL"):  # in Python 3.11 it may do the work of the CALL after it
            found[one.offset] = lines + line
        elif one.opname.startswith(_CHECKS):
            found[one.offset] = latest = lines
            lines = []
        elif latest is not None:
            found[one.offset], latest = latest, None  # where a frame stands in newer versions of Python
    return found


class Sampler(threading.Thread):
    """Adds up the seconds of the user's lines, in all threads.

    The user's line is the innermost that is none of a library; those under `folder` are the user's wherever that is.
    Each sample adds the time since the one before to the line that runs. A thread that keeps the GIL is seen when it
    next checks whether to hand it over, so the operations since its last check share that time.
    """

    def __init__(self, folder: str) -> None:
        super().__init__(name="anyarray doctor", daemon=True)
        self.seconds: defaultdict[Line, float] = defaultdict(float)
        self.parts: defaultdict[tuple[Line, Work], float] = defaultdict(float)
        """The part of them that went into other work than computing."""
        self.samples = 0
        self.squares = 0.0
        """The sum of the squares of the seconds between samples."""
        self.sampling = 0.0
        """Seconds that the samples took."""
        self.calls_were_seen = False
        """Whether a call of ours was."""
        self.is_parallel = False
        """Whether several threads ran the user's code at once."""
        self._folder = os.path.join(folder, "") if folder.startswith(_LIBRARIES) else None
        self._kinds: dict[tuple[str, str], str] = {}
        self._known: dict[tuple[str, str, int, int], tuple[list[int], bool]] = {}
        """The lines that share the time of an instruction, and whether it loops over an Array.

        By file, name and first line of the code, and offset.
        """
        self._running = threading.Lock()
        self._switch_interval = sys.getswitchinterval()

    def start(self) -> None:
        self._running.acquire()
        sys.setswitchinterval(min(INTERVAL, self._switch_interval))
        super().start()

    def run(self) -> None:
        started = before = time.perf_counter()
        due = before + INTERVAL
        while not self._running.acquire(timeout=max(0.0, due - time.perf_counter())):
            now = time.perf_counter()
            self._sample(now - before, is_late=now - due > INTERVAL / 2)
            self.squares += (now - before) ** 2
            self.samples += 1
            before = time.perf_counter()
            self.sampling += before - now
            due = before + min(LONGEST, max(INTERVAL, (before - started) / 1000))

    def stop(self) -> None:
        """Take no more samples."""
        self._running.release()
        self.join()
        sys.setswitchinterval(self._switch_interval)

    def is_busy(self) -> bool:
        """Whether a thread of the user's runs for which Python waits.

        Workers of a pool that wait for work do not.
        """
        frames, own = sys._current_frames(), threading.current_thread()
        others = [one for one in threading.enumerate() if not one.daemon and one not in (own, threading.main_thread())]
        running = [frames[one.ident] for one in others if one.ident in frames]
        return any(self._seen(one)[0] is not None or not _is_in_a_library(one) for one in running)

    def is_of_user(self, file: str) -> bool:
        """Whether a file is none of a library's."""
        whole = os.path.abspath(file)
        if self._folder is not None and whole.startswith(self._folder):
            return True
        return not (file.startswith(("<", *SKIPPED_FILES)) or whole.startswith(_LIBRARIES))

    def _sample(self, seconds: float, *, is_late: bool) -> None:
        """Add the seconds since the last sample to the running lines."""
        running = 0
        for thread, innermost in sys._current_frames().items():
            frame, work = (None, _COMPUTING) if thread == self.ident else self._seen(innermost)
            if frame is None:
                continue
            running += 1
            code, file, lines = frame.f_code, frame.f_code.co_filename, [frame.f_lineno]
            if work is _COMPUTING:
                key = file, code.co_qualname, code.co_firstlineno, frame.f_lasti
                known = self._known.get(key)
                if known is None:  # asked once, as until Python 3.13 it writes to what `locals()` gave
                    known = between_checks(code).get(frame.f_lasti) or lines, _is_iterating(frame)
                    self._known[key] = known
                work = _ITERATING if known[1] else work
                lines = known[0] if is_late and frame is innermost and not known[1] else lines
            if work is not _COMPUTING:
                self.parts[(file, lines[0]), work] += seconds
            for line in lines:
                self.seconds[file, line] += seconds / len(lines)
        self.is_parallel |= running > 1

    def _seen(self, innermost: FrameType) -> tuple[FrameType | None, Work]:
        """The frame of the user's line, and what it does.

        What runs in a trace belongs to the line that has it compiled.
        """
        users: FrameType | None = None
        frame: FrameType | None = innermost
        work, library, is_call = _COMPUTING, "", False
        while frame is not None:
            name = frame.f_code.co_name
            key = frame.f_code.co_filename, name
            kind = self._kinds.get(key)
            if kind is None:
                kind = self._kinds[key] = self._kind_of(*key)
            if kind == "compiler":
                if _COMPILERS[name][1] in (None, *frame.f_locals):
                    users, work = None, work if work[0] == "importing" else _COMPILING
            elif users is not None:
                pass
            elif kind == "user":
                users = frame
            elif kind == "importer":
                work = _IMPORTING
            elif kind == "library":
                library = key[0].rpartition(f"-packages{os.sep}")[2].partition(os.sep)[0] or library
            else:
                is_call = True
                if work[0] == "importing":
                    work = ("importing", _IMPORTS.format(library)) if library in _PACKAGES else _IMPORTING
                elif work is _COMPILING and kind == "jit":
                    work = _COMPILING_JIT
                elif work is _COMPUTING and kind == "reader" and not (frame is innermost and _is_computing(frame)):
                    work = "reading", _READS.format(f"calls {name} of")
            frame = frame.f_back
        self.calls_were_seen |= is_call and users is not None
        return users, work

    def _kind_of(self, file: str, function: str) -> str:
        if file.startswith(_IMPORTERS):
            return "importer"
        if function in _COMPILERS and file.endswith(_COMPILERS[function][0]):
            return "compiler"
        if not file.startswith(SKIPPED_FILES[:2]):  # the others are the standard library's
            return "user" if self.is_of_user(file) else "library"
        if function in _READERS and file.endswith(os.path.join("_array", "array.py")):
            return "reader"
        return "jit" if file.endswith(os.path.join("transforms", "_jit.py")) else "ours"


def _is_in_a_library(innermost: FrameType) -> bool:
    """Whether a thread has begun, and runs what is no part of `threading`.

    It has not if it is a Timer, or begins or ends, or if its stack is cut off as a generator yielded meanwhile.
    """
    files = [innermost.f_code.co_filename]
    frame = innermost.f_back
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return files[-1] == threading.__file__ and len(set(files)) > 1


def _is_computing(frame: FrameType) -> bool:
    """Whether a method of Array gets its values, which may compute them."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "LOAD_ATTR"


def _is_iterating(frame: FrameType) -> bool:
    """Whether a call of a function of Python's goes through an Array."""
    line, last, start, end = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if line is None or line != last:
        return False
    text = linecache.getline(frame.f_code.co_filename, line).encode()[start:end].decode(errors="replace")
    call = _ITERATES.search(text)
    return call is not None and type(frame.f_locals.get(call[1], frame.f_globals.get(call[1]))) is Array
