/* Arrays of another dtype. */

#ifndef ANYARRAY_CONVERSION_H
#define ANYARRAY_CONVERSION_H

#include "numpy_api.h"

/* A free Array of an ndarray that was made just now of Python numbers, in this dtype.

Steals the references to both. NULL without an exception if a number does not fit, or Python must look at it. */
PyObject *wrap_new_as(PyObject *native, PyArray_Descr *dtype);

/* An Array in NumPy of a nest of lists and tuples of numbers: a new reference, or NULL without an exception for any other. */
PyObject *array_of_nest(PyObject *nest, PyObject *dtype);

#endif
