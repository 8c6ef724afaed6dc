"""Memory of devices: usage, freeing, and errors when it runs out.

Several libraries on one device cache freed memory, each for itself. If one runs out, the caches of the others and the
second copies of Arrays are freed, and the call is repeated once before it raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from anyarray._base import errors
from anyarray._memory import second_copies
from anyarray._registry import registry

T = TypeVar("T")


@dataclass(frozen=True)
class DeviceMemory:
    """The memory of a device, in bytes; a row of `xp.memory()`."""

    device: str
    """"cpu", or a name such as "gpu:0"."""
    total: int | None
    """Its size; None if no loaded library reports it."""
    free: int | None
    """Memory that no program uses; None if no loaded library reports it."""
    held: Mapping[str, int]
    """By library: the memory of its arrays and, if it reports it, the memory that it caches."""


def memory() -> list[DeviceMemory]:
    """The memory of each device of the loaded libraries.

    No library is imported. CuPy, PyTorch and NumPy report free memory. JAX and TensorFlow report the memory that they
    hold on an accelerator.

    >>> import anyarray as xp
    >>> xp.memory()[0].device
    'cpu'
    """
    rows: dict[str, DeviceMemory] = {}
    for backend in registry.loaded_backends():
        if backend.kind == "mesh":
            continue  # its devices have rows of their own
        device = backend.kind if backend.kind == "cpu" else f"{backend.kind}:{backend.index}"
        total, free, held = backend.hook("memory")(backend.native_device)
        row = rows.get(device, DeviceMemory(device, None, None, {}))
        rows[device] = DeviceMemory(
            device,
            total if row.total is None else row.total,
            free if row.free is None else row.free,
            row.held if held is None else {**row.held, backend.library: held},
        )
    return list(rows.values())


def free_memory() -> int:
    """Free cached memory; returns the number of bytes.

    This frees the copies of Arrays on other backends, and the memory of freed arrays that CuPy and PyTorch cache. JAX
    and TensorFlow do not return memory to a device.

    >>> import anyarray as xp
    >>> xp.free_memory() >= 0
    True
    """
    freed = second_copies.clear()
    for library in registry.loaded_libraries():
        freed += library.hook("free_memory")()
    return freed


def is_worth_another_try(function: str, error: Exception) -> bool:
    """Whether memory ran out in a call of `function`, and some was freed.

    Raises OutOfMemoryError if none could be freed. False for any other error.
    """
    if isinstance(error, (errors.OutOfMemoryError, errors.TooLargeError)) or not registry.is_out_of_memory(error):
        return False
    if free_memory():
        return True
    raise out_of_memory(function, error) from error


def refuse(function: str, error: Exception) -> None:
    """Raise OutOfMemoryError for a library's own out-of-memory error."""
    if not isinstance(error, errors.OutOfMemoryError) and registry.is_out_of_memory(error):
        raise out_of_memory(function, error) from error


def tried(function: str, attempt: Callable[..., T], /, *args: Any, **options: Any) -> T:
    """The result of `attempt`, which is called again if memory was freed.

    `function` is the function that the user called.
    """
    while True:
        try:
            return attempt(*args, **options)
        except Exception as error:
            if not is_worth_another_try(function, error):
                raise


def out_of_memory(function: str, error: Exception) -> errors.OutOfMemoryError:
    """The OutOfMemoryError for a library's own error."""
    library = registry.library_of_error(error)
    text = str(error).partition("\n")[0].rstrip(". ")
    text = re.sub(r" for an array with shape \(\d+,\) and data type uint8$", "", text)  # ours, for alignment
    message = f"{function}: {library} is out of memory{f': {text}' if text else ''}. "
    rows = [row for row in memory() if library in row.held]
    for row in rows:
        known = "" if row.total is None or row.free is None else f"{size(row.free)} of {size(row.total)} are free, "
        holders = sorted(row.held.items(), key=lambda one: -one[1])
        message += f"On {row.device} {known}{', '.join(f'{name} holds {size(n)}' for name, n in holders)}. "
    return errors.OutOfMemoryError(
        message + "Delete what is no longer needed, work on smaller parts, or choose another backend"
    )


def size(nbytes: int) -> str:
    """A number of bytes in a suitable unit: 72 MB."""
    exponent = next((at for at in range(3) if nbytes < 1000 ** (at + 1)), 3)
    return f"{nbytes / 1000**exponent:.3g} {_UNITS[exponent]}"


_UNITS: Final = ("bytes", "kB", "MB", "GB")
