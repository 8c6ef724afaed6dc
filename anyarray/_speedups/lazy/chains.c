/* Runs recorded calls of NumPy when the value of one is needed: finds those that lead to it, and passes them to
blocks.c as one program.

Python handles warnings (`_lazy.loops.warn`) and measured times (`_lazy.loops.ran`), and computes recorded calls of
other libraries. */

#include "chains.h"
#include "arrays.h"
#include "blocks.h"
#include "elements.h"
#include "call.h"
#include "choice.h"
#include "config.h"
#include "memory.h"
#include "graph.h"
#include "threads.h"
#include <time.h>

#define MIN_TIMED_CALLS 4          /* calls of a chain from which its time is typical of such calls */
#define MAX_REPORTS 3          /* reports for a function and a size class */
#define REPORT_INTERVAL 64         /* chains until the next report if the last was of no use */

static PyThread_type_lock running; /* held while a chain runs */
static int until_report;            /* chains until the next report */

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
    PyThread_type_lock lock = PyThread_allocate_lock(); /* a thread of the parent process may hold the old lock */
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

/* A floating-point error to warn of. */
typedef struct {
    const Lazy *call;
    int errors;
    const char *name; /* of the ufunc */
} Warning;

/* A running chain. */
typedef struct {
    Graph graph;
    PyObject **results; /* of each call: the ndarray that will be its value, or NULL */
    Warning *warnings;
    int warning_count;
    double seconds;
} Run;

/* Reports the time of a chain to Python if decisions are recorded, or if the times of its functions are not known yet.
Errors are not raised: the call that needs the values has not caused them. */
static void
report_run(const Run *run, const Lazy *target)
{
    npy_intp size = target->group ? size_of_operand(target->operands[0]) : target->size;
    int is_watched = decisions_are_recorded(), is_new = 0, kept = 0, count = 0, at = size_class(size);
    if (until_report > 0 && !is_watched) {
        until_report--;
        return;
    }
    for (int c = 0; c < run->graph.call_count; c++) {
        const unsigned char *reports = run->graph.calls[c]->loop->reports;
        kept += run->results[c] != NULL;
        count += reports != NULL;
        is_new |= reports != NULL && at < SIZE_CLASSES && reports[at] < MAX_REPORTS;
    }
    int is_typical = is_new && count >= MIN_TIMED_CALLS && kept == 1;
    if (!is_typical && !is_watched) {
        return;
    }
    PyObject *calls = PyList_New(0);
    int is_listed = calls != NULL;
    for (int c = 0; is_listed && c < run->graph.call_count; c++) {
        const Loop *loop = run->graph.calls[c]->loop;
        if (loop->reports != NULL) {
            PyObject *call = Py_BuildValue("ON", loop->ours, PyArray_DescrFromType(loop->types[0]));
            is_listed = call != NULL && PyList_Append(calls, call) == 0;
            Py_XDECREF(call);
        }
    }
    PyObject *done = is_listed ? PyObject_CallFunction(config.ran, "OndiN", calls, size, run->seconds, is_typical,
                                                     location_of(target))
                             : NULL;
    until_report = done == Py_False && is_typical ? REPORT_INTERVAL : until_report;
    for (int c = 0; done == Py_True && c < run->graph.call_count && at < SIZE_CLASSES; c++) {
        unsigned char *reports = run->graph.calls[c]->loop->reports;
        if (reports != NULL) {
            reports[at] += reports[at] < MAX_REPORTS;
        }
    }
    if (done == NULL && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt(); /* raised again later */
    }
    else if (done == NULL) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(calls);
    Py_XDECREF(done);
}

/* Makes an operand of an ndarray, with strides for the shape of the chain. */
static void
set_operand(Register *operand, const Program *chain, PyArrayObject *array)
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

/* Makes an operand of a temporary. */
static void
set_temporary(Register *operand, const Program *chain, npy_intp itemsize)
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

/* Assigns a buffer to each temporary, and reuses it after the last step that reads it. Returns 0 if memory ran out. */
static int
assign_buffers(Program *chain, int *last_reader)
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
        Instruction *step = &chain->steps[i];
        int count = step->loop->operand_count;
        Register *given = &chain->operands[step->operands[count]];
        if (given->data == NULL) {
            given->buffer = free_count ? free_buffers[--free_count] : chain->buffer_count++;
        }
        for (int k = 0; k < count; k++) {
            int at = step->operands[k];
            if (chain->operands[at].data == NULL && last_reader[at] == i) {
                last_reader[at] = -1; /* one step may read it twice */
                free_buffers[free_count++] = chain->operands[at].buffer;
            }
        }
    }
    PyMem_RawFree(free_buffers);
    return 1;
}

