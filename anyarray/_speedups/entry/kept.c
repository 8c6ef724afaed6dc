/* Decisions that were made about calls alike, and hold where the Arrays of a call live.

Compiled: to find them, and what a call missed elsewhere. Left to Python: decisions, those of calls that move or that
another backend may pay for later, Arrays in NumPy with an account. Repeated here: the key of a decision
(`_choice.automatic.key_of`), and how missed savings are added to an account (`_choice.accounts.CallAccounts.miss`). */

#include "kept.h"
#include "arrays.h"
#include "choice.h"

/* The fields of a KeptCall that are read here. */
enum { AT_ONCE = 0, GAINS = 1, HERE = 3, ALIKE = 5, EARLY = 7 };

/* A borrowed reference to the account of a value; NULL if it has none. */
static PyObject *
account_of(PyObject *value)
{
    PyObject *account = is_array(value) ? get_slot(value, config.account_offset) : NULL;
    return account == NULL || !PyTuple_Check(account) || PyTuple_GET_SIZE(account) != 2 ? NULL : account;
}

int
has_account(PyObject *const *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (account_of(values[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* The account of the first Array that has one: borrowed, or NULL. */
static PyObject *
first_account(Call *call, PyObject *const *values)
{
    PyObject *account = NULL;
    for (int i = 0; i < call->parameter_count && account == NULL; i++) {
        account = account_of(values[call->native_order[i]]);
    }
    return account;
}

/* A number of a dict by its key: 0 if it has none. */
static double
seconds_at(PyObject *dict, PyObject *key)
{
    PyObject *value = PyDict_GetItemWithError(dict, key);
    return value != NULL && PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : 0;
}

/* Whether the accounts say no more than what was missed. In NumPy none may miss anything, as views inherit it. */
static int
are_plain(Call *call, PyObject *home, PyObject *const *values)
{
    int is_numpy = home == config.numpy_home, count = 0;
    for (int i = 0; i < call->parameter_count; i++) {
        PyObject *account = account_of(values[i]);
        if (account != NULL) {
            count++;
            if (seconds_at(PyTuple_GET_ITEM(account, 0), constants.reading) != 0
                || seconds_at(PyTuple_GET_ITEM(account, 1), constants.returned) != 0) {
                return 0;
            }
        }
    }
    return is_numpy ? count == 0 && !PyDict_Size(config.accounts) : count > 0;
}

static PyObject *
shape_of(PyObject *home, PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return PyArray_IntTupleFromIntp(PyArray_NDIM((PyArrayObject *)native), PyArray_DIMS((PyArrayObject *)native));
    }
    PyObject *function = PyObject_GetAttr(home, constants.shape_of);
    PyObject *shape = function == NULL ? NULL : PyObject_CallOneArg(function, native);
    Py_XDECREF(function);
    return shape;
}

/* The key of a kept decision: a new reference, or NULL with an exception. */
static PyObject *
key_of(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives)
{
    Py_ssize_t size = 1;
    for (int i = 0; i < call->parameter_count; i++) {
        size += 4 * is_array(values[i]);
    }
    PyObject *key = PyTuple_New(size);
    if (key == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(key, 0, Py_NewRef(call->axis_at < 0 ? Py_None : values[call->axis_at]));
    Py_ssize_t to = 1;
    for (int i = 0; i < call->parameter_count; i++) {
        int at = call->native_order[i];
        if (!is_array(values[at])) {
            continue;
        }
        PyObject *second = get_slot(values[at], config.second_offset);
        int has_second = second != NULL && PyTuple_Check(second) && PyTuple_GET_SIZE(second) == 2;
        PyTuple_SET_ITEM(key, to++, Py_NewRef(home));
        PyTuple_SET_ITEM(key, to++, Py_NewRef(has_second ? PyTuple_GET_ITEM(second, 0) : Py_None));
        PyObject *shape = shape_of(home, natives[at]);
        PyObject *dtype = shape == NULL ? NULL : PyObject_GetAttr(natives[at], constants.dtype);
        if (dtype == NULL) {
            Py_XDECREF(shape);
            Py_DECREF(key);
            return NULL;
        }
        PyTuple_SET_ITEM(key, to++, shape);
        PyTuple_SET_ITEM(key, to++, dtype);
    }
    return key;
}

/* Whether a call misses nothing on any other backend. */
static int
misses_nothing(PyObject *gains)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(gains); i++) {
        if (PyFloat_AsDouble(PyTuple_GET_ITEM(PyTuple_GET_ITEM(gains, i), 1)) > 0) {
            return 0;
        }
    }
    return 1;
}

/* Whether the profile need not be read for a call: its usual seconds are taken from what is left until then. */
static int
is_early(PyObject *early)
{
    PyObject *seconds = PyTuple_GET_ITEM(early, 0);
    double left = seconds_at(seconds, constants.left) - PyFloat_AsDouble(PyTuple_GET_ITEM(early, 1));
    PyObject *number = left > 0 ? PyFloat_FromDouble(left) : NULL;
    int is_taken = number != NULL && PyDict_SetItem(seconds, constants.left, number) == 0;
    Py_XDECREF(number);
    return is_taken;
}

PyObject *
kept_at_home(Call *call, PyObject *home, PyObject *const *values, PyObject *const *natives)
{
    int is_numpy = home == config.numpy_home;
    if (call->kept_calls == NULL || !PyDict_GET_SIZE(call->kept_calls) || !are_plain(call, home, values)
        || (is_numpy && call->is_elementwise && recorded_below(call->limit, 0))) { /* then it is recorded, by Python */
        return NULL;
    }
    PyObject *key = key_of(call, home, values, natives);
    PyObject *kept = key == NULL ? NULL : PyDict_GetItemWithError(call->kept_calls, key);
    Py_XINCREF(kept);
    Py_XDECREF(key);
    if (kept != NULL && (PyTuple_GET_ITEM(kept, AT_ONCE) != home
                         || (is_numpy && !misses_nothing(PyTuple_GET_ITEM(kept, GAINS)))
                         || (PyTuple_GET_ITEM(kept, EARLY) != Py_None && !is_early(PyTuple_GET_ITEM(kept, EARLY))))) {
        Py_CLEAR(kept);
    }
    return kept == NULL ? fall_back() : kept;
}

/* Adds what a call missed to seconds by backend; 0 with an exception. */
static int
miss(PyObject *missed, PyObject *gains)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(gains); i++) {
        PyObject *name = PyTuple_GET_ITEM(PyTuple_GET_ITEM(gains, i), 0);
        double gain = PyFloat_AsDouble(PyTuple_GET_ITEM(PyTuple_GET_ITEM(gains, i), 1));
        double before = seconds_at(missed, name), after = before + gain;
        if (before == 0 && !(gain > 0)) {
            continue;
        }
        PyObject *sum = PyFloat_FromDouble(after > 0 ? after : 0);
        int is_set = sum != NULL && PyDict_SetItem(missed, name, sum) == 0;
        Py_XDECREF(sum);
        if (!is_set) {
            return 0;
        }
    }
    return 1;
}

