"""The call in Python: it takes any arguments, and runs on the chosen home.

`_speedups/entry/functions.c` is the fast path for the commonest arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from anyarray._call import watching
from anyarray._call.arguments import as_argument, as_array, convert_argument
from anyarray._call.declaration import SEQUENCE, WEAK, Declaration, Parameter, declarations
from anyarray._call.execution import call_on
from anyarray._call.placement import keep_copy_on, native_on, traced_home
from anyarray._call.refusal import of_no_arrays
from anyarray._call.wrapping import NUMPY, SCALARS, arrays_among, body_globals, is_array, unshared, wrap
from anyarray._choice import automatic, cost, learning, machine
from anyarray._choice import choice as _choice
from anyarray._registry import registry
from anyarray._registry.home import Home, Native
from anyarray._registry.registry import Backend

if TYPE_CHECKING:
    from anyarray._array.array import Array  # a higher layer


def call(declaration: Declaration, values: Sequence[Any]) -> Any:
    """Call a declared function with any arguments.

    If all Arrays live where the call runs, the native function is called. Otherwise native arrays become Arrays, and
    Arrays are transferred to the chosen home.
    """
    at_once = _home_at_once(declaration, values)
    if at_once is not None:
        return call_on(declaration, _converted(declaration, _beside_arrays(declaration, values, at_once)), at_once)
    taken = list(values)
    borrowed: list[Native] = []
    is_converted = False
    name, parameters, ours = declaration.name, declaration.parameters, body_globals["Array"]
    for at in declaration.array_positions:
        value = values[at]
        kind = type(value)
        if kind is ours:
            continue
        p = parameters[at]
        if kind in SCALARS and p.role is WEAK:
            continue
        if kind is np.ndarray and p.role is not SEQUENCE:
            taken[at] = one = as_array(name, p.name, value)
            borrowed.append(one._native)
        else:
            taken[at] = one = as_argument(name, p, value)
            if type(one) is list:
                borrowed += [a._native for a, given in zip(one, value, strict=True) if a is not given]
            elif type(one) is ours:
                is_converted = True
                if not isinstance(value, np.generic):  # of whose memory nobody knows
                    borrowed.append(one._native)
    if not (borrowed or is_converted):
        cached = _cached_decision(declaration, taken)
        if cached is None:
            return _call_on_chosen_home(declaration, taken)
        try:
            return _choice.call_on(cached, declaration.call, taken)
        except Exception as error:
            if not registry.is_out_of_memory(error):
                raise
            return _call_on_chosen_home(declaration, taken)  # which hands it back if it fails again
    result = declaration.call(taken)
    for one in ((result,) if type(result) is ours else result) if borrowed else ():
        native = unshared(one._native, borrowed, one._home)
        if native is not one._native:
            one._native, one._view = native, None  # memory of its own, which may be written
    return result


def _beside_arrays(declaration: Declaration, values: Sequence[Any], home: Home) -> Sequence[Any]:
    """Arguments of a call on `home`, with Arrays for what is NumPy's."""
    if home is NUMPY:
        return values  # as `_home_at_once` found none
    taken = list(values)
    for at in declaration.array_positions:
        value, p = values[at], declaration.parameters[at]
        if not _is_numpys(value):
            continue
        taken[at] = one = as_argument(declaration.name, p, value)
        if p.role is WEAK and isinstance(value, np.generic) and home.backend.has_dtype(one.dtype.name):
            taken[at] = wrap(home.constants.named(one.item(), one.dtype.name, declaration.name), home)
    return taken


def _home_at_once(declaration: Declaration, values: Sequence[Any]) -> Home | None:
    """The home of all Arrays of a call that runs there without a decision.

    None if that is to be decided, or if anything is to be converted to an Array; on other libraries than NumPy,
    its arrays and scalars may be.
    """
    ours = body_globals["Array"]
    arrays: list[Array] = []
    has_numpys = False
    for at in declaration.array_positions:
        value = values[at]
        if type(value) is ours:
            arrays.append(value)
        elif declaration.parameters[at].role is SEQUENCE and type(value) in (list, tuple):
            if any(type(one) is not ours for one in value):
                return None
            arrays += value
        elif _is_numpys(value) and declaration.parameters[at].role is not SEQUENCE:
            has_numpys = True
        elif not _is_taken(declaration.parameters[at], value):
            return None
    if not arrays:
        return None
    home = arrays[0]._home
    if has_numpys and home is NUMPY:
        return None
    for one in arrays:
        if one._home is not home:
            return None
    backend = _choice.current().backend
    if backend is None or backend is home.backend:
        return home
    if backend is _choice.BY_COST and (
        home.placed
        # The product is an upper bound of the elements that a call of several arrays computes.
        or (home is NUMPY and math.prod([one.size for one in arrays]) < machine.limit_of(declaration.name).even)
    ):
        return home
    return None


def _is_numpys(value: Any) -> bool:
    """Whether a value is an ndarray or a NumPy scalar."""
    return type(value) is np.ndarray or issubclass(type(value), np.generic)


