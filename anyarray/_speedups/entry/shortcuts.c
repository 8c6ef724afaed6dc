/* Calls faster functions that give the same results as native functions: NumPy's for few elements, and a library's own
functions for plain arguments; functions.c calls it.

`backends._shortcut` sets the functions and their conditions as attributes of native functions. If a shortcut raises,
the native function is called. */

#include "shortcuts.h"
#include "arrays.h"
#include "choice.h"
#include "loops.h"
#include "scalars.h"
#include <math.h>

/* Reads the shortcut of a native function into the cache of a Call. */
static void
cache_shortcut(Call *call, PyObject *function)
{
    PyObject *facts = PyObject_GetAttr(function, constants.shortcut), *shortcut = NULL, *dtypes = NULL;
    int ndim = 0, needs_finite = 0;
    if (facts == NULL || !PyTuple_Check(facts)
        || !PyArg_ParseTuple(facts, "OO!ip", &shortcut, &PyTuple_Type, &dtypes, &ndim, &needs_finite)
        || PyTuple_GET_SIZE(dtypes) > call->array_count) {
        PyErr_Clear(); /* most functions have none */
        shortcut = NULL;
    }
    memset(call->shortcut.dtypes, 0, sizeof call->shortcut.dtypes); /* 0 for arrays that must be omitted */
    for (int k = 0; shortcut != NULL && k < PyTuple_GET_SIZE(dtypes); k++) {
        call->shortcut.dtypes[k] = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(dtypes, k));
        if (PyErr_Occurred()) {
            PyErr_Clear();
            shortcut = NULL;
        }
    }
    PyObject *former = call->shortcut.of, *former_shortcut = call->shortcut.function;
    call->shortcut.ndim = ndim;
    call->shortcut.needs_finite = needs_finite;
    call->shortcut.function = Py_XNewRef(shortcut);
    call->shortcut.of = Py_NewRef(function);
    Py_XDECREF(facts);
    Py_XDECREF(former);
    Py_XDECREF(former_shortcut);
}

/* Whether a contiguous array of float32 or float64 has neither NaN nor infinity. */
static int
is_finite(PyArrayObject *array)
{
    int is_double = PyArray_TYPE(array) == NPY_DOUBLE;
    if (!(is_double || PyArray_TYPE(array) == NPY_FLOAT) || !PyArray_ISONESEGMENT(array) || !PyArray_ISBEHAVED_RO(array)) {
        return 0;
    }
    const void *data = PyArray_DATA(array);
    for (npy_intp i = 0; i < PyArray_SIZE(array); i++) {
        if (!isfinite(is_double ? ((const double *)data)[i] : (double)((const float *)data)[i])) {
            return 0;
        }
    }
    return 1;
}

PyObject *
call_shortcut(Call *call, PyObject *function, PyObject *const *natives)
{
    if (function != call->shortcut.of) {
        cache_shortcut(call, function);
    }
    if (call->shortcut.function == NULL) {
        return NULL;
    }
    PyObject *stack[MAX_PARAMETERS + 1], **args = stack + 1;
    size_t nargs = 0;
    int is_left_out = 0;
    for (int i = 0; i < call->parameter_count; i++) {
        const Parameter *p = &call->parameters[call->native_order[i]];
        PyObject *native = natives[call->native_order[i]];
        if (p->role == PLAIN || native == Py_None) {
            if (native != p->default_value) {
                return NULL;
            }
            is_left_out |= p->role != PLAIN;
            continue;
        }
        PyArrayObject *array = PyArray_CheckExact(native) ? (PyArrayObject *)native : NULL;
        int typenum = array == NULL ? scalar_typenum(Py_TYPE(native)) : PyArray_TYPE(array);
        if (is_left_out || typenum < 0 || typenum >= 64 || !(call->shortcut.dtypes[nargs] >> typenum & 1)
            || (array != NULL && PyArray_SIZE(array) >= config.few)) {
            return NULL;
        }
        int ndim = array == NULL ? 0 : PyArray_NDIM(array);
        if (nargs == 0
            && (ndim < call->shortcut.ndim || (call->shortcut.needs_finite && (array == NULL || !is_finite(array))))) {
            return NULL;
        }
        args[nargs++] = native;
    }
    PyObject *shortcut = Py_NewRef(call->shortcut.function); /* another thread may replace it */
    PyObject *result = call_or_loop(shortcut, args, nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(shortcut);
    return result == NULL ? fall_back() : result;
}

/* Reads the library's own function for a native function into the cache of a Call. */
static void
cache_direct(Call *call, PyObject *function)
{
    PyObject *facts = PyObject_GetAttr(function, constants.direct);
    Direct found = {NULL}, former = call->direct;
    if (facts == NULL || !PyTuple_Check(facts)
        || !PyArg_ParseTuple(facts, "OO!O!OpO!", &found.function, &PyType_Type, &found.type, &PyFrozenSet_Type,
                             &found.dtypes, &found.guard, &found.is_guarded, &PyFrozenSet_Type, &found.options)) {
        PyErr_Clear(); /* most functions have none */
        found = (Direct){NULL};
    }
    Py_XINCREF(found.function);
    Py_XINCREF(found.type);
    Py_XINCREF(found.dtypes);
    Py_XINCREF(found.guard);
    Py_XINCREF(found.options);
    found.of = Py_NewRef(function);
    call->direct = found;
    Py_XDECREF(facts);
    PyObject *const held[] = {former.of, former.function, former.type, former.dtypes, former.guard, former.options};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_XDECREF(held[i]);
    }
}

