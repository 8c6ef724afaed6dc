"""What the compiled code is told of recorded calls, once."""

from __future__ import annotations

from typing import Any, Final

from anyarray._lazy import loops, moves, recording

TOLD: Final[dict[str, Any]] = {
    "loop_of": loops.loop_of, "warned_errors": loops.warned_errors, "warn": loops.warn, "ran": loops.ran,
    "error_variable": loops.ERROR_VARIABLE, "moved": moves.moved, "postponed": recording.Postponed,
    "put_off": recording.put_off, "put_off_inplace": recording.put_off_inplace, "value_of": recording.value_of,
    "compute_readers": recording.compute_readers, "leaves": recording.leaves,
}  # fmt: skip
