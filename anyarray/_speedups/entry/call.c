/* The class Call: a function or method with a compiled fast path and, behind it, a Python function.

The vectorcall tries the fast path, and calls the Python function if that returns NULL without an exception. So fast
paths raise no errors of their own, transfer nothing and decide nothing; `tests/test_compiled_calls.py` compares their
results with those of the Python functions. The attributes of the Python function are copied to the Call in Python. */

#include "call.h"
#include "allocator.h"
#include "arrays.h"
#include "config.h"
#include "fast_paths.h"
#include "shortcuts.h"
#include <stddef.h>

/* Returns a borrowed reference to the Python function, which is compiled at its first use; NULL with an exception. Not
inlined: `call_vectorcall` would save more registers. */
static Py_NO_INLINE PyObject *
python_function(Call *call)
{
    if (call->body != NULL) {
        PyObject *body = Py_NewRef(call->body);
        PyObject *function = PyObject_CallNoArgs(body);
        Py_DECREF(body);
        if (function == NULL) {
            return NULL;
        }
        if (call->body == NULL) { /* another thread did it first */
            Py_DECREF(function);
        }
        else {
            Py_SETREF(call->function, function);
            Py_CLEAR(call->body);
        }
    }
    return call->function;
}

/* Whether the axes of an Array of immutable memory may be in another order than in memory. */
static inline int
is_reordered(PyObject *value)
{
    PyObject *view = is_array(value) ? get_slot(value, config.view_offset) : NULL;
    return view != NULL && Py_TYPE(view) == config.reordered_type;
}

/* Records that a result has the memory order of its operands. Returns the result, or NULL with an exception. */
static PyObject *
with_operand_order(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *result)
{
    int is_noted = 0;
    for (Py_ssize_t i = 0; (call->flags & KEEPS_ORDER) && i < nargs; i++) {
        is_noted |= is_reordered(args[i]);
    }
    if (!is_noted || result == NULL || !is_array(result)) {
        return result;
    }
    PyObject *operands = PyTuple_New(nargs), *done = NULL;
    for (Py_ssize_t i = 0; operands != NULL && i < nargs; i++) {
        PyTuple_SET_ITEM(operands, i, Py_NewRef(args[i]));
    }
    if (operands != NULL) {
        done = PyObject_CallFunctionObjArgs(config.keep_order, operands, result, NULL);
        Py_DECREF(operands);
    }
    if (done == NULL) {
        Py_CLEAR(result);
    }
    Py_XDECREF(done);
    return result;
}

static PyObject *
call_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Call *call = (Call *)self;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *handler = align_allocations(call, args, nargs);
    PyObject *result = run_fast_path(call, args, nargs, kwnames);
    if (result == NULL && !PyErr_Occurred() && (call->body == NULL || python_function(call) != NULL)) {
        result = PyObject_Vectorcall(call->function, args, nargsf, kwnames);
    }
    if (handler != NULL) {
        restore_allocator(handler);
    }
    /* The Python function handles options of NumPy's function, such as `order=`. */
    return call->ours != NULL && kwnames != NULL ? result : with_operand_order(call, args, nargs, result);
}

static PyObject *
call_descr_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(type))
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *
call_repr(PyObject *self)
{
    PyObject *function = python_function((Call *)self);
    return function == NULL ? NULL : PyObject_Repr(function);
}

/* `__wrapped__`, for inspect.unwrap and inspect.signature. */
static PyObject *
call_get_wrapped(PyObject *self, void *Py_UNUSED(closure))
{
    return Py_XNewRef(python_function((Call *)self));
}

/* Pickles a Call by its name, as functions are. */
static PyObject *
call_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return PyObject_GetAttrString(self, "__qualname__");
}

/* The references of a Call except for its parameters and its attributes. */
#define REFERENCES(X) \
    X(function) X(body) X(name) X(result_class) X(native_kwnames) X(choice.limit) X(choice.slow) X(choice.decisions) \
    X(numpy_function) X(ours) X(shortcut.of) X(shortcut.function) X(direct.of) X(direct.function) X(direct.type) \
    X(direct.dtypes) X(direct.guard) X(direct.options)

static int
call_traverse(PyObject *self, visitproc visit, void *arg)
{
    Call *call = (Call *)self;
#define VISIT(field) Py_VISIT(call->field);
    REFERENCES(VISIT)
    Py_VISIT(call->dict);
    for (int i = 0; i < call->parameter_count; i++) {
        Py_VISIT(call->parameters[i].default_value);
    }
    return 0;
}

