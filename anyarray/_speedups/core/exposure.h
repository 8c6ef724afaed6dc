/* Memory that recorded calls read, and writes to it. */

#ifndef ANYARRAY_EXPOSURE_H
#define ANYARRAY_EXPOSURE_H

#include "lazy.h"

/* Makes the table of exposed memory; 0 with an exception. */
int init_exposure(void);

/* The ndarray whose memory another is a view of, itself if it has its own: borrowed; NULL if that is no ndarray's. */
PyObject *owner_of(PyObject *native);

/* What a recorded call reads in place of the ndarray of an Array: a new reference, or NULL without an exception if the
call must run at once. */
PyObject *lasting(PyObject *native);

/* Runs the recorded calls that read the memory of an ndarray, as before a write to it; 0 with an exception. If `writer`,
whose result is what is written, is not NULL, those that lead to it wait if they read but elements of this ndarray. */
int compute_readers(PyObject *native, Lazy *writer);

/* is_read(array): whether a recorded call of a library with views, which is not NumPy, reads the native array of an Array,
which nobody else may write to then. */
PyObject *is_read(PyObject *module, PyObject *array);

/* As `compute_readers`, and no call that reads this memory is recorded from now on, as somebody outside may write to it. */
int expose(PyObject *native);

/* expose(native), for Python. */
PyObject *exposed(PyObject *module, PyObject *native);

#endif
