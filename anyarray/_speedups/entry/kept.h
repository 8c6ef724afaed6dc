/* Decisions that were made about calls alike, and hold where the Arrays of a call live. */

#ifndef ANYARRAY_KEPT_H
#define ANYARRAY_KEPT_H

#include "call.h"

/* Whether any of these values is an Array with missed savings. */
int has_account(PyObject *const *values, int count);

/* The kept decision that a call of Arrays which all live on `home` runs there, if nothing else is to be asked: a new
reference to a `_choice.machine.KeptCall`, or NULL without an exception. */
PyObject *kept_at_home(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives);

/* Adds to the account of the first Array what such a call missed, and lets the result inherit it; 0 with an
exception. */
int inherit_account(Call *call, PyObject *kept, PyObject *const *values, PyObject *result);

#endif
