/* Converts the keys of indexing for NumPy; used by `x[key]` and `x[key] = value`.

Takes ints, slices, None, `...`, tuples of these, and small arrays of bools or signed ints: ndarrays, Arrays on the same
home, and lists of ints. Leaves to Python: other keys (`_array.indexing.checked`), and errors. Mirrors
`_array.indexing._BASIC`. */

#include "keys.h"
#include "arrays.h"
#include "scalars.h"

static int
is_int(PyObject *value)
{
    return PyLong_CheckExact(value);
}

static int
is_integer(PyObject *value)
{
    return PyLong_CheckExact(value) || PyTypeNum_ISINTEGER(scalar_typenum(Py_TYPE(value)));
}

/* Whether a key is basic, or a tuple of basic keys; `is_known` says which integers it may have. */
static int
is_basic(PyObject *key, int (*is_known)(PyObject *))
{
    if (Py_TYPE(key) == &PyTuple_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
            PyObject *entry = PyTuple_GET_ITEM(key, i);
            if (Py_TYPE(entry) == &PyTuple_Type || !is_basic(entry, is_known)) {
                return 0;
            }
        }
        return 1;
    }
    if (Py_TYPE(key) == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)key;
        PyObject *const bounds[] = {slice->start, slice->stop, slice->step};
        for (int i = 0; i < 3; i++) {
            if (bounds[i] != Py_None && !is_known(bounds[i])) {
                return 0;
            }
        }
        return 1;
    }
    return key == Py_None || key == Py_Ellipsis || is_known(key);
}

int
is_basic_key(PyObject *key)
{
    return is_basic(key, is_int);
}

/* Returns a new reference to the native array of an Array or ndarray in a key; NULL without an exception. */
static PyObject *
native_of_key(PyObject *key, PyObject *home, int allows_bool)
{
    PyObject *native = !is_array(key) ? key : home_of(key) == home ? native_of(key) : NULL;
    if (native == NULL) {
        return NULL;
    }
    if (!PyArray_CheckExact(native)) {
        return is_integer(native) ? PyNumber_Index(native) : NULL; /* NumPy takes longer for a scalar */
    }
    if (PyArray_SIZE((PyArrayObject *)native) >= config.large) {
        return NULL;
    }
    int typenum = PyArray_TYPE((PyArrayObject *)native);
    return PyTypeNum_ISSIGNED(typenum) || (allows_bool && typenum == NPY_BOOL) ? Py_NewRef(native) : NULL;
}

/* Returns a borrowed reference to a bound of a slice, or to the native scalar of an Array; NULL without an exception
for other objects. */
static PyObject *
native_bound(PyObject *bound, PyObject *home)
{
    if (!is_array(bound)) {
        return bound == Py_None || is_integer(bound) ? bound : NULL;
    }
    PyObject *native = home_of(bound) == home ? native_of(bound) : NULL;
    if (native == NULL || is_integer(native)) {
        return native;
    }
    PyArrayObject *array = (PyArrayObject *)native;
    int is_one = PyArray_CheckExact(native) && PyArray_NDIM(array) == 0 && PyTypeNum_ISINTEGER(PyArray_TYPE(array));
    return is_one ? native : NULL;
}

/* Returns a new ndarray of a list of ints; NULL, perhaps with an exception, for other lists. */
static PyObject *
integers_of(PyObject *list)
{
    npy_intp count = PyList_GET_SIZE(list);
    PyObject *integers = count && count < config.large ? PyArray_SimpleNew(1, &count, NPY_INTP) : NULL;
    for (npy_intp i = 0; integers != NULL && i < count; i++) { /* no Python code runs that could shorten it */
        PyObject *one = PyList_GET_ITEM(list, i);
        npy_intp integer = Py_TYPE(one) == &PyLong_Type ? PyLong_AsSsize_t(one) : -1;
        if (Py_TYPE(one) != &PyLong_Type || (integer == -1 && PyErr_Occurred())) {
            Py_CLEAR(integers);
            break;
        }
        ((npy_intp *)PyArray_DATA((PyArrayObject *)integers))[i] = integer;
    }
    return integers;
}

/* Returns a new reference to an entry of a key in NumPy's terms; NULL without an exception. */
static PyObject *
native_entry(PyObject *key, PyObject *home, int allows_bool)
{
    if (is_array(key) || (PyArray_CheckExact(key) && PyArray_NDIM((PyArrayObject *)key))) {
        return native_of_key(key, home, allows_bool);
    }
    if (Py_TYPE(key) != &PyTuple_Type && is_basic(key, is_integer)) {
        return Py_NewRef(key);
    }
    if (Py_TYPE(key) != &PySlice_Type) {
        PyObject *integers = PyList_CheckExact(key) ? integers_of(key) : NULL;
        return integers == NULL ? fall_back() : integers;
    }
    PySliceObject *slice = (PySliceObject *)key;
    PyObject *start = native_bound(slice->start, home), *stop = native_bound(slice->stop, home);
    PyObject *step = native_bound(slice->step, home);
    return start == NULL || stop == NULL || step == NULL ? NULL : PySlice_New(start, stop, step);
}

PyObject *
native_key(PyObject *key, PyObject *home)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        PyObject *entry = native_entry(key, home, 1);
        return entry == NULL ? fall_back() : entry;
    }
    if (is_basic(key, is_integer)) {
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
