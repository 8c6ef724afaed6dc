/* The fast path of `iter(x)` in NumPy, and its iterator; call.c calls it.

Elements are scalars or views. Leaves to Python: 0-d Arrays, other libraries, and rows of read-only memory, whose views
are recorded. A loop usually drops each Array before it gets the one after the next; the iterator then reuses it with
its scalar, in half the time. */

#include "arrays.h"
#include "fast_paths.h"
#include "scalars.h"

typedef struct {
    PyObject_HEAD
    PyObject *native;
    Py_ssize_t index;
    PyObject *latest[2]; /* the last two Arrays returned, or NULL */
} ArrayIterator;

/* Whether only the iterator refers to an Array of NumPy, and the Array has no second copy, view record or weak
reference. */
static int
is_reusable(PyObject *array)
{
    return array != NULL && Py_REFCNT(array) == 1 && is_array(array)
           && get_slot(array, config.array_type->tp_weaklistoffset) == NULL && home_of(array) == config.numpy_home
           && native_of(array) != NULL && get_slot(array, config.second_offset) == NULL
           && get_slot(array, config.view_offset) == NULL;
}

/* Writes an element into the scalar of a reused Array. Returns 0 if it has no such scalar of its own. */
static int
reuse_scalar(PyObject *reused, PyArrayObject *array, Py_ssize_t index)
{
    PyObject *scalar = native_of(reused);
    PyArray_Descr *dtype = PyArray_DESCR(array);
    if (Py_TYPE(scalar) != dtype->typeobj || Py_REFCNT(scalar) != 1 || PyArray_NDIM(array) != 1
        || !PyTypeNum_ISNUMBER(dtype->type_num) || PyDataType_ELSIZE(dtype) > (npy_intp)sizeof(npy_int64)
        || !PyArray_ISNOTSWAPPED(array)) {
        return 0;
    }
    memcpy(scalar_value(scalar), PyArray_GETPTR1(array, index), PyDataType_ELSIZE(dtype));
    return 1;
}

static PyObject *
iterator_next(PyObject *self)
{
    ArrayIterator *iterator = (ArrayIterator *)self;
    PyArrayObject *array = (PyArrayObject *)iterator->native;
    Py_ssize_t index = iterator->index;
    if (index >= PyArray_DIM(array, 0)) {
        return NULL;
    }
    iterator->index++;
    PyObject **latest = &iterator->latest[index & 1];
    if (is_reusable(*latest) && reuse_scalar(*latest, array, index)) {
        return Py_NewRef(*latest);
    }
    PyObject *native = PySequence_GetItem(iterator->native, index);
    if (native == NULL) {
        return NULL;
    }
    PyObject *result = wrap(native, config.numpy_home);
    Py_XSETREF(*latest, Py_XNewRef(result));
    return result;
}

static PyObject *
iterator_length_hint(PyObject *self, PyObject *Py_UNUSED(unused))
{
    ArrayIterator *iterator = (ArrayIterator *)self;
    return PyLong_FromSsize_t(PyArray_DIM((PyArrayObject *)iterator->native, 0) - iterator->index);
}

static void
iterator_dealloc(PyObject *self)
{
    ArrayIterator *iterator = (ArrayIterator *)self;
    Py_DECREF(iterator->native);
    Py_XDECREF(iterator->latest[0]);
    Py_XDECREF(iterator->latest[1]);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef iterator_methods[] = {
    {"__length_hint__", iterator_length_hint, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject ArrayIteratorType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.ArrayIterator",
    .tp_basicsize = sizeof(ArrayIterator),
    .tp_dealloc = iterator_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = iterator_next,
    .tp_methods = iterator_methods,
};

PyObject *
fast_iter(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *native = nargs == 1 && !has_keywords(kwnames) ? ndarray_of(args[0]) : NULL;
    int ndim = native == NULL ? 0 : PyArray_NDIM((PyArrayObject *)native);
    if (ndim == 0 || (ndim > 1 && !is_writable(native))) {
        return NULL;
    }
    ArrayIterator *iterator = PyObject_New(ArrayIterator, &ArrayIteratorType);
    if (iterator == NULL) {
        return fall_back();
    }
    iterator->native = Py_NewRef(native);
    iterator->index = 0;
    iterator->latest[0] = iterator->latest[1] = NULL;
    return (PyObject *)iterator;
}
