"""Special functions of TensorFlow that are accurate to a few units.

Of its others, some lose digits, and they are composed of other functions.
"""

from __future__ import annotations

from anyarray.backends.tensorflow._kernel import op
from anyarray.backends.tensorflow._loading import tf

erf = op("Erf")
erfcinv = tf.math.erfcinv
expit = op("Sigmoid")
gammaln = op("Lgamma")
i0e = op("BesselI0e")
i1e = op("BesselI1e")
k0 = op("BesselK0")
k0e = op("BesselK0e")
k1 = op("BesselK1")
k1e = op("BesselK1e")
log_expit = tf.math.log_sigmoid
ndtri = op("Ndtri")
softplus = op("Softplus")
