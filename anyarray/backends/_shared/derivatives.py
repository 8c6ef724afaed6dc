"""Errors for functions that a library cannot differentiate."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

from anyarray._base.errors import UnsupportedError


@contextlib.contextmanager
def refused(name: str, reason: Callable[[str, Exception], str | None]) -> Generator[None]:
    """Raise UnsupportedError where a library has no derivative.

    `reason` gets the name of the transform and the library's error. It returns the reason, or None for other errors.
    """
    try:
        yield
    except UnsupportedError:
        raise
    except Exception as error:
        what = reason(name, error)
        if what is None:
            raise
        raise UnsupportedError(f"{name}: {what}. Keep it out of the derivative: xp.stop_gradient(x)") from error


def no_slope(name: str, which: int) -> UnsupportedError:
    """Error for a derivative by one of the arguments of a function.

    `gammainc_by_a` is the first derivative of `gammainc`, the only one of both that users know.
    """
    function, by, parameter = name.rpartition("_by_")
    order = ("first", "second", "third")[which]
    what = f"second derivative with respect to {parameter}" if by else f"derivative by its {order} argument"
    return UnsupportedError(
        f"{function if by else name}: has no {what}. Keep that out of the derivative: xp.stop_gradient(x)"
    )
