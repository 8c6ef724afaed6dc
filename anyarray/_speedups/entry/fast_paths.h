/* The fast paths, each with the Python function that it mirrors; `_call.compiled` names them without the prefix. */

#ifndef ANYARRAY_FAST_PATHS_H
#define ANYARRAY_FAST_PATHS_H

#include "call.h"

/* functions.c */
FastPath fast_function, call_eagerly;   /* `_call.slow_path.call` */
FastPath fast_join;                     /* `_call.slow_path.call` */

/* operators.c */
FastPath fast_inplace;                  /* `_array.assignment.in_place_operators` */
FastPath fast_ufunc;                    /* `_array.array.Array.__array_ufunc__` */

/* indexing.c */
FastPath fast_getitem;                  /* `_array.array.Array.__getitem__` */

/* assignment.c */
FastPath fast_setitem;                  /* `_array.array.Array.__setitem__` */

/* iteration.c */
FastPath fast_iter;                     /* `_array.array.Array.__iter__` */

/* views.c */
FastPath fast_transpose;                /* `_array.array.Array.mT` */
FastPath fast_reshape;                  /* `_array.array.Array.reshape` */
FastPath fast_ravel;                    /* `_array.array.Array.ravel` */
FastPath fast_array;                    /* `_array.array.Array.__array__` */

/* creation.c */
FastPath fast_fill;                     /* `standard.creation.full` */
FastPath fast_fill_like;                /* `standard.creation.full_like` */
FastPath fast_arange;                   /* `standard.creation.arange` */

/* conversion.c */
FastPath fast_asarray;                  /* `standard.creation.asarray` */
FastPath fast_from_dlpack;              /* `standard.creation.from_dlpack` */
FastPath fast_astype;                   /* `standard.data_types.astype` */
FastPath fast_copy;                     /* `_array.array.Array.__copy__` */

/* attributes.c */
FastPath fast_shape;                    /* `_array.array.Array.shape` */
FastPath fast_ndim;                     /* `_array.array.Array.ndim` */
FastPath fast_size;                     /* `_array.array.Array.size` */
FastPath fast_len;                      /* `_array.array.Array.__len__` */
FastPath fast_dtype;                    /* `_array.array.Array.dtype` */

/* numpy_function.c */
FastPath fast_numpy_function;                   /* `_call.compiled.with_numpy_function` */

/* dtypes.c */
FastPath fast_result_type;              /* `standard.data_types.result_type` */

/* scalars.c */
FastPath fast_bool;                     /* `_array.array.Array.__bool__` */
FastPath fast_int;                      /* `_array.array.Array.__int__` */
FastPath fast_float;                    /* `_array.array.Array.__float__` */
FastPath fast_index;                    /* `_array.array.Array.__index__` */
FastPath fast_item;                     /* `_array.array.Array.item` */
FastPath fast_hash;                     /* `_array.array.Array.__hash__` */

/* iteration.c: the iterator over an Array in NumPy */
extern PyTypeObject ArrayIteratorType;

/* numpy_function.c: an object called as its Call; the base class of `anyarray.numpy.ufunc` */
extern PyTypeObject CalledType;

#endif
