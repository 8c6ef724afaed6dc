"""NumPy's functions beyond the standard, one file per subject.

The functions are in the main namespace, in `linalg` and in `fft`. They run on every backend and in every transform. A
subject is imported when one of its names is first used; `NAMES` maps names to subjects.

A function of arrays is declared by `@composed`, as the standard's functions are by `@dispatch`. Backends without their
own function run its body, which calls the standard's functions. Functions that take other arguments, such as a
function, and functions that return views of their arguments are plain functions.

Signatures are NumPy's: the same names in the same order, by position or keyword. Parameters that not every library
supports are left out (`out`, `overwrite_input`, `order`), and the parameters after them are keyword-only.
"""

import importlib
from typing import Any, Final

from anyarray._base.functions import publish

_NAMES: Final = {
    "calculus": "ediff1d gradient interp trapezoid unwrap",
    "correlation": "convolve corrcoef correlate cov",
    "creation": "c_ fromfunction geomspace identity index_exp logspace mgrid ogrid r_ s_",
    "elementwise": "allclose angle array_equal array_equiv bitwise_count cbrt deg2rad degrees divmod exp2 fabs fix "
    "float_power fmax fmin fmod frexp gcd heaviside i0 isclose iscomplex iscomplexobj isneginf isposinf isreal "
    "isrealobj lcm ldexp logaddexp2 modf nan_to_num rad2deg radians real_if_close rint sinc spacing",
    "fourier": "fft.fft2 fft.ifft2 fft.irfft2 fft.rfft2",
    "histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "linalg": "linalg.cond linalg.lstsq linalg.multi_dot linalg.norm linalg.tensorinv linalg.tensorsolve",
    "manipulation": "append apply_along_axis apply_over_axes array_split atleast_1d atleast_2d atleast_3d block "
    "column_stack delete dsplit dstack fliplr flipud hsplit hstack insert packbits pad ravel resize rollaxis rot90 "
    "sliding_window_view split swapaxes transpose trim_zeros unpackbits vectorize vsplit vstack",
    "polynomials": "poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval roots",
    "products": "cross diag diagflat diagonal dot einsum einsum_path inner kron matvec outer trace tri vander vdot "
    "vecmat",
    "selection": "argwhere choose compress copyto diag_indices diag_indices_from extract fill_diagonal flatnonzero "
    "indices ix_ mask_indices piecewise place put put_along_axis putmask ravel_multi_index select tril_indices "
    "tril_indices_from triu_indices triu_indices_from unravel_index",
    "sets": "intersect1d setdiff1d setxor1d union1d unique",
    "sorting": "argpartition lexsort partition sort_complex",
    "statistics": "average cumprod cumsum median nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian "
    "nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar percentile ptp quantile",
    "windows": "bartlett blackman hamming hanning kaiser",
}
NAMES: Final = {name: subject for subject, names in _NAMES.items() for name in names.split()}
"""The file of this folder for each name; names of `linalg` and `fft` begin with these."""


def find(path: str) -> Any:
    """The function of that name, such as "median" or "linalg.lstsq".

    Raises KeyError for an unknown name.
    """
    module = importlib.import_module(f"anyarray.extensions.{NAMES[path]}")
    chapter, _, name = path.rpartition(".")
    publish(f"anyarray.{chapter}".rstrip("."), [name], vars(module))
    return getattr(module, name)
