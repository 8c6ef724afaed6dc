/* Indexing, writes, and what else reads the memory of one Array in NumPy. */

#include "speedups.h"
#include <numpy/arrayscalars.h>

static int
is_bound(PyObject *value)
{
    return value == Py_None || Py_TYPE(value) == &PyLong_Type;
}

static int
is_basic(PyObject *key)
{
    PyTypeObject *kind = Py_TYPE(key);
    if (kind == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)key;
        return is_bound(slice->start) && is_bound(slice->stop) && is_bound(slice->step);
    }
    return kind == &PyLong_Type || key == Py_None || key == Py_Ellipsis;
}

/* Whether a key, or each entry of a tuple, is basic. */
static int
are_basic(PyObject *key)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        return is_basic(key);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (!is_basic(PyTuple_GET_ITEM(key, i))) {
            return 0;
        }
    }
    return 1;
}

/* The native array of an Array by which NumPy indexes as it is: of bool or signed integers, not many; else NULL. */
static PyObject *
index_of(PyObject *key)
{
    PyObject *native = field(key, house.native_at);
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    int type = PyArray_DESCR((PyArrayObject *)native)->type_num;
    int is_index = type == NPY_BOOL || PyTypeNum_ISSIGNED(type);
    return is_index && PyArray_SIZE((PyArrayObject *)native) < house.large ? native : NULL;
}

/* A tuple of basic keys and Arrays of signed integers, with their native arrays: a new reference, or NULL. */
static PyObject *
mixed(PyObject *key, PyObject *home)
{
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(key));
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(key); i++) {
        PyObject *one = PyTuple_GET_ITEM(key, i);
        if (Py_TYPE(one) == house.array) {
            one = field(one, house.home_at) == home ? index_of(one) : NULL;
            if (one != NULL && PyArray_DESCR((PyArrayObject *)one)->type_num == NPY_BOOL) {
                one = NULL;
            }
        }
        else if (!is_basic(one)) {
            one = NULL;
        }
        if (one == NULL) {
            Py_CLEAR(made);
            break;
        }
        PyTuple_SET_ITEM(made, i, Py_NewRef(one));
    }
    return made == NULL ? leave() : made;
}

/* `x[key]` of NumPy's memory, with a key that NumPy takes as it is. */
PyObject *
quick_item(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    int by_size;
    if (given != 2 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != house.array) {
        return NULL;
    }
    PyObject *home = field(args[0], house.home_at), *native = field(args[0], house.native_at), *key = args[1];
    if (!is_home(home) || native == NULL || !PyArray_CheckExact(native) || PyDict_Size(house.read_apart)
        || !stays(home, &by_size)) {
        return NULL;
    }
    if (PyArray_Check(key)) {
        return NULL;
    }
    if (Py_TYPE(key) == house.array) {
        if (field(key, house.home_at) != home || (key = index_of(key)) == NULL) {
            return NULL;
        }
    }
    int is_mixed = Py_TYPE(key) == &PyTuple_Type && !are_basic(key);
    if (!is_mixed && !PyArray_CheckExact(key) && !are_basic(key)) {
        return NULL;
    }
    Py_INCREF(home);
    Py_INCREF(native);
    if (!is_mixed) {
        Py_INCREF(key);
    }
    else if ((key = mixed(key, home)) == NULL) {
        Py_DECREF(native);
        Py_DECREF(home);
        return NULL;
    }
    PyObject *found = PyObject_GetItem(native, key);
    Py_DECREF(key);
    Py_DECREF(native);
    PyObject *result = found == NULL ? leave() : wrap(found, home);
    Py_DECREF(home);
    return result;
}

/* Whether NumPy itself writes a Python scalar to this dtype with its value; it raises for integers out of range. */
static int
is_taken(PyObject *value, PyArray_Descr *dtype)
{
    PyTypeObject *kind = Py_TYPE(value);
    const char *kinds = kind == &PyFloat_Type  ? "fc"
                        : kind == &PyLong_Type ? "iufc"
                        : kind == &PyBool_Type ? "biufc"
                                               : "c";
    return PyTypeNum_ISNUMBER(dtype->type_num) || dtype->type_num == NPY_BOOL ? strchr(kinds, dtype->kind) != NULL : 0;
}