/* Whether an attribute of an object is the expected object. */
static int
attribute_is(PyObject *object, PyObject *name, PyObject *expected)
{
    PyObject *value = PyObject_GetAttr(object, name);
    Py_XDECREF(value); /* only compared */
    if (value == NULL) {
        fall_back();
    }
    return value == expected;
}

/* Whether a transform of the library is active, such as a derivative or a trace. */
static int
is_transformed(const Direct *direct)
{
    PyObject *open = PyObject_CallNoArgs(direct->guard);
    Py_XDECREF(open); /* only compared */
    return open != Py_None;
}

/* Whether the library's function takes an array: of its class, of the dtype of the arrays before, and without
derivatives if it is guarded. Sets `*dtype` to a new reference. */
static int
fits_directly(const Direct *direct, PyObject *native, PyObject **dtype)
{
    if ((PyObject *)Py_TYPE(native) != direct->type || (direct->is_guarded && !attribute_is(native, constants.requires_grad, Py_False))) {
        return 0;
    }
    PyObject *own = PyObject_GetAttr(native, constants.dtype);
    if (own == NULL || (*dtype != NULL && own != *dtype)) {
        Py_XDECREF(own);
        return 0;
    }
    Py_XSETREF(*dtype, own);
    return 1;
}

#define MAX_CACHED_ARRAYS 2

/* Caches that a call with `count` Arrays and no other arguments reached the library's function. */
static void
cache_array_call(Call *call, PyObject *home, size_t count)
{
    int is_noted = count <= MAX_CACHED_ARRAYS && !(call->flags & (GIVES_VIEWS | IS_READ_ONLY)) && call->result_class == NULL;
    for (size_t i = 0; i < count && is_noted; i++) {
        int role = call->parameters[i].role;
        is_noted = (role == ARRAY || role == WEAK) && call->native_order[i] == (int)i;
    }
    call->direct.home = is_noted ? home : NULL;
    call->direct.count = (Py_ssize_t)count;
}

PyObject *
call_arrays_directly(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    const Direct direct = call->direct;
    PyObject *stack[MAX_CACHED_ARRAYS + 1], **natives = stack + 1, *dtype = NULL, *result = NULL;
    int by_size;
    if (nargs != direct.count || !runs_at_home(direct.home, &by_size) || by_size || is_fused()) {
        return NULL;
    }
    PyObject *function = Py_NewRef(direct.function);
    Py_ssize_t held = 0;
    for (int fits = 1; fits && held < nargs; held++) {
        PyObject *native = is_array(args[held]) && home_of(args[held]) == direct.home ? native_of(args[held]) : NULL;
        if (native == NULL) {
            break;
        }
        natives[held] = Py_NewRef(native);
        if (!fits_directly(&direct, native, &dtype)) {
            Py_CLEAR(dtype);
            fits = 0;
        }
    }
    /* Other dtypes are left to `call_direct`. */
    if (held == nargs && dtype != NULL && dtype == direct.latest && !(direct.is_guarded && is_transformed(&direct))) {
        result = PyObject_Vectorcall(function, natives, nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    }
    Py_DECREF(function);
    Py_XDECREF(dtype);
    for (Py_ssize_t i = 0; i < held; i++) {
        Py_DECREF(natives[i]);
    }
    return result == NULL ? fall_back() : wrap(result, direct.home);
}

/* Whether the library's function takes all arrays of a list, and the list is not empty. */
static int
all_fit_directly(const Direct *direct, PyObject *natives, PyObject **dtype)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(natives); i++) {
        PyObject *one = Py_NewRef(PyList_GET_ITEM(natives, i));
        int fits = fits_directly(direct, one, dtype);
        Py_DECREF(one);
        if (!fits) {
            return 0;
        }
    }
    return PyList_GET_SIZE(natives) > 0;
}

