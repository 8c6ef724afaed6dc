/* Arrays made of Python numbers. */

#ifndef ANYARRAY_CONVERSION_H
#define ANYARRAY_CONVERSION_H

#include "numpy_api.h"

/* Returns a new Array of an ndarray of Python numbers, cast to `dtype`. Steals both references. NULL without an
exception if a number is out of range. */
PyObject *wrap_new_as(PyObject *native, PyArray_Descr *dtype);

/* Returns a new Array in NumPy of nested lists and tuples of numbers, or of one number; `dtype` may be NULL. NULL
without an exception for other objects. */
PyObject *array_of_nest(PyObject *nest, PyObject *dtype);

#endif
