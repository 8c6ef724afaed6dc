/* Attributes of Arrays that live free in NumPy, and what Python's `len` and `format` ask.

Compiled: `x.shape`, `x.ndim`, `x.size`, `x.dtype`, `len(x)`, and the format of an element, which is that of NumPy's scalar.
Left to Python: Arrays of other libraries, what is recorded, and errors. */

#include "arrays.h"
#include "dtypes.h"
#include "fast_paths.h"
#include "scalars.h"

/* The native array of the Array alone that a method is called with, if it lives free in NumPy: a borrowed reference, or NULL
without an exception. `*array` is NULL for a scalar. */
static PyObject *
native_of_self(PyObject *const *args, Py_ssize_t nargs, Py_ssize_t wanted, PyObject *kwnames, PyArrayObject **array)
{
    int is_free = nargs == wanted && !has_keywords(kwnames) && is_array(args[0]) && home_of(args[0]) == config.numpy_home;
    PyObject *native = is_free ? native_of(args[0]) : NULL;
    *array = native != NULL && PyArray_CheckExact(native) ? (PyArrayObject *)native : NULL;
    return native != NULL && (*array != NULL || scalar_typenum(Py_TYPE(native)) >= 0) ? native : NULL;
}

PyObject *
fast_shape(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyArrayObject *array;
    if (native_of_self(args, nargs, 1, kwnames, &array) == NULL) {
        return NULL;
    }
    PyObject *shape = array == NULL ? PyTuple_New(0) : PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_DIMS(array));
    return shape == NULL ? fall_back() : shape;
}

PyObject *
fast_ndim(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyArrayObject *array;
    PyObject *native = native_of_self(args, nargs, 1, kwnames, &array);
    return native == NULL ? NULL : PyLong_FromLong(array == NULL ? 0 : PyArray_NDIM(array));
}

PyObject *
fast_size(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyArrayObject *array;
    PyObject *native = native_of_self(args, nargs, 1, kwnames, &array);
    return native == NULL ? NULL : PyLong_FromSsize_t(array == NULL ? 1 : PyArray_SIZE(array));
}

PyObject *
fast_len(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyArrayObject *array;
    native_of_self(args, nargs, 1, kwnames, &array);
    return array == NULL || PyArray_NDIM(array) == 0 ? NULL : PyLong_FromSsize_t(PyArray_DIM(array, 0));
}

PyObject *
fast_dtype(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyArrayObject *array;
    PyObject *native = native_of_self(args, nargs, 1, kwnames, &array);
    PyObject *dtype = native == NULL ? NULL : dtype_of(config.numpy_home, native);
    if (dtype == NULL) {
        return fall_back();
    }
    PyObject *ours = Py_XNewRef(PyDict_GetItemWithError(get_slot(config.numpy_home, config.dtypes_offset), dtype));
    Py_DECREF(dtype);
    return ours == NULL ? fall_back() : ours;
}
