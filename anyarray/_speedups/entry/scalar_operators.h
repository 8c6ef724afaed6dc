/* Operators of scalars. */

#ifndef ANYARRAY_SCALAR_OPERATORS_H
#define ANYARRAY_SCALAR_OPERATORS_H

#include "call.h"

/* Whether the operators of NumPy scalars give the ufunc's result for these operands. */
int are_operands(PyObject *const *natives, int count);

PyObject *apply_operator(const Operator *operation, PyObject *const *operands);

/* Applies an operator to scalars of Arrays on NumPy's free home and Python scalars, before other operands are
considered. Returns a new Array; NULL, perhaps with an exception, for other operands. */
PyObject *operate_on_scalars(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Calls the function that replaces a power with a Python scalar as exponent, if there is one. Returns a new Array; NULL
without an exception if there is none: sets `*is_known` to 1 if that is certain, or 0 if Python must decide. */
PyObject *call_power(PyObject *home, PyObject *base, PyObject *exponent, int *is_known);

#endif
