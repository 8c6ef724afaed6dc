/* Recording of elementwise calls, reductions, casts and writes. */

#ifndef ANYARRAY_RECORDING_H
#define ANYARRAY_RECORDING_H

#include "call.h"
#include "lazy.h"

/* Records a call of an elementwise function, with arguments in the order of the parameters. Returns a new Array; NULL,
perhaps with an exception, if the call must run now. */
PyObject *record_call(Call *call, PyObject *const *values);

/* The same for a reduction of a recorded Array in NumPy, with the arguments of a vectorcall. */
PyObject *record_reduction(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* The same for `x.astype(dtype)`. */
PyObject *record_cast(Call *call, PyObject *const *args);

/* The same for an in-place operator: records it if its left operand is recorded, else runs it into the operand's
memory. */
PyObject *record_inplace(Call *call, PyObject *const *values);

/* Runs a recorded Array that has no other reference into the part of an ndarray that a basic key selects. Returns 1 on
success; 0, perhaps with an exception, if nothing was written. */
int write_recorded(PyObject *native, PyObject *key, PyObject *value);

/* Whether a value is an Array in NumPy of many elements, or a recorded one. */
int is_large_or_recorded(PyObject *value);

/* Records a call of a function. Returns a new Lazy; NULL, perhaps with an exception, if the call must run now. */
PyObject *record_lazy(Call *call, PyObject *const *values);

/* Stores where a call was made and inserts it into the ring. Returns the given reference; NULL with an exception if it
was computed and failed. */
PyObject *insert_recorded(Lazy *recorded);

/* Whether a recorded call has the shape and dtype of a native array or of another call. */
int is_like(const Lazy *recorded, PyObject *native);

/* Returns NULL, so that the call runs now. Clears an exception unless it is a warning: the call raises it again, or
needs less memory. */
PyObject *run_now(void);

/* Returns a borrowed reference to the recorded call of an Array; NULL without an exception if it is computed, or for
other values. */
Lazy *pending_of(PyObject *value);

/* record_from(elements): sets the number of elements from which calls are recorded, and returns the previous one. */
PyObject *record_from(PyObject *module, PyObject *elements);

#endif
