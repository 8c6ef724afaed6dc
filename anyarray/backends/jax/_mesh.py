"""Arrays over several devices, which are one native device.

A mesh has a rule for how new arrays are laid out on it. The layout is a default and never changes a value: XLA decides
how results are laid out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from anyarray._base import errors

__all__ = ["Layout", "from_source", "laid_out", "layout", "layout_of", "local_part", "mesh"]

Native: TypeAlias = jax.Array


class Layout:
    """The devices of a mesh, as a native device.

    Axis `i` of a new array is split over axis `i` of the mesh, or axis `axis` over all of them. An axis that cannot be
    split evenly is replicated.
    """

    def __init__(self, mesh: Mesh, axis: int | None = None) -> None:
        self.mesh = mesh
        self.axis = axis
        is_here = {device.process_index for device in mesh.devices.flat} == {jax.process_index()}
        self.platform: str = mesh.devices.flat[0].platform if is_here else "cpu"
        """Where functions run whose result has an unknown shape: in host memory if values must be gathered."""
        self.waits: bool = mesh.devices.flat[0].platform == "cpu" and mesh.size > 1
        """Whether each call must end before the next. Devices of a CPU share a pool of threads, and XLA ends the
        process if those of one program wait for each other while another program has all threads."""

    def __str__(self) -> str:
        axes = ", ".join(f"{name}={length}" for name, length in self.mesh.shape.items())
        devices = [*self.mesh.devices.flat]
        if devices == jax.devices(devices[0].platform)[: len(devices)]:
            return f"mesh({axes})"
        return f"mesh({axes})[{', '.join([str(one.id) for one in devices])}]"

    def sharding(self, shape: tuple[int, ...]) -> NamedSharding:
        """How an array of `shape` is laid out."""
        names = self.mesh.axis_names
        parts: list[Any] = [*names[: len(shape)], *[None] * (len(shape) - len(names))]
        if self.axis is not None:
            axis = self.axis + len(shape) if self.axis < 0 else self.axis
            parts = [names if i == axis else None for i in range(len(shape))]
        for i, (part, length) in enumerate(zip(parts, shape, strict=True)):
            count = math.prod(self.mesh.shape[name] for name in ([part] if isinstance(part, str) else part or ()))
            if not length or length % count:
                parts[i] = None
        return NamedSharding(self.mesh, PartitionSpec(*parts))  # type: ignore[no-untyped-call, unused-ignore]


_layouts: Final[dict[Mesh, Layout]] = {}
"""The layout of each mesh that was made or met."""


def _layout(mesh: Mesh) -> Layout:
    if any(kind is not AxisType.Auto for kind in mesh.axis_types):
        raise errors.UnsupportedError(
            f"jax: an array on a mesh with explicit axes ({mesh}) is not supported. "
            "Make the mesh with axis_types=(AxisType.Auto, ...)"
        )
    return _layouts.setdefault(mesh, Layout(mesh))


def layout_of(x: Native) -> Layout | None:
    """The layout of the mesh that an array is on; None for one device."""
    sharding = x.sharding
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
        found = _layouts.get(sharding.mesh)
        if found is not None or len(sharding.device_set) > 1:
            return found or _layout(sharding.mesh)
    devices = sharding.device_set
    if len(devices) == 1:
        return None
    same = [one for one in _layouts.values() if {*one.mesh.devices.flat} == devices]
    return same[0] if same else _layout(Mesh(np.array(sorted(devices, key=lambda one: one.id)), ("devices",)))


def mesh(kind: str | None, axes: Mapping[str, int], ids: tuple[int, ...] = ()) -> Layout:
    """The layout of a new mesh.

    `axes` are lengths by name; without any, all devices are on one axis. `ids` are those of the devices.
    """
    devices = jax.devices(kind)
    axes = axes or {"devices": len(devices)}
    count = math.prod(axes.values())
    if not 0 < count <= len(devices) or min(axes.values()) < 1:
        sizes = " * ".join(f"{name}={length}" for name, length in axes.items())
        raise errors.DeviceNotFoundError(
            f"mesh: {sizes} takes {count} devices, and jax finds {len(devices)} of the kind {devices[0].platform}. "
            "Give lengths of at least 1 whose product is at most that"
        )
    types = (AxisType.Auto,) * len(axes)
    if ids:  # in the order that the name of a mesh tells
        by_id = {one.id: one for one in devices}
        if len(ids) != count or not by_id.keys() >= {*ids}:
            raise errors.DeviceNotFoundError(
                f"mesh: jax has no {count} devices of the numbers {[*ids]}, but {[*by_id]}"
            )
        chosen = np.array([by_id[one] for one in ids]).reshape(tuple(axes.values()))
        return _layout(Mesh(chosen, tuple(axes), axis_types=types))
    return _layout(jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=types, devices=devices[:count]))


def laid_out(x: Native, layout: Layout, axis: int | None = None) -> Native:
    """An array on the devices of a layout, `axis` split over all."""
    if isinstance(x, jax.core.Tracer):
        return x
    wanted = layout if axis is None else Layout(layout.mesh, axis)
    if axis is None and layout_of(x) is layout:
        return x
    with jax.enable_x64(True):
        if not x.is_fully_addressable and x.sharding.device_set != {*layout.mesh.devices.flat}:
            return jax.device_put(gathered(x), wanted.sharding(x.shape))
        moved = jax.device_put(x, wanted.sharding(x.shape))
        return jax.block_until_ready(moved) if layout.waits else moved


def local_part(a: np.ndarray[Any, Any], layout: Layout) -> Native:
    """An array of which each process has its part along the first axis."""
    whole = PartitionSpec(layout.mesh.axis_names)  # type: ignore[no-untyped-call, unused-ignore]
    sharding = NamedSharding(layout.mesh, whole)
    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(sharding, a)


def from_source(source: Any, device: Any, chunks: Any) -> Native | None:
    """An array on a mesh, of which each process reads its parts.

    None for one device, which reads all at once.
    """
    if not isinstance(device, Layout):
        return None
    with jax.enable_x64(True):
        return jax.make_array_from_callback(source.shape, device.sharding(source.shape), source.__getitem__)


def layout(x: Native) -> tuple[Any, ...] | None:
    """The axis of the mesh over which each axis of an array is split.

    None if each device has all values.
    """
    if isinstance(x, jax.core.Tracer) or x.is_fully_replicated:
        return None
    spec = tuple(x.sharding.spec) if isinstance(x.sharding, NamedSharding) else ("unknown",)
    return spec + (None,) * (x.ndim - len(spec))


def refuse_closure(error: RuntimeError) -> None:
    """Raise our error for a function that closes over a distributed array."""
    if "spans non-addressable" in str(error):
        raise errors.UnsupportedError(
            "jit: the function reads an Array over several processes that is none of its arguments. Pass it as one"
        ) from error


def gathered(x: Native) -> np.ndarray[Any, Any]:
    """The values of an array over several processes; each of them must ask."""
    if x.is_fully_replicated:
        return np.asarray(x.addressable_data(0))
    from jax.experimental.multihost_utils import process_allgather

    with jax.enable_x64(True):
        return np.asarray(process_allgather(x, tiled=True))
