/* Memory that recorded calls read, and writes to it.

Nobody may write to what a recorded call reads. A write by an Array computes the calls that read the same memory
first (`compute_readers`); memory to which somebody outside may write (`expose`) is not read by calls that are
recorded later, as long as anybody has it. */

#include "exposure.h"
#include "arrays.h"
#include "chains.h"
#include "graph.h"

#define COPIED 4096 /* bytes of the largest operand of which a copy is made, as anybody may write to it */

static PyObject *exposed_memory; /* weak references to ndarrays to whose memory somebody outside may write, by address */

int
init_exposure(void)
{
    exposed_memory = PyDict_New();
    return exposed_memory != NULL;
}

/* The ndarray whose memory another is a view of, itself if it has its own; NULL if that is no ndarray's. */
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

/* Whether a weak reference is one to this object. Nothing is allocated, which might run any code. */
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

/* Whether somebody outside may write to the memory of the ndarray in the slot of an Array. */
static int
is_exposed(PyObject *native, PyObject *owner)
{
    if (PyDict_GET_SIZE(exposed_memory) == 0) {
        return 0;
    }
    PyObject *address = PyLong_FromVoidPtr(owner);
    PyObject *reference = address == NULL ? NULL : PyDict_GetItemWithError(exposed_memory, address);
    int is_there = reference != NULL || PyErr_Occurred();
    /* Another ndarray may have been there, or all others who have the memory are gone. */
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
    if (owner != NULL && PyArray_NBYTES((PyArrayObject *)owner) > COPIED) { /* smaller operands are copied anyway */
        PyObject *address = PyLong_FromVoidPtr(owner);
        PyObject *reference = address == NULL ? NULL : PyWeakref_NewRef(owner, NULL);
        int is_added = reference != NULL && PyDict_SetItem(exposed_memory, address, reference) == 0;
        Py_XDECREF(reference);
        Py_XDECREF(address);
        if (!is_added) {
            return 0;
        }
    }
    return compute_readers(native, NULL); /* also of small results, which calls that were recorded before read themselves */
}

/* Whether the strides of an ndarray fall from axis to axis, as those of a contiguous one. Only then does NumPy give
results in this order. */
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

/* Whether nobody can write to the memory of an ndarray that is read-only. See `_memory.alignment.is_constant`. */
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

/* What a recorded call reads in place of the ndarray of an Array: a new reference, or NULL without an exception if the
call must run at once. */
PyObject *
lasting(PyObject *native)
{
    PyArrayObject *array = (PyArrayObject *)native;
    if (!PyArray_ISBEHAVED_RO(array) || PyArray_NDIM(array) > MAX_AXES || !is_in_order(array)) {
        return NULL;
    }
    if (PyArray_NBYTES(array) <= COPIED) {
        if (!PyArray_IS_C_CONTIGUOUS(array)) { /* some loops give another last bit then */
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

/* Whether two ndarrays are the same elements. */
static int
is_same_part(PyArrayObject *one, PyArrayObject *other)
{
    int ndim = PyArray_NDIM(one);
    return PyArray_DATA(one) == PyArray_DATA(other) && ndim == PyArray_NDIM(other)
           && PyArray_CompareLists(PyArray_DIMS(one), PyArray_DIMS(other), ndim)
           && PyArray_CompareLists(PyArray_STRIDES(one), PyArray_STRIDES(other), ndim);
}

/* Whether a call reads the memory of an ndarray: 1 if only the elements of the ndarray itself, 2 if others. */
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

/* Whether a call on another library with views reads the memory of a native array. */
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

/* As `compute_readers`, of another library than NumPy. */
static int
compute_guarded(PyObject *native)
{
    PyObject *base = PyObject_CallOneArg(config.base_of, native);
    int is_done = base != NULL;
    for (Lazy *one = recorded_calls.next; is_done && one != &recorded_calls;) {
        int is_reader = reads_guarded(one, native) || reads_guarded(one, base);
        is_done = !is_reader || compute(one) != NULL;
        one = is_reader ? recorded_calls.next : one->next; /* others may be gone */
    }
    Py_XDECREF(base);
    return is_done;
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
    if (recorded_count == 0 || !PyArray_Check(native)) {
        return guarded_count == 0 || PyArray_Check(native) || compute_guarded(native);
    }
    if (!compute_reduction()) { /* before what it reduces is computed */
        return 0;
    }
    PyObject *owner = owner_of(native);
    int mark = writer == NULL ? -1 : mark_calls(writer);
    for (Lazy *one = recorded_calls.next; owner != NULL && one != &recorded_calls;) {
        int found = reads(one, native, owner);
        if (found == 0 || (found == 1 && one->mark == mark)) {
            one = one->next;
            continue;
        }
        if (compute(one) == NULL) {
            return 0;
        }
        one = recorded_calls.next; /* others may be gone */
        mark = writer == NULL ? -1 : mark_calls(writer);
    }
    return 1;
}

PyObject *
exposed(PyObject *Py_UNUSED(module), PyObject *native)
{
    if (!expose(native)) {
        return NULL;
    }
    Py_RETURN_NONE;
}
