/* Runs recorded calls into existing memory, for `x += y` and `x[key] = y`; operators.c and assignment.c call it. */

#include "recording.h"
#include "arrays.h"
#include "chains.h"
#include "exposure.h"

/* Whether the rows of an ndarray are contiguous, as in a new array; otherwise some loops round the last bit
differently. */
static int
has_contiguous_rows(PyArrayObject *array)
{
    int last = PyArray_NDIM(array) - 1;
    return last >= 0 && (PyArray_DIM(array, last) == 1 || PyArray_STRIDE(array, last) == PyArray_ITEMSIZE(array))
           && PyArray_ISBEHAVED(array);
}

/* Whether an in-place operator replaces the native array of an Array, and does not write to it. */
static int
is_rebound(PyObject *array)
{
    PyObject *home = home_of(array), *view = get_slot(array, config.view_offset);
    if (home == config.numpy_home || pending_of(array) != NULL) {
        return pending_of(array) != NULL && (home == config.numpy_home || view == NULL || view == Py_None);
    }
    return (view == NULL || view == Py_None) && is_home(home) && get_slot(home, config.has_views_offset) == Py_False;
}

PyObject *
record_inplace(Call *call, PyObject *const *values)
{
    PyObject *array = values[0], *native = get_slot(array, config.native_offset);
    int takes_place = is_rebound(array), is_numpy = home_of(array) == config.numpy_home;
    if (native == NULL
        || (!takes_place
            && !(is_numpy && pending_of(values[1]) != NULL && is_writable(native) && has_contiguous_rows((PyArrayObject *)native)))) {
        return NULL;
    }
    Py_INCREF(native);
    Lazy *result = (Lazy *)record_lazy(call, values);
    int is_done = result != NULL && get_slot(array, config.native_offset) == native && is_like(result, native);
    if (is_done && takes_place) {
        drop_second_copy(array);
        Py_XDECREF(swap_slot(array, config.native_offset, Py_NewRef(result)));
    }
    else if (is_done) {
        is_done = compute_readers(native, result) && compute_into(result, native);
    }
    Py_XDECREF(result);
    Py_DECREF(native);
    return is_done ? Py_NewRef(array) : run_now();
}

int
write_recorded(PyObject *native, PyObject *key, PyObject *value)
{
    Lazy *recorded = pending_of(value);
    if (recorded == NULL || recorded->home != config.numpy_home || Py_REFCNT(value) > 1) {
        return 0;
    }
    Py_INCREF(recorded);
    PyObject *part = PyObject_GetItem(native, key);
    int is_part = part != NULL && PyArray_CheckExact(part) && owner_of(part) != NULL && owner_of(part) == owner_of(native)
                  && has_contiguous_rows((PyArrayObject *)part) && is_like(recorded, part);
    int is_written = is_part && compute_readers(part, recorded) && compute_into(recorded, part);
    Py_XDECREF(part);
    Py_DECREF(recorded);
    if (!is_written) {
        run_now();
    }
    return is_written;
}
