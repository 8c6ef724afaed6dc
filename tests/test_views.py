"""Views, as in NumPy, on every backend: random programs give what NumPy gives.

A program is some statements on a few names: it makes arrays, takes parts of them, transposes, reshapes, writes, updates
and reads. It runs on ndarrays and on Arrays, and all names have equal values after each statement.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import process_memory
import pytest
from comparison import each
from expressions import left, rows, several

import anyarray as xp
import anyarray.numpy

SHAPES: Final = ((6,), (2, 3), (3, 2), (3, 4), (2, 2, 3), (1, 4))
METHODS: Final = """
x.T; x.swapaxes(0, -1); x.ravel(); x.ravel("F"); x.ravel("K"); x.flatten("A"); x.copy(); x.view(); x.reshape(-1, 1)
x.view(np.int64).view(np.float64); x.real
"""
LENGTH: Final = 20
"""Statements of a program."""

Names = dict[str, Any]
Statement = Callable[[Any, Names], None]
"""Runs on a namespace, NumPy's or ours, and the arrays by name."""


class Program:
    """Random statements, drawn while they run on ndarrays: shapes fit."""

    shapes: tuple[tuple[int, ...], ...] = SHAPES

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: Names = {}
        self.statements: list[Statement] = []
        self.values: list[dict[str, Any]] = []
        """Of all names after each statement, as lists."""
        for _ in range(LENGTH):
            statement = self.drawn()
            statement(np, self.names)
            self.statements.append(statement)
            self.values.append(snapshot(self.names))

    def kinds(self) -> list[Callable[[], Statement]]:
        """Statements, the likely ones more than once."""
        return [
            self.made, self.index, self.index, self.rearranged, self.write, self.write, self.update, self.rows,
            self.method, self.method_that_writes,
        ]  # fmt: skip

    def drawn(self) -> Statement:
        return self.random.choice(self.kinds())() if self.with_views() else self.made()

    def target(self) -> str:
        """A name for what a statement gives: new, or given away."""
        return self.random.choice("abcdefgh")

    def source(self) -> str:
        return self.random.choice([name for name in sorted(self.names) if name.islower()])

    def with_views(self) -> list[str]:
        """The names of what is no number.

        On NumPy alone is an array without axes known from one.
        """
        return [name for name in sorted(self.names) if name.islower() and isinstance(self.names[name], np.ndarray)]

    def source_with_views(self) -> str:
        return self.random.choice(self.with_views())

    def made(self) -> Statement:
        name, shape, start = self.target(), self.random.choice(self.shapes), self.random.randrange(100)

        def statement(space: Any, names: Names) -> None:
            values = np.arange(start, start + np.prod(shape), dtype=np.float64).reshape(shape)
            names[name] = values if space is np else xp.asarray(values)

        return statement

    def key(self, shape: tuple[int, ...]) -> Any:
        """A basic key, or now and then one that copies."""
        entries: list[Any] = []
        for n in shape[: self.random.randint(0, len(shape))]:
            which = self.random.randrange(4)
            if which == 0 and n:
                entries.append(self.random.randrange(-n, n))
            elif which == 1:
                entries.append(slice(None, None, self.random.choice((1, -1, 2, -2))))
            else:
                low = self.random.randint(0, n)
                entries.append(slice(low, self.random.randint(low, n)))
        if self.random.random() < 0.15:
            entries.insert(self.random.randint(0, len(entries)), None)
        if self.random.random() < 0.2:
            entries.append(Ellipsis)
        return entries[0] if len(entries) == 1 and self.random.random() < 0.5 else tuple(entries)

    def index(self) -> Statement:
        name, source = self.target(), self.source_with_views()
        shape = self.names[source].shape
        key = self.key(shape)
        if shape and shape[0] and self.random.random() < 0.15:
            key = np.asarray([self.random.randrange(shape[0]) for _ in range(2)])

        def statement(space: Any, names: Names) -> None:
            names[name] = names[source][key]

        return statement

    def rearranged(self) -> Statement:
        name, source = self.target(), self.source_with_views()
        shape, ndim = self.names[source].shape, self.names[source].ndim
        function, arguments = self.random.choice(
            [
                ("permute_dims", (tuple(self.random.sample(range(ndim), ndim)),)),
                ("reshape", (self.random.choice([(-1,), (1, -1), shape[::-1], (*shape, 1)]),)),
                ("expand_dims", (self.random.randint(-ndim - 1, ndim),)),
                ("flip", ()),
                *[("squeeze", (axis,)) for axis, n in enumerate(shape) if n == 1],
                *[("matrix_transpose", ()), ("moveaxis", (0, -1))] * (ndim > 1),
            ]
        )

        def statement(space: Any, names: Names) -> None:
            names[name] = getattr(space, function)(names[source], *arguments)

        return statement

    def write(self) -> Statement:
        source, value = self.source(), self.random.randrange(100, 200)
        key = self.key(self.names[source].shape)
        other = self.source()
        is_number = isinstance(self.names[source], np.generic)  # to which NumPy writes nothing
        try:
            np.broadcast_to(self.names[other], np.empty(self.names[source].shape)[key].shape)
            is_other = self.random.random() < 0.5
        except ValueError:
            is_other = False

        def statement(space: Any, names: Names) -> None:
            if not is_number:
                names[source][key] = names[other] if is_other else value

        return statement

    def method(self) -> Statement:
        """A view, or a copy, by a method of ndarrays."""
        name, source = self.target(), self.source_with_views()
        shape = self.names[source].shape
        if not shape:
            return self.made()
        called: Callable[[Any], Any] = self.random.choice(
            [
                lambda x: x.transpose(*range(1, len(shape)), 0) if len(shape) > 1 else x.transpose(),
                lambda x: x.reshape(*shape[::-1], order="F"),
                lambda x: x.reshape(*shape, order="A"),
                *[lambda x, text=text: eval(text, {"x": x, "np": np}) for text in several(METHODS)],
            ]
        )

        def statement(space: Any, names: Names) -> None:
            names[name] = called(names[source])

        return statement

    def method_that_writes(self) -> Statement:
        source, value = self.source_with_views(), self.random.randrange(100, 200)
        x = self.names[source]
        if not (x.ndim and x.size):
            return self.made()
        place, axis = self.random.randrange(-x.size, x.size), self.random.randrange(-x.ndim, x.ndim)
        called: Callable[[Any], Any] = self.random.choice(
            [
                lambda x: x.sort(axis),
                lambda x: x.T.sort(),
                lambda x: x.fill(value),
                lambda x: x.put([place, 0], [value, value + 1]),
                lambda x: x.flat.__setitem__(place, value),
                lambda x: x.flat.__setitem__(slice(None, None, 2), [value, 1.0]),
                lambda x: x.cumsum(axis, out=x),
                lambda x: x.clip(-50, 150, out=x),
                lambda x: x.max(axis=0, out=x[0, ...]),
            ]
        )

        def statement(space: Any, names: Names) -> None:
            called(names[source])

        return statement

    def update(self) -> Statement:
        source, other = self.source(), self.source()
        is_scalar = np.shape(self.names[other]) != np.shape(self.names[source]) or self.random.random() < 0.5
        factor = self.random.choice((2.0, -1.0))

        def statement(space: Any, names: Names) -> None:
            if is_scalar:
                names[source] *= factor
            else:
                names[source] += names[other]

        return statement

    def rows(self) -> Statement:
        """A loop over rows that writes to each; or arithmetic."""
        source, name = self.source(), self.target()
        is_loop = self.names[source].ndim > 1 and self.random.random() < 0.7

        def statement(space: Any, names: Names) -> None:
            x = names[source]
            if is_loop:
                for row in x:
                    row -= 1
            else:
                names[name] = x + 1

        return statement


