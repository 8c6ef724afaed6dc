/* Views of Arrays of other libraries than NumPy. */

#ifndef ANYARRAY_VIEWS_H
#define ANYARRAY_VIEWS_H

#include "config.h"

/* A view of an Array that is written in place, which needs no record, by a function of its home with one more argument or,
for NULL, none: a new reference, or NULL without an exception. */
PyObject *view_in_place(PyObject *array, PyObject *name, PyObject *argument);

#endif
