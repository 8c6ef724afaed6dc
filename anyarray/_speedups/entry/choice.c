/* Decides where a call runs as far as this needs no cost model; used by all fast paths.

Mirrors rules 1 and 2 of `_choice.choice` (a chosen backend; placed Arrays and small calls),
`_choice.choice.chosen_home` for creation, and the key of cached decisions, `_choice.automatic.key_of`. Leaves to
Python: transfers, new decisions, reading the profile, and imports. */

#include "choice.h"
#include "arrays.h"

/* Returns a borrowed reference to a field of the current Choice, which the context keeps alive; NULL without an
exception if there is none. */
static PyObject *
chosen_field(Py_ssize_t offset)
{
    PyObject *choice = NULL;
    if (PyContextVar_Get(config.choice_variable, NULL, &choice) < 0) {
        PyErr_Clear();
    }
    PyObject *value = choice != NULL && Py_TYPE(choice) == config.choice_type ? get_slot(choice, offset) : NULL;
    Py_XDECREF(choice);
    return value;
}

int
runs_at_home(PyObject *home, int *by_size)
{
    PyObject *chosen = chosen_field(config.chosen_offset);
    *by_size = 0;
    if (chosen == NULL) {
        return 0;
    }
    if (chosen == Py_None || chosen == get_slot(home, config.backend_offset)) {
        return 1;
    }
    if (chosen != config.by_cost) {
        return 0;
    }
    if (get_slot(home, config.placed_offset) == Py_True) {
        return 1;
    }
    *by_size = 1;
    return home == config.numpy_home;
}

PyObject *
creation_home(void)
{
    if (PyDict_Size(config.unadopted)) {
        PyObject *absent = PyObject_CallOneArg(config.are_absent, config.unadopted);
        Py_XDECREF(absent);
        if (absent != Py_True) {
            return NULL;
        }
    }
    PyObject *chosen = chosen_field(config.chosen_offset);
    if (chosen == Py_None || chosen == config.by_cost) {
        return config.numpy_home;
    }
    return chosen != NULL && Py_TYPE(chosen) == config.backend_type ? get_slot(chosen, config.free_offset) : NULL;
}

npy_intp
limit_at(PyObject *limit, Py_ssize_t offset)
{
    PyObject *value = get_slot(limit, offset);
    return value != NULL && PyLong_CheckExact(value) ? PyLong_AsSsize_t(value) : 0; /* at most `_choice.machine.MOST` */
}

npy_intp
recorded_below(PyObject *limit)
{
    PyObject *chosen = chosen_field(config.chosen_offset), *fuses = chosen_field(config.fuses_offset);
    if (chosen == NULL || fuses == NULL || fuses == Py_False) {
        return 0;
    }
    if (chosen == config.by_cost && fuses != Py_True) {
        return limit_at(limit, config.recorded_offset);
    }
    int is_numpy = fuses == Py_True && chosen == get_slot(config.numpy_home, config.backend_offset);
    return chosen == Py_None || chosen == config.by_cost || is_numpy ? NPY_MAX_INTP : 0;
}

int
is_fused(void)
{
    return chosen_field(config.fuses_offset) == Py_True;
}

int
decisions_are_recorded(void)
{
    PyObject *records = chosen_field(config.records_offset);
    return records != NULL && PyTuple_Check(records) && PyTuple_GET_SIZE(records) > 0;
}

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

/* Returns a new reference to the key of a cached decision; NULL with an exception. */
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
        /* Python records it: */
        || (home == config.numpy_home && (call->flags & IS_ELEMENTWISE) && recorded_below(call->choice.limit))) {
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
