/* The fast path of `x[key]`; call.c calls it.

Takes ndarrays with a key that keys.c reads, and arrays of other libraries that are written in place with a basic key.
Leaves to Python: other keys, views that must be recorded, and errors. */

#include "arrays.h"
#include "choice.h"
#include "fast_paths.h"
#include "keys.h"
#include "views.h"

PyObject *
fast_getitem(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int by_size;
    if (nargs != 2 || has_keywords(kwnames) || !is_array(args[0])) {
        return NULL;
    }
    PyObject *home = home_of(args[0]), *native = native_of(args[0]);
    if (!is_home(home) || native == NULL || !runs_at_home(home, &by_size)) {
        return NULL;
    }
    if (!PyArray_CheckExact(native)) {
        return is_basic_key(args[1]) ? view_in_place(args[0], constants.getitem, args[1]) : NULL;
    }
    Py_INCREF(home);
    Py_INCREF(native);
    PyObject *key = native_key(args[1], home), *result = NULL;
    if (key != NULL) {
        PyObject *found = PyObject_GetItem(native, key);
        Py_DECREF(key);
        if (found == NULL) {
            fall_back();
        }
        else if (PyArray_CheckExact(found) && !is_writable(found)) {
            Py_DECREF(found); /* a view of read-only memory */
        }
        else {
            result = wrap(found, home);
        }
    }
    Py_DECREF(native);
    Py_DECREF(home);
    return result;
}
