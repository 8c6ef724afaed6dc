/* Python scalars beside arrays. */

#ifndef ANYARRAY_SCALARS_H
#define ANYARRAY_SCALARS_H

#include "config.h"

static inline int
is_python_scalar(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type;
}

/* The value in a home's table for a Python scalar beside a native array: a borrowed reference, or NULL without
an exception. */
PyObject *look_up_scalar(PyObject *table, PyObject *value, PyObject *home, PyObject *beside);

/* A native 0-d array of NumPy of a Python number in its own dtype: a new reference, or NULL without an
exception. */
PyObject *array_of_scalar(PyObject *value);

#endif
