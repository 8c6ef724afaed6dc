/* The graph of recorded calls that lead to some, gathered when their values are needed. */

#ifndef ANYARRAY_GRAPH_H
#define ANYARRAY_GRAPH_H

#include "lazy.h"

/* The calls, in an order in which each comes after those that it reads, and the native arrays that they read. */
typedef struct {
    Lazy **calls;
    PyObject **arrays; /* each once */
    int call_count, array_count, capacity;
} Graph;

/* Gathers the calls that lead to so many, whose operands of other shapes are computed: each has its index in `at`, and in
`readers` how many of the others read it. Returns 0 if memory ran out. What was gathered is to be freed then, too. */
int gather_calls(Lazy *const *targets, int count, Graph *graph);
void free_graph(Graph *graph);

/* The index of a native array among those that are read. */
int index_of_array(const Graph *graph, PyObject *array);

/* Computes the calls of other shapes that lead to one, and reductions; 0 with an exception. */
int compute_other_shapes(Lazy *lazy);

/* Marks the calls that lead to one, and itself, by a number. */
int mark_calls(Lazy *lazy);

/* graph(targets): what leads to a tuple of recorded calls of one shape, for `_lazy.compiler.Graph`. */
PyObject *graph_of(PyObject *module, PyObject *targets);

/* keep(calls, values): gives calls their values, but those that another thread has computed. */
PyObject *keep(PyObject *module, PyObject *args);

#endif
