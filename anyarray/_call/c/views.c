/* Views of a whole Array.

Compiled: `x.T`, `x.mT` of a matrix, and `np.asarray(x)` of an Array in NumPy, which calls `x.__array__()`: a view to
write through. Left to Python: stacks of matrices, a dtype or a copy asked for, and memory that is not written in place. */

#include "views.h"
#include "arrays.h"
#include "choice.h"
#include "exposure.h"
#include "fast_paths.h"

PyObject *
view_in_place(PyObject *array, PyObject *name, PyObject *argument)
{
    PyObject *account = get_slot(array, config.account_offset);
    if ((account != NULL && account != Py_None) || !is_in_place(array)) {
        return NULL;
    }
    PyObject *home = Py_NewRef(home_of(array)), *native = Py_NewRef(native_of(array)), *result = NULL;
    forget_plain(array); /* somebody may write to the view */
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

/* The transpose of a matrix of another library. */
static PyObject *
transposed_in_place(PyObject *array)
{
    PyObject *native = is_array(array) ? native_of(array) : NULL, *home = native == NULL ? NULL : home_of(array);
    int by_size;
    if (!is_home(home) || PyArray_Check(native) || PyArray_IsScalar(native, Generic) || !runs_at_home(home, &by_size)
        || by_size) {
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
        return transposed_in_place(args[0]);
    }
    if (native == NULL || !is_writable(native)
        || (call->variant == 'm' && PyArray_NDIM((PyArrayObject *)native) != 2)) {
        return NULL;
    }
    PyObject *transposed = PyArray_Transpose((PyArrayObject *)native, NULL);
    return transposed == NULL ? fall_back() : wrap(transposed, config.numpy_home);
}

PyObject *
fast_array(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    PyObject *native = nargs > 0 ? ndarray_of(args[0]) : NULL;
    if (native == NULL || !is_writable(native) || nargs + named > 3 || named > 1 || (named && PyTuple_GET_ITEM(kwnames, 0) != constants.copy)) {
        return NULL;
    }
    for (Py_ssize_t i = 1; i < nargs + named; i++) {
        if (args[i] != Py_None) {
            return NULL;
        }
    }
    Py_INCREF(native); /* what runs now may give the Array another native array */
    int is_exposed = expose(native); /* a warning that it raises is not raised again */
    PyObject *view = is_exposed ? PyArray_View((PyArrayObject *)native, NULL, &PyArray_Type) : NULL;
    Py_DECREF(native);
    return view == NULL && is_exposed ? fall_back() : view;
}
