"""A plugin for pytest: NumPy's assertions read the values of Arrays.

They ask for NumPy's own class, which no Array is, so two Arrays of several elements cannot be compared. The values are
still compared by NumPy.
"""

import numpy

import anyarray.numpy.testing as of_arrays

for _name in of_arrays.__all__:
    if _name.startswith("assert_"):
        setattr(numpy.testing, _name, getattr(of_arrays, _name))