/* Whether an Array alone holds the memory of its native array, as `_memory.ownership.is_alone` says; seldom it says so here. */
static int
is_alone(PyObject *native)
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

/* Whether a key with only basic entries leads to one element. */
static int
is_of_one(PyObject *key, PyArrayObject *array)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        return Py_TYPE(key) == &PyLong_Type && PyArray_NDIM(array) == 1;
    }
    return PyTuple_GET_SIZE(key) == PyArray_NDIM(array) && are_integers(key);
}

/* Give an Array a copy of the part of another that it is, as for x[0] = x[1]; see `_memory.ownership.separate`.

Takes the reference to its native array, and gives one to the new one; NULL with an error. */
static PyObject *
separated(PyObject *array, PyObject *native)
{
    PyObject *own = PyArray_NewCopy((PyArrayObject *)native, NPY_CORDER);
    PyObject **slot = (PyObject **)((char *)array + house.native_at);
    if (own != NULL && *slot == native) { /* else a thread has written meanwhile */
        *slot = Py_NewRef(own);
        Py_DECREF(native);
    }
    Py_DECREF(native);
    return own;
}

/* What is to be written to an ndarray: a Python scalar, or the native array of an Array that lives where that does.

A new reference; NULL for what is left to Python. */
static PyObject *
written(PyObject *value, PyArrayObject *to, PyObject *home)
{
    PyArray_Descr *dtype = PyArray_DESCR(to);
    if (is_scalar(value)) {
        return is_taken(value, dtype) ? Py_NewRef(value) : NULL;
    }
    if (Py_TYPE(value) != house.array || field(value, house.home_at) != home) {
        return NULL;
    }
    PyObject *native = field(value, house.native_at);
    if (native == NULL) {
        return NULL;
    }
    if (!PyArray_CheckExact(native)) {
        return PyArray_IsScalar(native, Generic) && Py_TYPE(native) == dtype->typeobj ? Py_NewRef(native) : NULL;
    }
    PyArrayObject *array = (PyArrayObject *)native;
    if (PyArray_DESCR(array) != dtype || PyArray_SIZE(array) >= FEW) {
        return NULL;
    }
    if (native == (PyObject *)to) {
        return PyArray_NewCopy(array, NPY_KEEPORDER); /* as for x[i] = x; an error is seen as of no value */
    }
    PyObject *base = PyArray_BASE(array);
    int is_part = base != NULL && (base == (PyObject *)to || base == PyArray_BASE(to));
    Py_INCREF(native);
    return is_part ? separated(value, native) : native;
}

/* Whether a basic key leads to few enough elements of an ndarray. */
static int
is_of_few(PyObject *key, PyArrayObject *array)
{
    if (PyArray_SIZE(array) < FEW || is_of_one(key, array)) {
        return 1;
    }
    PyObject *part = PyArray_Check(key) ? NULL : PyObject_GetItem((PyObject *)array, key);
    int is_few = part != NULL && size_of(part) < FEW;
    Py_XDECREF(part);
    return is_few;
}

/* Elements that NumPy copies without giving other threads a turn. */
#define UNINTERRUPTED 500

/* Whether a write at a key is to so few. */
static int
is_uninterrupted(PyObject *key, PyArrayObject *array)
{
    PyObject *index = Py_TYPE(key) == house.array ? field(key, house.native_at) : NULL;
    if (index != NULL && size_of(index) > UNINTERRUPTED) {
        return 0;
    }
    npy_intp places = PyArray_SIZE(array);
    if (Py_TYPE(key) == &PyLong_Type && PyArray_NDIM(array) > 0 && PyArray_DIM(array, 0) > 0) {
        places /= PyArray_DIM(array, 0);
    }
    return places <= UNINTERRUPTED || is_of_one(key, array);
}

