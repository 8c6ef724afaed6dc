/* Python scalars beside arrays.

Compiled: scalars that a home has in its tables `constants` and `powers`, and numbers that are no complex
beside each other. Left to Python: to put a scalar into the table when it comes first, as
`_registry.home._Constants` does, and numbers that the dtype cannot hold. Repeated here: the keys of these
tables, with `_registry.home.zero` for what is zero. */

#include "scalars.h"
#include "arrays.h"
#include "dtypes.h"
#include <math.h>

/* The key of a zero, as 0.0 == -0.0: its `repr`, which is known of the commonest. A new reference, or NULL. */
static PyObject *
zero_key(PyObject *value)
{
    if (Py_TYPE(value) == &PyFloat_Type && !signbit(PyFloat_AS_DOUBLE(value))) {
        return Py_NewRef(constants.zero_float);
    }
    return Py_TYPE(value) == &PyLong_Type ? Py_NewRef(constants.zero) : PyObject_Repr(value);
}

PyObject *
look_up_scalar(PyObject *table, PyObject *value, PyObject *home, PyObject *beside)
{
    PyObject *dtype = dtype_of(home, beside);
    if (dtype == NULL) {
        return fall_back();
    }
    PyObject *found = NULL;
    PyObject *number = PyObject_IsTrue(value) ? Py_NewRef(value) : zero_key(value);
    PyObject *key = number == NULL ? NULL : PyTuple_Pack(3, number, (PyObject *)Py_TYPE(value), dtype);
    if (key != NULL) {
        found = PyDict_GetItemWithError(table, key);
        Py_DECREF(key);
    }
    Py_XDECREF(number);
    Py_DECREF(dtype);
    return found == NULL ? fall_back() : found;
}

PyObject *
array_of_scalar(PyObject *value)
{
    int typenum = typenum_of(Py_TYPE(value));
    if (typenum < 0 || !has_standard_defaults()) {
        return NULL;
    }
    PyObject *array = PyArray_ZEROS(0, NULL, typenum, 0);
    if (array != NULL && PyArray_FillWithScalar((PyArrayObject *)array, value) < 0) {
        Py_CLEAR(array);
    }
    return array == NULL ? fall_back() : array;
}
