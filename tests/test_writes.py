"""Who sees a write: the views of an Array, as in NumPy, and nobody else.

No native array that the user handed in does, nor an immutable one.
"""

from __future__ import annotations

import array
import copy
import ctypes
import itertools
import mmap
import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from comparison import each, host
from expressions import several

import anyarray as xp
from anyarray._choice import machine

START = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]

VIEWS: Final = """
x[:]; x[...]; x[1:, :2]; x[0]; x[::2]; x[::-1]; x[None]; x.T; x.mT; next(iter(x)); x.to_device(x.device); xp.flip(x)
xp.reshape(x, (9,)); xp.reshape(x, (3, 3)); xp.permute_dims(x, (1, 0)); xp.permute_dims(x, (0, 1)); xp.real(x)
xp.matrix_transpose(x); xp.moveaxis(x, 0, 1); xp.expand_dims(x, axis=0); xp.squeeze(x[None], axis=0); xp.unstack(x)[0]
"""
"""What NumPy gives a view for."""
READ_ONLY: Final = """
xp.broadcast_to(x, (2, 3, 3)); xp.broadcast_to(x, (3, 3)); xp.broadcast_arrays(x)[0]; xp.linalg.diagonal(x)
"""
"""What NumPy gives a view for that is only read."""
COPIES: Final = """
x[1, 1]; x[xp.ones((3, 3), dtype=xp.bool)]; x[xp.asarray([0, 1, 2])]; +x; copy.copy(x); copy.deepcopy(x)
pickle.loads(pickle.dumps(x)); xp.asarray(x, copy=True); xp.from_dlpack(x, copy=True); xp.astype(x, xp.float64)
xp.roll(x, 0); xp.concat([x]); xp.repeat(x, 1, axis=0); xp.tile(x, (1, 1)); xp.take(x, xp.asarray([0, 1, 2]), axis=0)
xp.meshgrid(x[0])[0]; xp.conj(x); xp.clip(x); xp.tril(x, k=3); xp.sum(x, axis=()); xp.max(x, axis=()); xp.diff(x, n=0)
xp.linalg.matrix_power(x, 1); xp.fft.fftshift(x, axes=())
"""
"""What NumPy copies."""


def of(expression: str, x: Any) -> Any:
    return eval(expression, {"x": x, "xp": xp, "copy": copy, "pickle": pickle})


@each("view", several(VIEWS + READ_ONLY))
@pytest.mark.usefixtures("backend")
def test_a_write_to_an_array_is_seen_in_its_views(view: str) -> None:
    x, host = xp.asarray(START), xp.asarray(START, device="numpy")
    y = of(view, x)
    x[...] = 99
    assert set(np.asarray(y).ravel()) == {99}
    x *= 2
    x[0, 0] = 7
    host[...] = 198
    host[0, 0] = 7
    assert y.tolist() == of(view, host).tolist()


@each("view", several(VIEWS))
@pytest.mark.usefixtures("backend")
def test_a_write_to_a_view_is_a_write_to_the_array(view: str) -> None:
    x = xp.asarray(START)
    y, other = of(view, x), xp.reshape(x, (-1,))
    seen = np.arange(9.0)
    shown = np.asarray(y).astype(int).ravel()
    y[...] = 99
    seen[shown] = 99
    assert x.tolist() == seen.reshape(3, 3).tolist()
    y -= 1
    seen[shown] -= 1
    assert x.tolist() == seen.reshape(3, 3).tolist()
    assert other.tolist() == seen.tolist()


@each("view", several(READ_ONLY))
@pytest.mark.usefixtures("backend")
def test_a_view_to_be_read_is_not_written(view: str) -> None:
    x = xp.asarray(START)
    y = of(view, x)
    sentence = r"x is a read-only view, as broadcast_to and diagonal give\. Copy it first"
    for write in (lambda: y.__setitem__(..., 9), lambda: y[:1].__setitem__(..., 9), lambda: y.__iadd__(1)):
        with pytest.raises(ValueError, match=sentence):
            write()
    assert x.tolist() == START


