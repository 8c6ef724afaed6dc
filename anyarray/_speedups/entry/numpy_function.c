/* The fast path of the functions of `anyarray.numpy` and of NumPy's methods of Arrays: calls NumPy's own function on
small Arrays in NumPy and wraps the results.

First tries the compiled function of the package of that name, if there is one. Takes Arrays, numbers, text, dtypes, and
lists and tuples of these. Leaves to Python: other arguments, new decisions, results of other classes, and errors. */

#include "allocator.h"
#include "arrays.h"
#include "choice.h"
#include "dtypes.h"
#include "exposure.h"
#include "fast_paths.h"
#include "scalars.h"
#include "shortcuts.h"
#include <stddef.h>
#include <structmember.h>

#define MAX_ARGUMENTS 16 /* arguments of a call, and ndarrays among them */
#define MAX_DEPTH 4     /* of nested lists */

/* What is known of the arguments of a call. */
typedef struct {
    PyObject *arrays[MAX_ARGUMENTS], *natives[MAX_ARGUMENTS]; /* Arrays with an ndarray, and these: borrowed */
    int noted;
    int has_nest;       /* whether a list or a tuple is among the arguments */
    int has_numpy_only;     /* whether an ndarray of strings or dates is, which the user may write to */
    npy_intp count;     /* of Arrays */
    npy_intp elements;  /* of Arrays and lists */
    double requested;       /* elements of the largest shape that the arguments may mean */
} Arguments;

static PyObject *native_argument(PyObject *value, Arguments *arguments, int depth);

/* Whether an ndarray is of strings or dates, which no other library has. */
static int
has_numpy_only_dtype(PyArrayObject *array)
{
    int typenum = PyArray_TYPE(array);
    return typenum == NPY_DATETIME || typenum == NPY_TIMEDELTA || PyTypeNum_ISSTRING(typenum);
}

/* Returns a new reference to the ndarray or scalar of an Array; NULL without an exception if it is on another home or a
view that is recorded. */
static PyObject *
native_array_argument(PyObject *array, Arguments *arguments)
{
    PyObject *native = home_of(array) == config.numpy_home ? native_of(array) : NULL;
    PyObject *view = get_slot(array, config.view_offset);
    int is_read_only = view == config.read_only_view; /* its views are read-only, too */
    if (native == NULL || (view != NULL && view != Py_None && !is_read_only)) {
        return NULL;
    }
    arguments->count++;
    if (!PyArray_CheckExact(native)) {
        arguments->elements++;
        return scalar_typenum(Py_TYPE(native)) >= 0 ? Py_NewRef(native) : NULL;
    }
    arguments->elements += PyArray_SIZE((PyArrayObject *)native);
    if (!(is_writable(native) || is_read_only) || arguments->elements >= config.large) {
        return NULL;
    }
    if (arguments->noted < MAX_ARGUMENTS) {
        arguments->arrays[arguments->noted] = array;
        arguments->natives[arguments->noted] = native;
    }
    arguments->noted++;
    return Py_NewRef(native);
}

/* Returns a copy of a list or tuple with native arrays for Arrays; NULL, perhaps with an exception, for other elements.
*/
static PyObject *
native_nest(PyObject *nest, Arguments *arguments, int depth)
{
    Py_ssize_t length = PySequence_Fast_GET_SIZE(nest);
    int is_tuple = PyTuple_CheckExact(nest);
    double product = depth == 0 && is_tuple; /* of a tuple as a shape */
    if (depth == MAX_DEPTH || arguments->elements + length >= config.large) {
        return NULL;
    }
    PyObject *result = is_tuple ? PyTuple_New(length) : PyList_New(length);
    arguments->has_nest = 1;
    for (Py_ssize_t i = 0; result != NULL && i < length; i++) {
        int is_there = i < PySequence_Fast_GET_SIZE(nest); /* it may be shortened meanwhile */
        PyObject *one = is_there ? PySequence_Fast_GET_ITEM(nest, i) : NULL;
        PyObject *native = one == NULL ? NULL : native_argument(one, arguments, depth + 1);
        if (native == NULL) {
            Py_CLEAR(result);
            break;
        }
        if (product > 0) {
            double factor = PyLong_CheckExact(native) ? PyLong_AsDouble(native) : 0;
            product *= factor == -1 && PyErr_Occurred() ? 0 : factor; /* NumPy raises the error */
            PyErr_Clear();
        }
        arguments->elements++;
        if (is_tuple) {
            PyTuple_SET_ITEM(result, i, native);
        }
        else {
            PyList_SET_ITEM(result, i, native);
        }
    }
    arguments->requested = product > arguments->requested ? product : arguments->requested;
    return result;
}

