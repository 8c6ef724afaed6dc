/* The fast paths of the attributes `shape`, `ndim`, `size` and `dtype` and of `len(x)`, for Arrays on NumPy's free
home; call.c calls them. */

#include "arrays.h"
#include "dtypes.h"
#include "fast_paths.h"
#include "scalars.h"

/* Returns a borrowed reference to the native array of the only argument if that is an Array on NumPy's free home; NULL
without an exception otherwise. Sets `*array` to NULL for a scalar. */
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
