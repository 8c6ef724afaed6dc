/* Chains: calls of elementwise functions of many elements that are recorded, and run together when their values are
needed.

Compiled: to record a call, to tell what an Array's ndarray is, to gather the calls that lead to one, in which order
they run and which results are kept. `blocks.c` runs them. Left to Python: which ufunc a function is, and warnings.
An Array whose call is recorded has a `Recorded` in the slot of its native array: `native_of` gives NULL for it, so
that no other fast path takes it, and `_native`, which Python code reads, computes it.

Nobody may write to what a recorded call reads. A write by an Array computes the calls that read the same memory
first (`compute_readers`); memory to which somebody outside may write (`expose`) is not read by calls that are
recorded later, as long as anybody has it. */

#include "chains.h"
#include "arrays.h"
#include "blocks.h"
#include "choice.h"
#include "dtypes.h"
#include "memory.h"
#include "scalars.h"
#include "threads.h"
#include <structmember.h>

#define SHARED (1 << 17)    /* elements from which on several threads run a chain */
#define MOST_CALLS 64       /* of a chain, which is run when it has so many, */
#define MOST_RECORDED 256   /* and of all chains together */
#define MOST_BYTES ((npy_intp)1 << 30) /* of the results that are not computed, or of what they keep if that is more */
#define COPIED 4096         /* bytes of the largest operand of which a copy is made, as anybody may write to it */

static Recorded recorded_calls = {.previous = &recorded_calls, .next = &recorded_calls}; /* the ring of what is not computed */
static npy_intp recorded_count, recorded_bytes;
static PyThread_type_lock running; /* held while a chain is run */
static PyObject *exposed_memory;   /* weak references to ndarrays to whose memory somebody outside may write, by address */
static int generation;             /* of marks */
static npy_intp fewest = 1 << 15;  /* elements of a result below which a call runs at once */

int
init_chains(void)
{
    running = PyThread_allocate_lock();
    exposed_memory = PyDict_New();
    if (running == NULL || !init_threads()) {
        PyErr_NoMemory();
        return 0;
    }
    return exposed_memory != NULL && PyType_Ready(&RecordedType) == 0 && PyType_Ready(&NativeSlotType) == 0;
}

PyObject *
reset_chains(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyThread_type_lock lock = PyThread_allocate_lock(); /* a thread that is not in this process may hold the other */
    if (lock == NULL || !init_threads()) {
        return PyErr_NoMemory();
    }
    running = lock;
    Py_RETURN_NONE;
}

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

static void
leave_ring(Recorded *recorded)
{
    if (recorded->next != NULL) {
        recorded->previous->next = recorded->next;
        recorded->next->previous = recorded->previous;
        recorded->previous = recorded->next = NULL;
        recorded_count--;
        recorded_bytes -= recorded->nbytes;
    }
}

static void
enter_ring(Recorded *recorded)
{
    recorded->previous = recorded_calls.previous;
    recorded->next = &recorded_calls;
    recorded->previous->next = recorded->next->previous = recorded;
    recorded_count++;
    recorded_bytes += recorded->nbytes;
}

static void
release_operands(Recorded *recorded)
{
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_CLEAR(recorded->operands[i]);
    }
    Py_CLEAR(recorded->code);
    Py_CLEAR(recorded->globals);
}

static void
recorded_dealloc(PyObject *self)
{
    Recorded *recorded = (Recorded *)self;
    PyObject_GC_UnTrack(self);
    leave_ring(recorded);
    release_operands(recorded);
    Py_XDECREF(recorded->value);
    PyObject_GC_Del(self);
}

static int
recorded_traverse(PyObject *self, visitproc visit, void *arg)
{
    Recorded *recorded = (Recorded *)self;
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_VISIT(recorded->operands[i]);
    }
    Py_VISIT(recorded->globals);
    return 0;
}

/* A cycle goes through the variables of the module, which may hold the Array. The operands stay, as it may be run yet. */
static int
recorded_clear(PyObject *self)
{
    Py_CLEAR(((Recorded *)self)->globals);
    return 0;
}

static inline int
is_recorded(PyObject *value)
{
    return Py_TYPE(value) == &RecordedType;
}

