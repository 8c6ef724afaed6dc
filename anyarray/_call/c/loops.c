/* The inner loops of NumPy's ufuncs.

Compiled: a ufunc of one or two operands of one shape and dtype, or with a scalar, of few elements: its loop
is called without the ufunc's own look at casts, overrides, broadcasting and overlap, which takes 0.2 us. Left
to the ufunc: all else. Repeated here: how a ufunc finds its loop, and how it reports floating-point errors;
`tests/test_loops.py` compares results, warnings and exceptions. */

#include "loops.h"
#include "arrays.h"
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

/* An operand as a loop reads it. */
typedef struct {
    char *data;
    npy_intp stride;      /* in bytes; 0 if the one element stands for all */
    PyArrayObject *array; /* NULL for a scalar or a 0-d array */
    double value[2];      /* the memory of a scalar, of whatever dtype */
} Operand;

int
import_ufuncs(void)
{
    import_umath1(0);
    return 1;
}

/* Reads an operand. Returns the number of its dtype; -1 without an exception for what the ufunc must look at. */
static int
read_operand(PyObject *native, Operand *operand)
{
    operand->array = NULL;
    operand->stride = 0;
    if (PyArray_CheckExact(native)) {
        PyArrayObject *array = (PyArrayObject *)native;
        int ndim = PyArray_NDIM(array);
        if (!PyArray_ISBEHAVED_RO(array) || (ndim > 1 && !PyArray_IS_C_CONTIGUOUS(array))) {
            return -1;
        }
        operand->data = PyArray_BYTES(array);
        if (ndim > 0) {
            operand->array = array;
            operand->stride = ndim == 1 ? PyArray_STRIDE(array, 0) : PyArray_ITEMSIZE(array);
        }
        return PyArray_TYPE(array);
    }
    operand->data = (char *)operand->value;
    if (Py_TYPE(native) == &PyDoubleArrType_Type) { /* as below, in a third of the time */
        operand->value[0] = ((PyDoubleScalarObject *)native)->obval;
        return NPY_DOUBLE;
    }
    if (!PyArray_IsScalar(native, Number) && !PyArray_IsScalar(native, Bool)) {
        return -1;
    }
    PyArray_Descr *dtype = PyArray_DescrFromScalar(native);
    int is_known = dtype != NULL && dtype->typeobj == Py_TYPE(native) && dtype->type_num <= NPY_CDOUBLE;
    int typenum = is_known ? dtype->type_num : -1;
    Py_XDECREF(dtype);
    if (is_known) {
        PyArray_ScalarAsCtype(native, operand->value);
    }
    return typenum;
}

/* The index of the loop of a ufunc for operands of one dtype; -1 if it has none. The ufunc takes the first that
fits. */
static int
find_loop(PyUFuncObject *ufunc, int typenum)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        if (types[0] == typenum && (ufunc->nin == 1 || types[1] == typenum)) {
            return ufunc->functions != NULL && ufunc->functions[i] != NULL ? i : -1;
        }
    }
    return -1;
}

/* Runs the inner loop of a ufunc.

Returns a new reference; NULL without an exception if the ufunc must be called, or with the one that it would
raise. */
static PyObject *
run_loop(PyUFuncObject *ufunc, PyObject *const *natives, size_t count)
{
    Operand operands[2];
    if (count > 2 || (size_t)ufunc->nin != count || ufunc->nout != 1 || ufunc->core_enabled) {
        return NULL;
    }
    int typenum = -1;
    PyArrayObject *model = NULL; /* the operand whose shape is that of the result */
    for (size_t i = 0; i < count; i++) {
        int own = read_operand(natives[i], &operands[i]);
        if (own < 0 || own > NPY_CDOUBLE || (i > 0 && own != typenum)) {
            return NULL;
        }
        typenum = own;
        if (operands[i].array != NULL) {
            if (model != NULL && !has_same_shape((PyObject *)model, natives[i])) {
                return NULL;
            }
            model = operands[i].array;
        }
    }
    npy_intp size = model == NULL ? 1 : PyArray_SIZE(model);
    int index = size < 1 || size >= config.few ? -1 : find_loop(ufunc, typenum);
    if (index < 0) {
        return NULL;
    }
    int ndim = model == NULL ? 0 : PyArray_NDIM(model);
    npy_intp *shape = model == NULL ? NULL : PyArray_DIMS(model);
    PyObject *result = PyArray_SimpleNew(ndim, shape, ufunc->types[index * ufunc->nargs + count]);
    if (result == NULL) {
        return NULL;
    }
    char *data[3];
    npy_intp strides[3];
    for (size_t i = 0; i < count; i++) {
        data[i] = operands[i].data;
        strides[i] = operands[i].stride;
    }
    data[count] = PyArray_BYTES((PyArrayObject *)result);
    strides[count] = PyArray_ITEMSIZE((PyArrayObject *)result);
    PyUFunc_clearfperr();
    ufunc->functions[index](data, &size, strides, ufunc->data == NULL ? NULL : (void *)ufunc->data[index]);
    int errors = PyUFunc_getfperr();
    if (PyErr_Occurred() || (errors && PyUFunc_GiveFloatingpointErrors(ufunc->name, errors) < 0)) {
        Py_DECREF(result);
        return NULL;
    }
    return PyArray_Return((PyArrayObject *)result); /* a scalar for a 0-d array */
}

PyObject *
call_or_loop(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (Py_TYPE(function) == &PyUFunc_Type && kwnames == NULL) {
        PyObject *result = run_loop((PyUFuncObject *)function, args, (size_t)PyVectorcall_NARGS(nargsf));
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return PyObject_Vectorcall(function, args, nargsf, kwnames);
}
