/* The iterator over an Array in NumPy. */

#ifndef ANYARRAY_ITERATION_H
#define ANYARRAY_ITERATION_H

#include "numpy_api.h"

extern PyTypeObject ArrayIteratorType;

#endif