def snapshot(names: Names) -> dict[str, Any]:
    return {name: np.array(names[name]).tolist() for name in sorted(names)}


def test_random_programs_give_numpys_values_after_each_statement(
    backend: xp.Backend, seeds: Callable[[int], range]
) -> None:
    for seed in seeds({"numpy": 1600, "jax": 24}.get(backend.library, 48)):
        program = Program(seed)
        names: Names = {}
        for at, (statement, values) in enumerate(zip(program.statements, program.values, strict=True)):
            statement(xp, names)
            assert snapshot(names) == values, f"program {seed}, statement {at}"
        process_memory.bound()  # each has shapes of its own, for which JAX compiles 10 MB


def test_random_programs_give_numpys_values_in_jit(framework: str, seeds: Callable[[int], range]) -> None:
    with xp.backend(framework):
        for seed in seeds(6):
            program = Program(seed)

            @xp.jit
            def run(zero: xp.Array, program: Program = program) -> list[dict[str, xp.Array]]:
                names: Names = {}
                found = []
                for statement in program.statements:
                    statement(xp, names)
                    found.append({name: xp.asarray(x + zero, copy=True) for name, x in names.items()})
                return found

            for found, values in zip(run(xp.asarray(0.0)), program.values, strict=True):
                assert snapshot(found) == values, f"program {seed}"


