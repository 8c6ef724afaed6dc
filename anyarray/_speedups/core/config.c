/* Implements `configure`, by which `_call.compiled` passes the objects and limits of the package, once.

Limits that Python and C share are defined in Python alone, except for ALIGNMENT: memory is allocated before `configure`
is called. */

#include "config.h"
#include "arrays.h"
#include <structmember.h>

Config config;
Constants constants;

/* Finds the offset of a slot in the instances of a class. Returns 0 with an exception if the class has no such slot. */
static int
find_slot(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL) {
        return 0;
    }
    int is_slot = Py_TYPE(found) == &PyMemberDescr_Type
                  && ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX;
    if (is_slot) {
        *offset = ((PyMemberDescrObject *)found)->d_member->offset;
    }
    else {
        PyErr_Format(PyExc_TypeError, "configure: %s.%s must be a slot", type->tp_name, name);
    }
    Py_DECREF(found);
    return is_slot;
}

/* Reads a keyword argument as a borrowed reference. Returns 0 with an exception if it is missing or of another class.
*/
static int
read_object(PyObject *kwargs, const char *name, PyTypeObject *type, PyObject **value)
{
    *value = PyDict_GetItemString(kwargs, name);
    if (*value != NULL && PyObject_TypeCheck(*value, type)) {
        return 1;
    }
    PyErr_Format(PyExc_TypeError, "configure: %s must be a %s", name, type->tp_name);
    return 0;
}

static int
read_number(PyObject *kwargs, const char *name, npy_intp *value)
{
    PyObject *number;
    if (!read_object(kwargs, name, &PyLong_Type, &number)) {
        return 0;
    }
    *value = PyLong_AsSsize_t(number);
    return *value != -1 || !PyErr_Occurred();
}

#define READ_CLASS(name) && read_object(kwargs, #name, &PyType_Type, (PyObject **)&read.name)
#define READ_OBJECT(name, type) && read_object(kwargs, #name, &type, &read.name)
#define READ_NUMBER(name) && read_number(kwargs, #name, &read.name)
#define READ_SLOT(type, name, slot) && find_slot(read.type, slot, &read.name)

PyObject *
configure(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    if (config.array_type != NULL || kwargs == NULL || PyTuple_GET_SIZE(args)) {
        PyErr_SetString(PyExc_RuntimeError, "configure: may be called once, with keywords");
        return NULL;
    }
    Config read = {0};
    if (!(1 CLASSES(READ_CLASS) OBJECTS(READ_OBJECT) NUMBERS(READ_NUMBER) SLOTS(READ_SLOT))) {
        return NULL;
    }
    Py_INCREF(kwargs); /* keeps the objects alive; the module is never unloaded */
    config = read;
    install_deallocator();
    Py_RETURN_NONE;
}

#define INTERN(name) && (constants.name = PyUnicode_InternFromString(#name)) != NULL

int
init_constants(void)
{
    return 1 STRINGS(INTERN)
           && (constants.zero = PyUnicode_InternFromString("0")) != NULL
           && (constants.zero_float = PyUnicode_InternFromString("0.0")) != NULL
           && (constants.one = PyLong_FromLong(1)) != NULL
           && (constants.none = PyLong_FromLong(0)) != NULL
           && (constants.dtype_and_device = Py_BuildValue("(ss)", "dtype", "device")) != NULL;
}
