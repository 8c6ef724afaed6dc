/* The module `anyarray._speedups`.

The package works without it, and gives the same: `_base.extension` imports it where it was built. What is
compiled of a subject, what is left to Python, and which rules of the Python code are repeated, stands at the
top of each file:

    config          what the package tells, once
    arrays          Arrays read and made
    choice          where a call runs
    kept            decisions about calls alike
    dtypes          dtypes that NumPy treats as the standard does
    scalars         Python scalars beside arrays
    memory          allocation
    allocator       NumPy's allocator, aligned while a call has a large array
    pages           huge pages
    random          random numbers of a key
    call            the class Call, and the names of the fast paths
    arguments       arguments bound to parameters
    functions       functions of arrays, operators
    shortcuts       what gives the same as a native function
    loops           inner loops of ufuncs
    quotients       ufuncs of quotients of floats
    recorded        calls that are recorded, and Array's attribute `_native`
    recording       which calls are
    postponed       calls that are put off on other backends
    exposure        the memory that they read, and writes to it
    chains          recorded calls that lead to one, run together
    moves           a chain run by another backend
    blocks          a chain run block by block
    sums            sums of many floats
    threads         work that threads share
    operators       in-place arithmetic, ufuncs of Arrays
    keys            keys of an index
    indexing        x[key]
    assignment      x[key] = value
    iteration       iter(x)
    views           x.T, np.asarray(x)
    creation        zeros and the like, arange
    conversion      asarray, astype, copy
    attributes      x.shape and the like, len
    theirs          NumPy's own functions */

#define IMPORTS_NUMPY
#include "numpy_api.h"

#include "allocator.h"
#include "arrays.h"
#include "call.h"
#include "chains.h"
#include "config.h"
#include "exposure.h"
#include "iteration.h"
#include "loops.h"
#include "quotients.h"
#include "memory.h"
#include "pages.h"
#include "random.h"
#include "recorded.h"
#include "recording.h"
#include "sums.h"
#include "theirs.h"

/* wrapped(natives, home): a tuple of the Arrays of native arrays. */
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
    {"expose", exposed, METH_O, NULL},
    {"record_from", record_from, METH_O, NULL},
    {"reset_chains", reset_chains, METH_NOARGS, NULL},
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
    if (!init_constants() || !import_ufuncs() || !init_allocator() || !init_recorded() || !init_exposure() || !init_chains()
        || PyType_Ready(&CallType) < 0 || PyType_Ready(&ArrayIteratorType) < 0
        || PyType_Ready(&CalledType) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || !add_quotients(module) || PyModule_AddObjectRef(module, "Call", (PyObject *)&CallType) < 0
        || PyModule_AddObjectRef(module, "Called", (PyObject *)&CalledType) < 0
        || PyModule_AddObjectRef(module, "Recorded", (PyObject *)&RecordedType) < 0
        || PyModule_AddObjectRef(module, "NativeSlot", (PyObject *)&NativeSlotType) < 0
        || PyModule_AddIntMacro(module, MAX_PARAMETERS) < 0 || PyModule_AddIntMacro(module, ALIGNMENT) < 0
        || PyModule_AddIntMacro(module, ARRAY) < 0 || PyModule_AddIntMacro(module, WEAK) < 0
        || PyModule_AddIntMacro(module, SELECTS) < 0 || PyModule_AddIntMacro(module, ADDS) < 0
        || PyModule_AddIntMacro(module, AVERAGES) < 0
        || PyModule_AddIntMacro(module, SEQUENCE) < 0 || PyModule_AddIntMacro(module, PLAIN) < 0
        || PyModule_AddIntMacro(module, TAKES_NONE) < 0 || PyModule_AddIntMacro(module, TAKES_INTEGER) < 0
        || PyModule_AddIntMacro(module, TAKES_INTEGERS) < 0 || PyModule_AddIntMacro(module, TAKES_BOOL) < 0
        || PyModule_AddIntMacro(module, TAKES_REAL) < 0 || PyModule_AddIntMacro(module, TAKES_SCALAR) < 0
        || PyModule_AddIntMacro(module, TAKES_CHOICE) < 0 || PyModule_AddIntMacro(module, TAKES_ANYTHING) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
