/* Views of a whole Array in NumPy.

Compiled: `x.T`, `x.mT` of a matrix, and `np.asarray(x)`, which calls `x.__array__()`: a view to write
through. Left to Python: stacks of matrices, a dtype or a copy asked for, Arrays of other libraries, and
guarded memory, which is read-only. */

#include "arrays.h"
#include "exposure.h"
#include "fast_paths.h"

PyObject *
fast_transpose(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *Py_UNUSED(kwnames))
{
    PyObject *native = nargs == 1 ? ndarray_of(args[0]) : NULL;
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
