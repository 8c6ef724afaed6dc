/* Gathers the recorded calls that lead to others when their values are needed: for chains.c, and for Python as tuples
(`_lazy.compiler.Graph`). */

#include "graph.h"
#include "arrays.h"
#include "chains.h"

static int generation; /* the mark of the current traversal */

int
index_of_array(const Graph *graph, PyObject *array)
{
    int at = 0;
    while (at < graph->array_count && graph->arrays[at] != array) {
        at++;
    }
    return at;
}

/* Gathers the calls that lead to one, depth first. The depth is at most MAX_CALLS. */
static void
gather(Lazy *call, Graph *graph)
{
    if (call->mark == generation) {
        return;
    }
    call->mark = generation;
    call->readers = 0;
    for (int i = 0; i < call->operand_count; i++) {
        PyObject *operand = call->operands[i], *array = array_of_operand(operand);
        if (array == NULL) {
            gather((Lazy *)operand, graph);
            ((Lazy *)operand)->readers++;
        }
        else if (index_of_array(graph, array) == graph->array_count) {
            graph->arrays[graph->array_count++] = array;
        }
    }
    call->at = graph->call_count;
    graph->calls[graph->call_count++] = call;
}

int
gather_calls(Lazy *const *targets, int count, Graph *graph)
{
    size_t most = (size_t)recorded_count + 1; /* calls that are not computed are in the ring */
    graph->calls = PyMem_RawMalloc(sizeof *graph->calls * most);
    graph->arrays = PyMem_RawMalloc(sizeof *graph->arrays * most * MAX_OPERANDS);
    generation++;
    for (int i = 0; graph->calls != NULL && graph->arrays != NULL && i < count; i++) {
        gather(targets[i], graph);
    }
    return graph->calls != NULL && graph->arrays != NULL;
}

void
free_graph(Graph *graph)
{
    PyMem_RawFree(graph->calls);
    PyMem_RawFree(graph->arrays);
}

