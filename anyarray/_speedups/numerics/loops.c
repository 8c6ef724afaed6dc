/* Calls the inner loops of NumPy's ufuncs directly, for one or two small operands of one shape and dtype or a scalar;
functions.c and chains use it.

This saves the ufunc's checks for casts, overrides, broadcasting and overlap, which take 0.2 us. Mirrors how a ufunc
finds its loop and reports floating-point errors; `tests/test_loops.py` compares the two. */

#include "loops.h"
#include "arrays.h"
#include "scalars.h"
#include <numpy/ufuncobject.h>

/* An operand of an inner loop. */
typedef struct {
    char *data;
    npy_intp stride;      /* bytes; 0 for one element */
    PyArrayObject *array; /* NULL for a scalar or a 0-d array */
    int typenum;
    npy_cdouble value; /* a scalar after a cast */
} LoopOperand;

int
import_ufuncs(void)
{
    import_umath1(0);
    return 1;
}

/* Reads an operand. Returns 0 without an exception if the ufunc must read it. */
static int
read_loop_operand(PyObject *native, LoopOperand *operand)
{
    operand->array = NULL;
    operand->stride = 0;
    if (PyArray_CheckExact(native)) {
        PyArrayObject *array = (PyArrayObject *)native;
        int ndim = PyArray_NDIM(array);
        if (!PyArray_ISBEHAVED_RO(array) || (ndim > 1 && !PyArray_IS_C_CONTIGUOUS(array))) {
            return 0;
        }
        operand->data = PyArray_BYTES(array);
        operand->typenum = PyArray_TYPE(array);
        if (ndim > 0) {
            operand->array = array;
            operand->stride = ndim == 1 ? PyArray_STRIDE(array, 0) : PyArray_ITEMSIZE(array);
        }
    }
    else {
        operand->typenum = scalar_typenum(Py_TYPE(native));
        operand->data = scalar_value(native);
    }
    return operand->typenum >= 0 && operand->typenum <= NPY_CDOUBLE;
}

/* Casts a scalar to the dtype of the other operand, if both promote to that. Returns 0 without an exception otherwise.
*/
static int
cast_operand(PyObject *native, LoopOperand *operand, int typenum)
{
    if (PyArray_CheckExact(native) || !PyArray_CanCastSafely(operand->typenum, typenum)) {
        return 0;
    }
    PyArray_Descr *dtype = PyArray_DescrFromType(typenum);
    int is_cast = dtype != NULL && PyArray_CastScalarToCtype(native, &operand->value, dtype) == 0;
    Py_XDECREF(dtype);
    if (!is_cast) {
        PyErr_Clear();
    }
    operand->data = (char *)&operand->value;
    operand->typenum = typenum;
    return is_cast;
}

/* Returns the index of the first loop of a ufunc with these type numbers, where -1 is any; -1 if there is none. */
static int
find_loop(PyUFuncObject *ufunc, const int *wanted)
{
    const char *types = ufunc->types;
    for (int i = 0; ufunc->functions != NULL && i < ufunc->ntypes; i++, types += ufunc->nargs) {
        int k = 0;
        while (k < ufunc->nargs && (types[k] == wanted[k] || wanted[k] < 0)) {
            k++;
        }
        if (k == ufunc->nargs) {
            return ufunc->functions[i] == NULL ? -1 : i;
        }
    }
    return -1;
}

/* Runs the inner loop of a ufunc. Returns a new reference; NULL without an exception if the ufunc must be called, or
with the exception that it would raise. */
static PyObject *
run_loop(PyUFuncObject *ufunc, PyObject *const *natives, size_t count)
{
    LoopOperand operands[2];
    if (count < 1 || count > 2 || (size_t)ufunc->nin != count || ufunc->nout != 1 || ufunc->core_enabled) {
        return NULL;
    }
    PyArrayObject *model = NULL; /* the operand with the shape of the result */
    for (size_t i = 0; i < count; i++) {
        if (!read_loop_operand(natives[i], &operands[i])) {
            return NULL;
        }
        if (operands[i].array != NULL) {
            if (model != NULL && !has_same_shape((PyObject *)model, natives[i])) {
                return NULL;
            }
            model = operands[i].array;
        }
    }
    int typenum = operands[0].typenum;
    if (count == 2 && typenum != operands[1].typenum) {
        if (cast_operand(natives[0], &operands[0], operands[1].typenum)) {
            typenum = operands[1].typenum;
        }
        else if (!cast_operand(natives[1], &operands[1], typenum)) {
            return NULL;
        }
    }
    npy_intp size = model == NULL ? 1 : PyArray_SIZE(model);
    const int types[] = {typenum, count == 2 ? typenum : -1, -1}; /* any for the result */
    int index = size < 1 || size >= config.few ? -1 : find_loop(ufunc, types);
    if (index < 0) {
        return NULL;
    }
    PyArray_Descr *dtype = PyArray_DescrFromType(ufunc->types[index * ufunc->nargs + count]);
    if (dtype == NULL) {
        return NULL;
    }
    PyObject *result = NULL;
    npy_cdouble value; /* a 0-d result of any dtype */
    if (model != NULL) {
        Py_INCREF(dtype);
        result = PyArray_NewFromDescr(&PyArray_Type, dtype, PyArray_NDIM(model), PyArray_DIMS(model), NULL, NULL, 0, NULL);
        if (result == NULL) {
            Py_DECREF(dtype);
            return NULL;
        }
    }
    char *data[3];
    npy_intp strides[3];
    for (size_t i = 0; i < count; i++) {
        data[i] = operands[i].data;
        strides[i] = operands[i].stride;
    }
    data[count] = model == NULL ? (char *)&value : PyArray_BYTES((PyArrayObject *)result);
    strides[count] = PyDataType_ELSIZE(dtype);
    PyUFunc_clearfperr();
    ufunc->functions[index](data, &size, strides, ufunc->data == NULL ? NULL : (void *)ufunc->data[index]);
    int errors = PyUFunc_getfperr();
    if (PyErr_Occurred() || (errors && PyUFunc_GiveFloatingpointErrors(ufunc->name, errors) < 0)) {
        Py_CLEAR(result);
    }
    else if (model == NULL) {
        result = PyArray_Scalar(&value, dtype, NULL);
    }
    Py_DECREF(dtype);
    return result;
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

int
find_exact_loop(PyObject *function, Loop *loop)
{
    PyUFuncObject *ufunc = (PyUFuncObject *)function;
    if (Py_TYPE(function) != &PyUFunc_Type || ufunc->nin != loop->operand_count || ufunc->nout != 1
        || ufunc->core_enabled) {
        return 0;
    }
    int index = find_loop(ufunc, loop->types);
    if (index >= 0) {
        loop->name = ufunc->name;
        loop->function = ufunc->functions[index];
        loop->data = ufunc->data == NULL ? NULL : (void *)ufunc->data[index];
    }
    return index >= 0;
}

PyObject *
new_ufunc(const char *name, LoopFunction *functions, void **data, const char *types, int count)
{
    return PyUFunc_FromFuncAndData(functions, data, types, count, 2, 1, PyUFunc_None, name, NULL, 0);
}

int
take_floating_errors(void)
{
    return PyUFunc_getfperr();
}
