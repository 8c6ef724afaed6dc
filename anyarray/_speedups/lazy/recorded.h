/* The class of recorded calls, and the attribute by which an Array's native array is read. */

#ifndef ANYARRAY_RECORDED_H
#define ANYARRAY_RECORDED_H

#include "loops.h"

#define MAX_AXES 8    /* of the result of a recorded call */
#define MOST_CALLS 64 /* of a chain, which is run when it has so many */

/* A recorded call. An Array in NumPy has it in place of its ndarray until its value is needed. */
typedef struct recorded {
    PyObject_HEAD
    PyObject *value;                  /* the ndarray, or NULL as long as it is not computed */
    const Loop *loop;
    PyObject *operands[MAX_OPERANDS]; /* ndarrays that nobody writes to before this is computed, or recorded calls */
    PyObject *code, *globals;         /* where the call was made, and */
    int instruction;                  /* at which instruction */
    int warned;                       /* the floating-point errors that are warned of, as NumPy numbers them */
    int calls;                        /* recorded calls that lead to it, and itself */
    npy_intp group;                   /* of a reduction: elements of its operand that become one, 0 of other calls; */
    int reduction;                    /* which one, as `Call` says */
    char is_decided;                  /* whether another backend may do it faster, or a call that leads to it */
    int ndim, mark, at, readers;      /* the last three while a chain is run */
    npy_intp shape[MAX_AXES], size, nbytes; /* the last of the result, or of what is kept for it */
    struct recorded *previous, *next; /* those that are not computed */
} Recorded;

extern PyTypeObject RecordedType, NativeSlotType;

extern Recorded recorded_calls; /* the ring of those that are not computed, */
extern npy_intp recorded_count, recorded_bytes; /* their number, and the sum of their `nbytes` */
extern Recorded *recorded_reduction;            /* the one reduction among them, or NULL */

/* Makes the classes; 0 with an exception. */
int init_recorded(void);

/* Adds a call to the ring, and takes it out if it is there. */
void enter_ring(Recorded *recorded);
void leave_ring(Recorded *recorded);

/* Gives up what the call reads. */
void release_operands(Recorded *recorded);

static inline int
is_recorded(PyObject *value)
{
    return Py_TYPE(value) == &RecordedType;
}

/* The number of the dtype of a recorded call, or of an ndarray. */
static inline int
typenum_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->loop->types[((Recorded *)operand)->loop->operand_count]
                                : PyArray_TYPE((PyArrayObject *)operand);
}

static inline int
ndim_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->ndim : PyArray_NDIM((PyArrayObject *)operand);
}

static inline const npy_intp *
shape_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->shape : PyArray_DIMS((PyArrayObject *)operand);
}

static inline npy_intp
size_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->size : PyArray_SIZE((PyArrayObject *)operand);
}

/* The ndarray of an operand: borrowed; NULL if it is a recorded call that is not computed. */
static inline PyObject *
ndarray_of_operand(PyObject *operand)
{
    return is_recorded(operand) ? ((Recorded *)operand)->value : operand;
}

#endif
