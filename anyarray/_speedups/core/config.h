/* What the package tells the compiled code, once, by `_call.compiled.configure`. */

#ifndef ANYARRAY_CONFIG_H
#define ANYARRAY_CONFIG_H

#include "numpy_api.h"

/* All are references, held as long as the process runs: the module is never unloaded.

An offset is that of a slot in the instances of a Python class; see `get_slot`. */
typedef struct {
    PyTypeObject *array_type; /* NULL until `configure` was called */
    Py_ssize_t native_offset, home_offset, second_offset, view_offset, plain_offset;
    PyTypeObject *home_type; /* `_registry.home.Home` */
    Py_ssize_t backend_offset, constants_offset, dtypes_offset, powers_offset, placed_offset;
    PyTypeObject *backend_type; /* `_registry.registry.Backend` */
    Py_ssize_t free_offset, native_device_offset, native_dtypes_offset;
    PyTypeObject *choice_type; /* `_choice.choice.Choice` */
    Py_ssize_t chosen_offset, fuses_offset, records_offset;
    PyTypeObject *limit_type; /* `_choice.machine.Limit` */
    Py_ssize_t elements_offset, even_offset, product_offset, recorded_offset;
    PyTypeObject *dtype_type; /* `_base.dtypes.DType` */
    Py_ssize_t numpy_dtype_offset;
    PyObject *choice_variable;   /* the ContextVar of the Choice that holds */
    PyObject *by_cost;           /* the backend of a Choice by the cost model */
    PyObject *numpy_home;        /* the home of free Arrays in NumPy */
    PyObject *powers;            /* a dict with the exponents for which another function may stand */
    PyObject *second_copy_sizes; /* `_memory.second_copies.sizes`; not empty if a second copy takes memory */
    PyObject *ufuncs;            /* our functions by NumPy's ufunc */
    PyObject *operand_types;     /* classes of NumPy that may stand for an Array in an operation */
    PyObject *defaults_variable; /* the ContextVar of the default dtypes, */
    PyObject *standard_defaults; /* and its value outside of `default_dtypes` */
    PyObject *unadopted;         /* libraries that were not imported when last looked for, */
    PyObject *are_absent;        /* and whether they still are not: a function of them */
    PyObject *lendable;          /* the second copy of an Array whose memory may be lent */
    PyObject *read_only_view;    /* `_memory.views.READ_ONLY`, the record of a view that is not written */
    PyTypeObject *reordered_type; /* `_memory.views.Reordered`, and a function of that module */
    PyObject *keep_order;
    PyObject *skipped_files;     /* a tuple: how the names of files begin that are none of the user's */
    PyObject *loop_of, *warned_errors, *warn, *ran; /* functions of `_call.chains` */
    PyObject *moved;             /* a function of `_call.moves` */
    PyTypeObject *postponed_type;  /* `_call.postponing.Postponed`, and functions of that module */
    PyObject *put_off, *put_off_inplace, *value_of, *compute_readers;
    PyObject *leaves;            /* a dict of the memory that calls read which are put off there */
    PyObject *error_variable;    /* the ContextVar of what NumPy does on floating-point errors; None if it has none */
    int threads;                 /* that run a chain */
    npy_intp large;              /* elements of a large call: `_choice.machine.LARGE` */
    npy_intp few;                /* elements up to which a shortcut gives the same: `backends._shortcut.FEW` */
    npy_intp small_nbytes;       /* below which memory need not be aligned: `_memory.alignment.SMALL` */
    npy_intp modest_nbytes;      /* below which a copy is made without asking: `_memory.alignment.MODEST` */
} Config;

extern Config config;

/* Interned strings, and two integers. */
typedef struct {
    PyObject *dtype_of, *dtype, *copy, *shortcut, *direct, *requires_grad, *written, *is_in_place, *getitem, *ndim;
    PyObject *shape_of, *matrix_transpose;
    PyObject *zero, *zero_float, *square, *multiply, *axis, *keepdims;
    PyObject *one, *none;         /* the integers 1 and 0 */
    PyObject *dtype_and_device;   /* a tuple of these names */
} Constants;

extern Constants constants;

/* Makes the constants; 0 with an exception. */
int init_constants(void);

PyObject *configure(PyObject *module, PyObject *args, PyObject *kwargs);

/* A borrowed reference to the value of a slot, NULL if it has none. */
static inline PyObject *
get_slot(PyObject *object, Py_ssize_t offset)
{
    return *(PyObject **)((char *)object + offset);
}

/* Sets a slot; steals the reference to the value. What the slot held is returned: the caller has that reference
now. */
static inline PyObject *
swap_slot(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    PyObject **slot = (PyObject **)((char *)object + offset), *before = *slot;
    *slot = value;
    return before;
}

#endif
