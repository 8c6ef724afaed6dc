/* Sums of many floats. */

#ifndef ANYARRAY_SUMS_H
#define ANYARRAY_SUMS_H

#include "numpy_api.h"

/* sum_of(x, mean, threads): the sum of the elements of a contiguous ndarray of float32 or float64, or with a mean, a
scalar of its dtype, that of the squares of their distances from it. */
PyObject *sum_of(PyObject *module, PyObject *args);

#endif
