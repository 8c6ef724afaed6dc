/* Chains: recorded calls, run together when the value of one is needed. */

#ifndef ANYARRAY_CHAINS_H
#define ANYARRAY_CHAINS_H

#include "recorded.h"

/* Makes what chains need; 0 with an exception. */
int init_chains(void);

/* The ndarray of a recorded call, which is run if it was not: a borrowed reference, or NULL with an exception. */
PyObject *compute(Recorded *recorded);

/* Computes the recorded reduction, if there is one; 0 with an exception. */
int compute_reduction(void);

/* reset_chains(): after a fork. */
PyObject *reset_chains(PyObject *module, PyObject *unused);

#endif
