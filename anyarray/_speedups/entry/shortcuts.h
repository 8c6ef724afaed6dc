/* What gives the same as a native function of NumPy for few elements. */

#ifndef ANYARRAY_SHORTCUTS_H
#define ANYARRAY_SHORTCUTS_H

#include "call.h"

/* Calls the shortcut of a native function: a new reference; NULL if it has none for these arguments, without an
exception unless one that must be raised. */
PyObject *call_shortcut(Call *call, PyObject *function, PyObject *const *natives);

/* The same for a library's own function, of arrays of any library but NumPy that have one dtype. */
PyObject *call_direct(Call *call, PyObject *function, PyObject *home, PyObject *const *natives);

/* The whole of a call of so many Arrays alone, as one before: a new reference. NULL, without an exception unless one that
must be raised, if it is another. */
PyObject *call_arrays_directly(Call *call, PyObject *const *args, Py_ssize_t nargs);

#endif
