/* Huge pages for malloc's heap. */

#ifndef ANYARRAY_PAGES_H
#define ANYARRAY_PAGES_H

#include "numpy_api.h"

/* Lets what is next taken from the end of malloc's heap be in huge pages, if they are wanted and it is not yet so.

To fault in a page of 4 KiB takes 0.5 to 2.5 us, as long as to write it several times. NumPy asks for huge pages for arrays
of 4 MiB or more; smaller ones, and what a function of LAPACK or of the FFT takes for itself, came in small pages.
Source: madvise(2), MADV_HUGEPAGE. */
void use_huge_pages(void);

/* want_huge_pages(): from now on they are wanted. */
PyObject *want_huge_pages(PyObject *module, PyObject *args);

#endif
