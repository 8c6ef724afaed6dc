/* The C API of Python and NumPy, which every file includes.

module.c defines IMPORTS_NUMPY and imports NumPy's function table; the other files share it. */

#ifndef ANYARRAY_NUMPY_API_H
#define ANYARRAY_NUMPY_API_H

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL anyarray_speedups
#ifndef IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <Python.h>
#include <numpy/arrayobject.h>

#ifdef __GNUC__
#pragma GCC visibility push(hidden) /* avoids clashes with symbols of other libraries */
#endif

#ifdef Py_GIL_DISABLED
#error "the slots of Arrays are read under the GIL"
#endif

#endif
