/* The fast paths of functions of arrays and of operators: unwraps arguments, calls the native function, wraps the
result.

Takes Arrays on the home where the call runs, ndarrays, NumPy scalars and Python scalars. Leaves to Python: transfers,
new decisions, arguments to be converted, and errors. Mirrors `_call.slow_path.call`; also `_call.wrapping.unshared` (in
`call_native`: results never share an ndarray of the user) and `_memory.views.is_guarded` (in `records_views`). */

#include "arguments.h"
#include "arrays.h"
#include "choice.h"
#include "dtypes.h"
#include "fast_paths.h"
#include "loops.h"
#include "lazy.h"
#include "recording.h"
#include "scalar_operators.h"
#include "scalars.h"
#include "shortcuts.h"

/* Whether an argument is an array and not a scalar. */
static int
is_array_argument(PyObject *value)
{
    return is_array(value) || PyArray_CheckExact(value);
}

/* Returns the number of elements to which the arrays of a call broadcast; -1 if they do not. */
static npy_intp
size_of_broadcast(Call *call, PyObject *const *values, PyObject *const *natives)
{
    npy_intp shape[NPY_MAXDIMS], size = 1;
    int ndim = 0;
    for (int k = 0; k < call->array_count; k++) {
        PyArrayObject *array = (PyArrayObject *)natives[call->arrays[k]];
        if (!is_array_argument(values[call->arrays[k]]) || !PyArray_CheckExact((PyObject *)array)) {
            continue; /* a scalar */
        }
        int own_ndim = PyArray_NDIM(array);
        for (; ndim < own_ndim; ndim++) { /* axes are counted from the last */
            shape[ndim] = 1;
        }
        for (int axis = 0; axis < own_ndim; axis++) {
            npy_intp length = PyArray_DIM(array, own_ndim - 1 - axis);
            if (shape[axis] != 1 && length != 1 && shape[axis] != length) {
                return -1; /* the call will raise */
            }
            shape[axis] = shape[axis] == 1 ? length : shape[axis];
        }
    }
    for (int axis = 0; axis < ndim; axis++) {
        size *= shape[axis];
    }
    return size;
}

/* Whether a call in NumPy is so small that the automatic choice decides nothing. */
static int
is_below_limits(Call *call, PyObject *const *values, PyObject *const *natives)
{
    int start = 0;
    PyObject *first = natives[call->arrays[0]];
    if (first == values[call->arrays[0]] && is_python_scalar(first) && call->array_count > 1) { /* interp(0.5, x, y) */
        first = natives[call->arrays[++start]];
    }
    npy_intp size = size_of(first);
    if (size < 0 || size >= limit_at(call->choice.limit, config.even_offset)) {
        return 0;
    }
    npy_intp broadcast = (call->flags & IS_ELEMENTWISE) ? size_of_broadcast(call, values, natives) : -1;
    if (broadcast >= 0) {
        return broadcast == size || broadcast < limit_at(call->choice.limit, config.elements_offset);
    }
    for (int k = start + 1; k < call->array_count; k++) {
        PyObject *other = natives[call->arrays[k]];
        if (!is_array_argument(values[call->arrays[k]]) || (has_same_shape(first, other) && !(call->flags & MULTIPLIES))) {
            continue;
        }
        npy_intp columns = size_of(other); /* bound of the factor by which the work grows */
        if (columns < 0) {
            return 0;
        }
        if ((call->flags & MULTIPLIES) && PyArray_CheckExact(other)) {
            PyArrayObject *array = (PyArrayObject *)other;
            int ndim = PyArray_NDIM(array);
            columns = ndim == 2 ? PyArray_DIM(array, 1) : ndim == 1 ? 1 : columns;
        }
        if ((double)size * (double)columns >= (double)limit_at(call->choice.limit, config.product_offset)) {
            return 0;
        }
    }
    return 1;
}

/* Whether a call with ndarrays as arguments is small. Larger ndarrays are left to Python. */
static int
is_small_with_ndarrays(Call *call, PyObject *const *values, PyObject *const *natives, int by_size)
{
    PyObject *first = natives[call->arrays[0]];
    double elements = (double)size_of(first);
    for (int k = 1; k < call->array_count; k++) {
        PyObject *other = natives[call->arrays[k]];
        if (is_array_argument(values[call->arrays[k]]) && !has_same_shape(first, other)) {
            elements *= (double)size_of(other);
        }
    }
    return elements >= 0 && elements < (double)config.large
           && !(by_size && elements >= (double)limit_at(call->choice.limit, config.elements_offset));
}