/* The write of `quick_write`, by whoever has the Array's lock, or while no other thread has a turn. */
static PyObject *
write_alone(PyObject *const *args)
{
    PyObject *array = args[0], *key = args[1], *home = field(array, house.home_at);
    PyObject *native = field(array, house.native_at), *value = NULL;
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    if (Py_TYPE(key) == house.array) {
        if (key == array || field(key, house.home_at) != home || (key = index_of(key)) == NULL) {
            return NULL;
        }
    }
    else if (!are_basic(key)) {
        return NULL;
    }
    /* Allocating and freeing may call anything, which may change what the Arrays hold. */
    Py_INCREF(native);
    Py_INCREF(key);
    if (is_of_few(key, (PyArrayObject *)native)) {
        value = written(args[2], (PyArrayObject *)native, home);
    }
    if (value == NULL) {
        Py_DECREF(native);
        Py_DECREF(key);
        return leave();
    }
    forget(array);
    int failed = -1, is_shared = 0, is_same = field(array, house.native_at) == native;
    Py_DECREF(native);
    if (is_same && is_alone(native)) {
        Py_INCREF(native);
        failed = PyObject_SetItem(native, key, value);
        PyObject *base = PyArray_BASE((PyArrayObject *)native);
        is_shared = field(array, house.second_at) != Py_None || Py_REFCNT(native) > 2
                    || (base != NULL && Py_REFCNT(base) > 1);
        Py_DECREF(native);
    }
    Py_DECREF(key);
    Py_DECREF(value);
    if (failed) {
        return leave();
    }
    if (is_shared) {
        return PyObject_CallMethodNoArgs(array, names.part);
    }
    Py_RETURN_NONE;
}

/* `x[key] = value` of few elements of NumPy's, in memory that nobody else holds; see `_memory.ownership`.

No lock is taken where no other thread has a turn from when that is asked until it is written. */
PyObject *
quick_write(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 3 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != house.array
        || PyDict_Size(house.kept)) {
        return NULL;
    }
    PyObject *native = field(args[0], house.native_at);
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    if (is_uninterrupted(args[1], (PyArrayObject *)native)) {
        return write_alone(args);
    }
    PyObject *lock = Py_NewRef(PyList_GET_ITEM(house.writes, (uintptr_t)args[0] >> 4 & 63));
    PyObject *taken = PyObject_CallMethodNoArgs(lock, names.acquire), *result = NULL;
    if (taken != NULL) {
        PyObject *type, *error, *trace;
        result = write_alone(args);
        PyErr_Fetch(&type, &error, &trace);
        PyObject *given_back = PyObject_CallMethodNoArgs(lock, names.release);
        Py_XDECREF(given_back);
        PyErr_Restore(type, error, trace);
        Py_DECREF(taken);
    }
    Py_DECREF(lock);
    return result;
}

/* `x.T` and `x.mT` of a matrix of NumPy's. */
PyObject *
quick_transpose(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || Py_TYPE(args[0]) != house.array || field(args[0], house.home_at) != house.numpy) {
        return NULL;
    }
    PyObject *native = field(args[0], house.native_at);
    if (native == NULL || !PyArray_CheckExact(native) || PyArray_NDIM((PyArrayObject *)native) != 2) {
        return NULL;
    }
    PyObject *turned = PyArray_Transpose((PyArrayObject *)native, NULL);
    return turned == NULL ? leave() : wrap(turned, house.numpy);
}

/* `np.asarray(x)`, which asks for `x.__array__()`: a read-only view. */
PyObject *
quick_view(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 1; i < given + named; i++) {
        if (args[i] != Py_None) {
            return NULL;
        }
    }
    if (given < 1 || given + named > 3 || (named && PyTuple_GET_ITEM(keywords, 0) != names.copy) || named > 1
        || Py_TYPE(args[0]) != house.array || field(args[0], house.home_at) != house.numpy) {
        return NULL;
    }
    PyObject *native = field(args[0], house.native_at);
    PyObject *view = native != NULL && PyArray_CheckExact(native)
                         ? PyArray_View((PyArrayObject *)native, NULL, &PyArray_Type)
                         : NULL;
    if (view == NULL) {
        return leave();
    }
    PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
    return view;
}

/* The elements of an ndarray along its first axis, as Arrays. */
typedef struct {
    PyObject_HEAD
    PyObject *native;
    Py_ssize_t at;
    PyObject *given[2]; /* those of the last two turns, or NULL: a loop lets go of one as it gets the next */
} Elements;

