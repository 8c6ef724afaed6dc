/* The fast paths of `asarray`, `from_dlpack`, `astype` and `copy.copy` for small Arrays, ndarrays and lists in NumPy;
call.c calls them.

Leaves to Python: lists of several classes other than ints and floats, complex numbers, other objects, complex to real,
`copy=False`, and errors. */

#include "conversion.h"
#include "arguments.h"
#include "arrays.h"
#include "choice.h"
#include "dtypes.h"
#include "fast_paths.h"
#include "memory.h"
#include "recording.h"
#include "scalars.h"

/* Whether all elements of a contiguous int64 ndarray are in the range of an integer dtype. */
static int
are_in_range(PyArrayObject *integers, PyArray_Descr *dtype)
{
    int bits = 8 * (int)PyDataType_ELSIZE(dtype), is_unsigned = PyTypeNum_ISUNSIGNED(dtype->type_num);
    npy_int64 max = NPY_MAX_INT64 >> (64 - bits - (is_unsigned && bits < 64));
    npy_int64 min = is_unsigned ? 0 : -max - 1;
    const npy_int64 *numbers = PyArray_DATA(integers);
    npy_intp size = PyArray_SIZE(integers);
    int is_outside = 0;
    for (npy_intp i = 0; i < size; i++) {
        is_outside |= (numbers[i] < min) | (numbers[i] > max);
    }
    return !is_outside;
}

PyObject *
wrap_new_as(PyObject *native, PyArray_Descr *dtype)
{
    PyArrayObject *numbers = (PyArrayObject *)native;
    if (dtype == PyArray_DESCR(numbers)) {
        Py_DECREF(dtype);
        return wrap_new(native);
    }
    PyObject *cast = NULL;
    int from = PyArray_TYPE(numbers);
    if (is_standard(dtype)
        && (!PyTypeNum_ISINTEGER(dtype->type_num) || from == NPY_BOOL
            || (from == NPY_INT64 && are_in_range(numbers, dtype)))) {
        npy_intp nbytes = PyArray_SIZE(numbers) * PyDataType_ELSIZE(dtype);
        Py_INCREF(dtype);
        cast = new_ndarray(PyArray_NDIM(numbers), PyArray_DIMS(numbers), dtype, nbytes, 0);
        if (cast != NULL && PyArray_CopyInto((PyArrayObject *)cast, numbers) < 0) {
            Py_CLEAR(cast);
        }
    }
    Py_DECREF(dtype);
    Py_DECREF(native);
    return cast == NULL ? fall_back() : wrap_new(cast);
}