def _is_taken(p: Parameter, value: Any) -> bool:
    """Whether an array parameter takes a value that is no array as it is."""
    if value is None:
        return p.is_optional
    return type(value) in SCALARS and (p.role is WEAK or (p.takes_plain_scalar and type(value) is int))


def _converted(declaration: Declaration, values: Sequence[Any]) -> list[Any]:
    """The arguments of a call, checked and converted.

    Sequences of arrays become lists.
    """
    found = list(values)
    for at in declaration.array_positions:
        if type(found[at]) is tuple:
            found[at] = list(found[at])
    for at in declaration.read_positions:
        found[at] = convert_argument(declaration, at, found[at])
    return found


def _cached_decision(declaration: Declaration, values: Sequence[Any]) -> Backend | None:
    """Where a call runs that was decided about before.

    None if the automatic choice must decide about the call.
    """
    choice = _choice.current()
    if choice.backend is not _choice.BY_COST or choice.candidates is not None:
        return None
    arrays, axis = arrays_among(values), None if declaration.axis_at is None else values[declaration.axis_at]
    is_converted = axis is None or type(axis) is int or (type(axis) is tuple and all(type(one) is int for one in axis))
    if not machine.state.is_known:
        numpy = NUMPY
        if not arrays or any(a._home is not numpy for a in arrays):
            return None
        seconds = cost.usual(declaration.name, automatic.shapes_of(arrays))
        return numpy.backend if machine.is_early(seconds) else None
    return automatic.cached_decision(declaration.name, arrays, axis) if is_converted else None


def stays_in_numpy(function: str, array: Array, other: Any) -> bool:
    """Whether the automatic choice leaves a call of these operands in NumPy.

    They are an Array and a scalar or an Array of its shape, of which the first is to have the result. False also if
    nothing was decided about such a call yet.
    """
    if array.size < machine.limit_of(function).even:
        return True
    return _cached_decision(declarations[function], [array, other]) is array._home.backend


def _call_on_chosen_home(declaration: Declaration, values: Sequence[Any]) -> Any:
    """Call a declared function with Arrays and scalars on the chosen home.

    Chooses the home, transfers the arrays, calls the native function and wraps the result.
    """
    prepared = _converted(declaration, values)
    arrays = arrays_among(prepared)
    if not arrays:
        return of_no_arrays(declaration, values)
    name = declaration.name
    traced = traced_home(arrays)
    axis = None if declaration.axis_at is None else prepared[declaration.axis_at]
    here = _choice.current()
    decision = _choice.decision(name, arrays, is_traced=traced is not None, axis=axis)
    if decision is None:
        home = _choice.home_of_call(name, [a._home for a in arrays], traced)
        if home is NUMPY and here.backend in (None, _choice.BY_COST):
            return _choice.call_on(home.backend, declaration.call, prepared)  # it may be recorded
        return call_on(declaration, prepared, home)
    stopwatch = watching.started(decision, arrays, axis) if here.records else None
    if decision.has_moved and decision.home is NUMPY:
        for one in arrays:
            keep_copy_on(one, decision.home, name)
    must_wait = here.is_careful or bool(here.records)

    def attempt() -> tuple[Any, list[Array]]:
        if decision.timed is not None:
            result, seconds = _timed(declaration, prepared, decision.home)
            automatic.learn(decision.timed, decision.home.backend.name, seconds)
        elif decision.home is NUMPY and not decision.has_moved:
            result = _choice.call_on(decision.home.backend, declaration.call, prepared)  # it may be recorded
        else:
            result = call_on(declaration, prepared, decision.home)
        results = [one for one in (result if isinstance(result, tuple) else (result,)) if is_array(one)]
        if must_wait and not _is_to_run_later(results[-1]):
            decision.home.backend.hook("synchronize")(results[-1]._native)
        return result, results

    try:
        result, results = attempt()
    except Exception as error:
        if not decision.retreat(error):
            if stopwatch is not None:
                decision.reason, decision.seconds = f"raised {type(error).__name__}", stopwatch.seconds()
            raise
        decision.timed = None
        result, results = attempt()
    if stopwatch is not None:
        decision.seconds = stopwatch.seconds()
        if _is_to_run_later(results[-1]):  # then the chain is recorded in its place
            for record in here.records:
                watching.forget(record, decision)
    return result


def _is_to_run_later(array: Array) -> bool:
    """Whether the call that gives an Array is recorded, to run with others."""
    is_numpys = array._home is body_globals["NUMPY"]
    return is_numpys and type(array._value) is machine.LAZY and not array._value.is_computed


def _timed(declaration: Declaration, prepared: Sequence[Any], home: Home) -> tuple[Any, float]:
    """The result of a call on `home`, and its seconds without transfers."""
    wait = home.backend.hook("synchronize")
    for one in arrays_among(prepared):
        wait(native_on(one, home, declaration.name))
    started = learning.clock()
    result = call_on(declaration, prepared, home)
    last = result[-1] if isinstance(result, tuple) else result
    if is_array(last):
        wait(last._native)
    return result, learning.clock() - started
