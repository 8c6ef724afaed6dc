/* Ufuncs of quotients of floats. */

#ifndef ANYARRAY_QUOTIENTS_H
#define ANYARRAY_QUOTIENTS_H

#include "numpy_api.h"

/* Adds the ufuncs to the module, where the processor has what they need; 0 with an exception. */
int add_quotients(PyObject *module);

#endif
