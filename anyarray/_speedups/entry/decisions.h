/* Calls that run where their Arrays live, as was decided about calls alike. */

#ifndef ANYARRAY_DECISIONS_H
#define ANYARRAY_DECISIONS_H

#include "call.h"

/* Whether it was decided that a call of Arrays which all live on `home` runs there, and nothing else is to be asked. */
int is_decided_at_home(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives);

#endif
