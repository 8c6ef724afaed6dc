/* Calls that run where their Arrays live, as was decided about calls alike.

Compiled: to find them. Left to Python: decisions, those of calls that move, or that an account may move later. Repeated
here: the key of a decision (`_choice.automatic.key_of`). */

#include "decisions.h"
#include "arrays.h"
#include "choice.h"

static PyObject *
shape_of(PyObject *home, PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return PyArray_IntTupleFromIntp(PyArray_NDIM((PyArrayObject *)native), PyArray_DIMS((PyArrayObject *)native));
    }
    PyObject *function = PyObject_GetAttr(home, constants.shape_of);
    PyObject *shape = function == NULL ? NULL : PyObject_CallOneArg(function, native);
    Py_XDECREF(function);
    return shape;
}

/* The key of a cached decision: a new reference, or NULL with an exception. */
static PyObject *
key_of(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives)
{
    Py_ssize_t size = 1;
    for (int i = 0; i < call->parameter_count; i++) {
        size += 4 * is_array(values[i]);
    }
    PyObject *key = PyTuple_New(size);
    if (key == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(key, 0, Py_NewRef(call->choice.axis_at < 0 ? Py_None : values[call->choice.axis_at]));
    Py_ssize_t to = 1;
    for (int i = 0; i < call->parameter_count; i++) {
        int at = call->native_order[i];
        if (!is_array(values[at])) {
            continue;
        }
        PyObject *second = get_slot(values[at], config.second_offset);
        int has_second = second != NULL && PyTuple_Check(second) && PyTuple_GET_SIZE(second) == 2;
        PyTuple_SET_ITEM(key, to++, Py_NewRef(home));
        PyTuple_SET_ITEM(key, to++, Py_NewRef(has_second ? PyTuple_GET_ITEM(second, 0) : Py_None));
        PyObject *shape = shape_of(home, natives[at]);
        PyObject *dtype = shape == NULL ? NULL : PyObject_GetAttr(natives[at], constants.dtype);
        if (dtype == NULL) {
            Py_XDECREF(shape);
            Py_DECREF(key);
            return NULL;
        }
        PyTuple_SET_ITEM(key, to++, shape);
        PyTuple_SET_ITEM(key, to++, dtype);
    }
    return key;
}

int
is_decided_at_home(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives)
{
    if (call->choice.decisions == NULL || !PyDict_GET_SIZE(call->choice.decisions)
        || (home == config.numpy_home && (call->flags & IS_ELEMENTWISE) && recorded_below(call->choice.limit))) { /* Python records it */
        return 0;
    }
    PyObject *key = key_of(call, home, values, natives);
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(call->choice.decisions, key);
    Py_XDECREF(key);
    if (found == NULL) {
        fall_back();
    }
    return found == home;
}
