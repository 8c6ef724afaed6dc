/* The fast path of a call, compiled: what `body` writes in Python, for the commonest arguments.

A `Call` stands for a declared function or an operator of Array. It unwraps Arrays that live where the call runs, calls
the native function and wraps what that gives. Whatever it does not know, and whatever fails, it leaves to the Python
function of the same name, from the beginning: so it knows no error, no transfer and no choice but "stay", and each line
here may be left out without another answer. `compiled` tells it what it must know of a declaration.

    house.c       what `configure` says of the package, and how Arrays are read and made
    functions.c   functions of arrays, operators, NumPy's ufuncs
    loops.c       the loops of NumPy's ufuncs, for few elements
    elements.c    indexing, writes, what else reads the memory of one Array
    creation.c    functions that make Arrays
    dtypes.c      what is told of dtypes
    memory.c      memory of large results
    speedups.c    the class Call, and the module */

#ifndef ANYARRAY_SPEEDUPS_H
#define ANYARRAY_SPEEDUPS_H

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
#pragma GCC visibility push(hidden) /* or a library that the program has loaded might lend its own of the same name */
#endif

#ifdef Py_GIL_DISABLED
#error "the fields of Arrays are read under the GIL"
#endif

#define MOST 8 /* parameters; `compiled` leaves functions of more alone */

/* What a parameter is. */
enum { ARRAY = 1, WEAK = 2, SEQUENCE = 3, PLAIN = 4 };

/* What may stand for a parameter beside an array, or without one: bits. */
enum { NOTHING = 1, INTEGER = 2, INTEGERS = 4, TRUTH = 8, NUMBER = 16, SCALAR = 32, WORD = 64, ANYTHING = 128 };

typedef struct {
    PyObject *name;
    PyObject *usual; /* its default, or NULL */
    PyObject *words; /* those of which it must be one, or NULL */
    int role;
    int allowed;
    int beside; /* the place of the array from which a Python scalar takes its dtype */
} Parameter;

/* What `configure` says of the package. */
typedef struct {
    PyTypeObject *array, *home, *choice, *limit;
    Py_ssize_t native_at, home_at, second_at, account_at;                     /* in an Array */
    Py_ssize_t backend_at, constants_at, dtypes_at, powers_at, placed_at;     /* in a Home */
    Py_ssize_t chosen_at;                                                     /* in a Choice */
    Py_ssize_t elements_at, even_at, narrow_at, product_at;                   /* in a Limit */
    PyTypeObject *dtype;
    Py_ssize_t dtype_at;                                                      /* in a DType */
    PyObject *current, *by_cost, *numpy, *powers, *read_apart, *kept, *ufuncs, *operands;
    PyObject *defaults, *usual_defaults, *state, *unadopted, *are_absent, *lendable, *accounts, *writes;
    npy_intp large, small, modest;
    npy_intp narrow_width;
} House;

extern House house;

/* Made once, by `prepare_house`. */
typedef struct {
    PyObject *dtype_of, *part, *model, *dtype, *copy, *shortcut, *zero, *zero_float, *acquire, *release; /* strings */
    PyObject *one;
} Names;

extern Names names;

struct call;

/* A new reference to the result; NULL without an error for what is left to Python. */
typedef PyObject *Quick(struct call *, PyObject *const *, Py_ssize_t, PyObject *);

typedef struct call {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Quick *quick;
    PyObject *function;    /* in Python, for all that is not quick */
    PyObject *result_class; /* of what is more than one Array, or NULL */
    PyObject *name;        /* of the native function */
    PyObject *limit;
    PyObject *keywords;    /* those of the native function's arguments that have a name, or NULL */
    PyObject *dict, *weakrefs;
    Parameter parameters[MOST]; /* as they are written */
    int order[MOST];            /* places of the native function's arguments among them */
    int count, positional, named_from;
    int arrays[MOST], array_count;
    int sign;              /* of an operator; of a function that fills, its first letter; or 0 */
    int is_power, takes_ndarrays, gives_new_memory, multiplies;
    int allocates;         /* 1 or -1 once it is known: see `memory.c` */
    PyObject *seen;        /* the native function that was called last, */
    PyObject *shortcut;    /* what gives the same of few elements and the usual arguments, or NULL: see */
    uint64_t kinds[MOST];  /* `backends._shortcut`; of the dtypes that each array may have, bits by number, */
    int axes;              /* the axes that the first has at least, */
    int is_finite;         /* and whether its elements must be finite */
} Call;

