/* Chains: recorded calls, run together when the value of one is needed.

Compiled: in which order they run and which results are kept. `graph.c` gathers them, and `blocks.c` runs them. Left to Python: warnings, and what is learned of the time that a chain took. */

#include "chains.h"
#include "arrays.h"
#include "blocks.h"
#include "call.h"
#include "choice.h"
#include "config.h"
#include "memory.h"
#include "graph.h"
#include "threads.h"
#include <time.h>

#define TIMED 4          /* calls from which on the time of a chain says what a call takes in one, */
#define TIMES 3          /* and how often it is told of a function and a class of sizes */
#define PAUSE 64         /* chains until it is told again, where it was of no use yet */

static PyThread_type_lock running; /* held while a chain is run */
static int untold;                  /* chains until the next one is told */

int
init_chains(void)
{
    running = PyThread_allocate_lock();
    if (running == NULL || !init_threads()) {
        PyErr_NoMemory();
        return 0;
    }
    return 1;
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

void
lock_chains(void)
{
    if (!PyThread_acquire_lock(running, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(running, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
}

void
unlock_chains(void)
{
    PyThread_release_lock(running);
}

/* A chain that was run, and is to be told. */
typedef struct {
    const Loop *loops[2 * MOST_CALLS]; /* of its calls */
    int count;                         /* 0 if it is not to be told */
    int is_typical;                    /* whether its time says what a call takes in one */
    npy_intp size;
    double seconds;
    PyObject *codes[2 * MOST_CALLS];   /* where they were made */
    int instructions[2 * MOST_CALLS];
} Timed;

/* Notes the calls of a chain, if it is to be told: as somebody watches, or some of its functions were not yet. */
static void
note_chain(const Graph *gathered, const Lazy *target, PyObject *const *results, int is_watched, Timed *timed)
{
    npy_intp size = target->group ? size_of_operand(target->operands[0]) : target->size;
    int is_new = 0, kept = 0, count = 0, at = size_class(size);
    if (untold > 0 && !is_watched) {
        untold--;
        return;
    }
    for (int c = 0; c < gathered->call_count && count < 2 * MOST_CALLS; c++) {
        const Loop *loop = gathered->calls[c]->loop;
        kept += results[c] != NULL;
        if (loop->told != NULL) {
            timed->codes[count] = gathered->calls[c]->code;
            timed->instructions[count] = gathered->calls[c]->instruction;
            timed->loops[count++] = loop;
            is_new |= at < SIZE_CLASSES && loop->told[at] < TIMES;
        }
    }
    timed->is_typical = is_new && count >= TIMED && kept == 1;
    if (timed->is_typical || is_watched) {
        timed->count = count;
        timed->size = size;
        for (int i = 0; i < count; i++) {
            Py_XINCREF(timed->codes[i]);
        }
    }
}

/* Tells Python of a chain. The values are there, so an error is none of the call that needs them. */
static void
tell_chain(const Timed *timed)
{
    PyObject *calls = PyTuple_New(timed->count);
    for (int i = 0; calls != NULL && i < timed->count; i++) {
        const Loop *loop = timed->loops[i];
        PyObject *dtype = (PyObject *)PyArray_DescrFromType(loop->types[0]), *code = timed->codes[i];
        PyObject *one = dtype == NULL ? NULL
                                      : Py_BuildValue("OOOi", loop->ours, dtype,
                                                      code == NULL ? Py_None : ((PyCodeObject *)code)->co_filename,
                                                      code == NULL ? 0 : PyCode_Addr2Line((PyCodeObject *)code,
                                                                                          timed->instructions[i]));
        Py_XDECREF(dtype);
        if (one == NULL) {
            Py_CLEAR(calls);
            break;
        }
        PyTuple_SET_ITEM(calls, i, one);
    }
    PyObject *done = calls == NULL ? NULL
                                   : PyObject_CallFunction(config.ran, "Ondi", calls, timed->size, timed->seconds,
                                                           timed->is_typical);
    untold = done == Py_False && timed->is_typical ? PAUSE : untold;
    int at = size_class(timed->size);
    for (int i = 0; done == Py_True && i < timed->count && at < SIZE_CLASSES; i++) {
        timed->loops[i]->told[at] += timed->loops[i]->told[at] < TIMES;
    }
    Py_XDECREF(calls);
    if (done == NULL && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt(); /* it comes again */
    }
    else if (done == NULL) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(done);
}

/* Strides of an operand in the shape of the result. */
static void
set_operand(Operand *operand, const Chain *chain, PyArrayObject *array)
{
    int lead = chain->ndim - PyArray_NDIM(array);
    npy_intp contiguous = PyArray_ITEMSIZE(array);
    operand->data = PyArray_BYTES(array);
    operand->itemsize = contiguous;
    operand->is_single = PyArray_SIZE(array) == 1;
    operand->is_contiguous = 1;
    for (int axis = chain->ndim - 1; axis >= 0; axis--) {
        int is_spread = axis < lead || PyArray_DIM(array, axis - lead) == 1;
        operand->strides[axis] = is_spread ? 0 : PyArray_STRIDE(array, axis - lead);
        if (chain->shape[axis] > 1) {
            operand->is_contiguous &= operand->strides[axis] == contiguous;
        }
        contiguous *= chain->shape[axis];
    }
}

/* An operand of which a thread has one block. */
static void
set_temporary(Operand *operand, const Chain *chain, npy_intp itemsize)
{
    operand->data = NULL;
    operand->itemsize = itemsize;
    operand->is_contiguous = 1;
    npy_intp stride = itemsize;
    for (int axis = chain->ndim - 1; axis >= 0; axis--) {
        operand->strides[axis] = stride;
        stride *= chain->shape[axis];
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
add_cast(Chain *chain, int from_at, const Loop *loop)
{
    for (int i = 0; i < chain->step_count; i++) {
        if (chain->steps[i].loop == loop && chain->steps[i].operands[0] == from_at) {
            return chain->steps[i].operands[1];
        }
    }
    int at = chain->operand_count++;
    set_temporary(&chain->operands[at], chain, itemsize_of(loop->types[1]));
    chain->steps[chain->step_count++] = (Step){.loop = loop, .operands = {from_at, at}};
    return at;
}

/* Gives a chain the shape of what its last step gives. */
static void
set_shape(Chain *chain, PyObject *operand)
{
    chain->ndim = ndim_of_operand(operand);
    chain->size = size_of_operand(operand);
    memcpy(chain->shape, shape_of_operand(operand), sizeof(npy_intp) * (size_t)chain->ndim);
}

static Reduction
reduction_of(const Lazy *call, int operand, char *results)
{
    int typenum = call->loop->types[1];
    static const npy_int64 zero = 0; /* of every dtype that is added up, all bits are 0 */
    return (Reduction){
        .loop = call->loop, .operand = operand, .group = call->group,
        .start = call->reduction == SELECTS ? NULL : (const char *)&zero,
        .read_itemsize = itemsize_of(call->loop->types[0]), .itemsize = itemsize_of(typenum), .results = results,
    };
}

/* Makes means of sums, as NumPy does: in float64, rounded to the dtype. */
static void
divide_sums(const Lazy *call, PyObject *sums)
{
    for (npy_intp i = 0; call->reduction == AVERAGES && i < call->size; i++) {
        if (call->loop->types[1] == NPY_DOUBLE) {
            ((double *)PyArray_DATA((PyArrayObject *)sums))[i] /= (double)call->group;
        }
        else {
            float *sum = (float *)PyArray_DATA((PyArrayObject *)sums) + i;
            *sum = (float)((double)*sum / (double)call->group);
        }
    }
}

static void
tell(const Lazy *call, int errors, const char *name, Told *told, int *told_count)
{
    if (errors & call->warned) {
        told[(*told_count)++] = (Told){
            .code = Py_XNewRef(call->code), .globals = Py_XNewRef(call->globals),
            .instruction = call->instruction, .errors = errors & call->warned, .name = name,
        };
    }
}

/* Runs the calls that were gathered, of which those with a result in `results` are kept. `told` gets what is told of
each step. Returns 0 if memory ran out. */
static int
run(const Graph *gathered, const Lazy *target, PyObject **results, Told *told, int *told_count)
{
    int calls = gathered->call_count, most_operands = gathered->array_count + calls * (1 + MAX_OPERANDS) + 1;
    Chain chain = {0};
    Reduction reduction;
    set_shape(&chain, target->group ? target->operands[0] : (PyObject *)target);
    chain.operands = PyMem_RawCalloc((size_t)most_operands, sizeof(Operand));
    chain.steps = PyMem_RawCalloc((size_t)(calls * (1 + MAX_OPERANDS)), sizeof(Step));
    int *last_reader = PyMem_RawMalloc(sizeof(int) * (size_t)most_operands);
    int *step_call = PyMem_RawMalloc(sizeof(int) * (size_t)(calls * (1 + MAX_OPERANDS)));
    int is_done = chain.operands != NULL && chain.steps != NULL && last_reader != NULL && step_call != NULL;
    for (int c = 0; is_done && c < calls; c++) { /* the results come first, so that a call is the operand of its index */
        const Lazy *call = gathered->calls[c];
        int typenum = call->loop->types[call->operand_count];
        Operand *operand = &chain.operands[chain.operand_count++];
        if (results[c] == NULL || call->group) {
            set_temporary(operand, &chain, itemsize_of(typenum));
        }
        else {
            set_operand(operand, &chain, (PyArrayObject *)results[c]);
        }
    }
    for (int i = 0; is_done && i < gathered->array_count; i++) {
        set_operand(&chain.operands[chain.operand_count++], &chain, (PyArrayObject *)gathered->arrays[i]);
    }
    for (int c = 0; is_done && c < calls; c++) {
        const Lazy *call = gathered->calls[c];
        Step step = {.loop = call->loop};
        int count = call->operand_count;
        for (int i = 0; i < count; i++) {
            PyObject *array = array_of_operand(call->operands[i]);
            int from = typenum_of_operand(call->operands[i]), to = call->loop->types[i];
            int at = array == NULL ? ((Lazy *)call->operands[i])->at : calls + index_of_array(gathered, array);
            if (from != to) {
                int before = chain.step_count;
                at = add_cast(&chain, at, cast_loop(from, to));
                if (chain.step_count > before) {
                    step_call[before] = c;
                }
            }
            step.operands[i] = at;
        }
        if (call->group) {
            reduction = reduction_of(call, step.operands[0], PyArray_BYTES((PyArrayObject *)results[c]));
            chain.reduction = &reduction;
            continue;
        }
        step.operands[count] = c;
        step_call[chain.step_count] = c;
        chain.steps[chain.step_count++] = step;
    }
    is_done = is_done && assign_buffers(&chain, last_reader);
    if (is_done) {
        merge_axes(&chain);
        Py_BEGIN_ALLOW_THREADS
        is_done = run_chain(&chain, config.threads);
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; is_done && i < chain.step_count; i++) {
        tell(gathered->calls[step_call[i]], chain.steps[i].errors, chain.steps[i].loop->name, told, told_count);
    }
    if (is_done && chain.reduction != NULL) {
        divide_sums(target, results[calls - 1]);
        tell(target, reduction.errors, "reduce", told, told_count);
    }
    PyMem_RawFree(chain.operands);
    PyMem_RawFree(chain.steps);
    PyMem_RawFree(last_reader);
    PyMem_RawFree(step_call);
    return is_done;
}

/* An aligned ndarray for the result of a call; NULL without an exception if memory ran out. */
static PyObject *
new_result(const Lazy *call)
{
    PyArray_Descr *dtype = PyArray_DescrFromType(call->loop->types[call->operand_count]);
    if (dtype == NULL) {
        return fall_back();
    }
    npy_intp shape[MAX_AXES];
    memcpy(shape, call->shape, sizeof shape);
    PyObject *result = new_ndarray(call->ndim, shape, dtype, call->size * PyDataType_ELSIZE(dtype), 0);
    return result == NULL ? fall_back() : result;
}

/* Runs the calls that lead to one, whose operands of other shapes are computed. Nothing here runs Python code, as
`running` is held. Leaves in `gathered` references to the calls that are computed now. The result is written to the
ndarray `into`, if there is one. Returns 0 if memory ran out. */
static int
run_gathered(Lazy *target, PyObject *into, Graph *gathered, Told **told, int *told_count, Timed *timed)
{
    int is_done = gather_calls(&target, 1, gathered);
    int calls = gathered->call_count;
    PyObject **results = is_done ? PyMem_RawCalloc((size_t)calls, sizeof *results) : NULL;
    *told = is_done ? PyMem_RawMalloc(sizeof **told * (size_t)(calls * (1 + MAX_OPERANDS))) : NULL;
    is_done = results != NULL && *told != NULL;
    int is_short = 0; /* whether there is memory for the target alone */
    for (int c = 0; is_done && c < calls; c++) {
        Lazy *call = gathered->calls[c];
        if (call == target) {
            is_done = (results[c] = into == NULL ? new_result(call) : Py_NewRef(into)) != NULL;
        }
        else if (!is_short && Py_REFCNT(call) > call->readers) {
            is_short = (results[c] = new_result(call)) == NULL; /* it stays recorded then */
            is_done = !is_short || into == NULL; /* but what it reads may be written */
        }
    }
    if (is_done) {
        note_chain(gathered, target, results, decisions_are_recorded(), timed);
        timed->seconds = -now();
        is_done = run(gathered, target, results, *told, told_count);
        timed->seconds += now();
    }
    for (int c = 0; c < calls; c++) {
        PyObject *result = results == NULL ? NULL : results[c];
        if (is_done && result != NULL && result != into) {
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

static int
call_with(PyObject *function, Lazy *lazy)
{
    PyObject *done = PyObject_CallOneArg(function, (PyObject *)lazy);
    Py_XDECREF(done);
    return done != NULL;
}

int
compute_into(Lazy *recorded, PyObject *into)
{
    Py_INCREF(recorded);
    PyObject *run = recorded->loop == NULL ? config.compute
                    : into == NULL && recorded->is_decided ? config.move : NULL; /* Python's, on another backend */
    if (!compute_other_shapes(recorded) || (run != NULL && recorded->value == NULL && !call_with(run, recorded))) {
        Py_DECREF(recorded);
        return 0;
    }
    if (recorded->loop == NULL) {
        Py_DECREF(recorded);
        return 1;
    }
    lock_chains();
    Told *told = NULL;
    Graph gathered = {0};
    Timed timed = {.count = 0};
    int told_count = 0, is_there = recorded->value != NULL; /* by another thread */
    int is_done = !is_there && run_gathered(recorded, into, &gathered, &told, &told_count, &timed);
    unlock_chains();
    for (int c = gathered.call_count - 1; c >= 0; c--) { /* now, as what is freed may run Python code */
        if (gathered.calls[c] != NULL) {
            release_operands(gathered.calls[c]);
            Py_DECREF(gathered.calls[c]);
        }
    }
    free_graph(&gathered);
    if (!is_done && !is_there) {
        PyErr_NoMemory();
    }
    is_done = is_there ? into == NULL : is_done && warn(told, told_count);
    if (is_done && timed.count) {
        tell_chain(&timed);
    }
    for (int i = 0; i < timed.count; i++) {
        Py_XDECREF(timed.codes[i]);
    }
    PyMem_RawFree(told);
    Py_DECREF(recorded); /* its reader has another reference */
    return is_done;
}

PyObject *
compute(Lazy *recorded)
{
    return compute_into(recorded, NULL) ? recorded->value : NULL;
}

int
compute_reduction(void)
{
    return recorded_reduction == NULL || compute(recorded_reduction) != NULL;
}
