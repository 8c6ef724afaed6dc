/* Which dtypes NumPy treats as the standard does, and what the default dtypes are. */

#ifndef ANYARRAY_DTYPES_H
#define ANYARRAY_DTYPES_H

#include "config.h"

/* Whether a dtype is bool or a number, which NumPy converts as the standard says. */
int is_standard(PyArray_Descr *dtype);

/* Whether an ndarray has a dtype that Arrays on `home` have, of this machine's byte order. */
int has_known_dtype(PyObject *home, PyArrayObject *array);

/* Whether Python numbers take the standard's dtypes, as they do outside of `default_dtypes`. */
int has_standard_defaults(void);

/* NumPy's dtype of a DType, of NumPy's own dtypes and classes of scalars, or of Python's bool, int or float; of the
default float for NULL. A new reference, or NULL for what Python must look at. */
PyArray_Descr *read_dtype(PyObject *dtype);

/* NumPy's dtype of one that arrays on `home` have: a new reference, or NULL without an exception. */
PyArray_Descr *read_dtype_of(PyObject *home, PyObject *native);

/* The number of NumPy's dtype of a Python number by its class; -1 for another class. */
static inline int
typenum_of(PyTypeObject *type)
{
    return type == &PyFloat_Type  ? NPY_DOUBLE
           : type == &PyLong_Type ? NPY_INT64
           : type == &PyBool_Type ? NPY_BOOL
                                  : -1;
}

#endif
