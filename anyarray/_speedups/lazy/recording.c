/* Records calls of elementwise functions of many elements, to run them with later calls; functions.c and conversion.c
call it.

Python says what a function gives for some dtypes (plans.c), and whether code outside may write the memory of another
library's array (`_lazy.recording.readable`). */

#include "recording.h"
#include "arrays.h"
#include "chains.h"
#include "choice.h"
#include "dtypes.h"
#include "elements.h"
#include "exposure.h"
#include "operands.h"
#include "plans.h"

#define MAX_RECORDED 256 /* calls in the ring */

static npy_intp min_recorded = NPY_MAX_INTP; /* elements of a result from which calls are recorded */

PyObject *
record_from(PyObject *Py_UNUSED(module), PyObject *elements)
{
    npy_intp before = min_recorded, after = PyLong_AsSsize_t(elements);
    if (after == -1 && PyErr_Occurred()) {
        return NULL;
    }
    min_recorded = after < 2 ? 2 : after; /* one element has no axis to divide */
    return PyLong_FromSsize_t(before);
}

/* Whether the bits of a result depend on NumPy's buffers: they do if one operand is cast and one is broadcast. */
static int
depends_on_buffers(const Loop *loop, const Operand *operands, npy_intp size)
{
    int is_cast = 0, is_broadcast = 0;
    for (int i = 0; i < loop->operand_count; i++) {
        npy_intp own = size_of_operand(operands[i].value);
        is_cast |= own > 1 && typenum_of_operand(operands[i].value) != loop->types[i];
        is_broadcast |= own > 1 && own < size;
    }
    return is_cast && is_broadcast && !loop->is_correctly_rounded;
}

/* Whether code is the user's, and not this package's. */
static int
is_users(PyCodeObject *code)
{
    static PyObject *latest; /* the last code of the user */
    if ((PyObject *)code == latest) {
        return 1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(config.skipped_files); i++) {
        if (PyUnicode_Tailmatch(code->co_filename, PyTuple_GET_ITEM(config.skipped_files, i), 0, PY_SSIZE_T_MAX, -1) == 1) {
            return 0;
        }
    }
    Py_XSETREF(latest, Py_NewRef(code));
    return 1;
}

/* Stores where a call was made in the user's code. */
static void
store_location(Lazy *recorded)
{
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef(PyEval_GetFrame());
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyFrameObject *outer = is_users(code) ? NULL : PyFrame_GetBack(frame);
        if (outer == NULL) {
            recorded->code = (PyObject *)code;
            recorded->globals = PyFrame_GetGlobals(frame);
            recorded->instruction = PyFrame_GetLasti(frame);
        }
        else {
            Py_DECREF(code);
        }
        Py_SETREF(frame, outer);
    }
}

PyObject *
insert_recorded(Lazy *recorded)
{
    store_location(recorded);
    insert_into_ring(recorded);
    PyObject_GC_Track((PyObject *)recorded);
    if ((recorded->calls >= MAX_CALLS || recorded_count >= MAX_RECORDED || recorded_bytes >= MAX_RECORDED_NBYTES)
        && compute(recorded) == NULL) {
        Py_DECREF(recorded);
        return NULL;
    }
    return (PyObject *)recorded;
}

/* Asks Python whether a call on a home other than NumPy's may read its operands later. Sets `memory` to a tuple of the
native arrays that own the memory, or to NULL for a library without views. Returns 0, perhaps with an exception, if the
call cannot be recorded. */
static int
check_operands(PyObject *home, Operand *operands, int count, int is_small, PyObject **memory)
{
    PyObject *args[MAX_OPERANDS + 2] = {home, is_small ? Py_True : Py_False};
    size_t given = 2;
    for (int i = 0; i < count; i++) {
        if (operands[i].array != NULL && array_of_operand(operands[i].value) != NULL) {
            args[given++] = operands[i].array;
            Py_CLEAR(operands[i].value); /* it would count as an owner of the memory */
        }
    }
    *memory = PyObject_Vectorcall(config.readable, args, given, NULL);
    if (*memory == NULL || *memory == Py_False) {
        Py_CLEAR(*memory);
        return 0;
    }
    if (!PyTuple_Check(*memory)) {
        Py_CLEAR(*memory);
    }
    for (int i = 0; i < count; i++) {
        if (operands[i].value == NULL) {
            operands[i].value = Py_XNewRef(get_slot(operands[i].array, config.native_offset));
        }
    }
    return 1;
}

