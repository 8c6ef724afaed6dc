"""Every function of the standard inside `xp.jit` and the user's compilers.

Those are `jax.jit`, with 64 bits off, and `tf.function`, also where its signature leaves all lengths open. The inputs
and the comparison are those of `test_differential`, on fewer examples, as each is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_differential import CASES, Call, calls, reference

import anyarray as xp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NO_ARRAYS: Final = {
    *("arange", "broadcast_shapes", "can_cast", "empty", "empty_like", "eye", "fft.fftfreq", "fft.rfftfreq", "finfo"),
    *("from_dlpack", "full", "iinfo", "isdtype", "linspace", "ones", "result_type", "zeros"),
}
"""Functions that take or give no arrays, or give no values."""

UNKNOWN_SHAPE: Final = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
"""Functions whose shapes depend on values, and what JAX cannot do inside a trace."""


COMPLEX_BY_XLA: Final = {
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "sin", "sinh", "tan", "tanh")
}
"""Functions for which TensorFlow's XLA takes no notice of the sign of a zero in a complex number."""


def own_compiler(library: str) -> Callable[..., Any]:
    """The library's own compiler of functions from Arrays to Arrays."""
    if library == "jax":
        return pytest.importorskip("jax").jit  # type: ignore[no-any-return]  # JAX's
    tensorflow = pytest.importorskip("tensorflow")
    return lambda function: tensorflow.function(function, autograph=False)


def of_any_length(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a graph of TensorFlow that knows no length."""
    tf = pytest.importorskip("tensorflow")

    def compiled(*xs: xp.Array) -> Any:
        natives = [xp.to_native(x) for x in xs]
        signature = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in natives]
        graph = tf.function(xp.portable(function), input_signature=signature, autograph=False)
        return tf.nest.map_structure(xp.from_native, graph(*natives))

    return compiled


def is_beyond_xla(function: str, call: Call) -> bool:
    """Whether XLA differs from NumPy, as the page on deviations says."""
    kinds = {a.dtype.kind for a in call.args if isinstance(a, np.ndarray)}
    return function in COMPLEX_BY_XLA and "c" in kinds


def traced(call: Call, function: str, library: str, compiler: Callable[..., Any]) -> Any:
    """What the function gives if compiled, for the arrays of `call`.

    They are the arguments of a compiled function.
    """
    given = [*call.args, *call.kwargs.values()]
    arrays = [a for one in given for a in (one if isinstance(one, list) else [one]) if isinstance(a, np.ndarray)]

    def inside(*inputs: xp.Array) -> Any:
        rest = iter(inputs)

        def filled(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return next(rest)
            return [filled(one) for one in value] if isinstance(value, list) else value

        args = tuple(filled(value) for value in call.args)
        return Call(args, {name: filled(value) for name, value in call.kwargs.items()}).run(xp, function)

    return compiler(inside)(*[xp.asarray(a, device=library) for a in arrays])


@pytest.mark.sampled
@pytest.mark.parametrize("compiler", ["its own", "xp.jit"])
@pytest.mark.parametrize("function", sorted(CASES.keys() - NO_ARRAYS))
@hypothesis.settings(max_examples=1)
@given(data=st.data())
def test_a_function_gives_the_same_inside_a_trace(
    framework: str, function: str, compiler: str, data: st.DataObject
) -> None:
    call = data.draw(calls(function))
    hypothesis.assume(not (compiler == "xp.jit" and framework == "tf" and is_beyond_xla(function, call)))
    try:
        result = traced(call, function, framework, xp.jit if compiler == "xp.jit" else own_compiler(framework))
    except xp.UnsupportedError as error:
        assert "depends on values" in str(error)
        assert function in UNKNOWN_SHAPE or (function == "repeat" and isinstance(call.args[1], np.ndarray))
        return
    CASES[function][1](result, reference(function, call), call)


@pytest.mark.sampled
@pytest.mark.parametrize("function", sorted(CASES.keys() - NO_ARRAYS - {"unstack"}))
@hypothesis.settings(max_examples=1)
@given(data=st.data())
def test_a_function_gives_the_same_of_arrays_whose_lengths_a_trace_does_not_know(
    function: str, data: st.DataObject
) -> None:
    call = data.draw(calls(function))
    CASES[function][1](traced(call, function, "tf", of_any_length), reference(function, call), call)


def test_an_array_whose_rank_a_trace_does_not_know_is_refused_with_a_cure() -> None:
    tf = pytest.importorskip("tensorflow")

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)], autograph=False)  # type: ignore[untyped-decorator]  # TensorFlow has no types
    def graph(tensor: Any) -> Any:
        x = xp.from_native(tensor)
        for read in (lambda: x.shape, lambda: xp.sum(x), lambda: x[0]):
            with pytest.raises(xp.TransferError, match=r"shape: .* how many axes .* input_signature .*set_shape"):
                read()
        return xp.reshape(x, (-1,))

    assert graph(tf.ones((2, 3))).shape == (6,)
