"""The second call of a function compiles nothing.

That holds eagerly, in `vmap`, `grad` and `jacobian`.
Each function of the namespace is called by itself, on a matrix `x`. `CALLS` has the arguments of those that do not take
`x` for all that they need. In it `v` is a row of `x`, `n` a matrix of integers and `b` one of booleans.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from test_signatures import FUNCTIONS, NEWER, named

import anyarray as xp
from anyarray import extensions

CALLS: Final = {
    "3": "arange bartlett blackman diag_indices empty eye fft.fftfreq fft.rfftfreq hamming hanning identity indices"
    " ones tri tril_indices triu_indices zeros",
    "3, 1.0": "full kaiser",
    "x, 1.0": "full_like",
    "0.0, 1.0, 3": "linspace",
    "3, xp.triu": "mask_indices",
    "lambda i: i, (3,)": "fromfunction",
    "xp.int32": "iinfo",
    "xp.float64, 'real floating'": "isdtype",
    "x, xp.float32": "astype can_cast",
    "(3,), (1,)": "broadcast_shapes",
    "n": "bitwise_count bitwise_invert",
    "n, n": "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm",
    "n[0]": "bincount",
    "xp.astype(n, xp.uint8)": "unpackbits",
    "(n[0], n[0]), (3, 3)": "ravel_multi_index",
    "n, (3, 3)": "unravel_index",
    "b": "logical_not packbits",
    "b, b": "logical_and logical_or logical_xor",
    "1j * x": "imag",
    "x, axis=0": "cumulative_prod cumulative_sum",
    "x, 0": "expand_dims rollaxis",
    "x, 0, 1": "moveaxis swapaxes",
    "x, (1, 0)": "permute_dims",
    "x, 1": "argpartition delete linalg.matrix_power linalg.tensorinv pad partition repeat roll",
    "x, 3": "array_split hsplit split vsplit",
    "x[..., None], 1": "dsplit",
    "x[None, ...], 0": "squeeze",
    "x, 1, 0.5": "insert",
    "x, (9,)": "reshape resize",
    "x, (2, 2)": "sliding_window_view tile",
    "x, (2, 3, 3)": "broadcast_to",
    "x, n[0], axis=0": "take",
    "x, n": "take_along_axis",
    "x + 0, n[0], 0.5": "put",
    "x + 0, n, 0.5, 0": "put_along_axis",
    "n % 2, [x, -x]": "choose",
    "b[0], x, axis=0": "compress",
    "[b], [x]": "select",
    "x, [b], [lambda y: 2 * y]": "piecewise",
    "x, 0.5": "nanquantile quantile",
    "x": "gradient",
    "v": "ix_ polyder polyint roots vander",
    "v, v": "convolve correlate histogram2d linalg.outer polymul",
    "x, xp.sort(v)": "digitize",
    "xp.sort(v), v": "searchsorted",
    "v, xp.sort(v), v": "interp",
    "v, v, 1": "polyfit",
    "'ij,jk', x, x": "einsum einsum_path",
    "xp.sum, 0, x": "apply_along_axis",
    "xp.sum, x, 0": "apply_over_axes",
    "x @ x.T": "linalg.cholesky",
    "[x, x]": "linalg.multi_dot",
    "x, v": "linalg.tensorsolve",
}
ARGUMENTS: Final = {name: arguments for arguments, names in CALLS.items() for name in names.split()}
NAMES: Final = sorted(name for name in {*FUNCTIONS, *NEWER, *extensions.NAMES} if inspect.isroutine(named(xp, name)))
PARTS: Final = 16
"""So many tests share the functions: all of them with `--all-cases`, else a few of each."""
FEW: Final = 2


def call_of(name: str) -> Callable[[xp.Array], list[xp.Array]]:
    """The function, of a matrix; the Arrays that it gives."""
    function = named(xp, name)
    if name in ARGUMENTS:
        made = eval(f"lambda f, x, v, n, b: f({ARGUMENTS[name]})", {"xp": xp})
    else:
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        count = sum(p.kind is not p.VAR_KEYWORD for p in needed)
        made = lambda f, x, v, n, b: f(*[x] * count)  # noqa: E731 - as the other
    n = xp.asarray([[0, 1, 2], [2, 1, 0], [1, 1, 0]])
    return lambda x: arrays_of(made(function, x, x[0], n, n > 0))


def arrays_of(result: Any) -> list[xp.Array]:
    if isinstance(result, (list, tuple)):
        return [part for one in result for part in arrays_of(one)]
    return [result] if isinstance(result, xp.Array) else []


def real_parts(arrays: list[xp.Array]) -> list[xp.Array]:
    return [xp.real(one) for one in arrays if one.dtype.kind in "fc"]


def total(arrays: list[xp.Array]) -> xp.Array:
    return sum([xp.sum(one) for one in arrays], start=xp.asarray(0.0))


@pytest.fixture
def compilations(framework: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many times the library has compiled something.

    TensorFlow's graphs count, and PyTorch's classes of functions with derivatives. The graphs that TensorFlow makes in
    each `vmap` of what has no batching rule, and in large jacobians, do not: docs/transforms.md says so.
    """
    count = 0

    def counted(*args: Any, **kwargs: Any) -> None:
        nonlocal count
        count += 1

    def counting(kind: Any) -> None:
        first = kind.__init__
        monkeypatch.setattr(kind, "__init__", lambda *args, **kwargs: (counted(), first(*args, **kwargs))[1])

    def heard(event: str, _: float, **kwargs: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            counted()

    if framework == "jax":
        pytest.importorskip("jax").monitoring.register_event_duration_secs_listener(heard)
        seldom = pytest.importorskip("anyarray.backends.jax._seldom")
        seldom._lengths.clear()  # after many lengths, a new one is compiled only when it has recurred
        seldom._spent.clear()
        hooks = pytest.importorskip("anyarray.backends.jax._hooks")
        monkeypatch.setattr(hooks, "is_rare", lambda key, microseconds: True)  # what converts ndarrays is not compiled
    elif framework == "tf":
        counting(pytest.importorskip("tensorflow.python.framework.func_graph").FuncGraph)
        transforms = pytest.importorskip("anyarray.backends.tensorflow._transforms")
        own = transforms._traced

        def traced(function: Callable[[], Any]) -> Any:
            nonlocal count
            before = count
            found = own(function)
            count = before
            return found

        monkeypatch.setattr(transforms, "_traced", traced)
    else:
        counting(pytest.importorskip("torch.autograd.function").FunctionMeta)
    return lambda: count


def test_every_function_is_called() -> None:
    assert ARGUMENTS.keys() <= set(NAMES)


def test_an_extremum_is_compiled_once(framework: str, compilations: Callable[[], int]) -> None:
    assert not compiled_again(["cumulative_prod", "max"], framework, compilations)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_second_call_of_a_function_compiles_nothing(
    part: int, framework: str, compilations: Callable[[], int], pytestconfig: pytest.Config
) -> None:
    names = NAMES[part::PARTS]
    if not pytestconfig.getoption("--all-cases"):
        names = names[part % 7 :: len(names) // FEW]
    assert not compiled_again(names, framework, compilations)


def compiled_again(names: list[str], framework: str, compilations: Callable[[], int]) -> list[str]:
    """What compiled something when it was called for the second time."""
    found: list[str] = []
    with xp.backend(framework):
        x = xp.asarray(np.random.default_rng(0).uniform(0.1, 0.9, (3, 3)) + np.eye(3))
        stack = xp.stack([x, x / 2 + 0.1])
        for name in names:
            for way, (function, given) in ways_of(call_of(name), x, stack).items():
                try:
                    function(given)
                except (xp.UnsupportedError, xp.TransferError):  # it asks for values, or has no derivative
                    continue
                before = compilations()
                function(given)
                if compilations() > before:
                    found.append(f"{name} in {way}")
    return found


def ways_of(
    function: Callable[[xp.Array], list[xp.Array]], x: xp.Array, stack: xp.Array
) -> dict[str, tuple[Callable[[xp.Array], Any], xp.Array]]:
    """The function by itself and in each transform, with arguments."""
    ways: dict[str, tuple[Callable[[xp.Array], Any], xp.Array]] = {
        "eager": (function, x),
        "vmap": (xp.vmap(function), stack),
    }
    if real_parts(function(x)):
        ways["grad"] = xp.grad(lambda x: total(real_parts(function(x)))), x
        ways["jacobian"] = xp.jacobian(lambda x: real_parts(function(x))), x
    return ways
