"""Raw ops by name, with positional arguments: `ops.AddV2(x1, x2)`.

They are the generated functions behind `tf.raw_ops`: the public API with the least overhead that keeps gradients and
works inside `tf.function`.
"""

from __future__ import annotations

import typing  # not `Any` from it, which is the name of an op

from anyarray.backends.tensorflow._loading import tf


def __getattr__(name: str) -> typing.Any:
    found = globals()[name] = getattr(tf.raw_ops, name).__wrapped__  # the next access is as fast as that of a global
    return found
