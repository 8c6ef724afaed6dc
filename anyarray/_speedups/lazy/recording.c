/* Calls of elementwise functions of many elements are recorded, to be run later with others.

Compiled: which calls of NumPy's, and what they read. Left to Python: which ufunc a function is, and in `_lazy.recording`
which calls on other backends. */

#include "recording.h"
#include "arguments.h"
#include "arrays.h"
#include "blocks.h"
#include "chains.h"
#include "choice.h"
#include "dtypes.h"
#include "exposure.h"
#include "memory.h"
#include "lazy.h"
#include "scalars.h"

#define MOST_RECORDED 256 /* calls that are recorded at a time */
#define MOST_BYTES ((npy_intp)1 << 30) /* of the results that are not computed, or of what they keep if that is more */

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

/* Finds the loop by which a ufunc reduces numbers of the dtype that `loop` tells. */
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

/* The loop of a function for operands, of those that are known, or made known now; NULL, perhaps with an exception, if
it has none. */
static const Loop *
loop_of(Call *call, PyObject *name, PyObject *const *operands, int count)
{
    int types[MAX_OPERANDS] = {-1, -1, -1};
    for (int i = 0; i < count; i++) {
        types[i] = typenum_of_operand(operands[i]);
    }
    for (const KnownLoop *known = call->loops; known != NULL; known = known->next) {
        if (memcmp(known->types, types, sizeof types) == 0 && known->name == name) {
            return known->loop.operand_count ? &known->loop : NULL;
        }
    }
    PyObject *dtypes = PyTuple_New(count);
    for (int i = 0; dtypes != NULL && i < count; i++) {
        PyTuple_SET_ITEM(dtypes, i, (PyObject *)PyArray_DescrFromType(types[i]));
    }
    PyObject *told = dtypes == NULL ? NULL : PyObject_CallFunctionObjArgs(config.loop_of, name, dtypes, NULL);
    Py_XDECREF(dtypes);
    if (told == NULL) {
        return NULL;
    }
    KnownLoop *known = PyMem_RawCalloc(1, sizeof *known); /* never freed, as recorded calls refer to it */
    if (known == NULL) {
        Py_DECREF(told);
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(known->types, types, sizeof types);
    known->name = name; /* interned */
    Loop *loop = &known->loop;
    loop->ours = name;
    loop->told = known->told;
    if (told != Py_None) { /* the ufunc, or None for `where`; if it rounds correctly; the dtypes of the loop */
        PyObject *ufunc = PyTuple_GET_ITEM(told, 0);
        loop->is_correctly_rounded = PyTuple_GET_ITEM(told, 1) == Py_True;
        loop->operand_count = count;
        int is_known = 1;
        for (int i = 0; i <= count; i++) {
            loop->types[i] = ((PyArray_Descr *)PyTuple_GET_ITEM(told, i + 2))->type_num;
            is_known &= i == count || loop->types[i] == types[i] || is_cast_known(types[i], loop->types[i]);
        }
        if (ufunc == Py_None) {
            loop->name = "where";
        }
        else if (call->reduction) {
            is_known &= find_reduction(ufunc, loop);
        }
        else {
            is_known &= find_exact_loop(ufunc, loop);
        }
        loop->operand_count = is_known ? count : 0;
    }
    Py_DECREF(told);
    known->next = call->loops;
    call->loops = known;
    return loop->operand_count ? loop : NULL;
}

/* The floating-point errors that are warned of here, as NumPy numbers them; -1 if a call must run at once, perhaps with
an exception, as they raise, call or print. */
static int
warned_errors(void)
{
    static PyObject *latest; /* what held when this was asked last */
    static int warned;
    PyObject *here = NULL;
    if (config.error_variable != Py_None && PyContextVar_Get(config.error_variable, NULL, &here) < 0) {
        return -1;
    }
    if (here == NULL || here != latest) {
        PyObject *told = PyObject_CallNoArgs(config.warned_errors);
        warned = told == NULL ? -1 : (int)PyLong_AsLong(told);
        Py_XDECREF(told);
        Py_XSETREF(latest, Py_XNewRef(here));
    }
    Py_XDECREF(here);
    return warned;
}

/* The shape to which the operands broadcast; -1 if they do not, or if the call must run at once, as its result has few
elements or is not `below` a number of them. */
static int
broadcast_operands(PyObject *const *operands, int count, npy_intp below, npy_intp *shape, npy_intp *size)
{
    int ndim = 0;
    for (int i = 0; i < count; i++) {
        int its = ndim_of_operand(operands[i]);
        ndim = its > ndim ? its : ndim;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
    }
    for (int i = 0; i < count; i++) {
        int its = ndim_of_operand(operands[i]);
        const npy_intp *own = shape_of_operand(operands[i]);
        for (int k = 0; k < its; k++) {
            npy_intp *length = &shape[ndim - its + k];
            if (own[k] != *length && own[k] != 1 && *length != 1) {
                return -1;
            }
            *length = own[k] == 1 ? *length : own[k];
        }
    }
    *size = 1;
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] == 0 || *size > MOST_BYTES / shape[axis]) {
            return -1;
        }
        *size *= shape[axis];
    }
    return *size < fewest || *size >= below ? -1 : ndim;
}

