/* How Arrays are read and made, and native arrays of NumPy looked at. */

#ifndef ANYARRAY_ARRAYS_H
#define ANYARRAY_ARRAYS_H

#include "call.h"
#include "config.h"
#include "lazy.h"
#include "scalars.h"

static inline int
is_array(PyObject *value)
{
    return Py_TYPE(value) == config.array_type;
}

/* A borrowed reference to the native array of an Array; NULL in one that is recorded, or whose making failed, and for
a recorded number, which becomes a scalar in Python. */
static inline PyObject *
native_of(PyObject *array)
{
    PyObject *native = get_slot(array, config.native_offset);
    if (native != NULL && Py_TYPE(native) == &LazyType) { /* Python reads that of another library */
        Lazy *lazy = (Lazy *)native;
        return lazy->ndim == 0 || lazy->home != config.numpy_home ? NULL : lazy->value;
    }
    return native;
}

/* Whether a scalar of NumPy may stand for one of two arrays. */
static inline int
is_numpy_scalar_operand(const Call *call, PyObject *value)
{
    return call->array_count == 2 && (call->flags & GIVES_NEW_MEMORY) && PyArray_IsScalar(value, Generic)
           && PySet_Contains(config.operand_types, (PyObject *)Py_TYPE(value)) == 1;
}

/* A borrowed reference to the home of an Array; NULL in one whose making failed. */
static inline PyObject *
home_of(PyObject *array)
{
    return get_slot(array, config.home_offset);
}

/* A borrowed reference to the ndarray of an Array that lives free in NumPy; NULL for all else, without an
exception. */
static inline PyObject *
ndarray_of(PyObject *value)
{
    if (!is_array(value) || home_of(value) != config.numpy_home) {
        return NULL;
    }
    PyObject *native = native_of(value);
    return native != NULL && PyArray_CheckExact(native) ? native : NULL;
}

/* Whether a native array is an ndarray that is written in place, and whose views need no record. */
static inline int
is_writable(PyObject *native)
{
    return PyArray_CheckExact(native) && PyArray_ISWRITEABLE((PyArrayObject *)native);
}

static inline int
is_home(PyObject *home)
{
    return home != NULL && (Py_TYPE(home) == config.home_type || PyType_IsSubtype(Py_TYPE(home), config.home_type));
}

/* The number of elements of a native array of NumPy; -1 for anything else. */
static inline npy_intp
size_of(PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return PyArray_SIZE((PyArrayObject *)native);
    }
    return scalar_typenum(Py_TYPE(native)) >= 0 || PyArray_IsScalar(native, Generic) ? 1 : -1;
}

/* Whether two native arrays of NumPy have one shape; 0 if one is no ndarray. */
static inline int
has_same_shape(PyObject *one, PyObject *other)
{
    if (!PyArray_CheckExact(one) || !PyArray_CheckExact(other)) {
        return 0;
    }
    PyArrayObject *a = (PyArrayObject *)one, *b = (PyArrayObject *)other;
    int ndim = PyArray_NDIM(a);
    return ndim == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), ndim);
}

static inline int
has_keywords(PyObject *kwnames)
{
    return kwnames != NULL && PyTuple_GET_SIZE(kwnames) > 0;
}

/* A hook of the backend of an Array, if nothing is recorded of the Array's memory: a new reference, or NULL
without an exception. */
PyObject *hook_for_memory(PyObject *array, PyObject *name);

/* Whether the memory of an Array is written in place, so that its views need no record. Of another library than
NumPy its hook `is_in_place` tells; 0 without an exception if it has none. */
int is_in_place(PyObject *array);

/* Returns NULL and clears the exception, so that the Python function is called, which raises it again with its
own message. An exception that is no Exception, as KeyboardInterrupt, stays set and is raised. */
PyObject *fall_back(void);

/* The native dtype of a native array on `home`: a new reference, or NULL with an exception. */
PyObject *dtype_of(PyObject *home, PyObject *native);

/* Lets the memory of Arrays that nobody has be used for the next. */
void use_free_arrays(void);

/* A new Array; steals the reference to the native array. NULL with an exception. */
PyObject *wrap(PyObject *native, PyObject *home);

/* A tuple of the Arrays of an iterable of native arrays, of `type`, a subclass of tuple. NULL with an exception. */
PyObject *wrap_in_tuple(PyObject *natives, PyObject *home, PyTypeObject *type);

/* Drops the second copy of an Array, as before a write. */
void drop_second_copy(PyObject *array);

#endif
