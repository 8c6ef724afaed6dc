/* The fast path of a call, compiled: what `_body` writes in Python, for the commonest arguments.

A `Call` stands for a declared function or an operator of Array. It unwraps Arrays that live where the call runs, calls
the native function and wraps what that gives. Whatever it does not know, and whatever fails, it leaves to the Python
function of the same name, from the beginning: so it knows no error, no transfer and no choice but "stay", and each line
here may be left out without another answer. `_compiled` tells it what it must know of a declaration. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <structmember.h>
#include <numpy/arrayobject.h>

#ifdef Py_GIL_DISABLED
#error "the fields of Arrays are read under the GIL"
#endif

#define MOST 8 /* parameters; `_compiled` leaves functions of more alone */

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
static struct {
    PyTypeObject *array, *home, *choice, *limit;
    Py_ssize_t native_at, home_at, second_at;                                 /* in an Array */
    Py_ssize_t backend_at, constants_at, dtypes_at, powers_at, placed_at;     /* in a Home */
    Py_ssize_t chosen_at;                                                     /* in a Choice */
    Py_ssize_t elements_at, even_at, narrow_at, product_at;                   /* in a Limit */
    PyTypeObject *dtype;
    Py_ssize_t dtype_at;                                                      /* in a DType */
    PyObject *current, *by_cost, *numpy, *powers, *read_apart, *kept, *ufuncs, *operands;
    PyObject *defaults, *usual_defaults, *state, *unadopted, *are_absent, *lendable;
    npy_intp large, small, modest;
    npy_intp narrow_width;
} house;

static PyObject *dtype_name, *part_name, *model_name, *dtype_parameter, *number_one;

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

/* The native dtype of an array on `home`; a new reference, or NULL with an error. */
static PyObject *
dtype_of(PyObject *home, PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)native));
    }
    if (PyArray_IsScalar(native, Generic)) {
        return (PyObject *)PyArray_DescrFromScalar(native);
    }
    PyObject *function = PyObject_GetAttr(home, dtype_name);
    if (function == NULL) {
        return NULL;
    }
    PyObject *found = PyObject_CallOneArg(function, native);
    Py_DECREF(function);
    return found;
}

static inline int
is_scalar(PyObject *value)
{
    PyTypeObject *kind = Py_TYPE(value);
    return kind == &PyFloat_Type || kind == &PyLong_Type || kind == &PyBool_Type || kind == &PyComplex_Type;
}

/* What a home's table says of a Python scalar beside a native array: a borrowed reference, or NULL without an error. */
static PyObject *
looked_up(PyObject *table, PyObject *value, PyObject *home, PyObject *beside)
{
    PyObject *found = NULL, *written = NULL;
    PyObject *dtype = dtype_of(home, beside);
    if (dtype == NULL) {
        PyErr_Clear();
        return NULL;
    }
    int is_true = PyObject_IsTrue(value);
    if (is_true == 0) {
        written = PyObject_Repr(value); /* as 0.0 == -0.0 */
    }
    else if (is_true == 1) {
        written = Py_NewRef(value);
    }
    PyObject *key = written == NULL ? NULL : PyTuple_Pack(3, written, (PyObject *)Py_TYPE(value), dtype);
    if (key != NULL) {
        found = PyDict_GetItemWithError(table, key);
        Py_DECREF(key);
    }
    Py_XDECREF(written);
    Py_DECREF(dtype);
    if (found == NULL) {
        PyErr_Clear();
    }
    return found;
}

/* A Python scalar as a native one beside a native array: a new reference, or NULL without an error. */
static PyObject *
constant(Call *call, PyObject *value, PyObject *home, PyObject *beside)
{
    if (call->sign && Py_TYPE(beside) == &PyDoubleArrType_Type && Py_TYPE(value) != &PyComplex_Type) {
        PyObject *made = PyObject_CallOneArg((PyObject *)&PyDoubleArrType_Type, value);
        if (made == NULL) {
            PyErr_Clear();
        }
        return made;
    }
    PyObject *found = looked_up(field(home, house.constants_at), value, home, beside);
    return Py_XNewRef(found);
}

static int
are_integers(PyObject *value)
{
    if (Py_TYPE(value) != &PyTuple_Type) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (Py_TYPE(PyTuple_GET_ITEM(value, i)) != &PyLong_Type) {
            return 0;
        }
    }
    return 1;
}

static int
is_allowed(const Parameter *p, PyObject *value)
{
    int allowed = p->allowed;
    if (allowed & ANYTHING || (allowed & NOTHING && value == Py_None)) {
        return 1;
    }
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyLong_Type) {
        return allowed & (INTEGER | NUMBER | SCALAR);
    }
    if (kind == &PyBool_Type) {
        return allowed & (TRUTH | SCALAR);
    }
    if (kind == &PyFloat_Type) {
        return allowed & (NUMBER | SCALAR);
    }
    if (kind == &PyComplex_Type) {
        return allowed & SCALAR;
    }
    if (allowed & INTEGERS) {
        return are_integers(value);
    }
    if (allowed & WORD && kind == &PyUnicode_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->words); i++) {
            PyObject *word = PyTuple_GET_ITEM(p->words, i);
            if (word == value || PyUnicode_Compare(word, value) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* The backend of the choice that holds here, only to be compared: no reference. NULL without an error if there is none. */
static PyObject *
what_is_chosen(void)
{
    PyObject *choice = NULL;
    if (PyContextVar_Get(house.current, NULL, &choice) < 0) {
        PyErr_Clear();
    }
    PyObject *found = choice != NULL && Py_TYPE(choice) == house.choice ? field(choice, house.chosen_at) : NULL;
    Py_XDECREF(choice);
    return found;
}

/* Whether the call stays where its arrays live, on `home`. Under the automatic choice that may be a matter of size. */
static int
stays(PyObject *home, int *by_size)
{
    PyObject *chosen = what_is_chosen();
    *by_size = 0;
    if (chosen == NULL) {
        return 0;
    }
    if (chosen == Py_None || chosen == field(home, house.backend_at)) {
        return 1;
    }
    if (chosen != house.by_cost) {
        return 0;
    }
    if (field(home, house.placed_at) == Py_True) {
        return 1;
    }
    *by_size = 1;
    return home == house.numpy;
}

/* An Array of a native one, whose reference it takes. */
static PyObject *
wrap(PyObject *native, PyObject *home)
{
    PyObject *made = PyType_GenericAlloc(house.array, 0);
    if (made == NULL) {
        Py_DECREF(native);
        return NULL;
    }
    *(PyObject **)((char *)made + house.native_at) = native;
    *(PyObject **)((char *)made + house.home_at) = Py_NewRef(home);
    return made;
}

static PyObject *leave(void);

/* A tuple of the Arrays of native ones; NULL with an error. */
static PyObject *
all_wrapped(PyObject *natives, PyObject *home)
{
    PyObject *given = PySequence_Tuple(natives); /* which nobody else changes */
    PyObject *result = given == NULL ? NULL : PyTuple_New(PyTuple_GET_SIZE(given));
    for (Py_ssize_t i = 0; result != NULL && i < PyTuple_GET_SIZE(given); i++) {
        PyObject *array = wrap(Py_NewRef(PyTuple_GET_ITEM(given, i)), home);
        if (array == NULL) {
            Py_CLEAR(result);
            break;
        }
        PyTuple_SET_ITEM(result, i, array);
    }
    Py_XDECREF(given);
    return result;
}

/* The same in a tuple of this class, left to Python if that fails; takes the reference to the native ones. */
static PyObject *
wrap_all(PyObject *natives, PyObject *home, PyObject *class)
{
    PyObject *result = all_wrapped(natives, home);
    Py_DECREF(natives);
    if (result != NULL && class != (PyObject *)&PyTuple_Type) {
        PyObject *args = PyTuple_Pack(1, result); /* not the class itself, which would take three times as long */
        Py_DECREF(result);
        result = args == NULL ? NULL : PyTuple_Type.tp_new((PyTypeObject *)class, args, NULL);
        Py_XDECREF(args);
    }
    return result == NULL ? leave() : result;
}

/* Put what went wrong aside, so that the Python function finds it again, and explains it. Not KeyboardInterrupt. */
static PyObject *
leave(void)
{
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
    }
    return NULL;
}

static inline int
is_home(PyObject *home)
{
    return home != NULL && (Py_TYPE(home) == house.home || PyType_IsSubtype(Py_TYPE(home), house.home));
}

/* Sort the arguments by parameter: borrowed references. */
static int
sorted(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords, PyObject **values)
{
    if (given > call->positional) {
        return 0;
    }
    for (int i = 0; i < call->count; i++) {
        values[i] = i < given ? args[i] : NULL;
    }
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *name = PyTuple_GET_ITEM(keywords, k);
        int at = 0;
        while (at < call->count && call->parameters[at].name != name) {
            at++;
        }
        if (at == call->count || values[at] != NULL) {
            return 0;
        }
        values[at] = args[given + k];
    }
    for (int i = 0; i < call->count; i++) {
        if (values[i] == NULL && (values[i] = call->parameters[i].usual) == NULL) {
            return 0;
        }
    }
    return 1;
}

