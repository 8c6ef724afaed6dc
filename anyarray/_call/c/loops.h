/* The inner loops of NumPy's ufuncs. */

#ifndef ANYARRAY_LOOPS_H
#define ANYARRAY_LOOPS_H

#include "numpy_api.h"

/* Imports the C API of ufuncs; 0 with an exception. */
int import_ufuncs(void);

/* Calls a function of NumPy with the arguments of a vectorcall; the inner loop of a ufunc, where that gives the
same. */
PyObject *call_or_loop(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames);

#endif
