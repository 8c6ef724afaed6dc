/* What `configure` says of the package, and how Arrays are read and made. */

#include "speedups.h"
#include <structmember.h>

House house;
Names names;

/* The native dtype of an array on `home`; a new reference, or NULL with an error. */
PyObject *
dtype_of(PyObject *home, PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)native));
    }
    if (PyArray_IsScalar(native, Generic)) {
        return (PyObject *)PyArray_DescrFromScalar(native);
    }
    PyObject *function = PyObject_GetAttr(home, names.dtype_of);
    if (function == NULL) {
        return NULL;
    }
    PyObject *found = PyObject_CallOneArg(function, native);
    Py_DECREF(function);
    return found;
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

/* The backend of the choice that holds here, only to be compared: no reference. NULL without an error if there is none. */
PyObject *
what_is_chosen(void)
{
    PyObject *choice = NULL;
    if (PyContextVar_Get(house.current, NULL, &choice) < 0) {
        PyErr_Clear();
    }
    PyObject *found = choice != NULL && Py_TYPE(choice) == house.choice ? field(choice, house.chosen_at) : NULL;
    Py_XDECREF(choice);
    return found;
}

/* Whether the call stays where its arrays live, on `home`. Under the automatic choice that may be a matter of size. */
int
stays(PyObject *home, int *by_size)
{
    PyObject *chosen = what_is_chosen();
    *by_size = 0;
    if (chosen == NULL) {
        return 0;
    }
    if (chosen == Py_None || chosen == field(home, house.backend_at)) {
        return 1;
    }
    if (chosen != house.by_cost) {
        return 0;
    }
    if (field(home, house.placed_at) == Py_True) {
        return 1;
    }
    *by_size = 1;
    return home == house.numpy;
}

/* An Array of a native one, whose reference it takes. */
PyObject *
wrap(PyObject *native, PyObject *home)
{
    PyObject *made = PyType_GenericAlloc(house.array, 0);
    if (made == NULL) {
        Py_DECREF(native);
        return NULL;
    }
    *(PyObject **)((char *)made + house.native_at) = native;
    *(PyObject **)((char *)made + house.home_at) = Py_NewRef(home);
    if (home == house.numpy) {
        PyObject_GC_UnTrack(made); /* as ndarrays are not, to which nothing of it leads back; a collection takes time */
    }
    return made;
}

/* Put what went wrong aside, so that the Python function finds it again, and explains it. Not KeyboardInterrupt. */
PyObject *
leave(void)
{
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
    }
    return NULL;
}

/* The Arrays of native ones in a tuple of this class, which is a class of tuples; NULL with an error. */
PyObject *
all_wrapped(PyObject *natives, PyObject *home, PyTypeObject *class)
{
    PyObject *given = PyTuple_Check(natives) ? Py_NewRef(natives) : PySequence_Tuple(natives); /* nobody changes it */
    if (given == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    /* Not by calling the class, which would take several times as long. */
    PyObject *result = class == &PyTuple_Type ? PyTuple_New(count) : class->tp_alloc(class, count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *array = wrap(Py_NewRef(PyTuple_GET_ITEM(given, i)), home);
        if (array == NULL) {
            Py_CLEAR(result);
            break;
        }
        PyTuple_SET_ITEM(result, i, array);
    }
    Py_DECREF(given);
    return result;
}

/* The same, left to Python if that fails; takes the reference to the native ones. */
PyObject *
wrap_all(PyObject *natives, PyObject *home, PyObject *class)
{
    PyObject *result = all_wrapped(natives, home, (PyTypeObject *)class);
    Py_DECREF(natives);
    return result == NULL ? leave() : result;
}

/* Forget the second copy of an Array. */
void
forget(PyObject *array)
{
    PyObject **second = (PyObject **)((char *)array + house.second_at), *before = *second;
    *second = Py_NewRef(Py_None);
    Py_XDECREF(before);
}

/* Where instances of a class have a slot. */
static int
find(PyTypeObject *type, const char *name, Py_ssize_t *at)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL) {
        return 0;
    }
    int is_slot = Py_TYPE(found) == &PyMemberDescr_Type && ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX;
    if (is_slot) {
        *at = ((PyMemberDescrObject *)found)->d_member->offset;
    }
    else {
        PyErr_Format(PyExc_TypeError, "configure: %s.%s must be a slot", type->tp_name, name);
    }
    Py_DECREF(found);
    return is_slot;
}