/* Clears only the attributes: a Call may still be called while a cycle is collected. */
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
#define RELEASE(field) Py_XDECREF(call->field);
    REFERENCES(RELEASE)
    for (int i = 0; i < call->parameter_count; i++) {
        Py_XDECREF(call->parameters[i].name);
        Py_XDECREF(call->parameters[i].default_value);
        Py_XDECREF(call->parameters[i].choices);
    }
    Py_TYPE(self)->tp_free(self);
}

/* Appends a parameter, described by a tuple. Returns 0 with an exception on failure. */
static int
add_parameter(Call *call, PyObject *row)
{
    Parameter *p = &call->parameters[call->parameter_count];
    PyObject *name, *defaults, *choices;
    if (!PyArg_ParseTuple(row, "UO!O!iii", &name, &PyTuple_Type, &defaults, &PyTuple_Type, &choices, &p->role,
                          &p->takes, &p->beside)) {
        return 0;
    }
    if (p->beside < 0 || p->beside >= MAX_PARAMETERS) {
        PyErr_SetString(PyExc_ValueError, "Call: beside must be the index of a parameter");
        return 0;
    }
    p->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&p->name);
    p->default_value = PyTuple_GET_SIZE(defaults) ? Py_NewRef(PyTuple_GET_ITEM(defaults, 0)) : NULL;
    p->choices = Py_NewRef(choices);
    if (p->role == ARRAY || p->role == WEAK) {
        call->arrays[call->array_count++] = call->parameter_count;
    }
    call->parameter_count++;
    return 1;
}

/* Finds an operator by the name of its function; NULL without an exception if there is none.

Operators of NumPy's scalars take a tenth of the time of ufuncs. They warn of overflow in integers, too. `**` is left
out: its results differ from the ufunc's in the last bit. */
static const Operator *
find_operator(PyObject *name)
{
    static const Operator operators[] = {
        {.name = "add", .binary = PyNumber_Add},
        {.name = "subtract", .binary = PyNumber_Subtract},
        {.name = "multiply", .binary = PyNumber_Multiply},
        {.name = "divide", .binary = PyNumber_TrueDivide},
        {.name = "floor_divide", .binary = PyNumber_FloorDivide},
        {.name = "remainder", .binary = PyNumber_Remainder},
        {.name = "bitwise_and", .binary = PyNumber_And},
        {.name = "bitwise_or", .binary = PyNumber_Or},
        {.name = "bitwise_xor", .binary = PyNumber_Xor},
        {.name = "bitwise_left_shift", .binary = PyNumber_Lshift},
        {.name = "bitwise_right_shift", .binary = PyNumber_Rshift},
        {.name = "negative", .unary = PyNumber_Negative},
        {.name = "positive", .unary = PyNumber_Positive},
        {.name = "abs", .unary = PyNumber_Absolute},
        {.name = "bitwise_invert", .unary = PyNumber_Invert},
        {.name = "equal", .comparison = Py_EQ},
        {.name = "not_equal", .comparison = Py_NE},
        {.name = "less", .comparison = Py_LT},
        {.name = "less_equal", .comparison = Py_LE},
        {.name = "greater", .comparison = Py_GT},
        {.name = "greater_equal", .comparison = Py_GE},
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (PyUnicode_CompareWithASCIIString(name, operators[i].name) == 0) {
            return &operators[i];
        }
    }
    return NULL;
}

/* The fast paths by name, and whether the result may be a new array. */
typedef struct {
    const char *kind;
    FastPath *fast_path;
    int may_allocate;
} Kind;

/* Finds a fast path by name; NULL without an exception if there is none. */
static const Kind *
find_kind(const char *kind)
{
    static const Kind kinds[] = {
        {"function", fast_function, 1}, {"join", fast_join, 1}, {"ufunc", fast_ufunc, 1}, {"getitem", fast_getitem, 1},
        {"numpy_function", fast_numpy_function, 1}, {"fill", fast_fill, 1}, {"fill_like", fast_fill_like, 1},
        {"arange", fast_arange, 1}, {"asarray", fast_asarray, 1}, {"astype", fast_astype, 1}, {"copy", fast_copy, 1},
        {"from_dlpack", fast_from_dlpack, 1}, {"inplace", fast_inplace, 0}, {"setitem", fast_setitem, 0},
        {"iter", fast_iter, 0}, {"transpose", fast_transpose, 0}, {"reshape", fast_reshape, 0}, {"ravel", fast_ravel, 0},
        {"array", fast_array, 0}, {"result_type", fast_result_type, 0}, {"bool", fast_bool, 0}, {"int", fast_int, 0},
        {"float", fast_float, 0}, {"index", fast_index, 0}, {"item", fast_item, 0}, {"hash", fast_hash, 0},
        {"shape", fast_shape, 0}, {"ndim", fast_ndim, 0}, {"size", fast_size, 0}, {"len", fast_len, 0},
        {"dtype", fast_dtype, 0},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i].kind) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static PyObject *
