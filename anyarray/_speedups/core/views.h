/* Views of Arrays of libraries other than NumPy. */

#ifndef ANYARRAY_VIEWS_H
#define ANYARRAY_VIEWS_H

#include "config.h"

/* Calls a function of the Array's home that gives a view, with `argument` unless it is NULL, if the Array is written in
place. Returns a new Array; NULL without an exception otherwise. */
PyObject *view_in_place(PyObject *array, PyObject *name, PyObject *argument);

#endif
