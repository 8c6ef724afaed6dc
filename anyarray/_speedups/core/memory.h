/* Memory that every library takes as it is. */

#ifndef ANYARRAY_MEMORY_H
#define ANYARRAY_MEMORY_H

#include "numpy_api.h"

#define ALIGNMENT 64 /* bytes, as `_memory.alignment.ALIGNMENT` says */
#define MAX_NDIM 8   /* of what the fast paths make */

/* A new ndarray, of zeros or with arbitrary values, aligned as `_memory.alignment` wants it for its `nbytes`.

Steals the reference to the dtype. NULL with an exception. */
PyObject *new_ndarray(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp nbytes, int is_zero);

/* A free Array of an ndarray that was made just now; steals the reference. NULL with an exception. */
PyObject *wrap_new(PyObject *native);

/* allocated(shape, dtype, is_zero): an aligned ndarray. */
PyObject *allocated(PyObject *module, PyObject *args);

#endif
