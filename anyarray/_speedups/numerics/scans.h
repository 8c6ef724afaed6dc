/* Loops over all elements of an ndarray of floats. */

#ifndef ANYARRAY_SCANS_H
#define ANYARRAY_SCANS_H

#include "numpy_api.h"

/* Whether an ndarray of float32 or float64 has neither NaN nor infinity; 0 for what was not looked at. */
int is_finite(PyArrayObject *array);

/* may_have_zeros(a): whether a float of an ndarray is zero; True for what was not looked at. */
PyObject *may_have_zeros(PyObject *module, PyObject *a);

#endif
