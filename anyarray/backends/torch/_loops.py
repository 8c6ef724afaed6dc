"""Loops and branches of graphs, under the names of the backend contract.

PyTorch's operators of functions trace these to graphs of their own, which may use nothing but their arguments. So the
functions here get what they close over, `captured`, as arguments, and what else they use, constants, becomes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

import torch

from anyarray._base.errors import UnsupportedError
from anyarray.backends.torch._kernel import Native, is_transformed

__all__ = ["TAKES_CAPTURED", "is_tracing", "scan", "switch", "while_loop"]

TAKES_CAPTURED: Final = True

Natives = list[Native]


def is_tracing() -> bool:
    if not torch._C._len_torch_dispatch_stack() or is_transformed():
        return False
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None


class _Watch(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]  # a class of the library, which is Any
    """Notes which constants a function uses, or puts others in their place.

    Raises UnsupportedError if it uses a tensor of the trace that it did not get.
    """

    supports_higher_order_operators = True

    def __init__(self, given: Sequence[Native], constants: dict[int, Native], is_first: bool) -> None:
        super().__init__()
        self._known = {_storage(x): x for x in given}
        self._constants = constants
        self._is_first = is_first

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = _map((args, kwargs or {}), self._taken)
        found = func(*args, **kwargs)
        _map(found, self._note)
        return found

    def _note(self, x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            self._known[_storage(x)] = x
        return x

    def _taken(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or _storage(x) in self._known:
            return x
        if type(x) is not torch.Tensor and not self._is_first:
            return x  # made in the derivative of a loop inside
        if type(x) is not torch.Tensor:
            raise _MissedError(
                "jit: a loop or branch uses an Array of the traced function that is neither an argument nor in a "
                "variable, and PyTorch needs to know of it. Pass it on in the carry or as an operand"
            )
        if self._is_first:
            self._constants[id(x)] = x
            return x
        return self._constants.get(id(x), x)


class _MissedError(UnsupportedError):
    """A function uses a tensor of the trace that it did not get."""


def _storage(x: Native) -> int:
    return x.untyped_storage()._cdata


def _map(value: Any, change: Callable[[Any], Any]) -> Any:
    return torch.utils._pytree.tree_map(change, value)


def _lifted(
    functions: Sequence[Callable[..., Any]], examples: Sequence[Native], captured: Natives
) -> tuple[list[Callable[..., Any]], Natives]:
    """Functions that use nothing but their arguments, and the further ones.

    Those are what they captured, and their constants.
    """
    functions = list(map(_fresh, functions))
    constants: dict[int, Native] = {}
    no_proxies = import_module("torch.fx.experimental.proxy_tensor").disable_proxy_modes_tracing
    with no_proxies(), torch.no_grad():
        for function in functions:
            xs = [
                torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device) for x in (*examples, *captured)
            ]
            with _Watch(xs, constants, True):
                function(*xs)
    kept = list(constants.values())
    count = len(examples) + len(captured)

    def of_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*xs: Native) -> Any:
            there = dict(zip(constants, xs[count:], strict=True))
            with _Watch(xs, there, False):
                return function(*xs[:count])

        return called

    return list(map(of_arguments, functions)), [*captured, *kept]


def _variables(*lists: Sequence[Native]) -> list[Natives]:
    """Tensors in rows, each another one, whose values the trace does not know.

    It takes two arguments that are one tensor for one argument, and computes with what it knows at once: all turns of a
    loop would get what the first one gives.
    """
    seen: set[int] = set()

    def variable(x: Native) -> Native:
        if type(x) is torch.Tensor or x.constant is not None:
            return torch.empty(x.shape, dtype=x.dtype, device=x.device).copy_(x)
        made = x.clone() if _storage(x) in seen else x.contiguous()
        seen.add(_storage(made))
        return made

    return [list(map(variable, xs)) for xs in lists]


def _fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are in memory of their own, in rows."""

    def called(*xs: Native) -> tuple[Native, ...]:
        seen = {_storage(x) for x in xs}
        found = []
        for y in function(*xs):
            storage = _storage(y)
            is_own = storage not in seen and type(y) is not torch.Tensor
            found.append(y.contiguous() if is_own else y.clone(memory_format=torch.contiguous_format))
            seen.add(_storage(found[-1]))
        return tuple(found)

    return called


def while_loop(test: Callable[..., Native], body: Callable[..., Natives], xs: Natives, captured: Natives) -> Natives:
    (tested, turned), others = _lifted([lambda *xs: [test(*xs)], body], xs, captured)
    operator = import_module("torch._higher_order_ops.while_loop").while_loop_op
    carried, others = _variables(xs, others)
    return list(operator(lambda *xs: tested(*xs)[0], turned, tuple(carried), tuple(others)))


def scan(
    body: Callable[..., Any], carry: Natives, xs: Natives, length: int, reverse: bool, unroll: int, captured: Natives
) -> tuple[Natives, Natives]:
    if torch.is_grad_enabled() and any(x.requires_grad for x in (*carry, *xs, *captured)) and not _is_smooth(carry):
        return _unrolled(body, carry, xs, length, reverse, captured)  # the operator's derivative fails for integers
    given = xs or [torch.zeros(length)]  # it needs a row
    here, there = len(carry), len(carry) + len(given)

    def flat(*every: Native) -> Natives:
        found, ys = body(list(every[:here]), list(every[here:there]) if xs else [], *every[there:])
        return [*found, *ys]

    try:
        (turned,), others = _lifted([flat], [*carry, *[x[0] for x in given]], captured)
    except _MissedError:
        if length > _MOST:
            raise
        return _unrolled(body, carry, xs, length, reverse, captured)
    operator = import_module("torch._higher_order_ops.scan").scan_op
    rows, carry, others = _variables([x.flip([0]) if reverse else x for x in given], carry, others)
    found = operator(lambda *every: list(turned(*every)), carry, rows, tuple(others))
    stacks = list(found[here:])
    return list(found[:here]), [y.flip([0]) for y in stacks] if reverse else stacks


def _is_smooth(xs: Natives) -> bool:
    return all(x.is_floating_point() or x.is_complex() for x in xs)


_MOST: Final = 1000
"""The most turns that are unrolled: TorchInductor takes seconds for each hundred."""


def _unrolled(
    body: Callable[..., Any], carry: Natives, xs: Natives, length: int, reverse: bool, captured: Natives
) -> tuple[Natives, Natives]:
    if length > _MOST:
        raise UnsupportedError(
            "scan: PyTorch differentiates a compiled loop that carries integers by unrolling its turns, of which there "
            f"may be {_MOST:,}, not {length:,}. Carry floats, or call the derivative without jit"
        )
    rows = []
    for at in reversed(range(length)) if reverse else range(length):
        carry, ys = body(carry, [x[at] for x in xs], *captured)
        rows.append(ys)
    return carry, [torch.stack(column[::-1] if reverse else column) for column in zip(*rows, strict=True)]


def switch(index: Native, branches: Sequence[Callable[..., Natives]], xs: Natives, captured: Natives) -> Natives:
    lifted, others = _lifted(branches, xs, captured)
    operator = import_module("torch._higher_order_ops.cond").cond_op

    def chosen(first: int, last: int) -> Callable[..., Any]:
        if last - first == 1:
            return lambda index, *every: lifted[first](*every)
        middle = (first + last) // 2
        below, above = chosen(first, middle), chosen(middle, last)
        return lambda index, *every: operator(index < middle, below, above, (index, *every))

    [operands] = _variables([index, *xs, *others])
    return list(chosen(0, len(branches))(*operands))