/* Returns what the native function gets for a Python scalar beside a native array: a native scalar, or the scalar
itself if an operator of NumPy scalars takes it. A new reference; NULL without an exception. */
static PyObject *
native_scalar(Call *call, PyObject *value, PyObject *home, PyObject *beside)
{
    int typenum = scalar_typenum(Py_TYPE(beside));
    if (typenum >= 0 && takes_python_scalar(typenum, value)) { /* not the table, which loops over many scalars would fill */
        if (call->operation != NULL && is_real(typenum)) {
            return Py_NewRef(value);
        }
        if (typenum == NPY_BOOL) {
            return Py_NewRef(value == Py_True ? PyArrayScalar_True : PyArrayScalar_False);
        }
        PyObject *scalar = PyObject_CallOneArg((PyObject *)Py_TYPE(beside), value);
        return scalar == NULL ? fall_back() : scalar;
    }
    return look_up_scalar_beside(get_slot(home, config.constants_offset), value, home, beside);
}

/* Whether a native array is not one of `natives`. */
static int
is_new_object(PyObject *native, PyObject *const *natives, int count)
{
    for (int i = 0; i < count; i++) {
        if (native == natives[i]) {
            return 0;
        }
    }
    return 1;
}

/* Whether an ndarray is new, with memory of its own. */
static int
is_new_memory(PyObject *native, PyObject *const *natives, int count)
{
    return PyArray_CheckExact(native) && PyArray_BASE((PyArrayObject *)native) == NULL
           && is_new_object(native, natives, count);
}

/* Whether the result is a view that must be recorded, in Python: one of an Array that is not written in place. */
static int
records_views(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives)
{
    if (!(call->flags & GIVES_VIEWS)) {
        return 0;
    }
    int at = call->arrays[0];
    return home == config.numpy_home ? !is_writable(natives[at]) : !is_array(values[at]) || !is_in_place(values[at]);
}

/* Calls the native function and wraps its result. `natives` are in the order of the parameters; some are the user's if
`has_ndarrays`. Returns a new reference; NULL without an exception, or with one that must be raised. */
static PyObject *
call_native(Call *call, PyObject *home, PyObject *const *natives, int has_ndarrays)
{
    PyObject *stack[MAX_PARAMETERS + 1], **args = stack + 1, *native;
    for (int i = 0; i < call->parameter_count; i++) {
        args[i] = natives[call->native_order[i]];
    }
    if (call->operation != NULL && are_operands(args, call->parameter_count)) {
        native = apply_operator(call->operation, args);
    }
    else {
        PyObject *function = PyObject_GetAttr(home, call->name);
        if (function == NULL) {
            return fall_back();
        }
        size_t nargsf = (size_t)call->native_nargs | PY_VECTORCALL_ARGUMENTS_OFFSET;
        if (get_slot(home, config.backend_offset) != get_slot(config.numpy_home, config.backend_offset)) {
            native = call_direct(call, function, home, natives);
            if (native == NULL && !PyErr_Occurred()) {
                native = PyObject_Vectorcall(function, args, nargsf, call->native_kwnames);
            }
        }
        else {
            native = call_shortcut(call, function, natives);
            if (native == NULL && !PyErr_Occurred()) {
                native = call_or_loop(function, args, nargsf, call->native_kwnames);
            }
        }
        Py_DECREF(function);
    }
    if (native == NULL) {
        return fall_back();
    }
    if (has_ndarrays && PyArray_Check(native) && !is_new_memory(native, natives, call->parameter_count)) {
        Py_DECREF(native);
        return NULL;
    }
    if ((call->flags & IS_READ_ONLY)) {
        int is_exact = PyArray_CheckExact(native) || !(PyArray_Check(native) || PyArray_IsScalar(native, Generic));
        if (!is_exact || !is_new_object(native, natives, call->parameter_count)) {
            Py_DECREF(native);
            return NULL;
        }
        if (PyArray_CheckExact(native)) {
            PyArray_CLEARFLAGS((PyArrayObject *)native, NPY_ARRAY_WRITEABLE);
        }
        PyObject *view = wrap(native, home);
        if (view != NULL) {
            swap_slot(view, config.view_offset, Py_NewRef(config.read_only_view)); /* NULL before */
        }
        return view;
    }
    if (call->result_class == NULL) {
        return wrap(native, home);
    }
    PyObject *result = wrap_in_tuple(native, home, (PyTypeObject *)call->result_class);
    Py_DECREF(native);
    return result == NULL ? fall_back() : result;
}

