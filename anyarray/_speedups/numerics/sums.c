/* Sums of many floats in several threads, with NumPy's bits; `backends._totals` calls it for variances. They run as a
chain that ends in a reduction, so the squared distances from a mean need no arrays of full size. */

#include "numerics.h"
#include "blocks.h"
#include "scalars.h"

/* Finds the loops of NumPy's ufuncs for one dtype. Returns 0 with an exception if there are none. */
static int
find_loops(Loop loops[3], int typenum)
{
    static const char *const names[] = {"subtract", "multiply", "add"};
    PyObject *numpy = PyImport_ImportModule("numpy");
    int is_found = numpy != NULL;
    for (int i = 0; is_found && i < 3; i++) {
        PyObject *ufunc = PyObject_GetAttrString(numpy, names[i]);
        loops[i] = (Loop){.operand_count = 2, .types = {typenum, typenum, typenum}};
        is_found = ufunc != NULL && find_exact_loop(ufunc, &loops[i]);
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
    Loop loops[3];
    if (!find_loops(loops, typenum)) {
        return NULL;
    }
    static const double zero = 0;
    double total = 0;
    int has_mean = mean != Py_None;
    npy_intp itemsize = PyArray_ITEMSIZE(x);
    Register operands[] = {
        {.data = PyArray_BYTES(x), .itemsize = itemsize, .strides = {itemsize}, .is_contiguous = 1},
        {.data = has_mean ? scalar_value(mean) : (char *)&zero, .itemsize = itemsize, .is_single = 1},
        {.itemsize = itemsize, .strides = {itemsize}, .is_contiguous = 1},
    };
    Instruction steps[] = {{.loop = &loops[0], .operands = {0, 1, 2}}, {.loop = &loops[1], .operands = {2, 2, 2}}};
    Reduction reduction = {
        .loop = &loops[2], .operand = has_mean ? 2 : 0, .start = (const char *)&zero, .group = size,
        .read_itemsize = itemsize, .itemsize = itemsize, .results = (char *)&total,
    };
    Program chain = {
        .ndim = 1, .shape = {size}, .size = size, .operands = operands, .steps = steps, .reduction = &reduction,
        .operand_count = 3, .step_count = has_mean ? 2 : 0, .buffer_count = 1,
    };
    int is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = run_chain(&chain, threads);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        return PyErr_NoMemory();
    }
    int errors = steps[0].errors | steps[1].errors | reduction.errors;
    return Py_BuildValue("di", typenum == NPY_DOUBLE ? total : (double)*(const float *)&total, errors);
}
