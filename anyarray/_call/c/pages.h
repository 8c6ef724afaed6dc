/* The pages of memory that arrays are made in: huge ones, and those of arrays before. */

#ifndef ANYARRAY_PAGES_H
#define ANYARRAY_PAGES_H

#include "numpy_api.h"

/* Lets what is next taken from the end of malloc's heap be in huge pages, unless that is so.

To fault in a page of 4 KiB takes 0.5 to 2.5 us, as long as to write it several times. NumPy asks for huge pages for arrays
of 4 MiB or more, as long as NUMPY_MADVISE_HUGEPAGE is not 0; smaller ones, and what a function of LAPACK or of the FFT takes
for itself, came in small pages. Source: madvise(2), MADV_HUGEPAGE. */
void use_huge_pages(void);

/* use_huge_pages(): the same for Python. */
PyObject *huge_pages_used(PyObject *module, PyObject *args);

/* Keeps a block that is to be freed, for another array; 0 if it must be freed. */
int keep_block(char *block, size_t nbytes);

/* A block that was kept, of so many bytes or little more; sets the number. NULL without one. */
char *take_kept(size_t *nbytes);

/* Frees a block as NumPy's own allocator does (`allocator.c`). */
void free_block(char *block, size_t nbytes);

/* free_kept(): gives the blocks that are kept back to the system. */
PyObject *free_kept(PyObject *module, PyObject *ignored);

#endif
