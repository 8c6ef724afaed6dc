/* Loops over all elements of an ndarray of floats.

Compiled: float32 and float64 in one segment of memory. Left to Python: all else, by the answer that nothing
was looked at. Repeated here: what `backends.numpy._has_zeros` finds. */

#include "scans.h"
#include <math.h>

#define BLOCK 1024 /* elements that are looked at before it is asked whether one was found */

/* The loops for floats of so many bits. A zero is found by its bits without the sign, in vector instructions. */
#define DEFINE_SCANS(bits, floating)                                                                                   \
    static int has_zero_##bits(const void *data, npy_intp size)                                                        \
    {                                                                                                                  \
        const uint##bits##_t *numbers = data;                                                                          \
        for (npy_intp start = 0; start < size; start += BLOCK) {                                                       \
            npy_intp end = size - start < BLOCK ? size : start + BLOCK;                                                \
            uint##bits##_t found = 0;                                                                                  \
            for (npy_intp i = start; i < end; i++) {                                                                   \
                uint##bits##_t rest = numbers[i] << 1;                                                                 \
                found |= ~(rest | (0 - rest));                                                                         \
            }                                                                                                          \
            if (found >> (bits - 1)) {                                                                                 \
                return 1;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int is_finite_##bits(const void *data, npy_intp size)                                                       \
    {                                                                                                                  \
        const floating *numbers = data;                                                                                \
        for (npy_intp i = 0; i < size; i++) {                                                                          \
            if (!isfinite(numbers[i])) {                                                                               \
                return 0;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return 1;                                                                                                      \
    }

DEFINE_SCANS(32, float)
DEFINE_SCANS(64, double)

static int
is_scannable(PyArrayObject *array)
{
    int typenum = PyArray_TYPE(array);
    return (typenum == NPY_DOUBLE || typenum == NPY_FLOAT) && PyArray_ISONESEGMENT(array)
           && PyArray_ISBEHAVED_RO(array);
}

int
is_finite(PyArrayObject *array)
{
    if (!is_scannable(array)) {
        return 0;
    }
    return (PyArray_TYPE(array) == NPY_DOUBLE ? is_finite_64 : is_finite_32)(PyArray_DATA(array), PyArray_SIZE(array));
}

PyObject *
may_have_zeros(PyObject *Py_UNUSED(module), PyObject *a)
{
    PyArrayObject *array = (PyArrayObject *)a;
    if (!PyArray_CheckExact(a) || !is_scannable(array)) {
        Py_RETURN_TRUE;
    }
    const void *data = PyArray_DATA(array);
    npy_intp size = PyArray_SIZE(array);
    int found, is_double = PyArray_TYPE(array) == NPY_DOUBLE;
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(size);
    found = (is_double ? has_zero_64 : has_zero_32)(data, size);
    NPY_END_THREADS;
    return PyBool_FromLong(found);
}
