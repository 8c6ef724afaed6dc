/* Reads dtype arguments and default dtypes for the fast paths; implements that of `result_type`.

Leaves to Python: dtypes of other libraries, and Python types inside `default_dtypes`. Mirrors `_base.dtypes`: the
defaults of STANDARD_DEFAULTS, and promotion, which is NumPy's for the standard's dtypes. */

#include "dtypes.h"
#include "arrays.h"
#include "fast_paths.h"
#include "scalars.h"

int
is_standard(PyArray_Descr *dtype)
{
    return PyTypeNum_ISNUMBER(dtype->type_num) || dtype->type_num == NPY_BOOL;
}

int
has_known_dtype(PyObject *home, PyArrayObject *array)
{
    int found = PyDict_Contains(get_slot(home, config.dtypes_offset), (PyObject *)PyArray_DESCR(array));
    if (found < 0) {
        PyErr_Clear();
    }
    return found == 1;
}

int
has_standard_defaults(void)
{
    PyObject *defaults = NULL;
    if (PyContextVar_Get(config.defaults_variable, NULL, &defaults) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(defaults); /* only compared */
    return defaults == config.standard_defaults;
}

/* Returns a new reference to the NumPy dtype of a DType; NULL without an exception for other objects. */
static PyArray_Descr *
dtype_of_ours(PyObject *ours)
{
    PyObject *found = ours != NULL && Py_TYPE(ours) == config.dtype_type ? get_slot(ours, config.numpy_dtype_offset)
                                                                         : NULL;
    return found != NULL && PyArray_DescrCheck(found) ? (PyArray_Descr *)Py_NewRef(found) : NULL;
}

PyArray_Descr *
read_dtype_of(PyObject *home, PyObject *native)
{
    PyObject *ours = PyDict_GetItemWithError(get_slot(home, config.dtypes_offset), native);
    if (ours == NULL) {
        fall_back();
    }
    return dtype_of_ours(ours);
}

PyArray_Descr *
read_dtype(PyObject *dtype)
{
    if (dtype == NULL) {
        return has_standard_defaults() ? PyArray_DescrFromType(NPY_DOUBLE) : NULL;
    }
    if (PyArray_DescrCheck(dtype)) {
        return read_dtype_of(config.numpy_home, dtype);
    }
    if (PyUnicode_CheckExact(dtype)) { /* a name, such as "float32" or "u1" */
        PyArray_Descr *named = NULL;
        if (!PyArray_DescrConverter(dtype, &named)) {
            return (PyArray_Descr *)fall_back();
        }
        int is_known = is_standard(named) && PyArray_ISNBO(named->byteorder);
        PyArray_Descr *known = is_known ? read_dtype_of(config.numpy_home, (PyObject *)named) : NULL;
        Py_DECREF(named);
        return known;
    }
    if (!PyType_Check(dtype)) {
        return dtype_of_ours(dtype);
    }
    int typenum = typenum_of((PyTypeObject *)dtype);
    if (typenum >= 0) {
        return has_standard_defaults() ? PyArray_DescrFromType(typenum) : NULL;
    }
    typenum = scalar_typenum((PyTypeObject *)dtype);
    PyArray_Descr *own = typenum < 0 ? NULL : PyArray_DescrFromType(typenum);
    PyArray_Descr *found = own == NULL ? NULL : read_dtype_of(config.numpy_home, (PyObject *)own);
    Py_XDECREF(own);
    return found;
}

/* Returns a new reference to the NumPy dtype of an argument of `result_type`; NULL without an exception. */
static PyArray_Descr *
dtype_to_promote(PyObject *value)
{
    PyArray_Descr *dtype = NULL;
    if (!is_array(value)) {
        dtype = read_dtype(value);
    }
    else if (home_of(value) == config.numpy_home && native_of(value) != NULL) {
        dtype = (PyArray_Descr *)dtype_of(config.numpy_home, native_of(value));
    }
    if (dtype != NULL && !is_standard(dtype)) {
        Py_CLEAR(dtype);
    }
    return dtype;
}

PyObject *
fast_result_type(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs < 1 || has_keywords(kwnames)) {
        return NULL;
    }
    PyArray_Descr *promoted = dtype_to_promote(args[0]);
    for (Py_ssize_t i = 1; promoted != NULL && i < nargs; i++) {
        PyArray_Descr *other = dtype_to_promote(args[i]), *before = promoted;
        promoted = other == NULL ? NULL : PyArray_PromoteTypes(before, other);
        Py_DECREF(before);
        Py_XDECREF(other);
    }
    PyObject *result = NULL;
    if (promoted != NULL) {
        PyObject *dtypes = get_slot(config.numpy_home, config.dtypes_offset);
        result = Py_XNewRef(PyDict_GetItemWithError(dtypes, (PyObject *)promoted));
    }
    Py_XDECREF(promoted);
    return result == NULL ? fall_back() : result;
}
