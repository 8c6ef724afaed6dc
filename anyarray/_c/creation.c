/* Functions that make Arrays, of few elements, in NumPy. */

#include "speedups.h"

/* An ndarray of `size` bytes in memory that every library takes as it is; takes the reference to the dtype. */
PyObject *
allocate(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero)
{
    npy_intp bytes = size + ALIGNMENT;
    PyObject *memory = is_zero ? PyArray_ZEROS(1, &bytes, NPY_UINT8, 0) : PyArray_EMPTY(1, &bytes, NPY_UINT8, 0);
    if (memory == NULL) {
        Py_DECREF(dtype);
        return NULL;
    }
    char *start = PyArray_BYTES((PyArrayObject *)memory);
    start += (ALIGNMENT - (uintptr_t)start % ALIGNMENT) % ALIGNMENT;
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, dims, NULL, start, NPY_ARRAY_CARRAY, NULL);
    if (made == NULL) {
        Py_DECREF(memory);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)made, memory) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

/* Whether a creation function makes its array free, in NumPy: see `_choice.chosen_home`. */
static int
is_made_in_numpy(void)
{
    if (PyDict_Size(house.unadopted)) { /* libraries that were not imported when it was asked last */
        PyObject *absent = PyObject_CallOneArg(house.are_absent, house.unadopted);
        Py_XDECREF(absent);
        if (absent != Py_True) {
            return 0;
        }
    }
    PyObject *chosen = what_is_chosen();
    if (chosen == NULL) {
        return 0;
    }
    if (chosen == Py_None || chosen == field(house.numpy, house.backend_at)) {
        return 1;
    }
    if (chosen != house.by_cost) {
        return 0;
    }
    PyObject *model = PyObject_GetAttr(house.state, names.model);
    Py_XDECREF(model);
    return model != NULL && model != Py_None;
}

/* Whether Python numbers take the standard's own dtypes here, and not those of a `default_dtypes`. */
static int
are_defaults_usual(void)
{
    PyObject *defaults = NULL;
    if (PyContextVar_Get(house.defaults, NULL, &defaults) < 0 || defaults == NULL) {
        return 0;
    }
    Py_DECREF(defaults); /* from here on it is only compared */
    return defaults == house.usual_defaults;
}

/* An ndarray of few elements, aligned if `_memory` wants it; takes the reference to the dtype. */
static PyObject *
few(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero)
{
    if (size >= house.small) {
        return allocate(ndim, dims, dtype, size, is_zero);
    }
    return is_zero ? PyArray_Zeros(ndim, dims, dtype, 0) : PyArray_Empty(ndim, dims, dtype, 0);
}

/* A free Array of what was made just now; takes the reference. */
static PyObject *
created(PyObject *native)
{
    npy_intp size = PyArray_NBYTES((PyArrayObject *)native);
    PyObject *array = wrap(native, house.numpy);
    if (array != NULL && size >= house.small) {
        *(PyObject **)((char *)array + house.second_at) = Py_NewRef(house.lendable);
    }
    return array;
}

/* NumPy's dtype for what was given as one, or for floats: a new reference, or NULL. */
static PyArray_Descr *
dtype_for(PyObject *given)
{
    if (given == NULL || given == Py_None) {
        return are_defaults_usual() ? PyArray_DescrFromType(NPY_DOUBLE) : NULL;
    }
    PyObject *found = Py_TYPE(given) == house.dtype ? field(given, house.dtype_at) : NULL;
    return found != NULL && PyArray_DescrCheck(found) ? (PyArray_Descr *)Py_NewRef(found) : NULL;
}

#define FEW_AXES 8

/* `zeros`, `ones`, `empty` and `full` of a Python float, of few elements, which lie in memory of their own. */
PyObject *
quick_fill(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    npy_intp dims[FEW_AXES], elements = 1;
    int ndim = 0, is_full = call->sign == 'f';
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (given != 1 + is_full || named > !is_full || (is_full && Py_TYPE(args[1]) != &PyFloat_Type)
        || (named && PyTuple_GET_ITEM(keywords, 0) != names.dtype)) {
        return NULL;
    }
    PyObject *shape = args[0];
    if (Py_TYPE(shape) == &PyLong_Type) {
        ndim = 1;
    }
    else if (Py_TYPE(shape) == &PyTuple_Type && PyTuple_GET_SIZE(shape) <= FEW_AXES) {
        ndim = (int)PyTuple_GET_SIZE(shape);
    }
    else {
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        PyObject *length = Py_TYPE(shape) == &PyTuple_Type ? PyTuple_GET_ITEM(shape, i) : shape;
        dims[i] = Py_TYPE(length) == &PyLong_Type ? PyLong_AsSsize_t(length) : -1;
        if (dims[i] < 0 || dims[i] > house.large) {
            return leave();
        }
        elements *= dims[i] ? dims[i] : 1;
        if (elements > house.large) {
            return NULL;
        }
    }
    if (!is_made_in_numpy()) {
        return leave();
    }
    PyArray_Descr *dtype = dtype_for(named ? args[given] : NULL);
    if (dtype == NULL) {
        return leave();
    }
    npy_intp size = elements * PyDataType_ELSIZE(dtype);
    if (size >= house.modest || (!PyTypeNum_ISNUMBER(dtype->type_num) && dtype->type_num != NPY_BOOL)) {
        Py_DECREF(dtype);
        return NULL;
    }
    PyObject *made = few(ndim, dims, dtype, size, call->sign == 'z');
    if (made == NULL) {
        return leave();
    }
    if ((is_full || call->sign == 'o') && PyArray_FillWithScalar((PyArrayObject *)made, is_full ? args[1] : names.one) < 0) {
        Py_DECREF(made);
        return leave();
    }
    return created(made);
}

