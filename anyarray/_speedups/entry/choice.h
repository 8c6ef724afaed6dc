/* Where a call runs: what can be said of it without the cost model. */

#ifndef ANYARRAY_CHOICE_H
#define ANYARRAY_CHOICE_H

#include "call.h"
#include "config.h"

/* Whether a call of Arrays on `home` runs there, or may. `by_size` becomes 1 if that holds for few elements
only. */
int runs_at_home(PyObject *home, int *by_size);

/* A borrowed reference to the home of what a creation function without `device` makes: NULL if Python must look. */
PyObject *creation_home(void);

/* Whether that is NumPy's. */
int creates_in_numpy(void);

/* A field of a Limit, by its offset; 0 if it is no integer. */
npy_intp limit_at(PyObject *limit, Py_ssize_t offset);

/* The elements of a result from which on a call of an elementwise function in NumPy is not recorded, to be run later: 0 if
none is; under the automatic choice those from which on another backend may be faster. */
npy_intp recorded_below(PyObject *limit);

/* Whether decisions are recorded, as inside `explain()`. */
int decisions_are_recorded(void);

/* Whether calls of elementwise functions are recorded on other backends, too. */
int is_fused(void);

/* Whether a decision of the cost model is cached by which a call of Arrays that all live on `home` runs there. */
int is_decided_at_home(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives);

#endif
