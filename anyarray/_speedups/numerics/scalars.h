/* Scalars: NumPy's, and Python's beside arrays. */

#ifndef ANYARRAY_SCALARS_H
#define ANYARRAY_SCALARS_H

#include "config.h"
#include <numpy/arrayscalars.h>

/* The number of the dtype of a class of NumPy's scalars, for those of bool and of numbers of 8 to 128 bits; -1 for
another class. */
int scalar_typenum(const PyTypeObject *type);

/* The memory of the value of such a scalar: all these classes have it at one place. */
static inline char *
scalar_value(PyObject *scalar)
{
    return (char *)&((PyDoubleScalarObject *)scalar)->obval;
}

/* Whether a dtype, by its number, is of integers or real numbers. */
static inline int
is_real(int typenum)
{
    return PyTypeNum_ISINTEGER(typenum) || PyTypeNum_ISFLOAT(typenum);
}

static inline int
is_python_scalar(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type;
}

/* Whether a dtype, by its number, takes a Python scalar with its value, or NumPy raises for it: whether the scalar's
kind is no higher. */
static inline int
takes_python_scalar(int typenum, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyComplex_Type) {
        return PyTypeNum_ISCOMPLEX(typenum);
    }
    if (type == &PyFloat_Type) {
        return PyTypeNum_ISFLOAT(typenum) || PyTypeNum_ISCOMPLEX(typenum);
    }
    return type == &PyBool_Type ? PyTypeNum_ISNUMBER(typenum)
                                : type == &PyLong_Type && PyTypeNum_ISNUMBER(typenum) && typenum != NPY_BOOL;
}

/* Returns the value for a Python scalar beside an array of a native dtype in a table of a home, `constants` or `powers`,
which makes the values that it lacks: a new reference, or NULL with an exception. */
PyObject *look_up_scalar(PyObject *table, PyObject *value, PyObject *dtype);

/* The same beside a native array; NULL without an exception if there is none. */
PyObject *look_up_scalar_beside(PyObject *table, PyObject *value, PyObject *home, PyObject *beside);

/* A native 0-d array of NumPy of a Python number in its own dtype: a new reference, or NULL without an
exception. */
PyObject *array_of_scalar(PyObject *value);

#endif
