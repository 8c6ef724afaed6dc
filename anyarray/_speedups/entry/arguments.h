/* Which argument is which parameter's, and whether its fast path takes it. */

#ifndef ANYARRAY_ARGUMENTS_H
#define ANYARRAY_ARGUMENTS_H

#include "call.h"

/* Binds the arguments to the parameters, with defaults: borrowed references in `values`. 0 without an exception
if they do not fit. */
int bind_arguments(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **values);

/* Whether a value that is no array may be the argument of a parameter. */
int takes_value(const Parameter *p, PyObject *value);

/* Reads the keywords `dtype` and `copy`: borrowed references, NULL if left out or None. A function that does not
have one of them passes NULL for it. 0 without an exception if there are others. */
int read_keywords(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **dtype, PyObject **copy);

/* Whether a value is a tuple of integers. */
int are_integers(PyObject *value);

#endif