@each("made", several(COPIES))
@pytest.mark.usefixtures("backend")
def test_a_copy_sees_no_write_and_none_of_it_is_seen(made: str) -> None:
    x = xp.asarray(START)
    y = of(made, x)
    before = y.tolist()
    x[...] = 99
    x *= 7
    assert y.tolist() == before
    x = xp.asarray(START)
    y = of(made, x)
    y[...] = 99
    y -= 1
    assert x.tolist() == START


@pytest.mark.usefixtures("backend")
def test_parts_and_names_of_one_array_see_the_same_writes() -> None:
    x = xp.arange(6)
    same, first, second = x, x[:4], x[2:]
    first[...] = 9
    x[5] = 7
    x += 1
    assert same is xp.asarray(x) is xp.asarray(x, copy=False) is x
    assert (same.tolist(), second.tolist()) == ([10, 10, 10, 10, 5, 8], [10, 10, 5, 8])


@pytest.mark.usefixtures("backend")
def test_iteration_goes_over_the_values_at_each_turn() -> None:
    x = xp.arange(3)
    values = iter(x)
    x[...] = 9
    assert [int(v) for v in values] == [9, 9, 9]


def test_iteration_goes_over_every_element_once(backend: xp.Backend) -> None:
    for length in (0, 1, 33, 4097 if backend.name == "numpy" else 70):
        x = xp.arange(length)
        values = iter(x)
        if length:
            assert int(next(values)) == 0
            x[1:] = xp.arange(length)[1:] + 1  # is seen in what was unstacked and in what is left
        assert np.array_equal([int(v) for v in values], np.arange(length)[1:] + 1)
        assert [row.shape for row in xp.zeros((length, 2))] == [(2,)] * length


def test_an_ndarray_of_an_array_is_a_view_to_write_through() -> None:
    x = xp.arange(6, device="numpy")
    part = x[::2]
    np.asarray(x)[2] = 7
    np.asarray(part)[0] = 9
    memoryview(np.asarray(x))[4] = 8
    assert x.tolist() == [9, 1, 7, 3, 8, 5]
    assert part.tolist() == [9, 7, 8]
    x[...] = 0
    assert np.asarray(part).tolist() == [0, 0, 0]


def test_an_ndarray_of_another_library_is_read_only(framework: str) -> None:
    view = np.asarray(xp.arange(3, device=framework))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 7


@pytest.mark.needs("host memory")
@pytest.mark.usefixtures("backend")
def test_what_was_copied_out_and_the_array_see_no_write_of_each_other() -> None:
    x = xp.arange(3)
    copies = [np.array(x), np.from_dlpack(x, copy=True)]
    x[...] = 9
    x += 1
    assert [one.tolist() for one in copies] == [[0, 1, 2]] * 2
    copies[0][...] = 8
    assert x.tolist() == [10, 10, 10]


@pytest.mark.parametrize(
    "hand_out", [np.asarray, xp.to_native, pytest.param(np.from_dlpack, marks=pytest.mark.needs("host memory"))]
)
def test_a_write_is_not_seen_in_an_immutable_array_that_was_handed_out(hand_out: Any, framework: str) -> None:
    with xp.backend(framework):
        x = xp.arange(3) + 1
        given = hand_out(x)
        x[0] = 9
        x += 1
        assert [int(v) for v in given] == [1, 2, 3]


@pytest.mark.parametrize(
    "made", ["xp.zeros(20_000)", "xp.asarray(np.zeros(20_000))", "xp.zeros(9) + 1", "xp.zeros((2, 20_000))[1, :]"]
)
def test_an_array_that_nobody_else_holds_is_written_in_place(made: str) -> None:
    with xp.backend("numpy"):
        x = eval(made)
        before = x._native.ctypes.data
        x[0] = 7.0
        x[1:] = xp.ones(x.size - 1)
        x[xp.asarray([3])] = 2.0
        held = x[:2]
        x[0] = 8.0
        assert x._native.ctypes.data == before
        assert held.tolist() == [8.0, 1.0]


