/* The fast paths of `x.T`, `x.mT`, `x.reshape`, `x.ravel` and `x.__array__`; call.c calls them.

Leaves to Python: stacks of matrices, arguments other than a shape, read-only memory, Arrays of other libraries that are
not written in place, and errors. */

#include "views.h"
#include "arrays.h"
#include "choice.h"
#include "exposure.h"
#include "fast_paths.h"
#include "memory.h"

PyObject *
view_in_place(PyObject *array, PyObject *name, PyObject *argument)
{
    if (!is_in_place(array)) {
        return NULL;
    }
    PyObject *home = Py_NewRef(home_of(array)), *native = Py_NewRef(native_of(array)), *result = NULL;
    PyObject *function = PyObject_GetAttr(home, name);
    if (function != NULL) {
        PyObject *args[] = {NULL, native, argument};
        size_t count = argument == NULL ? 1 : 2;
        PyObject *found = PyObject_Vectorcall(function, args + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
        Py_DECREF(function);
        result = found == NULL ? NULL : wrap(found, home);
    }
    Py_DECREF(native);
    Py_DECREF(home);
    return result == NULL ? fall_back() : result;
}

/* Returns a new Array, the transpose of a matrix of another library; NULL without an exception otherwise. */
static PyObject *
transpose_of_backend(PyObject *array)
{
    PyObject *native = is_array(array) ? native_of(array) : NULL, *home = native == NULL ? NULL : home_of(array);
    int by_size;
    if (home == NULL || Py_TYPE(home) != config.home_type || PyArray_Check(native) || PyArray_IsScalar(native, Generic)
        || !runs_at_home(home, &by_size) || by_size) { /* other classes of homes check each attribute */
        return NULL;
    }
    PyObject *ndim = PyObject_GetAttr(native, constants.ndim);
    int is_matrix = ndim != NULL && PyLong_CheckExact(ndim) && PyLong_AsLong(ndim) == 2;
    Py_XDECREF(ndim);
    return is_matrix ? view_in_place(array, constants.matrix_transpose, NULL) : fall_back();
}

PyObject *
fast_transpose(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *Py_UNUSED(kwnames))
{
    PyObject *native = nargs == 1 ? ndarray_of(args[0]) : NULL;
    if (native == NULL && nargs == 1) {
        return transpose_of_backend(args[0]);
    }
    if (native == NULL || !is_writable(native)
        || (call->variant == 'm' && PyArray_NDIM((PyArrayObject *)native) != 2)) {
        return NULL;
    }
    PyObject *transposed = PyArray_Transpose((PyArrayObject *)native, NULL);
    return transposed == NULL ? fall_back() : wrap(transposed, config.numpy_home);
}

/* Returns a borrowed reference to the ndarray of an Array that may be reshaped without a decision by cost: one that is
writable, and contiguous or small. NULL without an exception otherwise. */
static PyObject *
reshaped_in_place(Call *call, PyObject *array)
{
    PyObject *native = ndarray_of(array);
    int by_size;
    if (native == NULL || !is_writable(native)
        || !(PyArray_IS_C_CONTIGUOUS((PyArrayObject *)native) || size_of(native) < config.few)) { /* else reshaping may copy */
        return NULL;
    }
    int is_cheap = runs_at_home(config.numpy_home, &by_size)
                   || (by_size && size_of(native) < limit_at(call->choice.limit, config.even_offset));
    return is_cheap ? native : NULL;
}

PyObject *
fast_ravel(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *native = nargs == 1 && !has_keywords(kwnames) ? reshaped_in_place(call, args[0]) : NULL;
    PyObject *flat = native == NULL ? NULL : PyArray_Ravel((PyArrayObject *)native, NPY_CORDER);
    return flat == NULL ? fall_back() : wrap(flat, config.numpy_home);
}

PyObject *
fast_reshape(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *native = nargs > 1 && !has_keywords(kwnames) ? reshaped_in_place(call, args[0]) : NULL;
    int is_tuple = nargs == 2 && PyTuple_CheckExact(args[1]);
    Py_ssize_t ndim = is_tuple ? PyTuple_GET_SIZE(args[1]) : nargs - 1;
    if (native == NULL || ndim > MAX_NDIM) {
        return NULL;
    }
    npy_intp lengths[MAX_NDIM];
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *length = is_tuple ? PyTuple_GET_ITEM(args[1], i) : args[i + 1];
        if (!PyLong_CheckExact(length)) {
            return NULL;
        }
        lengths[i] = PyLong_AsSsize_t(length);
        if (lengths[i] == -1 && PyErr_Occurred()) {
            return fall_back();
        }
    }
    PyArray_Dims shape = {lengths, (int)ndim};
    PyObject *reshaped = PyArray_Newshape((PyArrayObject *)native, &shape, NPY_CORDER);
    return reshaped == NULL ? fall_back() : wrap(reshaped, config.numpy_home);
}

PyObject *
fast_array(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    PyObject *native = nargs > 0 ? ndarray_of(args[0]) : NULL;
    if (native == NULL || !is_writable(native) || nargs + named > 3 || named > 1
        || (named && PyTuple_GET_ITEM(kwnames, 0) != constants.copy)) {
        return NULL;
    }
    for (Py_ssize_t i = 1; i < nargs + named; i++) {
        if (args[i] != Py_None) {
            return NULL;
        }
    }
    Py_INCREF(native); /* `expose` may replace the native array */
    int is_exposed = expose(native); /* its warnings must not be raised twice */
    PyObject *view = is_exposed ? PyArray_View((PyArrayObject *)native, NULL, &PyArray_Type) : NULL;
    Py_DECREF(native);
    return view == NULL && is_exposed ? fall_back() : view;
}
