/* Creates and deallocates Arrays, and asks backends about native arrays; used by all fast paths. Mirrors `wrap` and
`wrap_all` of `_call.wrapping`. */

#include "arrays.h"

/* Whether an exception type is a signal of a library, such as that of torch.utils.checkpoint. Mirrors
`_base.errors.is_signal`. */
static int
is_signal(PyObject *type)
{
    return ((PyTypeObject *)type)->tp_base == (PyTypeObject *)PyExc_Exception && ((PyTypeObject *)type)->tp_name[0] == '_';
}

PyObject *
fall_back(void)
{
    PyObject *type = PyErr_Occurred();
    if (type != NULL && PyErr_ExceptionMatches(PyExc_Exception) && !is_signal(type)) {
        PyErr_Clear();
    }
    return NULL;
}

PyObject *
hook_for_memory(PyObject *array, PyObject *name)
{
    PyObject *home = home_of(array), *view = get_slot(array, config.view_offset);
    PyObject *second = get_slot(array, config.second_offset);
    if (home == NULL || Py_TYPE(home) != config.home_type || native_of(array) == NULL
        || (view != NULL && view != Py_None) || (second != NULL && second != Py_None)) {
        return NULL;
    }
    PyObject *hook = PyObject_GetAttr(get_slot(home, config.backend_offset), name);
    if (hook == Py_None) {
        Py_CLEAR(hook);
    }
    return hook == NULL ? fall_back() : hook;
}

int
is_in_place(PyObject *array)
{
    PyObject *native = native_of(array);
    if (native == NULL || PyArray_CheckExact(native)) {
        return native != NULL && is_writable(native);
    }
    PyObject *hook = hook_for_memory(array, constants.is_in_place);
    if (hook == NULL) {
        return 0;
    }
    Py_INCREF(native);
    PyObject *answer = PyObject_CallOneArg(hook, native);
    Py_DECREF(native);
    Py_DECREF(hook);
    Py_XDECREF(answer);
    if (answer == NULL) {
        fall_back();
    }
    return answer == Py_True;
}

PyObject *
dtype_of(PyObject *home, PyObject *native)
{
    if (PyArray_CheckExact(native)) {
        return Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)native));
    }
    int typenum = scalar_typenum(Py_TYPE(native));
    if (typenum >= 0) {
        return (PyObject *)PyArray_DescrFromType(typenum);
    }
    if (PyArray_IsScalar(native, Generic)) {
        return (PyObject *)PyArray_DescrFromScalar(native);
    }
    PyObject *function = PyObject_GetAttr(home, constants.dtype_of);
    if (function == NULL) {
        return NULL;
    }
    PyObject *dtype = PyObject_CallOneArg(function, native);
    Py_DECREF(function);
    return dtype;
}

#define MAX_FREE 64

/* The free list, linked by the slot of the native array. */
static PyObject *free_arrays;
static int free_count;

/* tp_dealloc of Array. Takes a third of the time of subtype_dealloc, which walks the slots of all base classes. */
static void
deallocate_array(PyObject *array)
{
    const Py_ssize_t slots[] = {config.native_offset, config.home_offset, config.second_offset,
                                config.view_offset};
    PyTypeObject *type = Py_TYPE(array);
    PyObject_GC_UnTrack(array);
    if (get_slot(array, type->tp_weaklistoffset) != NULL) {
        PyObject_ClearWeakRefs(array);
    }
    Py_TRASHCAN_BEGIN(array, deallocate_array)
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        Py_XDECREF(swap_slot(array, slots[i], NULL));
    }
    if (type == config.array_type && free_count < MAX_FREE) {
        swap_slot(array, config.native_offset, free_arrays);
        free_arrays = array;
        free_count++;
    }
    else {
        type->tp_free(array);
    }
    Py_DECREF(type);
    Py_TRASHCAN_END
}

void
install_deallocator(void)
{
    config.array_type->tp_dealloc = deallocate_array;
}

/* Returns a new Array whose slots are all NULL, from the free list if possible; NULL with an exception. */
static PyObject *
allocate_array(void)
{
    PyObject *array = free_arrays;
    if (array == NULL) {
        return PyType_GenericAlloc(config.array_type, 0);
    }
    free_arrays = swap_slot(array, config.native_offset, NULL);
    free_count--;
    PyObject_Init(array, config.array_type);
    PyObject_GC_Track(array);
    return array;
}

PyObject *
wrap(PyObject *native, PyObject *home)
{
    PyObject *array = allocate_array();
    if (array == NULL) {
        Py_DECREF(native);
        return NULL;
    }
    swap_slot(array, config.native_offset, native); /* NULL before */
    swap_slot(array, config.home_offset, Py_NewRef(home));
    return array;
}

PyObject *
wrap_in_tuple(PyObject *natives, PyObject *home, PyTypeObject *type)
{
    PyObject *tuple = PyTuple_Check(natives) ? Py_NewRef(natives) : PySequence_Tuple(natives);
    if (tuple == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    PyObject *result = new_tuple(type, count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *array = wrap(Py_NewRef(PyTuple_GET_ITEM(tuple, i)), home);
        if (array == NULL) {
            Py_CLEAR(result);
            break;
        }
        PyTuple_SET_ITEM(result, i, array);
    }
    Py_DECREF(tuple);
    return result;
}

void
drop_second_copy(PyObject *array)
{
    Py_XDECREF(swap_slot(array, config.second_offset, Py_NewRef(Py_None)));
}
