/* The compiled paths, by the names that `_call.compiled` calls them. */

#ifndef ANYARRAY_FAST_PATHS_H
#define ANYARRAY_FAST_PATHS_H

#include "call.h"

/* An operator of scalars alone, before all else: functions.c. */
PyObject *operate_on_scalars(Call *call, PyObject *const *args, Py_ssize_t nargs);

FastPath fast_function, fast_join, call_at_once;                   /* functions.c */
FastPath fast_inplace, fast_divmod, fast_ufunc;                    /* operators.c */
FastPath fast_getitem;                                             /* indexing.c */
FastPath fast_setitem;                                             /* assignment.c */
FastPath fast_iter;                                                /* iteration.c */
FastPath fast_transpose, fast_reshape, fast_ravel, fast_array;     /* views.c */
FastPath fast_fill, fast_fill_like, fast_arange;                   /* creation.c */
FastPath fast_asarray, fast_from_dlpack, fast_astype, fast_copy;   /* conversion.c */
FastPath fast_shape, fast_ndim, fast_size, fast_len, fast_dtype, fast_format; /* attributes.c */
FastPath fast_theirs;                                              /* theirs.c */
FastPath fast_result_type;                                         /* dtypes.c */
FastPath fast_bool, fast_int, fast_float, fast_index, fast_item, fast_hash, fast_complex; /* scalars.c */

#endif
