/* The class Call: a function or method with a compiled fast path and, behind it, a Python function. */

#ifndef ANYARRAY_CALL_H
#define ANYARRAY_CALL_H

#include "loops.h"

#define MAX_PARAMETERS 8 /* functions with more have no fast path */

/* The role of a parameter, as in `_call.declaration`. */
enum { ARRAY = 1, WEAK = 2, SEQUENCE = 3, PLAIN = 4 };

/* Kinds of reductions: to one of the elements, to their sum, to their mean. */
enum { SELECTS = 1, ADDS = 2, AVERAGES = 3 };

/* Flags: the values that a parameter accepts other than arrays. */
enum {
    TAKES_NONE = 1,
    TAKES_INTEGER = 2,
    TAKES_INTEGERS = 4, /* a tuple of ints */
    TAKES_BOOL = 8,
    TAKES_REAL = 16, /* an int or a float */
    TAKES_SCALAR = 32,
    TAKES_CHOICE = 64, /* one of the strings in `choices` */
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

/* A Python operator; one of `unary`, `binary` and `comparison` is set. */
typedef struct {
    const char *name; /* of the array function */
    unaryfunc unary;
    binaryfunc binary;
    int comparison;
} Operator;

struct call;

/* A fast path, with the arguments of a vectorcall.

Returns a new reference; NULL with an exception; or NULL without one if the Python function must be called. */
typedef PyObject *FastPath(struct call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* An entry of the cache of loops of a Call. */
typedef struct known_loop {
    PyObject *name, *home;          /* of the function, and its home */
    PyObject *dtypes[MAX_OPERANDS]; /* of the operands, or NULL */
    Loop loop;               /* operand_count is 0 if the dtypes have no loop */
    unsigned char reports[SIZE_CLASSES];
    struct known_loop *next;
} KnownLoop;

/* The cache of `backends._shortcut.directly`: a library's own function for a native function. */
typedef struct {
    PyObject *of;       /* the native function */
    PyObject *function; /* the library's own function, or NULL */
    PyObject *type, *dtypes, *guard, *options;
    int is_guarded;
    PyObject *latest;                /* the last dtype of an argument, borrowed from `dtypes` */
    PyObject *home;                  /* borrowed (homes are never deleted); set if the last call had `count` Arrays */
    Py_ssize_t count;                /* and no other arguments */
} Direct;

/* The cache of `backends._shortcut.shortcut`: a faster function for a native function of NumPy. */
typedef struct {
    PyObject *of, *function;         /* the native function and its shortcut, or NULL */
    uint64_t dtypes[MAX_PARAMETERS]; /* bit masks of type numbers, for each array */
    int ndim;                        /* minimum of the first array */
    int needs_finite;                /* whether the first array must be finite */
} Shortcut;

/* What decides where a call runs. */
typedef struct {
    PyObject *limit;     /* `_choice.machine.Limit` of the function */
    PyObject *slow;      /* decides and calls, given a tuple of the arguments, or NULL */
    PyObject *decisions; /* the dict of `_choice.machine.at_home`, or NULL */
    int axis_at;         /* the index of the parameter on which the time depends, or -1 */
} Choosing;

/* Flags of functions, mostly from `_call.declaration.Declaration`. */
enum {
    IS_POWER = 1,
    IS_OPERATOR = 2, /* a method such as `__add__` */
    TAKES_NDARRAYS = 4,
    GIVES_NEW_MEMORY = 8,
    MULTIPLIES = 16,
    GIVES_VIEWS = 32,
    IS_READ_ONLY = 64,    /* whether its views are read-only */
    IS_ELEMENTWISE = 128, /* whether it may be recorded */
    KEEPS_ORDER = 256,    /* whether results have the memory order of operands, NumPy's order "K"; set in C */
    MAY_ALLOCATE = 512,   /* whether the result may be a new array; set in C */
};

typedef struct call {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    FastPath *fast_path;
    PyObject *function;     /* the Python function; before its first use the one that `body` replaces */
    PyObject *body;         /* makes `function` at its first use; NULL after that */
    PyObject *name;         /* of the native function */
    PyObject *result_class; /* a subclass of tuple for several Arrays, or NULL for one */
    PyObject *dict, *weakrefs;
    int flags;
    int variant; /* the first letter of the function's name if several functions share a fast path, or 0 */

    /* Only for fast paths with parameters: function, join and inplace. */
    Parameter parameters[MAX_PARAMETERS]; /* in the order of the Python signature */
    int native_order[MAX_PARAMETERS];     /* their indices in the order of the native function */
    PyObject *native_kwnames;             /* the names of its last arguments, or NULL */
    int parameter_count, positional_count, native_nargs;
    int arrays[MAX_PARAMETERS], array_count; /* indices of the array parameters */
    int reduction;         /* its kind if it may be recorded, or 0 */
    KnownLoop *loops;      /* the cache */
    PyObject *numpy_function;  /* for numpy_function.c: NumPy's function, or NULL for a method, */
    PyObject *ours;            /* and a Call to try first, or NULL */
    const Operator *operation; /* for a method of an operator, or NULL */

    Choosing choice;
    Shortcut shortcut; /* of the native function of the last call */
    Direct direct;
} Call;

extern PyTypeObject CallType;

#endif
