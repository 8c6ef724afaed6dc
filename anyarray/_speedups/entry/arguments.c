/* Binds the arguments of a call to parameters, and checks their types; used by the fast paths of functions.

Leaves to Python (`_call.arguments.convert_argument`): subclasses of built-in types, lists for tuples, keywords that are
not interned, and errors. */

#include "arguments.h"
#include "config.h"

int
bind_arguments(Call *call, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **values)
{
    if (nargs > call->positional_count) {
        return 0;
    }
    for (int i = 0; i < call->parameter_count; i++) {
        values[i] = i < nargs ? args[i] : NULL;
    }
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        int at = 0;
        while (at < call->parameter_count && call->parameters[at].name != name) {
            at++;
        }
        if (at == call->parameter_count || values[at] != NULL) {
            return 0;
        }
        values[at] = args[nargs + k];
    }
    for (int i = 0; i < call->parameter_count; i++) {
        if (values[i] == NULL && (values[i] = call->parameters[i].default_value) == NULL) {
            return 0;
        }
    }
    return 1;
}

int
are_integers(PyObject *value)
{
    if (Py_TYPE(value) != &PyTuple_Type) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (Py_TYPE(PyTuple_GET_ITEM(value, i)) != &PyLong_Type) {
            return 0;
        }
    }
    return 1;
}

int
takes_value(const Parameter *p, PyObject *value)
{
    int takes = p->takes;
    if (takes & TAKES_ANYTHING || (takes & TAKES_NONE && value == Py_None)) {
        return 1;
    }
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyLong_Type) {
        return takes & (TAKES_INTEGER | TAKES_REAL | TAKES_SCALAR);
    }
    if (type == &PyBool_Type) {
        return takes & (TAKES_BOOL | TAKES_SCALAR);
    }
    if (type == &PyFloat_Type) {
        return takes & (TAKES_REAL | TAKES_SCALAR);
    }
    if (type == &PyComplex_Type) {
        return takes & TAKES_SCALAR;
    }
    if (takes & TAKES_CHOICE && type == &PyUnicode_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->choices); i++) {
            PyObject *choice = PyTuple_GET_ITEM(p->choices, i);
            if (choice == value || PyUnicode_Compare(choice, value) == 0) {
                return 1;
            }
        }
    }
    return takes & TAKES_INTEGERS && are_integers(value);
}

int
read_keywords(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **dtype, PyObject **copy)
{
    if (dtype != NULL) {
        *dtype = NULL;
    }
    if (copy != NULL) {
        *copy = NULL;
    }
    for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k), *value = args[nargs + k];
        PyObject **read = name == constants.dtype ? dtype : name == constants.copy ? copy : NULL;
        if (read == NULL) {
            return 0;
        }
        *read = value == Py_None ? NULL : value;
    }
    return copy == NULL || *copy == NULL || *copy == Py_True || *copy == Py_False;
}
