"""Keys: Arrays of two uint32 that determine all random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from anyarray._array.array import AnyArray, Array
from anyarray._base import errors
from anyarray._base.dtypes import uint32
from anyarray._call.arguments import as_array, as_integer
from anyarray._registry import registry
from anyarray.random._threefry import threefry
from anyarray.standard import namespace as xp

__all__ = ["fold_in", "key", "split"]

_WORD = 0xFFFFFFFF


def key(seed: int) -> Array:
    """The key of a seed: a uint32 Array of the shape (2,).

    `seed` is an int from 0 to 2**64 - 1. Raises TypeError for other types, ValueError for an int out of range.

    >>> from anyarray import random
    >>> random.key(7).tolist()
    [0, 7]
    """
    if isinstance(seed, bool):
        raise errors.ArgumentTypeError("key: seed must be an int, not a bool")
    number = as_integer("key", "seed", seed)
    if not 0 <= number < 1 << 64:
        raise errors.ArgumentValueError(f"key: seed must be from 0 to 2**64 - 1, not {number}")
    return xp.asarray([number >> 32, number & _WORD], dtype=uint32)


def split(key: AnyArray, num: int | Sequence[int] = 2) -> Array:
    """New keys from a key, which must not be used again.

    `num` is the number of keys, or a shape (...): the result is (..., 2). A smaller `num` gives the first keys of a
    larger one.

    >>> from anyarray import random
    >>> random.split(random.key(7), 3).shape
    (3, 2)
    """
    return xp.stack(threefry(checked("split", key), num if isinstance(num, int) else tuple(num)), axis=-1)


def fold_in(key: AnyArray, data: int | AnyArray) -> Array:
    """A new key from a key and a number, such as that of a step or process.

    `data` is an int from 0 to 2**64 - 1, or a 0-d integer Array, whose lowest 32 bits count.
    Raises ValueError for an int out of range.

    >>> from anyarray import random
    >>> key = random.key(7)
    >>> [random.fold_in(key, step).tolist() != key.tolist() for step in range(2)]
    [True, True]
    """
    given = checked("fold_in", key)
    if isinstance(data, int):
        if not 0 <= data < 1 << 64:
            raise errors.ArgumentValueError(f"fold_in: data must be from 0 to 2**64 - 1, not {data}")
        high, low = (xp.asarray(part, dtype=uint32, device=given.device) for part in (data >> 32, data & _WORD))
    else:
        number = as_array("fold_in", "data", data)
        if number.dtype.kind not in "iu" or number.ndim:
            raise errors.ArgumentTypeError(
                f"fold_in: data must be an int or a 0-d Array of an integer dtype, not {number.dtype} of shape "
                f"{number.shape}"
            )
        low = xp.astype(number, uint32)
        high = xp.zeros_like(low)
    return xp.stack(threefry(given, (), (high, low)))


def checked(function: str, key: AnyArray) -> Array:
    """A key as an Array. Raises TypeError for anything else."""
    cure = "Make one: xp.random.key(0), or take one of xp.random.split(key)"
    if registry.backend_of_native(key) is None and type(key) is not Array:
        raise errors.ArgumentTypeError(f"{function}: key must be a key, not {type(key).__name__}. {cure}")
    given = as_array(function, "key", key)
    if given.dtype != uint32 or given.shape != (2,):
        raise errors.ArgumentTypeError(
            f"{function}: key must be an Array of uint32 of shape (2,), not {given.dtype} of shape {given.shape}. "
            f"{cure}"
        )
    return given
