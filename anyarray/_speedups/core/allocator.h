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

/* pages.c. Asks the system for huge pages for the memory that malloc's heap grows by next, if they are wanted and this was
not done since it grew last.

A page fault of 4 KiB takes 0.5 to 2.5 us, as long as writing the page several times. NumPy asks for huge pages for arrays
of 4 MiB or more; this is for smaller arrays and for the work arrays of LAPACK and the FFT. Without it the programs
fft_filter, kmeans and pca of `benchmarks.programs` take 1.3 to 1.5 times as long.
Source: madvise(2), MADV_HUGEPAGE. */
void use_huge_pages(void);

/* pages.c. want_huge_pages(): from now on they are wanted. */
PyObject *want_huge_pages(PyObject *module, PyObject *args);

#endif
