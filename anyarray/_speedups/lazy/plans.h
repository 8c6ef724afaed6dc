/* What is known of a function for operands of some dtypes. */

#ifndef ANYARRAY_PLANS_H
#define ANYARRAY_PLANS_H

#include "call.h"

/* The loop of a function of this interned name on a home, for operands of these dtypes of its library; of `astype` on
another home than NumPy's the last dtype is the one to cast to. Python is asked once. NULL, perhaps with an exception, if
calls are not recorded. */
const Loop *loop_of(Call *call, PyObject *name, PyObject *home, PyObject *const *dtypes, int count);

/* Whether two dtypes of the library of a home are the same. */
int is_same_dtype(PyObject *home, PyObject *one, PyObject *other);

/* The floating-point errors that are warned of here, as NumPy numbers them; -1 if a call must run at once, perhaps with
an exception, as they raise, call or print. */
int warned_errors(void);

#endif