static int
give_account(PyObject *array, PyObject *pool, PyObject *own, PyTypeObject *type)
{
    PyObject *account = type->tp_alloc(type, 2), *copy = account == NULL ? NULL : PyDict_Copy(own);
    if (copy == NULL) {
        Py_XDECREF(account);
        return 0;
    }
    PyTuple_SET_ITEM(account, 0, Py_NewRef(pool));
    PyTuple_SET_ITEM(account, 1, copy);
    Py_XDECREF(swap_slot(array, config.account_offset, account));
    return 1;
}

int
inherit_account(Call *call, PyObject *kept, PyObject *const *values, PyObject *result)
{
    PyObject *account = first_account(call, values), *gains = PyTuple_GET_ITEM(kept, GAINS);
    if (account == NULL) {
        return 1;
    }
    Py_INCREF(account); /* another thread may replace it */
    PyObject *pool = PyTuple_GET_ITEM(account, 0), *own = PyTuple_GET_ITEM(account, 1);
    int is_done = miss(pool, gains) && miss(own, gains) && miss(PyTuple_GET_ITEM(kept, ALIKE), gains)
                  && PyObject_SetAttr(pool, constants.last, PyTuple_GET_ITEM(kept, HERE)) == 0;
    int count = is_array(result) ? 1 : (int)PyTuple_GET_SIZE(result);
    for (int i = 0; is_done && i < count; i++) {
        PyObject *one = is_array(result) ? result : PyTuple_GET_ITEM(result, i);
        is_done = give_account(one, pool, own, Py_TYPE(account));
    }
    Py_DECREF(account);
    return is_done;
}
