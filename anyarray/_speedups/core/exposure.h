/* Protection of the memory that recorded calls read. */

#ifndef ANYARRAY_EXPOSURE_H
#define ANYARRAY_EXPOSURE_H

#include "lazy.h"

/* Creates the table of exposed memory. Returns 0 with an exception on failure. */
int init_exposure(void);

/* Returns a borrowed reference to the ndarray that owns the memory of an ndarray, which may be itself; NULL without an
exception if no ndarray owns it. */
PyObject *owner_of(PyObject *native);

/* Returns what a recorded call may read instead of the ndarray of an Array: the ndarray, or a copy of a small one. A
new reference; NULL without an exception if the call cannot be recorded. */
PyObject *stable_operand(PyObject *native);

/* Computes the recorded calls that read the memory of an ndarray, before a write. Those that lead to `writer`, if it is
not NULL, and read only the elements to be written, are left to the write. Returns 0 with an exception on failure. */
int compute_readers(PyObject *native, Lazy *writer);

/* is_read(array): whether a recorded call of a library other than NumPy reads the native array of an Array. */
PyObject *is_read(PyObject *module, PyObject *array);

/* Computes the readers of an ndarray, and stops recorded calls from reading its memory later. Returns 0 with an
exception on failure. */
int expose(PyObject *native);

/* expose(native): `expose` for Python. */
PyObject *expose_native(PyObject *module, PyObject *native);

#endif
