/* Chains: calls of elementwise functions of many elements that are recorded, and run together when their values are
needed. */

#ifndef ANYARRAY_CHAINS_H
#define ANYARRAY_CHAINS_H

#include "call.h"
#include "loops.h"

#define MAX_AXES 8 /* of the result of a recorded call */

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
    int ndim, mark, at, readers;      /* the last three while a chain is run */
    npy_intp shape[MAX_AXES], size, nbytes; /* the last of the result, or of what is kept for it */
    struct recorded *previous, *next; /* those that are not computed */
} Recorded;

extern PyTypeObject RecordedType, NativeSlotType;

/* Makes what chains need; 0 with an exception. */
int init_chains(void);

/* The Array that a call of an elementwise function of many elements gives, recorded: a new reference. NULL, perhaps with
an exception, if the call is to be run. `values` are in the order of the parameters. */
PyObject *record_call(Call *call, PyObject *const *values);

/* Whether a value is an Array in NumPy of many elements, or one that is recorded. */
int is_worth_recording(PyObject *value);

/* The same for `x.astype(dtype)`; steals the reference to the dtype. */
PyObject *record_cast(Call *call, PyObject *array, PyArray_Descr *dtype);

/* The same for an operator in place, of an Array that is recorded itself. */
PyObject *record_inplace(Call *call, PyObject *const *values);

/* The ndarray of a recorded call, which is run if it was not: a borrowed reference, or NULL with an exception. */
PyObject *compute(Recorded *recorded);

/* Runs the recorded calls that read the memory of an ndarray, as before a write to it; 0 with an exception. */
int compute_readers(PyObject *native);

/* The same, and no call that reads this memory is recorded from now on, as somebody outside may write to it. */
int expose(PyObject *native);

/* expose(native), for Python. */
PyObject *exposed(PyObject *module, PyObject *native);

/* record_from(elements): calls with fewer elements run at once from now on; gives what held before. For tests. */
PyObject *record_from(PyObject *module, PyObject *elements);

/* reset_chains(): after a fork. */
PyObject *reset_chains(PyObject *module, PyObject *unused);

#endif
