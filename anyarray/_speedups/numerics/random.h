/* Random bits, fractions and normal numbers of a key. */

#ifndef ANYARRAY_RANDOM_H
#define ANYARRAY_RANDOM_H

#include "numpy_api.h"

/* random_fill(name, key, first, out): fill a contiguous ndarray with "bits" (uint32, uint64), "random" or
   "standard_normal" (float32, float64) of a key, which is an int of 64 bits, from the counter `first` on. */
PyObject *random_fill(PyObject *module, PyObject *args);

#endif
