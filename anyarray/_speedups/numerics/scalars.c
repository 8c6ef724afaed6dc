/* The type numbers of NumPy scalars, the native values of Python scalars, and the fast paths of `bool`, `int`, `float`,
`operator.index`, `hash` and `item`.

Mirrors the keys of the tables `constants` and `powers` of a home, with `_registry.home.zero`. */

#include "scalars.h"
#include "arrays.h"
#include "dtypes.h"
#include "fast_paths.h"
#include <math.h>
#include <stddef.h>

static_assert(offsetof(PyDoubleScalarObject, obval) == offsetof(PyBoolScalarObject, obval)
                  && offsetof(PyDoubleScalarObject, obval) == offsetof(PyCDoubleScalarObject, obval),
              "scalar_value reads the values of all classes at one place");

int
scalar_typenum(const PyTypeObject *type)
{
    return type == &PyDoubleArrType_Type      ? NPY_DOUBLE /* the most frequent first */
           : type == &PyLongArrType_Type      ? NPY_LONG
           : type == &PyBoolArrType_Type      ? NPY_BOOL
           : type == &PyFloatArrType_Type     ? NPY_FLOAT
           : type == &PyIntArrType_Type       ? NPY_INT
           : type == &PyUByteArrType_Type     ? NPY_UBYTE
           : type == &PyLongLongArrType_Type  ? NPY_LONGLONG
           : type == &PyULongArrType_Type     ? NPY_ULONG
           : type == &PyULongLongArrType_Type ? NPY_ULONGLONG
           : type == &PyUIntArrType_Type      ? NPY_UINT
           : type == &PyShortArrType_Type     ? NPY_SHORT
           : type == &PyUShortArrType_Type    ? NPY_USHORT
           : type == &PyByteArrType_Type      ? NPY_BYTE
           : type == &PyCDoubleArrType_Type   ? NPY_CDOUBLE
           : type == &PyCFloatArrType_Type    ? NPY_CFLOAT
           : type == &PyHalfArrType_Type      ? NPY_HALF
                                              : -1;
}

/* Returns a new reference to the key of a zero, its `repr`, because 0.0 == -0.0; NULL with an exception. */
static PyObject *
zero_key(PyObject *value)
{
    if (Py_TYPE(value) == &PyFloat_Type && !signbit(PyFloat_AS_DOUBLE(value))) {
        return Py_NewRef(constants.zero_float);
    }
    return Py_TYPE(value) == &PyLong_Type ? Py_NewRef(constants.zero) : PyObject_Repr(value);
}

PyObject *
look_up_scalar(PyObject *table, PyObject *value, PyObject *dtype)
{
    int is_true = PyObject_IsTrue(value);
    PyObject *number = is_true < 0 ? NULL : is_true ? Py_NewRef(value) : zero_key(value);
    PyObject *key = number == NULL ? NULL : PyTuple_Pack(3, number, (PyObject *)Py_TYPE(value), dtype);
    PyObject *found = key == NULL ? NULL : PyObject_GetItem(table, key); /* the table adds missing values */
    Py_XDECREF(number);
    Py_XDECREF(key);
    return found;
}

PyObject *
look_up_scalar_beside(PyObject *table, PyObject *value, PyObject *home, PyObject *beside)
{
    PyObject *dtype = dtype_of(home, beside), *found = dtype == NULL ? NULL : look_up_scalar(table, value, dtype);
    Py_XDECREF(dtype);
    return found == NULL ? fall_back() : found;
}

PyObject *
array_of_scalar(PyObject *value)
{
    int typenum = typenum_of(Py_TYPE(value));
    if (typenum < 0 || !has_standard_defaults()) {
        return NULL;
    }
    PyObject *array = PyArray_ZEROS(0, NULL, typenum, 0);
    if (array != NULL && PyArray_FillWithScalar((PyArrayObject *)array, value) < 0) {
        Py_CLEAR(array);
    }
    return array == NULL ? fall_back() : array;
}

/* Returns a borrowed reference to the scalar or 0-d ndarray of the only argument, an Array, and sets its type number;
NULL without an exception otherwise. */
static PyObject *
scalar_of_self(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, int *typenum)
{
    PyObject *native = nargs == 1 && !has_keywords(kwnames) && is_array(args[0]) ? native_of(args[0]) : NULL;
    if (native == NULL) {
        return NULL;
    }
    int has_no_axes = PyArray_CheckExact(native) && PyArray_NDIM((PyArrayObject *)native) == 0;
    *typenum = has_no_axes ? PyArray_TYPE((PyArrayObject *)native) : scalar_typenum(Py_TYPE(native));
    return *typenum < 0 ? NULL : native;
}

PyObject *
fast_bool(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int typenum;
    PyObject *scalar = scalar_of_self(args, nargs, kwnames, &typenum);
    int is_true = scalar == NULL ? -1 : PyObject_IsTrue(scalar);
    return is_true < 0 ? fall_back() : PyBool_FromLong(is_true);
}

PyObject *
fast_int(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int typenum;
    PyObject *scalar = scalar_of_self(args, nargs, kwnames, &typenum);
    PyObject *number = scalar != NULL && (is_real(typenum) || typenum == NPY_BOOL) ? PyNumber_Long(scalar) : NULL;
    return number == NULL ? fall_back() : number;
}

PyObject *
fast_float(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int typenum;
    PyObject *scalar = scalar_of_self(args, nargs, kwnames, &typenum);
    PyObject *number = scalar != NULL && (is_real(typenum) || typenum == NPY_BOOL) ? PyNumber_Float(scalar) : NULL;
    return number == NULL ? fall_back() : number;
}

PyObject *
fast_index(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int typenum;
    PyObject *scalar = scalar_of_self(args, nargs, kwnames, &typenum);
    PyObject *number = scalar != NULL && PyTypeNum_ISINTEGER(typenum) ? PyNumber_Index(scalar) : NULL;
    return number == NULL ? fall_back() : number;
}

PyObject *
fast_hash(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int typenum;
    PyObject *scalar = scalar_of_self(args, nargs, kwnames, &typenum);
    Py_hash_t hash = scalar == NULL || PyArray_CheckExact(scalar) ? -1 : PyObject_Hash(scalar);
    return hash == -1 ? fall_back() : PyLong_FromSsize_t(hash);
}

PyObject *
fast_item(Call *Py_UNUSED(call), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int typenum;
    PyObject *scalar = scalar_of_self(args, nargs, kwnames, &typenum);
    PyObject *item = NULL;
    if (scalar != NULL && typenum == NPY_BOOL) {
        int is_true = PyObject_IsTrue(scalar);
        item = is_true < 0 ? NULL : PyBool_FromLong(is_true);
    }
    else if (scalar != NULL && is_real(typenum)) {
        item = PyTypeNum_ISINTEGER(typenum) ? PyNumber_Long(scalar) : PyNumber_Float(scalar);
    }
    return item == NULL ? fall_back() : item;
}
