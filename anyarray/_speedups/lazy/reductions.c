/* Records reductions of recorded Arrays in NumPy, over all axes or the last, which end a chain; functions.c calls it.
*/

#include "recording.h"
#include "arguments.h"
#include "arrays.h"
#include "chains.h"
#include "choice.h"
#include "plans.h"

/* Returns the number of contiguous elements that a reduction over `axis` makes one of; 0 for other axes. Sets the shape
of the result. */
static npy_intp
group_of(const Lazy *operand, PyObject *axis, int keeps, int *ndim, npy_intp *shape)
{
    npy_intp group = operand->size;
    int kept = 0; /* axes that are not reduced */
    if (axis != Py_None) {
        long last = PyLong_CheckExact(axis) ? PyLong_AsLong(axis) : 0;
        if (last != -1 && last != operand->ndim - 1) {
            return 0;
        }
        kept = operand->ndim - 1;
        group = operand->shape[kept];
    }
    *ndim = keeps ? operand->ndim : kept;
    for (int i = 0; i < *ndim; i++) {
        shape[i] = i < kept ? operand->shape[i] : 1;
    }
    return group;
}

/* Records a reduction: a new reference; NULL, perhaps with an exception, if it must run now. */
static PyObject *
record_over_axis(Call *call, Lazy *operand, PyObject *axis, int keeps, npy_intp below)
{
    npy_intp shape[MAX_AXES];
    int ndim;
    npy_intp group = group_of(operand, axis, keeps, &ndim, shape);
    int is_worth = group > 1 && operand->size < below;
    PyObject *dtype = is_worth ? dtype_of_operand((PyObject *)operand) : NULL;
    const Loop *loop = dtype == NULL ? NULL : loop_of(call, call->name, config.numpy_home, &dtype, 1);
    Py_XDECREF(dtype);
    int warned = loop == NULL ? -1 : warned_errors();
    Lazy *recorded = warned < 0 || !compute_reduction() || operand->value != NULL
                             ? NULL
                             : new_lazy(loop, config.numpy_home, 1, ndim, shape, operand->size / group);
    if (recorded == NULL) {
        return NULL;
    }
    recorded->warned = warned;
    recorded->operands[0] = Py_NewRef(operand);
    recorded->group = group;
    recorded->reduction = call->reduction;
    recorded->calls += operand->calls;
    recorded_reduction = recorded;
    return insert_recorded(recorded);
}

PyObject *
record_reduction(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Lazy *operand = nargs > 0 ? pending_of(args[0]) : NULL;
    if (operand == NULL || operand->home != config.numpy_home) {
        return NULL;
    }
    PyObject *values[MAX_PARAMETERS], *axis = Py_None;
    if (!bind_arguments(call, args, nargs, kwnames, values)) {
        return NULL;
    }
    int keeps = 0;
    for (int i = 1; i < call->parameter_count; i++) {
        PyObject *name = call->parameters[i].name;
        if (name == constants.axis) {
            axis = values[i];
        }
        else if (name == constants.keepdims && PyBool_Check(values[i])) {
            keeps = values[i] == Py_True;
        }
        else if (values[i] != Py_None) { /* the dtype */
            return NULL;
        }
    }
    Py_INCREF(operand);
    npy_intp below = recorded_below(call->choice.limit);
    PyObject *result = record_over_axis(call, operand, axis, keeps, below);
    Py_DECREF(operand);
    return result == NULL ? run_now() : wrap(result, config.numpy_home);
}
