"""Views in the reverse order, of which PyTorch has none: copies that follow.

A mirror is a copy of a view with some axes reversed. The storages of both note it. After a write in place `spread`
reads the mirrors of that memory anew; a write to a mirror is written back.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from anyarray.backends.torch._kernel import Native, bits, is_transformed, note


class _Mirror:
    """A copy of `view`, reversed; the storage of the copy holds it."""

    __slots__ = ("__weakref__", "axes", "storage", "view")

    def __init__(self, view: Native, axes: Sequence[int], storage: Any) -> None:
        self.view = view
        self.axes = axes
        self.storage = weakref.ref(storage)

    def strides(self) -> list[int]:
        """The strides of the copy, which is contiguous."""
        strides = [1]
        for length in self.view.shape[:0:-1]:
            strides.append(strides[-1] * max(length, 1))
        return strides[::-1] if self.view.ndim else []

    def on(self, holder: Native) -> Native:
        """The copy, whole, by a tensor of any part of it."""
        return holder.as_strided(self.view.shape, self.strides(), 0)

    def strides_of(self, x: Native) -> list[int]:
        """Strides of a part of the copy, as if it were a part of the view."""
        own, there = self.strides(), self.view.stride()
        found: list[int] = []
        for stride in x.stride():
            axis = next(
                (i for i, one in enumerate(own) if stride and stride % one == 0 and self.view.shape[i] > 1), None
            )
            if axis is None:
                found.append(stride)
            else:
                found.append(stride // own[axis] * there[axis] * (-1 if axis in self.axes else 1))
        return found

    def address_of(self, x: Native) -> int:
        """Where a part of the copy would begin, as a part of the view."""
        rest, place = x.storage_offset(), 0
        lengths, own, there = self.view.shape, self.strides(), self.view.stride()
        for axis, (length, stride, apart) in enumerate(zip(lengths, own, there, strict=True)):
            i, rest = divmod(rest, stride)
            place += (length - 1 - i if axis in self.axes else i) * apart
        return int(self.view.data_ptr()) + place * int(self.view.itemsize)

    def read(self) -> Native | None:
        """The copy, read anew; None if it is gone."""
        storage = self.storage()
        if storage is None:
            return None
        holder = torch.empty(0, dtype=self.view.dtype, device=self.view.device).set_(storage, 0, (0,), (1,))
        copy = self.on(holder)
        bits(copy).copy_(torch.flip(bits(self.view), self.axes))
        return copy


_is_used = False
"""Whether there has been any mirror: until then a write need not look for one."""


def mirrored(view: Native, axes: Sequence[int]) -> Native:
    """`view` with axes reversed: a copy that follows what is written to it."""
    global _is_used
    _is_used = True
    copy = torch.flip(bits(view), axes).contiguous().view(view.dtype)
    storage = copy.untyped_storage()
    mirror = storage.mirror = _Mirror(view, axes, storage)
    note(storage)
    seen = view.untyped_storage()
    notes = seen.__dict__
    if "mirrors" not in notes:
        notes["mirrors"] = {}
        note(seen)
    notes["mirrors"][weakref.ref(mirror, functools.partial(_forget, notes))] = None
    return copy


def _forget(notes: dict[str, Any], ref: weakref.ref[_Mirror]) -> None:
    """Drop a mirror that is gone from the notes of a storage."""
    mirrors = notes.get("mirrors", {})
    mirrors.pop(ref, None)
    if not mirrors:
        notes.pop("mirrors", None)
        if not notes.keys() - {"note"}:
            notes.pop("note", None)


def is_mirror(x: Native) -> bool:
    """Whether `x` is a part of a mirror."""
    return _is_used and not is_transformed() and "mirror" in x.untyped_storage().__dict__


def spread(x: Native, done: _Mirror | None = None) -> None:
    """After a write to the memory of `x`, let what mirrors it follow."""
    if not _is_used:
        return
    notes = x.untyped_storage().__dict__
    mirror = notes.get("mirror")
    if mirror is not None and mirror is not done:
        bits(mirror.view).copy_(torch.flip(bits(mirror.on(x)), mirror.axes))
        spread(mirror.view, mirror)
    for one in [found for ref in list(notes.get("mirrors", ())) if (found := ref()) is not None]:
        if one is not done and (copy := one.read()) is not None:
            spread(copy, one)
