/* Binding of arguments to parameters. */

#ifndef ANYARRAY_ARGUMENTS_H
#define ANYARRAY_ARGUMENTS_H

#include "call.h"

/* Binds arguments and defaults to the parameters, as borrowed references in `values`. Returns 0 without an exception if
they do not match. */
int bind_arguments(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **values);

/* Whether a parameter accepts a value that is not an array. */
int takes_value(const Parameter *p, PyObject *value);

/* Reads the keywords `dtype` and `copy` as borrowed references, NULL if omitted or None. A NULL pointer means that the
function has no such keyword. Returns 0 without an exception for other keywords. */
int read_keywords(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **dtype, PyObject **copy);

/* Whether a value is a tuple of ints. */
int are_integers(PyObject *value);

#endif
