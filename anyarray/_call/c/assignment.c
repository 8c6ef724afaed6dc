/* `x[key] = value`.

Compiled: a write to the ndarray of an Array, in place. Left to Python: guarded memory, which is read-only,
values to be converted or brought over, keys that keys.c leaves, errors. Repeated here:
- memory is written in place if its ndarray is writable: `_memory.views`;
- the dtypes that take a Python scalar: `_array.array._EXACT_KINDS` (takes_scalar). */

#include "arrays.h"
#include "fast_paths.h"
#include "keys.h"
#include "scalars.h"

/* Whether NumPy writes a Python scalar to this dtype with its value, or raises. */
static int
takes_scalar(PyArray_Descr *dtype, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    const char *kinds = type == &PyFloat_Type  ? "fc"
                        : type == &PyLong_Type ? "iufc"
                        : type == &PyBool_Type ? "biufc"
                                               : "c";
    return strchr(kinds, dtype->kind) != NULL;
}

/* What is written to an ndarray: a Python scalar, or the native array of an Array of the same home and dtype.

A new reference; NULL without an exception if Python must look at the value. */
static PyObject *
native_value(PyObject *value, PyArrayObject *to, PyObject *home)
{
    PyArray_Descr *dtype = PyArray_DESCR(to);
    if (is_python_scalar(value)) {
        return takes_scalar(dtype, value) ? Py_NewRef(value) : NULL;
    }
    PyObject *native = is_array(value) && home_of(value) == home ? native_of(value) : NULL;
    if (native == NULL) {
        return NULL;
    }
    if (!PyArray_CheckExact(native)) {
        return PyArray_IsScalar(native, Generic) && Py_TYPE(native) == dtype->typeobj ? Py_NewRef(native) : NULL;
    }
    if (PyArray_DESCR((PyArrayObject *)native) != dtype) {
        return NULL;
    }
    return Py_NewRef(native); /* which may be a part of the same memory: NumPy reads it first */
}

PyObject *
fast_setitem(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs != 3 || has_keywords(kwnames) || !is_array(args[0])) {
        return NULL;
    }
    PyObject *native = native_of(args[0]), *home = home_of(args[0]);
    if (native == NULL || !is_writable(native) || home == NULL) {
        return NULL;
    }
    PyObject *key = native_key(args[1], home);
    if (key == NULL) {
        return NULL;
    }
    Py_INCREF(native); /* allocating may run any code, which may give the Array another native array */
    PyObject *value = native_value(args[2], (PyArrayObject *)native, home);
    int failed = value == NULL || !is_writable(native) || native_of(args[0]) != native
                 || PyObject_SetItem(native, key, value) < 0;
    Py_XDECREF(value);
    Py_DECREF(native);
    Py_DECREF(key);
    if (failed) {
        return fall_back();
    }
    Py_RETURN_NONE;
}