/* Whether the automatic choice has nothing to decide: see `_is_settled` and `_small_call` of `_body`. */
static int
is_settled(Call *call, PyObject *const *values, PyObject *const *natives)
{
    PyObject *first = natives[call->arrays[0]];
    npy_intp size = size_of(first);
    if (size < 0) {
        return 0;
    }
    int is_small = size < limit_of(call, house.even_at);
    if (!is_small && (is_wide(first) || size >= limit_of(call, house.narrow_at))) {
        return 0;
    }
    for (int k = 1; k < call->array_count; k++) {
        int at = call->arrays[k];
        PyObject *other = natives[at];
        if (Py_TYPE(values[at]) != house.array && !PyArray_CheckExact(values[at])) {
            continue;
        }
        npy_intp others = size_of(other);
        if (others < 0 || (call->array_count == 2 && !is_small)) {
            return 0;
        }
        if (is_same_shape(first, other) && !call->multiplies) {
            continue;
        }
        npy_intp columns = others;
        if (call->multiplies && PyArray_CheckExact(other)) {
            PyArrayObject *array = (PyArrayObject *)other;
            int ndim = PyArray_NDIM(array);
            columns = ndim == 2 ? PyArray_DIM(array, 1) : ndim == 1 ? 1 : others;
        }
        if ((double)size * (double)columns >= (double)limit_of(call, house.product_at)) {
            return 0;
        }
    }
    return 1;
}

/* The same where some arrays are the user's own ndarrays, which are taken only if there are few elements. */
static int
are_few(Call *call, PyObject *const *values, PyObject *const *natives, int by_size)
{
    PyObject *first = natives[call->arrays[0]];
    double elements = (double)size_of(first);
    if (elements < 0) {
        return 0;
    }
    for (int k = 1; k < call->array_count; k++) {
        int at = call->arrays[k];
        if (Py_TYPE(values[at]) != house.array && !PyArray_CheckExact(values[at])) {
            continue;
        }
        npy_intp others = size_of(natives[at]);
        if (others < 0) {
            return 0;
        }
        if (!is_same_shape(first, natives[at])) {
            elements *= (double)others;
        }
    }
    return elements < (double)house.large && !(by_size && elements >= (double)limit_of(call, house.elements_at));
}

/* What NumPy's float64 has itself: a tenth of what the ufunc takes. */
static PyObject *
of_two_scalars(int sign, PyObject *left, PyObject *right)
{
    switch (sign) {
    case '+': return PyNumber_Add(left, right);
    case '-': return PyNumber_Subtract(left, right);
    case '*': return PyNumber_Multiply(left, right);
    case '/': return PyNumber_TrueDivide(left, right);
    case '=': return PyObject_RichCompare(left, right, Py_EQ);
    case '!': return PyObject_RichCompare(left, right, Py_NE);
    case '<': return PyObject_RichCompare(left, right, Py_LT);
    case 'l': return PyObject_RichCompare(left, right, Py_LE);
    case '>': return PyObject_RichCompare(left, right, Py_GT);
    default: return PyObject_RichCompare(left, right, Py_GE);
    }
}

/* Call the native function `name` with what stands in `natives`, and wrap the result. */
static PyObject *
called(Call *call, PyObject *home, PyObject *const *natives, int is_borrowed)
{
    PyObject *stack[MOST + 1];
    PyObject **arguments = stack + 1;
    for (int i = 0; i < call->count; i++) {
        arguments[i] = natives[call->order[i]];
    }
    PyObject *native;
    if (call->sign && Py_TYPE(arguments[0]) == &PyDoubleArrType_Type
        && Py_TYPE(arguments[1]) == &PyDoubleArrType_Type) {
        native = of_two_scalars(call->sign, arguments[0], arguments[1]);
    }
    else {
        PyObject *function = PyObject_GetAttr(home, call->name);
        if (function == NULL) {
            return leave();
        }
        size_t flags = (size_t)call->named_from | PY_VECTORCALL_ARGUMENTS_OFFSET;
        native = PyObject_Vectorcall(function, arguments, flags, call->keywords);
        Py_DECREF(function);
    }
    if (native == NULL) {
        return leave();
    }
    if (is_borrowed && PyArray_Check(native)) {
        int is_new = PyArray_CheckExact(native) && PyArray_BASE((PyArrayObject *)native) == NULL;
        for (int i = 0; is_new && i < call->count; i++) {
            is_new = native != natives[i];
        }
        if (!is_new) {
            Py_DECREF(native); /* a view, it may be, of memory that the user may write to */
            return NULL;
        }
    }
    return call->result_class == NULL ? wrap(native, home) : wrap_all(native, home, call->result_class);
}

/* `x ** 2` and the like, for which another function stands: NULL without an error if none does. */
static PyObject *
power(PyObject *home, PyObject *native, PyObject *exponent)
{
    PyObject *name = looked_up(field(home, house.powers_at), exponent, home, native);
    if (name == NULL || name == Py_None) {
        return NULL;
    }
    PyObject *function = PyObject_GetAttr(home, name);
    if (function == NULL) {
        return leave();
    }
    PyObject *result = PyObject_CallOneArg(function, native);
    Py_DECREF(function);
    return result == NULL ? leave() : wrap(result, home);
}

