"""Windows: vectors that taper to both ends, to multiply a signal by."""

from __future__ import annotations

import numpy as np

from anyarray._array.array import Array
from anyarray._base import dtypes
from anyarray._call.arguments import as_integer, as_number
from anyarray.standard import namespace as xp

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def bartlett(M: int) -> Array:  # noqa: N803 - NumPy's name
    """The Bartlett window of `M` elements: a triangle, zero at both ends.

    >>> import anyarray as xp
    >>> xp.bartlett(5).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]

    Source: NumPy 2.4, numpy.bartlett.
    """
    return _window(np.bartlett(as_integer("bartlett", "M", M)))


def blackman(M: int) -> Array:  # noqa: N803 - NumPy's name
    """The Blackman window of `M` elements: a sum of three cosines.

    >>> import anyarray as xp
    >>> xp.abs(xp.round(100 * xp.blackman(5))).tolist()
    [0.0, 34.0, 100.0, 34.0, 0.0]

    Source: NumPy 2.4, numpy.blackman.
    """
    return _window(np.blackman(as_integer("blackman", "M", M)))


def hamming(M: int) -> Array:  # noqa: N803 - NumPy's name
    """The Hamming window of `M` elements: a raised cosine, 0.08 at both ends.

    >>> import anyarray as xp
    >>> xp.round(100 * xp.hamming(5)).tolist()
    [8.0, 54.0, 100.0, 54.0, 8.0]

    Source: NumPy 2.4, numpy.hamming.
    """
    return _window(np.hamming(as_integer("hamming", "M", M)))


def hanning(M: int) -> Array:  # noqa: N803 - NumPy's name
    """The Hann window of `M` elements: a raised cosine, zero at both ends.

    >>> import anyarray as xp
    >>> xp.round(100 * xp.hanning(5)).tolist()
    [0.0, 50.0, 100.0, 50.0, 0.0]

    Source: NumPy 2.4, numpy.hanning.
    """
    return _window(np.hanning(as_integer("hanning", "M", M)))


def kaiser(M: int, beta: float) -> Array:  # noqa: N803 - NumPy's name
    """The Kaiser window of `M` elements, narrower for a larger `beta`.

    It is computed from Bessel functions.

    >>> import anyarray as xp
    >>> xp.round(100 * xp.kaiser(5, 3.0)).tolist()
    [20.0, 73.0, 100.0, 73.0, 20.0]

    Source: NumPy 2.4, numpy.kaiser.
    """
    return _window(np.kaiser(as_integer("kaiser", "M", M), as_number("kaiser", "beta", beta)))


def _window(values: np.ndarray[tuple[int], np.dtype[np.floating]]) -> Array:
    """An Array of the default dtype, where new arrays are made."""
    return xp.asarray(values, dtype=dtypes.default(float))
