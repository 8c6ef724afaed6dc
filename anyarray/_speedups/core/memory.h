/* Allocation of ndarrays whose memory every library can share. */

#ifndef ANYARRAY_MEMORY_H
#define ANYARRAY_MEMORY_H

#include "numpy_api.h"

#define ALIGNMENT 64 /* bytes; the same as `_memory.alignment.ALIGNMENT` */
#define MAX_NDIM 8   /* of arrays that fast paths create */

/* Returns a new ndarray of zeros or of uninitialized values, aligned if `nbytes` is at least `config.small_nbytes`;
NULL with an exception. Steals the reference to the dtype. */
PyObject *new_ndarray(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp nbytes, int is_zero);

/* Returns a new Array of an ndarray that no other object refers to, and marks its memory as shareable; NULL with an
exception. Steals the reference. */
PyObject *wrap_new(PyObject *native);

/* allocated(shape, dtype, is_zero): a new aligned ndarray. */
PyObject *allocated(PyObject *module, PyObject *args);

#endif