static PyObject *
quick_call(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *values[MOST], *natives[MOST], *result = NULL;
    int by_size, is_borrowed = 0;
    if (!sorted(call, args, given, keywords, values)) {
        return NULL;
    }
    int first = call->arrays[0];
    PyObject *home, *leading = values[first];
    if (Py_TYPE(leading) == house.array) {
        home = field(leading, house.home_at);
    }
    else if (call->takes_ndarrays && PyArray_CheckExact(leading)) {
        home = house.numpy;
    }
    else {
        return NULL;
    }
    if (!is_home(home) || !stays(home, &by_size)) {
        return NULL;
    }
    Py_INCREF(home);
    memset(natives, 0, sizeof natives);
    for (int i = 0; i < call->count; i++) {
        const Parameter *p = &call->parameters[i];
        PyObject *value = values[i];
        if (p->role == PLAIN) {
            if (!is_allowed(p, value)) {
                goto done;
            }
            natives[i] = Py_NewRef(value);
        }
        else if (Py_TYPE(value) == house.array) {
            PyObject *native = field(value, house.native_at);
            if (native == NULL || field(value, house.home_at) != home) {
                goto done;
            }
            natives[i] = Py_NewRef(native);
        }
        else if (PyArray_CheckExact(value)) {
            int may_be = call->takes_ndarrays || (call->gives_new_memory && call->array_count == 2);
            PyObject *dtype = (PyObject *)PyArray_DESCR((PyArrayObject *)value);
            if (!may_be || home != house.numpy || PyDict_Contains(field(home, house.dtypes_at), dtype) != 1) {
                leave();
                goto done;
            }
            natives[i] = Py_NewRef(value);
            is_borrowed = 1;
        }
        else if (p->role != WEAK || !is_scalar(value)) {
            if (i == first || !is_allowed(p, value)) {
                goto done;
            }
            natives[i] = Py_NewRef(value);
        }
    }
    for (int k = 0; k < call->array_count; k++) { /* now that all arrays are known, the scalars beside them */
        int at = call->arrays[k];
        if (natives[at] != NULL) {
            continue;
        }
        int beside = call->parameters[at].beside;
        if (natives[beside] == NULL || natives[beside] == values[beside]) {
            goto done; /* beside another scalar, or an ndarray */
        }
        if (call->is_power && at == call->order[1]) {
            int stands = PyDict_Contains(house.powers, values[at]);
            if (stands != 0) {
                if (stands == 1 && (!by_size || is_settled(call, values, natives))) {
                    result = power(home, natives[first], values[at]);
                }
                leave();
                goto done;
            }
        }
        natives[at] = constant(call, values[at], home, natives[beside]);
        if (natives[at] == NULL) {
            goto done;
        }
    }
    if (is_borrowed ? are_few(call, values, natives, by_size) : (!by_size || is_settled(call, values, natives))) {
        result = called(call, home, natives, is_borrowed);
    }
done:
    for (int i = 0; i < call->count; i++) {
        Py_XDECREF(natives[i]);
    }
    Py_DECREF(home);
    return result;
}

/* A function that joins the Arrays of a list or a tuple, its first parameter. */
static PyObject *
quick_join(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *values[MOST], *natives[MOST], *home = NULL, *result = NULL, *joined = NULL;
    int by_size = 0;
    if (!sorted(call, args, given, keywords, values)) {
        return NULL;
    }
    PyObject *sequence = values[0];
    if ((Py_TYPE(sequence) != &PyList_Type && Py_TYPE(sequence) != &PyTuple_Type)
        || PySequence_Fast_GET_SIZE(sequence) == 0) {
        return NULL;
    }
    for (int i = 1; i < call->count; i++) {
        if (!is_allowed(&call->parameters[i], values[i])) {
            return NULL;
        }
        natives[i] = values[i];
    }
    npy_intp elements = 0;
    Py_ssize_t length = PySequence_Fast_GET_SIZE(sequence);
    joined = PyList_New(length);
    if (joined == NULL) {
        return leave();
    }
    if (PySequence_Fast_GET_SIZE(sequence) != length) {
        goto done; /* the garbage collector has called what changed it */
    }
    for (Py_ssize_t i = 0; i < length; i++) { /* calls nothing that could */
        PyObject *one = PySequence_Fast_GET_ITEM(sequence, i);
        if (Py_TYPE(one) != house.array) {
            goto done;
        }
        PyObject *native = field(one, house.native_at), *here = field(one, house.home_at);
        if (native == NULL || !is_home(here) || (home != NULL && here != home)) {
            goto done;
        }
        if (home == NULL) {
            home = Py_NewRef(here);
        }
        PyList_SET_ITEM(joined, i, Py_NewRef(native));
        if (home == house.numpy) {
            npy_intp size = size_of(native);
            if (size < 0) {
                goto done;
            }
            elements += size;
        }
    }
    if (!stays(home, &by_size) || (by_size && elements >= limit_of(call, house.elements_at))) {
        goto done;
    }
    natives[0] = joined;
    result = called(call, home, natives, 0);
done:
    Py_XDECREF(home);
    Py_DECREF(joined);
    return result;
}

/* Whether one native array of NumPy may stand where another is: of its shape and dtype. */
static int
is_like(PyObject *one, PyObject *other)
{
    if (PyArray_CheckExact(one) && PyArray_CheckExact(other)) {
        return PyArray_DESCR((PyArrayObject *)one) == PyArray_DESCR((PyArrayObject *)other) && is_same_shape(one, other);
    }
    return Py_TYPE(one) == Py_TYPE(other) && PyArray_IsScalar(one, Generic);
}

/* Forget the second copy of an Array. */
static void
forget(PyObject *array)
{
    PyObject **second = (PyObject **)((char *)array + house.second_at), *before = *second;
    *second = Py_NewRef(Py_None);
    Py_XDECREF(before);
}

/* `x += y` of few elements: `x` gets the native array of the sum. */
static PyObject *
quick_update(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 2 || Py_TYPE(args[0]) != house.array || PyDict_Size(house.kept)) {
        return NULL;
    }
    PyObject *array = args[0], *before = field(array, house.native_at);
    if (before == NULL || field(array, house.home_at) != house.numpy || size_of(before) >= house.large) {
        return NULL;
    }
    PyObject *result = quick_call(call, args, given, keywords);
    if (result == NULL) {
        return NULL;
    }
    PyObject *native = field(result, house.native_at);
    before = field(array, house.native_at);
    if (field(result, house.home_at) != house.numpy || field(array, house.home_at) != house.numpy || before == NULL
        || !is_like(before, native)) {
        Py_DECREF(result);
        return NULL;
    }
    *(PyObject **)((char *)array + house.native_at) = Py_NewRef(native);
    Py_DECREF(result);
    forget(array);
    Py_DECREF(before);
    return Py_NewRef(array);
}

static int
is_bound(PyObject *value)
{
    return value == Py_None || Py_TYPE(value) == &PyLong_Type;
}

