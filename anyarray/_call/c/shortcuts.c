/* What gives the same as a native function of NumPy for few elements.

Compiled: to ask whether a shortcut holds for the arguments, and to call it. Left to Python: the shortcuts
themselves, which `backends._shortcut.shortcut` sets as an attribute of the native function, and what they
raise: the native function is called then. Repeated here: the conditions that are told there (dtypes, axes,
finite elements, all else left out). */

#include "shortcuts.h"
#include "arrays.h"
#include "loops.h"
#include "scalars.h"
#include "scans.h"

/* Reads the shortcut of a native function into the cache of the call. */
static void
cache_shortcut(Call *call, PyObject *function)
{
    PyObject *told = PyObject_GetAttr(function, constants.shortcut), *shortcut = NULL, *dtypes = NULL;
    int ndim = 0, needs_finite = 0;
    if (told == NULL || !PyTuple_Check(told)
        || !PyArg_ParseTuple(told, "OO!ip", &shortcut, &PyTuple_Type, &dtypes, &ndim, &needs_finite)
        || PyTuple_GET_SIZE(dtypes) > call->array_count) {
        PyErr_Clear(); /* most have none */
        shortcut = NULL;
    }
    memset(call->shortcut_dtypes, 0, sizeof call->shortcut_dtypes); /* of the arrays that must be left out */
    for (int k = 0; shortcut != NULL && k < PyTuple_GET_SIZE(dtypes); k++) {
        call->shortcut_dtypes[k] = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(dtypes, k));
        if (PyErr_Occurred()) {
            PyErr_Clear();
            shortcut = NULL;
        }
    }
    PyObject *former = call->shortcut_of, *former_shortcut = call->shortcut;
    call->shortcut_ndim = ndim;
    call->shortcut_needs_finite = needs_finite;
    call->shortcut = Py_XNewRef(shortcut);
    call->shortcut_of = Py_NewRef(function);
    Py_XDECREF(told);
    Py_XDECREF(former);
    Py_XDECREF(former_shortcut);
}

PyObject *
call_shortcut(Call *call, PyObject *function, PyObject *const *natives)
{
    if (function != call->shortcut_of) {
        cache_shortcut(call, function);
    }
    if (call->shortcut == NULL) {
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
        if (is_left_out || typenum < 0 || typenum >= 64 || !(call->shortcut_dtypes[nargs] >> typenum & 1)
            || (array != NULL && PyArray_SIZE(array) >= config.few)) {
            return NULL;
        }
        int ndim = array == NULL ? 0 : PyArray_NDIM(array);
        if (nargs == 0
            && (ndim < call->shortcut_ndim || (call->shortcut_needs_finite && (array == NULL || !is_finite(array))))) {
            return NULL;
        }
        args[nargs++] = native;
    }
    PyObject *shortcut = Py_NewRef(call->shortcut); /* a call from another thread may replace it */
    PyObject *result = call_or_loop(shortcut, args, nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(shortcut);
    return result == NULL ? fall_back() : result;
}

/* Reads the library's own function beside a native function into the cache of the call. */
static void
cache_direct(Call *call, PyObject *function)
{
    PyObject *told = PyObject_GetAttr(function, constants.direct);
    PyObject *direct = NULL, *type = NULL, *dtypes = NULL, *guard = NULL;
    if (told == NULL || !PyTuple_Check(told)
        || !PyArg_ParseTuple(told, "OO!O!O", &direct, &PyType_Type, &type, &PyFrozenSet_Type, &dtypes, &guard)) {
        PyErr_Clear(); /* most have none */
        direct = type = dtypes = guard = NULL;
    }
    PyObject *const former[] = {call->direct_of, call->direct, call->direct_type, call->direct_dtypes, call->direct_guard};
    call->direct = Py_XNewRef(direct);
    call->direct_type = Py_XNewRef(type);
    call->direct_dtypes = Py_XNewRef(dtypes);
    call->direct_guard = Py_XNewRef(guard);
    call->direct_of = Py_NewRef(function);
    Py_XDECREF(told);
    for (size_t i = 0; i < sizeof former / sizeof *former; i++) {
        Py_XDECREF(former[i]);
    }
}

/* Whether no derivative may be taken of an array: 0 without an exception if one may, or if it cannot be told. */
static int
is_constant(PyObject *native)
{
    PyObject *required = PyObject_GetAttr(native, constants.requires_grad);
    if (required == NULL) {
        fall_back();
        return 0;
    }
    Py_DECREF(required);
    return required == Py_False;
}

PyObject *
call_direct(Call *call, PyObject *function, PyObject *const *natives)
{
    if (function != call->direct_of) {
        cache_direct(call, function);
    }
    if (call->direct == NULL) {
        return NULL;
    }
    PyObject *direct = Py_NewRef(call->direct), *type = call->direct_type; /* a call from another thread may replace it */
    PyObject *dtypes = Py_NewRef(call->direct_dtypes), *guard = Py_NewRef(call->direct_guard);
    PyObject *stack[MAX_PARAMETERS + 1], **args = stack + 1, *dtype = NULL, *result = NULL;
    size_t nargs = 0;
    int is_left_out = 0;
    for (int i = 0; i < call->parameter_count; i++) {
        const Parameter *p = &call->parameters[call->native_order[i]];
        PyObject *native = natives[call->native_order[i]];
        if (p->role == PLAIN || native == Py_None) {
            if (native != p->default_value) {
                goto done;
            }
            is_left_out |= p->role != PLAIN;
            continue;
        }
        if (is_left_out || (PyObject *)Py_TYPE(native) != type || (guard != Py_None && !is_constant(native))) {
            goto done;
        }
        PyObject *own = PyObject_GetAttr(native, constants.dtype);
        if (own == NULL || (dtype != NULL && own != dtype)) {
            Py_XDECREF(own);
            goto done;
        }
        Py_XSETREF(dtype, own);
        args[nargs++] = native;
    }
    if (dtype == NULL || PySet_Contains(dtypes, dtype) != 1) {
        goto done;
    }
    if (guard != Py_None) {
        PyObject *open = PyObject_CallNoArgs(guard);
        if (open != Py_None) {
            Py_XDECREF(open);
            goto done;
        }
        Py_DECREF(open);
    }
    result = PyObject_Vectorcall(direct, args, nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
done:
    Py_XDECREF(dtype);
    Py_DECREF(direct);
    Py_DECREF(dtypes);
    Py_DECREF(guard);
    return result == NULL ? fall_back() : result;
}
