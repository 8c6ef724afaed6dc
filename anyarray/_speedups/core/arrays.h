/* Access to the slots of Arrays, and properties of native arrays. */

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

/* Returns a borrowed reference to the native array of an Array. NULL without an exception if its call is still
recorded, if its initialization failed, or for a computed 0-d result, which Python converts to a scalar. */
static inline PyObject *
native_of(PyObject *array)
{
    PyObject *native = get_slot(array, config.native_offset);
    if (native != NULL && Py_TYPE(native) == &LazyType) { /* Python reads those of other libraries */
        Lazy *lazy = (Lazy *)native;
        return lazy->ndim == 0 || lazy->home != config.numpy_home ? NULL : lazy->value;
    }
    return native;
}

/* Whether a value is a NumPy scalar that may be one of the two operands of a call. */
static inline int
is_numpy_scalar_operand(const Call *call, PyObject *value)
{
    return call->array_count == 2 && (call->flags & GIVES_NEW_MEMORY) && PyArray_IsScalar(value, Generic)
           && PySet_Contains(config.operand_types, (PyObject *)Py_TYPE(value)) == 1;
}

/* Returns a borrowed reference to the home of an Array; NULL without an exception if its initialization failed. */
static inline PyObject *
home_of(PyObject *array)
{
    return get_slot(array, config.home_offset);
}

/* Returns a borrowed reference to the ndarray of an Array on NumPy's free home; NULL without an exception for any other
value. */
static inline PyObject *
ndarray_of(PyObject *value)
{
    if (!is_array(value) || home_of(value) != config.numpy_home) {
        return NULL;
    }
    PyObject *native = native_of(value);
    return native != NULL && PyArray_CheckExact(native) ? native : NULL;
}

/* Whether a native array is a writable ndarray. Such arrays are written in place, and their views need no record. */
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

/* Returns the number of elements of a native array of NumPy; -1 for any other object. */
static inline npy_intp
size_of(PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return PyArray_SIZE((PyArrayObject *)native);
    }
    return scalar_typenum(Py_TYPE(native)) >= 0 || PyArray_IsScalar(native, Generic) ? 1 : -1;
}

/* Whether two native arrays are ndarrays of the same shape. */
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

/* Returns a new reference to a hook of an Array's backend. NULL without an exception if the backend has no such hook,
or if the Array is a view or has a second copy. */
PyObject *hook_for_memory(PyObject *array, PyObject *name);

/* Whether an Array is written in place, so that its views need no record: asks the hook `is_in_place` for libraries
other than NumPy. Returns 0 without an exception if there is no such hook. */
int is_in_place(PyObject *array);

/* Returns NULL and clears the exception, so that the Python function runs and raises its own error. An exception that
is no Exception, such as KeyboardInterrupt, stays set. */
PyObject *fall_back(void);

/* Returns a new reference to the native dtype of a native array on `home`; NULL with an exception. */
PyObject *dtype_of(PyObject *home, PyObject *native);

/* Installs the deallocator of Arrays, which fills the free list. */
void install_deallocator(void);

/* Returns a new Array; NULL with an exception. Steals the reference to the native array. */
PyObject *wrap(PyObject *native, PyObject *home);

/* Returns a new tuple of a class or named tuple, to be filled; NULL with an exception. Calling the class of a named tuple
takes several times as long. */
static inline PyObject *
new_tuple(PyTypeObject *type, Py_ssize_t count)
{
    return type == &PyTuple_Type ? PyTuple_New(count) : type->tp_alloc(type, count);
}

/* Returns a new tuple of type `type`, a subclass of tuple, with an Array for each native array of an iterable; NULL
with an exception. */
PyObject *wrap_in_tuple(PyObject *natives, PyObject *home, PyTypeObject *type);

/* Clears the second copy of an Array, before a write. */
void drop_second_copy(PyObject *array);

#endif
