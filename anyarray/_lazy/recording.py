"""Elementwise calls that are put off on other backends than NumPy.

They are inside `fused()`, and where the automatic choice has decided that they run there (`_choice.call_on`);
`_speedups/lazy/postponed.c` says which calls come here. `_speedups/lazy/recording.c` does the same for
NumPy, whose functions need no compiler.

The result of such a call is an Array with a `Postponed` in the place of its native array: `_native` computes it, and
all calls that lead to it with it, by one compiled function; see `compiler`.

No write may reach what such a call reads. Of a library with views only memory is read to which nobody outside may
write; it is guarded, so that no Array writes to it, and whoever asks for its native array has the calls computed.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from anyarray._base import dtypes
from anyarray._call.declaration import declarations
from anyarray._choice import machine
from anyarray._lazy.compiler import Forms
from anyarray._lazy.tracing import MOST, Deferred, gathered
from anyarray._memory import ownership, second_copies, views
from anyarray._registry import registry
from anyarray._registry.home import POWERS, ArrayMustBeCast, Home, Native, zero

MOST_BYTES: Final = 1 << 30
"""Bytes of all results that are not computed, beyond which a call is computed with all that leads to it."""

_SCALARS: Final = frozenset({bool, int, float, complex})
_frame: Final = sys._getframe
_references: Final = sys.getrefcount


class _State:
    """What holds for all calls that are put off."""

    __slots__ = ("fewest", "nbytes", "running")

    def __init__(self) -> None:
        self.fewest = machine.RECORDED
        """Elements of a result below which a call runs at once, as on NumPy."""
        self.nbytes = 0
        """Bytes of the results that are not computed."""
        self.running = threading.RLock()
        """Held while calls are computed, so that each is computed once."""


state: Final = _State()


def _forked() -> None:
    state.running = threading.RLock()  # a thread that the child does not have may hold the other


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


class Leaf:
    """Memory that might be written, and that calls read which are put off."""

    __slots__ = ("__weakref__", "readers", "value")

    def __init__(self, value: Native) -> None:
        self.value = value
        self.readers: weakref.WeakSet[Postponed] = weakref.WeakSet()
        leaves[id(value)] = weakref.ref(self)

    def __del__(self) -> None:
        leaves.pop(id(self.value), None)


def _leaf_of(native: Native) -> Leaf | None:
    found = leaves.get(id(native))
    return None if found is None else found()


leaves: Final[dict[int, weakref.ref[Leaf]]] = {}
"""By the identity of the native array. Compiled code asks whether it is empty."""


class Postponed(Deferred):
    """A call that is put off, in the place of a native array."""

    __slots__ = ("code", "instruction", "nbytes")

    is_lazy = True

    home: Postponing  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleVariableOverride]  # no home of Arrays
    code: CodeType
    instruction: int
    nbytes: int

    def __len__(self) -> int:
        return self.shape[0]  # it has an axis, as it has many elements

    def __del__(self) -> None:
        if self.value is None:
            state.nbytes -= self.nbytes

    def where(self) -> str:
        """The file and the line where the call was made."""
        lines = [line for start, end, line in self.code.co_lines() if start <= self.instruction < end]
        return f"{self.code.co_filename}:{lines[0] if lines else self.code.co_firstlineno}"


class _Form(NamedTuple):
    """What a function gives for operands of some dtypes."""

    function: str
    dtype: Any
    itemsize: int
    scalars: tuple[tuple[int, Any], ...]
    """The places of Python scalars, each with the native dtype of the array beside it, or the name of a dtype."""
    arity: int
    """How many operands are read: of a power for which another function stands, the first."""


class Postponing:
    """The calls that are put off on one home."""

    def __init__(self, home: Home) -> None:
        backend = home.backend
        self.below = home
        self._may_wait: Callable[..., bool] = backend.hook("may_wait")
        self._dtype_of: Callable[[Native], Any] = backend.hook("dtype_of")
        self._shape_of: Callable[[Native], tuple[Any, ...]] = backend.hook("shape_of")
        self._outside: Callable[[], Any] = backend.hook("outside_traces")
        self._forms: dict[tuple[Any, ...], _Form | None] = {}
        self._compiled = Forms(home)

    def refuse(self, function: str) -> NoReturn:
        """Raise AttributeError: it has shape and dtype only."""
        raise AttributeError(function)

    def form(self, name: str, values: Sequence[Any], operands: list[Any], key: list[Any]) -> _Form | None:
        """What a function gives for operands of these dtypes.

        None if its calls run at once.
        """
        known = tuple(key)
        try:
            return self._forms[known]
        except KeyError:
            self._forms[known] = found = self._found(name, values, operands, key[1:])
            return found
        except TypeError:  # not hashable: the call says what is wrong with it
            return None

    def _found(self, name: str, values: Sequence[Any], operands: list[Any], dtypes_: list[Any]) -> _Form | None:
        home, backend = self.below, self.below.backend
        declared = declarations.get(name)
        if name != "astype" and (declared is None or declared.batch != "elementwise" or declared.result != "Array"):
            return None
        scalars = [at for at, one in enumerate(operands) if type(one) in _SCALARS]
        beside: Any = [d for at, d in enumerate(dtypes_) if at not in scalars and not (name == "where" and at == 0)]
        try:
            beside = beside[0] if beside else dtypes.common_default([type(operands[at]) for at in scalars]).name
            if name == "pow" and scalars == [1] and operands[1] in POWERS:
                power = home.powers[operands[1], type(operands[1]), beside]
                if power is not None:
                    return _Form(power, beside, home.dtypes[beside].itemsize, (), 1)
            more = [backend.native_dtype(dtypes.dtype(values[-1]).name)] if name == "astype" else []
            if backend.has_hook("fusible"):
                native = backend.native_dtype(beside) if type(beside) is str else beside
                its = [native if at in scalars else dtypes_[at] for at in range(len(operands))]
                dtype = backend.hook("fusible")(name, tuple(its), *more)
                if dtype is None:
                    return None
            else:
                named = beside if type(beside) is str else home.dtypes[beside].name
                ones = [
                    home.constant(one, named) if at in scalars else home.constant(1, home.dtypes[dtypes_[at]].name)
                    for at, one in enumerate(operands)
                ]
                dtype = backend.hook("result_dtype")(getattr(home, name), *ones, *more)
            ours = home.dtypes[dtype]
        except Exception:  # noqa: BLE001 - the call raises it itself
            return None
        if name == "pow" and ours.kind in "biu":
            return None  # a negative exponent raises
        return _Form(name, dtype, ours.itemsize, tuple([(at, beside) for at in scalars]), len(operands))

    def compute(self, wanted: Postponed) -> None:
        """Compute a call with all that lead to it.

        Of these what others need, too, is kept.
        """
        with state.running:
            if wanted.value is not None:
                return
            chain = gathered([wanted])
            readers: dict[int, int] = {}
            for call in chain.calls:
                for operand in call.operands:
                    readers[id(operand)] = readers.get(id(operand), 0) + 1
            counts = _counts(chain.calls)
            kept = [
                call
                for call, count in zip(chain.calls, counts, strict=True)
                if call is wanted or count - readers.get(id(call), 0) > _ALONE
            ]
            with self._outside():
                try:
                    values = self._compiled.values(chain, kept)
                except Exception as error:
                    if len(kept) == 1 or not registry.is_out_of_memory(error):
                        raise
                    kept = [wanted]
                    values = self._compiled.values(chain, kept)
            for call, value in zip(kept, values, strict=True):
                call.value = value  # first, as Ctrl-C may come after it
                state.nbytes -= call.nbytes  # pyright: ignore[reportAttributeAccessIssue]  # a Postponed
                call.count, call.operands = 0, ()


def _counts(calls: Sequence[Any]) -> list[int]:
    return [_references(one) for one in calls]


_ALONE: Final = min([_counts([object()])[0] for _ in range(100)])
"""References to a call that nothing but a list holds."""

_by_home: Final[dict[Home, Postponing | None]] = {}


def _of_home(home: Home) -> Postponing | None:
    """The calls of a home; None if none are put off there."""
    backend = home.backend
    can = home.depth == 0 and type(home) is Home and (backend.has_hook("jit") or backend.has_hook("fused"))
    found = Postponing(home) if can else None
    if type(home) is Home:  # of which there are few
        _by_home[home] = found
    return found


class _Arrays:
    """The class Array, which is of a higher layer."""

    array_class: Any = object


def register(array_class: Any) -> None:
    """Tell which class Arrays are of."""
    _Arrays.array_class = array_class


def put_off(name: str, home: Home, *values: Any) -> Postponed | None:
    """A call of a function on a home, put off; None if it is to run now.

    `values` are in the order of the native function; the last of `astype` is a dtype.
    """
    try:
        calls = _by_home[home]
    except KeyError:
        calls = _of_home(home)
    if calls is None:
        return None
    array_class = _Arrays.array_class
    operands: list[Any] = []
    natives: list[Native] = []
    key: list[Any] = [name]
    shape: tuple[int, ...] | None = None
    one: Any = None
    for value in values:
        kind = type(value)
        if kind is array_class:
            if value._home is not home:
                return None
            one = value._value
            if type(one) is Postponed and one.value is not None:
                value._value = one = one.value
            if type(one) is Postponed:
                dtype, its = one.dtype, one.shape
            else:
                dtype, its = calls._dtype_of(one), calls._shape_of(one)
                natives.append(one)
            if None in its:  # a length that a trace does not know
                return None
            if shape is None:
                shape = its
            elif its != shape:
                try:
                    shape = np.broadcast_shapes(shape, its)
                except ValueError:
                    return None
            operands.append(one)
            key.append(dtype)
        elif kind in _SCALARS:
            operands.append(value)
            key.append((kind, value) if name == "pow" and value in POWERS else kind)
        elif name == "astype":
            key.append(value)
        else:
            return None
    if shape is None or math.prod(shape) < state.fewest or not calls._may_wait(*natives):
        return None
    form = calls.form(name, values, operands, key)
    if form is None or dtypes.defaults() is not dtypes.STANDARD_DEFAULTS:
        return None
    for at, beside in form.scalars:
        value = operands[at]
        try:
            if type(beside) is str:
                operands[at] = home.constants.named(value, beside)
            else:
                operands[at] = home.constants[value or zero(value), type(value), beside]
        except (ArrayMustBeCast, OverflowError):
            return None
    del operands[form.arity :], natives, one
    if home.has_views and not _held(values, operands):
        return None
    count = 1
    for each in operands:
        if type(each) is Postponed:
            if each.shape != shape:  # a kernel computes all at one shape
                value_of(each)
            count += each.count
    if count > MOST:
        for each in operands:
            if type(each) is Postponed:
                value_of(each)
        count = 1
    found = Postponed.__new__(Postponed)
    found.home, found.shape, found.dtype, found.function = calls, shape, form.dtype, form.function
    found.value, found.count, found.operands = None, count, tuple(operands)
    found.nbytes = math.prod(shape) * form.itemsize
    frame = _frame(1)
    found.code, found.instruction = frame.f_code, frame.f_lasti
    state.nbytes += found.nbytes
    if home.has_views:
        for each in operands:
            if type(each) is Leaf:
                each.readers.add(found)
    if state.nbytes > MOST_BYTES:
        value_of(found)
    return found


def put_off_inplace(name: str, home: Home, array: Any, other: Any) -> bool:
    """Put off `x += y` and the like; returns whether that was done."""
    before = array._value
    is_new = type(before) is Postponed and before.value is None
    if views.view_of(array) is not None or not (is_new or not home.has_views):
        return False
    result = put_off(name, home, array, other)
    if result is None or result.shape != tuple(home.shape_of(before)) or result.dtype != home.dtype_of(before):
        return False
    frame = _frame(1)
    result.code, result.instruction = frame.f_code, frame.f_lasti
    second_copies.drop(array)
    array._value = result
    return True


def value_of(call: Postponed) -> Native:
    """The native array of a call, computed now unless it is there."""
    if call.value is None:
        call.home.compute(call)
    return call.value


def _held(values: tuple[Any, ...], operands: list[Any]) -> bool:
    """Replace native arrays among the operands by leaves.

    Returns False if somebody outside may write to one.
    """
    for at, value in enumerate(values[: len(operands)]):
        if type(value) is not _Arrays.array_class or type(operands[at]) is Postponed:
            continue
        operands[at] = None  # it would count as a reference
        leaf = _leaf_of(value._value)
        if leaf is None:
            if not _is_private(value):
                return False
            views.guard(value)
            leaf = Leaf(value._value)
        operands[at] = leaf
    return True


def _is_private(array: Any) -> bool:
    """Whether nobody outside can write to the memory of an Array."""
    backend = array._home.backend
    view = views.view_of(array)
    if view is not None and view.parent is not None:
        return False
    return ownership.is_sole_owner(array) and bool(backend.hook("is_own")(array._value))


def compute_readers(native: Native) -> None:
    """Compute the calls that read the memory of a native array."""
    backend = registry.backend_of_native(native)
    base = None if backend is None else backend.hook("base_of")(native)
    for one in (native, base):
        leaf = _leaf_of(one)
        if leaf is not None:
            for call in list(leaf.readers):
                value_of(call)
