/* Chains: recorded calls, run together when the value of one is needed. */

#ifndef ANYARRAY_CHAINS_H
#define ANYARRAY_CHAINS_H

#include "lazy.h"

/* Makes what chains need; 0 with an exception. */
int init_chains(void);

/* Takes the lock that is held while a chain is run in NumPy and its values are kept, and gives it back. */
void lock_chains(void);
void unlock_chains(void);

/* The native array of a recorded call, which is run if it was not: borrowed, or NULL with an exception. */
PyObject *compute(Lazy *recorded);

/* Runs a recorded call, with the result written to `into`, an ndarray of its shape and dtype: it stays recorded then. No
call reads other elements of that memory (`compute_readers`). Returns 0,
perhaps with an exception, if nothing was written; with a warning that is an exception it was. */
int compute_into(Lazy *recorded, PyObject *into);

/* Computes the recorded reduction, if there is one; 0 with an exception. */
int compute_reduction(void);

/* reset_chains(): after a fork. */
PyObject *reset_chains(PyObject *module, PyObject *unused);

#endif
