/* Where a call runs, as far as this needs no cost model. */

#ifndef ANYARRAY_CHOICE_H
#define ANYARRAY_CHOICE_H

#include "call.h"
#include "config.h"

/* Whether a call of Arrays on `home` runs there. Otherwise sets `*by_size` to 1 if it does so for few elements. */
int runs_at_home(PyObject *home, int *by_size);

/* Returns a borrowed reference to the home of new Arrays if no `device` is given; NULL without an exception if Python
must find it. */
PyObject *creation_home(void);

/* Returns a field of a Limit, by its offset; 0 if it is not an int. */
npy_intp limit_at(PyObject *limit, Py_ssize_t offset);

/* Returns the number of elements up to which an elementwise call in NumPy may be recorded, by the current Choice; 0 if
none is. Under the automatic choice, larger calls may run on another backend. */
npy_intp recorded_below(PyObject *limit);

/* Whether decisions are recorded, for example by `explain()`. */
int decisions_are_recorded(void);

/* Whether elementwise calls are recorded on backends other than NumPy, too. */
int is_fused(void);

/* Whether a cached decision says that a call of Arrays on `home` runs there. */
int is_decided_at_home(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives);

#endif