static int
is_basic(PyObject *key)
{
    PyTypeObject *kind = Py_TYPE(key);
    if (kind == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)key;
        return is_bound(slice->start) && is_bound(slice->stop) && is_bound(slice->step);
    }
    return kind == &PyLong_Type || key == Py_None || key == Py_Ellipsis;
}

/* Whether a key, or each entry of a tuple, is basic. */
static int
are_basic(PyObject *key)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        return is_basic(key);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (!is_basic(PyTuple_GET_ITEM(key, i))) {
            return 0;
        }
    }
    return 1;
}

/* The native array of an Array by which NumPy indexes as it is: of bool or signed integers, not many; else NULL. */
static PyObject *
index_of(PyObject *key)
{
    PyObject *native = field(key, house.native_at);
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    int type = PyArray_DESCR((PyArrayObject *)native)->type_num;
    int is_index = type == NPY_BOOL || PyTypeNum_ISSIGNED(type);
    return is_index && PyArray_SIZE((PyArrayObject *)native) < house.large ? native : NULL;
}

/* `x[key]` of NumPy's memory, with a key that NumPy takes as it is. */
static PyObject *
quick_item(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    int by_size;
    if (given != 2 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != house.array) {
        return NULL;
    }
    PyObject *home = field(args[0], house.home_at), *native = field(args[0], house.native_at), *key = args[1];
    if (!is_home(home) || native == NULL || !PyArray_CheckExact(native) || PyDict_Size(house.read_apart)
        || !stays(home, &by_size)) {
        return NULL;
    }
    if (Py_TYPE(key) == house.array) {
        if (field(key, house.home_at) != home || (key = index_of(key)) == NULL) {
            return NULL;
        }
    }
    else if (!are_basic(key)) {
        return NULL;
    }
    Py_INCREF(home);
    Py_INCREF(native);
    Py_INCREF(key);
    PyObject *found = PyObject_GetItem(native, key);
    Py_DECREF(key);
    Py_DECREF(native);
    PyObject *result = found == NULL ? leave() : wrap(found, home);
    Py_DECREF(home);
    return result;
}

/* Whether NumPy itself writes a Python scalar to this dtype with its value; it raises for integers out of range. */
static int
is_taken(PyObject *value, PyArray_Descr *dtype)
{
    PyTypeObject *kind = Py_TYPE(value);
    const char *kinds = kind == &PyFloat_Type  ? "fc"
                        : kind == &PyLong_Type ? "iufc"
                        : kind == &PyBool_Type ? "biufc"
                                               : "c";
    return PyTypeNum_ISNUMBER(dtype->type_num) || dtype->type_num == NPY_BOOL ? strchr(kinds, dtype->kind) != NULL : 0;
}

/* Whether an Array alone holds the memory of its native array, as `_ownership.is_alone` says; seldom it says so here. */
static int
is_alone(PyObject *native)
{
    PyArrayObject *array = (PyArrayObject *)native;
    PyObject *base = PyArray_BASE(array);
    if (Py_REFCNT(native) != 1 || !PyArray_CHKFLAGS(array, NPY_ARRAY_WRITEABLE)) {
        return 0;
    }
    if (base == NULL) {
        return PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
    }
    return PyArray_CheckExact(base) && Py_REFCNT(base) == 1 && PyArray_BASE((PyArrayObject *)base) == NULL
           && PyArray_CHKFLAGS((PyArrayObject *)base, NPY_ARRAY_OWNDATA)
           && PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS);
}

/* Whether a key with only basic entries leads to one element. */
static int
is_of_one(PyObject *key, PyArrayObject *array)
{
    if (Py_TYPE(key) != &PyTuple_Type) {
        return Py_TYPE(key) == &PyLong_Type && PyArray_NDIM(array) == 1;
    }
    return PyTuple_GET_SIZE(key) == PyArray_NDIM(array) && are_integers(key);
}

/* Elements that NumPy copies without giving other threads a turn. */
#define UNINTERRUPTED 500

/* Give an Array a copy of the part of another that it is, as for x[0] = x[1]; see `_ownership.separate`.

Takes the reference to its native array, and gives one to the new one; NULL with an error. */
static PyObject *
separated(PyObject *array, PyObject *native)
{
    PyObject *own = PyArray_NewCopy((PyArrayObject *)native, NPY_CORDER);
    PyObject **slot = (PyObject **)((char *)array + house.native_at);
    if (own != NULL && *slot == native) { /* else a thread has written meanwhile */
        *slot = Py_NewRef(own);
        Py_DECREF(native);
    }
    Py_DECREF(native);
    return own;
}

/* What is to be written to an ndarray: a Python scalar, or the native array of an Array that lives where that does.

A new reference; NULL for what is left to Python. */
static PyObject *
written(PyObject *value, PyArrayObject *to, PyObject *home)
{
    PyArray_Descr *dtype = PyArray_DESCR(to);
    if (is_scalar(value)) {
        return is_taken(value, dtype) ? Py_NewRef(value) : NULL;
    }
    if (Py_TYPE(value) != house.array || field(value, house.home_at) != home) {
        return NULL;
    }
    PyObject *native = field(value, house.native_at);
    if (native == NULL) {
        return NULL;
    }
    if (!PyArray_CheckExact(native)) {
        return PyArray_IsScalar(native, Generic) && Py_TYPE(native) == dtype->typeobj ? Py_NewRef(native) : NULL;
    }
    PyArrayObject *array = (PyArrayObject *)native;
    if (PyArray_DESCR(array) != dtype || PyArray_SIZE(array) > UNINTERRUPTED) {
        return NULL;
    }
    PyObject *base = PyArray_BASE(array);
    int is_part = base != NULL && native != (PyObject *)to && (base == (PyObject *)to || base == PyArray_BASE(to));
    Py_INCREF(native);
    return is_part ? separated(value, native) : native;
}

/* Whether a basic key leads to few enough elements of an ndarray. */
static int
is_of_few(PyObject *key, PyArrayObject *array)
{
    if (PyArray_SIZE(array) <= UNINTERRUPTED || is_of_one(key, array)) {
        return 1;
    }
    PyObject *part = PyArray_Check(key) ? NULL : PyObject_GetItem((PyObject *)array, key);
    int is_few = part != NULL && size_of(part) <= UNINTERRUPTED;
    Py_XDECREF(part);
    return is_few;
}

/* `x[key] = value` of few elements of NumPy's, in memory that nobody else holds; see `_ownership`.

No other thread has a turn from when that is asked until it is written, so no lock is taken. */
static PyObject *
quick_write(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 3 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != house.array
        || PyDict_Size(house.kept)) {
        return NULL;
    }
    PyObject *array = args[0], *key = args[1], *home = field(array, house.home_at);
    PyObject *native = field(array, house.native_at), *value = NULL;
    if (native == NULL || !PyArray_CheckExact(native)) {
        return NULL;
    }
    if (Py_TYPE(key) == house.array) {
        if (key == array || field(key, house.home_at) != home || (key = index_of(key)) == NULL) {
            return NULL;
        }
    }
    else if (!are_basic(key)) {
        return NULL;
    }
    /* Allocating and freeing may call anything, which may change what the Arrays hold. */
    Py_INCREF(native);
    Py_INCREF(key);
    if (is_of_few(key, (PyArrayObject *)native)) {
        value = written(args[2], (PyArrayObject *)native, home);
    }
    if (value == NULL) {
        Py_DECREF(native);
        Py_DECREF(key);
        return leave();
    }
    forget(array);
    int failed = -1, is_shared = 0, is_same = field(array, house.native_at) == native;
    Py_DECREF(native);
    if (is_same && is_alone(native)) {
        Py_INCREF(native);
        failed = PyObject_SetItem(native, key, value);
        PyObject *base = PyArray_BASE((PyArrayObject *)native);
        is_shared = Py_REFCNT(native) > 2 || (base != NULL && Py_REFCNT(base) > 1);
        Py_DECREF(native);
    }
    Py_DECREF(key);
    Py_DECREF(value);
    if (failed) {
        return leave();
    }
    if (is_shared) {
        return PyObject_CallMethodNoArgs(array, part_name);
    }
    Py_RETURN_NONE;
}

