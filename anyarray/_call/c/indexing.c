/* `x[key]`.

Compiled: an ndarray of an Array, free or placed, and a key of keys.c. Left to Python: other keys, errors, and
parts to be copied. Repeated here: that nothing is copied while `_memory.ownership.read_apart` is empty. */

#include "arrays.h"
#include "choice.h"
#include "fast_paths.h"
#include "keys.h"

PyObject *
fast_getitem(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int by_size;
    if (nargs != 2 || has_keywords(kwnames) || !is_array(args[0])) {
        return NULL;
    }
    PyObject *home = home_of(args[0]), *native = native_of(args[0]);
    if (!is_home(home) || native == NULL || !PyArray_CheckExact(native) || PyDict_Size(config.read_apart)
        || !runs_at_home(home, &by_size)) {
        return NULL;
    }
    Py_INCREF(home);
    Py_INCREF(native);
    PyObject *key = native_key(args[1], home), *result = NULL;
    if (key != NULL) {
        PyObject *found = PyObject_GetItem(native, key);
        result = found == NULL ? fall_back() : wrap(found, home);
        Py_DECREF(key);
    }
    Py_DECREF(native);
    Py_DECREF(home);
    return result;
}