/* Whether the bits depend on NumPy's buffers: where one operand is cast, and one broadcast, they say how a loop steps. */
static int
depends_on_buffers(const Loop *loop, PyObject *const *operands, npy_intp size)
{
    int is_cast = 0, is_broadcast = 0;
    for (int i = 0; i < loop->operand_count; i++) {
        npy_intp own = size_of_operand(operands[i]);
        is_cast |= own > 1 && typenum_of_operand(operands[i]) != loop->types[i];
        is_broadcast |= own > 1 && own < size;
    }
    return is_cast && is_broadcast && !loop->is_correctly_rounded;
}

/* A call of a loop of NumPy's that is not in the ring yet, and reads nothing: a new reference, or NULL with an exception. */
static Lazy *
new_call_of(const Loop *loop, int ndim, const npy_intp *shape, npy_intp size, int warned)
{
    Lazy *lazy = new_lazy(ndim, shape, size);
    if (lazy != NULL) {
        lazy->loop = loop;
        lazy->home = config.numpy_home;
        lazy->operand_count = loop->operand_count;
        lazy->warned = warned;
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

/* Says where a call is made, and puts it into the ring: the reference that was given, or NULL with an exception. */
static PyObject *
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

/* A recorded call: a new reference. NULL, perhaps with an exception, if it is to be run. */
static PyObject *
record(const Loop *loop, PyObject *const *operands, npy_intp below)
{
    npy_intp shape[MAX_AXES], size;
    int ndim = broadcast_operands(operands, loop->operand_count, below, shape, &size);
    int warned = ndim < 0 || depends_on_buffers(loop, operands, size) ? -1 : warned_errors();
    Lazy *recorded = warned < 0 || !compute_reduction() ? NULL : new_call_of(loop, ndim, shape, size, warned);
    if (recorded == NULL) {
        return NULL;
    }
    for (int i = 0; i < loop->operand_count; i++) {
        PyObject *array = array_of_operand(operands[i]); /* a number is cast now */
        int is_cast = typenum_of_operand(operands[i]) != loop->types[i] && array != NULL && size_of_operand(array) == 1;
        recorded->operands[i] = is_cast ? PyArray_Cast((PyArrayObject *)array, loop->types[i]) : Py_NewRef(operands[i]);
        if (recorded->operands[i] == NULL) {
            Py_DECREF(recorded);
            return NULL;
        }
        if (is_lazy(operands[i])) {
            recorded->calls += ((Lazy *)operands[i])->calls;
            recorded->is_decided |= ((Lazy *)operands[i])->is_decided;
        }
        PyObject *owner = is_lazy(operands[i]) ? NULL : owner_of(operands[i]); /* which a slice keeps as a whole */
        npy_intp kept = owner == NULL ? 0 : PyArray_NBYTES((PyArrayObject *)owner);
        recorded->nbytes = kept > recorded->nbytes ? kept : recorded->nbytes;
    }
    return enter(recorded);
}

PyObject *
lazy_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *home, *function, *operands, *lengths, *dtype, *memory;
    npy_intp shape[MAX_AXES], size = 1, nbytes;
    int calls = 1;
    if (!PyArg_ParseTuple(args, "OUO!O!OnO", &home, &function, &PyTuple_Type, &operands, &PyTuple_Type, &lengths, &dtype,
                          &nbytes, &memory)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(operands), ndim = PyTuple_GET_SIZE(lengths);
    if (count > MAX_OPERANDS || ndim > MAX_AXES) {
        Py_RETURN_NONE;
    }
    for (Py_ssize_t i = 0; i < ndim; i++) {
        shape[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(lengths, i));
        size *= shape[i];
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *operand = PyTuple_GET_ITEM(operands, i);
        calls += array_of_operand(operand) == NULL ? ((Lazy *)operand)->calls : 0;
    }
    for (Py_ssize_t i = 0; i < count && calls > MOST_CALLS; i++) { /* compilers take the longer for each */
        PyObject *operand = PyTuple_GET_ITEM(operands, i);
        if (is_lazy(operand) && compute((Lazy *)operand) == NULL) {
            return NULL;
        }
    }
    Lazy *lazy = PyErr_Occurred() ? NULL : new_lazy((int)ndim, shape, size);
    if (lazy == NULL) {
        return NULL;
    }
    lazy->home = home;
    lazy->function = Py_NewRef(function);
    lazy->dtype = Py_NewRef(dtype);
    lazy->operand_count = (int)count;
    lazy->nbytes = nbytes;
    lazy->memory = PyTuple_Check(memory) ? Py_NewRef(memory) : NULL;
    lazy->calls = calls > MOST_CALLS ? 1 : calls;
    for (Py_ssize_t i = 0; i < count; i++) {
        lazy->operands[i] = Py_NewRef(PyTuple_GET_ITEM(operands, i));
    }
    return enter(lazy);
}

/* What a recorded call reads of an Array, with what it takes as one element: a new reference. NULL without an exception
if the call must run at once. */
static PyObject *
operand_of(PyObject *array)
{
    PyObject *native = home_of(array) == config.numpy_home ? get_slot(array, config.native_offset) : NULL;
    if (native == NULL) {
        return NULL;
    }
    if (is_lazy(native)) {
        PyObject *value = ((Lazy *)native)->value;
        return value == NULL ? Py_NewRef(native) : lasting(value);
    }
    if (PyArray_CheckExact(native)) {
        return lasting(native);
    }
    if (scalar_typenum(Py_TYPE(native)) < 0) {
        return NULL;
    }
    PyObject *number = PyArray_FromScalar(native, NULL);
    return number == NULL ? fall_back() : number;
}

/* A Python scalar in the dtype that it takes beside an operand: a new reference, or NULL without an exception. */
static PyObject *
number_beside(PyObject *value, int typenum)
{
    PyObject *number = NULL;
    if (takes_python_scalar(typenum, value)) {
        number = PyArray_ZEROS(0, NULL, typenum, 0);
        if (number != NULL && PyArray_SETITEM((PyArrayObject *)number, PyArray_DATA((PyArrayObject *)number), value) < 0) {
            Py_CLEAR(number);
        }
    }
    else {
        PyObject *dtype = (PyObject *)PyArray_DescrFromType(typenum);
        PyObject *key = dtype == NULL ? NULL : scalar_key(value, dtype);
        PyObject *constant = key == NULL ? NULL : PyObject_GetItem(get_slot(config.numpy_home, config.constants_offset), key);
        number = constant == NULL ? NULL : PyArray_FROM_O(constant);
        Py_XDECREF(constant);
        Py_XDECREF(key);
        Py_XDECREF(dtype);
    }
    return number == NULL ? fall_back() : number;
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

/* The function that stands for a power, by its name: borrowed; NULL without an exception for none. */
static PyObject *
name_of_power(PyObject *exponent, int typenum)
{
    PyObject *dtype = (PyObject *)PyArray_DescrFromType(typenum), *name = NULL;
    PyObject *key = dtype == NULL ? NULL : scalar_key(exponent, dtype);
    if (key != NULL) {
        name = PyObject_GetItem(get_slot(config.numpy_home, config.powers_offset), key);
        Py_XDECREF(name); /* the table holds it */
    }
    Py_XDECREF(key);
    Py_XDECREF(dtype);
    if (name == NULL) {
        fall_back();
    }
    return name == Py_None ? NULL : name;
}

/* Records a call of a function by its name. */
static PyObject *
record_named(Call *call, PyObject *name, PyObject *const *operands, int count, npy_intp below)
{
    const Loop *loop = loop_of(call, name, operands, count);
    return loop == NULL ? NULL : record(loop, operands, below);
}

/* Records a power with a Python number, for which another function stands. */
static PyObject *
record_power(Call *call, PyObject *base, PyObject *name, npy_intp below)
{
    if (PyUnicode_CompareWithASCIIString(name, "cube") != 0) {
        return record_named(call, name, &base, 1, below);
    }
    PyObject *operands[] = {record_named(call, constants.square, &base, 1, below), base};
    PyObject *cube = operands[0] == NULL ? NULL : record_named(call, constants.multiply, operands, 2, below);
    Py_XDECREF(operands[0]);
    return cube;
}

/* NULL, without the exception if it is one of memory, as one call at a time needs less, or one that the call raises
again. What is raised while a chain is run, as warnings may be, stays. */
static PyObject *
run_at_once(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Warning)) {
        fall_back();
    }
    return NULL;
}

/* The recorded call of a function: a new reference. NULL, perhaps with an exception, if it is to be run. */
static PyObject *
recorded_of(Call *call, PyObject *const *values)
{
    int count = call->parameter_count, is_worth = 0;
    if (!call->is_elementwise || count > MAX_OPERANDS || call->array_count != count) {
        return NULL;
    }
    for (int i = 0; i < count && !is_worth; i++) {
        is_worth = is_worth_recording(values[i]);
    }
    npy_intp below = is_worth ? recorded_below(call->limit) : 0;
    if (below == 0) {
        return NULL;
    }
    PyObject *operands[MAX_OPERANDS] = {NULL}, *ordered[MAX_OPERANDS], *result = NULL;
    for (int i = 0; i < count; i++) {
        if (is_array(values[i])) {
            if ((operands[i] = operand_of(values[i])) == NULL) {
                goto done;
            }
        }
        else if (is_numpy_scalar_operand(call, values[i])) {
            if ((operands[i] = PyArray_FromScalar(values[i], NULL)) == NULL) {
                goto done;
            }
        }
        else if (!(call->parameters[i].role == WEAK && is_python_scalar(values[i]))) {
            goto done;
        }
    }
    for (int i = 0; i < count; i++) {
        int beside = call->parameters[i].beside;
        if (operands[i] != NULL) {
            continue;
        }
        if (is_array(values[beside])) {
            int typenum = typenum_of_operand(operands[beside]);
            if (call->is_power && i == call->native_order[1] && PyDict_Contains(config.powers, values[i]) == 1) {
                PyObject *name = name_of_power(values[i], typenum);
                if (name != NULL) {
                    result = record_power(call, operands[beside], name, below);
                    goto done;
                }
            }
            operands[i] = number_beside(values[i], typenum);
        }
        else if (beside != i && Py_TYPE(values[beside]) == Py_TYPE(values[i])) { /* as in where(b, 1.0, 0.0) */
            operands[i] = array_of_scalar(values[i]);
        }
        if (operands[i] == NULL) {
            goto done;
        }
    }
    for (int i = 0; i < count; i++) {
        ordered[i] = operands[call->native_order[i]];
    }
    if (!(call->is_power && is_array(values[call->native_order[1]]) && !has_shape_of(ordered[0], ordered[1]))) {
        result = record_named(call, call->name, ordered, count, below); /* a broadcast exponent may be 0.5: `standard_pow` */
    }
done:
    for (int i = 0; i < count; i++) {
        Py_XDECREF(operands[i]);
    }
    return result == NULL ? run_at_once() : result;
}

/* A borrowed reference to the home, another than NumPy's, of a call that is recorded there; NULL if it is to be run. */
static PyObject *
home_elsewhere(PyObject *const *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (is_array(values[i])) {
            int by_size;
            PyObject *home = home_of(values[i]);
            return is_home(home) && home != config.numpy_home && is_fused() && runs_at_home(home, &by_size) && !by_size
                       ? home
                       : NULL;
        }
    }
    return NULL;
}

