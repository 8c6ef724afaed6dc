/* Calls of elementwise functions of many elements are recorded, to be run later with others. */

#ifndef ANYARRAY_RECORDING_H
#define ANYARRAY_RECORDING_H

#include "call.h"

/* lazy_call(home, function, operands, shape, dtype, nbytes, memory): a call that is recorded on another backend than NumPy.
None for more operands or axes than one can have. `memory` is a tuple of the native arrays that have what it reads, or None
of a library without views. */
PyObject *lazy_call(PyObject *module, PyObject *args);

/* The Array that a call of an elementwise function of many elements gives, recorded: a new reference. NULL, perhaps with
an exception, if the call is to be run. `values` are in the order of the parameters. */
PyObject *record_call(Call *call, PyObject *const *values);

/* The same on another backend than NumPy, of so many values. */
PyObject *record_elsewhere(Call *call, PyObject *const *values, Py_ssize_t count);

/* The same for a reduction of an Array that is recorded. The arguments are those of a vectorcall. */
PyObject *record_reduction(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* Whether a value is an Array in NumPy of many elements, or one that is recorded. */
int is_worth_recording(PyObject *value);

/* The same for `x.astype(dtype)`; steals the reference to the dtype. */
PyObject *record_cast(Call *call, PyObject *array, PyArray_Descr *dtype);

/* The same for an operator in place. The call is recorded if that of the Array is, or else written to its memory. */
PyObject *record_inplace(Call *call, PyObject *const *values);

/* Writes a recorded Array that nobody else has to a part of an ndarray, by a basic key: 1 if it did; 0, perhaps with an
exception, if it did not. */
int write_recorded(PyObject *native, PyObject *key, PyObject *value);

/* record_from(elements): calls with fewer elements run at once from now on; gives what held before. For tests. */
PyObject *record_from(PyObject *module, PyObject *elements);

#endif