/* Returns a borrowed reference to the home of the array arguments; NULL without an exception if it is unknown. */
static PyObject *
find_home(Call *call, PyObject *const *values)
{
    int at = call->arrays[0];
    PyObject *first = values[at], *second = NULL;
    for (int k = 1; second == NULL && k < call->array_count; k++) { /* interp(0.5, x, y) */
        second = is_array(values[call->arrays[k]]) ? values[call->arrays[k]] : NULL;
    }
    if (is_array(first)) {
        return home_of(first);
    }
    if ((call->flags & TAKES_NDARRAYS) && PyArray_CheckExact(first)) {
        return config.numpy_home;
    }
    if (second != NULL
        && (is_numpy_scalar_operand(call, first)
            || (is_python_scalar(first) && (call->parameters[at].role == WEAK || takes_value(&call->parameters[at], first))))) {
        return home_of(second); /* add(1, x) */
    }
    return NULL;
}

/* Returns the native array, or the value, of an argument: a new reference; NULL without an exception if Python must
convert it.

Returns None and sets `*is_scalar` for a Python scalar that takes the dtype of an array, which may follow. */
static PyObject *
unwrap(Call *call, int at, PyObject *value, PyObject *home, int *is_scalar, int *is_ndarray)
{
    const Parameter *p = &call->parameters[at];
    *is_scalar = *is_ndarray = 0;
    if (p->role == PLAIN) {
        return takes_value(p, value) ? Py_NewRef(value) : NULL;
    }
    if (is_array(value)) {
        return home_of(value) == home ? Py_XNewRef(native_of(value)) : NULL;
    }
    if (PyArray_CheckExact(value)) {
        *is_ndarray = 1;
        int is_taken = (call->flags & TAKES_NDARRAYS) || ((call->flags & GIVES_NEW_MEMORY) && call->array_count == 2);
        return is_taken && home == config.numpy_home && has_known_dtype(home, (PyArrayObject *)value) ? Py_NewRef(value)
                                                                                                     : NULL;
    }
    if (is_numpy_scalar_operand(call, value)) {
        return home == config.numpy_home ? Py_NewRef(value) : NULL;
    }
    if (p->role == WEAK && is_python_scalar(value)) {
        *is_scalar = 1;
        return Py_NewRef(Py_None);
    }
    return (at != call->arrays[0] || is_python_scalar(value)) && takes_value(p, value) ? Py_NewRef(value) : NULL;
}

PyObject *
fast_function(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if ((call->operation != NULL || (call->flags & IS_POWER)) && !has_keywords(kwnames)) {
        PyObject *scalar = operate_on_scalars(call, args, nargs);
        if (scalar != NULL || PyErr_Occurred()) {
            return scalar;
        }
    }
    if ((call->flags & IS_ELEMENTWISE) && nargs == call->parameter_count && !has_keywords(kwnames)) {
        PyObject *recorded = record_call(call, args);
        if (recorded != NULL || PyErr_Occurred()) {
            return recorded;
        }
    }
    if (call->reduction && recorded_count) {
        PyObject *recorded = record_reduction(call, args, nargs, kwnames);
        if (recorded != NULL || PyErr_Occurred()) {
            return recorded;
        }
    }
    return call_eagerly(call, args, nargs, kwnames);
}

/* Calls the Python function that decides about a call. Returns a new reference; NULL with an exception, or without one
if the body must be called. Using the body instead would compile it. */
static PyObject *
decide(Call *call, PyObject *const *values)
{
    for (int i = 0; i < call->parameter_count; i++) {
        if (call->parameters[i].role == PLAIN && is_array(values[i])) { /* the body reads it, or raises */
            return NULL;
        }
    }
    PyObject *ordered = PyTuple_New(call->parameter_count);
    for (int i = 0; ordered != NULL && i < call->parameter_count; i++) {
        PyTuple_SET_ITEM(ordered, i, Py_NewRef(values[call->native_order[i]]));
    }
    PyObject *result = ordered == NULL ? NULL : PyObject_CallOneArg(call->choice.slow, ordered);
    Py_XDECREF(ordered);
    return result;
}

