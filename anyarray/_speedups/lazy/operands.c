/* Reads the arguments of a call that is to be recorded; recording.c calls it. Mirrors `call_native` of functions.c for
Python scalars and powers. */

#include "operands.h"
#include "arrays.h"
#include "dtypes.h"
#include "exposure.h"
#include "scalars.h"

void
clear_operands(Operand *operands, int count)
{
    for (int i = 0; i < count; i++) {
        Py_CLEAR(operands[i].value);
        Py_CLEAR(operands[i].dtype);
    }
}

/* Reads a shape. Returns 0, perhaps with an exception, if it has too many axes or unknown lengths, as in a trace. */
static int
read_native_shape(PyObject *shape, Operand *operand)
{
    if (!PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > MAX_AXES) {
        return 0;
    }
    operand->ndim = (int)PyTuple_GET_SIZE(shape);
    operand->shape = operand->lengths;
    for (int i = 0; i < operand->ndim; i++) {
        operand->lengths[i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(shape, i), NULL);
    }
    return !PyErr_Occurred();
}

int
describe(PyObject *home, Operand *operand)
{
    PyObject *value = operand->value, *native = array_of_operand(value);
    if (is_lazy(value) || home == config.numpy_home) {
        operand->dtype = dtype_of_operand(value);
        operand->ndim = ndim_of_operand(value);
        operand->shape = shape_of_operand(value);
        return operand->dtype != NULL;
    }
    operand->dtype = dtype_of(home, native);
    PyObject *shape = operand->dtype == NULL ? NULL : PyObject_CallMethodOneArg(home, constants.shape_of, native);
    int is_known = shape != NULL && read_native_shape(shape, operand);
    Py_XDECREF(shape);
    return is_known;
}

int
has_shape_of_operand(const Operand *one, const Operand *other)
{
    return one->ndim == other->ndim && PyArray_CompareLists(one->shape, other->shape, one->ndim);
}

int
broadcast_operands(const Operand *operands, int count, npy_intp *shape, npy_intp *size)
{
    int ndim = 0;
    for (int i = 0; i < count; i++) {
        ndim = operands[i].ndim > ndim ? operands[i].ndim : ndim;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < operands[i].ndim; k++) {
            npy_intp own = operands[i].shape[k], *length = &shape[ndim - operands[i].ndim + k];
            if (own != *length && own != 1 && *length != 1) {
                return -1;
            }
            *length = own == 1 ? *length : own;
        }
    }
    *size = 1;
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] == 0 || *size > MAX_RECORDED_NBYTES / shape[axis]) {
            return -1;
        }
        *size *= shape[axis];
    }
    return ndim;
}

int
read_operand(PyObject *home, PyObject *array, Operand *operand)
{
    PyObject *native = home_of(array) == home ? get_slot(array, config.native_offset) : NULL;
    operand->array = array;
    if (native != NULL && is_lazy(native)) {
        PyObject *value = ((Lazy *)native)->value;
        native = value == NULL ? native : value;
    }
    if (native == NULL) {
        return 0;
    }
    if (is_lazy(native) || home != config.numpy_home) {
        operand->value = Py_NewRef(native);
    }
    else if (PyArray_CheckExact(native)) {
        operand->value = stable_operand(native);
    }
    else if (scalar_typenum(Py_TYPE(native)) >= 0) {
        operand->value = PyArray_FromScalar(native, NULL);
    }
    return operand->value != NULL && describe(home, operand);
}

/* Returns a 0-d native array of a constant of a home and steals its reference; NULL with an exception. */
static PyObject *
array_of_constant(PyObject *home, PyObject *constant)
{
    PyObject *array = constant == NULL || home != config.numpy_home ? constant : PyArray_FROM_O(constant);
    if (array != constant) {
        Py_DECREF(constant);
    }
    return array;
}

