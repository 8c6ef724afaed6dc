/* The class Call, and the module. */

#define IMPORTS_NUMPY
#include "speedups.h"
#include <stddef.h>

static PyObject *
call_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Call *call = (Call *)self;
    PyObject *before = align(call, args, PyVectorcall_NARGS(flags));
    PyObject *result = call->quick(call, args, PyVectorcall_NARGS(flags), keywords);
    if (result == NULL && !PyErr_Occurred()) {
        result = PyObject_Vectorcall(call->function, args, flags, keywords);
    }
    if (before != NULL) {
        restore(before);
    }
    return result;
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
    Py_VISIT(call->seen);
    Py_VISIT(call->shortcut);
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
    Py_XDECREF(call->seen);
    Py_XDECREF(call->shortcut);
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
        {"call", quick_call, 1}, {"join", quick_join, 1}, {"update", quick_update, 1}, {"divmod", quick_divmod, 0},
        {"item", quick_item, 0}, {"write", quick_write, 0}, {"ufunc", quick_ufunc, 0}, {"transpose", quick_transpose, 0},
        {"view", quick_view, 0}, {"iter", quick_iter, 0}, {"fill", quick_fill, 0}, {"like", quick_like, 0},
        {"eye", quick_eye, 0}, {"asarray", quick_asarray, 0}, {"import", quick_import, 0}, {"astype", quick_astype, 0},
        {"copy", quick_copy, 0}, {"arange", quick_arange, 0}, {"frequencies", quick_frequencies, 0},
        {"result_type", quick_result_type, 0}, {"can_cast", quick_can_cast, 0},
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
    return PyArg_ParseTuple(args, "OO!", &natives, house.home, &home) ? all_wrapped(natives, home, &PyTuple_Type) : NULL;
}

#define BLOCK 1024 /* elements that are looked at without asking whether one was found */

/* Whether one of so many numbers is zero but for its highest bit, the sign of a float: a loop of vector instructions. */
static int
is_one_zero64(const uint64_t *numbers, npy_intp count)
{
    uint64_t found = 0;
    for (npy_intp i = 0; i < count; i++) {
        uint64_t rest = numbers[i] << 1;
        found |= ~(rest | (0 - rest));
    }
    return (int)(found >> 63);
}

static int
is_one_zero32(const uint32_t *numbers, npy_intp count)
{
    uint32_t found = 0;
    for (npy_intp i = 0; i < count; i++) {
        uint32_t rest = numbers[i] << 1;
        found |= ~(rest | (0 - rest));
    }
    return (int)(found >> 31);
}

/* may_have_zeros(a): whether a float of an ndarray is zero; true for what is not looked at. */
static PyObject *
may_have_zeros(PyObject *module, PyObject *a)
{
    if (!PyArray_CheckExact(a)) {
        Py_RETURN_TRUE;
    }
    PyArrayObject *array = (PyArrayObject *)a;
    int type = PyArray_DESCR(array)->type_num, found = 0;
    if ((type != NPY_DOUBLE && type != NPY_FLOAT) || !PyArray_ISONESEGMENT(array) || !PyArray_ISBEHAVED_RO(array)) {
        Py_RETURN_TRUE;
    }
    const char *data = PyArray_BYTES(array);
    npy_intp size = PyArray_SIZE(array);
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(size);
    for (npy_intp start = 0; start < size && !found; start += BLOCK) {
        npy_intp count = size - start < BLOCK ? size - start : BLOCK;
        found = type == NPY_DOUBLE ? is_one_zero64((const uint64_t *)data + start, count)
                                   : is_one_zero32((const uint32_t *)data + start, count);
    }
    NPY_END_THREADS;
    return PyBool_FromLong(found);
}

static PyMethodDef functions[] = {
    {"allocated", allocated, METH_VARARGS, NULL},
    {"wrapped", wrapped, METH_VARARGS, NULL},
    {"may_have_zeros", may_have_zeros, METH_O, NULL},
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
    if (!prepare_house() || !prepare_loops() || !prepare_memory() || PyType_Ready(&CallType) < 0 || PyType_Ready(&ElementsType) < 0) {
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
