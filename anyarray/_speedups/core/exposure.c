/* Protects the memory that recorded calls read from writes.

A write by an Array first computes the recorded calls that read its memory (`compute_readers`). Memory that code outside
the package may write (`expose`) is not read by recorded calls as long as another object refers to it. */

#include "exposure.h"
#include "arrays.h"
#include "chains.h"
#include "graph.h"

#define MAX_COPIED_NBYTES 4096 /* bytes up to which a recorded call reads a copy of an operand */

static PyObject *exposed_memory; /* weak references to exposed ndarrays that own their memory, by address */

int
init_exposure(void)
{
    exposed_memory = PyDict_New();
    return exposed_memory != NULL;
}

PyObject *
owner_of(PyObject *native)
{
    while (PyArray_BASE((PyArrayObject *)native) != NULL) {
        native = PyArray_BASE((PyArrayObject *)native);
        if (!PyArray_Check(native)) {
            return NULL;
        }
    }
    return PyArray_CHKFLAGS((PyArrayObject *)native, NPY_ARRAY_OWNDATA) ? native : NULL;
}

/* Whether a weak reference refers to an object. Allocates nothing, as an allocation may run any code. */
static int
refers_to(PyObject *reference, PyObject *object)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *referred = NULL;
    int is_same = PyWeakref_GetRef(reference, &referred) == 1 && referred == object;
    Py_XDECREF(referred);
    return is_same;
#else
    return PyWeakref_GetObject(reference) == object;
#endif
}

/* Whether code outside the package may write the memory of the ndarray of an Array. */
static int
is_exposed(PyObject *native, PyObject *owner)
{
    if (PyDict_GET_SIZE(exposed_memory) == 0) {
        return 0;
    }
    PyObject *address = PyLong_FromVoidPtr(owner);
    PyObject *reference = address == NULL ? NULL : PyDict_GetItemWithError(exposed_memory, address);
    int is_there = reference != NULL || PyErr_Occurred();
    /* The entry is stale if another ndarray has this address now, or if no other object refers to the memory. */
    if (reference != NULL && (!refers_to(reference, owner)
                              || (Py_REFCNT(native) == 1 && (native == owner || Py_REFCNT(owner) == 1)))) {
        is_there = PyDict_DelItem(exposed_memory, address) < 0;
    }
    Py_XDECREF(address);
    PyErr_Clear();
    return is_there;
}

int
expose(PyObject *native)
{
    if (!PyArray_CheckExact(native)) {
        return 1;
    }
    PyObject *owner = owner_of(native);
    if (owner != NULL && PyArray_NBYTES((PyArrayObject *)owner) > MAX_COPIED_NBYTES) { /* smaller operands are copied */
        PyObject *address = PyLong_FromVoidPtr(owner);
        PyObject *reference = address == NULL ? NULL : PyWeakref_NewRef(owner, NULL);
        int is_added = reference != NULL && PyDict_SetItem(exposed_memory, address, reference) == 0;
        Py_XDECREF(reference);
        Py_XDECREF(address);
        if (!is_added) {
            return 0;
        }
    }
    return compute_readers(native, NULL); /* small arrays too: earlier recorded results are read without a copy */
}

/* Whether the strides of an ndarray decrease from axis to axis, as those of a C-contiguous one. Otherwise NumPy's
results have another memory order. */
static int
is_in_order(PyArrayObject *array)
{
    npy_intp latest = NPY_MAX_INTP;
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        npy_intp stride = PyArray_STRIDE(array, axis);
        if (PyArray_DIM(array, axis) == 1 || stride == 0) {
            continue;
        }
        if (stride < 0 || stride > latest) {
            return 0;
        }
        latest = stride;
    }
    return 1;
}

/* Whether no code can write the memory of a read-only ndarray. Mirrors `_memory.alignment.is_constant`. */
static int
is_constant(PyObject *native)
{
    while (native != NULL && PyArray_Check(native)) {
        native = PyArray_BASE((PyArrayObject *)native);
    }
    if (native == NULL || PyMemoryView_Check(native)) {
        return 0;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(native, &view, PyBUF_WRITABLE) == 0) {
        PyBuffer_Release(&view);
        return 0;
    }
    PyErr_Clear();
    return 1;
}