call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "name", "limit", "kind", "signature", "result_class", "flags", "reduction", "choice",
                            "variant", "body", "numpy_function", "ours", NULL};
    PyObject *function, *name, *limit, *result_class = Py_None, *parameters = NULL, *order = NULL, *keywords = NULL;
    PyObject *body = Py_None, *slow = Py_None, *decisions = NULL, *numpy_function = Py_None, *ours = Py_None;
    const char *kind;
    int positional = 0, flags = 0, reduction = 0, axis_at = -1, variant = 0;
    if (config.array_type == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "Call: configure() must come first");
        return NULL;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!UO!s|(O!O!O!i)Oii(OO!i)COOO", names, &PyFunction_Type, &function, &name,
                                     config.limit_type, &limit, &kind, &PyTuple_Type, &parameters, &PyTuple_Type, &order,
                                     &PyTuple_Type, &keywords, &positional, &result_class, &flags, &reduction, &slow,
                                     &PyDict_Type, &decisions, &axis_at, &variant, &body, &numpy_function, &ours)) {
        return NULL;
    }
    const Kind *found = find_kind(kind);
    if (found == NULL) {
        PyErr_Format(PyExc_ValueError, "Call: kind must be that of a fast path, not %s", kind);
        return NULL;
    }
    FastPath *fast_path = found->fast_path;
    if (result_class != Py_None
        && !(PyType_Check(result_class) && PyType_IsSubtype((PyTypeObject *)result_class, &PyTuple_Type))) {
        PyErr_SetString(PyExc_TypeError, "Call: result_class must be a subclass of tuple, or None");
        return NULL;
    }
    int has_parameters = fast_path == fast_function || fast_path == fast_join || fast_path == fast_inplace;
    Py_ssize_t count = parameters == NULL ? 0 : PyTuple_GET_SIZE(parameters);
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    Py_ssize_t ordered = order == NULL ? 0 : PyTuple_GET_SIZE(order);
    if (count > MAX_PARAMETERS || ordered != count || (has_parameters ? named >= count : named > 0)
        || positional > count || positional < 0 || axis_at >= count) {
        PyErr_Format(PyExc_ValueError, "Call: %U must have 1 to %d parameters, each in order", name, MAX_PARAMETERS);
        return NULL;
    }
    Call *call = (Call *)type->tp_alloc(type, 0); /* the other fields stay zero */
    if (call == NULL) {
        return NULL;
    }
    call->vectorcall = call_vectorcall;
    call->fast_path = fast_path;
    call->function = Py_NewRef(function);
    call->body = body == Py_None ? NULL : Py_NewRef(body);
    call->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&call->name);
    call->choice.limit = Py_NewRef(limit);
    call->result_class = result_class == Py_None ? NULL : Py_NewRef(result_class);
    call->variant = variant;
    call->native_kwnames = named ? Py_NewRef(keywords) : NULL;
    call->positional_count = positional;
    call->native_nargs = (int)(count - named);
    call->flags = flags | (found->may_allocate && !(flags & GIVES_VIEWS) ? MAY_ALLOCATE : 0);
    call->reduction = reduction;
    call->choice.slow = slow == Py_None ? NULL : Py_NewRef(slow);
    call->choice.decisions = Py_XNewRef(decisions);
    call->choice.axis_at = axis_at;
    call->numpy_function = numpy_function == Py_None ? NULL : Py_NewRef(numpy_function);
    call->ours = Py_TYPE(ours) == &CallType ? Py_NewRef(ours) : NULL; /* Python calls a function that is not compiled */
    if ((flags & IS_ELEMENTWISE) || fast_path == fast_astype || fast_path == fast_copy || fast_path == fast_asarray
        || (call->ours != NULL && (((Call *)call->ours)->flags & KEEPS_ORDER))) {
        call->flags |= KEEPS_ORDER;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        long index = PyLong_AsLong(PyTuple_GET_ITEM(order, i));
        if (index < 0 || index >= count) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "Call: order must hold the indices of parameters");
            }
            goto error;
        }
        if (!add_parameter(call, PyTuple_GET_ITEM(parameters, i))) {
            goto error;
        }
        call->native_order[i] = (int)index;
    }
    if (flags & IS_OPERATOR) {
        call->operation = find_operator(call->name);
    }
    return (PyObject *)call;
error:
    Py_DECREF(call);
    return NULL;
}

static PyMethodDef call_methods[] = {
    {"__reduce__", call_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef call_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"__wrapped__", call_get_wrapped, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject CallType = {
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
    .tp_getset = call_getset,
    .tp_descr_get = call_descr_get,
    .tp_dictoffset = offsetof(Call, dict),
    .tp_new = call_new,
};
