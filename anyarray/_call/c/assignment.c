/* `x[key] = value`.

Compiled: a write in place to the ndarray of an Array that alone holds its memory. Left to Python: the copy
that a write needs if others hold it, values to be converted or brought over, keys that keys.c leaves, errors.
Repeated here:
- the steps of a write, in the docstring of `_memory.ownership`: drop the second copy, ask whether the Array
  is alone, write, ask again (write_in_place);
- who is alone: `_memory.ownership.is_alone` (owns_memory_alone);
- what becomes of a value that is a part of the same memory: `_memory.ownership.separate` (separate);
- the dtypes that take a Python scalar: `_array.array._TAKEN` (takes_scalar);
- the lock of an Array: `_memory.ownership.WRITES`. It is not taken where no other thread can run meanwhile. */

#include "arrays.h"
#include "fast_paths.h"
#include "keys.h"
#include "scalars.h"

/* Whether NumPy writes a Python scalar to this dtype with its value, or raises. */
static int
takes_scalar(PyArray_Descr *dtype, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    const char *kinds = type == &PyFloat_Type  ? "fc"
                        : type == &PyLong_Type ? "iufc"
                        : type == &PyBool_Type ? "biufc"
                                               : "c";
    return strchr(kinds, dtype->kind) != NULL;
}

/* Whether an Array alone holds the memory of its native array, to which nobody else has a reference then.

Of views, only those in C order, whose elements cannot share memory. */
static int
owns_memory_alone(PyObject *native)
{
    PyArrayObject *array = (PyArrayObject *)native;
    PyObject *base = PyArray_BASE(array);
    if (Py_REFCNT(native) != 1 || !PyArray_CHKFLAGS(array, NPY_ARRAY_WRITEABLE)) {
        return 0;
    }
    if (base == NULL) {
        return PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
    }
    return PyArray_CheckExact(base) && Py_REFCNT(base) == 1 && PyArray_BASE((PyArrayObject *)base) == NULL
           && PyArray_CHKFLAGS((PyArrayObject *)base, NPY_ARRAY_OWNDATA)
           && PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS);
}

/* Gives an Array a copy of its native array, which is a part of another's memory, as in x[0] = x[1].

A new reference to the copy, or NULL with an exception. */
static PyObject *
separate(PyObject *array, PyObject *native)
{
    PyObject *copy = PyArray_NewCopy((PyArrayObject *)native, NPY_CORDER);
    if (copy != NULL && native_of(array) == native) { /* else another thread has written meanwhile */
        Py_DECREF(swap_slot(array, config.native_offset, Py_NewRef(copy)));
    }
    return copy;
}

/* What is written to an ndarray: a Python scalar, or the native array of an Array of the same home and dtype.

A new reference; NULL, perhaps with an exception, if Python must look at the value. */
static PyObject *
native_value(PyObject *value, PyArrayObject *to, PyObject *home)
{
    PyArray_Descr *dtype = PyArray_DESCR(to);
    if (is_python_scalar(value)) {
        return takes_scalar(dtype, value) ? Py_NewRef(value) : NULL;
    }
    PyObject *native = is_array(value) && home_of(value) == home ? native_of(value) : NULL;
    if (native == NULL) {
        return NULL;
    }
    if (!PyArray_CheckExact(native)) {
        return PyArray_IsScalar(native, Generic) && Py_TYPE(native) == dtype->typeobj ? Py_NewRef(native) : NULL;
    }
    if (PyArray_DESCR((PyArrayObject *)native) != dtype) {
        return NULL;
    }
    if (native == (PyObject *)to) {
        return PyArray_NewCopy(to, NPY_KEEPORDER); /* as in x[i] = x; a reference more, and it were not alone */
    }
    Py_INCREF(native);
    PyObject *base = PyArray_BASE((PyArrayObject *)native);
    if (base == NULL || (base != (PyObject *)to && base != PyArray_BASE(to))) {
        return native;
    }
    PyObject *copy = separate(value, native);
    Py_DECREF(native);
    return copy;
}

/* Writes if the Array alone holds its memory, while no other thread writes to it. */
static PyObject *
write_in_place(PyObject *array, PyObject *key, PyObject *value)
{
    PyObject *native = native_of(array);
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    /* Allocating and freeing may run any code, which may give the Array another native array. */
    Py_INCREF(native);
    value = native_value(value, (PyArrayObject *)native, home_of(array));
    if (value == NULL) {
        Py_DECREF(native);
        return fall_back();
    }
    drop_second_copy(array);
    int failed = -1, is_taken_up = 0, is_same = native_of(array) == native;
    Py_DECREF(native);
    if (is_same && owns_memory_alone(native)) {
        Py_INCREF(native);
        failed = PyObject_SetItem(native, key, value);
        PyObject *base = PyArray_BASE((PyArrayObject *)native);
        is_taken_up = get_slot(array, config.second_offset) != Py_None || Py_REFCNT(native) > 2
                      || (base != NULL && Py_REFCNT(base) > 1);
        Py_DECREF(native);
    }
    Py_DECREF(value);
    if (failed) {
        return fall_back();
    }
    if (is_taken_up) {
        return PyObject_CallMethodNoArgs(array, constants._part);
    }
    Py_RETURN_NONE;
}

#define UNINTERRUPTED 500 /* elements that NumPy copies without releasing the GIL */

/* Whether NumPy holds the GIL during a write, as it is to so few elements. */
static int
is_uninterrupted(PyObject *key, PyArrayObject *array)
{
    if (is_key_of_element(key, array)) {
        return 1;
    }
    if (PyArray_CheckExact(key) && PyArray_SIZE((PyArrayObject *)key) > UNINTERRUPTED) {
        return 0;
    }
    for (Py_ssize_t i = 0; PyTuple_CheckExact(key) && i < PyTuple_GET_SIZE(key); i++) {
        if (PyArray_CheckExact(PyTuple_GET_ITEM(key, i))) {
            return 0;
        }
    }
    npy_intp elements = PyArray_SIZE(array);
    if (PyLong_CheckExact(key) && PyArray_NDIM(array) > 0 && PyArray_DIM(array, 0) > 0) {
        elements /= PyArray_DIM(array, 0);
    }
    return elements <= UNINTERRUPTED;
}

/* The same under the lock of the Array. */
static PyObject *
write_under_lock(PyObject *array, PyObject *key, PyObject *value)
{
    PyObject *lock = Py_NewRef(PyList_GET_ITEM(config.write_locks, (uintptr_t)array >> 4 & 63)), *result = NULL;
    PyObject *acquired = PyObject_CallMethodNoArgs(lock, constants.acquire);
    if (acquired != NULL) {
        result = write_in_place(array, key, value);
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        Py_XDECREF(PyObject_CallMethodNoArgs(lock, constants.release));
        PyErr_Restore(type, error, traceback);
        Py_DECREF(acquired);
    }
    Py_DECREF(lock);
    return result;
}

PyObject *
fast_setitem(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs != 3 || has_keywords(kwnames) || !is_array(args[0]) || PyDict_Size(config.second_copy_sizes)) {
        return NULL;
    }
    PyObject *array = args[0], *native = native_of(array), *home = home_of(array);
    if (native == NULL || !PyArray_CheckExact(native) || home == NULL) {
        return NULL;
    }
    PyObject *key = native_key(args[1], home);
    if (key == NULL) {
        return NULL;
    }
    PyObject *result = is_uninterrupted(key, (PyArrayObject *)native) ? write_in_place(array, key, args[2])
                                                                      : write_under_lock(array, key, args[2]);
    Py_DECREF(key);
    return result;
}