/* Whether nobody else has an Array, nor what tells of it, so that it may be given as another one. */
static int
is_let_go(PyObject *array)
{
    return array != NULL && Py_REFCNT(array) == 1 && Py_TYPE(array) == house.array
           && field(array, house.array->tp_weaklistoffset) == NULL && field(array, house.home_at) == house.numpy
           && field(array, house.native_at) != NULL && field(array, house.second_at) == NULL
           && field(array, house.account_at) == NULL;
}

/* Write a number to an Array's own scalar; whether it has one, of a dtype for which this is written out. */
static int
renewed(PyObject *given, PyArrayObject *array, Py_ssize_t at)
{
    PyObject *scalar = field(given, house.native_at);
    PyArray_Descr *dtype = PyArray_DESCR(array);
    if (Py_TYPE(scalar) != dtype->typeobj || Py_REFCNT(scalar) != 1 || PyArray_NDIM(array) != 1
        || !PyArray_ISBEHAVED_RO(array)) {
        return 0;
    }
    const void *number = PyArray_GETPTR1(array, at);
    switch (dtype->type_num) {
    case NPY_DOUBLE: PyArrayScalar_ASSIGN(scalar, Double, *(const npy_double *)number); return 1;
    case NPY_FLOAT: PyArrayScalar_ASSIGN(scalar, Float, *(const npy_float *)number); return 1;
    case NPY_INT: PyArrayScalar_ASSIGN(scalar, Int, *(const npy_int *)number); return 1;
    case NPY_LONG: PyArrayScalar_ASSIGN(scalar, Long, *(const npy_long *)number); return 1;
    case NPY_LONGLONG: PyArrayScalar_ASSIGN(scalar, LongLong, *(const npy_longlong *)number); return 1;
    default: return 0;
    }
}

static PyObject *
elements_next(PyObject *self)
{
    Elements *elements = (Elements *)self;
    PyArrayObject *array = (PyArrayObject *)elements->native;
    Py_ssize_t at = elements->at;
    if (at >= PyArray_DIM(array, 0)) {
        return NULL;
    }
    elements->at++;
    PyObject **given = &elements->given[at & 1];
    if (is_let_go(*given) && renewed(*given, array, at)) {
        return Py_NewRef(*given);
    }
    PyObject *one = PySequence_GetItem(elements->native, at), *before;
    if (one == NULL) {
        return NULL;
    }
    if (is_let_go(*given)) {
        before = field(*given, house.native_at);
        *(PyObject **)((char *)*given + house.native_at) = one;
        one = Py_NewRef(*given);
    }
    else {
        one = wrap(one, house.numpy);
        before = *given;
        *given = Py_XNewRef(one);
    }
    Py_XDECREF(before);
    return one;
}

static PyObject *
elements_left(PyObject *self, PyObject *unused)
{
    Elements *elements = (Elements *)self;
    return PyLong_FromSsize_t(PyArray_DIM((PyArrayObject *)elements->native, 0) - elements->at);
}

static void
elements_dealloc(PyObject *self)
{
    Elements *elements = (Elements *)self;
    Py_DECREF(elements->native);
    Py_XDECREF(elements->given[0]);
    Py_XDECREF(elements->given[1]);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef elements_methods[] = {
    {"__length_hint__", elements_left, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject ElementsType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.Elements",
    .tp_basicsize = sizeof(Elements),
    .tp_dealloc = elements_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = elements_next,
    .tp_methods = elements_methods,
};

/* `iter(x)` of an Array in NumPy, which keeps the values that it has now. */
PyObject *
quick_iter(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != house.array
        || field(args[0], house.home_at) != house.numpy || PyDict_Size(house.read_apart)) {
        return NULL;
    }
    PyObject *native = field(args[0], house.native_at);
    if (native == NULL || !PyArray_CheckExact(native) || PyArray_NDIM((PyArrayObject *)native) == 0) {
        return NULL;
    }
    Elements *elements = PyObject_New(Elements, &ElementsType);
    if (elements == NULL) {
        return leave();
    }
    elements->native = Py_NewRef(native);
    elements->at = 0;
    elements->given[0] = elements->given[1] = NULL;
    return (PyObject *)elements;
}
