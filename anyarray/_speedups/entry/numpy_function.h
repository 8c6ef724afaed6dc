/* NumPy's own functions, for what lives free in NumPy. */

#ifndef ANYARRAY_NUMPY_FUNCTION_H
#define ANYARRAY_NUMPY_FUNCTION_H

#include "call.h"

/* An object that is called as its Call: the base class of `anyarray.numpy.ufunc`. */
extern PyTypeObject CalledType;

#endif
