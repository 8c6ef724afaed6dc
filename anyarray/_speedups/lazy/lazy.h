/* The class Lazy of recorded calls, and Array's descriptor `_native`. */

#ifndef ANYARRAY_LAZY_H
#define ANYARRAY_LAZY_H

#include "loops.h"

#define MAX_AXES 8   /* of the result */
#define MAX_CALLS 64 /* of a chain, which is computed when it has so many */

/* A recorded call of any backend; an Array has it in place of its native array. */
typedef struct lazy {
    PyObject_HEAD
    PyObject *value;                  /* the native array, or NULL before it is computed */
    const Loop *loop;                 /* of the function; on NumPy an inner loop */
    PyObject *home;                   /* borrowed: homes are never deleted */
    int operand_count;
    PyObject *operands[MAX_OPERANDS]; /* native arrays, protected from writes, or other recorded calls */
    PyObject *code, *globals;         /* where the call was made: its code, */
    int instruction;                  /* and the bytecode offset */
    int warned;                       /* floating-point errors to warn of, by NumPy's numbers */
    int calls;                        /* the recorded calls that lead to it, and itself */
    npy_intp group;                   /* of a reduction: elements reduced to one; 0 for other calls */
    int reduction;                    /* its kind, as in Call */
    PyObject *memory;                 /* for other libraries with views: a tuple of the owners of what it reads */
    int ndim, mark, at, readers;      /* the last three are set by graph.c */
    npy_intp shape[MAX_AXES], size, nbytes; /* the last of the result, or of the operands it keeps alive if more */
    struct lazy *previous, *next; /* in the ring of recorded calls */
} Lazy;

extern PyTypeObject LazyType, NativeSlotType;

extern Lazy recorded_calls; /* the ring, */
extern npy_intp recorded_count, recorded_bytes; /* its length, and the sum of `nbytes` */
extern npy_intp guarded_count;                  /* calls in it with `memory` */
extern Lazy *recorded_reduction;                /* the one reduction in it, or NULL */

/* Readies the types. Returns 0 with an exception on failure. */
int init_lazy(void);

/* Inserts a call into the ring, and removes it unless it was removed. */
void insert_into_ring(Lazy *recorded);
void remove_from_ring(Lazy *recorded);

/* Releases the operands. */
void release_operands(Lazy *recorded);

/* Returns a new reference to the file and line where a call was made, or None; NULL with an exception. */
PyObject *location_of(const Lazy *lazy);

/* Returns a new Lazy of a loop, without its operands and not in the ring; NULL with an exception. */
Lazy *new_lazy(const Loop *loop, PyObject *home, int operand_count, int ndim, const npy_intp *shape, npy_intp size);

static inline int
is_lazy(PyObject *value)
{
    return Py_TYPE(value) == &LazyType;
}

/* Returns a new reference to the native dtype of a recorded call or an ndarray. */
PyObject *dtype_of_operand(PyObject *operand);

/* The type number of a recorded call on NumPy or an ndarray. */
static inline int
typenum_of_operand(PyObject *operand)
{
    return is_lazy(operand) ? ((Lazy *)operand)->loop->types[((Lazy *)operand)->operand_count]
                                : PyArray_TYPE((PyArrayObject *)operand);
}

static inline int
ndim_of_operand(PyObject *operand)
{
    return is_lazy(operand) ? ((Lazy *)operand)->ndim : PyArray_NDIM((PyArrayObject *)operand);
}

static inline const npy_intp *
shape_of_operand(PyObject *operand)
{
    return is_lazy(operand) ? ((Lazy *)operand)->shape : PyArray_DIMS((PyArrayObject *)operand);
}

static inline npy_intp
size_of_operand(PyObject *operand)
{
    return is_lazy(operand) ? ((Lazy *)operand)->size : PyArray_SIZE((PyArrayObject *)operand);
}

static inline int
has_shape_of(PyObject *operand, PyObject *other)
{
    int ndim = ndim_of_operand(operand);
    return ndim == ndim_of_operand(other) && PyArray_CompareLists(shape_of_operand(operand), shape_of_operand(other), ndim);
}

/* Returns a borrowed reference to the native array of an operand; NULL for a recorded call that is not computed. */
static inline PyObject *
array_of_operand(PyObject *operand)
{
    return is_lazy(operand) ? ((Lazy *)operand)->value : operand;
}

#endif