/* Returns a new reference to what NumPy's function gets for an argument; NULL, perhaps with an exception, if Python
must convert it. */
static PyObject *
native_argument(PyObject *value, Arguments *arguments, int depth)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == config.array_type) {
        return native_array_argument(value, arguments);
    }
    if (type == &PyLong_Type) {
        if (depth == 0) { /* it may be a number of elements */
            double count = PyLong_AsDouble(value);
            if (count == -1 && PyErr_Occurred()) {
                return NULL;
            }
            arguments->requested = count > arguments->requested ? count : arguments->requested;
        }
        return Py_NewRef(value);
    }
    if (type == &PyFloat_Type || type == &PyBool_Type || value == Py_None || type == &PyUnicode_Type || type == &PyComplex_Type
        || type == &PySlice_Type || value == Py_Ellipsis || scalar_typenum(type) >= 0 || PyArray_DescrCheck(value)
        || type == &PyBytes_Type || (PyArray_IsScalar(value, Generic) && !PyArray_IsScalar(value, Void))) {
        return Py_NewRef(value);
    }
    if (type == &PyArray_Type && has_numpy_only_dtype((PyArrayObject *)value)) {
        arguments->has_numpy_only = 1;
        arguments->elements += PyArray_SIZE((PyArrayObject *)value);
        return Py_NewRef(value);
    }
    if (type == &PyList_Type || type == &PyTuple_Type) {
        return native_nest(value, arguments, depth);
    }
    if (type == config.dtype_type || PyType_Check(value)) {
        return value == (PyObject *)&PyComplex_Type ? (PyObject *)PyArray_DescrFromType(NPY_CDOUBLE)
                                                    : (PyObject *)read_dtype(value);
    }
    return NULL;
}

/* Returns a new reference to the result of the call for a result of NumPy's function; NULL, perhaps with an exception,
if Python must convert it. Wraps scalars in Arrays if `wraps_scalars`. */
static PyObject *
wrap_result(PyObject *result, const Arguments *arguments, int wraps_scalars, int depth)
{
    if (PyArray_CheckExact(result)) {
        PyArrayObject *array = (PyArrayObject *)result;
        for (int i = 0; i < arguments->noted && i < MAX_ARGUMENTS; i++) {
            if (arguments->natives[i] == result) {
                return Py_NewRef(arguments->arrays[i]);
            }
        }
        if (!has_known_dtype(config.numpy_home, array)) {
            return is_standard(PyArray_DESCR(array)) ? NULL : Py_NewRef(result); /* strings or dates */
        }
        PyObject *own = arguments->has_numpy_only && PyArray_BASE(array) != NULL ? PyArray_NewCopy(array, NPY_KEEPORDER)
                                                                          : Py_NewRef(result);
        PyObject *wrapped = own == NULL ? NULL : wrap(own, config.numpy_home);
        if (wrapped != NULL && !PyArray_ISWRITEABLE((PyArrayObject *)own)) {
            swap_slot(wrapped, config.view_offset, Py_NewRef(config.read_only_view)); /* NULL before */
        }
        return wrapped;
    }
    if (scalar_typenum(Py_TYPE(result)) >= 0) {
        return wraps_scalars ? wrap(Py_NewRef(result), config.numpy_home) : Py_NewRef(result);
    }
    if (PyTuple_Check(result) && depth < MAX_DEPTH) {
        Py_ssize_t count = PyTuple_GET_SIZE(result);
        PyObject *tuple = new_tuple(Py_TYPE(result), count);
        for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
            PyObject *one = wrap_result(PyTuple_GET_ITEM(result, i), arguments, wraps_scalars, depth + 1);
            if (one == NULL) {
                Py_CLEAR(tuple);
                break;
            }
            PyTuple_SET_ITEM(tuple, i, one);
        }
        return tuple;
    }
    if (PyList_CheckExact(result) && depth < MAX_DEPTH) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(result); i++) {
            PyObject *one = wrap_result(PyList_GET_ITEM(result, i), arguments, wraps_scalars, depth + 1);
            if (one == NULL) {
                return NULL;
            }
            PyList_SetItem(result, i, one);
        }
        return Py_NewRef(result);
    }
    PyTypeObject *type = Py_TYPE(result);
    int is_plain = result == Py_None || type == &PyBool_Type || type == &PyLong_Type || type == &PyFloat_Type
                   || type == &PyComplex_Type || type == &PyUnicode_Type || PyArray_IsScalar(result, Generic);
    return is_plain ? Py_NewRef(result) : NULL;
}

