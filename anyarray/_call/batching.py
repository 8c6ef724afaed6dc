"""A function over all elements of an axis at once, without a library's `vmap`.

A `Batch` is a home whose arrays have a hidden leading batch axis: the function sees the shape of one element. The
batching rule of each function of the standard computes all elements by one call on the home below, which may be a batch
itself. An array without the batch axis is the same for all elements, and broadcasts.

A function has a rule if the rule always gives the right result. Functions without one raise NotBatchedError, and so
does asking for a value: `bool(x)`, `float(x)`, `np.asarray(x)`. The caller then runs the function in a loop over the
elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from anyarray._base import errors
from anyarray._call.inner import Inner, Standing
from anyarray._registry.home import Home, Native, compositions

Function = Callable[..., Any]

rule_of: Final[dict[str, Function]] = {}
"""The batching rule of each hook that has one, and of each declared function; see `batching_rules`."""

_innermost: ContextVar[Batch | None] = ContextVar("anyarray batch", default=None)
"""The innermost batch whose function runs in this context."""


def home_inside(home: Home) -> Home:
    """The home for a call with arrays of `home` inside the open batches.

    It is the innermost batch if that is on the backend of `home`, else `home`.
    """
    batch = _innermost.get()
    return home if batch is None or batch.backend is not home.backend else batch


class NotBatchedError(errors.UnsupportedError):
    """An operation that cannot be done for all elements at once."""


class Batched(Standing):
    """A native array of a batch: one value for each element.

    Its `stack` is an array of the home below, with the batch axis first.
    """

    __slots__ = ("stack",)

    def __init__(self, home: Batch, stack: Native) -> None:
        self.home = home
        self.stack = stack

    @property
    def base(self) -> Any:
        """As `ndarray.base`: not None for a view."""
        return getattr(self.stack, "base", None)


class Batch(Inner):
    """A home, over another, of arrays with a batch axis of `length`."""

    refusal = NotBatchedError
    refused = "not for all elements at once"

    def __init__(self, below: Home, length: int) -> None:
        super().__init__(below)
        self.length = length

    @contextmanager
    def open(self) -> Generator[None]:
        token = _innermost.set(self)
        try:
            with super().open():
                yield
        finally:
            _innermost.reset(token)

    def lookup(self, name: str) -> Callable[..., Any]:
        below = getattr(self.below, name)
        rule = rule_of.get(name)
        composition = compositions.get(name)

        def of_elements(*args: Any, **kwargs: Any) -> Any:
            if not self.is_within((*args, *kwargs.values())):
                return below(*args, **kwargs)
            if rule is None and composition is not None:
                return composition.function(self, *args, **kwargs)
            if rule is None or not self.is_open:
                self.refuse(name)
            return self._batched(rule(self, below, *args, **kwargs))

        return of_elements

    def _batched(self, stack: Any) -> Any:
        return tuple(map(self._batched, stack)) if isinstance(stack, (tuple, list)) else Batched(self, stack)

    def _stacks_of(self, x: Any) -> Any:
        """The inverse: the stacks of nested arrays."""
        return tuple(map(self._stacks_of, x)) if isinstance(x, (tuple, list)) else self.stack_of(x)

    def value_and_grad(
        self, function: Callable[..., Any], xs: Sequence[Native], has_aux: bool = False
    ) -> tuple[Any, Sequence[Native]]:
        """Values and gradients of all elements.

        They are those of the sum of the values, as no element depends on another.
        """
        found, gradients = self.below.value_and_grad(self._of_stacks(function), self._stacks_of(xs), has_aux)
        return self._batched(found), self._batched(gradients)

    def jacobian(
        self, function: Callable[..., Any], xs: Sequence[Native], mode: str, has_aux: bool = False, batch_ndim: int = 0
    ) -> Any:
        """The derivatives of each element."""
        of_stacks, stacks = self._of_stacks(function), self._stacks_of(xs)
        return self._batched(self.below.jacobian(of_stacks, stacks, mode, has_aux, batch_ndim + 1))

    def _of_stacks(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of arrays of this home as one of stacks."""
        return lambda *stacks: self._stacks_of(function(*self._batched(stacks)))

    def shape_of(self, x: Native) -> tuple[int, ...]:
        """Shape of an element."""
        below = self.below
        shape: tuple[int, ...] = below.shape_of(x.stack)[1:] if self.holds(x) else below.shape_of(x)
        return shape

    def dtype_of(self, x: Native) -> Any:
        """Dtype, as on the home below."""
        return self.below.dtype_of(x.stack if self.holds(x) else x)

    def base_of(self, x: Native) -> Any:
        """What the stack is a view of; None for no view."""
        return self.below.base_of(x.stack if self.holds(x) else x)

    def ndim_of(self, x: Native) -> int:
        """Number of axes of an element."""
        return len(self.shape_of(x))

    def stack_of(self, x: Native) -> Native:
        """All elements, (length, ...)."""
        return x.stack if self.holds(x) else self.below.broadcast_to(x, (self.length, *self.shape_of(x)))

    def aligned(self, x: Native, ndim: int) -> Native:
        """All elements, to broadcast with elements of `ndim` axes.

        New axes of length 1 follow the batch axis.
        """
        if not self.holds(x):
            return x
        missing = ndim - self.ndim_of(x)
        return self.below.expand_dims(x.stack, tuple(range(1, 1 + missing))) if missing > 0 else x.stack

    def axes_of(self, x: Native, axis: Any) -> Any:
        """Axes of an element as axes of the stack; None means every one."""
        return shifted(tuple(range(self.ndim_of(x))) if axis is None else axis, self.ndim_of(x))

    def flattened(self, x: Native) -> Native:
        """The elements with one axis each, (length, size)."""
        return self.below.reshape(self.stack_of(x), (self.length, math.prod(self.shape_of(x))))


def shifted(axis: Any, ndim: int) -> Any:
    if isinstance(axis, (tuple, list)):
        return tuple([shifted(one, ndim) for one in axis])
    if not -ndim <= axis < ndim:
        raise IndexError(axis)
    return axis % ndim + 1
