/* The arguments of a call that is to be recorded. */

#ifndef ANYARRAY_OPERANDS_H
#define ANYARRAY_OPERANDS_H

#include "call.h"
#include "lazy.h"

#define MAX_RECORDED_NBYTES ((npy_intp)1 << 30) /* of recorded results, and of the memory that they keep alive */

/* An argument. */
typedef struct {
    PyObject *array; /* borrowed; NULL for a number */
    PyObject *value; /* a native array or a recorded call: a reference */
    PyObject *dtype; /* native: a reference */
    int ndim;
    const npy_intp *shape;
    npy_intp lengths[MAX_AXES]; /* the memory of `shape` for libraries other than NumPy */
} Operand;

/* Reads an Array. Returns 0, perhaps with an exception, if the call cannot be recorded. */
int read_operand(PyObject *home, PyObject *array, Operand *operand);

/* Reads all arguments, in the order of the native function. Sets `name` to that of a function that replaces a power.
Returns 0, perhaps with an exception, if the call cannot be recorded. */
int read_operands(Call *call, PyObject *home, PyObject *const *values, Operand *operands, PyObject **name);

/* Sets dtype and shape of an operand from its value. Returns 0, perhaps with an exception, if they are unknown. */
int describe(PyObject *home, Operand *operand);

int has_shape_of_operand(const Operand *one, const Operand *other);

/* Broadcasts the shapes of operands into `shape` and `size`. Returns the number of axes; -1 if the shapes do not match,
or if the result is empty or too large. */
int broadcast_operands(const Operand *operands, int count, npy_intp *shape, npy_intp *size);

void clear_operands(Operand *operands, int count);

#endif
