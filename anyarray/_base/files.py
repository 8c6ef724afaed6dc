"""Files that several processes read, write and lock."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Generator
from pathlib import Path


@contextlib.contextmanager
def temporary(beside: Path) -> Generator[Path]:
    """The path of a file in the folder of another, for `os.replace`.

    It is removed in the end if it is there.
    """
    # Not by `tempfile`, whose files no other user can read: one user may calibrate for others.
    import secrets  # 5 ms, so not at `import anyarray`

    path = beside.with_name(f"{beside.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def is_locked(descriptor: int) -> bool:
    """Lock an open file if no other process has; whether this process has it now.

    The system releases the lock when the process ends. True, too, where files cannot be locked.
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