PyObject *
record_elsewhere(Call *call, PyObject *const *values, Py_ssize_t count)
{
    PyObject *home = home_elsewhere(values, count), *args[MAX_PARAMETERS + 2] = {call->name, home};
    if (home == NULL) {
        return NULL;
    }
    int is_cast = call->parameter_count == 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        args[2 + i] = values[is_cast ? i : call->native_order[i]];
    }
    Py_INCREF(home);
    PyObject *lazy = PyObject_Vectorcall(config.record, args, (size_t)count + 2, NULL), *result = NULL;
    if (lazy != NULL && lazy != Py_None) {
        result = wrap(Py_NewRef(lazy), home);
    }
    Py_XDECREF(lazy);
    Py_DECREF(home);
    return result;
}

PyObject *
record_call(Call *call, PyObject *const *values)
{
    PyObject *recorded = recorded_of(call, values);
    if (recorded == NULL) {
        return PyErr_Occurred() ? NULL : record_elsewhere(call, values, call->parameter_count);
    }
    return wrap(recorded, config.numpy_home);
}

/* Whether a recorded call gives what an operand has, by shape and dtype. */
static int
is_like(const Lazy *recorded, PyObject *operand)
{
    return recorded->value == NULL && has_shape_of((PyObject *)recorded, operand)
           && typenum_of_operand((PyObject *)recorded) == typenum_of_operand(operand);
}