/* Sets the operands of a recorded call. Returns 0 with an exception on failure. */
static int
add_operands(Lazy *recorded, const Operand *operands)
{
    int is_numpy = recorded->home == config.numpy_home;
    for (int i = 0; i < recorded->operand_count; i++) {
        PyObject *value = operands[i].value, *array = array_of_operand(value); /* scalars are cast now */
        int to = recorded->loop->types[i];
        int is_cast = is_numpy && array != NULL && size_of_operand(array) == 1 && typenum_of_operand(value) != to;
        recorded->operands[i] = is_cast ? PyArray_Cast((PyArrayObject *)array, to) : Py_NewRef(value);
        if (recorded->operands[i] == NULL) {
            return 0;
        }
        if (is_lazy(value)) {
            recorded->calls += ((Lazy *)value)->calls;
        }
        PyObject *owner = is_lazy(value) || !is_numpy ? NULL : owner_of(value); /* a view keeps all of it alive */
        npy_intp kept = owner == NULL ? 0 : PyArray_NBYTES((PyArrayObject *)owner);
        recorded->nbytes = kept > recorded->nbytes ? kept : recorded->nbytes;
    }
    return 1;
}

/* Records a call: a new reference; NULL, perhaps with an exception, if it must run now. */
static PyObject *
record(const Loop *loop, PyObject *home, Operand *operands, int count, npy_intp below)
{
    npy_intp shape[MAX_AXES], size;
    int ndim = broadcast_operands(operands, count, shape, &size), warned = 0;
    PyObject *memory = NULL;
    if (ndim < 0 || size >= below) {
        return NULL;
    }
    if (home != config.numpy_home) {
        if (!check_operands(home, operands, count, size < min_recorded, &memory)) {
            return NULL;
        }
    }
    else {
        warned = size < min_recorded || depends_on_buffers(loop, operands, size) ? -1 : warned_errors();
        if (warned < 0 || !compute_reduction()) {
            return NULL;
        }
    }
    Lazy *recorded = new_lazy(loop, home, count, ndim, shape, size);
    if (recorded == NULL || !add_operands(recorded, operands)) {
        Py_XDECREF(recorded);
        Py_XDECREF(memory);
        return NULL;
    }
    recorded->warned = warned;
    recorded->memory = memory;
    return insert_recorded(recorded);
}

Lazy *
pending_of(PyObject *value)
{
    PyObject *native = is_array(value) ? get_slot(value, config.native_offset) : NULL;
    return native != NULL && is_lazy(native) && ((Lazy *)native)->value == NULL ? (Lazy *)native : NULL;
}

int
is_large_or_recorded(PyObject *value)
{
    PyObject *native = is_array(value) && home_of(value) == config.numpy_home ? get_slot(value, config.native_offset) : NULL;
    if (native == NULL) {
        return 0;
    }
    return is_lazy(native) || (PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= min_recorded);
}

/* Records a call of a function by its name. */
static PyObject *
record_named(Call *call, PyObject *home, PyObject *name, Operand *operands, int count, npy_intp below)
{
    PyObject *dtypes[MAX_OPERANDS];
    for (int i = 0; i < count; i++) {
        dtypes[i] = operands[i].dtype;
    }
    const Loop *loop = loop_of(call, name, home, dtypes, count);
    return loop == NULL ? NULL : record(loop, home, operands, count, below);
}

