/* Keys of an index, as NumPy takes them. */

#ifndef ANYARRAY_KEYS_H
#define ANYARRAY_KEYS_H

#include "numpy_api.h"

/* The key for the native array of an Array on `home`: a new reference, or NULL without an exception if Python
must look. */
PyObject *native_key(PyObject *key, PyObject *home);

/* Whether a native key leads to one element of an ndarray. */
int is_key_of_element(PyObject *key, PyArrayObject *array);

#endif
