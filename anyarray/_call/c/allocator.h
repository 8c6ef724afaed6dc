/* Memory of large results of NumPy. */

#ifndef ANYARRAY_ALLOCATOR_H
#define ANYARRAY_ALLOCATOR_H

#include "call.h"

/* Makes the handler; 0 with an exception. */
int init_allocator(void);

/* Lets NumPy align what it allocates in this context, if a call has a large array.

Returns the handler to pass to `restore_handler` afterwards; NULL, without an exception, if there is nothing to
restore: without such an array, or where the user has set a handler. */
PyObject *set_aligning_handler(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Sets the handler that was there before; steals the reference. An exception that is set stays set. */
void restore_handler(PyObject *before);

#endif
