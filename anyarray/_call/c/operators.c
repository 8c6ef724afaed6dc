/* Operators that are no function alone: in-place arithmetic, divmod, and NumPy's ufuncs of Arrays.

Compiled: `x += y` of few elements, `divmod` of floats of one dtype and shape, which NumPy divides once for
both results, `np.exp(x)` and `ndarray + x`. Left to Python: arithmetic in the memory of many elements
(`Array._is_updated`), results of another shape or dtype, the arguments and methods of ufuncs. Repeated here:
how `Array._rebind` gives an Array its new value, and which ufuncs `Array.__array_ufunc__` hands on. */

#include "arrays.h"
#include "choice.h"
#include "fast_paths.h"

/* Whether a native array of NumPy may take the place of another: it has the same shape and dtype. */
static int
can_replace(PyObject *native, PyObject *other)
{
    if (PyArray_CheckExact(native) && PyArray_CheckExact(other)) {
        return PyArray_DESCR((PyArrayObject *)native) == PyArray_DESCR((PyArrayObject *)other)
               && has_same_shape(native, other);
    }
    return Py_TYPE(native) == Py_TYPE(other) && PyArray_IsScalar(native, Generic);
}

/* `x += y` and the like: the Array gets the native array of the result. */
PyObject *
fast_inplace(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs != 2 || !is_array(args[0]) || home_of(args[0]) != config.numpy_home
        || PyDict_Size(config.second_copy_sizes)) {
        return NULL;
    }
    PyObject *array = args[0], *before = native_of(array);
    if (before == NULL || size_of(before) >= config.large) {
        return NULL;
    }
    PyObject *result = fast_function(call, args, nargs, kwnames);
    if (result == NULL) {
        return NULL;
    }
    PyObject *native = native_of(result);
    before = native_of(array); /* again, as another thread may have written meanwhile */
    if (home_of(result) != config.numpy_home || home_of(array) != config.numpy_home || before == NULL
        || !can_replace(native, before)) {
        Py_DECREF(result);
        return NULL;
    }
    swap_slot(array, config.native_offset, Py_NewRef(native));
    Py_DECREF(result);
    drop_second_copy(array);
    Py_DECREF(before);
    return Py_NewRef(array);
}

PyObject *
fast_divmod(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int by_size;
    PyObject *left = nargs == 2 ? ndarray_of(args[0]) : NULL, *right = left == NULL ? NULL : ndarray_of(args[1]);
    if (right == NULL || has_keywords(kwnames) || !has_same_shape(left, right) || size_of(left) >= config.few
        || !runs_at_home(config.numpy_home, &by_size)
        || (by_size && size_of(left) >= limit_at(call->limit, config.even_offset))) {
        return NULL;
    }
    int typenum = PyArray_TYPE((PyArrayObject *)left);
    if ((typenum != NPY_FLOAT && typenum != NPY_DOUBLE) || PyArray_TYPE((PyArrayObject *)right) != typenum) {
        return NULL;
    }
    Py_INCREF(left);
    Py_INCREF(right);
    PyObject *natives = PyNumber_Divmod(left, right);
    Py_DECREF(left);
    Py_DECREF(right);
    PyObject *result = natives == NULL ? NULL : wrap_in_tuple(natives, config.numpy_home, &PyTuple_Type);
    Py_XDECREF(natives);
    return result == NULL ? fall_back() : result;
}

/* `x.__array_ufunc__(ufunc, "__call__", *inputs)`, without keywords. */
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
