/* Conversion of the keys of indexing. */

#ifndef ANYARRAY_KEYS_H
#define ANYARRAY_KEYS_H

#include "numpy_api.h"

/* Returns the key for the native array of an Array on `home`: a new reference; NULL without an exception if Python must
convert it. */
PyObject *native_key(PyObject *key, PyObject *home);

/* Whether a key consists of Python ints, slices of these, None and `...`, or is a tuple of such. */
int is_basic_key(PyObject *key);

#endif