/* Adds a step that casts an operand, unless there is one. Returns the index of its result. */
static int
add_cast(Program *chain, int from_at, const Loop *loop)
{
    for (int i = 0; i < chain->step_count; i++) {
        if (chain->steps[i].loop == loop && chain->steps[i].operands[0] == from_at) {
            return chain->steps[i].operands[1];
        }
    }
    int at = chain->operand_count++;
    set_temporary(&chain->operands[at], chain, itemsize_of(loop->types[1]));
    chain->steps[chain->step_count++] = (Instruction){.loop = loop, .operands = {from_at, at}};
    return at;
}

/* Sets the shape of a chain from the result of its last step. */
static void
set_shape(Program *chain, PyObject *operand)
{
    chain->ndim = ndim_of_operand(operand);
    chain->size = size_of_operand(operand);
    memcpy(chain->shape, shape_of_operand(operand), sizeof(npy_intp) * (size_t)chain->ndim);
}

static Reduction
reduction_of(const Lazy *call, int operand, char *results)
{
    int typenum = call->loop->types[1];
    static const npy_int64 zero = 0; /* the zero of all dtypes that are added */
    return (Reduction){
        .loop = call->loop, .operand = operand, .group = call->group,
        .start = call->reduction == SELECTS ? NULL : (const char *)&zero,
        .read_itemsize = itemsize_of(call->loop->types[0]), .itemsize = itemsize_of(typenum), .results = results,
    };
}

/* Divides the sums of a mean: in float64 and rounded to the dtype, as NumPy does. */
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
add_warning(Run *run, const Lazy *call, int errors, const char *name)
{
    if (errors & call->warned) {
        run->warnings[run->warning_count++] = (Warning){.call = call, .errors = errors & call->warned, .name = name};
    }
}