static inline PyObject *
field(PyObject *object, Py_ssize_t at)
{
    return *(PyObject **)((char *)object + at);
}

static inline npy_intp
limit_of(Call *call, Py_ssize_t at)
{
    PyObject *value = field(call->limit, at);
    npy_intp found = value == NULL ? 0 : PyLong_AsSsize_t(value);
    if (found == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return found;
}

/* Elements of a native array of NumPy; -1 for anything else. */
static inline npy_intp
size_of(PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return PyArray_SIZE((PyArrayObject *)native);
    }
    return PyArray_IsScalar(native, Generic) ? 1 : -1;
}

static inline int
is_same_shape(PyObject *one, PyObject *other)
{
    if (!PyArray_CheckExact(one) || !PyArray_CheckExact(other)) {
        return 0;
    }
    PyArrayObject *a = (PyArrayObject *)one, *b = (PyArrayObject *)other;
    return PyArray_NDIM(a) == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

static inline int
is_wide(PyObject *native)
{
    return !PyArray_CheckExact(native) || PyArray_ITEMSIZE((PyArrayObject *)native) > house.narrow_width;
}


static inline int
is_scalar(PyObject *value)
{
    PyTypeObject *kind = Py_TYPE(value);
    return kind == &PyFloat_Type || kind == &PyLong_Type || kind == &PyBool_Type || kind == &PyComplex_Type;
}

/* NumPy's number for the dtype of a Python number; -1 for anything else. */
static inline int
type_of_number(PyTypeObject *kind)
{
    return kind == &PyFloat_Type ? NPY_DOUBLE : kind == &PyLong_Type ? NPY_INT64 : kind == &PyBool_Type ? NPY_BOOL : -1;
}

static inline int
is_home(PyObject *home)
{
    return home != NULL && (Py_TYPE(home) == house.home || PyType_IsSubtype(Py_TYPE(home), house.home));
}

/* house.c */
int prepare_house(void);
PyObject *configure(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *dtype_of(PyObject *home, PyObject *native);
PyObject *what_is_chosen(void);
int stays(PyObject *home, int *by_size);
PyObject *wrap(PyObject *native, PyObject *home);
PyObject *all_wrapped(PyObject *natives, PyObject *home, PyTypeObject *class);
PyObject *wrap_all(PyObject *natives, PyObject *home, PyObject *class);
PyObject *leave(void);
void forget(PyObject *array);
int are_integers(PyObject *value);

/* functions.c */
Quick quick_call, quick_join, quick_update, quick_divmod, quick_ufunc;

/* loops.c */
int prepare_loops(void);
PyObject *applied(PyObject *function, PyObject *const *arguments, size_t flags, PyObject *keywords);

/* memory.c */
#define MANY (1 << 17) /* elements of a large array: 1 MB of float64, 128 kB of bool */
int prepare_memory(void);
PyObject *align(Call *call, PyObject *const *args, Py_ssize_t given);
void restore(PyObject *before);

/* elements.c */
Quick quick_item, quick_write, quick_transpose, quick_view, quick_iter;
extern PyTypeObject ElementsType;

/* dtypes.c */
Quick quick_result_type, quick_can_cast;
int is_plain(PyArray_Descr *dtype);
PyArray_Descr *dtype_for(PyObject *given);

#define FEW 1000 /* elements up to which shortcuts are the same, as `backends._shortcut` says */
#define ALIGNMENT 64 /* bytes, as `_memory.alignment` says */

/* creation.c */
Quick quick_fill, quick_like, quick_eye, quick_asarray, quick_import, quick_astype, quick_copy, quick_arange;
Quick quick_frequencies;
int are_defaults_usual(void);
PyObject *allocate(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero);

#endif