/* Writes a number to memory of dtype float64, int64 or bool: a Python or NumPy scalar of that dtype, or an int among
floats. Returns 0, perhaps with an exception, for other objects and for ints that do not fit. */
static int
write_number(char *data, int typenum, PyObject *value)
{
    int own = typenum_of(Py_TYPE(value));
    own = own < 0 ? scalar_typenum(Py_TYPE(value)) : own;
    if (own == typenum && own == NPY_BOOL) {
        *(npy_bool *)data = value == Py_True || value == PyArrayScalar_True;
        return 1;
    }
    if (own == typenum && own == NPY_DOUBLE) { /* NumPy's float64 is a subclass of float */
        *(npy_double *)data = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (own != NPY_INT64 || typenum == NPY_BOOL) {
        return 0;
    }
    long long integer = PyLong_AsLongLong(value); /* NumPy makes objects of larger ints */
    if (typenum == NPY_DOUBLE) {
        *(npy_double *)data = (npy_double)integer;
    }
    else {
        *(npy_int64 *)data = (npy_int64)integer;
    }
    return !(integer == -1 && PyErr_Occurred());
}

/* Returns a borrowed reference to an element of a list: a Python number, or the NumPy scalar of a 0-d Array. */
static PyObject *
number_of(PyObject *element)
{
    int is_in_numpy = is_array(element) && home_of(element) == config.numpy_home;
    PyObject *native = is_in_numpy ? get_slot(element, config.native_offset) : NULL;
    return native != NULL && scalar_typenum(Py_TYPE(native)) >= 0 ? native : element;
}

/* Writes the numbers of nested lists and tuples of this shape, and advances `*data`.

Returns 0, perhaps with an exception, for other nests; sets `*is_mixed` if the reason is a float among ints. */
static int
write_nest(
    char **data, npy_intp itemsize, int typenum, PyObject *nest, int ndim, const npy_intp *shape, int *is_mixed
)
{
    if (ndim == 0) {
        PyObject *number = number_of(nest);
        *is_mixed = typenum == NPY_INT64 && PyFloat_Check(number);
        int is_written = write_number(*data, typenum, number);
        *data += itemsize;
        return is_written;
    }
    if ((!PyList_CheckExact(nest) && !PyTuple_CheckExact(nest)) || PySequence_Fast_GET_SIZE(nest) != shape[0]) {
        return 0;
    }
    for (npy_intp i = 0; i < shape[0]; i++) { /* no Python code runs that could shorten it */
        if (!write_nest(data, itemsize, typenum, PySequence_Fast_GET_ITEM(nest, i), ndim - 1, shape + 1, is_mixed)) {
            return 0;
        }
    }
    return 1;
}

/* Returns a new ndarray of the numbers of nested lists; NULL, perhaps with an exception, as `write_nest`. */
static PyObject *
numbers_of(PyObject *nest, int typenum, int ndim, npy_intp *shape, int *is_mixed)
{
    PyObject *array = PyArray_Empty(ndim, shape, PyArray_DescrFromType(typenum), 0);
    if (array != NULL) {
        char *data = PyArray_BYTES((PyArrayObject *)array);
        if (!write_nest(&data, PyArray_ITEMSIZE((PyArrayObject *)array), typenum, nest, ndim, shape, is_mixed)) {
            Py_CLEAR(array);
        }
    }
    return array;
}

PyObject *
array_of_nest(PyObject *nest, PyObject *dtype)
{
    npy_intp shape[MAX_NDIM], nbytes = sizeof(npy_int64);
    int ndim = 0;
    PyObject *first = nest;
    while (PyList_CheckExact(first) || PyTuple_CheckExact(first)) {
        if (ndim == MAX_NDIM || PySequence_Fast_GET_SIZE(first) == 0) {
            return NULL;
        }
        shape[ndim] = PySequence_Fast_GET_SIZE(first);
        nbytes *= shape[ndim++];
        if (nbytes >= config.small_nbytes) {
            return NULL;
        }
        first = PySequence_Fast_GET_ITEM(first, 0);
    }
    PyTypeObject *type = Py_TYPE(number_of(first));
    int typenum = is_array(first) ? scalar_typenum(type) : typenum_of(type), is_mixed = 0;
    if ((typenum != NPY_DOUBLE && typenum != NPY_INT64 && typenum != NPY_BOOL) || (dtype == NULL && !has_standard_defaults())
        || creation_home() != config.numpy_home) {
        return fall_back();
    }
    PyObject *array = numbers_of(nest, typenum, ndim, shape, &is_mixed);
    if (array == NULL && is_mixed) {
        typenum = NPY_DOUBLE;
        array = numbers_of(nest, typenum, ndim, shape, &is_mixed);
    }
    PyArray_Descr *wanted = array == NULL ? NULL : dtype == NULL ? PyArray_DescrFromType(typenum) : read_dtype(dtype);
    if (wanted == NULL) {
        Py_XDECREF(array);
        return fall_back();
    }
    return wrap_new_as(array, wanted);
}

/* `asarray` of an ndarray: a copy, because the user may write to the ndarray. */
static PyObject *
array_of_ndarray(PyArrayObject *array)
{
    npy_intp nbytes = PyArray_NBYTES(array);
    if (nbytes >= config.modest_nbytes || !has_known_dtype(config.numpy_home, array)
        || creation_home() != config.numpy_home) {
        return fall_back();
    }
    PyObject *copy = NULL;
    if (nbytes < config.small_nbytes) {
        copy = PyArray_NewCopy(array, NPY_KEEPORDER);
    }
    else if (PyArray_IS_C_CONTIGUOUS(array)) {
        PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(array));
        copy = new_ndarray(PyArray_NDIM(array), PyArray_DIMS(array), dtype, nbytes, 0);
        if (copy != NULL) {
            memcpy(PyArray_DATA((PyArrayObject *)copy), PyArray_DATA(array), nbytes);
        }
    }
    return copy == NULL ? fall_back() : wrap_new(copy);
}

/* Whether NumPy casts between two dtypes as the standard says. */
static int
is_castable(PyArray_Descr *from, PyArray_Descr *to)
{
    return is_standard(from) && is_standard(to)
           && (PyTypeNum_ISCOMPLEX(to->type_num) || !PyTypeNum_ISCOMPLEX(from->type_num));
}

