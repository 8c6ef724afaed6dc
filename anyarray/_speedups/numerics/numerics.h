/* Functions of the module that compute with numbers, each in a file of its name; module.c adds them. */

#ifndef ANYARRAY_NUMERICS_H
#define ANYARRAY_NUMERICS_H

#include "numpy_api.h"

/* quotients.c. Adds the ufuncs floor_divide and remainder to the module if the processor has fused multiply-add; 0 with an
exception. */
int add_quotients(PyObject *module);

/* random.c. random_fill(name, key, first, out): fills a contiguous ndarray with "bits" (uint32, uint64), "random" or
"standard_normal" (float32, float64) of a key, an int of 64 bits, from the counter `first` on. */
PyObject *random_fill(PyObject *module, PyObject *args);

/* sums.c. sum_of(x, mean, threads): the sum of a contiguous ndarray of float32 or float64, or, with a mean, a scalar of its
dtype, the sum of the squared distances from it. Returns a tuple of a float and the floating-point errors. */
PyObject *sum_of(PyObject *module, PyObject *args);

#endif
