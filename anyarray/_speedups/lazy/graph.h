/* The graph of recorded calls that lead to others. */

#ifndef ANYARRAY_GRAPH_H
#define ANYARRAY_GRAPH_H

#include "lazy.h"

/* The calls in topological order, and the native arrays that they read. */
typedef struct {
    Lazy **calls;
    PyObject **arrays; /* without duplicates */
    int call_count, array_count;
} Graph;

/* Gathers the calls that lead to `count` targets. Sets `at` of each to its index, and `readers` to the number of
gathered calls that read it. Returns 0 if memory ran out. `free_graph` must be called in any case. */
int gather_calls(Lazy *const *targets, int count, Graph *graph);
void free_graph(Graph *graph);

/* Returns the index of a native array among those of a graph; `array_count` if it is not there. */
int index_of_array(const Graph *graph, PyObject *array);

/* Computes the calls of other shapes and the reductions that lead to a call. Returns 0 with an exception on failure. */
int compute_other_shapes(Lazy *lazy);

/* Marks a call and those that lead to it. Returns the mark. */
int mark_calls(Lazy *lazy);

/* graph(targets): the graph of a tuple of recorded calls of one shape, for `_lazy.compiler.Graph`. */
PyObject *graph_of(PyObject *module, PyObject *targets);

/* set_values(calls, values): sets the values of calls that another thread has not computed. */
PyObject *set_values(PyObject *module, PyObject *args);

#endif
