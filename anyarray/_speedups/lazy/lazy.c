/* The class Lazy of recorded calls, and Array's descriptor `_native`, which computes them.

A recorded Array has a Lazy in the slot of its native array. `native_of` returns NULL for it, so other fast paths do not
take it. */

#include "lazy.h"
#include "arrays.h"
#include "chains.h"
#include "exposure.h"
#include <stddef.h>
#include <structmember.h>

Lazy recorded_calls = {.previous = &recorded_calls, .next = &recorded_calls};
npy_intp recorded_count, recorded_bytes, guarded_count;
Lazy *recorded_reduction;

int
init_lazy(void)
{
    return PyType_Ready(&LazyType) == 0 && PyType_Ready(&NativeSlotType) == 0;
}

void
remove_from_ring(Lazy *recorded)
{
    if (recorded->next != NULL) {
        recorded->previous->next = recorded->next;
        recorded->next->previous = recorded->previous;
        recorded->previous = recorded->next = NULL;
        recorded_count--;
        guarded_count -= recorded->memory != NULL;
        recorded_bytes -= recorded->nbytes;
        recorded_reduction = recorded_reduction == recorded ? NULL : recorded_reduction;
    }
}

void
insert_into_ring(Lazy *recorded)
{
    recorded->previous = recorded_calls.previous;
    recorded->next = &recorded_calls;
    recorded->previous->next = recorded->next->previous = recorded;
    recorded_count++;
    guarded_count += recorded->memory != NULL;
    recorded_bytes += recorded->nbytes;
}

Lazy *
new_lazy(const Loop *loop, PyObject *home, int operand_count, int ndim, const npy_intp *shape, npy_intp size)
{
    Lazy *lazy = PyObject_GC_New(Lazy, &LazyType);
    if (lazy != NULL) {
        memset((char *)lazy + sizeof(PyObject), 0, sizeof *lazy - sizeof(PyObject));
        lazy->loop = loop;
        lazy->home = home;
        lazy->operand_count = operand_count;
        lazy->ndim = ndim;
        lazy->size = size;
        lazy->nbytes = size * 8;
        lazy->calls = 1;
        memcpy(lazy->shape, shape, sizeof(npy_intp) * (size_t)ndim);
    }
    return lazy;
}

void
release_operands(Lazy *recorded)
{
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_CLEAR(recorded->operands[i]);
    }
    Py_CLEAR(recorded->code);
    Py_CLEAR(recorded->globals);
    Py_CLEAR(recorded->memory);
}

static void
lazy_dealloc(PyObject *self)
{
    Lazy *recorded = (Lazy *)self;
    PyObject_GC_UnTrack(self);
    remove_from_ring(recorded);
    release_operands(recorded);
    Py_XDECREF(recorded->value);
    PyObject_GC_Del(self);
}

static int
lazy_traverse(PyObject *self, visitproc visit, void *arg)
{
    Lazy *recorded = (Lazy *)self;
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_VISIT(recorded->operands[i]);
    }
    Py_VISIT(recorded->globals);
    Py_VISIT(recorded->memory);
    return 0;
}

/* Cycles go through the globals of a module, which may hold the Array. The operands stay: the call may still be
computed. */
static int
lazy_clear(PyObject *self)
{
    Py_CLEAR(((Lazy *)self)->globals);
    return 0;
}

static PyObject *
lazy_get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    Lazy *recorded = (Lazy *)self;
    return PyArray_IntTupleFromIntp(recorded->ndim, recorded->shape);
}

PyObject *
dtype_of_operand(PyObject *operand)
{
    PyObject *dtype = is_lazy(operand) ? ((Lazy *)operand)->loop->dtype : NULL;
    return dtype == NULL ? (PyObject *)PyArray_DescrFromType(typenum_of_operand(operand)) : Py_NewRef(dtype);
}

static PyObject *
lazy_get_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return dtype_of_operand(self);
}

static PyObject *
lazy_get_is_computed(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((Lazy *)self)->value != NULL);
}