/* Returns a copy of a native array in its own or another dtype; NULL, perhaps with an exception. */
static PyObject *
copy_native(PyObject *native, PyArray_Descr *before, PyArray_Descr *dtype)
{
    if (!PyArray_CheckExact(native)) {
        if (dtype == before) {
            return Py_NewRef(native); /* immutable */
        }
        PyObject *cast = is_castable(before, dtype)
                             ? PyArray_FromScalar(native, (PyArray_Descr *)Py_NewRef((PyObject *)dtype))
                             : NULL;
        return cast == NULL ? NULL : PyArray_Return((PyArrayObject *)cast);
    }
    PyArrayObject *from = (PyArrayObject *)native;
    if (dtype == before) {
        return PyArray_NewCopy(from, NPY_KEEPORDER);
    }
    if (!is_castable(before, dtype)) {
        return NULL;
    }
    PyObject *copy = PyArray_NewLikeArray(from, NPY_KEEPORDER, (PyArray_Descr *)Py_NewRef((PyObject *)dtype), 0);
    if (copy != NULL && PyArray_CopyInto((PyArrayObject *)copy, from) < 0) {
        Py_CLEAR(copy);
    }
    return copy;
}

/* Returns an Array on NumPy's free home in dtype `given` (its own for NULL): the same Array if neither cast nor copy is
needed. A new reference; NULL without an exception if Python must convert it. */
static PyObject *
convert(PyObject *array, PyObject *given, int must_copy, int may_copy)
{
    PyObject *native = home_of(array) == config.numpy_home ? native_of(array) : NULL;
    if (native == NULL || !(PyArray_CheckExact(native) || scalar_typenum(Py_TYPE(native)) >= 0)) {
        return NULL;
    }
    if (given == NULL && !must_copy) {
        return Py_NewRef(array);
    }
    PyArray_Descr *before = (PyArray_Descr *)dtype_of(config.numpy_home, native);
    PyArray_Descr *dtype = given == NULL ? (PyArray_Descr *)Py_XNewRef((PyObject *)before) : read_dtype(given);
    PyObject *result = NULL;
    if (before != NULL && dtype != NULL) {
        if (dtype == before && !must_copy) {
            result = Py_NewRef(array);
        }
        else if ((dtype == before || may_copy)
                 && !(PyArray_CheckExact(native) && PyArray_NBYTES((PyArrayObject *)native) >= config.modest_nbytes)) {
            Py_INCREF(native);
            PyObject *copy = copy_native(native, before, dtype);
            Py_DECREF(native);
            result = copy == NULL ? NULL : wrap(copy, config.numpy_home);
        }
    }
    Py_XDECREF(before);
    Py_XDECREF(dtype);
    return result == NULL ? fall_back() : result;
}

PyObject *
fast_asarray(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *dtype, *copy;
    int by_size;
    if (nargs != 1 || !read_keywords(args, nargs, kwnames, &dtype, &copy)) {
        return NULL;
    }
    if (is_array(args[0])) {
        return runs_at_home(config.numpy_home, &by_size)
                   ? convert(args[0], dtype, copy == Py_True, copy != Py_False)
                   : NULL;
    }
    if (copy == Py_False) {
        return NULL;
    }
    if (PyArray_CheckExact(args[0])) {
        return dtype == NULL ? array_of_ndarray((PyArrayObject *)args[0]) : NULL;
    }
    return array_of_nest(args[0], dtype);
}

PyObject *
fast_from_dlpack(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int is_taken = nargs == 1 && !has_keywords(kwnames) && (is_array(args[0]) || PyArray_CheckExact(args[0]));
    return is_taken ? fast_asarray(call, args, nargs, kwnames) : NULL;
}

PyObject *
fast_astype(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *copy;
    int by_size;
    if (nargs == 2 && !has_keywords(kwnames)) {
        PyObject *recorded = record_cast(call, args);
        if (recorded != NULL || PyErr_Occurred()) {
            return recorded;
        }
    }
    if (nargs != 2 || !is_array(args[0]) || !read_keywords(args, nargs, kwnames, NULL, &copy)) {
        return NULL;
    }
    if (home_of(args[0]) != config.numpy_home || !runs_at_home(config.numpy_home, &by_size)) {
        return NULL;
    }
    return convert(args[0], args[1], copy != Py_False, 1);
}

PyObject *
fast_copy(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return nargs == 1 && !has_keywords(kwnames) && is_array(args[0]) ? convert(args[0], NULL, 1, 1) : NULL;
}