/* `np.exp(x)` and `ndarray + x`, as NumPy asks for them: what our function of that name gives. */
static PyObject *
quick_ufunc(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given < 4 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || !PyUnicode_Check(args[2])
        || PyUnicode_CompareWithASCIIString(args[2], "__call__") != 0) {
        return NULL;
    }
    for (Py_ssize_t i = 3; i < given; i++) {
        PyObject *kind = (PyObject *)Py_TYPE(args[i]);
        if (kind != (PyObject *)house.array && PySet_Contains(house.operands, kind) != 1) {
            return leave();
        }
    }
    PyObject *ours = PyDict_GetItemWithError(house.ufuncs, args[1]);
    if (ours == NULL) {
        return leave();
    }
    Py_INCREF(ours);
    PyObject *result = PyObject_Vectorcall(ours, args + 3, (size_t)given - 3, NULL);
    Py_DECREF(ours);
    return result == NULL ? leave() : result;
}

#define ALIGNMENT 64 /* bytes, as `_memory` says */

/* An ndarray of `size` bytes in memory that every library takes as it is; takes the reference to the dtype. */
static PyObject *
allocate(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero)
{
    npy_intp bytes = size + ALIGNMENT;
    PyObject *memory = is_zero ? PyArray_ZEROS(1, &bytes, NPY_UINT8, 0) : PyArray_EMPTY(1, &bytes, NPY_UINT8, 0);
    if (memory == NULL) {
        Py_DECREF(dtype);
        return NULL;
    }
    char *start = PyArray_BYTES((PyArrayObject *)memory);
    start += (ALIGNMENT - (uintptr_t)start % ALIGNMENT) % ALIGNMENT;
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, dims, NULL, start, NPY_ARRAY_CARRAY, NULL);
    if (made == NULL) {
        Py_DECREF(memory);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)made, memory) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

/* Whether a creation function makes its array free, in NumPy: see `_choice.chosen_home`. */
static int
is_made_in_numpy(void)
{
    if (PyDict_Size(house.unadopted)) { /* libraries that were not imported when it was asked last */
        PyObject *absent = PyObject_CallOneArg(house.are_absent, house.unadopted);
        Py_XDECREF(absent);
        if (absent != Py_True) {
            return 0;
        }
    }
    PyObject *chosen = what_is_chosen();
    if (chosen == NULL) {
        return 0;
    }
    if (chosen == Py_None || chosen == field(house.numpy, house.backend_at)) {
        return 1;
    }
    if (chosen != house.by_cost) {
        return 0;
    }
    PyObject *model = PyObject_GetAttr(house.state, model_name);
    Py_XDECREF(model);
    return model != NULL && model != Py_None;
}

/* Whether Python numbers take the standard's own dtypes here, and not those of a `default_dtypes`. */
static int
are_defaults_usual(void)
{
    PyObject *defaults = NULL;
    if (PyContextVar_Get(house.defaults, NULL, &defaults) < 0 || defaults == NULL) {
        return 0;
    }
    Py_DECREF(defaults); /* from here on it is only compared */
    return defaults == house.usual_defaults;
}

/* An ndarray of few elements, aligned if `_memory` wants it; takes the reference to the dtype. */
static PyObject *
few(int ndim, npy_intp *dims, PyArray_Descr *dtype, npy_intp size, int is_zero)
{
    if (size >= house.small) {
        return allocate(ndim, dims, dtype, size, is_zero);
    }
    return is_zero ? PyArray_Zeros(ndim, dims, dtype, 0) : PyArray_Empty(ndim, dims, dtype, 0);
}

/* A free Array of what was made just now; takes the reference. */
static PyObject *
created(PyObject *native)
{
    npy_intp size = PyArray_NBYTES((PyArrayObject *)native);
    PyObject *array = wrap(native, house.numpy);
    if (array != NULL && size >= house.small) {
        *(PyObject **)((char *)array + house.second_at) = Py_NewRef(house.lendable);
    }
    return array;
}

/* NumPy's dtype for what was given as one, or for floats: a new reference, or NULL. */
static PyArray_Descr *
dtype_for(PyObject *given)
{
    if (given == NULL || given == Py_None) {
        return are_defaults_usual() ? PyArray_DescrFromType(NPY_DOUBLE) : NULL;
    }
    PyObject *found = Py_TYPE(given) == house.dtype ? field(given, house.dtype_at) : NULL;
    return found != NULL && PyArray_DescrCheck(found) ? (PyArray_Descr *)Py_NewRef(found) : NULL;
}

#define FEW_AXES 8

/* `zeros`, `ones`, `empty` and `full` of a Python float, of few elements, which lie in memory of their own. */
static PyObject *
quick_fill(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    npy_intp dims[FEW_AXES], elements = 1;
    int ndim = 0, is_full = call->sign == 'f';
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (given != 1 + is_full || named > !is_full || (is_full && Py_TYPE(args[1]) != &PyFloat_Type)
        || (named && PyTuple_GET_ITEM(keywords, 0) != dtype_parameter)) {
        return NULL;
    }
    PyObject *shape = args[0];
    if (Py_TYPE(shape) == &PyLong_Type) {
        ndim = 1;
    }
    else if (Py_TYPE(shape) == &PyTuple_Type && PyTuple_GET_SIZE(shape) <= FEW_AXES) {
        ndim = (int)PyTuple_GET_SIZE(shape);
    }
    else {
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        PyObject *length = Py_TYPE(shape) == &PyTuple_Type ? PyTuple_GET_ITEM(shape, i) : shape;
        dims[i] = Py_TYPE(length) == &PyLong_Type ? PyLong_AsSsize_t(length) : -1;
        if (dims[i] < 0 || dims[i] > house.large) {
            return leave();
        }
        elements *= dims[i] ? dims[i] : 1;
        if (elements > house.large) {
            return NULL;
        }
    }
    if (!is_made_in_numpy()) {
        return leave();
    }
    PyArray_Descr *dtype = dtype_for(named ? args[given] : NULL);
    if (dtype == NULL) {
        return leave();
    }
    npy_intp size = elements * PyDataType_ELSIZE(dtype);
    if (size >= house.modest || (!PyTypeNum_ISNUMBER(dtype->type_num) && dtype->type_num != NPY_BOOL)) {
        Py_DECREF(dtype);
        return NULL;
    }
    PyObject *made = few(ndim, dims, dtype, size, call->sign == 'z');
    if (made == NULL) {
        return leave();
    }
    if ((is_full || call->sign == 'o') && PyArray_FillWithScalar((PyArrayObject *)made, is_full ? args[1] : number_one) < 0) {
        Py_DECREF(made);
        return leave();
    }
    return created(made);
}