/* Returns a borrowed reference to a recorded call of another shape, or a reduction, that leads to `call` and has no
such call before it; NULL if there is none. */
static Lazy *
find_other_shape(Lazy *call, const Lazy *target)
{
    if (call->mark == generation) {
        return NULL;
    }
    call->mark = generation;
    for (int i = 0; i < call->operand_count; i++) {
        PyObject *operand = call->operands[i];
        if (array_of_operand(operand) != NULL) {
            continue;
        }
        Lazy *other = (Lazy *)operand;
        if (target->group && call == target) {
            target = other; /* the shape of the chain */
        }
        else if (other->group || !has_shape_of(operand, (PyObject *)target)) {
            return other;
        }
        Lazy *found = find_other_shape(other, target);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

int
compute_other_shapes(Lazy *lazy)
{
    while (lazy->value == NULL) {
        generation++;
        Lazy *other = find_other_shape(lazy, lazy);
        if (other == NULL) {
            break;
        }
        if (compute(other) == NULL) {
            return 0;
        }
    }
    return 1;
}

static void
mark_from(Lazy *call)
{
    if (call->value == NULL && call->mark != generation) {
        call->mark = generation;
        for (int i = 0; i < call->operand_count; i++) {
            if (array_of_operand(call->operands[i]) == NULL) {
                mark_from((Lazy *)call->operands[i]);
            }
        }
    }
}

int
mark_calls(Lazy *lazy)
{
    generation++;
    mark_from(lazy);
    return generation;
}

/* Appends a call with its operands and the dtype of its result to the lists, and steals the references to both. Returns
its name; NULL with an exception. */
static PyObject *
list_call(PyObject *calls, PyObject *origins, Lazy *origin, PyObject *function, PyObject *operands, PyObject *dtype)
{
    PyObject *call = operands == NULL || dtype == NULL ? NULL : PyTuple_Pack(3, function, operands, dtype);
    int is_added = call != NULL && PyList_Append(calls, call) == 0 && PyList_Append(origins, (PyObject *)origin) == 0;
    Py_XDECREF(call);
    Py_XDECREF(operands);
    Py_XDECREF(dtype);
    return is_added ? PyUnicode_FromFormat("v%zd", PyList_GET_SIZE(calls) - 1) : NULL;
}

/* Returns the name of an operand of a call, after a cast to the dtype of NumPy's loop; NULL with an exception. */
static PyObject *
name_of_operand(const Graph *graph, Lazy *call, int i, PyObject *names, PyObject *calls, PyObject *origins)
{
    PyObject *operand = call->operands[i], *array = array_of_operand(operand);
    PyObject *name = array == NULL ? Py_NewRef(PyList_GET_ITEM(names, ((Lazy *)operand)->at))
                                   : PyUnicode_FromFormat("x%d", index_of_array(graph, array));
    int to = call->loop->types[i];
    if (name == NULL || call->home != config.numpy_home || typenum_of_operand(operand) == to) {
        return name;
    }
    PyObject *operands = PyTuple_Pack(1, name), *dtype = (PyObject *)PyArray_DescrFromType(to);
    Py_DECREF(name);
    return list_call(calls, origins, call, constants.astype, operands, dtype);
}

/* Appends all calls to the lists, and their names to `names`. Returns 0 with an exception on failure. */
static int
list_calls(const Graph *graph, PyObject *names, PyObject *calls, PyObject *origins)
{
    for (int c = 0; c < graph->call_count; c++) {
        Lazy *call = graph->calls[c];
        PyObject *function = call->loop->reports == NULL ? constants.astype : call->loop->ours;
        PyObject *operands = PyTuple_New(call->operand_count);
        for (int i = 0; operands != NULL && i < call->operand_count; i++) {
            PyObject *operand = name_of_operand(graph, call, i, names, calls, origins);
            if (operand == NULL) {
                Py_CLEAR(operands);
                break;
            }
            PyTuple_SET_ITEM(operands, i, operand);
        }
        PyObject *dtype = PyObject_GetAttr((PyObject *)call, constants.dtype);
        PyObject *name = list_call(calls, origins, call, function, operands, dtype);
        int is_listed = name != NULL && PyList_Append(names, name) == 0;
        Py_XDECREF(name);
        if (!is_listed) {
            return 0;
        }
    }
    return 1;
}

/* Returns a graph as a tuple; NULL with an exception. `is_needed` has a flag for each call: whether its result is
needed. */
static PyObject *
tuple_of_graph(const Graph *graph, const char *is_needed)
{
    PyObject *names = PyList_New(0), *calls = PyList_New(0), *origins = PyList_New(0), *nodes = PyList_New(0);
    PyObject *results = PyList_New(0), *arrays = PyTuple_New(graph->array_count), *result = NULL;
    int is_done = names && calls && origins && nodes && results && arrays && list_calls(graph, names, calls, origins);
    for (int i = 0; is_done && i < graph->array_count; i++) {
        PyTuple_SET_ITEM(arrays, i, Py_NewRef(graph->arrays[i]));
    }
    for (int c = 0; is_done && c < graph->call_count; c++) {
        is_done = !is_needed[c] || (PyList_Append(nodes, (PyObject *)graph->calls[c]) == 0
                               && PyList_Append(results, PyList_GET_ITEM(names, c)) == 0);
    }
    if (is_done) {
        result = PyTuple_Pack(5, calls, arrays, results, nodes, origins);
    }
    PyObject *const made[] = {names, calls, origins, nodes, results, arrays};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        Py_XDECREF(made[i]);
    }
    return result;
}

PyObject *
graph_of(PyObject *Py_UNUSED(module), PyObject *targets)
{
    Py_ssize_t given = PyTuple_Size(targets);
    Lazy **wanted = given < 0 ? NULL : PyMem_RawMalloc(sizeof *wanted * (size_t)(given + 1));
    Graph graph = {0};
    char *is_needed = NULL;
    int count = 0, is_done = wanted != NULL;
    for (Py_ssize_t i = 0; is_done && i < given; i++) {
        is_done = compute_other_shapes((Lazy *)PyTuple_GET_ITEM(targets, i));
    }
    for (Py_ssize_t i = 0; is_done && i < given; i++) { /* no Python code runs until the tuple is complete */
        Lazy *target = (Lazy *)PyTuple_GET_ITEM(targets, i);
        if (target->value == NULL) {
            wanted[count++] = target;
        }
    }
    is_done = is_done && gather_calls(wanted, count, &graph)
              && (is_needed = PyMem_RawCalloc((size_t)graph.call_count + 1, 1)) != NULL;
    for (int c = 0; is_done && c < graph.call_count; c++) {
        is_needed[c] = Py_REFCNT(graph.calls[c]) > graph.calls[c]->readers;
    }
    int is_collecting = PyGC_Disable(); /* a finalizer might run other calls */
    PyObject *result = is_done ? tuple_of_graph(&graph, is_needed) : NULL;
    if (is_collecting) {
        PyGC_Enable();
    }
    PyMem_RawFree(wanted);
    PyMem_RawFree(is_needed);
    free_graph(&graph);
    return result != NULL || PyErr_Occurred() ? result : PyErr_NoMemory();
}

PyObject *
set_values(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *calls, *values;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &calls, &PyList_Type, &values)) {
        return NULL;
    }
    lock_chains();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); i++) {
        Lazy *call = (Lazy *)PyList_GET_ITEM(calls, i);
        if (call->value == NULL) {
            call->value = Py_NewRef(PyList_GET_ITEM(values, i));
            remove_from_ring(call);
        }
    }
    unlock_chains();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); i++) { /* only now, as it may run Python code */
        release_operands((Lazy *)PyList_GET_ITEM(calls, i));
    }
    Py_RETURN_NONE;
}