/* Whether a call runs in NumPy without a decision. */
static int
runs_in_numpy(Call *call, const Arguments *arguments)
{
    int by_size = 0;
    if (arguments->elements >= config.large
        || (arguments->requested >= (double)config.large && call->variant != 'd' && arguments->count == 0)
        || !has_standard_defaults() || decisions_are_recorded()) {
        return 0;
    }
    if (arguments->count == 0 || arguments->has_nest) {
        return creation_home() == config.numpy_home;
    }
    return runs_at_home(config.numpy_home, &by_size)
           || (by_size && arguments->elements < limit_at(call->choice.limit, config.even_offset));
}

/* Whether a call with `where=` and without `out=` leaves elements uninitialized, as NumPy's ufuncs do. */
static int
leaves_uninitialized(Call *call, PyObject *kwnames)
{
    int has_where = 0, has_out = 0;
    for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++) {
        has_where |= PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "where") == 0;
        has_out |= PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "out") == 0;
    }
    return has_where && !has_out && call->variant == 'u';
}

static PyObject *
call_numpy_function(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *stack[MAX_ARGUMENTS + 1], **natives = stack + 1, *handler = NULL, *result = NULL;
    Py_ssize_t count = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames)), read = 0;
    Arguments arguments = {.noted = 0};
    if (count > MAX_ARGUMENTS || leaves_uninitialized(call, kwnames)) {
        return NULL;
    }
    while (read < count && (natives[read] = native_argument(args[read], &arguments, 0)) != NULL) {
        read++;
    }
    if (read < count || !runs_in_numpy(call, &arguments) || (recorded_count && arguments.noted > MAX_ARGUMENTS)) {
        goto done;
    }
    for (int i = 0; recorded_count && i < arguments.noted; i++) { /* NumPy's function may write to them */
        if (!compute_readers(arguments.natives[i], NULL)) {
            goto done;
        }
    }
    if (arguments.requested >= (double)config.large) {
        handler = set_allocator();
    }
    size_t nargsf = (size_t)nargs | PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyObject *found = call->numpy_function == NULL ? PyObject_VectorcallMethod(call->name, natives, nargsf, kwnames)
                                           : PyObject_Vectorcall(call->numpy_function, natives, nargsf, kwnames);
    if (handler != NULL) {
        restore_allocator(handler);
    }
    if (found != NULL) {
        result = wrap_result(found, &arguments, call->variant != 'd' && (arguments.count || arguments.has_nest), 0);
        if (result == NULL && call->variant == 'd' && !PyErr_Occurred()) { /* drawing again would give other numbers */
            result = Py_NewRef(found);
        }
        Py_DECREF(found);
    }
done:
    for (Py_ssize_t i = 0; i < read; i++) {
        Py_DECREF(natives[i]);
    }
    return result == NULL ? fall_back() : result;
}

/* Whether to try the package's function first: it takes Arrays, or makes new ones of the arguments. */
static int
tries_ours_first(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    if (call->ours == NULL || nargs < 1) {
        return 0;
    }
    return call->variant == 'l' ? PyList_CheckExact(args[0]) || PyArray_CheckExact(args[0]) : 1;
}

PyObject *
fast_numpy_function(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (tries_ours_first(call, args, nargs)) {
        PyObject *result = run_fast_path((Call *)call->ours, args, nargs, kwnames);
        if (result != NULL) {
            return result;
        }
        fall_back(); /* NumPy's function may accept what it refuses */
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    return call->variant == 'o' ? NULL : call_numpy_function(call, args, nargs, kwnames);
}

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *call; /* a Call, or NULL before it is set */
} Called;

static PyObject *
called_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyObject *call = ((Called *)self)->call;
    if (call == NULL || Py_TYPE(call) != &CallType) {
        PyErr_SetString(PyExc_TypeError, "Called: has no Call");
        return NULL;
    }
    return ((Call *)call)->vectorcall(call, args, nargsf, kwnames);
}

static PyObject *
called_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    Called *self = (Called *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = called_vectorcall;
    }
    return (PyObject *)self;
}

static int
called_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Called *)self)->call);
    return 0;
}

static int
called_clear(PyObject *self)
{
    Py_CLEAR(((Called *)self)->call);
    return 0;
}

static void
called_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    called_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef called_members[] = {
    {"_call", T_OBJECT_EX, offsetof(Called, call), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject CalledType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.Called",
    .tp_basicsize = sizeof(Called),
    .tp_dealloc = called_dealloc,
    .tp_vectorcall_offset = offsetof(Called, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_traverse = called_traverse,
    .tp_clear = called_clear,
    .tp_members = called_members,
    .tp_new = called_new,
};