/* Runs the gathered calls. Returns 0 if memory ran out. */
static int
run_graph(Run *run, const Lazy *target)
{
    const Graph *graph = &run->graph;
    PyObject **results = run->results;
    int calls = graph->call_count, most_operands = graph->array_count + calls * (1 + MAX_OPERANDS) + 1;
    Program chain = {0};
    Reduction reduction;
    set_shape(&chain, target->group ? target->operands[0] : (PyObject *)target);
    chain.operands = PyMem_RawCalloc((size_t)most_operands, sizeof(Register));
    chain.steps = PyMem_RawCalloc((size_t)(calls * (1 + MAX_OPERANDS)), sizeof(Instruction));
    int *last_reader = PyMem_RawMalloc(sizeof(int) * (size_t)most_operands);
    int *step_call = PyMem_RawMalloc(sizeof(int) * (size_t)(calls * (1 + MAX_OPERANDS)));
    int is_done = chain.operands != NULL && chain.steps != NULL && last_reader != NULL && step_call != NULL;
    for (int c = 0; is_done && c < calls; c++) { /* results come first: the operand of a call has its index */
        const Lazy *call = graph->calls[c];
        int typenum = call->loop->types[call->operand_count];
        Register *operand = &chain.operands[chain.operand_count++];
        if (results[c] == NULL || call->group) {
            set_temporary(operand, &chain, itemsize_of(typenum));
        }
        else {
            set_operand(operand, &chain, (PyArrayObject *)results[c]);
        }
    }
    for (int i = 0; is_done && i < graph->array_count; i++) {
        set_operand(&chain.operands[chain.operand_count++], &chain, (PyArrayObject *)graph->arrays[i]);
    }
    for (int c = 0; is_done && c < calls; c++) {
        const Lazy *call = graph->calls[c];
        Instruction step = {.loop = call->loop};
        int count = call->operand_count;
        for (int i = 0; i < count; i++) {
            PyObject *array = array_of_operand(call->operands[i]);
            int from = typenum_of_operand(call->operands[i]), to = call->loop->types[i];
            int at = array == NULL ? ((Lazy *)call->operands[i])->at : calls + index_of_array(graph, array);
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
        add_warning(run, graph->calls[step_call[i]], chain.steps[i].errors, chain.steps[i].loop->name);
    }
    if (is_done && chain.reduction != NULL) {
        divide_sums(target, results[calls - 1]);
        add_warning(run, target, reduction.errors, "reduce");
    }
    PyMem_RawFree(chain.operands);
    PyMem_RawFree(chain.steps);
    PyMem_RawFree(last_reader);
    PyMem_RawFree(step_call);
    return is_done;
}

/* Returns a new aligned ndarray for the result of a call; NULL without an exception if memory ran out. */
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

/* Runs the calls that lead to `target`, after those of other shapes. Runs no Python code, because `running` is held.
Writes the result of `target` to the ndarray `into` unless that is NULL. Returns 0 if memory ran out. */
static int
run_target(Lazy *target, PyObject *into, Run *run)
{
    int is_done = gather_calls(&target, 1, &run->graph), is_short = 0; /* whether there is memory for the target alone */
    int calls = run->graph.call_count;
    run->results = is_done ? PyMem_RawCalloc((size_t)calls, sizeof *run->results) : NULL;
    run->warnings = is_done ? PyMem_RawMalloc(sizeof *run->warnings * (size_t)(calls * (1 + MAX_OPERANDS))) : NULL;
    is_done = run->results != NULL && run->warnings != NULL;
    for (int c = 0; is_done && c < calls; c++) {
        Lazy *call = run->graph.calls[c];
        if (call == target) {
            is_done = (run->results[c] = into == NULL ? new_result(call) : Py_NewRef(into)) != NULL;
        }
        else if (!is_short && Py_REFCNT(call) > call->readers) {
            is_short = (run->results[c] = new_result(call)) == NULL; /* then it stays recorded */
            is_done = !is_short || into == NULL; /* unless its operands are about to be overwritten */
        }
    }
    run->seconds = -now();
    is_done = is_done && run_graph(run, target);
    run->seconds += now();
    for (int c = 0; is_done && c < calls; c++) {
        if (run->results[c] != NULL && run->results[c] != into) {
            run->graph.calls[c]->value = Py_NewRef(run->results[c]);
            remove_from_ring(run->graph.calls[c]);
            Py_INCREF(run->graph.calls[c]);
        }
    }
    return is_done;
}

/* Releases what a run refers to, and the operands of the computed calls if `is_done`. May run Python code. */
static void
clear_run(Run *run, PyObject *into, int is_done)
{
    for (int c = run->graph.call_count - 1; run->results != NULL && c >= 0; c--) {
        PyObject *result = run->results[c];
        if (is_done && result != NULL && result != into) {
            Lazy *call = run->graph.calls[c];
            release_operands(call);
            Py_DECREF(call);
        }
        Py_XDECREF(result);
    }
    PyMem_RawFree(run->results);
    PyMem_RawFree(run->warnings);
    free_graph(&run->graph);
}

/* Warns of floating-point errors at the lines of the calls. Returns 0 with an exception on failure. */
static int
warn(const Run *run)
{
    PyObject *done = Py_NewRef(Py_None);
    for (int i = 0; i < run->warning_count && done != NULL; i++) {
        const Warning *one = &run->warnings[i];
        PyObject *globals = one->call->globals == NULL ? Py_None : one->call->globals;
        Py_SETREF(done, PyObject_CallFunction(config.warn, "siNO", one->name, one->errors, location_of(one->call), globals));
    }
    Py_XDECREF(done);
    return done != NULL;
}

int
compute_into(Lazy *lazy, PyObject *into)
{
    int is_numpy = lazy->home == config.numpy_home;
    Py_INCREF(lazy);
    int is_done = compute_other_shapes(lazy); /* in chains of their own */
    if (is_done && !is_numpy && lazy->value == NULL) {
        PyObject *done = PyObject_CallOneArg(config.compute, (PyObject *)lazy);
        is_done = done != NULL;
        Py_XDECREF(done);
    }
    if (is_done && is_numpy) {
        Run run = {.results = NULL};
        lock_chains();
        int is_there = lazy->value != NULL; /* computed by another thread */
        int has_run = !is_there && run_target(lazy, into, &run);
        unlock_chains();
        if (!has_run && !is_there) {
            PyErr_NoMemory();
        }
        is_done = is_there ? into == NULL : has_run && warn(&run);
        if (is_done && has_run) {
            report_run(&run, lazy);
        }
        clear_run(&run, into, has_run); /* only now, as it may run Python code */
    }
    Py_DECREF(lazy); /* the caller has another reference */
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