static int
type_of_number(PyTypeObject *kind)
{
    return kind == &PyFloat_Type ? NPY_DOUBLE : kind == &PyLong_Type ? NPY_INT64 : kind == &PyBool_Type ? NPY_BOOL : -1;
}

/* Write a Python number to memory of its type; false with an error for an integer that does not fit. */
static int
put(char *at, int type, PyObject *value)
{
    if (type == NPY_DOUBLE) {
        *(double *)at = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (type == NPY_BOOL) {
        *(npy_bool *)at = value == Py_True;
        return 1;
    }
    long long integer = PyLong_AsLongLong(value);
    *(npy_int64 *)at = (npy_int64)integer;
    return !(integer == -1 && PyErr_Occurred());
}

/* `asarray` of few elements: of an ndarray, a Python number, or a list or tuple of numbers of one class. */
static PyObject *
quick_asarray(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || (keywords != NULL && PyTuple_GET_SIZE(keywords))) {
        return NULL;
    }
    PyObject *value = args[0], *made = NULL;
    PyTypeObject *kind = Py_TYPE(value);
    if (PyArray_CheckExact(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        npy_intp size = PyArray_NBYTES(array);
        PyArray_Descr *dtype = PyArray_DESCR(array);
        if (size >= house.modest || !PyArray_ISNOTSWAPPED(array) || !is_made_in_numpy()
            || PyDict_Contains(field(house.numpy, house.dtypes_at), (PyObject *)dtype) != 1) {
            return leave();
        }
        if (size < house.small) {
            made = PyArray_NewCopy(array, NPY_KEEPORDER);
        }
        else if (PyArray_IS_C_CONTIGUOUS(array)) {
            Py_INCREF(dtype);
            made = allocate(PyArray_NDIM(array), PyArray_DIMS(array), dtype, size, 0);
            if (made != NULL && PyArray_CopyInto((PyArrayObject *)made, array) < 0) {
                Py_CLEAR(made);
            }
        }
        return made == NULL ? leave() : created(made);
    }
    int type = type_of_number(kind);
    npy_intp length = 1;
    int ndim = 0;
    if (type < 0) {
        if ((kind != &PyList_Type && kind != &PyTuple_Type) || PySequence_Fast_GET_SIZE(value) == 0) {
            return NULL;
        }
        ndim = 1;
        length = PySequence_Fast_GET_SIZE(value);
        kind = Py_TYPE(PySequence_Fast_GET_ITEM(value, 0));
        type = type_of_number(kind);
        if (type < 0 || length * 8 >= house.small) {
            return NULL;
        }
    }
    if (!are_defaults_usual() || !is_made_in_numpy()) {
        return leave();
    }
    made = PyArray_Empty(ndim, &length, PyArray_DescrFromType(type), 0);
    if (made == NULL) {
        return leave();
    }
    char *at = PyArray_BYTES((PyArrayObject *)made);
    npy_intp step = PyArray_ITEMSIZE((PyArrayObject *)made);
    for (npy_intp i = 0; i < length; i++, at += step) {
        PyObject *number = value;
        if (ndim) {
            int is_there = i < PySequence_Fast_GET_SIZE(value); /* in a list, what was called may have cut it */
            number = is_there ? PySequence_Fast_GET_ITEM(value, i) : Py_None;
        }
        if (Py_TYPE(number) != kind || !put(at, type, number)) {
            Py_DECREF(made);
            return leave();
        }
    }
    if (ndim && PySequence_Fast_GET_SIZE(value) != length) {
        Py_DECREF(made);
        return NULL;
    }
    return created(made);
}

/* `arange` of integers: few. */
static PyObject *
quick_arange(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    long long bounds[3] = {0, 0, 1};
    if (given < 1 || given > 3 || (keywords != NULL && PyTuple_GET_SIZE(keywords))) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        if (Py_TYPE(args[i]) != &PyLong_Type) {
            return NULL;
        }
        bounds[i] = PyLong_AsLongLong(args[i]);
        if ((bounds[i] == -1 && PyErr_Occurred()) || bounds[i] < -NPY_MAX_INT32 || bounds[i] > NPY_MAX_INT32) {
            return leave();
        }
    }
    long long start = given == 1 ? 0 : bounds[0], stop = given == 1 ? bounds[0] : bounds[1], step = bounds[2];
    if (step == 0 || !are_defaults_usual() || !is_made_in_numpy()) {
        return leave();
    }
    long long span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    npy_intp length = span > 0 ? (npy_intp)((span + stride - 1) / stride) : 0;
    if (length * 8 >= house.modest) {
        return NULL;
    }
    PyObject *made = few(1, &length, PyArray_DescrFromType(NPY_INT64), length * 8, 0);
    if (made == NULL) {
        return leave();
    }
    npy_int64 *numbers = PyArray_DATA((PyArrayObject *)made);
    for (npy_intp i = 0; i < length; i++) {
        numbers[i] = start + i * step;
    }
    return created(made);
}

/* `x.T` and `x.mT` of a matrix of NumPy's. */
static PyObject *
quick_transpose(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 1 || Py_TYPE(args[0]) != house.array || field(args[0], house.home_at) != house.numpy) {
        return NULL;
    }
    PyObject *native = field(args[0], house.native_at);
    if (native == NULL || !PyArray_CheckExact(native) || PyArray_NDIM((PyArrayObject *)native) != 2) {
        return NULL;
    }
    PyObject *turned = PyArray_Transpose((PyArrayObject *)native, NULL);
    return turned == NULL ? leave() : wrap(turned, house.numpy);
}

static PyObject *
call_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Call *call = (Call *)self;
    PyObject *result = call->quick(call, args, PyVectorcall_NARGS(flags), keywords);
    if (result != NULL || PyErr_Occurred()) {
        return result;
    }
    return PyObject_Vectorcall(call->function, args, flags, keywords);
}

static PyObject *
call_get(PyObject *self, PyObject *instance, PyObject *type)
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *
call_repr(PyObject *self)
{
    return PyObject_Repr(((Call *)self)->function);
}

/* Pickled as functions are: by name. */
static PyObject *
call_reduce(PyObject *self, PyObject *unused)
{
    return PyObject_GetAttrString(self, "__qualname__");
}

static int
call_traverse(PyObject *self, visitproc visit, void *arg)
{
    Call *call = (Call *)self;
    Py_VISIT(call->function);
    Py_VISIT(call->result_class);
    Py_VISIT(call->limit);
    Py_VISIT(call->dict);
    for (int i = 0; i < call->count; i++) {
        Py_VISIT(call->parameters[i].usual);
    }
    return 0;
}

/* Only what may be of a cycle and is not asked for by a call, which may still come. */
static int
call_clear(PyObject *self)
{
    Py_CLEAR(((Call *)self)->dict);
    return 0;
}

