/* Calls of elementwise functions that are put off on other backends than NumPy; see `_lazy.recording`. */

#ifndef ANYARRAY_POSTPONED_H
#define ANYARRAY_POSTPONED_H

#include "call.h"
#include "config.h"

/* Whether a value stands for a native array that is not computed. */
static inline int
is_postponed(PyObject *value)
{
    return Py_TYPE(value) == config.postponed_type;
}

/* The Array of a call with so many values, in the order of the parameters, put off: a new reference. NULL, perhaps with
an exception, if it is to be run. */
PyObject *put_off_call(Call *call, PyObject *const *values, Py_ssize_t count);

/* The same for an operator in place. */
PyObject *put_off_inplace(Call *call, PyObject *const *values);

/* The native array of a call that was put off: a new reference, or NULL with an exception. */
PyObject *compute_postponed(PyObject *postponed);

/* Computes the calls that read the memory of a native array, as somebody asks for it; 0 with an exception. */
int compute_postponed_readers(PyObject *native);

#endif
