"""Files that several processes read, replace and lock."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

from anyarray._base.cache_folder import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

NO_FILE: Final = "Not a regular file"
LARGEST: Final = 1 << 22
"""Bytes of the largest JSON file that is read."""
LONGEST: Final = 100
"""The most characters that a message quotes from a malformed file."""
MALFORMED: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of code that reads the entries of a malformed file."""
LOOK: Final = 0.2
"""Seconds between two attempts to acquire a lock."""


class UnusableError(Exception):
    """A file cannot be used; the message names it and says why."""


def json_object(file: Path) -> dict[str, Any] | None:
    """The object in a JSON file of `LARGEST` bytes at most, or None.

    None means that the file does not exist. All numbers are finite as floats. Raises UnusableError for anything else.
    """
    import json  # 4 ms, so not at `import anyarray`

    try:
        content = _content(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableError(f"{file} cannot be read ({error.strerror})") from error
    try:
        found = json.loads(content, parse_float=_finite, parse_int=_whole, parse_constant=_finite)
        if not isinstance(found, dict):
            raise TypeError(f"{type(found).__name__} in place of an object")
    except MALFORMED as error:
        raise malformed(file, error) from error
    return found


def malformed(file: Path, error: Exception) -> UnusableError:
    """The error for a file whose entries raised `error`."""
    return UnusableError(f"{file} is broken ({type(error).__name__}: {str(error)[:LONGEST]})")


def _content(file: Path) -> bytes:
    status = file.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise OSError(errno.EINVAL, NO_FILE)  # reading a pipe or a device may never return
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:LONGEST]} is not a finite number")
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


@contextlib.contextmanager
def replacement(of: Path) -> Generator[tuple[Path, Path]]:
    """Paths of a temporary file in the folder of a file, and of that file.

    They are for `os.replace`, so that readers see the old file or the new one. Links are followed, and folders are
    created. The temporary file is removed at the end. Raises OSError.
    """
    import secrets  # 5 ms and 4 ms, so not at `import anyarray`
    from pathlib import Path

    there = Path(os.path.realpath(of))
    if there.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if there.exists() and not there.is_file():
        raise OSError(errno.EINVAL, NO_FILE)
    if not next(folder for folder in there.parents if folder.exists()).is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    there.parent.mkdir(parents=True, exist_ok=True)
    # Not by `tempfile`, whose files no other user can read: one user may write for others.
    temporary = there.with_name(f"{there.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary, there
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(name: str, wait: Callable[[], None]) -> Generator[None]:
    """Hold the lock of this name, a file in the user's cache folder.

    Other users cannot open it. If another process holds it, `wait` is called, and then this process waits. The system
    releases the lock when the process ends.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = cache_folder()
            folder.mkdir(parents=True, exist_ok=True)
            # A reader could lock it, too. In a folder of another user, its owner could replace it.
            if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
                raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
            lock = stack.enter_context(open(folder / f"{name}.lock", "ab", opener=_private))
        except (OSError, RuntimeError):
            pass  # without a home or the right to write there, nobody is kept out
        else:
            if not _is_locked(lock.fileno()):
                wait()
                while not _is_locked(lock.fileno()):
                    time.sleep(LOOK)
        yield


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_locked(descriptor: int) -> bool:
    """Whether this process holds the lock of a file now.

    It is also True if files cannot be locked.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
    return True