/* The ndarray whose memory another is a view of, itself if it has its own; NULL if that is no ndarray's. */
static PyObject *
owner_of(PyObject *native)
{
    while (PyArray_BASE((PyArrayObject *)native) != NULL) {
        native = PyArray_BASE((PyArrayObject *)native);
        if (!PyArray_Check(native)) {
            return NULL;
        }
    }
    return PyArray_CHKFLAGS((PyArrayObject *)native, NPY_ARRAY_OWNDATA) ? native : NULL;
}

/* Whether a weak reference is one to this object. Nothing is allocated, which might run any code. */
static int
refers_to(PyObject *reference, PyObject *object)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *referred = NULL;
    int is_same = PyWeakref_GetRef(reference, &referred) == 1 && referred == object;
    Py_XDECREF(referred);
    return is_same;
#else
    return PyWeakref_GetObject(reference) == object;
#endif
}

/* Whether somebody outside may write to the memory of the ndarray in the slot of an Array. */
static int
is_exposed(PyObject *native, PyObject *owner)
{
    if (PyDict_GET_SIZE(exposed_memory) == 0) {
        return 0;
    }
    PyObject *address = PyLong_FromVoidPtr(owner);
    PyObject *reference = address == NULL ? NULL : PyDict_GetItemWithError(exposed_memory, address);
    int is_there = reference != NULL || PyErr_Occurred();
    /* Another ndarray may have been there, or all others who have the memory are gone. */
    if (reference != NULL && (!refers_to(reference, owner)
                              || (Py_REFCNT(native) == 1 && (native == owner || Py_REFCNT(owner) == 1)))) {
        is_there = PyDict_DelItem(exposed_memory, address) < 0;
    }
    Py_XDECREF(address);
    PyErr_Clear();
    return is_there;
}

int
expose(PyObject *native)
{
    if (!PyArray_CheckExact(native)) {
        return 1;
    }
    PyObject *owner = owner_of(native);
    if (owner == NULL || PyArray_NBYTES((PyArrayObject *)owner) <= COPIED) {
        return 1;
    }
    PyObject *address = PyLong_FromVoidPtr(owner);
    PyObject *reference = address == NULL ? NULL : PyWeakref_NewRef(owner, NULL);
    int is_added = reference != NULL && PyDict_SetItem(exposed_memory, address, reference) == 0;
    Py_XDECREF(reference);
    Py_XDECREF(address);
    return is_added && compute_readers(native);
}

/* Whether the strides of an ndarray fall from axis to axis, as those of a contiguous one. Only then does NumPy give
results in this order. */
static int
is_in_order(PyArrayObject *array)
{
    npy_intp latest = NPY_MAX_INTP;
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        npy_intp stride = PyArray_STRIDE(array, axis);
        if (PyArray_DIM(array, axis) == 1 || stride == 0) {
            continue;
        }
        if (stride < 0 || stride > latest) {
            return 0;
        }
        latest = stride;
    }
    return 1;
}

/* What a recorded call reads in place of the ndarray of an Array: a new reference, or NULL without an exception if the
call must run at once. */
static PyObject *
lasting(PyObject *native)
{
    PyArrayObject *array = (PyArrayObject *)native;
    if (!PyArray_ISBEHAVED_RO(array) || PyArray_NDIM(array) > MAX_AXES || !is_in_order(array)) {
        return NULL;
    }
    if (PyArray_NBYTES(array) <= COPIED) {
        if (!PyArray_IS_C_CONTIGUOUS(array)) { /* some loops give another last bit then */
            return NULL;
        }
        PyObject *copy = PyArray_NewCopy(array, NPY_CORDER);
        return copy == NULL ? fall_back() : copy;
    }
    PyObject *owner = is_writable(native) ? owner_of(native) : NULL;
    return owner == NULL || is_exposed(native, owner) ? NULL : Py_NewRef(native);
}

