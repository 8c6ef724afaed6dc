/* Keys of an index, as NumPy takes them. */

#ifndef ANYARRAY_KEYS_H
#define ANYARRAY_KEYS_H

#include "numpy_api.h"

/* The key for the native array of an Array on `home`: a new reference, or NULL without an exception if Python
must look. */
PyObject *native_key(PyObject *key, PyObject *home);

/* Whether a key is of Python's integers, slices of these, None and `...`, or a tuple of such. */
int is_basic_key(PyObject *key);

#endif