PyObject *
location_of(const Lazy *lazy)
{
    PyCodeObject *code = (PyCodeObject *)lazy->code;
    return code == NULL ? Py_NewRef(Py_None)
                        : Py_BuildValue("Oi", code->co_filename, PyCode_Addr2Line(code, lazy->instruction));
}

static PyObject *
lazy_get_where(PyObject *self, void *Py_UNUSED(closure))
{
    return location_of((Lazy *)self);
}

static Py_ssize_t
lazy_length(PyObject *self)
{
    if (((Lazy *)self)->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "it has no axes");
        return -1;
    }
    return ((Lazy *)self)->shape[0];
}

static PyGetSetDef lazy_getset[] = {
    {"shape", lazy_get_shape, NULL, NULL, NULL},
    {"dtype", lazy_get_dtype, NULL, NULL, NULL},
    {"is_computed", lazy_get_is_computed, NULL, NULL, NULL},
    {"where", lazy_get_where, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef lazy_members[] = {
    {"home", T_OBJECT, offsetof(Lazy, home), READONLY, NULL},
    {"ndim", T_INT, offsetof(Lazy, ndim), READONLY, NULL},
    {"size", T_PYSSIZET, offsetof(Lazy, size), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PySequenceMethods lazy_as_sequence = {.sq_length = lazy_length};

PyTypeObject LazyType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.Lazy",
    .tp_basicsize = sizeof(Lazy),
    .tp_dealloc = lazy_dealloc,
    .tp_traverse = lazy_traverse,
    .tp_clear = lazy_clear,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_getset = lazy_getset,
    .tp_members = lazy_members,
    .tp_as_sequence = &lazy_as_sequence,
};

/* The descriptor of `_native`: returns the native array in a slot, after computing it if it is recorded. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t offset;
} NativeSlot;

static PyObject *
native_slot_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *member;
    if (!PyArg_ParseTuple(args, "O!", &PyMemberDescr_Type, &member)) {
        return NULL;
    }
    NativeSlot *slot = (NativeSlot *)type->tp_alloc(type, 0);
    if (slot != NULL) {
        slot->offset = ((PyMemberDescrObject *)member)->d_member->offset;
    }
    return (PyObject *)slot;
}

static PyObject *
native_slot_get(PyObject *self, PyObject *array, PyObject *Py_UNUSED(type))
{
    if (array == NULL || array == Py_None) {
        return Py_NewRef(self);
    }
    Py_ssize_t offset = ((NativeSlot *)self)->offset;
    PyObject *native = get_slot(array, offset);
    if (native == NULL) {
        PyErr_SetString(PyExc_AttributeError, "_native");
        return NULL;
    }
    if (!is_lazy(native)) { /* the caller may write to it */
        return recorded_count && !compute_readers(native, NULL) ? NULL : Py_NewRef(native);
    }
    Py_INCREF(native);
    PyObject *value = ((Lazy *)native)->value;
    value = Py_XNewRef(value == NULL ? compute((Lazy *)native) : value);
    if (value != NULL && ((Lazy *)native)->ndim == 0 && ((Lazy *)native)->home == config.numpy_home) {
        value = PyArray_Return((PyArrayObject *)value); /* NumPy's result is a scalar */
    }
    if (value != NULL && get_slot(array, offset) == native) {
        Py_XDECREF(swap_slot(array, offset, Py_NewRef(value)));
    }
    Py_DECREF(native);
    if (value != NULL && recorded_count && !compute_readers(value, NULL)) {
        Py_CLEAR(value);
    }
    return value;
}

static int
native_slot_set(PyObject *self, PyObject *array, PyObject *value)
{
    Py_XDECREF(swap_slot(array, ((NativeSlot *)self)->offset, Py_XNewRef(value)));
    return 0;
}

PyTypeObject NativeSlotType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.NativeSlot",
    .tp_basicsize = sizeof(NativeSlot),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = native_slot_new,
    .tp_descr_get = native_slot_get,
    .tp_descr_set = native_slot_set,
};
