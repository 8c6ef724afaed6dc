/* Allocates aligned ndarrays, for results of fast paths and chains and for `_memory.alignment.allocated`.

Mirrors `_memory.alignment` (sizes and alignment) and `_call.wrapping.wrap_aligned`. */

#include "memory.h"
#include "allocator.h"
#include "arrays.h"

#define HUGE_NBYTES (1 << 19) /* bytes; a quarter of a huge page */

/* Returns a new aligned ndarray; NULL with an exception. Steals the reference to the dtype. */
static PyObject *
aligned_ndarray(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp nbytes, int is_zero)
{
    npy_intp padded = nbytes + ALIGNMENT;
    if (nbytes >= HUGE_NBYTES) {
        use_huge_pages();
    }
    PyObject *allocator = is_zero || nbytes < LARGE_NBYTES ? NULL : set_allocator();
    PyObject *memory = is_zero ? PyArray_ZEROS(1, &padded, NPY_UINT8, 0) : PyArray_EMPTY(1, &padded, NPY_UINT8, 0);
    if (allocator != NULL) {
        restore_allocator(allocator);
    }
    if (memory == NULL) {
        Py_DECREF(dtype);
        return NULL;
    }
    char *start = PyArray_BYTES((PyArrayObject *)memory);
    start += (ALIGNMENT - (uintptr_t)start % ALIGNMENT) % ALIGNMENT;
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, start, NPY_ARRAY_CARRAY, NULL);
    if (array == NULL) {
        Py_DECREF(memory);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, memory) < 0) { /* steals the reference on failure, too */
        Py_CLEAR(array);
    }
    return array;
}

PyObject *
new_ndarray(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp nbytes, int is_zero)
{
    if (nbytes >= config.small_nbytes) {
        return aligned_ndarray(ndim, shape, dtype, nbytes, is_zero);
    }
    return is_zero ? PyArray_Zeros(ndim, shape, dtype, 0) : PyArray_Empty(ndim, shape, dtype, 0);
}

PyObject *
wrap_new(PyObject *native)
{
    npy_intp nbytes = PyArray_NBYTES((PyArrayObject *)native);
    PyObject *array = wrap(native, config.numpy_home);
    if (array != NULL && nbytes >= config.small_nbytes) {
        swap_slot(array, config.second_offset, Py_NewRef(config.lendable)); /* NULL before */
    }
    return array;
}

PyObject *
allocated(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArray_Dims shape = {NULL, 0};
    PyArray_Descr *dtype;
    int is_zero;
    if (!PyArg_ParseTuple(args, "O&O!p", PyArray_IntpConverter, &shape, &PyArrayDescr_Type, &dtype, &is_zero)) {
        PyDimMem_FREE(shape.ptr);
        return NULL;
    }
    PyObject *array = NULL;
    npy_intp nbytes = PyDataType_ELSIZE(dtype);
    for (int i = 0; i < shape.len; i++) {
        if (shape.ptr[i] < 0 || (shape.ptr[i] > 0 && nbytes > (NPY_MAX_INTP - ALIGNMENT) / shape.ptr[i])) {
            PyErr_SetString(PyExc_ValueError, "allocated: shape must be of lengths whose product is that of an array");
            goto done;
        }
        nbytes *= shape.ptr[i];
    }
    Py_INCREF(dtype);
    array = aligned_ndarray(shape.len, shape.ptr, dtype, nbytes, is_zero);
done:
    PyDimMem_FREE(shape.ptr);
    return array;
}
