/* The fast paths of `zeros`, `ones`, `empty`, `full`, their `_like` variants and `arange` of ints, for few elements;
call.c calls them.

Leaves to Python: many elements (`_choice.choice.hint_at_calibrate`), devices, and errors. */

#include "arguments.h"
#include "arrays.h"
#include "choice.h"
#include "conversion.h"
#include "dtypes.h"
#include "fast_paths.h"
#include "memory.h"

/* Reads a shape, an int or a tuple of ints. Returns the number of axes; -1 without an exception if it is invalid or
large. Axes of length 0 count as 1 in `*elements`. */
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

/* Calls a creation function of another backend with `count` positional arguments. Steals the reference to the native
dtype, which may be NULL. Returns a new Array; NULL without an exception on failure. */
static PyObject *
create_on_backend(Call *call, PyObject *home, PyObject *const *values, size_t count, PyObject *dtype)
{
    PyObject *device = get_slot(get_slot(home, config.backend_offset), config.native_device_offset), *args[6];
    PyObject *function = dtype == NULL || device == NULL ? NULL : PyObject_GetAttr(home, call->name), *native = NULL;
    if (function != NULL) {
        memcpy(args + 1, values, count * sizeof *args);
        args[count + 1] = dtype;
        args[count + 2] = device;
        native = PyObject_Vectorcall(function, args + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, constants.dtype_and_device);
        Py_DECREF(function);
    }
    Py_XDECREF(dtype);
    return native == NULL ? fall_back() : wrap(native, home);
}

/* Returns a new reference to the native dtype of a backend for a NumPy dtype, whose reference is stolen; NULL without
an exception if the backend has not looked it up yet. */
static PyObject *
dtype_on_backend(PyObject *home, PyArray_Descr *dtype)
{
    PyObject *known = get_slot(get_slot(home, config.backend_offset), config.native_dtypes_offset), *native = NULL;
    PyObject *number = dtype == NULL || known == NULL ? NULL : PyLong_FromLong(dtype->type_num);
    if (number != NULL) {
        native = Py_XNewRef(PyDict_GetItemWithError(known, number));
        Py_DECREF(number);
    }
    Py_XDECREF(dtype);
    return native == NULL ? fall_back() : native;
}

/* Whether a Python number may fill an array of this dtype. NumPy raises for ints out of range. */
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

/* Whether another library fills an array of this dtype with a Python number as NumPy does. */
static int
can_fill_on_backend(PyObject *value, PyArray_Descr *dtype)
{
    if (!can_fill(value, dtype)) {
        return 0;
    }
    if (PyLong_CheckExact(value) && PyTypeNum_ISINTEGER(dtype->type_num)) {
        int overflow;
        PyLong_AsLongLongAndOverflow(value, &overflow);
        return dtype->type_num == NPY_INT64 && !overflow;
    }
    return 1;
}

/* Returns a new Array; `variant` is the first letter of the function. Steals the reference to the dtype. NULL without
an exception for many elements, or if the value does not fit. */
static PyObject *
new_filled(int variant, int ndim, npy_intp *shape, npy_intp elements, PyArray_Descr *dtype, PyObject *value)
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