def test_lent_memory_is_copied_before_a_write_and_the_views_follow(framework: str) -> None:
    x = xp.zeros((100, 100), device="numpy")
    lent = x.to_device(framework)
    row, column = x[1], x.T[2]
    row[0] = 5
    column += 1
    x[0, 0] = 7
    assert float(xp.sum(lent)) == 0
    assert x[1].tolist()[:3] == [5, 0, 1]
    assert row.tolist()[:3] == [5, 0, 1]
    assert column.tolist() == [1.0] * 100
    assert float(xp.sum(x.to_device(framework))) == 112


def test_guarded_memory_is_written_in_place_again_once_nobody_else_holds_it() -> None:
    a = np.zeros(20_000)
    x = xp.from_native(a)
    before, part = a.ctypes.data, x[:3]
    del a
    part[1] = 8
    x[2] = 9
    assert x._native.ctypes.data == before
    assert part.tolist() == [0, 8, 9]


def test_a_write_to_a_part_forgets_what_was_brought_elsewhere(framework: str) -> None:
    x = xp.zeros(4, device="numpy")
    before = x[1:]

    def total() -> float:
        with xp.backend(framework):
            return float(xp.sum(x))

    assert total() == 0
    before[0] = 1
    assert total() == 1
    del before
    assert total() == 1
    after = x[2:]
    after[...] = 1
    assert total() == 3
    np.asarray(x)[0] = 1
    assert total() == 4
    s = xp.sum(xp.ones(3, device="numpy"))
    for value in (3.0, 9.0):
        s[...] = value
        with xp.backend(framework):
            assert float(s + 1) == value + 1


COPIED_WITHIN: Final = """
x[0] = x[1]; x[:, 0] = x[:, 1]; x[1:] = x[:-1]; x[:] = x[::-1]; x[0] = x[None, 1]; x[at([1, 2])] = x[:2]
x[at(1)] = x[0]; x[at([2, 1])] = x[:4:2]; x[at([1, 2]), at([1, 1])] = x[:2, 1]; x[:, at([1, 2])] = x[:, :2]
x[...] = m.flip(x); x[1:] = m.flip(x)[:-1]
"""


@each("statement", several(COPIED_WITHIN))
@pytest.mark.usefixtures("backend")
def test_a_part_that_is_written_to_the_same_array_is_read_first(statement: str) -> None:
    host = np.arange(12.0).reshape(4, 3)
    x = xp.asarray(host)
    to, origin = statement.split(" = ")
    part, theirs = eval(origin, {"x": x, "m": xp}), eval(origin, {"x": host, "m": np})
    exec(f"{to} = part", {"x": x, "at": xp.asarray, "part": part})
    exec(f"{to} = part", {"x": host, "at": np.asarray, "part": theirs.copy()})
    assert x.tolist() == host.tolist()
    assert part.tolist() == theirs.tolist()


