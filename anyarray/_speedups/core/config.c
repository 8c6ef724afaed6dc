/* What the package tells the compiled code, once.

Compiled: `configure`, the reading of its arguments. Left to Python: to find the values, in `_call.compiled`.
A limit that Python and C share is told here, so that it is written in Python alone; `speedups.ALIGNMENT` is
the exception, as memory is allocated before `configure` is called. */

#include "config.h"
#include "arrays.h"
#include <structmember.h>

Config config;
Constants constants;

/* Finds the offset of a slot in the instances of a class; 0 with an exception if it has no such slot. */
static int
find_slot(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL) {
        return 0;
    }
    int is_slot = Py_TYPE(found) == &PyMemberDescr_Type
                  && ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX;
    if (is_slot) {
        *offset = ((PyMemberDescrObject *)found)->d_member->offset;
    }
    else {
        PyErr_Format(PyExc_TypeError, "configure: %s.%s must be a slot", type->tp_name, name);
    }
    Py_DECREF(found);
    return is_slot;
}

PyObject *
configure(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"array", "home", "backend", "choice", "limit", "dtype", "choice_variable", "by_cost", "numpy_home",
                            "powers", "second_copy_sizes", "ufuncs", "operand_types", "defaults_variable",
                            "standard_defaults", "unadopted", "are_absent", "lendable",
                            "read_only_view", "loop_of", "warned_errors", "warn", "ran", "moved", "skipped_files", "postponed", "put_off",
                            "put_off_inplace", "value_of", "compute_readers", "leaves", "error_variable", "threads",
                            "large", "few", "small_nbytes", "modest_nbytes", "reordered", "keep_order", NULL};
    if (config.array_type != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "configure: may be called once");
        return NULL;
    }
    Config read = {0};
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!O!O!O!O!O!O!OOO!O!O!O!O!O!O!OOOOOOOOO!O!OOOOO!OinnnnO!O", names, &PyType_Type, &read.array_type,
            &PyType_Type, &read.home_type, &PyType_Type, &read.backend_type, &PyType_Type, &read.choice_type, &PyType_Type, &read.limit_type,
            &PyType_Type, &read.dtype_type, &PyContextVar_Type, &read.choice_variable, &read.by_cost, &read.numpy_home,
            &PyDict_Type, &read.powers, &PyDict_Type, &read.second_copy_sizes,
            &PyDict_Type, &read.ufuncs, &PyFrozenSet_Type, &read.operand_types, &PyContextVar_Type,
            &read.defaults_variable, &PyDict_Type, &read.standard_defaults, &PyDict_Type,
            &read.unadopted, &read.are_absent, &read.lendable,
            &read.read_only_view, &read.loop_of, &read.warned_errors, &read.warn, &read.ran, &read.moved,
            &PyTuple_Type, &read.skipped_files, &PyType_Type, &read.postponed_type, &read.put_off, &read.put_off_inplace, &read.value_of,
            &read.compute_readers, &PyDict_Type, &read.leaves, &read.error_variable,
            &read.threads, &read.large, &read.few, &read.small_nbytes, &read.modest_nbytes, &PyType_Type, &read.reordered_type,
            &read.keep_order)) {
        return NULL;
    }
    if (!find_slot(read.array_type, "_value", &read.native_offset)
        || !find_slot(read.array_type, "_home", &read.home_offset)
        || !find_slot(read.array_type, "_second", &read.second_offset)
        || !find_slot(read.array_type, "_view", &read.view_offset)
        || !find_slot(read.array_type, "_plain", &read.plain_offset)
        || !find_slot(read.home_type, "backend", &read.backend_offset)
        || !find_slot(read.home_type, "constants", &read.constants_offset)
        || !find_slot(read.home_type, "dtypes", &read.dtypes_offset)
        || !find_slot(read.home_type, "powers", &read.powers_offset)
        || !find_slot(read.home_type, "placed", &read.placed_offset)
        || !find_slot(read.backend_type, "free", &read.free_offset)
        || !find_slot(read.backend_type, "native_device", &read.native_device_offset)
        || !find_slot(read.backend_type, "_native_dtypes", &read.native_dtypes_offset)
        || !find_slot(read.choice_type, "backend", &read.chosen_offset)
        || !find_slot(read.choice_type, "fuses", &read.fuses_offset)
        || !find_slot(read.choice_type, "records", &read.records_offset)
        || !find_slot(read.limit_type, "elements", &read.elements_offset)
        || !find_slot(read.limit_type, "even", &read.even_offset)
        || !find_slot(read.limit_type, "product", &read.product_offset)
        || !find_slot(read.limit_type, "recorded", &read.recorded_offset)
        || !find_slot(read.dtype_type, "dtype", &read.numpy_dtype_offset)) {
        return NULL;
    }
    PyObject *const held[] = {
        (PyObject *)read.array_type, (PyObject *)read.home_type, (PyObject *)read.backend_type, (PyObject *)read.choice_type,
        (PyObject *)read.limit_type, (PyObject *)read.dtype_type, read.choice_variable, read.by_cost, read.numpy_home,
        read.powers, read.second_copy_sizes, read.ufuncs, read.operand_types, read.defaults_variable,
        read.standard_defaults, read.unadopted, read.are_absent, read.lendable,
        read.read_only_view, read.loop_of, read.warned_errors, read.warn, read.ran, read.moved, read.skipped_files, read.error_variable,
        (PyObject *)read.postponed_type, read.put_off, read.put_off_inplace, read.value_of, read.compute_readers,
        read.leaves, (PyObject *)read.reordered_type, read.keep_order,
    };
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_INCREF(held[i]);
    }
    config = read;
    use_free_arrays();
    Py_RETURN_NONE;
}

int
init_constants(void)
{
    return (constants.dtype_of = PyUnicode_InternFromString("dtype_of")) != NULL
           && (constants.dtype = PyUnicode_InternFromString("dtype")) != NULL
           && (constants.copy = PyUnicode_InternFromString("copy")) != NULL
           && (constants.shortcut = PyUnicode_InternFromString("shortcut")) != NULL
           && (constants.direct = PyUnicode_InternFromString("direct")) != NULL
           && (constants.requires_grad = PyUnicode_InternFromString("requires_grad")) != NULL
           && (constants.written = PyUnicode_InternFromString("written")) != NULL
           && (constants.is_in_place = PyUnicode_InternFromString("is_in_place")) != NULL
           && (constants.getitem = PyUnicode_InternFromString("getitem")) != NULL
           && (constants.shape_of = PyUnicode_InternFromString("shape_of")) != NULL
           && (constants.matrix_transpose = PyUnicode_InternFromString("matrix_transpose")) != NULL
           && (constants.ndim = PyUnicode_InternFromString("ndim")) != NULL
           && (constants.zero = PyUnicode_InternFromString("0")) != NULL
           && (constants.zero_float = PyUnicode_InternFromString("0.0")) != NULL
           && (constants.square = PyUnicode_InternFromString("square")) != NULL
           && (constants.multiply = PyUnicode_InternFromString("multiply")) != NULL
           && (constants.axis = PyUnicode_InternFromString("axis")) != NULL
           && (constants.keepdims = PyUnicode_InternFromString("keepdims")) != NULL
           && (constants.one = PyLong_FromLong(1)) != NULL
           && (constants.none = PyLong_FromLong(0)) != NULL
           && (constants.dtype_and_device = Py_BuildValue("(ss)", "dtype", "device")) != NULL;
}
