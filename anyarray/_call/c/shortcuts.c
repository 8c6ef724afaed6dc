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
