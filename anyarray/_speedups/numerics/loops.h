/* Inner loops of ufuncs, and of steps of chains that have no ufunc. */

#ifndef ANYARRAY_LOOPS_H
#define ANYARRAY_LOOPS_H

#include "numpy_api.h"

#define MAX_OPERANDS 3 /* of a loop */

typedef void (*LoopFunction)(char **args, const npy_intp *dimensions, const npy_intp *strides, void *data);

/* The inner loop of a function for some dtypes. */
typedef struct {
    const char *name; /* of the ufunc, or "where" or "cast" */
    LoopFunction function; /* NULL for "where" and "cast" */
    void *data;
    int operand_count;
    int is_correctly_rounded; /* whether results are independent of strides */
    int types[MAX_OPERANDS + 1]; /* type numbers of the operands, and of the result */
    PyObject *dtype;     /* of the result, for libraries other than NumPy */
    PyObject *ours;      /* the interned name of the package's function; NULL for a cast */
    unsigned char *reports; /* times that it was reported, by `size_class`; NULL for a cast */
} Loop;

#define SIZE_CLASSES 21

/* Returns the class of a size; sizes of a class are within a factor of 8. */
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

/* Imports the C API of ufuncs. Returns 0 with an exception on failure. */
int import_ufuncs(void);

/* Calls a function with the arguments of a vectorcall; for a ufunc, its inner loop if that gives the same. Returns a
new reference; NULL with an exception. */
PyObject *call_or_loop(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* Finds the loop of a ufunc with exactly the type numbers in `loop`. Returns 0 without an exception if there is none.
*/
int find_exact_loop(PyObject *ufunc, Loop *loop);

/* Returns a new ufunc of two operands, which keeps pointers to all arguments; NULL with an exception. `types` has three
type numbers for each loop. */
PyObject *new_ufunc(const char *name, LoopFunction *functions, void **data, const char *types, int count);

/* Returns and clears the floating-point errors of this thread, by NumPy's numbers. Needs no GIL. */
int take_floating_errors(void);

#endif
