/* NumPy scalars, and Python scalars beside arrays. */

#ifndef ANYARRAY_SCALARS_H
#define ANYARRAY_SCALARS_H

#include "config.h"
#include <numpy/arrayscalars.h>

/* Returns the type number of a NumPy scalar type, for bool and numbers of 8 to 128 bits; -1 for other types. */
int scalar_typenum(const PyTypeObject *type);

/* The memory of the value of a NumPy scalar; all these types have it at the same offset. */
static inline char *
scalar_value(PyObject *scalar)
{
    return (char *)&((PyDoubleScalarObject *)scalar)->obval;
}

/* Whether a type number is that of integers or real floats. */
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

/* Whether a dtype, by its type number, takes a Python scalar, whose kind is no higher. NumPy raises for ints out of
range. */
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

/* Returns a new 0-d ndarray of a Python number in its default dtype; NULL without an exception on failure. */
PyObject *array_of_scalar(PyObject *value);

#endif
