/* The loops of NumPy's ufuncs, called for few elements without what the ufunc looks at before. */

#include "speedups.h"
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

/* An operand as a loop reads it: where, and how far apart its elements are; 0 for one element of all. */
typedef struct {
    char *data;
    npy_intp step;
    PyArrayObject *array; /* of an axis or more, or NULL */
    double value[2];      /* a scalar's own, of whatever dtype */
} Operand;

int
prepare_loops(void)
{
    import_umath1(0);
    return 1;
}

/* Read an operand; its dtype's number, or -1 without an error for what the ufunc must look at itself. */
static int
operand_of(PyObject *native, Operand *operand)
{
    operand->array = NULL;
    operand->step = 0;
    if (PyArray_CheckExact(native)) {
        PyArrayObject *array = (PyArrayObject *)native;
        int ndim = PyArray_NDIM(array);
        if (!PyArray_ISBEHAVED_RO(array) || (ndim > 1 && !PyArray_IS_C_CONTIGUOUS(array))) {
            return -1;
        }
        operand->data = PyArray_BYTES(array);
        if (ndim > 0) {
            operand->array = array;
            operand->step = ndim == 1 ? PyArray_STRIDE(array, 0) : PyArray_ITEMSIZE(array);
        }
        return PyArray_DESCR(array)->type_num;
    }
    operand->data = (char *)operand->value;
    if (Py_TYPE(native) == &PyDoubleArrType_Type) {
        operand->value[0] = ((PyDoubleScalarObject *)native)->obval;
        return NPY_DOUBLE;
    }
    if (!PyArray_IsScalar(native, Number) && !PyArray_IsScalar(native, Bool)) {
        return -1;
    }
    PyArray_Descr *dtype = PyArray_DescrFromScalar(native);
    int type = dtype != NULL && dtype->typeobj == Py_TYPE(native) && dtype->type_num <= NPY_CDOUBLE ? dtype->type_num : -1;
    Py_XDECREF(dtype);
    if (type >= 0) {
        PyArray_ScalarAsCtype(native, operand->value);
    }
    return type;
}

/* The place of the loop of a ufunc for operands of one dtype; -1 if it has none in its table. */
static int
loop_of(PyUFuncObject *ufunc, int type)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        if (types[0] == type && (ufunc->nin == 1 || types[1] == type)) { /* the first is the one that the ufunc takes */
            return ufunc->functions != NULL && ufunc->functions[i] != NULL ? i : -1;
        }
    }
    return -1;
}

/* What a ufunc of one or two operands of one shape and dtype gives, of which one may be a scalar, and what it warns of.

NULL for all else, without an error or with the one that the ufunc would raise. */
static PyObject *
looped(PyUFuncObject *ufunc, PyObject *const *natives, size_t count)
{
    Operand operands[2];
    if (count > 2 || (size_t)ufunc->nin != count || ufunc->nout != 1 || ufunc->core_enabled) {
        return NULL;
    }
    int type = -1;
    PyArrayObject *model = NULL;
    for (size_t i = 0; i < count; i++) {
        int own = operand_of(natives[i], &operands[i]);
        if (own < 0 || own > NPY_CDOUBLE || (i > 0 && own != type)) {
            return NULL;
        }
        type = own;
        if (operands[i].array != NULL) {
            if (model != NULL && !is_same_shape((PyObject *)model, natives[i])) {
                return NULL;
            }
            model = operands[i].array;
        }
    }
    npy_intp size = model == NULL ? 1 : PyArray_SIZE(model);
    int at = size < 1 || size >= FEW ? -1 : loop_of(ufunc, type);
    if (at < 0) {
        return NULL;
    }
    int ndim = model == NULL ? 0 : PyArray_NDIM(model);
    npy_intp *shape = model == NULL ? NULL : PyArray_DIMS(model);
    PyObject *made = PyArray_SimpleNew(ndim, shape, ufunc->types[at * ufunc->nargs + count]);
    if (made == NULL) {
        return NULL;
    }
    char *data[3];
    npy_intp steps[3];
    for (size_t i = 0; i < count; i++) {
        data[i] = operands[i].data;
        steps[i] = operands[i].step;
    }
    data[count] = PyArray_BYTES((PyArrayObject *)made);
    steps[count] = PyArray_ITEMSIZE((PyArrayObject *)made);
    PyUFunc_clearfperr();
    ufunc->functions[at](data, &size, steps, ufunc->data == NULL ? NULL : (void *)ufunc->data[at]);
    int raised = PyUFunc_getfperr();
    if (PyErr_Occurred() || (raised && PyUFunc_GiveFloatingpointErrors(ufunc->name, raised) < 0)) {
        Py_DECREF(made);
        return NULL;
    }
    return PyArray_Return((PyArrayObject *)made);
}

/* What a function of NumPy gives for arrays and scalars of few elements; `flags` are those of a vectorcall. */
PyObject *
applied(PyObject *function, PyObject *const *arguments, size_t flags, PyObject *keywords)
{
    if (Py_TYPE(function) == &PyUFunc_Type && keywords == NULL) {
        PyObject *result = looped((PyUFuncObject *)function, arguments, (size_t)PyVectorcall_NARGS(flags));
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return PyObject_Vectorcall(function, arguments, flags, keywords);
}