PyObject *
configure(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"array",    "home",           "choice", "limit",     "dtype",      "current", "by_cost",
                            "numpy",    "powers",         "kept",   "read_apart", "ufuncs",    "operands",
                            "defaults", "usual_defaults", "state",  "unadopted", "are_absent", "lendable",
                            "accounts", "writes",   "large",          "small",  "modest",    "narrow", NULL};
    PyTypeObject *array, *home, *choice, *limit, *dtype;
    PyObject *current, *by_cost, *numpy, *powers, *read_apart, *kept, *ufuncs, *operands;
    PyObject *defaults, *usual_defaults, *state, *unadopted, *are_absent, *lendable, *accounts, *writes;
    Py_ssize_t large, small, modest, narrow;
    if (house.array != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "configure: may be called once");
        return NULL;
    }
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!O!O!O!O!O!OOO!OO!O!O!O!O!OO!OOO!O!nnnn", names, &PyType_Type, &array, &PyType_Type, &home,
            &PyType_Type, &choice, &PyType_Type, &limit, &PyType_Type, &dtype, &PyContextVar_Type, &current, &by_cost,
            &numpy, &PyDict_Type, &powers, &kept, &PyDict_Type, &read_apart, &PyDict_Type, &ufuncs, &PyFrozenSet_Type,
            &operands, &PyContextVar_Type, &defaults, &PyDict_Type, &usual_defaults, &state, &PyDict_Type, &unadopted,
            &are_absent, &lendable, &PyDict_Type, &accounts, &PyList_Type, &writes, &large, &small, &modest, &narrow)) {
        return NULL;
    }
    if (!PyDict_Check(kept) || PyList_GET_SIZE(writes) != 64) {
        PyErr_SetString(PyExc_TypeError, "configure: kept must be a dict, and writes of 64 locks");
        return NULL;
    }
    if (!(find(array, "_native", &house.native_at) && find(array, "_home", &house.home_at)
          && find(array, "_second", &house.second_at) && find(array, "_account", &house.account_at)
          && find(dtype, "dtype", &house.dtype_at)
          && find(home, "backend", &house.backend_at) && find(home, "constants", &house.constants_at)
          && find(home, "dtypes", &house.dtypes_at) && find(home, "powers", &house.powers_at)
          && find(home, "placed", &house.placed_at) && find(choice, "backend", &house.chosen_at)
          && find(limit, "elements", &house.elements_at) && find(limit, "even", &house.even_at)
          && find(limit, "narrow", &house.narrow_at) && find(limit, "product", &house.product_at))) {
        return NULL;
    }
    /* For good: the module is never unloaded. */
    house.home = (PyTypeObject *)Py_NewRef((PyObject *)home);
    house.choice = (PyTypeObject *)Py_NewRef((PyObject *)choice);
    house.limit = (PyTypeObject *)Py_NewRef((PyObject *)limit);
    house.current = Py_NewRef(current);
    house.by_cost = Py_NewRef(by_cost);
    house.numpy = Py_NewRef(numpy);
    house.powers = Py_NewRef(powers);
    house.read_apart = Py_NewRef(read_apart);
    house.kept = Py_NewRef(kept);
    house.ufuncs = Py_NewRef(ufuncs);
    house.operands = Py_NewRef(operands);
    house.dtype = (PyTypeObject *)Py_NewRef((PyObject *)dtype);
    house.defaults = Py_NewRef(defaults);
    house.usual_defaults = Py_NewRef(usual_defaults);
    house.state = Py_NewRef(state);
    house.unadopted = Py_NewRef(unadopted);
    house.are_absent = Py_NewRef(are_absent);
    house.large = large;
    house.lendable = Py_NewRef(lendable);
    house.accounts = Py_NewRef(accounts);
    house.writes = Py_NewRef(writes);
    house.small = small;
    house.modest = modest;
    house.narrow_width = narrow;
    house.array = (PyTypeObject *)Py_NewRef((PyObject *)array);
    Py_RETURN_NONE;
}

/* Make what is made once; 0 with an error. */
int
prepare_house(void)
{
    names.dtype_of = PyUnicode_InternFromString("dtype_of");
    names.part = PyUnicode_InternFromString("_part");
    names.model = PyUnicode_InternFromString("model");
    names.dtype = PyUnicode_InternFromString("dtype");
    names.copy = PyUnicode_InternFromString("copy");
    names.shortcut = PyUnicode_InternFromString("shortcut");
    names.zero = PyUnicode_InternFromString("0");
    names.zero_float = PyUnicode_InternFromString("0.0");
    names.acquire = PyUnicode_InternFromString("acquire");
    names.release = PyUnicode_InternFromString("release");
    names.one = PyLong_FromLong(1);
    return names.dtype_of && names.part && names.model && names.dtype && names.copy && names.shortcut && names.zero
           && names.zero_float && names.acquire && names.release && names.one;
}