/* Whether the elements of a row follow each other, as they do in a new array: other loops may give another last bit. */
static int
has_whole_rows(PyArrayObject *array)
{
    int last = PyArray_NDIM(array) - 1;
    return last >= 0 && (PyArray_DIM(array, last) == 1 || PyArray_STRIDE(array, last) == PyArray_ITEMSIZE(array))
           && PyArray_ISBEHAVED(array);
}

/* A call that waits, of an Array that does; NULL for any other value. */
static Lazy *
recorded_in(PyObject *value)
{
    PyObject *native = is_array(value) && home_of(value) == config.numpy_home ? get_slot(value, config.native_offset) : NULL;
    return native != NULL && is_lazy(native) && ((Lazy *)native)->value == NULL ? (Lazy *)native : NULL;
}

PyObject *
record_inplace(Call *call, PyObject *const *values)
{
    PyObject *array = values[0], *native = get_slot(array, config.native_offset), *home = home_elsewhere(values, 1);
    if (home != NULL) {
        PyObject *done = PyObject_CallFunctionObjArgs(config.record_inplace, call->name, home, array, values[1], NULL);
        int is_recorded = done == Py_True;
        Py_XDECREF(done);
        return is_recorded ? Py_NewRef(array) : NULL;
    }
    if (home_of(array) != config.numpy_home) {
        return NULL;
    }
    int takes_place = recorded_in(array) != NULL; /* of another call; or else it is written to memory */
    if (!takes_place
        && !(recorded_in(values[1]) != NULL && native != NULL && is_writable(native) && has_whole_rows((PyArrayObject *)native))) {
        return NULL;
    }
    Py_INCREF(native);
    Lazy *result = (Lazy *)recorded_of(call, values);
    int is_done = result != NULL && get_slot(array, config.native_offset) == native && is_like(result, native);
    if (is_done && takes_place) {
        Py_XDECREF(swap_slot(array, config.native_offset, Py_NewRef(result)));
    }
    else if (is_done) {
        is_done = compute_readers(native, result) && compute_into(result, native);
    }
    Py_XDECREF(result);
    Py_DECREF(native);
    return is_done ? Py_NewRef(array) : run_at_once();
}

