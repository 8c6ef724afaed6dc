/* The class of recorded calls, and the attribute by which an Array's native array is read. */

#ifndef ANYARRAY_LAZY_H
#define ANYARRAY_LAZY_H

#include "loops.h"

#define MAX_AXES 8    /* of the result of a recorded call */
#define MOST_CALLS 64 /* of a chain, which is run when it has so many */

/* A recorded call of any backend. An Array has it in place of its native array until its value is needed. */
typedef struct lazy {
    PyObject_HEAD
    PyObject *value;                  /* the native array, or NULL as long as it is not computed */
    const Loop *loop;                 /* the function; in NumPy its inner loop */
    PyObject *home;                   /* where it runs, which is never deleted */
    int operand_count;
    PyObject *operands[MAX_OPERANDS]; /* native arrays that nobody writes to before this is computed, or other calls */
    PyObject *code, *globals;         /* where the call was made, and */
    int instruction;                  /* at which instruction */
    int warned;                       /* the floating-point errors that are warned of, as NumPy numbers them */
    int calls;                        /* recorded calls that lead to it, and itself */
    npy_intp group;                   /* of a reduction: elements of its operand that become one, 0 of other calls; */
    int reduction;                    /* which one, as `Call` says */
    PyObject *memory;                 /* a tuple of what has the memory that it reads, of another library with views */
    int ndim, mark, at, readers;      /* the last three while a chain is run */
    npy_intp shape[MAX_AXES], size, nbytes; /* the last of the result, or of what is kept for it */
    struct lazy *previous, *next; /* those that are not computed */
} Lazy;

extern PyTypeObject LazyType, NativeSlotType;

extern Lazy recorded_calls; /* the ring of those that are not computed, */
extern npy_intp recorded_count, recorded_bytes; /* their number, and the sum of their `nbytes` */
extern npy_intp guarded_count;                  /* the number of those that are guarded */
extern Lazy *recorded_reduction;                /* the one reduction among them, or NULL */

/* Makes the classes; 0 with an exception. */
int init_lazy(void);

/* Adds a call to the ring, and takes it out if it is there. */
void enter_ring(Lazy *recorded);
void leave_ring(Lazy *recorded);

/* Gives up what the call reads. */
void release_operands(Lazy *recorded);

/* The file and the line where a call was made, or None. */
PyObject *where_of(const Lazy *lazy);

/* A call that is not in the ring yet, and reads nothing: a new reference, or NULL with an exception. */
Lazy *new_lazy(int ndim, const npy_intp *shape, npy_intp size);

static inline int
is_lazy(PyObject *value)
{
    return Py_TYPE(value) == &LazyType;
}

/* The dtype of its library of a recorded call, or of an ndarray: a new reference. */
PyObject *dtype_of_operand(PyObject *operand);

/* The number of the dtype of a recorded call of NumPy's, or of an ndarray. */
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

/* The native array of an operand: borrowed; NULL if it is a recorded call that is not computed. */
static inline PyObject *
array_of_operand(PyObject *operand)
{
    return is_lazy(operand) ? ((Lazy *)operand)->value : operand;
}

#endif