PyObject *
call_eagerly(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *values[MAX_PARAMETERS], *natives[MAX_PARAMETERS] = {NULL}, *result = NULL;
    int is_scalar[MAX_PARAMETERS] = {0}, by_size, has_ndarrays = 0, is_undecided = 0;
    if (!bind_arguments(call, args, nargs, kwnames, values)) {
        return NULL;
    }
    PyObject *home = find_home(call, values);
    if (!is_home(home)) {
        return NULL;
    }
    int is_sure = runs_at_home(home, &by_size);
    if (!is_sure && !by_size) {
        return NULL;
    }
    Py_INCREF(home);
    for (int i = 0; i < call->parameter_count; i++) {
        int is_ndarray;
        if ((natives[i] = unwrap(call, i, values[i], home, &is_scalar[i], &is_ndarray)) == NULL) {
            is_undecided = by_size && is_array(values[i]); /* on another home, or recorded */
            goto done;
        }
        has_ndarrays |= is_ndarray;
    }
    if (!is_sure) {
        if (has_ndarrays || !is_decided_at_home(call, home, values, natives)) {
            is_undecided = !has_ndarrays;
            goto done;
        }
        by_size = 0;
    }
    for (int k = 0; k < call->array_count; k++) {
        int at = call->arrays[k], beside = call->parameters[at].beside;
        if (!is_scalar[at]) {
            continue;
        }
        PyObject *scalar = NULL;
        if (is_scalar[beside]) { /* where(b, 1.0, 0.0) */
            if (Py_TYPE(values[beside]) == Py_TYPE(values[at]) && home == config.numpy_home) {
                scalar = array_of_scalar(values[at]);
            }
        }
        else if (is_array_argument(values[beside])) {
            if ((call->flags & IS_POWER) && at == call->native_order[1] && PyDict_Contains(config.powers, values[at]) == 1) {
                int is_known = 0;
                if (!has_ndarrays
                    && (!by_size || size_of(natives[beside]) < limit_at(call->choice.limit, config.even_offset))) {
                    result = call_power(home, natives[beside], values[at], &is_known);
                }
                if (!is_known || result != NULL) {
                    goto done;
                }
            }
            scalar = native_scalar(call, values[at], home, natives[beside]);
        }
        if (scalar == NULL) {
            /* The body would create the constant without a decision. */
            is_undecided = by_size && !is_scalar[beside]
                           && size_of(natives[beside]) >= limit_at(call->choice.limit, config.even_offset);
            goto done;
        }
        Py_SETREF(natives[at], scalar);
    }
    if (records_views(call, home, values, natives)) {
        goto done;
    }
    if (has_ndarrays ? is_small_with_ndarrays(call, values, natives, by_size)
                     : !by_size || is_below_limits(call, values, natives)
                           || is_decided_at_home(call, home, values, natives)) {
        result = call_native(call, home, natives, has_ndarrays);
    }
    else {
        is_undecided = by_size && !has_ndarrays;
    }
done:
    for (int i = 0; i < call->parameter_count; i++) {
        Py_XDECREF(natives[i]);
    }
    Py_DECREF(home);
    if (result == NULL) {
        fall_back();
    }
    /* After releasing references, which keep memory from being shared in a transfer. */
    return is_undecided && call->choice.slow != NULL && !PyErr_Occurred() ? decide(call, values) : result;
}

PyObject *
fast_join(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *values[MAX_PARAMETERS], *natives[MAX_PARAMETERS], *home = NULL, *result = NULL;
    int by_size = 0, has_ndarrays = 0;
    if (!bind_arguments(call, args, nargs, kwnames, values)) {
        return NULL;
    }
    for (int i = 1; i < call->parameter_count; i++) {
        if (!takes_value(&call->parameters[i], values[i])) {
            return NULL;
        }
        natives[i] = values[i];
    }
    PyObject *sequence = values[0];
    if (Py_TYPE(sequence) != &PyList_Type && Py_TYPE(sequence) != &PyTuple_Type) {
        return NULL;
    }
    Py_ssize_t length = PySequence_Fast_GET_SIZE(sequence);
    PyObject *joined = PyList_New(length);
    if (joined == NULL) {
        return fall_back();
    }
    npy_intp elements = 0;
    if (PySequence_Fast_GET_SIZE(sequence) != length) {
        goto done; /* the garbage collector has run code that changed it */
    }
    for (Py_ssize_t i = 0; i < length; i++) { /* no Python code runs that could shorten it */
        PyObject *one = PySequence_Fast_GET_ITEM(sequence, i), *native = one, *here = config.numpy_home;
        if (is_array(one)) {
            native = native_of(one);
            here = home_of(one);
        }
        else if ((call->flags & TAKES_NDARRAYS) && PyArray_CheckExact(one) && has_known_dtype(here, (PyArrayObject *)one)) {
            has_ndarrays = 1;
        }
        else {
            goto done;
        }
        if (native == NULL || !is_home(here) || (home != NULL && here != home)) {
            goto done;
        }
        if (home == NULL) {
            home = Py_NewRef(here);
        }
        PyList_SET_ITEM(joined, i, Py_NewRef(native));
        if (home == config.numpy_home) {
            npy_intp size = size_of(native);
            if (size < 0) {
                goto done;
            }
            elements += size;
        }
    }
    if (home == NULL || !runs_at_home(home, &by_size)
        || (by_size && elements >= limit_at(call->choice.limit, config.elements_offset))
        || (has_ndarrays && elements >= config.large)) {
        goto done;
    }
    natives[0] = joined;
    result = call_native(call, home, natives, has_ndarrays);
done:
    Py_XDECREF(home);
    Py_DECREF(joined);
    return result;
}
