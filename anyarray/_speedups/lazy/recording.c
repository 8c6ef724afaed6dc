/* Calls of elementwise functions of many elements are recorded, to be run later with others.

Compiled: which calls, and what they read. Left to Python: what a function gives for some dtypes, once (`plans.c`), and
whether somebody outside may write to memory of another library, `_lazy.recording.readable`. */

#include "recording.h"
#include "arrays.h"
#include "chains.h"
#include "choice.h"
#include "dtypes.h"
#include "elements.h"
#include "exposure.h"
#include "operands.h"
#include "plans.h"

#define MOST_RECORDED 256 /* calls that are recorded at a time */

static npy_intp fewest = NPY_MAX_INTP; /* elements of a result below which a call runs at once; see `record_from` */

PyObject *
record_from(PyObject *Py_UNUSED(module), PyObject *elements)
{
    npy_intp before = fewest, after = PyLong_AsSsize_t(elements);
    if (after == -1 && PyErr_Occurred()) {
        return NULL;
    }
    fewest = after < 2 ? 2 : after; /* one element has no axis to cut */
    return PyLong_FromSsize_t(before);
}

/* Whether the bits depend on NumPy's buffers: where one operand is cast, and one broadcast, they say how a loop steps. */
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

Lazy *
new_call_of(const Loop *loop, PyObject *home, int count, int ndim, const npy_intp *shape, npy_intp size)
{
    Lazy *lazy = new_lazy(ndim, shape, size);
    if (lazy != NULL) {
        lazy->loop = loop;
        lazy->home = home;
        lazy->operand_count = count;
    }
    return lazy;
}

/* Whether code is the user's, and none of this package, which may have decided about a call before. */
static int
is_users(PyCodeObject *code)
{
    static PyObject *latest; /* the user's code that was met last */
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

/* Says where a call is made in the user's code. */
static void
say_where(Lazy *recorded)
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
enter(Lazy *recorded)
{
    say_where(recorded);
    enter_ring(recorded);
    PyObject_GC_Track((PyObject *)recorded);
    if ((recorded->calls >= MOST_CALLS || recorded_count >= MOST_RECORDED || recorded_bytes >= MOST_BYTES)
        && compute(recorded) == NULL) {
        Py_DECREF(recorded);
        return NULL;
    }
    return (PyObject *)recorded;
}

/* Gets what a call on another home than NumPy's reads, which is guarded. Gives in `memory` the native arrays that have the
memory, as a tuple, or NULL of a library without views. Returns 0, perhaps with an exception, if the call must run at once. */
static int
guard_operands(PyObject *home, Operand *operands, int count, int is_small, PyObject **memory)
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

/* Adds what a recorded call reads, by NumPy's `loop` if that casts it; 0 with an exception. */
static int
add_operands(Lazy *recorded, const Operand *operands)
{
    int is_numpy = recorded->home == config.numpy_home;
    for (int i = 0; i < recorded->operand_count; i++) {
        PyObject *value = operands[i].value, *array = array_of_operand(value); /* a number is cast now */
        int to = recorded->loop->types[i];
        int is_cast = is_numpy && array != NULL && size_of_operand(array) == 1 && typenum_of_operand(value) != to;
        recorded->operands[i] = is_cast ? PyArray_Cast((PyArrayObject *)array, to) : Py_NewRef(value);
        if (recorded->operands[i] == NULL) {
            return 0;
        }
        if (is_lazy(value)) {
            recorded->calls += ((Lazy *)value)->calls;
        }
        PyObject *owner = is_lazy(value) || !is_numpy ? NULL : owner_of(value); /* which a slice keeps as a whole */
        npy_intp kept = owner == NULL ? 0 : PyArray_NBYTES((PyArrayObject *)owner);
        recorded->nbytes = kept > recorded->nbytes ? kept : recorded->nbytes;
    }
    return 1;
}

/* A recorded call: a new reference. NULL, perhaps with an exception, if it is to be run. */
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
        if (!guard_operands(home, operands, count, size < fewest, &memory)) {
            return NULL;
        }
    }
    else {
        warned = size < fewest || depends_on_buffers(loop, operands, size) ? -1 : warned_errors();
        if (warned < 0 || !compute_reduction()) {
            return NULL;
        }
    }
    Lazy *recorded = new_call_of(loop, home, count, ndim, shape, size);
    if (recorded == NULL || !add_operands(recorded, operands)) {
        Py_XDECREF(recorded);
        Py_XDECREF(memory);
        return NULL;
    }
    recorded->warned = warned;
    recorded->memory = memory;
    return enter(recorded);
}

Lazy *
pending_of(PyObject *value)
{
    PyObject *native = is_array(value) ? get_slot(value, config.native_offset) : NULL;
    return native != NULL && is_lazy(native) && ((Lazy *)native)->value == NULL ? (Lazy *)native : NULL;
}

int
is_worth_recording(PyObject *value)
{
    PyObject *native = is_array(value) && home_of(value) == config.numpy_home ? get_slot(value, config.native_offset) : NULL;
    if (native == NULL) {
        return 0;
    }
    return is_lazy(native) || (PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= fewest);
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

/* Records a power with a Python number, which another function replaces; in NumPy the cube is two products. */
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
run_at_once(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Warning)) {
        fall_back();
    }
    return NULL;
}

/* A borrowed reference to the home where a call is recorded; NULL if it is to be run. Gives in `below` the number of
elements from which on it is not. */
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
        if (is_worth_recording(values[i])) {
            *below = recorded_below(call->choice.limit);
            return *below ? home : NULL;
        }
    }
    return NULL;
}

PyObject *
recorded_of(Call *call, PyObject *const *values)
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
            result = record_named(call, home, call->name, operands, count, below); /* a broadcast exponent may be 0.5: `standard_pow` */
        }
    }
    clear_operands(operands, count);
    return result == NULL ? run_at_once() : result;
}

PyObject *
record_call(Call *call, PyObject *const *values)
{
    PyObject *recorded = recorded_of(call, values);
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
    return result == NULL ? run_at_once() : wrap(result, home);
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
