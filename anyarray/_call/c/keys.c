/* Keys of an index, as NumPy takes them.

Compiled: integers, slices, None, `...`, tuples of these, and few bools or signed integers in an Array that
lives where the indexed one does. Left to Python: all that `_array.array._normalised` looks at, as ndarrays,
lists and NumPy's scalars, and every error. Repeated here: the keys that `Array.__getitem__` hands to NumPy as
they are (`_BASIC`). */

#include "keys.h"
#include "arguments.h"
#include "arrays.h"

static int
is_slice_bound(PyObject *value)
{
    return value == Py_None || Py_TYPE(value) == &PyLong_Type;
}

static int
is_basic(PyObject *key)
{
    if (Py_TYPE(key) == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)key;
        return is_slice_bound(slice->start) && is_slice_bound(slice->stop) && is_slice_bound(slice->step);
    }
    return Py_TYPE(key) == &PyLong_Type || key == Py_None || key == Py_Ellipsis;
}

static int
are_all_basic(PyObject *tuple)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        if (!is_basic(PyTuple_GET_ITEM(tuple, i))) {
            return 0;
        }
    }
    return 1;
}

/* A basic key, or the ndarray of an Array: a new reference, or NULL without an exception. */
static PyObject *
native_entry(PyObject *key, PyObject *home, int allows_bool)
{
    if (is_basic(key)) {
        return Py_NewRef(key);
    }
    PyObject *native = is_array(key) && home_of(key) == home ? native_of(key) : NULL;
    if (native == NULL || !PyArray_CheckExact(native) || PyArray_SIZE((PyArrayObject *)native) >= config.large) {
        return NULL;
    }
    int typenum = PyArray_TYPE((PyArrayObject *)native);
    return PyTypeNum_ISSIGNED(typenum) || (allows_bool && typenum == NPY_BOOL) ? Py_NewRef(native) : NULL;
}

PyObject *
native_key(PyObject *key, PyObject *home)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        return native_entry(key, home, 1);
    }
    if (are_all_basic(key)) {
        return Py_NewRef(key);
    }
    PyObject *tuple = PyTuple_New(PyTuple_GET_SIZE(key));
    for (Py_ssize_t i = 0; tuple != NULL && i < PyTuple_GET_SIZE(key); i++) {
        PyObject *entry = native_entry(PyTuple_GET_ITEM(key, i), home, 0);
        if (entry == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, entry);
    }
    return tuple == NULL ? fall_back() : tuple;
}

int
is_key_of_element(PyObject *key, PyArrayObject *array)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        return Py_TYPE(key) == &PyLong_Type && PyArray_NDIM(array) == 1;
    }
    return PyTuple_GET_SIZE(key) == PyArray_NDIM(array) && are_integers(key);
}
