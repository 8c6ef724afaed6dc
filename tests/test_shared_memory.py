"""Shared memory: random programs give NumPy's values, whoever writes to it.

The programs are those of `test_views` with arithmetic and reductions, of which few are computed before the end, and
with every way by which memory is handed out. They run on ndarrays at once, and on Arrays.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest
from test_views import Names, Program, Statement, snapshot

import anyarray as xp
from anyarray._base.extension import speedups

Calls = dict[str, Callable[..., Any]]


def out_of_band(x: Any) -> Any:
    buffers: list[Any] = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return np.asarray(pickle.loads(data, buffers=buffers))


class Consumer:
    """A library that takes memory by an old DLPack, and writes to it."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.taken = np.from_dlpack(self)  # which NumPy only reads
        self.__array_interface__ = self.taken.__array_interface__ | {"data": (self.taken.ctypes.data, False)}

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(copy=False)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


WRITTEN_THROUGH: Final[Calls] = {
    "asarray": np.asarray,
    "__array__": lambda x: x.__array__(),
    "to_numpy": lambda x: x.to_numpy(),
    "data": lambda x: np.asarray(x.data),
    "of a view": lambda x: np.asarray(x.T).T,
    "of a part": lambda x: np.asarray(x[...]),
    "DLPack before 1.0": lambda x: np.asarray(Consumer(x)),
}
"""Ways by which NumPy's memory is handed out to be written. That of other libraries is to be read, but by the last."""

APART: Final[Calls] = {
    "array": np.array,
    "copy": lambda x: np.asarray(xp.asarray(x, copy=True)),
    "from_dlpack": lambda x: np.array(np.from_dlpack(x, copy=True)),  # read-only in NumPy 2.1
    "to_native": lambda x: np.array(xp.to_native(x, like="numpy")),
    "tobytes": lambda x: np.frombuffer(bytearray(x.tobytes())).reshape(x.shape),
    "tolist": lambda x: np.asarray(x.tolist()).reshape(x.shape),
    "pickle": out_of_band,
}
"""Ways by which a copy is handed out, which shows no later write."""

READ_ONLY: Final[Calls] = {
    "from_dlpack": lambda x: np.from_dlpack(x),
    "to_native": lambda x: xp.to_native(x, like="numpy"),
}
"""Ways by which memory is handed out to be read: on NumPy it shows later writes."""

ARITHMETIC: Final[list[Callable[..., Any]]] = [
    lambda m, x, y: x + y,
    lambda m, x, y: x - y,
    lambda m, x, y: m.maximum(x, y),
    lambda m, x, y: m.where(x > y, y, x),
    lambda m, x, y: x * 2,
    lambda m, x, y: 1 - x,
    lambda m, x, y: m.abs(x),
]
REDUCTIONS: Final = ["max", "min", "sum"]