/* Appends an option to the arguments of the library's function. Returns 0, perhaps with an exception, if it has no such
option. */
static int
add_option(const Direct *direct, const Parameter *p, PyObject *value, PyObject *names, PyObject **args, size_t *count)
{
    int is_empty = PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 0; /* some libraries take () as all axes */
    if (is_empty || PySet_Contains(direct->options, p->name) != 1 || PyList_Append(names, p->name) < 0) {
        return 0;
    }
    args[(*count)++] = value;
    return 1;
}

PyObject *
call_direct(Call *call, PyObject *function, PyObject *home, PyObject *const *natives)
{
    if (function != call->direct.of) {
        cache_direct(call, function);
    }
    if (call->direct.function == NULL) {
        return NULL;
    }
    Direct direct = call->direct; /* keeps references: another thread may replace it */
    PyObject *const held[] = {direct.function, direct.dtypes, direct.guard, direct.options};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_XINCREF(held[i]);
    }
    PyObject *stack[MAX_PARAMETERS + 1], **args = stack + 1, *dtype = NULL, *names = NULL, *kwnames = NULL, *result = NULL;
    size_t nargs = 0, count = 0;
    int is_left_out = 0;
    for (int i = 0; i < call->parameter_count; i++) {
        const Parameter *p = &call->parameters[call->native_order[i]];
        PyObject *native = natives[call->native_order[i]];
        if (p->role == SEQUENCE) {
            if (!all_fit_directly(&direct, native, &dtype)) {
                goto done;
            }
            args[count++] = native;
            nargs++;
        }
        else if (p->role == PLAIN || native == Py_None) {
            is_left_out |= p->role != PLAIN;
            if (native == p->default_value) {
                continue;
            }
            if (i < call->native_nargs) { /* a positional argument */
                if (is_left_out || PySet_Contains(direct.options, p->name) != 1) {
                    goto done;
                }
                args[count++] = native;
                nargs++;
            }
            else if ((names == NULL && (names = PyList_New(0)) == NULL)
                     || !add_option(&direct, p, native, names, args, &count)) {
                goto done;
            }
        }
        else if (is_left_out || !fits_directly(&direct, native, &dtype)) {
            goto done;
        }
        else {
            args[count++] = native;
            nargs++;
        }
    }
    if (dtype == NULL || (dtype != direct.latest && PySet_Contains(direct.dtypes, dtype) != 1)) {
        goto done;
    }
    if (call->direct.dtypes == direct.dtypes) {
        call->direct.latest = dtype; /* borrowed from `dtypes` */
        cache_array_call(call, names == NULL ? home : NULL, nargs);
    }
    if (direct.is_guarded && is_transformed(&direct)) {
        goto done;
    }
    if (count > nargs && !PyList_CheckExact(args[0]) && attribute_is(args[0], constants.ndim, constants.none)) { /* some libraries accept axis 0 for 0-d arrays */
        goto done;
    }
    if (names != NULL && (kwnames = PyList_AsTuple(names)) == NULL) {
        goto done;
    }
    result = PyObject_Vectorcall(direct.function, args, nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, kwnames);
done:
    Py_XDECREF(dtype);
    Py_XDECREF(names);
    Py_XDECREF(kwnames);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_XDECREF(held[i]);
    }
    return result == NULL ? fall_back() : result;
}
