/* Functions that make Arrays of few elements in NumPy.

Compiled: `zeros`, `ones`, `empty`, `full` and those that end in `_like`, and `arange` of integers, with at
most a dtype as keyword. Left to Python: many elements, for which `_choice.choice.mention` may be due, other
devices, errors. Repeated here: the dtype of a number (dtypes.c), and where an Array is made (choice.c). */

#include "arguments.h"
#include "arrays.h"
#include "choice.h"
#include "conversion.h"
#include "dtypes.h"
#include "fast_paths.h"
#include "memory.h"

/* Reads a shape, an integer or a tuple of them; the number of axes, or -1 without an exception. An empty axis
counts as one element: no other may be huge. */
static int
read_shape(PyObject *given, npy_intp *shape, npy_intp *elements)
{
    int is_tuple = PyTuple_CheckExact(given);
    Py_ssize_t ndim = is_tuple ? PyTuple_GET_SIZE(given) : 1;
    if (ndim > MAX_NDIM) {
        return -1;
    }
    *elements = 1;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *length = is_tuple ? PyTuple_GET_ITEM(given, i) : given;
        shape[i] = PyLong_CheckExact(length) ? PyLong_AsSsize_t(length) : -1;
        if (shape[i] < 0 || shape[i] > config.large) {
            fall_back();
            return -1;
        }
        *elements *= shape[i] ? shape[i] : 1;
        if (*elements > config.large) {
            return -1;
        }
    }
    return (int)ndim;
}

/* Whether a Python number may fill an array of this dtype; NumPy raises for integers out of its range. */
static int
can_fill(PyObject *value, PyArray_Descr *dtype)
{
    switch (typenum_of(Py_TYPE(value))) {
    case NPY_DOUBLE: return PyTypeNum_ISFLOAT(dtype->type_num) || PyTypeNum_ISCOMPLEX(dtype->type_num);
    case NPY_INT64: return PyTypeNum_ISNUMBER(dtype->type_num);
    case NPY_BOOL: return dtype->type_num == NPY_BOOL;
    default: return 0;
    }
}

/* A new free Array; `variant` is the first letter of the function. Steals the reference to the dtype.

NULL without an exception for many elements, or a value that does not fit. */
static PyObject *
filled(int variant, int ndim, npy_intp *shape, npy_intp elements, PyArray_Descr *dtype, PyObject *value)
{
    npy_intp nbytes = elements * PyDataType_ELSIZE(dtype);
    if (nbytes >= config.modest_nbytes || !is_standard(dtype) || (variant == 'f' && !can_fill(value, dtype))) {
        Py_DECREF(dtype);
        return NULL;
    }
    PyObject *array = new_ndarray(ndim, shape, dtype, nbytes, variant == 'z');
    if (array == NULL) {
        return fall_back();
    }
    PyObject *fill = variant == 'f' ? value : variant == 'o' ? constants.one : NULL;
    if (fill != NULL && PyArray_FillWithScalar((PyArrayObject *)array, fill) < 0) {
        Py_DECREF(array);
        return fall_back();
    }
    return wrap_new(array);
}

/* `zeros(shape)`, `ones(shape)`, `empty(shape)`, `full(shape, number)`. */
PyObject *
fast_fill(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    npy_intp shape[MAX_NDIM], elements;
    int is_full = call->variant == 'f', ndim;
    PyObject *given;
    if (nargs != 1 + is_full || !read_keywords(args, nargs, kwnames, &given, NULL) || (is_full && given != NULL)
        || (ndim = read_shape(args[0], shape, &elements)) < 0 || !creates_in_numpy()) {
        return fall_back();
    }
    PyArray_Descr *dtype = NULL;
    if (!is_full) {
        dtype = read_dtype(given);
    }
    else if (typenum_of(Py_TYPE(args[1])) >= 0 && has_standard_defaults()) {
        dtype = PyArray_DescrFromType(typenum_of(Py_TYPE(args[1])));
    }
    if (dtype == NULL) {
        return fall_back();
    }
    return filled(call->variant, ndim, shape, elements, dtype, is_full ? args[1] : NULL);
}

/* `zeros_like(x)` and the others. */
PyObject *
fast_fill_like(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int is_full = call->variant == 'f', by_size;
    PyObject *given, *native;
    if (nargs != 1 + is_full || (native = ndarray_of(args[0])) == NULL
        || !read_keywords(args, nargs, kwnames, &given, NULL) || !runs_at_home(config.numpy_home, &by_size)) {
        return NULL;
    }
    PyArrayObject *like = (PyArrayObject *)native;
    npy_intp shape[MAX_NDIM], elements = PyArray_SIZE(like);
    int ndim = PyArray_NDIM(like);
    PyArray_Descr *dtype = NULL;
    if (ndim <= MAX_NDIM) {
        memcpy(shape, PyArray_DIMS(like), ndim * sizeof *shape);
        dtype = given == NULL ? (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(like)) : read_dtype(given);
    }
    if (dtype == NULL) {
        return fall_back();
    }
    return filled(call->variant, ndim, shape, elements, dtype, is_full ? args[1] : NULL);
}

/* `arange` of integers. */
PyObject *
fast_arange(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    long long bounds[3] = {0, 0, 1};
    PyObject *dtype;
    if (nargs < 1 || nargs > 3 || !read_keywords(args, nargs, kwnames, &dtype, NULL)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (!PyLong_CheckExact(args[i])) {
            return NULL;
        }
        bounds[i] = PyLong_AsLongLong(args[i]);
        if ((bounds[i] == -1 && PyErr_Occurred()) || bounds[i] < -NPY_MAX_INT32 || bounds[i] > NPY_MAX_INT32) {
            return fall_back();
        }
    }
    long long start = nargs == 1 ? 0 : bounds[0], stop = nargs == 1 ? bounds[0] : bounds[1], step = bounds[2];
    if (step == 0 || (dtype == NULL && !has_standard_defaults()) || !creates_in_numpy()) {
        return fall_back();
    }
    long long span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    const npy_intp length = span > 0 ? (npy_intp)((span + stride - 1) / stride) : 0;
    npy_intp shape = length, nbytes = length * (npy_intp)sizeof(npy_int64);
    if (nbytes >= config.modest_nbytes) {
        return NULL;
    }
    PyArray_Descr *wanted = dtype == NULL ? PyArray_DescrFromType(NPY_INT64) : read_dtype(dtype);
    PyObject *array = NULL;
    if (wanted != NULL && wanted->type_num != NPY_BOOL) {
        array = new_ndarray(1, &shape, PyArray_DescrFromType(NPY_INT64), nbytes, 0);
    }
    if (array == NULL) {
        Py_XDECREF(wanted);
        return fall_back();
    }
    npy_int64 *numbers = PyArray_DATA((PyArrayObject *)array);
    for (npy_intp i = 0; i < length; i++) {
        numbers[i] = start + i * step;
    }
    return wrap_new_as(array, wanted);
}
