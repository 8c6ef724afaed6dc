/* Operators of NumPy scalars, such as x[0] * y[0], and powers with a Python scalar; used by functions.c and
operators.c.

NumPy's scalars take a third of the time of a ufunc. Mirrors the powers of `_call.execution.call_on` (in `call_power`).
*/

#include "scalar_operators.h"
#include "arrays.h"
#include "choice.h"
#include "loops.h"
#include "scalars.h"

/* True for real numbers of which one has the dtype of the result, for a bool on the right, and for Python scalars. Not
for complex numbers, which NumPy compares other than the standard says. */
int
are_operands(PyObject *const *natives, int count)
{
    if (PyArray_CheckExact(natives[0])) { /* the most frequent case */
        return 0;
    }
    int left = scalar_typenum(Py_TYPE(natives[0]));
    if (count == 1 || is_python_scalar(natives[1])) {
        return is_real(left);
    }
    int right = scalar_typenum(Py_TYPE(natives[1]));
    if (is_python_scalar(natives[0])) {
        return is_real(right);
    }
    return is_real(left)
           && (left == right || (right >= 0 && PyArray_CanCastSafely(right, left))
               || (is_real(right) && PyArray_CanCastSafely(left, right)));
}

PyObject *
apply_operator(const Operator *operation, PyObject *const *operands)
{
    return operation->unary != NULL    ? operation->unary(operands[0])
           : operation->binary != NULL ? operation->binary(operands[0], operands[1])
                                       : PyObject_RichCompare(operands[0], operands[1], operation->comparison);
}

PyObject *
operate_on_scalars(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *natives[2];
    int by_size, typenum = -1;
    if (nargs != call->parameter_count || nargs > 2) {
        return NULL;
    }
    for (int i = 0; i < nargs; i++) {
        PyObject *value = args[call->native_order[i]];
        if (is_array(value)) {
            PyObject *native = home_of(value) == config.numpy_home ? native_of(value) : NULL;
            if (native == NULL || PyArray_CheckExact(native) || !is_real(typenum = scalar_typenum(Py_TYPE(native)))) {
                return NULL;
            }
            value = native;
        }
        natives[i] = value;
    }
    for (int i = 0; i < nargs; i++) {
        int is_own = natives[i] != args[call->native_order[i]];
        if (!is_own && (!is_python_scalar(natives[i]) || !takes_python_scalar(typenum, natives[i]))) {
            return NULL;
        }
    }
    if (typenum < 0 || !are_operands(natives, (int)nargs) || !(runs_at_home(config.numpy_home, &by_size) || by_size)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (call->operation != NULL) {
        result = apply_operator(call->operation, natives);
    }
    else if (is_python_scalar(natives[1])
             && (PyTypeNum_ISFLOAT(typenum) || (PyLong_CheckExact(natives[1]) && PyLong_AsLong(natives[1]) >= 0))) {
        result = PyNumber_Power(natives[0], natives[1], Py_None);
    }
    if (result == NULL || scalar_typenum(Py_TYPE(result)) < 0) {
        Py_XDECREF(result);
        return fall_back();
    }
    return wrap(result, config.numpy_home);
}

PyObject *
call_power(PyObject *home, PyObject *base, PyObject *exponent, int *is_known)
{
    PyObject *name = look_up_scalar_beside(get_slot(home, config.powers_offset), exponent, home, base);
    *is_known = name == Py_None;
    PyObject *function = name == NULL || *is_known ? NULL : PyObject_GetAttr(home, name);
    Py_XDECREF(name);
    if (function == NULL) {
        return fall_back();
    }
    PyObject *native = call_or_loop(function, &base, 1, NULL);
    Py_DECREF(function);
    return native == NULL ? fall_back() : wrap(native, home);
}
