/* Sums of many floats, by several threads and with NumPy's bits.

NumPy adds up in pairs: half of the elements, to a multiple of eight, and the other half, each likewise. So the parts of
this tree may be added up by NumPy's own loop, in any order, if their sums are added as the tree says. The squares of
distances from a mean are made block by block, in place of two arrays of full size. */

#include "sums.h"
#include "loops.h"
#include "scalars.h"
#include "threads.h"

#define TAKEN 8   /* parts that a thread takes at a time */
#define PART 4096 /* elements of the largest part that one loop adds up; some blocks of it stay in the cache of a core */

typedef struct {
    const char *data;
    npy_intp itemsize;
    const char *mean; /* or NULL */
    Loop add, subtract, multiply;
    npy_intp part_count;
    npy_intp *starts; /* of the parts, and the end of the last */
    double *sums;     /* of the parts, each in the first bytes of its number */
    int errors;
} Sum;

/* The elements of the first half of so many. */
static npy_intp
half_of(npy_intp size)
{
    npy_intp half = size / 2;
    return half - half % 8;
}

static npy_intp
count_parts(npy_intp size)
{
    return size <= PART ? 1 : count_parts(half_of(size)) + count_parts(size - half_of(size));
}

static void
find_parts(Sum *sum, npy_intp start, npy_intp size)
{
    if (size <= PART) {
        sum->starts[sum->part_count++] = start;
        return;
    }
    find_parts(sum, start, half_of(size));
    find_parts(sum, start + half_of(size), size - half_of(size));
}

static void
apply_loop(const Loop *loop, const void *first, npy_intp first_step, const void *second, npy_intp second_step, void *to,
           npy_intp step, npy_intp count)
{
    char *args[] = {(char *)first, (char *)second, (char *)to};
    npy_intp steps[] = {first_step, second_step, step};
    loop->function(args, &count, steps, loop->data);
}

static void
add_parts(void *context, Share *share)
{
    npy_intp count, part = take_items(share, TAKEN, &count);
    if (count == 0) {
        return;
    }
    Sum *sum = context;
    npy_intp size = sum->itemsize;
    double squares[PART];
    take_floating_errors();
    for (; count > 0; part = take_items(share, TAKEN, &count)) {
        for (npy_intp end = part + count; part < end; part++) {
            npy_intp length = sum->starts[part + 1] - sum->starts[part];
            const char *numbers = sum->data + sum->starts[part] * size;
            double *total = &sum->sums[part];
            if (sum->mean != NULL) {
                apply_loop(&sum->subtract, numbers, size, sum->mean, 0, squares, size, length);
                apply_loop(&sum->multiply, squares, size, squares, size, squares, size, length);
                numbers = (const char *)squares;
            }
            if (size == sizeof(double)) { /* what adding leaves as it is, also -0 */
                *total = -0.0;
            }
            else {
                *(float *)total = -0.0f;
            }
            apply_loop(&sum->add, total, 0, numbers, size, total, 0, length);
        }
        int errors = take_floating_errors();
        lock_share(share);
        sum->errors |= errors;
        unlock_share(share);
        finish_items(share, count);
    }
}

/* Adds up the sums of the parts of so many elements, of which `*part` is the first, as the tree says. */
static double
total_of(const Sum *sum, npy_intp size, npy_intp *part)
{
    if (size <= PART) {
        const double *found = &sum->sums[(*part)++];
        return sum->itemsize == sizeof(double) ? *found : *(const float *)found;
    }
    double first = total_of(sum, half_of(size), part), second = total_of(sum, size - half_of(size), part);
    return sum->itemsize == sizeof(double) ? first + second : (double)((float)first + (float)second);
}

/* The loops of NumPy's ufuncs for numbers of one dtype; 0 with an exception. */
static int
find_loops(Sum *sum, int typenum)
{
    Loop *const loops[] = {&sum->add, &sum->subtract, &sum->multiply};
    const char *const names[] = {"add", "subtract", "multiply"};
    PyObject *numpy = PyImport_ImportModule("numpy");
    int is_found = numpy != NULL;
    for (int i = 0; is_found && i < 3; i++) {
        PyObject *ufunc = PyObject_GetAttrString(numpy, names[i]);
        *loops[i] = (Loop){.operand_count = 2, .types = {typenum, typenum, typenum}};
        is_found = ufunc != NULL && find_exact_loop(ufunc, loops[i]);
        Py_XDECREF(ufunc);
    }
    Py_XDECREF(numpy);
    if (!is_found && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "sum_of: NumPy has no loop for this dtype");
    }
    return is_found;
}

PyObject *
sum_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyArrayObject *x;
    PyObject *mean;
    int threads;
    if (!PyArg_ParseTuple(args, "O!Oi", &PyArray_Type, &x, &mean, &threads)) {
        return NULL;
    }
    int typenum = PyArray_TYPE(x);
    npy_intp size = PyArray_SIZE(x);
    if ((typenum != NPY_FLOAT && typenum != NPY_DOUBLE) || !PyArray_ISCARRAY_RO(x) || size == 0
        || (mean != Py_None && scalar_typenum(Py_TYPE(mean)) != typenum)) {
        PyErr_SetString(PyExc_TypeError, "sum_of: x must be contiguous, of float32 or float64, and mean of its dtype");
        return NULL;
    }
    Sum sum = {
        .data = PyArray_BYTES(x), .itemsize = PyArray_ITEMSIZE(x), .mean = mean == Py_None ? NULL : scalar_value(mean)};
    if (!find_loops(&sum, typenum)) {
        return NULL;
    }
    npy_intp parts = count_parts(size);
    sum.starts = PyMem_RawMalloc(sizeof *sum.starts * (size_t)(parts + 1));
    sum.sums = PyMem_RawMalloc(sizeof *sum.sums * (size_t)parts);
    PyObject *result = NULL;
    if (sum.starts == NULL || sum.sums == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    find_parts(&sum, 0, size);
    sum.starts[parts] = size;
    Py_BEGIN_ALLOW_THREADS
    run_shared(add_parts, &sum, parts, threads);
    Py_END_ALLOW_THREADS
    npy_intp part = 0;
    result = Py_BuildValue("di", total_of(&sum, size, &part), sum.errors);
done:
    PyMem_RawFree(sum.starts);
    PyMem_RawFree(sum.sums);
    return result;
}
