/* The objects and limits of the package that C reads; `_call.compiled.configure` passes them once. */

#ifndef ANYARRAY_CONFIG_H
#define ANYARRAY_CONFIG_H

#include "numpy_api.h"

/* The keyword arguments of `configure`: X(name) or X(name, class). */

#define CLASSES(X) \
    X(array_type) /* `_array.array.Array`; NULL before `configure` */ \
    X(home_type) /* `_registry.home.Home` */ \
    X(backend_type) /* `_registry.registry.Backend` */ \
    X(choice_type) /* `_choice.choice.Choice` */ \
    X(limit_type) /* `_choice.machine.Limit` */ \
    X(dtype_type) /* `_base.dtypes.DType` */ \
    X(reordered_type) /* `_memory.views.Reordered` */

#define OBJECTS(X) \
    X(choice_variable, PyContextVar_Type) /* holds the current Choice */ \
    X(by_cost, PyBaseObject_Type) /* Choice.backend under the automatic choice */ \
    X(numpy_home, PyBaseObject_Type) /* the home of free Arrays on NumPy */ \
    X(powers, PyDict_Type) /* exponents for which another function may replace the power */ \
    X(ufuncs, PyDict_Type) /* functions of the package by NumPy's ufunc */ \
    X(operand_types, PyFrozenSet_Type) /* NumPy classes that may be operands of Arrays */ \
    X(defaults_variable, PyContextVar_Type) /* holds the default dtypes */ \
    X(standard_defaults, PyDict_Type) /* the default dtypes outside of `default_dtypes` */ \
    X(unadopted, PyDict_Type) /* libraries that were not imported at the last look */ \
    X(are_absent, PyBaseObject_Type) /* function of these: whether all are still not imported */ \
    X(lendable, PyBaseObject_Type) /* the second copy of an Array whose memory may be shared */ \
    X(read_only_view, PyBaseObject_Type) /* `_memory.views.READ_ONLY`, the record of a read-only view */ \
    X(keep_order, PyBaseObject_Type) /* `_memory.views.keep_order` */ \
    X(skipped_files, PyTuple_Type) /* prefixes of the names of files that are not the user's */ \
    X(loop_of, PyBaseObject_Type) /* functions of `_lazy.loops`, to `ran` */ \
    X(warned_errors, PyBaseObject_Type) \
    X(warn, PyBaseObject_Type) \
    X(ran, PyBaseObject_Type) \
    X(result_dtype, PyBaseObject_Type) /* functions of `_lazy.recording`, to `base_of` */ \
    X(readable, PyBaseObject_Type) \
    X(compute, PyBaseObject_Type) \
    X(base_of, PyBaseObject_Type) \
    X(error_variable, PyBaseObject_Type) /* NumPy's ContextVar of floating-point error modes, or None */

#define NUMBERS(X) \
    X(threads) /* threads that run a chain */ \
    X(large) /* elements of a large call: `_choice.machine.LARGE` */ \
    X(few) /* elements below which shortcuts apply: `backends._shortcut.FEW` */ \
    X(small_nbytes) /* bytes below which memory is not aligned: `_memory.alignment.SMALL` */ \
    X(modest_nbytes) /* bytes below which a copy is cheap: `_memory.alignment.MODEST` */

/* The slots of these classes that C reads: X(class, field for the offset, slot). See `get_slot`. */
#define SLOTS(X) \
    X(array_type, native_offset, "_value") \
    X(array_type, home_offset, "_home") \
    X(array_type, second_offset, "_second") \
    X(array_type, view_offset, "_view") \
    X(home_type, backend_offset, "backend") \
    X(home_type, constants_offset, "constants") \
    X(home_type, dtypes_offset, "dtypes") \
    X(home_type, powers_offset, "powers") \
    X(home_type, placed_offset, "placed") \
    X(home_type, has_views_offset, "has_views") \
    X(backend_type, free_offset, "free") \
    X(backend_type, native_device_offset, "native_device") \
    X(backend_type, native_dtypes_offset, "_native_dtypes") \
    X(choice_type, chosen_offset, "backend") \
    X(choice_type, fuses_offset, "fuses") \
    X(choice_type, records_offset, "records") \
    X(limit_type, elements_offset, "elements") \
    X(limit_type, even_offset, "even") \
    X(limit_type, product_offset, "product") \
    X(limit_type, recorded_offset, "recorded") \
    X(dtype_type, numpy_dtype_offset, "dtype")

#define CLASS_FIELD(name) PyTypeObject *name;
#define OBJECT_FIELD(name, type) PyObject *name;
#define NUMBER_FIELD(name) npy_intp name;
#define SLOT_FIELD(type, name, slot) Py_ssize_t name;
typedef struct {
    CLASSES(CLASS_FIELD)
    OBJECTS(OBJECT_FIELD)
    NUMBERS(NUMBER_FIELD)
    SLOTS(SLOT_FIELD)
} Config;

extern Config config;

/* Interned strings, each named by its value. */
#define STRINGS(X) \
    X(astype) X(axis) X(copy) X(direct) X(dtype) X(dtype_of) X(getitem) X(is_in_place) X(keepdims) \
    X(matrix_transpose) X(multiply) X(named) X(ndim) X(requires_grad) X(shape_of) X(shortcut) \
    X(square) X(written)

#define STRING_FIELD(name) PyObject *name;
typedef struct {
    STRINGS(STRING_FIELD)
    PyObject *zero, *zero_float; /* the strings "0" and "0.0" */
    PyObject *one, *none;        /* the integers 1 and 0 */
    PyObject *dtype_and_device;  /* a tuple of these strings */
} Constants;

extern Constants constants;

/* Creates the constants. Returns 0 with an exception on failure. */
int init_constants(void);

PyObject *configure(PyObject *module, PyObject *args, PyObject *kwargs);

/* Returns a borrowed reference to the value of a slot; NULL without an exception if it is empty. */
static inline PyObject *
get_slot(PyObject *object, Py_ssize_t offset)
{
    return *(PyObject **)((char *)object + offset);
}

/* Sets a slot and steals the reference to the value. Returns the previous value, whose reference the caller now owns.
*/
static inline PyObject *
swap_slot(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    PyObject **slot = (PyObject **)((char *)object + offset), *before = *slot;
    *slot = value;
    return before;
}

#endif
