/* What a recorded call reads of its arguments. */

#ifndef ANYARRAY_OPERANDS_H
#define ANYARRAY_OPERANDS_H

#include "call.h"
#include "lazy.h"

#define MOST_BYTES ((npy_intp)1 << 30) /* of the results that are not computed, or of what they keep if that is more */

/* What a recorded call reads of an argument. */
typedef struct {
    PyObject *array; /* the Array, borrowed; NULL of a number */
    PyObject *value; /* its native array or its recorded call: a new reference */
    PyObject *dtype; /* of its library: a new reference */
    int ndim;
    const npy_intp *shape;
    npy_intp lengths[MAX_AXES]; /* the memory of `shape`, on another home than NumPy's */
} Operand;

/* Reads an Array as an operand, with NumPy what it takes as one element; 0, perhaps with an exception, if the call must
run at once. */
int read_operand(PyObject *home, PyObject *array, Operand *operand);

/* Reads the arguments as operands, in the order of the native function's; 0, perhaps with an exception, if the call must
run at once. `name` becomes that of a function that replaces a power. */
int read_operands(Call *call, PyObject *home, PyObject *const *values, Operand *operands, PyObject **name);

/* Sets dtype and shape of an operand from its value; 0, perhaps with an exception, if they are not known. */
int describe(PyObject *home, Operand *operand);

int has_shape_of_operand(const Operand *one, const Operand *other);

/* The shape to which the operands broadcast, and its size; -1 if they do not, or if the call must run at once, as its
result has no elements or too many. */
int broadcast_operands(const Operand *operands, int count, npy_intp *shape, npy_intp *size);

void clear_operands(Operand *operands, int count);

#endif
