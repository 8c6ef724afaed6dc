"""The functions for recorded calls that the compiled code calls."""

from __future__ import annotations

from typing import Any, Final

from anyarray._lazy import loops, recording

FUNCTIONS: Final[dict[str, Any]] = {
    "loop_of": loops.loop_of, "warned_errors": loops.warned_errors, "warn": loops.warn, "ran": loops.ran,
    "error_variable": loops.ERROR_VARIABLE, "readable": recording.readable, "result_dtype": recording.result_dtype,
    "compute": recording.compute, "base_of": recording.base_of,
}  # fmt: skip
