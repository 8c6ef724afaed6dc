/* NumPy's allocator, aligned while a call has a large array. */

#ifndef ANYARRAY_ALLOCATOR_H
#define ANYARRAY_ALLOCATOR_H

#include "call.h"

#define LARGE_NBYTES (1 << 20) /* of a large array */

/* Prepares the handler; 0 with an exception. */
int init_allocator(void);

/* Lets NumPy align what it allocates in this context, if a call has a large Array and may make another one.

Returns the handler to be restored, a new reference, or NULL without an exception if there is none. */
PyObject *align_allocations(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Lets NumPy align what it allocates in this context. Returns as `align_allocations`. */
PyObject *set_allocator(void);

/* Sets the handler that was there before, and steals the reference. An exception stays as it is. */
void restore_allocator(PyObject *handler);

#endif