/* Makes an operand of a Python scalar in the dtype that it takes beside a native dtype. Returns 0, perhaps with an
exception, if the call cannot be recorded. */
static int
read_scalar_beside(PyObject *home, PyObject *value, PyObject *dtype, Operand *operand)
{
    int typenum = home == config.numpy_home ? ((PyArray_Descr *)dtype)->type_num : -1;
    if (typenum >= 0 && takes_python_scalar(typenum, value)) {
        PyObject *number = operand->value = PyArray_ZEROS(0, NULL, typenum, 0);
        if (number == NULL || PyArray_SETITEM((PyArrayObject *)number, PyArray_DATA((PyArrayObject *)number), value) < 0) {
            return 0;
        }
    }
    else {
        operand->value = array_of_constant(home, look_up_scalar(get_slot(home, config.constants_offset), value, dtype));
    }
    return operand->value != NULL && describe(home, operand);
}

/* The same for a scalar that is beside no array, in the dtype of its class. */
static int
read_scalar(PyObject *home, PyObject *value, Operand *operand)
{
    int typenum = typenum_of(Py_TYPE(value));
    PyObject *dtype = typenum < 0 || !has_standard_defaults() ? NULL : (PyObject *)PyArray_DescrFromType(typenum);
    PyObject *name = dtype == NULL ? NULL : PyObject_Str(dtype), *table = get_slot(home, config.constants_offset);
    if (name != NULL) {
        PyObject *number = PyObject_CallMethodObjArgs(table, constants.named, value, name, NULL);
        operand->value = array_of_constant(home, number);
    }
    Py_XDECREF(name);
    Py_XDECREF(dtype);
    return operand->value != NULL && describe(home, operand);
}

/* Returns a borrowed reference to the name of the function that replaces a power; NULL, perhaps with an exception, if
there is none. */
static PyObject *
name_of_power(PyObject *home, PyObject *exponent, PyObject *dtype)
{
    PyObject *name = look_up_scalar(get_slot(home, config.powers_offset), exponent, dtype);
    Py_XDECREF(name); /* the table keeps a reference */
    return name == Py_None ? NULL : name;
}

int
read_operands(Call *call, PyObject *home, PyObject *const *values, Operand *operands, PyObject **name)
{
    int count = call->parameter_count, place[MAX_PARAMETERS];
    for (int i = 0; i < count; i++) {
        int at = call->native_order[i];
        Operand *operand = &operands[i];
        operand->array = operand->value = operand->dtype = NULL;
        place[at] = i;
    }
    for (int i = 0; i < count; i++) {
        PyObject *value = values[i];
        Operand *operand = &operands[place[i]];
        if (is_array(value)) {
            if (!read_operand(home, value, operand)) {
                return 0;
            }
        }
        else if (home == config.numpy_home && is_numpy_scalar_operand(call, value)) {
            operand->value = PyArray_FromScalar(value, NULL);
            if (operand->value == NULL || !describe(home, operand)) {
                return 0;
            }
        }
        else if (!(call->parameters[i].role == WEAK && is_python_scalar(value))) {
            return 0;
        }
    }
    for (int i = 0; i < count; i++) {
        int beside = call->parameters[i].beside, is_read = operands[place[i]].value != NULL;
        if (!is_read && is_array(values[beside])) {
            PyObject *dtype = operands[place[beside]].dtype;
            if ((call->flags & IS_POWER) && place[i] == 1 && PyDict_Contains(config.powers, values[i]) == 1
                && (*name = name_of_power(home, values[i], dtype)) != NULL) {
                return 1;
            }
            is_read = !PyErr_Occurred() && read_scalar_beside(home, values[i], dtype, &operands[place[i]]);
        }
        else if (!is_read && beside != i && Py_TYPE(values[beside]) == Py_TYPE(values[i])) { /* where(b, 1.0, 0.0) */
            is_read = read_scalar(home, values[i], &operands[place[i]]);
        }
        if (!is_read) {
            return 0;
        }
    }
    return 1;
}
