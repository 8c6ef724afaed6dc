/* The fast paths of in-place operators and of NumPy's ufuncs called with Arrays; call.c calls them.

Leaves to Python: in-place arithmetic of many elements (`_array.assignment._update_in_place`), results of another shape or dtype,
read-only memory, and options and methods of ufuncs. Mirrors `_array.assignment._rebind` and `Array.__array_ufunc__`. */

#include "arrays.h"
#include "choice.h"
#include "exposure.h"
#include "fast_paths.h"
#include "recording.h"
#include "scalar_operators.h"

/* Copies the native array of a result into that of an Array. Returns 0 without an exception if shape or dtype differ,
or if the memory is read-only. */
static int
write_result(PyObject *array, PyObject *result)
{
    PyObject *native = native_of(array);
    if (native == NULL || !PyArray_CheckExact(native)) {
        return 0;
    }
    PyArrayObject *to = (PyArrayObject *)native, *from = (PyArrayObject *)result;
    if (!is_writable(native) || !has_same_shape(native, result) || PyArray_DESCR(to) != PyArray_DESCR(from)) {
        return 0;
    }
    if (!compute_readers(native, NULL)) {
        return 0;
    }
    if (PyArray_IS_C_CONTIGUOUS(to) && PyArray_IS_C_CONTIGUOUS(from)) {
        memcpy(PyArray_DATA(to), PyArray_DATA(from), PyArray_NBYTES(to));
        return 1;
    }
    Py_INCREF(native);
    int is_written = PyArray_CopyInto(to, from) == 0;
    Py_DECREF(native);
    if (!is_written) {
        fall_back();
    }
    return is_written;
}

/* x += y */
PyObject *
fast_inplace(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs != 2 || !is_array(args[0])) {
        return NULL;
    }
    PyObject *scalar = (call->operation != NULL || (call->flags & IS_POWER)) && !has_keywords(kwnames)
                           ? operate_on_scalars(call, args, nargs)
                           : NULL; /* scalars are replaced, not written */
    if (scalar != NULL || PyErr_Occurred()) {
        return scalar;
    }
    if ((call->flags & IS_ELEMENTWISE) && !has_keywords(kwnames)) {
        PyObject *recorded = record_inplace(call, args);
        if (recorded != NULL || PyErr_Occurred()) {
            return recorded;
        }
    }
    if (home_of(args[0]) != config.numpy_home) {
        return NULL;
    }
    PyObject *array = args[0], *native = native_of(array);
    if (native == NULL || size_of(native) >= config.large || (PyArray_CheckExact(native) && !is_writable(native))) {
        return NULL;
    }
    int is_number = PyArray_IsScalar(native, Generic); /* scalars are replaced, not written */
    PyObject *result = call_eagerly(call, args, nargs, kwnames);
    if (result == NULL) {
        return NULL;
    }
    if (is_number) {
        PyObject *number = native_of(result);
        if (number != NULL && PyArray_IsScalar(number, Generic)) {
            return result;
        }
        Py_DECREF(result);
        return NULL;
    }
    int is_written = home_of(result) == config.numpy_home && home_of(array) == config.numpy_home
                     && write_result(array, native_of(result));
    Py_DECREF(result);
    return is_written ? Py_NewRef(array) : NULL;
}

/* x.__array_ufunc__(ufunc, "__call__", *inputs) */
PyObject *
fast_ufunc(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs < 4 || has_keywords(kwnames) || !PyUnicode_Check(args[2])
        || PyUnicode_CompareWithASCIIString(args[2], "__call__") != 0) {
        return NULL;
    }
    for (Py_ssize_t i = 3; i < nargs; i++) {
        PyObject *type = (PyObject *)Py_TYPE(args[i]);
        if (!is_array(args[i]) && PySet_Contains(config.operand_types, type) != 1) {
            return fall_back();
        }
    }
    PyObject *function = PyDict_GetItemWithError(config.ufuncs, args[1]);
    if (function == NULL) {
        return fall_back();
    }
    Py_INCREF(function);
    PyObject *result = PyObject_Vectorcall(function, args + 3, (size_t)nargs - 3, NULL);
    Py_DECREF(function);
    return result == NULL ? fall_back() : result;
}
