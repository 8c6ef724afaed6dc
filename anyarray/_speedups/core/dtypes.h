/* NumPy dtypes of arguments and arrays, and the default dtypes. */

#ifndef ANYARRAY_DTYPES_H
#define ANYARRAY_DTYPES_H

#include "config.h"

/* Whether a dtype is bool or numeric; NumPy casts between these as the standard says. */
int is_standard(PyArray_Descr *dtype);

/* Whether the dtype of an ndarray is one that Arrays on `home` may have, in native byte order. */
int has_known_dtype(PyObject *home, PyArrayObject *array);

/* Whether Python scalars take the standard's default dtypes, as they do outside `default_dtypes`. */
int has_standard_defaults(void);

/* Returns the NumPy dtype of a DType, NumPy dtype, name, NumPy scalar type, or bool, int or float; the default float
for NULL. A new reference; NULL without an exception if Python must read it. */
PyArray_Descr *read_dtype(PyObject *dtype);

/* Returns the NumPy dtype that equals a native dtype of `home`: for NumPy, one dtype for int64 and an equal longlong. A
new reference; NULL without an exception. */
PyArray_Descr *read_dtype_of(PyObject *home, PyObject *native);

/* Returns the type number of NumPy's default dtype of a Python scalar class; -1 for any other class. */
static inline int
typenum_of(PyTypeObject *type)
{
    return type == &PyFloat_Type  ? NPY_DOUBLE
           : type == &PyLong_Type ? NPY_INT64
           : type == &PyBool_Type ? NPY_BOOL
                                  : -1;
}

#endif
