/* Calls of elementwise functions of many elements are recorded, to be run later with others. */

#ifndef ANYARRAY_RECORDING_H
#define ANYARRAY_RECORDING_H

#include "call.h"
#include "lazy.h"

/* The Array that a call of an elementwise function of many elements gives, recorded: a new reference. NULL, perhaps with
an exception, if the call is to be run. `values` are in the order of the parameters. */
PyObject *record_call(Call *call, PyObject *const *values);

/* The same for a reduction of an Array that is recorded in NumPy. The arguments are those of a vectorcall. */
PyObject *record_reduction(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* The same for `x.astype(dtype)`, of these two arguments. */
PyObject *record_cast(Call *call, PyObject *const *args);

/* The same for an operator in place. The call is recorded if that of the Array is, or else written to its memory. */
PyObject *record_inplace(Call *call, PyObject *const *values);

/* Writes a recorded Array that nobody else has to a part of an ndarray, by a basic key: 1 if it did; 0, perhaps with an
exception, if it did not. */
int write_recorded(PyObject *native, PyObject *key, PyObject *value);

/* Whether a value is an Array in NumPy of many elements, or one that is recorded. */
int is_worth_recording(PyObject *value);

/* The recorded call of a function: a new reference. NULL, perhaps with an exception, if it is to be run. */
PyObject *recorded_of(Call *call, PyObject *const *values);

/* A call that is not in the ring yet, and reads nothing: a new reference, or NULL with an exception. */
Lazy *new_call_of(const Loop *loop, PyObject *home, int count, int ndim, const npy_intp *shape, npy_intp size);

/* Notes where a call is made, and puts it into the ring: the reference that was given, or NULL with an exception. */
PyObject *enter(Lazy *recorded);

/* Whether a recorded call, which is not computed, gives the shape and the dtype of a native array or another call. */
int is_like(const Lazy *recorded, PyObject *native);

/* NULL, without the exception if it is one of memory, as one call at a time needs less, or one that the call raises
again. What is raised while a chain is run, as warnings may be, stays. */
PyObject *run_at_once(void);

/* The recorded call of an Array that is not computed: borrowed; NULL for any other value. */
Lazy *pending_of(PyObject *value);

/* record_from(elements): calls with fewer elements run at once from now on; gives what held before. For tests. */
PyObject *record_from(PyObject *module, PyObject *elements);

#endif