int
write_recorded(PyObject *native, PyObject *key, PyObject *value)
{
    Lazy *recorded = recorded_in(value);
    if (recorded == NULL || Py_REFCNT(value) > 1) {
        return 0;
    }
    Py_INCREF(recorded);
    PyObject *part = PyObject_GetItem(native, key);
    int is_part = part != NULL && PyArray_CheckExact(part) && owner_of(part) != NULL && owner_of(part) == owner_of(native)
                  && has_whole_rows((PyArrayObject *)part) && is_like(recorded, part);
    int is_written = is_part && compute_readers(part, recorded) && compute_into(recorded, part);
    Py_XDECREF(part);
    Py_DECREF(recorded);
    if (!is_written) {
        run_at_once();
    }
    return is_written;
}

/* The elements of an operand that become one of a reduction over `axis`, which follow each other: 0 for another axis. Gives
the shape of the result. */
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

/* A reduction that is recorded: a new reference, or NULL, perhaps with an exception, if it is to be run. */
static PyObject *
reduction_of(Call *call, Lazy *operand, PyObject *axis, int keeps, npy_intp below)
{
    npy_intp shape[MAX_AXES];
    int ndim;
    PyObject *operands[] = {(PyObject *)operand};
    npy_intp group = group_of(operand, axis, keeps, &ndim, shape);
    int is_worth = group > 1 && operand->size < below;
    const Loop *loop = is_worth ? loop_of(call, call->name, operands, 1) : NULL;
    int warned = loop == NULL ? -1 : warned_errors();
    Lazy *recorded = warned < 0 || !compute_reduction() || operand->value != NULL
                             ? NULL
                             : new_call_of(loop, ndim, shape, operand->size / group, warned);
    if (recorded == NULL) {
        return NULL;
    }
    recorded->operands[0] = Py_NewRef(operand);
    recorded->group = group;
    recorded->reduction = call->reduction;
    recorded->calls += operand->calls;
    recorded->is_decided = operand->is_decided;
    recorded_reduction = recorded;
    return enter(recorded);
}

PyObject *
record_reduction(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Lazy *operand = nargs > 0 ? recorded_in(args[0]) : NULL;
    if (operand == NULL) {
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
        else if (values[i] != Py_None) { /* dtype */
            return NULL;
        }
    }
    Py_INCREF(operand);
    npy_intp below = recorded_below(call->limit);
    PyObject *result = reduction_of(call, operand, axis, keeps, below);
    Py_DECREF(operand);
    return result == NULL ? run_at_once() : wrap(result, config.numpy_home);
}

PyObject *
record_cast(Call *call, PyObject *array, PyArray_Descr *dtype)
{
    npy_intp below = is_worth_recording(array) ? recorded_below(call->limit) : 0;
    PyObject *operand = below ? operand_of(array) : NULL, *result = NULL;
    int to = dtype->type_num, from = operand == NULL ? to : typenum_of_operand(operand);
    if (from != to && is_cast_known(from, to)) {
        result = record(cast_loop(from, to), &operand, below);
    }
    Py_XDECREF(operand);
    Py_DECREF(dtype);
    return result == NULL ? run_at_once() : wrap(result, config.numpy_home);
}
