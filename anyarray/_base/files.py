"""Files that several processes read, replace and lock."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

NO_FILE: Final = "Not a regular file"
LOOK: Final = 0.2
"""Seconds between two looks whether a lock is free."""


def content(file: Path, most: int) -> bytes:
    """What is in a file of fewer bytes than `most`; raises OSError."""
    status = file.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise OSError(errno.EINVAL, NO_FILE)  # a read from a pipe may never return
    if status.st_size >= most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return file.read_bytes()


@contextlib.contextmanager
def replacement(of: Path) -> Generator[tuple[Path, Path]]:
    """Paths of a temporary file in the folder of a file, and of that file.

    For `os.replace`, so that readers see the old one or the new one. Links are followed, folders are made. The
    temporary file is removed in the end. Raises OSError.
    """
    import secrets  # 5 ms, so not at `import anyarray`

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
    """Hold the lock of this name and user on this machine.

    If another process holds it, `wait` is called, then it is waited for. The system releases it when the process ends.
    """
    import getpass
    import tempfile

    with contextlib.ExitStack() as stack:
        try:
            lock = stack.enter_context(open(Path(tempfile.gettempdir(), f"{name}-{getpass.getuser()}"), "ab"))
        except (OSError, KeyError, ImportError):
            pass  # no such folder, or no name, which Windows may have to import: nobody is kept out
        else:
            if not _is_locked(lock.fileno()):
                wait()
                while not _is_locked(lock.fileno()):
                    time.sleep(LOOK)
        yield


def _is_locked(descriptor: int) -> bool:
    """Whether this process holds the lock of a file now.

    True, too, where files cannot be locked.
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