PyObject *
stable_operand(PyObject *native)
{
    PyArrayObject *array = (PyArrayObject *)native;
    if (!PyArray_ISBEHAVED_RO(array) || PyArray_NDIM(array) > MAX_AXES || !is_in_order(array)) {
        return NULL;
    }
    if (PyArray_NBYTES(array) <= MAX_COPIED_NBYTES) {
        if (!PyArray_IS_C_CONTIGUOUS(array)) { /* the last bit of some loops depends on it */
            return NULL;
        }
        PyObject *copy = PyArray_NewCopy(array, NPY_CORDER);
        return copy == NULL ? fall_back() : copy;
    }
    if (!is_writable(native)) {
        return is_constant(native) ? Py_NewRef(native) : NULL;
    }
    PyObject *owner = owner_of(native);
    return owner == NULL || is_exposed(native, owner) ? NULL : Py_NewRef(native);
}

/* Whether two ndarrays are views of the same elements. */
static int
is_same_part(PyArrayObject *one, PyArrayObject *other)
{
    int ndim = PyArray_NDIM(one);
    return PyArray_DATA(one) == PyArray_DATA(other) && ndim == PyArray_NDIM(other)
           && PyArray_CompareLists(PyArray_DIMS(one), PyArray_DIMS(other), ndim)
           && PyArray_CompareLists(PyArray_STRIDES(one), PyArray_STRIDES(other), ndim);
}

/* Returns 0 if a recorded call does not read the memory of an ndarray, 1 if it reads exactly the ndarray's elements,
and 2 or 3 if it reads others. */
static int
reads(const Lazy *recorded, PyObject *native, PyObject *owner)
{
    int found = 0;
    if (recorded->home != config.numpy_home) {
        return 0;
    }
    for (int i = 0; i < recorded->operand_count; i++) {
        PyObject *array = array_of_operand(recorded->operands[i]);
        if (array != NULL && owner_of(array) == owner) {
            found |= is_same_part((PyArrayObject *)array, (PyArrayObject *)native) ? 1 : 2;
        }
    }
    return found;
}

/* Whether a recorded call on another library with views reads the memory of a native array. */
static int
reads_guarded(const Lazy *lazy, PyObject *native)
{
    int found = 0;
    for (int i = 0; lazy->memory != NULL && i < lazy->operand_count; i++) {
        found |= array_of_operand(lazy->operands[i]) == native;
    }
    for (Py_ssize_t i = 0; lazy->memory != NULL && i < PyTuple_GET_SIZE(lazy->memory); i++) {
        found |= PyTuple_GET_ITEM(lazy->memory, i) == native;
    }
    return found;
}

PyObject *
is_read(PyObject *Py_UNUSED(module), PyObject *array)
{
    PyObject *native = is_array(array) ? get_slot(array, config.native_offset) : NULL;
    int found = 0;
    for (Lazy *one = recorded_calls.next; guarded_count && native != NULL && one != &recorded_calls; one = one->next) {
        found |= reads_guarded(one, native);
    }
    return PyBool_FromLong(found);
}

int
compute_readers(PyObject *native, Lazy *writer)
{
    int is_ndarray = PyArray_Check(native);
    if (is_ndarray ? recorded_count == 0 : guarded_count == 0) {
        return 1;
    }
    if (is_ndarray && !compute_reduction()) { /* before its operand is computed */
        return 0;
    }
    PyObject *owner = is_ndarray ? Py_XNewRef(owner_of(native)) : PyObject_CallOneArg(config.base_of, native);
    int is_done = owner != NULL || is_ndarray, mark = writer == NULL ? -1 : mark_calls(writer);
    for (Lazy *one = recorded_calls.next; owner != NULL && is_done && one != &recorded_calls;) {
        int found = is_ndarray ? reads(one, native, owner) : 2 * (reads_guarded(one, native) || reads_guarded(one, owner));
        if (found == 0 || (found == 1 && one->mark == mark)) {
            one = one->next;
            continue;
        }
        is_done = compute(one) != NULL;
        one = recorded_calls.next; /* computing may have removed others */
        mark = writer == NULL ? -1 : mark_calls(writer);
    }
    Py_XDECREF(owner);
    return is_done;
}

PyObject *
expose_native(PyObject *Py_UNUSED(module), PyObject *native)
{
    if (!expose(native)) {
        return NULL;
    }
    Py_RETURN_NONE;
}
