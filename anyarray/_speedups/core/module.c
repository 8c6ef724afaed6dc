/* The module `anyarray._speedups`: its functions, classes and constants.

`_base.extension` imports it if it was built; without it the package gives the same results. The head of each C file
says which Python code it mirrors, and which arguments it leaves to that code. */

#define IMPORTS_NUMPY
#include "numpy_api.h"

#include "allocator.h"
#include "arrays.h"
#include "call.h"
#include "chains.h"
#include "config.h"
#include "exposure.h"
#include "fast_paths.h"
#include "graph.h"
#include "loops.h"
#include "memory.h"
#include "lazy.h"
#include "recording.h"
#include "numerics.h"

/* wrapped(natives, home): a tuple of Arrays of native arrays. */
static PyObject *
wrapped(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *natives, *home;
    if (!PyArg_ParseTuple(args, "OO!", &natives, config.home_type, &home)) {
        return NULL;
    }
    return wrap_in_tuple(natives, home, &PyTuple_Type);
}

static PyMethodDef functions[] = {
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, NULL},
    {"wrapped", wrapped, METH_VARARGS, NULL},
    {"allocated", allocated, METH_VARARGS, NULL},
    {"want_huge_pages", want_huge_pages, METH_NOARGS, NULL},
    {"sum_of", sum_of, METH_VARARGS, NULL},
    {"random_fill", random_fill, METH_VARARGS, NULL},
    {"expose", expose_native, METH_O, NULL},
    {"record_from", record_from, METH_O, NULL},
    {"reset_chains", reset_chains, METH_NOARGS, NULL},
    {"graph", graph_of, METH_O, NULL},
    {"set_values", set_values, METH_VARARGS, NULL},
    {"is_read", is_read, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "anyarray._speedups",
    .m_size = -1, /* one interpreter, as NumPy */
    .m_methods = functions,
};

/* Constants that Python reads from this module. */
#define NUMBER(name) {#name, name}
static const struct {
    const char *name;
    int value;
} numbers[] = {
    NUMBER(ALIGNMENT),  NUMBER(MAX_PARAMETERS),
    NUMBER(ARRAY),      NUMBER(WEAK),          NUMBER(SEQUENCE),       NUMBER(PLAIN),
    NUMBER(SELECTS),    NUMBER(ADDS),          NUMBER(AVERAGES),
    NUMBER(IS_POWER),   NUMBER(IS_OPERATOR),   NUMBER(TAKES_NDARRAYS), NUMBER(GIVES_NEW_MEMORY),
    NUMBER(MULTIPLIES), NUMBER(GIVES_VIEWS),   NUMBER(IS_READ_ONLY),   NUMBER(IS_ELEMENTWISE),
    NUMBER(TAKES_NONE), NUMBER(TAKES_INTEGER), NUMBER(TAKES_INTEGERS), NUMBER(TAKES_BOOL),
    NUMBER(TAKES_REAL), NUMBER(TAKES_SCALAR),  NUMBER(TAKES_CHOICE),   NUMBER(TAKES_ANYTHING),
};

static int
fill_module(PyObject *module)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) < 0) {
            return 0;
        }
    }
    return add_quotients(module) && PyModule_AddObjectRef(module, "Call", (PyObject *)&CallType) == 0
           && PyModule_AddObjectRef(module, "Called", (PyObject *)&CalledType) == 0
           && PyModule_AddObjectRef(module, "Lazy", (PyObject *)&LazyType) == 0
           && PyModule_AddObjectRef(module, "NativeSlot", (PyObject *)&NativeSlotType) == 0;
}

PyMODINIT_FUNC
PyInit__speedups(void)
{
    import_array();
    if (!init_constants() || !import_ufuncs() || !init_allocator() || !init_lazy() || !init_exposure() || !init_chains()
        || PyType_Ready(&CallType) < 0 || PyType_Ready(&ArrayIteratorType) < 0
        || PyType_Ready(&CalledType) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && !fill_module(module)) {
        Py_CLEAR(module);
    }
    return module;
}
