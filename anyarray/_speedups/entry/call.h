/* The class Call: a declared function, or a method of Array, with a compiled fast path before its Python
function. */

#ifndef ANYARRAY_CALL_H
#define ANYARRAY_CALL_H

#include "loops.h"

#define MAX_PARAMETERS 8 /* functions of more have no fast path */

/* The role of a parameter; see `_call.declaration`. */
enum { ARRAY = 1, WEAK = 2, SEQUENCE = 3, PLAIN = 4 };

/* Reductions: to one of the elements, to their sum, to their mean. */
enum { SELECTS = 1, ADDS = 2, AVERAGES = 3 };

/* What a parameter takes that is no array: flags. */
enum {
    TAKES_NONE = 1,
    TAKES_INTEGER = 2,
    TAKES_INTEGERS = 4, /* a tuple of them */
    TAKES_BOOL = 8,
    TAKES_REAL = 16, /* an int or a float */
    TAKES_SCALAR = 32,
    TAKES_CHOICE = 64, /* one of some strings */
    TAKES_ANYTHING = 128,
};

typedef struct {
    PyObject *name;
    PyObject *default_value; /* or NULL */
    PyObject *choices;       /* a tuple of strings */
    int role;
    int takes;
    int beside; /* the index of the array parameter whose dtype a Python scalar takes */
} Parameter;

/* An operator of Python: of these one, or `comparison`. */
typedef struct {
    const char *name; /* of the function */
    unaryfunc unary;
    binaryfunc binary;
    int comparison;
} Operator;

struct call;

/* The compiled path of a call, with the arguments of a vectorcall.

Returns a new reference; NULL with an exception, or NULL without one if the Python function is to be called. */
typedef PyObject *FastPath(struct call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* A loop that was found for operands of some dtypes. */
typedef struct known_loop {
    PyObject *name, *home;          /* of the function, and where it runs */
    PyObject *dtypes[MAX_OPERANDS]; /* of the operands; NULL for none */
    Loop loop;               /* of no operands if there is none */
    unsigned char reports[SIZE_CLASSES];
    struct known_loop *next;
} KnownLoop;

/* What `backends._shortcut.directly` says of a native function. */
typedef struct {
    PyObject *of;       /* the native function */
    PyObject *function; /* the library's own, or NULL if it has none */
    PyObject *type, *dtypes, *guard, *options;
    int is_guarded;
    PyObject *latest;                /* of `dtypes` the one that was there last, a borrowed reference */
    PyObject *home;                  /* of the last call of so many Arrays alone that came to the library's function, */
    Py_ssize_t count;                /* or NULL: homes are never deleted */
} Direct;

/* What `backends._shortcut` says of a native function of NumPy. */
typedef struct {
    PyObject *of, *function;         /* the native function, and its shortcut; NULL if it has none */
    uint64_t dtypes[MAX_PARAMETERS]; /* of each array: bits by the number of the dtype */
    int ndim;                        /* the least of the first array */
    int needs_finite;                /* whether its elements must be finite */
} Shortcut;

/* Where a call runs. */
typedef struct {
    PyObject *limit;     /* `_choice.machine.Limit` of the function */
    PyObject *slow;      /* what decides, of a tuple of the arguments, or NULL */
    PyObject *decisions; /* the dict of `_choice.machine.at_home`, or NULL */
    int axis_at;         /* the parameter on which the time of a call depends, or -1 */
} Choosing;

/* What a function is: flags. `_call.declaration.Declaration` has most of them. */
enum {
    IS_POWER = 1,
    IS_OPERATOR = 2, /* a method such as `__add__` */
    TAKES_NDARRAYS = 4,
    GIVES_NEW_MEMORY = 8,
    MULTIPLIES = 16,
    GIVES_VIEWS = 32,
    IS_READ_ONLY = 64,    /* whether it gives views that are only read */
    IS_ELEMENTWISE = 128, /* whether it may be recorded */
    KEEPS_ORDER = 256,    /* whether the result lies in memory as the operands do: NumPy's order "K"; set by C */
    MAY_ALLOCATE = 512,   /* whether the result may be a new array; set by C */
};

typedef struct call {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    FastPath *fast_path;
    PyObject *function;     /* the Python function, once `body` has made it */
    PyObject *body;         /* what makes `function` when it is first needed, or NULL */
    PyObject *name;         /* of the native function */
    PyObject *result_class; /* a subclass of tuple for several Arrays, or NULL for one */
    PyObject *dict, *weakrefs;
    int flags;
    int variant; /* the first letter of the function's name where several functions share a fast path, or 0 */

    /* Of functions of arrays alone, which have parameters. */
    Parameter parameters[MAX_PARAMETERS]; /* in the order of the Python function */
    int native_order[MAX_PARAMETERS];     /* their indices, in the order of the native function's arguments */
    PyObject *native_kwnames;             /* names of the last of these arguments, or NULL */
    int parameter_count, positional_count, native_nargs;
    int arrays[MAX_PARAMETERS], array_count; /* the indices of array parameters */
    int reduction;         /* the reduction that may be recorded, or 0 */
    KnownLoop *loops;      /* its loops that were found so far */
    PyObject *numpy_function, *ours; /* NumPy's function, NULL for a method; a Call that comes first, or NULL; see numpy_function.c */
    const Operator *operation; /* Python's, if it is the method of one that NumPy's scalars have; or NULL */

    Choosing choice;
    Shortcut shortcut; /* of the native function that was called last, as is `direct` */
    Direct direct;
} Call;

extern PyTypeObject CallType;

#endif
