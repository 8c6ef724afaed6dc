/* Computation of recorded calls. */

#ifndef ANYARRAY_CHAINS_H
#define ANYARRAY_CHAINS_H

#include "lazy.h"

/* Creates the locks. Returns 0 with an exception on failure. */
int init_chains(void);

/* The lock that is held while a chain runs and its values are stored. */
void lock_chains(void);
void unlock_chains(void);

/* Computes a recorded call. Returns a borrowed reference to its native array; NULL with an exception. */
PyObject *compute(Lazy *recorded);

/* Computes a recorded call into `into`, an ndarray of its shape and dtype; the call stays recorded. No other call may
read that memory (`compute_readers`). Returns 0, perhaps with an exception, if nothing was written, or with a warning
raised as an exception. */
int compute_into(Lazy *recorded, PyObject *into);

/* Computes the recorded reduction, if there is one. Returns 0 with an exception on failure. */
int compute_reduction(void);

/* reset_chains(): replaces the locks after a fork. */
PyObject *reset_chains(PyObject *module, PyObject *unused);

#endif
