"""Elementwise calls that are recorded on other backends than NumPy.

They are recorded inside `fused()`, and where the automatic choice has decided that they run there (`_choice.call_on`).
`_speedups/lazy/recording.c` says which calls come here, and records NumPy's itself.

The result of such a call is an Array with a `Lazy` of the compiled code in the place of its native array. `_native`
computes it with all calls that lead to it, by one compiled function; see `compiler`.

No write may reach what such a call reads. Of a library with views a call reads only memory to which nobody outside may
write. That is guarded, so that no Array writes to it, and asking for its native array computes the calls that read it.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

import numpy as np

from anyarray._base import dtypes
from anyarray._base.extension import speedups
from anyarray._call.declaration import declarations
from anyarray._call.wrapping import is_array
from anyarray._choice import choice, machine
from anyarray._lazy.compiler import Graph, compiler_of
from anyarray._memory import ownership, second_copies, views
from anyarray._registry import registry
from anyarray._registry.home import POWERS, ArrayMustBeCast, Home, Native, zero

fewest = machine.RECORDED
"""Elements of a result below which a call runs at once, as on NumPy."""
_lengths: Final[ContextVar[list[int] | None]] = ContextVar("anyarray lengths", default=None)
"""Inside `every_call` the numbers of calls in the graphs that have run."""
Lazy: Final = machine.LAZY
_SCALARS: Final = frozenset({bool, int, float, complex})

_running = threading.RLock()
"""Held while calls are computed, so that each is computed once."""


def _forked() -> None:
    global _running
    _running = threading.RLock()  # a thread that the child does not have may hold the other


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


class _Form(NamedTuple):
    """What a function gives for operands of some dtypes."""

    function: str
    dtype: Any
    itemsize: int
    scalars: tuple[tuple[int, Any], ...]
    """The places of Python scalars, each with the native dtype of the array beside it, or the name of a dtype."""
    arity: int
    """How many operands are read: of a power for which another function stands, the first."""


class Recorder:
    """Records calls on one home."""

    def __init__(self, home: Home) -> None:
        backend = home.backend
        self._home = home
        self.may_wait: Callable[..., bool] = backend.hook("may_wait")
        self.dtype_of: Callable[[Native], Any] = backend.hook("dtype_of")
        self.shape_of: Callable[[Native], tuple[Any, ...]] = backend.hook("shape_of")
        self.outside_traces: Callable[[], Any] = backend.hook("outside_traces")
        self._forms: dict[tuple[Any, ...], _Form | None] = {}
        self.compiler = compiler_of(home)

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
        home, backend = self._home, self._home.backend
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


recorders: Final[dict[Home, Recorder | None]] = {}
"""The recorder of each home; None if calls are not recorded there."""


def recorder_of(home: Home) -> Recorder | None:
    """The recorder of a home."""
    try:
        return recorders[home]
    except KeyError:
        backend = home.backend
        can = home.depth == 0 and type(home) is Home and (backend.has_hook("jit") or backend.has_hook("fused"))
        found = Recorder(home) if can else None
        if type(home) is Home:  # of which there are few
            recorders[home] = found
        return found


def record(name: str, home: Home, *values: Any) -> Any:
    """A recorded call of a function on a home; None if it is to run now.

    `values` are in the order of the native function; the last of `astype` is a dtype.
    """
    recorder = recorder_of(home)
    if recorder is None:
        return None
    operands: list[Any] = []
    natives: list[Native] = []
    key: list[Any] = [name]
    shape: tuple[int, ...] | None = None
    one: Any = None
    for value in values:
        kind = type(value)
        if is_array(value):
            if value._home is not home:
                return None
            one = value._value
            if type(one) is Lazy and one.is_computed:
                one = value._native
            if type(one) is Lazy:
                dtype, its = one.dtype, one.shape
            else:
                dtype, its = recorder.dtype_of(one), recorder.shape_of(one)
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
    if shape is None or not recorder.may_wait(*natives):
        return None
    if math.prod(shape) < fewest and _lengths.get() is None:
        return None
    form = recorder.form(name, values, operands, key)
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
    memory = _memory_of(values, operands, home) if home.has_views else ()
    if memory is None:
        return None
    nbytes = math.prod(shape) * form.itemsize
    its = memory if home.has_views else None
    return speedups.lazy_call(home, form.function, tuple(operands), tuple(shape), form.dtype, nbytes, its)


def record_inplace(name: str, home: Home, array: Any, other: Any) -> bool:
    """Record `x += y` and the like; returns whether that was done."""
    before = array._value
    is_new = type(before) is Lazy and not before.is_computed
    if views.view_of(array) is not None or not (is_new or not home.has_views):
        return False
    result = record(name, home, array, other)
    if result is None or result.shape != tuple(home.shape_of(before)) or result.dtype != home.dtype_of(before):
        return False
    second_copies.drop(array)
    array._value = result
    return True


def compute(*targets: Any) -> None:
    """Compute recorded calls of one home and shape, and what leads to them.

    Of these, results that others hold, too, are kept.
    """
    with _running:
        graph = Graph.of(*targets)
        if not graph.nodes:  # another thread has computed them
            return
        recorder = recorders[targets[0].home]
        assert recorder is not None
        lengths = _lengths.get()
        if lengths is not None:
            lengths.append(len(graph.calls))
        with recorder.outside_traces():
            try:
                values = recorder.compiler.values(graph, at_once=lengths is not None)
            except Exception as error:
                if len(graph.nodes) == len(targets) or not registry.is_out_of_memory(error):
                    raise
                names = dict(zip(map(id, graph.nodes), graph.results, strict=True))
                graph = graph._replace(nodes=list(targets), results=[names[id(one)] for one in targets])
                values = recorder.compiler.values(graph)
        speedups.keep(graph.nodes, values)


@contextmanager
def every_call() -> Generator[list[int]]:
    """A context for `xp.jit`, in which calls of few elements are recorded.

    They are compiled when they first run.

    Gives the numbers of calls in the graphs that have run so far.
    """
    lengths: list[int] = []
    token = _lengths.set(lengths)
    try:
        with choice.fused():
            yield lengths
    finally:
        _lengths.reset(token)


def _memory_of(values: tuple[Any, ...], operands: list[Any], home: Home) -> tuple[Native, ...] | None:
    """The native arrays that have the memory that is read, which is guarded.

    None if somebody outside may write to it.
    """
    found: list[Native] = []
    for at, value in enumerate(values[: len(operands)]):
        if not is_array(value) or type(operands[at]) is Lazy:
            continue
        if not speedups.is_read(value):
            operands[at] = None  # it would count as a reference
            if not _is_private(value):
                return None
            views.guard(value)
            operands[at] = value._value
        found += [operands[at], home.base_of(operands[at])]
    return tuple(found)


def _is_private(array: Any) -> bool:
    """Whether nobody outside can write to the memory of an Array."""
    view = views.view_of(array)
    if view is not None and (view.parent is not None or _lengths.get() is not None):
        return view.parent is None  # `jit` guards its arguments
    return ownership.is_sole_owner(array) and bool(array._home.backend.hook("is_own")(array._value))


def base_of(native: Native) -> Native | None:
    """The native array of which one is a view."""
    backend = registry.backend_of_native(native)
    return None if backend is None else backend.hook("base_of")(native)
