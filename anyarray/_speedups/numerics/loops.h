/* The inner loops of NumPy's ufuncs. */

#ifndef ANYARRAY_LOOPS_H
#define ANYARRAY_LOOPS_H

#include "numpy_api.h"

#define MAX_OPERANDS 3 /* of a Loop */

typedef void (*LoopFunction)(char **args, const npy_intp *dimensions, const npy_intp *strides, void *data);

/* The inner loop of a ufunc for operands of some dtypes, or what stands for one. */
typedef struct {
    const char *name; /* of the ufunc; "where", or "cast" */
    LoopFunction function; /* NULL for these */
    void *data;
    int operand_count;
    int is_correctly_rounded; /* so that its results do not depend on how the operands lie in memory */
    int types[MAX_OPERANDS + 1]; /* numbers of dtypes: of what it reads, and of what it gives */
    PyObject *dtype;     /* of the result, on another home than NumPy's */
    PyObject *ours;      /* the name of the function of ours that it is for: interned; NULL of a cast */
    unsigned char *reports; /* how often the time of a chain with it was reported, by `size_class`; NULL of a cast */
} Loop;

#define SIZE_CLASSES 21

/* A class of sizes, within a factor of 8. */
static inline int
size_class(npy_intp size)
{
    int found = 0;
    while (size >= 8) {
        size /= 8;
        found++;
    }
    return found;
}

/* Imports the C API of ufuncs; 0 with an exception. */
int import_ufuncs(void);

/* Calls a function of NumPy with the arguments of a vectorcall; the inner loop of a ufunc, where that gives the
same. */
PyObject *call_or_loop(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* Finds the loop of a ufunc for the dtypes that `loop` tells; 0 without an exception if it has none of its own for
them. */
int find_exact_loop(PyObject *ufunc, Loop *loop);

/* A ufunc of two operands; what it gets must stay. `types` are the numbers of three dtypes for each loop. */
PyObject *new_ufunc(const char *name, LoopFunction *functions, void **data, const char *types, int count);

/* The floating-point errors in this thread since it asked last, as NumPy numbers them. Needs no GIL. */
int take_floating_errors(void);

#endif