static void
call_dealloc(PyObject *self)
{
    Call *call = (Call *)self;
    PyObject_GC_UnTrack(self);
    if (call->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    call_clear(self);
    Py_XDECREF(call->function);
    Py_XDECREF(call->result_class);
    Py_XDECREF(call->name);
    Py_XDECREF(call->limit);
    Py_XDECREF(call->keywords);
    for (int i = 0; i < call->count; i++) {
        Py_XDECREF(call->parameters[i].name);
        Py_XDECREF(call->parameters[i].usual);
        Py_XDECREF(call->parameters[i].words);
    }
    Py_TYPE(self)->tp_free(self);
}

static int
read_parameter(Call *call, PyObject *row)
{
    Parameter *p = &call->parameters[call->count];
    PyObject *name, *usual, *words;
    if (!PyArg_ParseTuple(row, "UO!O!iii", &name, &PyTuple_Type, &usual, &PyTuple_Type, &words, &p->role, &p->allowed,
                          &p->beside)) {
        return 0;
    }
    if (p->beside < 0 || p->beside >= MOST) {
        PyErr_SetString(PyExc_ValueError, "Call: beside must be the place of a parameter");
        return 0;
    }
    p->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&p->name);
    p->usual = PyTuple_GET_SIZE(usual) ? Py_NewRef(PyTuple_GET_ITEM(usual, 0)) : NULL;
    p->words = Py_NewRef(words);
    if (p->role == ARRAY || p->role == WEAK) {
        call->arrays[call->array_count++] = call->count;
    }
    call->count++;
    return 1;
}

static PyTypeObject CallType;

static Quick *
quick_of(const char *kind, int *takes_parameters)
{
    static const struct {
        const char *kind;
        Quick *quick;
        int takes_parameters;
    } rows[] = {
        {"call", quick_call, 1}, {"join", quick_join, 1},   {"update", quick_update, 1},
        {"item", quick_item, 0}, {"write", quick_write, 0}, {"ufunc", quick_ufunc, 0},   {"fill", quick_fill, 0},
        {"transpose", quick_transpose, 0}, {"asarray", quick_asarray, 0}, {"arange", quick_arange, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(kind, rows[i].kind) == 0) {
            *takes_parameters = rows[i].takes_parameters;
            return rows[i].quick;
        }
    }
    return NULL;
}

static PyObject *
call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "name", "limit", "kind", "result_class", "parameters", "order", "keywords",
                            "positional", "sign", "is_power", "takes_ndarrays", "gives_new_memory", "multiplies", NULL};
    PyObject *function, *name, *limit, *result_class = Py_None, *parameters = NULL, *order = NULL, *keywords = NULL;
    const char *kind;
    int positional = 0, sign = ' ', is_power = 0, takes_ndarrays = 0, gives_new_memory = 0, multiplies = 0;
    if (house.array == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "Call: configure() must come first");
        return NULL;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!UO!s|OO!O!O!iCpppp", names, &PyFunction_Type, &function, &name,
                                     house.limit, &limit, &kind, &result_class, &PyTuple_Type, &parameters,
                                     &PyTuple_Type, &order, &PyTuple_Type, &keywords, &positional, &sign, &is_power,
                                     &takes_ndarrays, &gives_new_memory, &multiplies)) {
        return NULL;
    }
    int takes_parameters = 0;
    Quick *quick = quick_of(kind, &takes_parameters);
    if (quick == NULL) {
        PyErr_Format(PyExc_ValueError, "Call: %s is no kind of call", kind);
        return NULL;
    }
    if (result_class != Py_None
        && !(PyType_Check(result_class) && PyType_IsSubtype((PyTypeObject *)result_class, &PyTuple_Type))) {
        PyErr_SetString(PyExc_TypeError, "Call: result_class must be a class of tuples, or None");
        return NULL;
    }
    Py_ssize_t count = parameters == NULL ? 0 : PyTuple_GET_SIZE(parameters);
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    Py_ssize_t ordered = order == NULL ? 0 : PyTuple_GET_SIZE(order);
    if (count > MOST || ordered != count || (takes_parameters ? named >= count : named > 0) || positional > count
        || positional < 0) {
        PyErr_Format(PyExc_ValueError, "Call: %U must have 1 to %d parameters, each in order", name, MOST);
        return NULL;
    }
    Call *call = (Call *)type->tp_alloc(type, 0); /* all else is zero */
    if (call == NULL) {
        return NULL;
    }
    call->vectorcall = call_vectorcall;
    call->function = Py_NewRef(function);
    call->quick = quick;
    call->result_class = result_class == Py_None ? NULL : Py_NewRef(result_class);
    call->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&call->name);
    call->limit = Py_NewRef(limit);
    call->keywords = named ? Py_NewRef(keywords) : NULL;
    call->positional = positional;
    call->named_from = (int)(count - named);
    call->sign = sign == ' ' ? 0 : sign;
    call->is_power = is_power;
    call->takes_ndarrays = takes_ndarrays;
    call->gives_new_memory = gives_new_memory;
    call->multiplies = multiplies;
    for (Py_ssize_t i = 0; i < count; i++) {
        long at = PyLong_AsLong(PyTuple_GET_ITEM(order, i));
        if (at < 0 || at >= count || !read_parameter(call, PyTuple_GET_ITEM(parameters, i))) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "Call: order must hold the places of parameters");
            }
            Py_DECREF(call);
            return NULL;
        }
        call->order[i] = (int)at;
    }
    int is_joining = quick == quick_join;
    if (takes_parameters && (call->sign || is_power || quick == quick_update) && count != 2) {
        PyErr_SetString(PyExc_ValueError, "Call: a sign stands between two operands");
    }
    else if (takes_parameters && (is_joining ? call->parameters[0].role != SEQUENCE : call->array_count == 0)) {
        PyErr_SetString(PyExc_ValueError, "Call: one parameter must be an array");
    }
    for (int i = is_joining; i < call->count; i++) {
        if (call->parameters[i].role == SEQUENCE || (is_joining && call->parameters[i].role != PLAIN)) {
            PyErr_SetString(PyExc_ValueError, "Call: what is joined must be the only array");
        }
    }
    if (PyErr_Occurred()) {
        Py_DECREF(call);
        return NULL;
    }
    return (PyObject *)call;
}

static PyMethodDef call_methods[] = {
    {"__reduce__", call_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef call_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject CallType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.Call",
    .tp_basicsize = sizeof(Call),
    .tp_dealloc = call_dealloc,
    .tp_vectorcall_offset = offsetof(Call, vectorcall),
    .tp_repr = call_repr,
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_traverse = call_traverse,
    .tp_clear = call_clear,
    .tp_weaklistoffset = offsetof(Call, weakrefs),
    .tp_methods = call_methods,
    .tp_getset = call_attributes,
    .tp_descr_get = call_get,
    .tp_dictoffset = offsetof(Call, dict),
    .tp_new = call_new,
};

/* Where instances of a class have a slot. */
static int
find(PyTypeObject *type, const char *name, Py_ssize_t *at)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL) {
        return 0;
    }
    int is_slot = Py_TYPE(found) == &PyMemberDescr_Type && ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX;
    if (is_slot) {
        *at = ((PyMemberDescrObject *)found)->d_member->offset;
    }
    else {
        PyErr_Format(PyExc_TypeError, "configure: %s.%s must be a slot", type->tp_name, name);
    }
    Py_DECREF(found);
    return is_slot;
}