/* Records a power that another function replaces; on NumPy, the cube is two products. */
static PyObject *
record_power(Call *call, PyObject *home, Operand *base, PyObject *name, npy_intp below)
{
    if (home != config.numpy_home || PyUnicode_CompareWithASCIIString(name, "cube") != 0) {
        return record_named(call, home, name, base, 1, below);
    }
    Operand operands[] = {{.value = record_named(call, home, constants.square, base, 1, below)}, *base};
    int is_squared = operands[0].value != NULL && describe(home, &operands[0]);
    PyObject *cube = is_squared ? record_named(call, home, constants.multiply, operands, 2, below) : NULL;
    clear_operands(operands, 1);
    return cube;
}

PyObject *
run_now(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Warning)) {
        fall_back();
    }
    return NULL;
}

/* Returns a borrowed reference to the home where a call is recorded; NULL if it must run now. Sets `below` to the
number of elements from which calls are not recorded. */
static PyObject *
recording_home(Call *call, PyObject *const *values, int count, npy_intp *below)
{
    int by_size;
    for (int i = 0; i < count; i++) {
        PyObject *home = is_array(values[i]) ? home_of(values[i]) : NULL;
        if (home == NULL) {
            continue;
        }
        if (home != config.numpy_home) {
            *below = NPY_MAX_INTP;
            return Py_TYPE(home) == config.home_type && is_fused() && runs_at_home(home, &by_size) && !by_size
                           && has_standard_defaults()
                       ? home
                       : NULL;
        }
        if (is_large_or_recorded(values[i])) {
            *below = recorded_below(call->choice.limit);
            return *below ? home : NULL;
        }
    }
    return NULL;
}

PyObject *
record_lazy(Call *call, PyObject *const *values)
{
    int count = call->parameter_count;
    npy_intp below;
    if (!(call->flags & IS_ELEMENTWISE) || call->result_class != NULL || count > MAX_OPERANDS || call->array_count != count) {
        return NULL;
    }
    PyObject *home = recording_home(call, values, count, &below), *result = NULL, *name = NULL;
    if (home == NULL) {
        return NULL;
    }
    Operand operands[MAX_OPERANDS];
    if (read_operands(call, home, values, operands, &name)) {
        if (name != NULL) {
            result = record_power(call, home, operands, name, below);
        }
        else if (!(call->flags & IS_POWER) || operands[1].array == NULL || has_shape_of_operand(&operands[0], &operands[1])) {
            /* A broadcast exponent may be 0.5: see `backends.numpy.standard_pow`. */
            result = record_named(call, home, call->name, operands, count, below);
        }
    }
    clear_operands(operands, count);
    return result == NULL ? run_now() : result;
}

PyObject *
record_call(Call *call, PyObject *const *values)
{
    PyObject *recorded = record_lazy(call, values);
    return recorded == NULL ? NULL : wrap(recorded, ((Lazy *)recorded)->home);
}

PyObject *
record_cast(Call *call, PyObject *const *args)
{
    npy_intp below;
    PyObject *home = recording_home(call, args, 1, &below), *result = NULL;
    PyArray_Descr *to = home == NULL ? NULL : read_dtype(args[1]);
    Operand operand = {0};
    if (to != NULL && read_operand(home, args[0], &operand)) {
        PyObject *dtypes[] = {operand.dtype, (PyObject *)to};
        int from = home == config.numpy_home ? typenum_of_operand(operand.value) : -1;
        const Loop *loop = from < 0                                                    ? loop_of(call, call->name, home, dtypes, 2)
                           : from != to->type_num && is_cast_known(from, to->type_num) ? cast_loop(from, to->type_num)
                                                                                       : NULL;
        result = loop == NULL ? NULL : record(loop, home, &operand, 1, below);
    }
    clear_operands(&operand, 1);
    Py_XDECREF(to);
    return result == NULL ? run_now() : wrap(result, home);
}

int
is_like(const Lazy *recorded, PyObject *native)
{
    Operand before = {.value = Py_NewRef(native)}, after = {.value = Py_NewRef(recorded)};
    int is_same = recorded->value == NULL && describe(recorded->home, &before) && describe(recorded->home, &after)
                  && has_shape_of_operand(&before, &after) && is_same_dtype(recorded->home, before.dtype, after.dtype);
    clear_operands(&before, 1);
    clear_operands(&after, 1);
    return is_same;
}
