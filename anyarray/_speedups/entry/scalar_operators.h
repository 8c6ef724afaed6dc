/* Operators of scalars. */

#ifndef ANYARRAY_SCALAR_OPERATORS_H
#define ANYARRAY_SCALAR_OPERATORS_H

#include "call.h"

/* Whether the operator of NumPy's scalars takes these operands, and takes less than a loop. */
int are_operands(PyObject *const *natives, int count);

PyObject *apply_operator(const Operator *operation, PyObject *const *operands);

/* An operator of scalars alone, before all else: a new reference, or NULL, perhaps with an exception. */
PyObject *operate_on_scalars(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Calls the function that stands for a power with a Python scalar as exponent.

Returns a new reference; NULL without an exception if none stands for it, or if Python must look for one: then
`*is_known` is 0. */
PyObject *call_power(PyObject *home, PyObject *base, PyObject *exponent, int *is_known);

#endif