static inline int
typenum_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->loop->types[((Recorded *)operand)->loop->operand_count]
                                : PyArray_TYPE((PyArrayObject *)operand);
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
    if (told != Py_None) { /* the ufunc, or None for `where`; then the dtypes of the loop */
        PyObject *ufunc = PyTuple_GET_ITEM(told, 0);
        loop->operand_count = count;
        int is_known = 1;
        for (int i = 0; i <= count; i++) {
            loop->types[i] = ((PyArray_Descr *)PyTuple_GET_ITEM(told, i + 1))->type_num;
            is_known &= i == count || loop->types[i] == types[i] || is_cast_known(types[i], loop->types[i]);
        }
        if (ufunc == Py_None) {
            loop->name = "where";
        }
        else if (!find_exact_loop(ufunc, loop)) {
            is_known = 0;
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
        int its = is_recorded(operands[i]) ? ((Recorded *)operands[i])->ndim : PyArray_NDIM((PyArrayObject *)operands[i]);
        ndim = its > ndim ? its : ndim;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
    }
    for (int i = 0; i < count; i++) {
        int is_call = is_recorded(operands[i]);
        int its = is_call ? ((Recorded *)operands[i])->ndim : PyArray_NDIM((PyArrayObject *)operands[i]);
        const npy_intp *own = is_call ? ((Recorded *)operands[i])->shape : PyArray_DIMS((PyArrayObject *)operands[i]);
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

/* What casts from one dtype to another. */
static const Loop *
cast_loop(int from, int to)
{
    static Loop loops[NPY_CDOUBLE + 1][NPY_CDOUBLE + 1];
    Loop *loop = &loops[from][to];
    *loop = (Loop){.name = "cast", .operand_count = 1, .types = {from, to}};
    return loop;
}

/* An operand that a call reads: a new reference, or NULL, perhaps with an exception, if the call must run at once.

A number is cast now. How NumPy's loops step through another operand that is cast and broadcast depends on its buffers. */
static PyObject *
operand_to_read(PyObject *operand, int typenum, npy_intp size)
{
    npy_intp own = is_recorded(operand) ? ((Recorded *)operand)->size : PyArray_SIZE((PyArrayObject *)operand);
    if (typenum_of_operand(operand) == typenum || own == size) {
        return Py_NewRef(operand);
    }
    return own > 1 ? NULL : PyArray_Cast((PyArrayObject *)operand, typenum);
}

/* A recorded call: a new reference. NULL, perhaps with an exception, if it is to be run. */
static PyObject *
record(const Loop *loop, PyObject *const *operands, npy_intp below)
{
    npy_intp shape[MAX_AXES], size;
    int ndim = broadcast_operands(operands, loop->operand_count, below, shape, &size);
    int warned = ndim < 0 ? -1 : warned_errors();
    if (warned < 0) {
        return NULL;
    }
    Recorded *recorded = PyObject_GC_New(Recorded, &RecordedType);
    if (recorded == NULL) {
        return NULL;
    }
    memset((char *)recorded + sizeof(PyObject), 0, sizeof *recorded - sizeof(PyObject));
    recorded->loop = loop;
    recorded->warned = warned;
    recorded->ndim = ndim;
    recorded->size = size;
    recorded->nbytes = size * 8;
    recorded->calls = 1;
    memcpy(recorded->shape, shape, sizeof(npy_intp) * (size_t)ndim);
    for (int i = 0; i < loop->operand_count; i++) {
        if ((recorded->operands[i] = operand_to_read(operands[i], loop->types[i], size)) == NULL) {
            Py_DECREF(recorded);
            return NULL;
        }
        recorded->calls += is_recorded(operands[i]) ? ((Recorded *)operands[i])->calls : 0;
        PyObject *owner = is_recorded(operands[i]) ? NULL : owner_of(operands[i]); /* which a slice keeps as a whole */
        npy_intp kept = owner == NULL ? 0 : PyArray_NBYTES((PyArrayObject *)owner);
        recorded->nbytes = kept > recorded->nbytes ? kept : recorded->nbytes;
    }
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame != NULL) {
        recorded->code = (PyObject *)PyFrame_GetCode(frame);
        recorded->globals = PyFrame_GetGlobals(frame);
        recorded->instruction = PyFrame_GetLasti(frame);
    }
    enter_ring(recorded);
    PyObject_GC_Track((PyObject *)recorded);
    if ((recorded->calls >= MOST_CALLS || recorded_count >= MOST_RECORDED || recorded_bytes >= MOST_BYTES)
        && compute(recorded) == NULL) {
        Py_DECREF(recorded);
        return NULL;
    }
    return (PyObject *)recorded;
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
    if (is_recorded(native)) {
        PyObject *value = ((Recorded *)native)->value;
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
    return is_recorded(native) || (PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= fewest);
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
    result = record_named(call, call->name, ordered, count, below);
done:
    for (int i = 0; i < count; i++) {
        Py_XDECREF(operands[i]);
    }
    return result == NULL ? run_at_once() : result;
}

PyObject *
record_call(Call *call, PyObject *const *values)
{
    PyObject *recorded = recorded_of(call, values);
    return recorded == NULL ? NULL : wrap(recorded, config.numpy_home);
}

PyObject *
record_inplace(Call *call, PyObject *const *values)
{
    PyObject *array = values[0], *native = get_slot(array, config.native_offset);
    if (native == NULL || !is_recorded(native) || ((Recorded *)native)->value != NULL) {
        return NULL;
    }
    Recorded *before = (Recorded *)native, *result = (Recorded *)recorded_of(call, values);
    if (result == NULL) {
        return NULL;
    }
    int is_same = get_slot(array, config.native_offset) == native && before->ndim == result->ndim
                  && typenum_of_operand((PyObject *)before) == typenum_of_operand((PyObject *)result)
                  && PyArray_CompareLists(before->shape, result->shape, before->ndim);
    if (!is_same) {
        Py_DECREF(result);
        return NULL;
    }
    Py_XDECREF(swap_slot(array, config.native_offset, (PyObject *)result));
    return Py_NewRef(array);
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

/* The calls of a chain, in an order in which each comes after those that it reads, and what they read. */
typedef struct {
    Recorded **calls;
    PyObject **arrays; /* ndarrays */
    int call_count, array_count, capacity;
} Gathered;

static int
make_room(Gathered *gathered)
{
    int most = gathered->call_count > gathered->array_count ? gathered->call_count : gathered->array_count;
    if (most < gathered->capacity) {
        return 1;
    }
    int capacity = gathered->capacity ? 2 * gathered->capacity : 2 * MOST_CALLS;
    Recorded **calls = PyMem_RawRealloc(gathered->calls, sizeof *calls * (size_t)capacity);
    gathered->calls = calls == NULL ? gathered->calls : calls;
    PyObject **arrays = PyMem_RawRealloc(gathered->arrays, sizeof *arrays * (size_t)capacity);
    gathered->arrays = arrays == NULL ? gathered->arrays : arrays;
    if (calls == NULL || arrays == NULL) {
        return 0;
    }
    gathered->capacity = capacity;
    return 1;
}

static int
has_shape_of(const Recorded *one, const Recorded *other)
{
    return one->ndim == other->ndim && PyArray_CompareLists(one->shape, other->shape, one->ndim);
}

/* The ndarray of an operand: NULL if it is a recorded call that is not computed. */
static inline PyObject *
ndarray_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->value : operand;
}

/* Gathers the calls that lead to one; 0 if memory ran out. The depth is at most that of a chain. */
static int
gather(Recorded *call, const Recorded *target, Gathered *gathered)
{
    if (call->mark == generation) {
        return 1;
    }
    call->mark = generation;
    call->readers = 0;
    for (int i = 0; i < call->loop->operand_count; i++) {
        PyObject *operand = call->operands[i], *array = ndarray_of_operand(operand);
        if (array != NULL) {
            if (!make_room(gathered)) {
                return 0;
            }
            gathered->arrays[gathered->array_count++] = array;
        }
        else {
            if (!gather((Recorded *)operand, target, gathered)) {
                return 0;
            }
            ((Recorded *)operand)->readers++;
        }
    }
    if (!make_room(gathered)) {
        return 0;
    }
    call->at = gathered->call_count;
    gathered->calls[gathered->call_count++] = call;
    return 1;
}

/* A recorded call of another shape that leads to this one, and of which all that leads to it has its shape: NULL if
there is none. */
static Recorded *
find_other_shape(Recorded *call, const Recorded *target)
{
    if (call->mark == generation) {
        return NULL;
    }
    call->mark = generation;
    for (int i = 0; i < call->loop->operand_count; i++) {
        PyObject *operand = call->operands[i];
        if (ndarray_of_operand(operand) == NULL) {
            if (!has_shape_of((Recorded *)operand, target)) {
                return (Recorded *)operand;
            }
            Recorded *found = find_other_shape((Recorded *)operand, target);
            if (found != NULL) {
                return found;
            }
        }
    }
    return NULL;
}

/* Strides of an operand in the shape of the result. */
static void
set_operand(Operand *operand, const Recorded *target, PyArrayObject *array)
{
    int lead = target->ndim - PyArray_NDIM(array);
    npy_intp contiguous = PyArray_ITEMSIZE(array);
    operand->data = PyArray_BYTES(array);
    operand->itemsize = contiguous;
    operand->is_single = PyArray_SIZE(array) == 1;
    operand->is_contiguous = 1;
    for (int axis = target->ndim - 1; axis >= 0; axis--) {
        int is_spread = axis < lead || PyArray_DIM(array, axis - lead) == 1;
        operand->strides[axis] = is_spread ? 0 : PyArray_STRIDE(array, axis - lead);
        if (target->shape[axis] > 1) {
            operand->is_contiguous &= operand->strides[axis] == contiguous;
        }
        contiguous *= target->shape[axis];
    }
}

/* An operand whose elements lie as those of the result. */
static void
set_result(Operand *operand, const Recorded *target, char *data, npy_intp itemsize)
{
    operand->data = data;
    operand->itemsize = itemsize;
    operand->is_contiguous = 1;
    npy_intp stride = itemsize;
    for (int axis = target->ndim - 1; axis >= 0; axis--) {
        operand->strides[axis] = stride;
        stride *= target->shape[axis];
    }
}

static npy_intp
itemsize_of(int typenum)
{
    PyArray_Descr *dtype = PyArray_DescrFromType(typenum);
    npy_intp itemsize = dtype == NULL ? 0 : PyDataType_ELSIZE(dtype);
    Py_XDECREF(dtype);
    return itemsize;
}

/* What is kept of a step beyond the chain. */
typedef struct {
    PyObject *code, *globals;
    int instruction, errors;
    const char *name;
} Told;

/* Gives each temporary a block, and takes it back after the last step that reads it. */
static int
assign_buffers(Chain *chain, int *last_reader)
{
    int *free_buffers = PyMem_RawMalloc(sizeof(int) * (size_t)(chain->operand_count + 1));
    int free_count = 0;
    if (free_buffers == NULL) {
        return 0;
    }
    for (int i = 0; i < chain->operand_count; i++) {
        last_reader[i] = -1;
    }
    for (int i = 0; i < chain->step_count; i++) {
        for (int k = 0; k < chain->steps[i].loop->operand_count; k++) {
            last_reader[chain->steps[i].operands[k]] = i;
        }
    }
    for (int i = 0; i < chain->step_count; i++) {
        Step *step = &chain->steps[i];
        int count = step->loop->operand_count;
        Operand *given = &chain->operands[step->operands[count]];
        if (given->data == NULL) {
            given->buffer = free_count ? free_buffers[--free_count] : chain->buffer_count++;
        }
        for (int k = 0; k < count; k++) {
            int at = step->operands[k];
            if (chain->operands[at].data == NULL && last_reader[at] == i) {
                last_reader[at] = -1; /* it may be read twice by one step */
                free_buffers[free_count++] = chain->operands[at].buffer;
            }
        }
    }
    PyMem_RawFree(free_buffers);
    return 1;
}

/* Adds a step that casts an operand, one for all steps that read it so: the index of what it gives. */
static int
add_cast(Chain *chain, const Recorded *target, int from_at, const Loop *loop)
{
    for (int i = 0; i < chain->step_count; i++) {
        if (chain->steps[i].loop == loop && chain->steps[i].operands[0] == from_at) {
            return chain->steps[i].operands[1];
        }
    }
    int at = chain->operand_count++;
    set_result(&chain->operands[at], target, NULL, itemsize_of(loop->types[1]));
    chain->steps[chain->step_count++] = (Step){.loop = loop, .operands = {from_at, at}};
    return at;
}

/* Runs the calls that were gathered, of which those with a result in `results` are kept. `told` gets what is told of
each step. Returns 0 if memory ran out. */
static int
run(const Gathered *gathered, const Recorded *target, PyObject **results, Told *told, int *told_count)
{
    int calls = gathered->call_count, most_operands = gathered->array_count + calls * (1 + MAX_OPERANDS) + 1;
    Chain chain = {.ndim = target->ndim, .size = target->size};
    memcpy(chain.shape, target->shape, sizeof chain.shape);
    chain.operands = PyMem_RawCalloc((size_t)most_operands, sizeof(Operand));
    chain.steps = PyMem_RawCalloc((size_t)(calls * (1 + MAX_OPERANDS)), sizeof(Step));
    int *last_reader = PyMem_RawMalloc(sizeof(int) * (size_t)most_operands);
    PyObject **seen = PyMem_RawMalloc(sizeof *seen * (size_t)(gathered->array_count + 1));
    int *step_call = PyMem_RawMalloc(sizeof(int) * (size_t)(calls * (1 + MAX_OPERANDS)));
    int is_done = chain.operands != NULL && chain.steps != NULL && last_reader != NULL && seen != NULL && step_call != NULL;
    int array_count = 0;
    for (int c = 0; is_done && c < calls; c++) { /* the results come first, so that a call is the operand of its index */
        const Recorded *call = gathered->calls[c];
        int typenum = call->loop->types[call->loop->operand_count];
        char *data = results[c] == NULL ? NULL : PyArray_BYTES((PyArrayObject *)results[c]);
        set_result(&chain.operands[chain.operand_count++], target, data, itemsize_of(typenum));
    }
    for (int c = 0; is_done && c < calls; c++) {
        const Recorded *call = gathered->calls[c];
        Step step = {.loop = call->loop};
        int count = call->loop->operand_count;
        for (int i = 0; i < count; i++) {
            PyObject *array = ndarray_of_operand(call->operands[i]);
            int at, from = typenum_of_operand(call->operands[i]), to = call->loop->types[i];
            if (array == NULL) {
                at = ((Recorded *)call->operands[i])->at;
            }
            else {
                for (at = 0; at < array_count && seen[at] != array; at++) {
                }
                if (at == array_count) {
                    seen[array_count++] = array;
                    /* Operands of arrays may come after casts, so their index is kept in `last_reader` for now. */
                    last_reader[at] = chain.operand_count;
                    set_operand(&chain.operands[chain.operand_count++], target, (PyArrayObject *)array);
                }
                at = last_reader[at];
            }
            if (from != to) {
                int before = chain.step_count;
                at = add_cast(&chain, target, at, cast_loop(from, to));
                if (chain.step_count > before) {
                    step_call[before] = c;
                }
            }
            step.operands[i] = at;
        }
        step.operands[count] = c;
        step_call[chain.step_count] = c;
        chain.steps[chain.step_count++] = step;
    }
    is_done = is_done && assign_buffers(&chain, last_reader);
    if (is_done) {
        merge_axes(&chain);
        Py_BEGIN_ALLOW_THREADS
        is_done = run_chain(&chain, target->size >= SHARED ? config.threads : 1);
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; is_done && i < chain.step_count; i++) {
        const Recorded *call = gathered->calls[step_call[i]];
        int errors = chain.steps[i].errors & call->warned;
        if (errors) {
            told[(*told_count)++] = (Told){
                .code = Py_XNewRef(call->code), .globals = Py_XNewRef(call->globals),
                .instruction = call->instruction, .errors = errors, .name = chain.steps[i].loop->name,
            };
        }
    }
    PyMem_RawFree(chain.operands);
    PyMem_RawFree(chain.steps);
    PyMem_RawFree(last_reader);
    PyMem_RawFree(seen);
    PyMem_RawFree(step_call);
    return is_done;
}

/* An aligned ndarray for the result of a call; NULL without an exception if memory ran out. */
static PyObject *
new_result(const Recorded *call)
{
    PyArray_Descr *dtype = PyArray_DescrFromType(call->loop->types[call->loop->operand_count]);
    if (dtype == NULL) {
        return fall_back();
    }
    npy_intp shape[MAX_AXES];
    memcpy(shape, call->shape, sizeof shape);
    PyObject *result = new_ndarray(call->ndim, shape, dtype, call->size * PyDataType_ELSIZE(dtype), 0);
    return result == NULL ? fall_back() : result;
}

/* Runs the calls that lead to one, whose operands of other shapes are computed. Nothing here runs Python code, as
`running` is held. Leaves in `gathered` references to the calls that are computed now. Returns 0 if memory ran out. */
static int
run_gathered(Recorded *target, Gathered *gathered, Told **told, int *told_count)
{
    generation++;
    int is_done = gather(target, target, gathered);
    int calls = gathered->call_count;
    PyObject **results = is_done ? PyMem_RawCalloc((size_t)calls, sizeof *results) : NULL;
    *told = is_done ? PyMem_RawMalloc(sizeof **told * (size_t)(calls * (1 + MAX_OPERANDS))) : NULL;
    is_done = results != NULL && *told != NULL;
    int is_short = 0; /* whether there is memory for the target alone */
    for (int c = 0; is_done && c < calls; c++) {
        Recorded *call = gathered->calls[c];
        if (call == target) {
            is_done = (results[c] = new_result(call)) != NULL;
        }
        else if (!is_short && Py_REFCNT(call) > call->readers) {
            is_short = (results[c] = new_result(call)) == NULL; /* it stays recorded then */
        }
    }
    is_done = is_done && run(gathered, target, results, *told, told_count);
    for (int c = 0; c < calls; c++) {
        PyObject *result = results == NULL ? NULL : results[c];
        if (is_done && result != NULL) {
            gathered->calls[c]->value = result;
            leave_ring(gathered->calls[c]);
            Py_INCREF(gathered->calls[c]);
        }
        else {
            Py_XDECREF(result);
            gathered->calls[c] = NULL;
        }
    }
    PyMem_RawFree(results);
    return is_done;
}

/* Warns of floating-point errors where the calls were made; 0 with an exception. */
static int
warn(Told *told, int count)
{
    int is_whole = 1;
    for (int i = 0; i < count; i++) {
        Told *one = &told[i];
        int line = one->code == NULL ? 0 : PyCode_Addr2Line((PyCodeObject *)one->code, one->instruction);
        PyObject *file = one->code == NULL ? Py_None : ((PyCodeObject *)one->code)->co_filename;
        PyObject *globals = one->globals == NULL ? Py_None : one->globals;
        PyObject *done = is_whole ? PyObject_CallFunction(config.warn, "siOiO", one->name, one->errors, file, line, globals)
                                  : NULL;
        is_whole = done != NULL;
        Py_XDECREF(done);
        Py_XDECREF(one->code);
        Py_XDECREF(one->globals);
    }
    return is_whole;
}

PyObject *
compute(Recorded *recorded)
{
    PyObject *value = NULL;
    Py_INCREF(recorded);
    while (recorded->value == NULL) { /* calls of another shape first, which have blocks of their own */
        generation++;
        Recorded *other = find_other_shape(recorded, recorded);
        if (other == NULL) {
            break;
        }
        if (compute(other) == NULL) {
            Py_DECREF(recorded);
            return NULL;
        }
    }
    if (!PyThread_acquire_lock(running, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(running, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    Told *told = NULL;
    Gathered gathered = {0};
    int told_count = 0, is_done = recorded->value != NULL || run_gathered(recorded, &gathered, &told, &told_count);
    PyThread_release_lock(running);
    for (int c = gathered.call_count - 1; c >= 0; c--) { /* now, as what is freed may run Python code */
        if (gathered.calls[c] != NULL) {
            release_operands(gathered.calls[c]);
            Py_DECREF(gathered.calls[c]);
        }
    }
    PyMem_RawFree(gathered.calls);
    PyMem_RawFree(gathered.arrays);
    if (!is_done) {
        PyErr_NoMemory();
    }
    else if (warn(told, told_count)) {
        value = recorded->value;
    }
    PyMem_RawFree(told);
    Py_DECREF(recorded); /* its reader has another reference */
    return value;
}

int
compute_readers(PyObject *native)
{
    if (recorded_count == 0 || !PyArray_Check(native)) {
        return 1;
    }
    PyObject *owner = owner_of(native);
    for (Recorded *one = recorded_calls.next; owner != NULL && one != &recorded_calls;) {
        int is_reader = 0;
        for (int i = 0; i < one->loop->operand_count; i++) {
            PyObject *array = ndarray_of_operand(one->operands[i]);
            is_reader |= array != NULL && owner_of(array) == owner;
        }
        if (!is_reader) {
            one = one->next;
            continue;
        }
        if (compute(one) == NULL) {
            return 0;
        }
        one = recorded_calls.next; /* others may be gone */
    }
    return 1;
}

PyObject *
exposed(PyObject *Py_UNUSED(module), PyObject *native)
{
    if (!expose(native)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
recorded_get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    Recorded *recorded = (Recorded *)self;
    return PyArray_IntTupleFromIntp(recorded->ndim, recorded->shape);
}

static PyObject *
recorded_get_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return (PyObject *)PyArray_DescrFromType(typenum_of_operand(self));
}

static PyObject *
recorded_get_ndim(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(((Recorded *)self)->ndim);
}

static PyObject *
recorded_get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSsize_t(((Recorded *)self)->size);
}

static PyObject *
recorded_get_is_computed(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((Recorded *)self)->value != NULL);
}

static Py_ssize_t
recorded_length(PyObject *self)
{
    return ((Recorded *)self)->shape[0]; /* it has an axis, as it has many elements */
}

static PyGetSetDef recorded_getset[] = {
    {"shape", recorded_get_shape, NULL, NULL, NULL},
    {"dtype", recorded_get_dtype, NULL, NULL, NULL},
    {"ndim", recorded_get_ndim, NULL, NULL, NULL},
    {"size", recorded_get_size, NULL, NULL, NULL},
    {"is_computed", recorded_get_is_computed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PySequenceMethods recorded_as_sequence = {.sq_length = recorded_length};

PyTypeObject RecordedType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.Recorded",
    .tp_basicsize = sizeof(Recorded),
    .tp_dealloc = recorded_dealloc,
    .tp_traverse = recorded_traverse,
    .tp_clear = recorded_clear,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_getset = recorded_getset,
    .tp_as_sequence = &recorded_as_sequence,
};

/* The attribute `_native` of Arrays: the native array in the slot of that offset, computed if it is recorded. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t offset;
} NativeSlot;

static PyObject *
native_slot_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *member;
    if (!PyArg_ParseTuple(args, "O!", &PyMemberDescr_Type, &member)) {
        return NULL;
    }
    NativeSlot *slot = (NativeSlot *)type->tp_alloc(type, 0);
    if (slot != NULL) {
        slot->offset = ((PyMemberDescrObject *)member)->d_member->offset;
    }
    return (PyObject *)slot;
}

static PyObject *
native_slot_get(PyObject *self, PyObject *array, PyObject *Py_UNUSED(type))
{
    if (array == NULL || array == Py_None) {
        return Py_NewRef(self);
    }
    Py_ssize_t offset = ((NativeSlot *)self)->offset;
    PyObject *native = get_slot(array, offset);
    if (native == NULL) {
        PyErr_SetString(PyExc_AttributeError, "_native");
        return NULL;
    }
    if (!is_recorded(native)) {
        if (recorded_count && !compute_readers(native)) { /* who asks may write to it */
            return NULL;
        }
        return Py_NewRef(native);
    }
    Py_INCREF(native);
    PyObject *value = ((Recorded *)native)->value;
    value = Py_XNewRef(value == NULL ? compute((Recorded *)native) : value);
    if (value != NULL && get_slot(array, offset) == native) {
        Py_XDECREF(swap_slot(array, offset, Py_NewRef(value)));
    }
    Py_DECREF(native);
    if (value != NULL && recorded_count && !compute_readers(value)) {
        Py_CLEAR(value);
    }
    return value;
}

static int
native_slot_set(PyObject *self, PyObject *array, PyObject *value)
{
    Py_XDECREF(swap_slot(array, ((NativeSlot *)self)->offset, Py_XNewRef(value)));
    return 0;
}

PyTypeObject NativeSlotType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.NativeSlot",
    .tp_basicsize = sizeof(NativeSlot),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = native_slot_new,
    .tp_descr_get = native_slot_get,
    .tp_descr_set = native_slot_set,
};