@pytest.mark.usefixtures("backend")
def test_a_constant_is_read_before_its_array_is_written() -> None:
    x = xp.arange(6.0)
    x[1:] = xp.stop_gradient(x)[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("shape", [(300, 300), (4, 3)])
def test_a_part_of_itself_is_written_to_an_array_in_place(shape: tuple[int, int]) -> None:
    with xp.backend("numpy"):
        x = xp.zeros(shape)
        before = x._native.ctypes.data
        x[0] = x[1]
        x[:, 0] = x[:, 1]
        x[1:] = x[:-1]
        assert x._native.ctypes.data == before


HANDED_IN: Final = """
xp.asarray(x); xp.asarray(x, copy=True); xp.asarray(x.T); xp.asarray(x[::-2]); xp.from_dlpack(x); xp.real(x)
xp.asarray(memoryview(x)); xp.reshape(x, (9,)); xp.permute_dims(x, (1, 0)); xp.broadcast_to(x, (2, 3, 3)); xp.flip(x)
xp.expand_dims(x, axis=0); xp.positive(x); xp.linalg.diagonal(x); xp.unstack(x)[0]; xp.astype(x, xp.float64)
xp.broadcast_arrays(x)[0]; xp.broadcast_arrays(x, xp.ones((3, 3)))[0]; xp.astype(x, xp.float64, copy=False)
xp.matrix_transpose(x); xp.squeeze(x[None], axis=0)
"""


@each("made", several(HANDED_IN))
@pytest.mark.usefixtures("backend")
def test_an_ndarray_and_what_was_made_of_it_see_no_write_of_each_other(made: str) -> None:
    a = np.array(START)
    x = of(made, a)
    before = x.tolist()
    a += 100
    assert x.tolist() == before
    x[...] = 99
    x += 1
    assert (a - 100).tolist() == START


def test_an_ndarray_is_written_through_if_that_was_asked_for() -> None:
    a = np.array(START)
    x = xp.asarray(a, copy=False)
    x[0] = 99
    x[1:, 0][...] = 7
    assert a.tolist() == [[99.0, 99.0, 99.0], [7.0, 4.0, 5.0], [7.0, 7.0, 8.0]]


@pytest.mark.parametrize("take_in", [xp.from_native, xp.from_dlpack, xp.portable(lambda x: x[:])])
def test_no_part_of_what_was_handed_in_is_written(take_in: Any) -> None:
    a = np.array(START)
    x = xp.asarray(take_in(a), copy=False)
    row, column = x[0], x.T[1]
    row[0] = 99
    column += 5
    assert a.tolist() == START
    assert x.tolist() == [[99, 6, 2], [3, 9, 5], [6, 12, 8]]
    assert row.tolist() == [99, 6, 2]


@pytest.mark.parametrize("make", [np.array, xp.asarray])
@pytest.mark.usefixtures("backend")
def test_what_was_assigned_stays_apart(make: Callable[[Any], Any]) -> None:
    value, x = make(START), xp.zeros((3, 3))
    x[...] = value
    value[...] = 99
    assert x.tolist() == START
    x[...] = 7
    assert value.tolist() == [[99.0] * 3] * 3


def test_a_native_array_of_a_framework_is_not_written(framework: str) -> None:
    with xp.backend(framework):
        native = xp.to_native(xp.arange(3))
    x = xp.asarray(native)
    x[...] = 9
    x += 1
    assert host(native).tolist() == [0, 1, 2]


def test_a_moved_array_does_not_see_writes_to_its_source(framework: str) -> None:
    x = xp.arange(3)
    moved = x.to_device(framework)
    back = moved.to_device("numpy")
    x[...] = 9
    moved[0] = 7
    assert (x.tolist(), moved.tolist(), back.tolist()) == ([9, 9, 9], [7, 1, 2], [0, 1, 2])


MANY = 4_000_000
"""Elements that take a library longer to copy or compute than Python takes to write behind its back."""


def test_a_write_while_something_is_copied_or_computed_is_not_seen(name: str) -> None:
    a = np.ones(MANY)
    x = xp.asarray(a, device=name)
    a[:] = 99
    results = [xp.sum(x), xp.max(xp.exp(x) * 0), xp.sum(x[::-1]), xp.min(x), xp.max(x)]
    x[...] = 99
    assert [float(r) for r in results] == [MANY, 0, MANY, 1, 1]


WRITES: Final = """
x[1, 2] = 9; x[1] = 9; x[-1] = v; x[:, 0] = v[:2]; x[:, 0:1] = 9; x[0:2, 1:3] = 9; x[:, ::-1] = v; x[...] = v; x[:] = 9
x[0:0] = 9; x[None, 0] = v; x[0] = [7, 8, 9]; x[...] = [[7, 8, 9], [4, 5, 6]]; x[0] = True; x[0] = 2.7; x[x > 2] = 9
x[x > 2] = v; x[at([True, False])] = v; x[x > 99] = 9; x[at([1, 0])] = v; x[at([0, 1]), at([2, -1])] = v[:2]
x[:, at([2, 0])] = v[:2]; x[0, at([1, 1, 1])] = v; x[:, 1:] = x[:, :-1]; x[...] = x[::-1]
"""


@each("statement", several(WRITES))
@pytest.mark.usefixtures("backend")
def test_assignment_writes_what_numpy_writes(statement: str) -> None:
    a, x = np.arange(6).reshape(2, 3), xp.reshape(xp.arange(6), (2, 3))
    exec(statement, {"x": a, "v": np.asarray([10, 20, 30]), "at": np.asarray})
    exec(statement, {"x": x, "v": xp.asarray([10, 20, 30]), "at": np.asarray})
    assert x.tolist() == a.tolist()
    assert x.dtype == a.dtype


@pytest.mark.usefixtures("backend")
def test_assignment_casts_to_the_dtype_of_the_array() -> None:
    for value in (np.int16(7), np.asarray([7, 7, 7]), np.float32(7)):
        x = xp.zeros((2, 3), dtype=xp.float32)
        x[1] = value
        assert x.tolist() == [[0.0] * 3, [7.0] * 3]
        assert x.dtype == xp.float32
    x = xp.asarray(1.5)
    for i, key in enumerate((..., ())):
        x[key] = i + 2.5
        assert (x.shape, float(x)) == ((), i + 2.5)
    x = xp.zeros(3)
    with pytest.raises(ValueError):
        x[...] = xp.ones(2)
    assert x.tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "complex64"])