static int
type_of_number(PyTypeObject *kind)
{
    return kind == &PyFloat_Type ? NPY_DOUBLE : kind == &PyLong_Type ? NPY_INT64 : kind == &PyBool_Type ? NPY_BOOL : -1;
}

/* Write a Python number to memory of its type; false with an error for an integer that does not fit. */
static int
put(char *at, int type, PyObject *value)
{
    if (type == NPY_DOUBLE) {
        *(double *)at = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (type == NPY_BOOL) {
        *(npy_bool *)at = value == Py_True;
        return 1;
    }
    long long integer = PyLong_AsLongLong(value);
    *(npy_int64 *)at = (npy_int64)integer;
    return !(integer == -1 && PyErr_Occurred());
}

/* `asarray` of few elements: of an ndarray, a Python number, or a list or tuple of numbers of one class. */
PyObject *
quick_asarray(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || (keywords != NULL && PyTuple_GET_SIZE(keywords))) {
        return NULL;
    }
    PyObject *value = args[0], *made = NULL;
    PyTypeObject *kind = Py_TYPE(value);
    if (PyArray_CheckExact(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        npy_intp size = PyArray_NBYTES(array);
        PyArray_Descr *dtype = PyArray_DESCR(array);
        if (size >= house.modest || !PyArray_ISNOTSWAPPED(array) || !is_made_in_numpy()
            || PyDict_Contains(field(house.numpy, house.dtypes_at), (PyObject *)dtype) != 1) {
            return leave();
        }
        if (size < house.small) {
            made = PyArray_NewCopy(array, NPY_KEEPORDER);
        }
        else if (PyArray_IS_C_CONTIGUOUS(array)) {
            Py_INCREF(dtype);
            made = allocate(PyArray_NDIM(array), PyArray_DIMS(array), dtype, size, 0);
            if (made != NULL && PyArray_CopyInto((PyArrayObject *)made, array) < 0) {
                Py_CLEAR(made);
            }
        }
        return made == NULL ? leave() : created(made);
    }
    int type = type_of_number(kind);
    npy_intp length = 1;
    int ndim = 0;
    if (type < 0) {
        if ((kind != &PyList_Type && kind != &PyTuple_Type) || PySequence_Fast_GET_SIZE(value) == 0) {
            return NULL;
        }
        ndim = 1;
        length = PySequence_Fast_GET_SIZE(value);
        kind = Py_TYPE(PySequence_Fast_GET_ITEM(value, 0));
        type = type_of_number(kind);
        if (type < 0 || length * 8 >= house.small) {
            return NULL;
        }
    }
    if (!are_defaults_usual() || !is_made_in_numpy()) {
        return leave();
    }
    made = PyArray_Empty(ndim, &length, PyArray_DescrFromType(type), 0);
    if (made == NULL) {
        return leave();
    }
    char *at = PyArray_BYTES((PyArrayObject *)made);
    npy_intp step = PyArray_ITEMSIZE((PyArrayObject *)made);
    for (npy_intp i = 0; i < length; i++, at += step) {
        PyObject *number = value;
        if (ndim) {
            int is_there = i < PySequence_Fast_GET_SIZE(value); /* in a list, what was called may have cut it */
            number = is_there ? PySequence_Fast_GET_ITEM(value, i) : Py_None;
        }
        if (Py_TYPE(number) != kind || !put(at, type, number)) {
            Py_DECREF(made);
            return leave();
        }
    }
    if (ndim && PySequence_Fast_GET_SIZE(value) != length) {
        Py_DECREF(made);
        return NULL;
    }
    return created(made);
}

/* `arange` of integers: few. */
PyObject *
quick_arange(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    long long bounds[3] = {0, 0, 1};
    if (given < 1 || given > 3 || (keywords != NULL && PyTuple_GET_SIZE(keywords))) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        if (Py_TYPE(args[i]) != &PyLong_Type) {
            return NULL;
        }
        bounds[i] = PyLong_AsLongLong(args[i]);
        if ((bounds[i] == -1 && PyErr_Occurred()) || bounds[i] < -NPY_MAX_INT32 || bounds[i] > NPY_MAX_INT32) {
            return leave();
        }
    }
    long long start = given == 1 ? 0 : bounds[0], stop = given == 1 ? bounds[0] : bounds[1], step = bounds[2];
    if (step == 0 || !are_defaults_usual() || !is_made_in_numpy()) {
        return leave();
    }
    long long span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    npy_intp length = span > 0 ? (npy_intp)((span + stride - 1) / stride) : 0;
    if (length * 8 >= house.modest) {
        return NULL;
    }
    PyObject *made = few(1, &length, PyArray_DescrFromType(NPY_INT64), length * 8, 0);
    if (made == NULL) {
        return leave();
    }
    npy_int64 *numbers = PyArray_DATA((PyArrayObject *)made);
    for (npy_intp i = 0; i < length; i++) {
        numbers[i] = start + i * step;
    }
    return created(made);
}
