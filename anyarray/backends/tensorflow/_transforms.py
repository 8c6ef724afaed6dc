"""Transforms by `tf.function`, gradient tapes and `tf.vectorized_map`."""

from __future__ import annotations

__all__ = ["is_differentiated", "is_reversed", "jacobian", "jit", "stop_gradient", "value_and_grad", "vectorized_map"]

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final

from anyarray._base.errors import ArgumentIndexError, ArgumentValueError, LinAlgError, UnsupportedError
from anyarray.backends._shared.derivatives import refused
from anyarray.backends.tensorflow import _ops as ops
from anyarray.backends.tensorflow._derivatives import is_for_xla, is_mapped
from anyarray.backends.tensorflow._device import is_on_host
from anyarray.backends.tensorflow._kernel import (
    NAME,
    NATIVE,
    REFUSALS,
    Tensor,
    cast,
    constant,
    could_record,
    shape_of,
    undocumented,
)
from anyarray.backends.tensorflow._loading import tf
from anyarray.backends.tensorflow._shapes import known_shape

_ZERO: Final = tf.UnconnectedGradients.ZERO
stop_gradient = tf.stop_gradient  # tapes record the result of the raw op
_NOT_FOR_XLA: Final = {"Eig", "LogMatrixDeterminant", "MatrixDeterminant", "SelfAdjointEigV2", "Svd", "Where"}
"""Ops without XLA kernel (it logs an error on stderr) or with a wrong one: its iterations stop at 1e-6 even for
float64, and its Where finds a True in a mask of one False."""
_REAL_FOR_XLA: Final = {
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh"),
    *("ReciprocalGrad", "RsqrtGrad", "SqrtGrad"),
}
"""Ops that are wrong in XLA for complex numbers: other branch cuts, or gradients that are not conjugated."""
_SOLVERS: Final = {"Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "Qr"}
"""Ops that XLA compiles to loops on a CPU, where TensorFlow calls Eigen: 3 to 90 times slower at 300 rows."""
_SEARCHES: Final = {"LowerBound", "UpperBound"}
"""Ops for which XLA compares all pairs, with memory for all of them."""
_LOOP, _SORT, _SEARCH = 2.5, 7.0, 0.4
"""Nanoseconds that XLA adds per multiplication in a solver, per comparison in a sort, per comparison in a search."""
_PASS, _CALL = 0.5, 20_000.0
"""Nanoseconds that XLA saves per element not written and read again, and per call. Measured on two cores."""
_UINT16: Final = NATIVE["uint16"]
_COMPLEX: Final = {NATIVE["complex64"], NATIVE["complex128"]}
_REFUSALS: Final = (*REFUSALS, tf.errors.InternalError)
"""What TensorFlow raises for a graph that XLA cannot compile."""


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as a graph, fused by XLA if it compiles the first time."""
    fused: dict[Any, Callable[[list[Tensor]], Any]] = {}
    plain: dict[Any, Callable[[list[Tensor]], Any]] = {}
    current = fused

    def called(*xs: Tensor) -> Any:
        nonlocal current
        if not tf.executing_eagerly():
            return function(*xs)  # inlined in the graph that is being traced
        # Our own cache and a direct call of the graph take a quarter of the time of `tf.function`.
        key = tuple([(x.dtype, shape_of(x)) for x in xs])
        graphs = current  # another thread may rebind `current`
        found = graphs.get(key)
        if found is None:
            is_fused = graphs is fused
            try:
                concrete = _graph(function, xs, is_fused)
            except UnsupportedError:
                # For XLA, some of TensorFlow's gradients use ops without a gradient.
                if not is_fused:
                    raise
                current = plain
                return called(*xs)
            if is_fused and _goes_wrong(concrete.graph):
                current = plain
                return called(*xs)
            if is_fused and _is_slower(concrete.graph, xs):
                concrete, is_fused = _graph(function, xs, False), False
            found = graphs[key] = _runner(concrete, is_fused)
        try:
            return found(list(xs))
        except _IsFused:
            current = plain
            return called(*xs)
        except _REFUSALS as error:
            if graphs is plain:
                _raise_as_outside(error)
                raise
        # XLA lacks some kernels and all shapes that depend on values. For any other cause the fallback raises, too.
        current = plain
        try:
            return called(*xs)
        except Exception:
            current = fused
            raise

    return called


def _graph(function: Callable[..., Any], xs: Sequence[Tensor], is_fused: bool) -> Any:
    """The concrete function of TensorFlow for arguments like `xs`."""
    token = is_for_xla.set(is_fused)
    try:
        return tf.function(function, autograph=False, jit_compile=is_fused).get_concrete_function(*xs)
    finally:
        is_for_xla.reset(token)


def _raise_as_outside(error: Exception, transform: str = "jit") -> None:
    """Raise the error that the function would raise outside the graph.

    It covers errors about matrices, indices and axes.
    """
    message = str(error)
    if "is not in [0, " in message:  # an index into merged axes, so we cannot name the axis
        raise ArgumentIndexError(
            f"{transform}: an index in the function is out of bounds. Call it without {transform} to see which"
        ) from error
    if "duplicate dimension" in message:
        raise ArgumentValueError(f"{transform}: the function names an axis twice") from error
    if "not invertible" in message:
        raise LinAlgError(f"{transform}: the function inverts a matrix that is singular") from error
    if "decomposition was not successful" in message:
        raise LinAlgError(f"{transform}: the eigenvalues of a matrix do not converge") from error


def _goes_wrong(graph: Any) -> bool:
    """Whether an op of a graph, or of a function it calls, is wrong in XLA."""
    definition = graph.as_graph_def()
    nodes = [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
    return any(
        node.op in _NOT_FOR_XLA or (node.op in _REAL_FOR_XLA and tf.as_dtype(node.attr["T"].type) in _COMPLEX)
        for node in nodes
    )


def _is_slower(graph: Any, xs: Sequence[Tensor]) -> bool:
    """Whether a graph is slower in XLA than with TensorFlow's kernels.

    That is so if most of its time goes to searches or, on a CPU, to solvers or sorts.
    """
    is_on_cpu = all(map(is_on_host, xs))
    more, less = 0.0, _CALL
    for one in graph.get_operations():
        less += _PASS * sum(map(_elements, one.outputs))
        if one.type in _SEARCHES:
            more += _SEARCH * _elements(one.inputs[1]) * (one.inputs[0].shape[-1] or 0)
        elif is_on_cpu and one.type == "TopKV2":
            length = one.inputs[0].shape[-1] or 1
            more += _SORT * _elements(one.inputs[0]) * math.log2(max(length, 1))
        elif is_on_cpu and one.type in _SOLVERS:
            rows = max(n or 0 for n in one.inputs[0].shape[-2:])
            if rows > 2:
                more += _LOOP * rows * _elements(one.inputs[one.type == "MatrixTriangularSolve"])
    return more > less


def _elements(x: Any) -> int:
    """Number of elements of a symbolic tensor; 0 if it is unknown."""
    return x.shape.num_elements() or 0


def _is_complex(graph: Any) -> bool:
    """Whether `graph` computes complex numbers.

    Their second derivatives use the ops that are wrong in XLA.
    """
    return any(y.dtype in _COMPLEX for one in graph.get_operations() for y in one.outputs)


def _has_gradient(function: Callable[[list[Tensor]], Any], xs: Sequence[Tensor]) -> bool:
    """Whether XLA can compile the backward pass of `function`.

    The user's own tape would find out too late.
    """
    with tf.GradientTape() as tape:
        watched = _watched(tape, list(map(stop_gradient, xs)))
        ys = function(watched)
    try:
        tape.gradient(ys, watched)
    except tf.errors.OpError:
        return False
    except Exception:  # noqa: BLE001 - not caused by XLA: it is raised again when the gradient is taken
        return True
    return True


class _IsFused(Exception):  # noqa: N818 - not an error: the call is made again
    """Raised by a fused graph where it must not be used."""


class _Derivative:
    """State of a derivative that is being computed."""

    may_be_fused = True
    is_fused = False
    """Whether XLA has compiled a part of it."""


_derivative: ContextVar[_Derivative | None] = ContextVar("anyarray derivative", default=None)
_is_recorded: Final = undocumented("tensorflow.python.eager.record", "should_record_backprop")
"""Whether a tape records ops on given tensors."""


_accumulators: ContextVar[tuple[Any, ...]] = ContextVar("anyarray accumulators", default=())
"""Accumulators of the forward-mode derivatives that are being computed."""


def is_differentiated(x: Tensor) -> bool:
    return is_reversed(x) or any(one.jvp(x) is not None for one in _accumulators.get())


def is_reversed(x: Tensor) -> bool:
    return _derivative.get() is not None and _is_recorded is not None and bool(_is_recorded([x]))


def _differentiated(forward: Callable[[], Any], backward: Callable[[Any], Any]) -> Any:
    """`backward` of the result of `forward`, without XLA if necessary.

    XLA is not used if it can compile the functions in `forward` but not their backward pass.
    """
    outer = _derivative.get()
    derivative = _Derivative()
    derivative.may_be_fused = outer is None or outer.may_be_fused
    token = _derivative.set(derivative)
    try:
        recorded = forward()
        try:
            return backward(recorded)
        except tf.errors.OpError:
            if not derivative.is_fused:
                raise
        derivative.may_be_fused = False
        return backward(forward())
    finally:
        _derivative.reset(token)
        if outer is not None:
            outer.is_fused |= derivative.is_fused


def _runner(concrete: Any, is_fused: bool) -> Callable[[list[Tensor]], Any]:
    """`concrete`, a ConcreteFunction, as a function of a list of tensors."""
    captured = concrete.captured_inputs
    if is_fused and _is_complex(concrete.graph):
        differentiable: bool | None = False
    else:
        differentiable = None if is_fused else True
    try:
        # `concrete(...)` ends in this call. It saves 50 us of binding arguments to names, which a list of tensors does
        # not need. It is undocumented, hence the fallback.
        flat = concrete._call_flat
    except AttributeError:
        return lambda tensors: concrete(*tensors)

    def seen_by_tapes(tensors: list[Tensor]) -> Any:
        nonlocal differentiable
        derivative = _derivative.get() if is_fused else None
        if derivative is not None:
            if differentiable is False or not derivative.may_be_fused:
                raise _IsFused
            derivative.is_fused = True
        elif could_record is None or could_record():  # a tape of the user's
            if differentiable is None:
                differentiable = _has_gradient(lambda xs: flat(xs, captured), tensors)
            if not differentiable:
                raise _IsFused
        return flat(tensors, captured)

    try:
        # `_call_flat` ends in this call if no tape can record. It takes half the time.
        graph = concrete._inference_function
        run, name, results = graph._bound_context.call_function, graph.name, len(graph.function_type.flat_outputs)
    except AttributeError:
        return seen_by_tapes
    if could_record is None:
        return seen_by_tapes
    gives_list = isinstance(concrete.structured_outputs, list)

    def called(tensors: list[Tensor]) -> Any:
        if could_record():
            return seen_by_tapes(tensors)
        found = run(name, tensors + captured, results) or []
        return found if gives_list else found[0]

    return called


def value_and_grad(
    function: Callable[..., Any], xs: Sequence[Tensor], has_aux: bool = False
) -> tuple[Any, list[Tensor]]:
    def forward() -> tuple[Any, list[Tensor], Any]:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            watched = _watched(tape, xs)
            return tape, watched, function(*watched)

    def backward(recorded: tuple[Any, list[Tensor], Any]) -> tuple[Any, list[Tensor]]:
        tape, watched, found = recorded
        value = found[0] if has_aux else found
        with refused("grad", _reason):
            gradients = tape.gradient(value, watched, unconnected_gradients=_ZERO)
        return found, [tf.convert_to_tensor(one) for one in gradients]  # a gather has IndexedSlices

    found: tuple[Any, list[Tensor]] = _differentiated(forward, backward)
    return found


def vectorized_map(function: Callable[..., list[Tensor]], xs: Sequence[Tensor]) -> list[Tensor]:
    if xs and xs[0].shape[0] == 0:
        return _mapped_over_nothing(function, xs)
    has_16_bits: list[bool] = []

    def of_slices(slices: Any) -> list[Tensor]:
        ys = function(*slices)
        # TensorFlow tiles a result that depends on no slice, and Tile has no kernel for this dtype.
        has_16_bits[:] = [y.dtype is _UINT16 for y in ys]
        # Identity makes such a result an op of the graph.
        return [cast(y, "int32") if y.dtype is _UINT16 else ops.Identity(y) for y in ys]

    try:
        found = _mapped(of_slices, tuple(xs))
    except tf.errors.InvalidArgumentError as error:
        _raise_as_outside(error, "vmap")
        raise
    return [cast(y, "uint16") if is_narrow else y for y, is_narrow in zip(found, has_16_bits, strict=True)]


def _mapped_over_nothing(function: Callable[..., list[Tensor]], xs: Sequence[Tensor]) -> list[Tensor]:
    """Result of a map over axes of length 0, if its shape is known.

    `tf.vectorized_map` runs some kernels in loops, which fail if they have no iteration.
    """
    signature = [tf.TensorSpec(x.shape[1:], x.dtype) for x in xs]
    ys = tf.function(function, autograph=False).get_concrete_function(*signature).structured_outputs
    shapes = [y.shape.as_list() if y.shape.rank is not None else [None] for y in ys]
    if any(None in shape for shape in shapes):
        raise UnsupportedError(
            "vmap: the mapped axes have the length 0, and a result has a length that depends on values, of which there "
            "are none. Map over one element at least"
        )
    return [ops.Fill(known_shape((0, *shape)), constant(0, NAME[y.dtype])) for y, shape in zip(ys, shapes, strict=True)]


def _without_custom_gradients(function: Callable[[Any], list[Tensor]], x: Any) -> list[Tensor]:
    """`function` of `x`, with `is_mapped` set: custom gradients are lost."""
    token = is_mapped.set(True)
    try:
        return function(x)
    finally:
        is_mapped.reset(token)


def _traced(function: Callable[[], Any]) -> Any:
    """Result of `function`, traced without TensorFlow's retracing warning.

    TensorFlow traces a mapped function anyway, and warns from the fifth trace that the user has not made.
    """
    return tf.function(function, autograph=False).get_concrete_function()() if tf.executing_eagerly() else function()


def _mapped(function: Callable[[Any], list[Tensor]], xs: Any) -> list[Tensor]:
    """`tf.vectorized_map`, which raises what `function` raises."""
    raised: list[Exception] = []

    def of_slices(slices: Any) -> list[Tensor]:
        try:
            return _without_custom_gradients(function, slices)
        except Exception as error:
            raised.append(error)
            raise

    of_slices.autograph_info__ = None  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
    try:
        return list(_traced(lambda: tf.vectorized_map(of_slices, xs, warn=False)))
    except Exception as error:
        # TensorFlow applies AutoGraph, which replaces the exception that the function raised.
        if not raised or error is raised[-1]:
            raise
    raise raised[-1]


def jacobian(
    function: Callable[..., Any], xs: Sequence[Tensor], mode: str, has_aux: bool = False, batch_ndim: int = 0
) -> Any:
    def results(*xs: Tensor) -> list[Tensor]:
        ys: list[Tensor] = function(*xs)[0] if has_aux else function(*xs)
        return ys

    if mode == "forward":
        columns = [_pushed_forward(results, xs, position, batch_ndim) for position in range(len(xs))]
        rows = [list(row) for row in zip(*columns, strict=True)]
        if xs and not has_aux:
            return rows
        found = function(*xs)  # called again, outside maps and accumulators
        rows = rows if xs else [[] for _ in (found[0] if has_aux else found)]
        return (rows, found[1]) if has_aux else rows

    def forward() -> tuple[Any, list[Tensor], list[Tensor], Any]:
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            watched = _watched(tape, xs)
            ys, others = function(*watched) if has_aux else (function(*watched), None)
            if batch_ndim:  # batch elements are independent, so the sum has the derivatives of each
                ys = [tf.reduce_sum(y, list(range(batch_ndim))) for y in ys]
            return tape, watched, ys, others

    def backward(recorded: tuple[Any, list[Tensor], list[Tensor], Any]) -> Any:
        tape, watched, ys, others = recorded
        with refused("jacobian", _reason):
            rows = [_pulled_back(tape, y, watched, batch_ndim) for y in ys]
        return (rows, others) if has_aux else rows

    return _differentiated(forward, backward)


_FEW: Final = {"forward": 16, "reverse": 64}
"""Up to so many directions, an eager loop takes less time than tracing a graph for all at once."""


def _pulled_back(tape: Any, y: Tensor, xs: list[Tensor], batch_ndim: int) -> list[Tensor]:
    """Derivatives of one result by each of `xs`, summed over a batch."""
    found = None
    if y.shape.num_elements() == 0:  # of which TensorFlow maps some derivatives to an error
        found = [tf.zeros([*y.shape, *x.shape], x.dtype) for x in xs]
    elif not _are_few(y.shape.as_list(), "reverse"):
        try:
            found = _traced(lambda: tape.jacobian(y, xs, unconnected_gradients=_ZERO))
        except ValueError:  # TensorFlow cannot map some derivatives of derivatives inside a map
            if not y.shape.is_fully_defined():
                raise
    if found is None:
        rows = [tape.gradient(y, xs, one, unconnected_gradients=_ZERO) for one in tf.unstack(_directions(y.shape, y))]
        stacks = map(tf.stack, zip(*rows, strict=True))
        found = [tf.reshape(one, [*y.shape, *x.shape]) for one, x in zip(stacks, xs, strict=True)]
    if not batch_ndim:
        return list(found)
    start, end = y.shape.rank, y.shape.rank + batch_ndim
    return [tf.transpose(one, [*range(start, end), *range(start), *range(end, one.shape.rank)]) for one in found]


def _are_few(shape: Sequence[int], mode: str) -> bool:
    return tf.executing_eagerly() and 0 < math.prod(shape) <= _FEW[mode]


def _directions(shape: Sequence[int], x: Tensor) -> Tensor:
    """One-hot arrays, one for each element of `shape`, in the dtype of `x`."""
    size = math.prod(shape)
    return tf.reshape(tf.eye(size, dtype=x.dtype), [size, *shape])


def _watched(tape: Any, xs: Sequence[Tensor]) -> list[Tensor]:
    # Tapes identify tensors by id. Without new ones, a tensor passed twice, or one that `function` also captures, would
    # be one variable.
    fresh = [ops.Identity(x) for x in xs]
    tape.watch(fresh)
    return fresh


def _pushed_forward(
    function: Callable[..., list[Tensor]], xs: Sequence[Tensor], position: int, batch_ndim: int
) -> list[Tensor]:
    """Derivatives of each result by one of `xs`, in all directions at once."""
    xs = list(map(ops.Identity, xs))  # as in `_watched`
    x = xs[position]

    def pushed(direction: Tensor) -> list[Tensor]:
        with tf.autodiff.ForwardAccumulator(x, tf.broadcast_to(direction, x.shape)) as accumulator:
            token = _accumulators.set((*_accumulators.get(), accumulator))
            try:
                ys = function(*xs)
            finally:
                _accumulators.reset(token)
        return [ops.Identity(accumulator.jvp(y, unconnected_gradients=_ZERO)) for y in ys]

    shape = x.shape.as_list()[batch_ndim:]
    directions = tf.reshape(_directions(shape, x), [math.prod(shape), *[1] * batch_ndim, *shape])
    with refused("jacobian", _reason):
        if _are_few(shape, "forward"):
            columns = [_without_custom_gradients(pushed, one) for one in tf.unstack(directions)]
            derivatives = [tf.stack(of_y) for of_y in zip(*columns, strict=True)]
        else:
            derivatives = _mapped(pushed, directions)
    return [
        tf.reshape(tf.transpose(one, [*range(1, one.shape.rank), 0]), [*one.shape.as_list()[1:], *shape])
        for one in derivatives
    ]


def _reason(name: str, error: Exception) -> str | None:
    message = str(error)
    if isinstance(error, LookupError) and "gradient" in message.lower():
        return f"TensorFlow has no gradient of its operation {message.rpartition(': ')[2].partition(')')[0]}"
    if isinstance(error, NotImplementedError):
        # For example "QrGrad not implemented when ..."; in a map it follows a traceback.
        reason = message.rpartition("NotImplementedError: ")[2].partition(" Received")[0].partition("\n")[0]
        return f"TensorFlow has no such gradient: {reason.rstrip('.')}"
    if isinstance(error, tf.errors.InvalidArgumentError) and "not invertible" in message:
        raise LinAlgError(f"{name}: TensorFlow's gradient needs the inverse of a matrix that is singular") from error
    return None