@pytest.mark.usefixtures("backend")
def test_every_kind_of_dtype_can_be_written(dtype: str) -> None:
    x = xp.zeros(3, dtype=getattr(xp, dtype))
    x[1] = True
    assert [complex(v) for v in xp.astype(x, xp.complex128).tolist()] == [0, 1, 0]


def buffers() -> dict[str, Any]:
    held = np.arange(4.0)

    class Interface:
        __array_interface__ = held.__array_interface__
        owner = held

    mapped = mmap.mmap(-1, 32)
    data = bytearray(held.tobytes())
    return {
        "ctypes": (ctypes.c_double * 4)(0, 1, 2, 3),
        "mmap": mapped,
        "pickle buffer": pickle.PickleBuffer(data),
        "bytearray": data,
        "array": array.array("d", [0, 1, 2, 3]),
        "interface": Interface(),
    }


@each("kind", buffers())
@pytest.mark.usefixtures("backend")
def test_a_write_to_a_buffer_does_not_reach_the_array_made_of_it(kind: str) -> None:
    source = buffers()[kind]
    x = xp.asarray(source)
    before = x.tolist()
    np.asarray(source)[...] = 7
    assert x.tolist() == before


def mapped_file(folder: Any, length: int = 8) -> np.ndarray[Any, Any]:
    np.save(folder / "x.npy", np.arange(float(length)))
    return np.load(folder / "x.npy", mmap_mode="r")  # type: ignore[no-any-return]


@pytest.mark.parametrize("length", [8, 100_000])
def test_a_file_mapped_read_only_is_a_view_until_it_is_written(tmp_path: Any, length: int) -> None:
    mapped = mapped_file(tmp_path, length)
    for given in (mapped, mapped[2:], np.asarray(mapped), np.frombuffer(mapped.tobytes())):
        x = xp.asarray(given)
        is_small_copy = length == 8 and type(given) is np.ndarray
        assert np.shares_memory(np.asarray(x), given) is not is_small_copy
        before, part = given[0], x[1:]
        x[:] = -1.0
        assert given[0] == before and part[0] == -1
    assert not np.shares_memory(np.asarray(xp.asarray(mapped, copy=True)), mapped)


def test_memory_that_is_read_only_here_alone_is_copied(tmp_path: Any) -> None:
    view = np.zeros(100_000).view()
    view.flags.writeable = False
    shared = np.frombuffer(memoryview(bytearray(800_000)).toreadonly())
    mapped_file(tmp_path)
    writable = np.load(tmp_path / "x.npy", mmap_mode="r+")
    for given in (view, shared, writable):
        assert not np.shares_memory(np.asarray(xp.asarray(given)), given)


