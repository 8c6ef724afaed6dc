/* The aligning NumPy memory handler, and huge pages for malloc's heap. */

#ifndef ANYARRAY_ALLOCATOR_H
#define ANYARRAY_ALLOCATOR_H

#include "call.h"

#define LARGE_NBYTES (1 << 20) /* of a large array */

/* Creates the capsule of the handler. Returns 0 with an exception on failure. */
int init_allocator(void);

/* Sets the handler in this context if an argument is a large Array and the call may allocate.

Returns a new reference to the previous handler, for `restore_allocator`; NULL without an exception if nothing was set.
*/
PyObject *align_allocations(Call *call, PyObject *const *args, Py_ssize_t nargs);

/* Sets the handler in this context. Returns the same as `align_allocations`. */
PyObject *set_allocator(void);

/* Restores the previous handler and steals the reference. A pending exception stays set. */
void restore_allocator(PyObject *handler);

/* pages.c. Asks the system for huge pages where malloc's heap grows next. Does nothing unless huge pages are wanted and
the heap has grown since the last call.

A page fault of 4 KiB takes 0.5 to 2.5 us, as long as writing the page several times. NumPy asks for huge pages for
arrays of 4 MiB or more; this is for smaller arrays and for the work arrays of LAPACK and the FFT. Without it, the
programs fft_filter, kmeans and pca of `benchmarks.programs` take 1.3 to 1.5 times as long. Source: madvise(2),
MADV_HUGEPAGE. */
void use_huge_pages(void);

/* pages.c. want_huge_pages(): turns `use_huge_pages` on. */
PyObject *want_huge_pages(PyObject *module, PyObject *args);

#endif