PROGRAMS: Final = """
x = np.zeros((2, 3)); x[0][1] = 5; x.T[0] = 7; part = x[:, 2]; part[...] = 1; row = x[1]; row += 10
x = np.zeros((2, 3)); flat = np.reshape(x, (-1,)); flat[0] = 8; row = x[1]; row += 10; part = flat[2:]; part *= 2
x = np.array([[1.0, 2.0], [3.0, 4.0]]); other = x[:, 1]; x[1] /= 2; x[1] = x[1]; x[:, 0] -= 1
x = np.reshape(np.arange(8), (2, 4)); row = x[1]; row.shape = (2, 2); row[1, 0] = 50; x[1, 1] = -1
x = np.arange(12); y, z = x[2:], np.reshape(x, (3, 4)); x.shape = (4, 3); x[0, 2] = 99; z[2, 3] = 7; y += 1
x = np.arange(6); view = x[1:4]; part = view[:2]; view.flags.writeable = False; x[1] = 9; part[1] = 7
x = np.arange(4); view = x[1:]; x.flags.writeable = False; view[0] = 8
"""


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy's own
@each("program", rows(PROGRAMS))
@pytest.mark.usefixtures("backend")
def test_views_show_the_writes_of_each_other_as_in_numpy(program: str) -> None:
    assert left(program, anyarray.numpy) == left(program, np)


@pytest.mark.usefixtures("backend")
def test_a_view_written_back_by_an_index_array_has_to_fit() -> None:
    x = xp.ones((3, 2))
    with pytest.raises((ValueError, IndexError)):
        x[:, xp.asarray([1])] = x[:, 1]


@pytest.mark.usefixtures("backend")
def test_the_shape_of_a_view_that_only_a_copy_can_have_is_refused() -> None:
    x = xp.reshape(xp.arange(6), (2, 3)).T
    with pytest.raises(ValueError, match=r"shape: x of shape \(3, 2\) cannot have the shape \(6,\) in place"):
        x.shape = (6,)
    assert x.shape == (3, 2)


@pytest.mark.usefixtures("backend")
def test_a_read_only_view_is_not_written_but_others_are() -> None:
    x = xp.arange(6)
    view = x[1:4]
    part = view[:2]
    view.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        view += 1
    assert (view[:1].flags.writeable, part.flags.writeable, x.flags.writeable) == (False, True, True)
    x.flags.writeable = False
    assert not x[1:].flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="cannot be made writeable again"):
        x.flags.writeable = True
    y = xp.zeros(3)
    y.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        y += 1
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_an_element_as_an_index_gives_a_view(backend: xp.Backend) -> None:
    x = xp.zeros((3, 4, 2))
    i, j = xp.asarray([2, 1])
    x[i][j, 0] = 1
    x[i, j][1] += 2
    x[1, j, :][0] = 3
    row = x[tuple(xp.asarray([0, 3]))]
    x[0, 3, 1] = 4
    assert x[2, 1].tolist() == [1, 2]
    assert x[1, 1].tolist() == [3, 0]
    assert row.tolist() == [0, 4]
    assert row.base is not None
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        x[xp.asarray(5)]


def test_a_traced_element_as_an_index_gives_a_view(framework: str) -> None:
    def update(x: xp.Array, i: xp.Array) -> xp.Array:
        x = xp.asarray(x, copy=True)
        x[i][0] += 5
        x[i, 1:][0] = 7
        x[i].reshape((2, 2))[1, 1] = 9
        return x

    with xp.backend(framework):
        found = xp.jit(update)(xp.zeros((2, 4)), xp.asarray([1, 0])[0])
    assert found[0].tolist() == [0, 0, 0, 0]
    assert found[1, :3].tolist() == [5, 7, 0]


def test_rows_of_read_only_memory_are_written_as_their_array_is() -> None:
    given = np.arange(6.0).reshape(2, 3)
    given.flags.writeable = False
    with xp.backend("numpy"):
        x = xp.from_native(given)
        first, _ = x
        first[0] = 9.0
        assert x.tolist() == [[9, 1, 2], [3, 4, 5]]
        assert given[0, 0] == 0
        for row in xp.broadcast_to(xp.arange(3.0), (2, 3)):
            with pytest.raises(ValueError, match=r"^setitem: x is a read-only view"):
                row[0] = 1.0


@pytest.mark.parametrize("other", [np.float64(2), np.full((3, 1), 2.0)], ids=["scalar", "ndarray"])
def test_a_product_with_numpys_numbers_lies_in_the_order_of_the_array(backend: xp.Backend, other: Any) -> None:
    with xp.backend(backend.name):
        x = xp.asarray(np.arange(6.0).reshape(2, 3)).T + 1
        product = x * other
    assert product.tolist() == [[2, 8], [4, 10], [6, 12]]
    assert product.strides == (8, 24)