@each("kind", ["ctypes", "bytearray", "array", "interface"])
def test_a_buffer_is_shared_if_that_was_asked_for(kind: str) -> None:
    source = buffers()[kind]
    x = xp.asarray(source, copy=False)
    np.asarray(source)[...] = 7
    assert x[0].item() == 7


def test_a_copy_of_what_is_shared_is_a_copy() -> None:
    a = np.zeros(3)
    for x in (xp.asarray(a, copy=False), xp.from_native(a)):
        copies = [copy.copy(x), copy.deepcopy(x), xp.asarray(x, copy=True), xp.astype(x, x.dtype, copy=True)]
        a[0] += 9
        assert [one[0].item() for one in copies] == [a[0] - 9] * 4


def test_a_write_to_a_view_whose_elements_share_memory_copies_it() -> None:
    x = xp.from_native(np.ndarray((3,), float, np.zeros(3), strides=(0,)))
    x[0] = 1
    y = xp.from_native(np.lib.stride_tricks.as_strided(np.zeros(4), (3, 2), (8, 8)))
    y[0, 1] = 1
    assert x.tolist() == [1, 0, 0]
    assert y.tolist() == [[0, 1], [0, 0], [0, 0]]


@each("obj", [[1.0], (1,), range(3), [np.ones(2)], [xp.ones(2)]])
def test_a_sequence_cannot_become_an_array_without_a_copy(obj: Any) -> None:
    with pytest.raises(ValueError, match=rf"asarray: a {type(obj).__name__} cannot become an Array without a copy"):
        xp.asarray(obj, copy=False)


LARGE = 1 << 15
"""Elements from which on arithmetic in place looks for memory of its own."""


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
def test_arithmetic_in_place_is_seen_in_views_alone(dtype: str) -> None:
    x = xp.ones(LARGE, dtype=dtype)
    copied, views = xp.asarray(x, copy=True), [x[1:], x[::-1], xp.reshape(x, (2, -1))]
    x += 2
    x *= x
    x -= xp.full(LARGE, 4, dtype=dtype)
    for one in (x, *views):
        assert xp.all(one == 5)
    views[0] -= 5
    assert float(xp.sum(xp.abs(x))) == 5
    assert xp.all(copied == 1)
    y = xp.astype(xp.arange(LARGE), x.dtype)
    y += y[::-1]
    assert xp.all(y == LARGE - 1)