class Shared(Program):
    """Programs that hand memory out, under names in capitals."""

    def __init__(self, seed: int, backend: xp.Backend) -> None:
        self.is_numpy = backend.library == "numpy"
        if self.is_numpy:
            self.shapes = ((2, 3), (3,), (1, 4), (20, 32), (20, 1), (32,), (700,))  # copied, and too large for that
        super().__init__(seed)

    def kinds(self) -> list[Callable[[], Statement]]:
        return [
            self.made, self.index, self.index, self.rearranged, self.write, self.update, self.forgotten, self.read,
            *[self.in_place, self.reduction, self.handed_out, self.written_outside] * 2, *[self.arithmetic] * 3,
        ]  # fmt: skip

    def beside(self, source: str) -> str:
        """A name of what is broadcast to another."""
        found = []
        for name in sorted(self.names):
            try:
                if name.islower() and np.broadcast_shapes(np.shape(self.names[name]), np.shape(self.names[source])):
                    found.append(name)
            except ValueError:
                pass
        return self.random.choice(found or [source])

    def arithmetic(self) -> Statement:
        name, source, call = self.target(), self.source(), self.random.choice(ARITHMETIC)
        other = self.beside(source)

        def statement(space: Any, names: Names) -> None:
            names[name] = call(space, names[source], names[other])

        return statement

    def in_place(self) -> Statement:
        source, operator = self.source(), self.random.choice(["+", "-", "*"])
        other = self.beside(source)
        is_alike = np.broadcast(self.names[source], self.names[other]).shape == np.shape(self.names[source])

        def statement(space: Any, names: Names) -> None:
            if operator == "+" and is_alike:
                names[source] += names[other]
            elif operator == "-" and is_alike:
                names[source] -= names[other] * 2 + 1
            else:
                names[source] *= -1

        return statement

    def reduction(self) -> Statement:
        name, source, function = self.target(), self.source(), self.random.choice(REDUCTIONS)
        axis, keeps = self.random.choice([None, -1, 0]), self.random.random() < 0.5
        if not (np.size(self.names[source]) and np.ndim(self.names[source])):
            return self.made()

        def statement(space: Any, names: Names) -> None:
            names[name] = getattr(space, function)(names[source], axis=axis, keepdims=keeps)

        return statement

    def handed_out(self) -> Statement:
        name, source = self.random.choice("ABCD"), self.source()
        ways = self.random.choice([WRITTEN_THROUGH, READ_ONLY, APART])
        way = self.random.choice(list(ways.values())[: None if self.is_numpy or ways is not WRITTEN_THROUGH else -1])
        is_shared = self.is_numpy and ways is not APART

        def statement(space: Any, names: Names) -> None:
            x = names[source]
            if space is not np:
                names[name] = way(x)
            else:
                names[name] = x.view() if is_shared and isinstance(x, np.ndarray) else np.array(x)
                names[name].flags.writeable &= ways is not READ_ONLY

        return statement

    def written_outside(self) -> Statement:
        found = [name for name in sorted(self.names) if name.isupper() and self.names[name].flags.writeable]
        if not (found and self.is_numpy):
            return self.handed_out()
        name, value = self.random.choice(found), self.random.randrange(100, 200)
        key = self.key(self.names[name].shape)

        def statement(space: Any, names: Names) -> None:
            names[name][key] = value

        return statement

    def forgotten(self) -> Statement:
        name = self.random.choice(sorted(self.names))

        def statement(space: Any, names: Names) -> None:
            del names[name]

        return statement

    def read(self) -> Statement:
        name = self.source()

        def statement(space: Any, names: Names) -> None:
            names[name].tolist()

        return statement


@pytest.fixture
def recorded() -> Iterator[None]:
    """Calls of two elements are recorded."""
    before = speedups.record_from(2) if speedups is not None else 0
    yield
    if speedups is not None:
        speedups.record_from(before)


@pytest.mark.usefixtures("recorded")
def test_random_programs_that_hand_memory_out_give_numpys_values(
    backend: xp.Backend, seeds: Callable[[int], range]
) -> None:
    for seed in seeds(1000 if backend.library == "numpy" else 20):
        program = Shared(seed, backend)
        names: Names = {}
        with xp.fused() if seed % 2 else contextlib.nullcontext():
            for statement in program.statements:
                statement(xp, names)
        assert snapshot(names) == program.values[-1], f"program {seed}"


@pytest.mark.skipif(speedups is None, reason="chains are compiled")
@pytest.mark.parametrize("way", WRITTEN_THROUGH)
@pytest.mark.parametrize("shape", [(64, 1024), (1024, 64)], ids=["small", "large"])
def test_a_write_outside_does_not_reach_a_chain_that_reads_a_reduction(way: str, shape: tuple[int, int]) -> None:
    with xp.backend("auto"), xp.fused():
        y = xp.ones(shape) * 2
        largest = xp.max(y, axis=-1, keepdims=True)
        z = y - largest  # reads the reduction, which is computed when this is recorded
        WRITTEN_THROUGH[way](largest)[...] = 100
        assert xp.all(z == 0)
        assert xp.all(largest == 100)
