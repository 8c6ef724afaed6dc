/* The fast path of `x[key] = value`; call.c calls it.

Leaves to Python: read-only memory, values that must be converted or moved, keys that keys.c does not read, and errors.
Mirrors `_memory.views` (writable ndarrays are written in place) and `_array.assignment._EXACT_KINDS`
(`takes_python_scalar`). */

#include "arrays.h"
#include "conversion.h"
#include "dtypes.h"
#include "exposure.h"
#include "fast_paths.h"
#include "keys.h"
#include "recording.h"
#include "scalars.h"

/* Returns the number of axes that a basic key selects from `ndim`; NPY_MAXDIMS for a key with arrays. */
static int
selected_axes(PyObject *key, int ndim)
{
    int is_tuple = PyTuple_Check(key);
    for (Py_ssize_t i = 0, n = is_tuple ? PyTuple_GET_SIZE(key) : 1; i < n; i++) {
        PyObject *entry = is_tuple ? PyTuple_GET_ITEM(key, i) : key;
        if (PyArray_Check(entry) || PyBool_Check(entry)) {
            return NPY_MAXDIMS;
        }
        ndim += entry == Py_None ? 1 : PyIndex_Check(entry) ? -1 : 0;
    }
    return ndim;
}

/* Returns the value to write to an ndarray: a Python scalar, the ndarray of a list or tuple of numbers, or the native
array of an Array. NumPy must cast it safely.

Returns a new reference; NULL without an exception if Python must convert the value. */
static PyObject *
native_value(PyObject *value, PyArrayObject *to, PyObject *key, PyObject *home)
{
    int typenum = PyArray_TYPE(to), own;
    if (is_python_scalar(value)) {
        return takes_python_scalar(typenum, value) ? Py_NewRef(value) : NULL;
    }
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) { /* x[i] = a, b */
        PyObject *array = home == config.numpy_home ? array_of_nest(value, NULL) : NULL;
        PyObject *nested = array == NULL ? NULL : native_of(array);
        int ndim = nested != NULL && PyArray_CheckExact(nested) ? PyArray_NDIM((PyArrayObject *)nested) : NPY_MAXDIMS;
        int is_fit = ndim <= selected_axes(key, PyArray_NDIM(to));
        PyObject *numbers = is_fit ? native_value(array, to, key, home) : NULL;
        Py_XDECREF(array);
        return numbers;
    }
    PyObject *native = !is_array(value) ? value : home_of(value) == home ? native_of(value) : NULL;
    if (native == NULL) {
        return NULL;
    }
    if (is_array(value) && PyArray_CheckExact(native)) { /* NumPy handles overlapping memory */
        PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)native);
        if (dtype == PyArray_DESCR(to)) {
            return Py_NewRef(native);
        }
        own = is_standard(dtype) ? dtype->type_num : -1;
    }
    else {
        own = scalar_typenum(Py_TYPE(native));
    }
    int is_cast_safely = own == typenum || (own >= 0 && is_standard(PyArray_DESCR(to)) && PyArray_CanCastSafely(own, typenum));
    return is_cast_safely ? Py_NewRef(native) : NULL;
}

/* Writes a Python number or an Array of the same home by the hook `written` of a library with views. Returns 1 on
success; 0 without an exception if there is no such hook, or if it refuses. */
static int
is_written_by_hook(PyObject *array, PyObject *key, PyObject *value)
{
    if (is_array(value) && home_of(value) == home_of(array)) {
        value = native_of(value);
    }
    else if (!is_python_scalar(value)) {
        return 0;
    }
    PyObject *hook = value == NULL ? NULL : hook_for_memory(array, constants.written);
    if (hook == NULL) {
        return 0;
    }
    PyObject *args[] = {NULL, Py_NewRef(native_of(array)), key, Py_NewRef(value)};
    PyObject *answer = PyObject_Vectorcall(hook, args + 1, 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(args[1]);
    Py_DECREF(args[3]);
    Py_DECREF(hook);
    Py_XDECREF(answer);
    if (answer == NULL) {
        fall_back();
    }
    return answer == Py_True;
}

PyObject *
fast_setitem(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs != 3 || has_keywords(kwnames) || !is_array(args[0])) {
        return NULL;
    }
    PyObject *native = native_of(args[0]), *home = home_of(args[0]);
    if (native != NULL && !PyArray_CheckExact(native) && is_written_by_hook(args[0], args[1], args[2])) {
        Py_RETURN_NONE;
    }
    if (PyErr_Occurred() || native == NULL || !is_writable(native) || home == NULL) {
        return NULL;
    }
    PyObject *key = native_key(args[1], home);
    if (key == NULL) {
        return NULL;
    }
    if (recorded_count && home == config.numpy_home && is_array(args[2]) && home_of(args[2]) == home && is_basic_key(key)
        && write_recorded(native, key, args[2])) {
        Py_DECREF(key);
        Py_RETURN_NONE;
    }
    if (PyErr_Occurred()) {
        Py_DECREF(key);
        return NULL;
    }
    Py_INCREF(native); /* an allocation may run code that replaces the native array */
    PyObject *value = native_value(args[2], (PyArrayObject *)native, key, home);
    int is_fit = value != NULL && is_writable(native) && native_of(args[0]) == native;
    int is_free = !is_fit || compute_readers(native, NULL); /* warnings must not be raised twice */
    int failed = !is_fit || !is_free || PyObject_SetItem(native, key, value) < 0;
    Py_XDECREF(value);
    Py_DECREF(native);
    Py_DECREF(key);
    if (!is_free) {
        return NULL;
    }
    if (failed) {
        return fall_back();
    }
    Py_RETURN_NONE;
}