@pytest.mark.parametrize("is_profile_read", [False, True])
def test_arithmetic_in_place_on_numpy_takes_no_memory(is_profile_read: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = xp.ones(LARGE), xp.ones(LARGE)
    x = (x + y - y) * 1 / 1  # so that the functions are there, and the profile was looked for
    assert xp.all(x == 1)
    monkeypatch.setattr(machine.state, "is_known", is_profile_read)
    monkeypatch.setattr(machine, "is_early", lambda seconds: True)  # without a profile, no library but NumPy imported
    with xp.backend("auto"):
        tracemalloc.start()
        x += y
        x *= 3
        x /= 2.0
        x -= xp.asarray(1.0)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < x.nbytes / 2
        assert xp.all(x == 2)


@each("view", ["x[0, ...]", "xp.squeeze(x[:1], 0)", "xp.reshape(x[:1], ())", "x[:1].squeeze()", "x[0, ...].T"])
@pytest.mark.usefixtures("backend")
def test_arithmetic_in_place_on_a_view_without_axes_is_seen_in_the_whole(view: str) -> None:
    x = xp.asarray([3, 1], dtype=xp.int32)
    y = of(view, x)
    y += 1
    y *= y
    assert x.tolist() == [16, 1]
    with pytest.raises(TypeError, match="__ifloordiv__: the result of dtype float64 cannot be cast to int32 in place"):
        y //= 1e-3
    number = x[0]
    number += 1  # another one, as of NumPy's scalars
    assert x.tolist() == [16, 1]


@pytest.mark.usefixtures("backend")
def test_arithmetic_in_place_that_does_not_fit_changes_nothing() -> None:
    x = xp.ones(LARGE, dtype=xp.int32)
    for other, error in (
        (0.5, TypeError),
        (2**40, OverflowError),
        (xp.ones(LARGE), TypeError),
        (xp.ones((2, 1), dtype=xp.int32), ValueError),
    ):
        with pytest.raises(error):
            x += other
    with pytest.raises(TypeError):
        x /= 2
    assert x.dtype is xp.int32
    assert xp.all(x == 1)


def test_arithmetic_in_place_on_memory_of_the_user_copies_it() -> None:
    host = np.ones(LARGE)
    x = xp.from_native(host)
    x += 1
    assert np.all(host == 1)
    assert xp.all(x == 2)


@each(
    "mine, other",
    itertools.product(
        ["bool", "int8", "int32", "uint8", "float32", "float64", "complex64"],
        ["int8", "int64", "uint8", "float32", "complex128"],
    ),
)
@pytest.mark.few_backends
@pytest.mark.usefixtures("backend")
def test_an_update_in_place_casts_as_numpy_does(mine: str, other: str) -> None:
    host, x = np.ones(3, mine), xp.ones(3, dtype=mine)
    part, here = host[:2], x[:2]
    operand, theirs = xp.ones(2, dtype=other), np.ones(2, other)
    try:
        part += theirs
    except TypeError:
        with pytest.raises(TypeError, match=r"cannot be cast|must have a numeric dtype"):
            here += operand
        assert xp.all(x == xp.ones(3, dtype=mine))
    else:
        here += operand
        assert here.dtype == mine
        assert x.tolist() == host.tolist()


def test_numpy_can_write_to_what_it_makes_of_a_computed_number() -> None:
    with xp.backend("numpy"):
        total = xp.sum(xp.asarray([1.0, 2.0]))
    a = np.asarray(total)
    a *= 2
    assert a == 6
    assert total == 3  # it is a number, as NumPy's np.float64


BASIC_KEYS: Final = (
    0, -1, slice(1, 3), slice(None, None, -1), ..., None, (), (0, 1), (0, ...), (None, 0), (..., 1), (slice(None), 1),
    (slice(None, None, -2), slice(3, 0, -1)), (1, 2, None), (1, slice(5, 2)),
)  # fmt: skip


@each("key", BASIC_KEYS)
@pytest.mark.usefixtures("backend")
def test_a_part_is_read_and_written_where_numpy_does_it(key: Any) -> None:
    expected = np.arange(12.0).reshape(3, 4)
    x = xp.reshape(xp.arange(12.0), (3, 4))
    theirs, part = expected[key], x[key]
    np.testing.assert_array_equal(np.asarray(part), theirs)
    value = np.asarray(theirs * 2 + 1)
    expected[key] = value
    x[key] = xp.asarray(value)
    np.testing.assert_array_equal(np.asarray(x), expected)
    part[...] = 7.0
    if isinstance(theirs, np.ndarray):  # else a number, of which NumPy has no view
        theirs[...] = 7.0
    np.testing.assert_array_equal(np.asarray(x), expected)


@pytest.mark.parametrize("columns", [(), (2,)])
def test_of_many_values_for_one_place_the_last_counts(backend: str, columns: tuple[int, ...]) -> None:
    count = 200_000  # of which a library writes parts on several threads
    x = xp.zeros((5, *columns), dtype=xp.int64)
    at = xp.arange(count) % 3
    values = xp.broadcast_to(xp.reshape(xp.arange(count), (count, *[1] * len(columns))), (count, *columns))
    for _ in range(5):
        x[at] = values
        assert xp.reshape(x, (5, -1))[:, 0].tolist() == [count - 2, count - 1, count - 3, 0, 0]
