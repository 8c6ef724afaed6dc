/* NumPy's allocator, aligned while a call has a large array. */

#ifndef ANYARRAY_ALLOCATOR_H
#define ANYARRAY_ALLOCATOR_H

#include "call.h"

#define LARGE_NBYTES (1 << 20) /* of a large array */

/* Prepares the handler; 0 with an exception. */
int init_allocator(void);

/* Lets what is next taken from the end of malloc's heap be in huge pages, unless that is so.

To fault in a page of 4 KiB takes 0.5 to 2.5 us, as long as to write it several times. NumPy asks for huge pages for arrays
of 4 MiB or more, as long as NUMPY_MADVISE_HUGEPAGE is not 0; smaller ones, and what a function of LAPACK or of the FFT takes
for itself, came in small pages. Source: madvise(2), MADV_HUGEPAGE. */
void use_huge_pages(void);

/* use_huge_pages(): the same for Python. */
PyObject *huge_pages_used(PyObject *module, PyObject *args);

/* Lets NumPy align what it allocates in this context, if a call has a large Array and may make another one.

Returns the handler to be restored, a new reference, or NULL without an exception if there is none. */
PyObject *align_allocations(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Lets NumPy align what it allocates in this context. Returns as `align_allocations`. */
PyObject *set_allocator(void);

/* Sets the handler that was there before, and steals the reference. An exception stays as it is. */
void restore_allocator(PyObject *handler);

/* free_kept(): gives the blocks that are kept for the next arrays back to the system. */
PyObject *free_kept(PyObject *module, PyObject *ignored);

#endif