/* zeros(shape), ones(shape), empty(shape), full(shape, number) */
PyObject *
fast_fill(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    npy_intp shape[MAX_NDIM], elements;
    int is_full = call->variant == 'f', ndim;
    PyObject *given, *home;
    if (nargs != 1 + is_full || !read_keywords(args, nargs, kwnames, &given, NULL) || (is_full && given != NULL)
        || (ndim = read_shape(args[0], shape, &elements)) < 0 || (home = creation_home()) == NULL) {
        return fall_back();
    }
    PyArray_Descr *dtype = read_dtype(is_full ? (PyObject *)Py_TYPE(args[1]) : given);
    if (dtype == NULL) {
        return fall_back();
    }
    if (home == config.numpy_home) {
        return new_filled(call->variant, ndim, shape, elements, dtype, is_full ? args[1] : NULL);
    }
    if (is_full && !can_fill_on_backend(args[1], dtype)) {
        Py_DECREF(dtype);
        return fall_back();
    }
    PyObject *tuple = PyTuple_CheckExact(args[0]) ? Py_NewRef(args[0]) : PyTuple_Pack(1, args[0]);
    PyObject *values[] = {tuple, is_full ? args[1] : NULL}, *array = NULL;
    if (tuple != NULL) {
        array = create_on_backend(call, home, values, 1 + is_full, dtype_on_backend(home, dtype));
        Py_DECREF(tuple);
    }
    return array == NULL ? fall_back() : array;
}

/* `fast_fill_like` for backends other than NumPy. */
static PyObject *
fill_like_on_backend(Call *call, PyObject *const *args, int is_full, PyObject *given)
{
    int by_size;
    PyObject *home = home_of(args[0]), *native = native_of(args[0]);
    if (native == NULL || !is_home(home) || home == config.numpy_home || PyArray_CheckExact(native)
        || !runs_at_home(home, &by_size) || by_size || (is_full && given != NULL)) {
        return NULL;
    }
    PyObject *values[] = {Py_NewRef(native), is_full ? args[1] : NULL}, *array = NULL;
    PyObject *dtype = given == NULL ? dtype_of(home, native) : dtype_on_backend(home, read_dtype(given));
    PyArray_Descr *in_numpy = is_full && dtype != NULL ? read_dtype_of(home, dtype) : NULL;
    if (!is_full || (in_numpy != NULL && can_fill_on_backend(args[1], in_numpy))) {
        array = create_on_backend(call, home, values, 1 + is_full, Py_XNewRef(dtype));
    }
    Py_XDECREF(in_numpy);
    Py_XDECREF(dtype);
    Py_DECREF(native);
    return array == NULL ? fall_back() : array;
}

/* zeros_like(x) and the others */
PyObject *
fast_fill_like(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int is_full = call->variant == 'f', by_size;
    PyObject *given, *native;
    if (nargs != 1 + is_full || !is_array(args[0]) || !read_keywords(args, nargs, kwnames, &given, NULL)) {
        return NULL;
    }
    if ((native = ndarray_of(args[0])) == NULL) {
        return fill_like_on_backend(call, args, is_full, given);
    }
    if (!runs_at_home(config.numpy_home, &by_size)) {
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
    return new_filled(call->variant, ndim, shape, elements, dtype, is_full ? args[1] : NULL);
}

/* arange of ints */
PyObject *
fast_arange(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
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
    PyObject *home = step == 0 || (dtype == NULL && !has_standard_defaults()) ? NULL : creation_home();
    if (home == NULL) {
        return fall_back();
    }
    long long span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    const npy_intp length = span > 0 ? (npy_intp)((span + stride - 1) / stride) : 0;
    npy_intp shape = length, nbytes = length * (npy_intp)sizeof(npy_int64);
    if (nbytes >= config.modest_nbytes) {
        return NULL;
    }
    PyArray_Descr *wanted = dtype == NULL ? PyArray_DescrFromType(NPY_INT64) : read_dtype(dtype);
    if (home != config.numpy_home) {
        int number = wanted == NULL ? NPY_NOTYPE : wanted->type_num; /* these dtypes hold all of the numbers */
        if (number != NPY_INT64 && number != NPY_INT32 && number != NPY_DOUBLE && number != NPY_FLOAT) {
            Py_XDECREF(wanted);
            return fall_back();
        }
        PyObject *values[] = {nargs == 1 ? constants.none : args[0], nargs == 1 ? args[0] : args[1],
                              nargs == 3 ? args[2] : constants.one};
        return create_on_backend(call, home, values, 3, dtype_on_backend(home, wanted));
    }
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
