/* Faster functions that give the same results as native functions. */

#ifndef ANYARRAY_SHORTCUTS_H
#define ANYARRAY_SHORTCUTS_H

#include "call.h"

/* Calls the shortcut of a native function of NumPy. Returns a new reference; NULL if there is none for these arguments,
without an exception unless it must be raised. */
PyObject *call_shortcut(Call *call, PyObject *function, PyObject *const *natives);

/* The same for the library's own function, for arrays of one dtype of a library other than NumPy. */
PyObject *call_direct(Call *call, PyObject *function, PyObject *home, PyObject *const *natives);

/* Makes the whole call if it is like the last: the same number of Arrays on the same home, and no other arguments.
Returns a new Array; NULL if it is not, without an exception unless it must be raised. */
PyObject *call_arrays_directly(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Runs the fast path of a call, after `call_arrays_directly` if the last call allows that. Returns as a FastPath does. */
static inline PyObject *
run_fast_path(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (call->direct.home != NULL && kwnames == NULL) {
        PyObject *result = call_arrays_directly(call, args, nargs);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return call->fast_path(call, args, nargs, kwnames);
}

#endif
