/* Caches what Python says of a function for operands of some dtypes: `_lazy.loops.loop_of` for NumPy,
`_lazy.recording.result_dtype` for other libraries. Used by recording.c and reductions.c. */

#include "plans.h"
#include "config.h"
#include "elements.h"

/* Finds the loop by which a ufunc reduces numbers of the dtype in `loop`. Returns 0 if there is none. */
static int
find_reduction(PyObject *ufunc, Loop *loop)
{
    int typenum = loop->types[1];
    loop->name = "reduce";
    if (loop->types[0] != typenum) {
        loop->function = count_bools;
        return 1;
    }
    Loop binary = {.operand_count = 2, .types = {typenum, typenum, typenum}};
    int is_found = find_exact_loop(ufunc, &binary);
    loop->function = binary.function;
    loop->data = binary.data;
    return is_found;
}

/* Sets `loop` from the result of `_lazy.loops.loop_of`: the ufunc, or None for `where`; whether it rounds correctly;
the dtypes of the loop. Returns 0 if chains cannot run it. */
static int
fill_numpy_loop(Call *call, Loop *loop, PyObject *found, PyObject *const *dtypes, int count)
{
    PyObject *ufunc = PyTuple_GET_ITEM(found, 0);
    loop->is_correctly_rounded = PyTuple_GET_ITEM(found, 1) == Py_True;
    loop->operand_count = count;
    for (int i = 0; i <= count; i++) {
        loop->types[i] = ((PyArray_Descr *)PyTuple_GET_ITEM(found, i + 2))->type_num;
        int own = i < count ? ((PyArray_Descr *)dtypes[i])->type_num : loop->types[i];
        if (own != loop->types[i] && !is_cast_known(own, loop->types[i])) {
            return 0;
        }
    }
    if (ufunc == Py_None) {
        loop->name = "where";
        return 1;
    }
    return call->reduction ? find_reduction(ufunc, loop) : find_exact_loop(ufunc, loop);
}

int
is_same_dtype(PyObject *home, PyObject *one, PyObject *other)
{
    int is_same = one == other ? 1 : home == config.numpy_home ? 0 : PyObject_RichCompareBool(one, other, Py_EQ);
    if (is_same < 0) {
        PyErr_Clear();
    }
    return is_same == 1;
}

static int
is_known_for(const KnownLoop *known, PyObject *name, PyObject *home, PyObject *const *dtypes, int count)
{
    int is_same = known->name == name && known->home == home;
    for (int i = 0; is_same && i < MAX_OPERANDS; i++) {
        PyObject *one = known->dtypes[i], *other = i < count ? dtypes[i] : NULL;
        is_same = one == other || (one != NULL && other != NULL && is_same_dtype(home, one, other));
    }
    return is_same;
}

const Loop *
loop_of(Call *call, PyObject *name, PyObject *home, PyObject *const *dtypes, int count)
{
    for (KnownLoop *known = call->loops; known != NULL; known = known->next) {
        if (is_known_for(known, name, home, dtypes, count)) {
            return known->loop.operand_count ? &known->loop : NULL;
        }
    }
    int is_numpy = home == config.numpy_home;
    PyObject *given = PyTuple_New(count);
    for (int i = 0; given != NULL && i < count; i++) {
        PyTuple_SET_ITEM(given, i, Py_NewRef(dtypes[i]));
    }
    PyObject *found = given == NULL ? NULL
                      : is_numpy    ? PyObject_CallFunctionObjArgs(config.loop_of, name, given, NULL)
                                    : PyObject_CallFunctionObjArgs(config.result_dtype, name, home, given, NULL);
    Py_XDECREF(given);
    /* Never freed: recorded calls refer to it. */
    KnownLoop *known = found == NULL ? NULL : PyMem_RawCalloc(1, sizeof *known);
    if (known == NULL) {
        Py_XDECREF(found);
        return PyErr_Occurred() ? NULL : (PyErr_NoMemory(), NULL);
    }
    known->name = name; /* interned */
    known->home = home; /* borrowed: homes are never deleted */
    for (int i = 0; i < count; i++) {
        known->dtypes[i] = Py_NewRef(dtypes[i]);
    }
    Loop *loop = &known->loop;
    loop->ours = name;
    loop->reports = known->reports;
    if (is_numpy && found != Py_None) {
        loop->operand_count = fill_numpy_loop(call, loop, found, dtypes, count) ? count : 0;
    }
    else if (found != Py_None) {
        loop->dtype = Py_NewRef(found);
        loop->operand_count = count;
    }
    Py_DECREF(found);
    known->next = call->loops;
    call->loops = known;
    return loop->operand_count ? loop : NULL;
}

int
warned_errors(void)
{
    static PyObject *latest; /* the value of the context variable at the last call */
    static int warned;
    PyObject *here = NULL;
    if (config.error_variable != Py_None && PyContextVar_Get(config.error_variable, NULL, &here) < 0) {
        return -1;
    }
    if (here == NULL || here != latest) {
        PyObject *found = PyObject_CallNoArgs(config.warned_errors);
        warned = found == NULL ? -1 : (int)PyLong_AsLong(found);
        Py_XDECREF(found);
        Py_XSETREF(latest, Py_XNewRef(here));
    }
    Py_XDECREF(here);
    return warned;
}
