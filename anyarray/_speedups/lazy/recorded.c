/* The class of recorded calls, and the attribute by which an Array's native array is read.

An Array whose call is recorded has a `Recorded` in the slot of its native array: `native_of` gives NULL for it, so
that no other fast path takes it, and `_native`, which Python code reads, computes it. */

#include "recorded.h"
#include "arrays.h"
#include "chains.h"
#include "exposure.h"
#include "postponed.h"
#include <stddef.h>
#include <structmember.h>

Recorded recorded_calls = {.previous = &recorded_calls, .next = &recorded_calls};
npy_intp recorded_count, recorded_bytes;
Recorded *recorded_reduction;

int
init_recorded(void)
{
    return PyType_Ready(&RecordedType) == 0 && PyType_Ready(&NativeSlotType) == 0;
}

void
leave_ring(Recorded *recorded)
{
    if (recorded->next != NULL) {
        recorded->previous->next = recorded->next;
        recorded->next->previous = recorded->previous;
        recorded->previous = recorded->next = NULL;
        recorded_count--;
        recorded_bytes -= recorded->nbytes;
        recorded_reduction = recorded_reduction == recorded ? NULL : recorded_reduction;
    }
}

void
enter_ring(Recorded *recorded)
{
    recorded->previous = recorded_calls.previous;
    recorded->next = &recorded_calls;
    recorded->previous->next = recorded->next->previous = recorded;
    recorded_count++;
    recorded_bytes += recorded->nbytes;
}

void
release_operands(Recorded *recorded)
{
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_CLEAR(recorded->operands[i]);
    }
    Py_CLEAR(recorded->code);
    Py_CLEAR(recorded->globals);
}

static void
recorded_dealloc(PyObject *self)
{
    Recorded *recorded = (Recorded *)self;
    PyObject_GC_UnTrack(self);
    leave_ring(recorded);
    release_operands(recorded);
    Py_XDECREF(recorded->value);
    PyObject_GC_Del(self);
}

static int
recorded_traverse(PyObject *self, visitproc visit, void *arg)
{
    Recorded *recorded = (Recorded *)self;
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_VISIT(recorded->operands[i]);
    }
    Py_VISIT(recorded->globals);
    return 0;
}

/* A cycle goes through the variables of the module, which may hold the Array. The operands stay, as it may be run yet. */
static int
recorded_clear(PyObject *self)
{
    Py_CLEAR(((Recorded *)self)->globals);
    return 0;
}

static PyObject *
recorded_get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    Recorded *recorded = (Recorded *)self;
    return PyArray_IntTupleFromIntp(recorded->ndim, recorded->shape);
}

static PyObject *
recorded_get_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return (PyObject *)PyArray_DescrFromType(typenum_of_operand(self));
}

static PyObject *
recorded_get_ndim(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(((Recorded *)self)->ndim);
}

static PyObject *
recorded_get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSsize_t(((Recorded *)self)->size);
}

static PyObject *
recorded_get_is_computed(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((Recorded *)self)->value != NULL);
}

static Py_ssize_t
recorded_length(PyObject *self)
{
    if (((Recorded *)self)->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "it has no axes");
        return -1;
    }
    return ((Recorded *)self)->shape[0];
}

static PyGetSetDef recorded_getset[] = {
    {"shape", recorded_get_shape, NULL, NULL, NULL},
    {"dtype", recorded_get_dtype, NULL, NULL, NULL},
    {"ndim", recorded_get_ndim, NULL, NULL, NULL},
    {"size", recorded_get_size, NULL, NULL, NULL},
    {"is_computed", recorded_get_is_computed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef recorded_members[] = {
    {"is_decided", T_BOOL, offsetof(Recorded, is_decided), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PySequenceMethods recorded_as_sequence = {.sq_length = recorded_length};

PyTypeObject RecordedType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "anyarray._speedups.Recorded",
    .tp_basicsize = sizeof(Recorded),
    .tp_dealloc = recorded_dealloc,
    .tp_traverse = recorded_traverse,
    .tp_clear = recorded_clear,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_getset = recorded_getset,
    .tp_members = recorded_members,
    .tp_as_sequence = &recorded_as_sequence,
};

/* The attribute `_native` of Arrays: the native array in the slot of that offset, computed if it is recorded. */
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
    forget_plain(array); /* Python code may hand it out */
    if (native == NULL) {
        PyErr_SetString(PyExc_AttributeError, "_native");
        return NULL;
    }
    if (is_postponed(native)) {
        Py_INCREF(native);
        PyObject *computed = compute_postponed(native);
        if (computed != NULL && get_slot(array, offset) == native) {
            Py_XDECREF(swap_slot(array, offset, Py_NewRef(computed)));
        }
        Py_DECREF(native);
        return computed;
    }
    if (!is_recorded(native)) {
        if (!compute_postponed_readers(native)) {
            return NULL;
        }
        if (recorded_count && !compute_readers(native, NULL)) { /* who asks may write to it */
            return NULL;
        }
        return Py_NewRef(native);
    }
    Py_INCREF(native);
    PyObject *value = ((Recorded *)native)->value;
    value = Py_XNewRef(value == NULL ? compute((Recorded *)native) : value);
    if (value != NULL && ((Recorded *)native)->ndim == 0) {
        value = PyArray_Return((PyArrayObject *)value); /* a scalar, as NumPy gives */
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
    forget_plain(array);
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
