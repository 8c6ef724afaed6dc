/* Calls of elementwise functions that are put off on other backends than NumPy, where chains are asked for.

Compiled: which calls may be. Left to Python: all else, in `_lazy.recording`. */

#include "postponed.h"
#include "arrays.h"
#include "choice.h"

/* A borrowed reference to the home of a call that may be put off; NULL if it is to be run. */
static PyObject *
fused_home(PyObject *const *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_array(values[i])) {
            continue;
        }
        int by_size;
        PyObject *home = home_of(values[i]);
        return is_home(home) && home != config.numpy_home && is_fused() && runs_at_home(home, &by_size) && !by_size
                   ? home
                   : NULL;
    }
    return NULL;
}

PyObject *
put_off_call(Call *call, PyObject *const *values, Py_ssize_t count)
{
    PyObject *home = fused_home(values, count), *args[MAX_PARAMETERS + 2];
    if (home == NULL) {
        return NULL;
    }
    int is_cast = call->parameter_count == 0;
    Py_INCREF(home);
    args[0] = call->name;
    args[1] = home;
    for (Py_ssize_t i = 0; i < count; i++) {
        args[2 + i] = values[is_cast ? i : call->native_order[i]];
    }
    PyObject *told = PyObject_Vectorcall(config.put_off, args, (size_t)count + 2, NULL), *result = NULL;
    if (told != NULL && told != Py_None) {
        result = wrap(Py_NewRef(told), home);
    }
    Py_XDECREF(told);
    Py_DECREF(home);
    return result;
}

PyObject *
put_off_inplace(Call *call, PyObject *const *values)
{
    PyObject *home = fused_home(values, 1);
    if (home == NULL) {
        return NULL;
    }
    PyObject *told = PyObject_CallFunctionObjArgs(config.put_off_inplace, call->name, home, values[0], values[1], NULL);
    int is_done = told == Py_True;
    Py_XDECREF(told);
    return is_done ? Py_NewRef(values[0]) : NULL;
}

PyObject *
compute_postponed(PyObject *postponed)
{
    return PyObject_CallOneArg(config.value_of, postponed);
}

int
compute_postponed_readers(PyObject *native)
{
    if (PyDict_GET_SIZE(config.leaves) == 0 || PyArray_Check(native)) {
        return 1;
    }
    PyObject *done = PyObject_CallOneArg(config.compute_readers, native);
    Py_XDECREF(done);
    return done != NULL;
}
