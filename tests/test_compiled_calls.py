"""Compiled calls give what the Python bodies give, to everything."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import itertools
import operator
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import cloudpickle
import numpy as np
import pytest
from comparison import each
from expressions import several

import anyarray as xp
from anyarray import standard
from anyarray._base import extension
from anyarray._call import declaration
from anyarray._choice import choice, cost, machine
from anyarray._memory import alignment
from anyarray.standard import namespace

COMPILER: Final = str(sysconfig.get_config_var("CC") or "cc").split()[0]
IS_BUILT: Final = extension.speedups is not None
NEED_NOT_BE: Final = (
    shutil.which(COMPILER) is None or extension.is_off() or bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
)
pytestmark = pytest.mark.skipif(not IS_BUILT and NEED_NOT_BE, reason="no compiler, or not wanted")

SPACES: Final = {"": xp, "linalg.": xp.linalg, "fft.": xp.fft}
STANDARD: Final = {"": namespace, "linalg.": standard.linalg, "fft.": standard.fft}
FUNCTIONS: Final[dict[str, Any]] = {
    prefix + name: getattr(space, name)
    for prefix, space in SPACES.items()
    for name in STANDARD[prefix].__all__
    if hasattr(getattr(space, name), "__wrapped__") and not inspect.isfunction(getattr(space, name))
}
METHODS: Final[dict[str, Any]] = {
    name: found
    for name, found in vars(xp.Array).items()
    if callable(found)
    and hasattr(found, "__wrapped__")
    and found.__module__ == "anyarray._array.array"
    and name not in ("__getitem__", "__setitem__", "__array_ufunc__")
}


def test_they_are_built_and_most_of_the_standard_has_one() -> None:
    assert IS_BUILT
    assert len(FUNCTIONS) > 120
    assert len(METHODS) > 40


DTYPES: Final = ("float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128", "float16", "uint64")
SHAPES: Final = ((), (1,), (3,), (3,), (3, 3), (3, 3), (2, 3), (1, 3), (3, 1), (0,), (2, 3, 3))


def an_array(random: random.Random) -> np.ndarray[Any, Any]:
    shape = random.choice(SHAPES)
    numbers = [random.choice([0, 1, 1, 2, 2.5, -1.5, 3, np.nan, np.inf, -0.0]) for _ in range(int(np.prod(shape)))]
    dtype = random.choice(DTYPES)
    if dtype not in ("float64", "float32", "float16", "complex128"):
        numbers = [abs(int(one)) if np.isfinite(one) else 7 for one in numbers]
    return np.array(numbers, dtype=dtype).reshape(shape)


def an_operand(random: random.Random) -> Any:
    """What stands where an array may, or may not."""
    roll = random.random()
    if roll < 0.7:
        array = xp.asarray(an_array(random))
        return array if array.ndim or random.random() < 0.3 else array[()]  # a scalar of NumPy
    if roll < 0.8:
        return an_array(random)
    numpys = [np.float64(1.5), np.int32(2), np.bool(True), np.array(3.0), np.ones(3, dtype=">f8")]
    scalars = [0, 1, 2, -1, 3, 0.0, -0.0, 0.5, 2.0, 1e300, np.nan, True, False, 1j, 0j, 2**70, None, "1", [1.0, 2.0]]
    return random.choice([*scalars, *numpys])


def a_value(p: inspect.Parameter, random: random.Random) -> Any:
    """What stands for a parameter: mostly what it takes."""
    annotation = str(p.annotation)
    if "Sequence[AnyArray]" in annotation:
        same = an_operand(random)
        arrays = [same, same] if random.random() < 0.6 else [an_operand(random) for _ in range(random.randrange(4))]
        return random.choice([list, tuple])(arrays)
    if "AnyArray" in annotation:
        return an_operand(random)
    if random.random() < 0.15:
        return random.choice([None, 1.5, "xy", True, (0, True), [0], np.int64(1), xp.asarray(1), -7])
    if "Literal" in annotation:
        return random.choice(["left", "right", "backward", "ortho", "reduced", "complete", "xy", "fro", "wrong"])
    if "bool" in annotation:
        return random.choice([True, False])
    if "DTypeLike" in annotation:
        return random.choice([None, xp.float32, xp.int64, "float64"])
    if "float" in annotation or "Number" in annotation:
        return random.choice([0, 1, 0.5, 2.0])
    if annotation.startswith("int") and random.random() < 0.7:
        return random.choice([0, 1, -1, 2, 5])
    return random.choice([(0,), (0, 1), (1, 0), (3, 1), (9,), (-1,), (), 1, (2, 0, 3), 70, (40, 4), (2**70,), (1,) * 9])


def drawn(function: Any, random: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for a function."""
    given: list[Any] = []
    named: dict[str, Any] = {}
    for p in inspect.signature(function).parameters.values():
        if p.default is not p.empty and random.random() < 0.6:
            continue
        if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and (named or p.default is not p.empty)):
            named[p.name] = a_value(p, random)
        else:
            given.append(a_value(p, random))
    if random.random() < 0.03:
        given.append(1)
    if random.random() < 0.03:
        named["no_such"] = 1
    return given, named


