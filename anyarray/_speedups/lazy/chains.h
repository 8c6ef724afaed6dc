/* Chains: recorded calls, run together when the value of one is needed. */

#ifndef ANYARRAY_CHAINS_H
#define ANYARRAY_CHAINS_H

#include "recorded.h"

/* Makes what chains need; 0 with an exception. */
int init_chains(void);

/* The calls of a chain, in an order in which each comes after those that it reads, and what they read. */
typedef struct {
    Recorded **calls;
    PyObject **arrays; /* ndarrays */
    int call_count, array_count, capacity;
} Gathered;

/* Gathers the calls that lead to one, whose operands of other shapes are computed: each has its index in `at`, and in
`readers` how many of the others read it. Returns 0 if memory ran out. What was gathered is to be freed then, too. */
int gather_calls(Recorded *target, Gathered *gathered);
void free_gathered(Gathered *gathered);

/* Takes the lock that is held while a chain is run in NumPy and its values are kept, and gives it back. */
void lock_chains(void);
void unlock_chains(void);

/* The ndarray of a recorded call, which is run if it was not: a borrowed reference, or NULL with an exception. */
PyObject *compute(Recorded *recorded);

/* Marks the calls that lead to one, and itself, by a number. */
int mark_calls(Recorded *recorded);

/* Runs a recorded call, with the result written to `into`, an ndarray of its shape and dtype: it stays recorded then. No
call reads other elements of that memory (`compute_readers`). Returns 0,
perhaps with an exception, if nothing was written; with a warning that is an exception it was. */
int compute_into(Recorded *recorded, PyObject *into);

/* Computes the recorded reduction, if there is one; 0 with an exception. */
int compute_reduction(void);

/* reset_chains(): after a fork. */
PyObject *reset_chains(PyObject *module, PyObject *unused);

#endif
