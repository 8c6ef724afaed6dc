/* A cache of loops by function and dtypes, and NumPy's error modes. */

#ifndef ANYARRAY_PLANS_H
#define ANYARRAY_PLANS_H

#include "call.h"

/* Returns the loop of a function, by its interned name, on a home for operands of these native dtypes. For `astype` on
a home other than NumPy's, the last dtype is that of the result. NULL, perhaps with an exception, if such calls are not
recorded. */
const Loop *loop_of(Call *call, PyObject *name, PyObject *home, PyObject *const *dtypes, int count);

/* Whether two native dtypes of a home are equal. */
int is_same_dtype(PyObject *home, PyObject *one, PyObject *other);

/* Returns the floating-point errors to warn of, by NumPy's numbers; -1, perhaps with an exception, if errors raise,
call or print, so that calls cannot be recorded. */
int warned_errors(void);

#endif