def outcome(function: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> Any:
    """What a call gives, to the bit, or the error that it raises."""
    with np.errstate(all="ignore"):
        try:
            found = function(*given, **named)
        except Exception as error:  # noqa: BLE001 - it is what is compared
            return type(error), str(error)
    return told(found)


def told(found: Any) -> Any:
    if isinstance(found, tuple):
        return type(found), [told(one) for one in found]
    if isinstance(found, Iterator):
        return [told(one) for one in found]
    if isinstance(found, np.ndarray):
        return found.dtype, found.shape, found.flags.writeable, found.tobytes()
    if isinstance(found, (float, complex)):
        return type(found), repr(found)  # NaN is not equal to itself
    if not isinstance(found, xp.Array):
        return type(found), found
    return found.dtype, found.shape, found._home, type(found._native), np.asarray(found).tobytes()


@pytest.mark.parametrize("chosen", ["auto", "numpy"])
@pytest.mark.parametrize("public", sorted(FUNCTIONS))
@pytest.mark.filterwarnings("ignore")
def test_a_function_gives_what_its_body_gives(public: str, chosen: str, seeds: Callable[[int], range]) -> None:
    function = FUNCTIONS[public]
    answered = 0
    with xp.backend(chosen):
        for i in seeds(240):
            draws = random.Random(f"{public} {i}")
            given, named = drawn(function, draws)
            if i % 6 < 2:  # which functions of bools or of indices take, too
                same = xp.asarray([[True, False], [True, True]]) if i % 6 else xp.asarray([[1, 0], [1, 1]])
                given = [same if type(one) is xp.Array else one for one in given]
            expected, found = outcome(function.__wrapped__, given, named), outcome(function, given, named)
            assert found[:4] == expected[:4], (given, named)
            assert found[4:] == expected[4:] or public == "empty", (given, named)
            answered += not (isinstance(expected[0], type) and issubclass(expected[0], Exception))
    assert answered


@pytest.mark.parametrize("chosen", ["auto", "numpy"])
@pytest.mark.parametrize("written", sorted(METHODS))
@pytest.mark.filterwarnings("ignore")
def test_an_operator_gives_what_its_body_gives(written: str, chosen: str, seeds: Callable[[int], range]) -> None:
    method = METHODS[written]
    operands = len(inspect.signature(method).parameters)
    with xp.backend(chosen):
        for i in seeds(300):
            draws = random.Random(f"{written} {i}")
            array = xp.asarray(an_array(draws))
            self = array if array.ndim or draws.random() < 0.3 else array[()]
            given = [self, *[an_operand(draws) for _ in range(operands - 1)]]
            own, again = [copy.copy(given[0]), *given[1:]], [copy.copy(given[0]), *given[1:]]
            assert outcome(method, own, {}) == outcome(inspect.unwrap(method), again, {}), given
            assert told(own[0]) == told(again[0]), given


KEYS: Final = (
    0, -1, 2, 5, slice(1, 3), slice(None, None, -1), slice(5, 9), slice("a", None), slice(0, 1, 0), None, ..., (),
    (0, 1), (..., 0), (None, 0), (slice(1), None, 0), (0, 0, 0, 0), True, 1.5, "0", [0, 1], np.int64(1),
    np.array([0, 1]), xp.asarray([0, 1]), xp.asarray([True, False, True]), xp.asarray(1), xp.asarray([0.5]),
    (xp.asarray([0, 1]), 0), xp.asarray([0, 9]), xp.asarray(np.array([0], dtype=np.uint8)),
    slice(np.int64(0), None), 2**80, np.uint64(2**63), np.uint8(2), np.bool(True), np.float32(1),
    np.timedelta64(1, "s"), xp.asarray([1, 9])[0], xp.asarray([1, 9])[1],
    (xp.asarray([0, 1])[1], 0), (np.int8(0), slice(xp.asarray(1), None)),
    slice(xp.asarray([1, 2])[0], np.int64(2)), slice(xp.asarray([0.5])[0], None), xp.asarray([True])[0],
    (..., xp.asarray([1, 2], dtype=xp.uint8)[0]), slice(xp.asarray([1, 2]), None), xp.asarray([0.5])[0],
)  # fmt: skip


@pytest.mark.parametrize("chosen", ["auto", "numpy"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_index_gives_what_its_body_gives(shape: tuple[int, ...], chosen: str) -> None:
    method = xp.Array.__getitem__
    x = xp.asarray(np.arange(float(np.prod(shape))).reshape(shape))
    with xp.backend(chosen):
        for key in KEYS:
            assert outcome(method, [x, key], {}) == outcome(inspect.unwrap(method), [x, key], {}), key


VALUES: Final = (
    0, 3, -1, 300, True, 2.5, np.nan, 1j, 2**70, "1", None, [1.0, 2.0], np.float64(2.5), np.ones(3), xp.asarray(2.0),
    xp.asarray([5.0, 6.0, 7.0]), xp.asarray(3), xp.asarray(1j), xp.asarray([5.0, 6.0, 7.0, 8.0])[1:],
    xp.asarray([True]), xp.asarray([[1.0, 2.0, 3.0]]), xp.asarray([]), np.int8(-3), np.bool(True), np.complex64(1j),
    xp.asarray([7, 8])[0], xp.asarray([2.5, np.nan])[1], xp.asarray([True, False])[0], xp.asarray([1j])[0],
    xp.asarray([7, 8, 9], dtype=xp.int8), np.longdouble(2), np.datetime64(1, "s"),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8", "bool", "complex64", "float16"])
@pytest.mark.parametrize("shape", [(), (3,), (3, 3), (0,), (30, 30)], ids=str)
def test_a_write_gives_what_its_body_gives(shape: tuple[int, ...], dtype: str) -> None:
    method = xp.Array.__setitem__
    host = (np.arange(float(np.prod(shape))).reshape(shape) % 2).astype(dtype)
    pairs = list(itertools.product(KEYS, VALUES))
    for key, value in random.Random(f"{shape} {dtype}").sample(pairs, 200):
        own, again = xp.asarray(host), xp.asarray(host)
        assert outcome(method, [own, key, value], {}) == outcome(inspect.unwrap(method), [again, key, value], {})
        assert told(own) == told(again), (key, value)


@each("size", [500, 501, 900, 999, 1000])
def test_a_write_of_some_hundred_elements_gives_what_its_body_gives(size: int) -> None:
    method, draws = xp.Array.__setitem__, np.random.default_rng(size)
    host, other = draws.standard_normal((2, size))
    mask, places = host > 0, draws.integers(-size, size, size)
    every = [..., slice(None), slice(None, None, -1), xp.asarray(mask), xp.asarray(places), slice(3, None)]
    values = [1.0, 2, xp.asarray(other), xp.asarray(other[mask]), xp.asarray(other[3:]), xp.asarray(other[:9]), 1j]
    for key, value in itertools.product(every, values):
        own, again = xp.asarray(host), xp.asarray(host)
        assert outcome(method, [own, key, value], {}) == outcome(inspect.unwrap(method), [again, key, value], {})
        assert told(own) == told(again), (key, value)


def test_threads_that_write_by_masks_to_one_array_lose_no_write() -> None:
    x, last = xp.zeros(960), 150
    masks = [xp.asarray(np.arange(960) % 6 == i) for i in range(6)]

    def write(mask: xp.Array) -> None:
        for i in range(last + 1):
            x[mask] = float(i)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(write, masks))
    finally:
        sys.setswitchinterval(interval)
    assert xp.unique_values(x).tolist() == [last]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_divmod_of_two_arrays_is_that_of_each(dtype: str) -> None:
    draws = np.random.default_rng(3)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, 3e38, 5e-324, 7.0, 0.1]
    for i in range(200):
        large = draws.standard_normal((2, 30)) * 10.0 ** draws.integers(-5, 9)
        pair = large if i % 2 else draws.choice(special, (2, 30))
        x, y = (xp.asarray(a.astype(dtype)) for a in pair)
        assert outcome(divmod, [x, y], {}) == outcome(lambda x, y: (x // y, x % y), [x, y], {})
        assert outcome(divmod, [x, y[:1]], {}) == outcome(lambda x, y: (x // y, x % y), [x, y[:1]], {})


def test_dtypes_and_arrays_promote_as_the_bodies_say() -> None:
    dtypes = [*xp.__array_namespace_info__().dtypes().values(), xp.bfloat16]
    arrays = [xp.ones(2, dtype=one) for one in dtypes[:-1]] + [xp.ones((), dtype="float32")[...]]
    for function in (xp.result_type, xp.can_cast):
        for given in itertools.product([*dtypes, *arrays, "int8", 1.0], [*dtypes, *arrays, np.float32]):
            assert outcome(function, list(given), {}) == outcome(inspect.unwrap(function), list(given), {}), given
    for given in itertools.product(dtypes, repeat=3):
        assert xp.result_type(*given) is inspect.unwrap(xp.result_type)(*given)


def owner_of_memory() -> xp.Array:
    return xp.asarray([[1.0, 2.0], [3.0, 4.0]])


def read_only(x: xp.Array) -> xp.Array:
    x._native.flags.writeable = False
    return x


HOLDERS: Final[dict[str, Callable[[], tuple[Any, ...]]]] = {
    "nobody": lambda: (owner_of_memory(),),
    "a view of it": lambda: ((x := owner_of_memory()), x[:1]),
    "an exported view": lambda: ((x := owner_of_memory()), np.asarray(x)),
    "its native array": lambda: ((x := owner_of_memory()), x._native),
    "a memoryview": lambda: ((x := owner_of_memory()), memoryview(x._native)),
    "the root of a row": lambda: ((x := owner_of_memory())[0], x),
    "no root of a row": lambda: (owner_of_memory()[0],),
    "no root of a column": lambda: (owner_of_memory()[:, 0],),
    "no root of a transpose": lambda: (owner_of_memory().T,),
    "a row and another one": lambda: ((x := owner_of_memory())[0], x[1]),
    "elements that are one": lambda: (xp.from_native(np.ndarray((3, 2), float, np.zeros(2), strides=(0, 8))),),
    "memory that is read only": lambda: (read_only(owner_of_memory()),),
    "the user's memory": lambda: (xp.asarray(np.ones((2, 2)), copy=False),),
    "memory of bytes": lambda: (xp.from_native(np.frombuffer(bytes(32), "f8")),),
    "aligned memory": lambda: (xp.zeros((20, 20)),),
}
"""An Array, and who else holds its memory."""


@each("who", HOLDERS)
def test_a_write_is_in_place_where_memory_is_writable(who: str) -> None:
    x, *others = HOLDERS[who]()
    is_writable = x._native.flags.writeable
    before = id(x._native), x._native.__array_interface__["data"]
    x[...] = 5.0
    after = id(x._native), x._native.__array_interface__["data"]
    assert np.asarray(x).tolist() == np.full(x.shape, 5.0).tolist()
    assert is_writable == (after == before)
    assert all((5.0 in np.asarray(one)) == (is_writable and who != "a row and another one") for one in others)


def test_numpy_s_functions_of_arrays_give_what_their_bodies_give() -> None:
    method = xp.Array.__array_ufunc__
    x, h = xp.asarray([1.0, 2.0, 3.0]), np.asarray([4.0, 5.0, 6.0])
    for ufunc in (np.exp, np.add, np.matmul, np.divmod, np.frexp, np.logical_and, np.heaviside):
        inputs = [x, h][: ufunc.nin]
        ufunc.__call__(*inputs)
        for how, given in (("__call__", inputs), ("__call__", inputs[::-1]), ("reduce", [x]), ("__call__", [x, "1"])):
            arguments = [x, ufunc, how, *given]
            assert outcome(method, arguments, {}) == outcome(inspect.unwrap(method), arguments, {}), arguments
            named = {"dtype": "float32"}
            assert outcome(method, arguments, named) == outcome(inspect.unwrap(method), arguments, named), arguments


OBJECTS: Final = (
    1, 1.5, True, 1j, 2**70, -(2**63), 2**63, [], (), [1.0, 2.0], (1, 2), [True, False], [1, 2.0], [1, True], [2**63],
    [-(2**63)], [[1, 2]], [1.0, None], [np.float64(1.0), 2.0], [1.0] * 200, list(range(130)), np.arange(3.0),
    np.arange(200.0), np.arange(2000.0), np.arange(3.0)[::-1], np.ones((3, 4), order="F"), np.ones((30, 10), order="F"),
    np.ones(3, dtype=">f8"), np.array(1.5), np.ones(3, dtype="float16"), np.ones(3, dtype="longdouble"), np.float32(2),
    np.array([None]), b"ab", "ab", None, xp.ones(2), xp.ones(200)[::2], np.ones((0, 3)), [[1.5, 2.5], (3.5, 4.5)],
    [[1, 2], [3]], [[], []], [[1], [2.5]], [[[True]], [[False]]], [[1, 2], 3], [[[[[[[[[[1]]]]]]]]]], [300, -1],
    [[1.0] * 40] * 5,
    xp.ones(2)[0], xp.asarray([1.5, -2.5, float("nan")]), xp.asarray([1j]), xp.ones((3, 4)).T, xp.arange(3),
    xp.ones(2000),
)  # fmt: skip
RANGES: Final = (
    (5,), (0,), (-3,), (2, 7), (7, 2), (1, 9, 3), (9, 1, -3), (1, 9, 0), (5.0,), (1, 2.5), (200,), (2000,), (2**70,),
    (2**31, 2**31 + 3), (-(2**31), -(2**31) + 3), (True,), (0, 10, 2**40), (), (1, 2, 3, 4),
)  # fmt: skip


DTYPES_TO_MAKE: Final = (
    None, xp.bool, xp.int8, xp.uint8, xp.uint64, xp.int32, xp.int64, xp.float16, xp.float32,
    xp.complex64, "float32", int,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chosen", ["auto", "numpy", None])
def test_creation_gives_what_its_bodies_give(chosen: str | None) -> None:
    with contextlib.nullcontext() if chosen is None else xp.backend(chosen):
        cases = [(xp.asarray, (one,)) for one in OBJECTS] + [(xp.arange, one) for one in RANGES]
        for name in ("zeros", "ones", "empty"):
            cases += [(getattr(xp, name), (shape,)) for shape in (0, 3, (2, 3), 200, (40, 10), 2000, (), -1, (2, 0))]
        cases += [(xp.full, (shape, value)) for shape in (3, (2, 3), 200, 2000) for value in (2.5, 2, True, 1j, 2**70)]
        cases += [(xp.eye, given) for given in ((3,), (2, 3), (3, 2), (0,), (12, 14), (3, None), (-1,), (2.0,), (70,))]
        cases += [(one, (n,)) for one in (xp.fft.fftfreq, xp.fft.rfftfreq) for n in (1, 4, 5, 0, 200, 2000, 2.0, True)]
        options: list[dict[str, Any]] = [{}, *[{"dtype": dtype} for dtype in DTYPES_TO_MAKE], {"order": "C"}]
        options += [{"copy": copies} for copies in (True, False, 1)] + [{"device": None}]
        options += [{"dtype": xp.float64, "copy": copies} for copies in (True, False)]
        for (function, given), named in itertools.product(cases, options):
            expected, found = outcome(function.__wrapped__, [*given], named), outcome(function, [*given], named)
            if expected[0] is TypeError:  # of an option that is none of its own, which the wrapper names
                assert issubclass(found[0], TypeError)
                continue
            assert found[:4] == expected[:4], (function, given, named)
            assert found[4:] == expected[4:] or function is xp.empty, (function, given, named)
            if isinstance(found[0], type):
                continue
            ours, bodys = function(*given, **named), function.__wrapped__(*given, **named)
            assert (ours is given[0]) == (bodys is given[0])
            assert named or getattr(ours, "_second", None) == getattr(bodys, "_second", None), given
            assert ours._native.strides == bodys._native.strides
            ndarrays = [one for one in given if isinstance(one, np.ndarray)] if named.get("copy") is not False else []
            assert not any(np.shares_memory(ours._native, one) for one in ndarrays)
            if getattr(ours, "_second", None) is not None:
                assert alignment.is_shareable(ours._native)


@pytest.mark.filterwarnings("ignore")
def test_creation_on_another_backend_gives_what_its_bodies_give(framework: str) -> None:
    """Twice each: compiled calls know a dtype once it was asked for."""
    with xp.backend(framework):
        kinds = [None, xp.bool, xp.int8, xp.int64, xp.float32, xp.complex64]
        cases: list[tuple[Any, tuple[Any, ...]]] = [(xp.arange, one) for one in RANGES]
        cases += [(one, (shape,)) for one in (xp.zeros, xp.ones) for shape in (0, 3, (2, 3), (), -1, (2, 0), (2.0,))]
        cases += [(xp.full, (2, value)) for value in (2.5, 2, True, 1j, 2**70, -(2**63), 2**63)]
        for x in [xp.ones((2, 3), dtype=kind) for kind in (xp.bool, xp.int8, xp.float32)]:
            cases += [(xp.zeros_like, (x,)), (xp.ones_like, (x,))]
            cases += [(xp.full_like, (x, value)) for value in (2.5, 2, True, 1j, 300, 2**70, float("nan"))]
        for (function, given), kind in itertools.product(cases, kinds):
            named = {} if kind is None else {"dtype": kind}
            said = [seen(one, given, named) for one in (function.__wrapped__, function, function)]
            assert said[0] == said[1] == said[2], (function, given, named)


def seen(function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """What is to be seen of a result, or the error."""
    try:
        found = function(*given, **named)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    return found.dtype, repr(found.tolist()), found.device


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_at_the_ends_of_a_dtype_are_taken_as_the_bodies_take_them(dtype: str) -> None:
    wanted, ends = getattr(xp, dtype), np.iinfo(dtype)
    for number in (ends.min - 1, ends.min, ends.max, ends.max + 1):
        for function, given in ((xp.asarray, [[0, int(number)]]), (xp.arange, [int(number), int(number) + 1])):
            named = {"dtype": wanted}
            assert outcome(function, given, named) == outcome(inspect.unwrap(function), given, named), number


def test_memory_is_allocated_for_sane_shapes_only() -> None:
    assert extension.speedups.ALIGNMENT == alignment.ALIGNMENT
    allocated, wrapped = extension.speedups.allocated, extension.speedups.wrapped
    for shape in ((2**40, 2**40), (-1,), "no"):
        with pytest.raises((TypeError, ValueError)):
            allocated(shape, np.dtype("float64"), True)
    with pytest.raises(MemoryError):
        allocated((2**50,), np.dtype("float64"), False)
    assert allocated((), np.dtype("float64"), True).shape == ()
    home = xp.ones(1)._home
    assert [one.item() for one in wrapped([np.float64(1), np.ones(1)], home)] == [1, 1]
    for arguments in (((), 1), (1, home), ()):
        with pytest.raises(TypeError):
            wrapped(*arguments)


def test_an_index_of_several_names_is_refused_as_python_refuses_it() -> None:
    for arguments in ((), (xp.ones(2),), (xp.ones(2), 0, 1), ([1], 0)):
        expected = outcome(inspect.unwrap(xp.Array.__getitem__), list(arguments), {})
        assert outcome(xp.Array.__getitem__, list(arguments), {}) == expected


COMMON: Final = """
xp.add(x, y); xp.Array.__add__(x, 1); xp.Array.__rsub__(x, 1.5); xp.exp(x); xp.Array.__pow__(x, 2); xp.sum(x, axis=0)
xp.concat([x, y], axis=0); xp.where(x < y, x, 0.0); xp.clip(x, 1.5, max=y); xp.Array.__getitem__(x, 1)
xp.Array.__getitem__(x, slice(1, None)); xp.unique_counts(x); xp.Array.__lt__(x, 2); xp.reshape(x, (3, 1))
xp.max(x, keepdims=True); xp.matmul(x, y); xp.add(x, xp.ones(2)); xp.argsort(x, descending=True); xp.add(1, x)
xp.where(x < y, 1.0, 0.0); xp.where(x < y, 1, 0.0); xp.where(x < y, 1, 2 ** 70); xp.Array.__mul__(x, np.float64(1.5))
xp.Array.__mul__(x, np.float32(1.5)); xp.multiply(np.float64(1.5), x); xp.multiply(np.int8(2), xp.asarray([1, 2]))
xp.multiply(np.longdouble(2), x); xp.maximum(2 ** 70, xp.asarray([1])); xp.pow(2, x)
xp.less(2 ** 70, xp.asarray([1])); xp.concat([np.ones(2), x]); xp.stack((x, np.ones(3)))
xp.concat([np.ones(2, dtype=">f8"), x]); xp.concat([np.ones(2), np.zeros(1)]); xp.Array.__copy__(x)
xp.Array.__array__(x, copy=True); xp.Array.__array__(x, "f4"); xp.Array.__array__(x, None, None)
xp.Array.__array__(x, dtype=None); xp.Array.__iter__(x); xp.Array.__iter__(xp.ones((2, 2)))
xp.Array.__iter__(xp.ones(()))
"""


@pytest.mark.usefixtures("backend")
def test_common_calls_give_what_their_bodies_give() -> None:
    names = {"x": xp.asarray([1.0, 2.0, 3.0]), "y": xp.asarray([0.5, 2.0, 4.0]), "xp": xp, "np": np}
    for call in several(COMMON):
        code = compile(re.sub(r"^(xp[.\w]+)", r"of(\1)", call), "<call>", "eval")
        expected, found = (
            outcome(eval, [code, names | {"of": of}], {}) for of in (operator.attrgetter("__wrapped__"), lambda f: f)
        )
        assert found == expected, call


def test_the_automatic_choice_is_asked_from_the_limit_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    decision = choice.decision

    def watched(function: str, *arguments: Any, **keywords: Any) -> Any:
        asked.append(function)
        return decision(function, *arguments, **keywords)

    monkeypatch.setattr(choice, "decision", watched)
    x, row, h = xp.ones((40, 40)), xp.ones(40), np.ones((40, 40))
    calls: dict[str, Callable[[], Any]] = {
        "exp": lambda: xp.exp(x), "add": lambda: x + row, "subtract": lambda: x - 1,
        "maximum": lambda: xp.maximum(x, x), "concat": lambda: xp.concat([row] * 40),
        "where": lambda: xp.where(x > 1, x, row), "multiply": lambda: x * h,
        "matmul": lambda: x @ x, "square": lambda: xp.square(h), "floor_divide": lambda: divmod(row, row),
    }  # fmt: skip
    for name, call in calls.items():
        limit = machine.limit_of(name)
        before, size = limit.elements, row.size if name == "floor_divide" else x.size
        try:
            for elements in (1 << 20, size):
                limit.set(cost.Limits(*[elements] * 4))
                asked.clear()
                with xp.backend("auto"):
                    call()
                assert (name in asked) == (elements == size), name
        finally:
            limit.set(cost.Limits(*[before] * 4))


HELD_BY_NOBODY: Final = """
x + y; x + 1; x + 1.25; 2.5 - x; x ** 2; x + h; x[0]; x[1:]; x[b]; xp.sum(x, axis=0, keepdims=True)
xp.concat([x, y], axis=0); xp.where(b, x, 0.0); xp.unique_all(x); xp.exp(h); x[0] + 1.0
outcome(xp.add, [x, xp.ones(2)], {}); outcome(xp.sum, [x], {"axis": 7}); outcome(xp.concat, [[x, b]], {})
outcome(xp.Array.__getitem__, [x, 9], {}); operator.iadd(written, 1); operator.iadd(written[0], 1)
operator.setitem(written, 0, 2.0); operator.setitem(written, slice(1, None), x[1:]); operator.setitem(written, ..., y)
outcome(operator.setitem, [written, 9, 1.0], {}); outcome(operator.iadd, [written, b * 1j], {}); xp.zeros(3)
xp.ones((20, 20)); xp.full(3, 2.5); xp.asarray(h); m.T; xp.asarray([1.0, 2.0]); xp.asarray(2.5)
outcome(xp.asarray, [[1.0, None]], {}); xp.arange(300); outcome(xp.arange, [2 ** 70], {}); xp.asarray(long); list(x)
operator.setitem(m, 0, m[1]); operator.setitem(written, b, 2.0); np.exp(x); h + x; xp.linalg.svd(m); xp.unstack(x)
xp.nonzero(x); xp.reshape(x, (3, 1)); xp.searchsorted(x, y, side="right"); x + xp.asarray(2)
xp.asarray([[1, 2], [3, 4]], dtype=xp.float32); xp.asarray(x, dtype=xp.float32, copy=True)
outcome(xp.asarray, [[300]], {"dtype": xp.int8}); xp.astype(x, xp.int64); copy.copy(x)
xp.zeros_like(x, dtype=xp.float32); xp.full_like(x, 2); xp.eye(3); xp.full(3, 2); xp.arange(3, dtype=xp.float32)
outcome(xp.arange, [300], {"dtype": xp.int8}); np.asarray(x); np.float64(2) * x; x * np.float32(2)
xp.where(b, 1.0, 0.0); xp.concat([h, x]); xp.sort(x); xp.take(x, xp.asarray([0]))
outcome(xp.take, [x, xp.asarray([9])], {}); xp.fft.fftfreq(4); m[xp.asarray([0]), xp.asarray([1])]; next(iter(x))
xp.add(1, x); divmod(x, y); xp.from_dlpack(h); xp.result_type(x, xp.float32, b); x[0] + x[1]; -x[0]; x[0] < 1
b[0] == b[1]; 2 - x[0]; x[0] * h[0]; outcome(operator.add, [xp.asarray([1, 2], dtype=xp.int8)[0], 300], {})
bool(x[0]); (int(x[0]), float(x[0])); outcome(int, [xp.asarray([np.nan])[0]], {}); x[np.int64(1)]
outcome(operator.index, [x[0]], {}); range(xp.asarray([3, 4])[0]); x[xp.asarray([1])[0]:]
m[xp.asarray([1])[0], np.int8(0)]; operator.setitem(m, (xp.asarray([1])[0], 0), np.int8(2)); xp.astype(x[0], int)
xp.astype(b[0], np.float32); copy.copy(x[0]); b[0] + x[0]; xp.astype(x, np.dtype("f4")); xp.less(x[0], x[1])
x * xp.asarray([1, 2])[0]; outcome(operator.getitem, [x, (xp.asarray([1])[0], 9)], {}); xp.can_cast(x, xp.float32)
outcome(xp.result_type, [x, 1.0, "float32"], {})
"""


def test_nothing_is_held_when_a_call_is_over() -> None:
    x, y, b = xp.asarray([1.0, 2.0, 3.0]), xp.asarray([0.5, 2.0, 4.0]), xp.asarray([True, False, True])
    h, long, m, written = np.ones(3), np.ones(300), xp.eye(2), xp.asarray([1.0, 2.0, 3.0])
    names = globals() | locals()
    held = [x._native, y._native, b._native, h, x._home, x, y, b, *map(np.dtype, "fdbl?")]
    gc.freeze()  # so that what is collected below is little
    for call in several(HELD_BY_NOBODY):
        code = compile(call, "<call>", "eval")
        for _ in range(20):
            eval(code, names)
        gc.collect()
        before = [sys.getrefcount(one) for one in held]
        blocks = sys.getallocatedblocks()
        for _ in range(400):
            eval(code, names)
        gc.collect()
        assert [sys.getrefcount(one) for one in held] == before
        assert sys.getallocatedblocks() - blocks < 200, call


def test_an_interrupt_goes_through_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []

    def interrupted(x: Any) -> Any:
        called.append(x)
        raise KeyboardInterrupt

    x = xp.ones(3)
    xp.exp(x)
    monkeypatch.setitem(x._home.__dict__, "exp", interrupted)
    with pytest.raises(KeyboardInterrupt):
        xp.exp(x)
    assert len(called) == 1


def test_a_body_is_made_when_it_is_first_needed(run_python: Callable[..., str]) -> None:
    program = """
        import linecache, numpy as np, anyarray as xp
        x = xp.asarray([1.0, 2.0])
        for function in (xp.add, xp.exp, xp.concat, xp.linalg.svd):
            before = f"<anyarray {function.__name__}>" in linecache.cache
            function.__wrapped__
            print(before, f"<anyarray {function.__name__}>" in linecache.cache)
        try:
            xp.multiply(x, xp.ones(3))
        except ValueError:
            print("<anyarray multiply>" in linecache.cache)
    """
    assert run_python(program) == "False True\n" * 4 + "True\n"


def test_threads_that_need_a_body_at_once_get_one_and_the_same(run_python: Callable[..., str]) -> None:
    program = """
        import sys, threading, anyarray as xp
        sys.setswitchinterval(1e-6)
        names = ("add", "exp", "concat", "sum", "matmul", "where", "clip", "take")
        wall, found = threading.Barrier(8), [[] for _ in names]

        def work():
            for name, bodies in zip(names, found):
                wall.wait()
                bodies.append(getattr(xp, name).__wrapped__ if hasattr(getattr(xp, name), "__wrapped__") else name)
                try:
                    getattr(xp, name)(None)
                except TypeError:
                    pass

        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print([len(bodies) for bodies in found], [len(set(bodies)) for bodies in found], xp.exp(0.0 * xp.ones(2)))
    """
    assert run_python(program) == f"{[8] * 8} {[1] * 8} [1. 1.]\n"


def test_an_error_of_the_maker_of_a_body_goes_through_and_it_is_asked_again() -> None:
    speedups = extension.speedups
    assert speedups is not None
    asked: list[int] = []

    def body() -> Callable[..., Any]:
        asked.append(1)
        if len(asked) == 1:
            raise MemoryError
        return lambda x, /: "made"

    def declared(x: Any, /) -> None: ...

    row = ("", (), (), speedups.ARRAY, 0, 0)
    call = speedups.Call(declared, "exp", machine.limit_of("exp"), "function", ((row,), (0,), (), 1), body=body)
    with pytest.raises(MemoryError):
        call(1.0)
    assert [call(1.0), call(1.0), len(asked)] == ["made", "made", 2]


@each("path", ["exp", "linalg.svd", "concat", "Array.__add__", "Array.__getitem__"])
def test_a_call_is_looked_at_as_a_function_is(path: str) -> None:
    found = operator.attrgetter(path)(xp)
    assert found.__name__ == path.rpartition(".")[2]
    assert found.__qualname__.endswith(found.__name__)
    assert found.__module__.partition(".")[0] == "anyarray"
    assert inspect.isroutine(found)
    assert inspect.signature(found).parameters
    assert found.__name__ in repr(found)
    assert pickle.loads(pickle.dumps(found)) is found
    assert cloudpickle.loads(cloudpickle.dumps(found)) is found
    assert copy.deepcopy(found) is found
    assert weakref.ref(found)() is found
    assert hash(found) == hash(found)
    if path.startswith("Array"):
        assert getattr(xp.ones(2), found.__name__).__self__.shape == (2,)


def test_a_function_may_be_a_method_of_a_class() -> None:
    class Exponential(float):
        of = xp.exp
        size = staticmethod(xp.exp)

    assert Exponential.size(xp.zeros(2)).tolist() == [1, 1]
    with pytest.raises(TypeError):
        Exponential(1).of(xp.zeros(2))


def test_a_call_is_not_made_of_nonsense() -> None:
    speedups = extension.speedups
    assert speedups is not None
    with pytest.raises(RuntimeError):
        speedups.configure()  # which is for the package, once
    body, limit = inspect.unwrap(xp.exp), machine.limit_of("exp")
    row = ("x", (), (), speedups.ARRAY, 0, 0)
    bad: list[tuple[Any, ...]] = [
        ((), (), (), 0), ((row,) * 9, tuple(range(9)), (), 9), ((row,), (1,), (), 1), ((row,), (0,), (), 2),
        ((row,), (0,), ("x",), 0), (((*row[:5], 99),), (0,), (), 1), (((1, 2),), (0,), (), 1), ((row,), ("0",), (), 1),
    ]  # fmt: skip
    for arguments in bad:
        with pytest.raises((TypeError, ValueError)):
            speedups.Call(body, "negative", limit, "function", arguments, flags=speedups.IS_OPERATOR)
    refused = (
        (),
        (len, "exp", limit, "copy"),
        (body, "exp", 1, "copy"),
        (body, "exp", limit, "copy", ((), (), (), 0), int),
    )
    for given in refused:
        with pytest.raises(TypeError):
            speedups.Call(*given)
    for kind in ("function", "join", "inplace", "no such"):
        with pytest.raises(ValueError):
            speedups.Call(body, "exp", limit, kind)


def test_threads_that_write_and_read_see_whole_values() -> None:
    x, stop = xp.zeros(64), threading.Event()

    def is_whole(_: int) -> bool:
        seen = []
        while not stop.is_set():
            y = x + 0.0
            seen.append(bool(xp.all(y == y[0])))
        return all(seen)

    with ThreadPoolExecutor(3) as pool:
        readers = pool.map(is_whole, range(3))
        for i in range(300):
            x[...] = float(i)
        stop.set()
    assert all(readers)


def test_every_declaration_knows_what_users_call() -> None:
    for path, function in FUNCTIONS.items():
        declared = declaration.declarations.get(path.rpartition(".")[2])
        assert declared is None or declared.function is function


def test_the_bodies_alone_pass_the_tests_of_arrays_operators_and_scalars(pytestconfig: pytest.Config) -> None:
    files = [str(Path(__file__).with_name(f"test_{name}.py")) for name in ("array", "operators", "scalars")]
    options = ["-qx", "-p", "no:xdist", "-p", "no:cacheprovider", "--backends=numpy"]
    if not pytestconfig.getoption("--all-cases"):
        options += ["-k", "not an_operator_of_two"]  # ufuncs without the extension, which take long for scalars
    outside = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        env=outside | {"ANYARRAY_SPEEDUPS": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


SLOTS: Final = {slot for cls in xp.Array.__mro__ for slot in vars(cls).get("__slots__", ())} - {"__weakref__"}


@each("slot", sorted(SLOTS))
def test_what_an_array_holds_is_freed_with_it(slot: str) -> None:
    """Compiled code frees Arrays, and has to know all slots."""

    class Held: ...

    array, held = xp.asarray([1.0, 2.0]) + 1, Held()
    found = weakref.ref(held)
    setattr(array, slot, held)
    del held
    assert found() is not None
    del array
    gc.collect()
    assert found() is None