static PyObject *
configure(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"array",    "home",           "choice", "limit",     "dtype",      "current", "by_cost",
                            "numpy",    "powers",         "kept",   "read_apart", "ufuncs",    "operands",
                            "defaults", "usual_defaults", "state",  "unadopted", "are_absent", "lendable",
                            "large",    "small",          "modest", "narrow",    NULL};
    PyTypeObject *array, *home, *choice, *limit, *dtype;
    PyObject *current, *by_cost, *numpy, *powers, *read_apart, *kept, *ufuncs, *operands;
    PyObject *defaults, *usual_defaults, *state, *unadopted, *are_absent, *lendable;
    Py_ssize_t large, small, modest, narrow;
    if (house.array != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "configure: may be called once");
        return NULL;
    }
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!O!O!O!O!O!OOO!OO!O!O!O!O!OO!OOnnnn", names, &PyType_Type, &array, &PyType_Type, &home,
            &PyType_Type, &choice, &PyType_Type, &limit, &PyType_Type, &dtype, &PyContextVar_Type, &current, &by_cost,
            &numpy, &PyDict_Type, &powers, &kept, &PyDict_Type, &read_apart, &PyDict_Type, &ufuncs, &PyFrozenSet_Type,
            &operands, &PyContextVar_Type, &defaults, &PyDict_Type, &usual_defaults, &state, &PyDict_Type, &unadopted,
            &are_absent, &lendable, &large, &small, &modest, &narrow)) {
        return NULL;
    }
    if (!PyDict_Check(kept)) {
        PyErr_SetString(PyExc_TypeError, "configure: kept must be a dict");
        return NULL;
    }
    if (!(find(array, "_native", &house.native_at) && find(array, "_home", &house.home_at)
          && find(array, "_second", &house.second_at) && find(dtype, "dtype", &house.dtype_at)
          && find(home, "backend", &house.backend_at) && find(home, "constants", &house.constants_at)
          && find(home, "dtypes", &house.dtypes_at) && find(home, "powers", &house.powers_at)
          && find(home, "placed", &house.placed_at) && find(choice, "backend", &house.chosen_at)
          && find(limit, "elements", &house.elements_at) && find(limit, "even", &house.even_at)
          && find(limit, "narrow", &house.narrow_at) && find(limit, "product", &house.product_at))) {
        return NULL;
    }
    /* For good: the module is never unloaded. */
    house.home = (PyTypeObject *)Py_NewRef((PyObject *)home);
    house.choice = (PyTypeObject *)Py_NewRef((PyObject *)choice);
    house.limit = (PyTypeObject *)Py_NewRef((PyObject *)limit);
    house.current = Py_NewRef(current);
    house.by_cost = Py_NewRef(by_cost);
    house.numpy = Py_NewRef(numpy);
    house.powers = Py_NewRef(powers);
    house.read_apart = Py_NewRef(read_apart);
    house.kept = Py_NewRef(kept);
    house.ufuncs = Py_NewRef(ufuncs);
    house.operands = Py_NewRef(operands);
    house.dtype = (PyTypeObject *)Py_NewRef((PyObject *)dtype);
    house.defaults = Py_NewRef(defaults);
    house.usual_defaults = Py_NewRef(usual_defaults);
    house.state = Py_NewRef(state);
    house.unadopted = Py_NewRef(unadopted);
    house.are_absent = Py_NewRef(are_absent);
    house.large = large;
    house.lendable = Py_NewRef(lendable);
    house.small = small;
    house.modest = modest;
    house.narrow_width = narrow;
    house.array = (PyTypeObject *)Py_NewRef((PyObject *)array);
    Py_RETURN_NONE;
}

/* allocated(shape, dtype, is_zero): an ndarray in memory that every library takes as it is. */
static PyObject *
allocated(PyObject *module, PyObject *args)
{
    PyArray_Dims shape = {NULL, 0};
    PyArray_Descr *dtype;
    int is_zero;
    if (!PyArg_ParseTuple(args, "O&O!p", PyArray_IntpConverter, &shape, &PyArrayDescr_Type, &dtype, &is_zero)) {
        PyDimMem_FREE(shape.ptr);
        return NULL;
    }
    PyObject *made = NULL;
    npy_intp size = PyDataType_ELSIZE(dtype);
    for (int i = 0; i < shape.len; i++) {
        if (shape.ptr[i] < 0 || (shape.ptr[i] > 0 && size > (NPY_MAX_INTP - ALIGNMENT) / shape.ptr[i])) {
            PyErr_SetString(PyExc_ValueError, "allocated: shape must be of lengths whose product is that of an array");
            goto done;
        }
        size *= shape.ptr[i];
    }
    Py_INCREF(dtype);
    made = allocate(shape.len, shape.ptr, dtype, size, is_zero);
done:
    PyDimMem_FREE(shape.ptr);
    return made;
}

/* wrapped(natives, home): a tuple of the Arrays of native arrays. */
static PyObject *
wrapped(PyObject *module, PyObject *args)
{
    PyObject *natives, *home;
    return PyArg_ParseTuple(args, "OO!", &natives, house.home, &home) ? all_wrapped(natives, home) : NULL;
}

static PyMethodDef functions[] = {
    {"allocated", allocated, METH_VARARGS, NULL},
    {"wrapped", wrapped, METH_VARARGS, NULL},
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "anyarray._speedups",
    .m_size = -1, /* one interpreter, as NumPy */
    .m_methods = functions,
};

PyMODINIT_FUNC
PyInit__speedups(void)
{
    import_array();
    dtype_name = PyUnicode_InternFromString("dtype_of");
    part_name = PyUnicode_InternFromString("_part");
    model_name = PyUnicode_InternFromString("model");
    dtype_parameter = PyUnicode_InternFromString("dtype");
    number_one = PyLong_FromLong(1);
    if (!dtype_name || !part_name || !model_name || !dtype_parameter || !number_one || PyType_Ready(&CallType) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Call", (PyObject *)&CallType) < 0
        || PyModule_AddIntMacro(module, NOTHING) < 0 || PyModule_AddIntMacro(module, INTEGER) < 0
        || PyModule_AddIntMacro(module, INTEGERS) < 0 || PyModule_AddIntMacro(module, TRUTH) < 0
        || PyModule_AddIntMacro(module, NUMBER) < 0 || PyModule_AddIntMacro(module, SCALAR) < 0
        || PyModule_AddIntMacro(module, WORD) < 0 || PyModule_AddIntMacro(module, ANYTHING) < 0
        || PyModule_AddIntMacro(module, MOST) < 0 || PyModule_AddIntMacro(module, ARRAY) < 0
        || PyModule_AddIntMacro(module, WEAK) < 0 || PyModule_AddIntMacro(module, SEQUENCE) < 0
        || PyModule_AddIntMacro(module, PLAIN) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
