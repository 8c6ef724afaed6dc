/* What is told of dtypes, by NumPy's own table of them. */

#include "speedups.h"

/* Whether a dtype is one of the standard's, which NumPy promotes as it says. */
int
is_plain(PyArray_Descr *dtype)
{
    return PyTypeNum_ISNUMBER(dtype->type_num) || dtype->type_num == NPY_BOOL;
}

/* NumPy's dtype for what was given as one, or for floats: a new reference, or NULL. */
PyArray_Descr *
dtype_for(PyObject *given)
{
    if (given == NULL || given == Py_None) {
        return are_defaults_usual() ? PyArray_DescrFromType(NPY_DOUBLE) : NULL;
    }
    PyObject *found = Py_TYPE(given) == house.dtype ? field(given, house.dtype_at) : NULL;
    return found != NULL && PyArray_DescrCheck(found) ? (PyArray_Descr *)Py_NewRef(found) : NULL;
}

/* NumPy's dtype of a dtype or of an Array in NumPy: a new reference, or NULL. */
static PyArray_Descr *
dtype_named(PyObject *value)
{
    PyArray_Descr *found = NULL;
    if (Py_TYPE(value) == house.dtype) {
        found = dtype_for(value);
    }
    else if (Py_TYPE(value) == house.array && field(value, house.home_at) == house.numpy) {
        PyObject *native = field(value, house.native_at);
        found = native == NULL ? NULL : (PyArray_Descr *)dtype_of(house.numpy, native);
    }
    if (found != NULL && !is_plain(found)) {
        Py_CLEAR(found);
    }
    return found;
}

/* `result_type` of dtypes and Arrays, without Python scalars. */
PyObject *
quick_result_type(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given < 1 || (keywords != NULL && PyTuple_GET_SIZE(keywords))) {
        return NULL;
    }
    PyArray_Descr *found = dtype_named(args[0]);
    for (Py_ssize_t i = 1; found != NULL && i < given; i++) {
        PyArray_Descr *other = dtype_named(args[i]), *before = found;
        found = other == NULL ? NULL : PyArray_PromoteTypes(before, other);
        Py_DECREF(before);
        Py_XDECREF(other);
    }
    PyObject *result = NULL;
    if (found != NULL && is_plain(found)) {
        result = PyDict_GetItemWithError(field(house.numpy, house.dtypes_at), (PyObject *)found);
        Py_XINCREF(result);
    }
    Py_XDECREF(found);
    return result == NULL ? leave() : result;
}

/* `can_cast` of a dtype or an Array to a dtype. */
PyObject *
quick_can_cast(Call *call, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    if (given != 2 || (keywords != NULL && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[1]) != house.dtype) {
        return NULL;
    }
    PyArray_Descr *from = dtype_named(args[0]), *to = dtype_named(args[1]);
    PyArray_Descr *both = from == NULL || to == NULL ? NULL : PyArray_PromoteTypes(from, to);
    PyObject *result = both == NULL ? NULL : Py_NewRef(PyArray_EquivTypes(both, to) ? Py_True : Py_False);
    Py_XDECREF(from);
    Py_XDECREF(to);
    Py_XDECREF(both);
    return result == NULL ? leave() : result;
}
