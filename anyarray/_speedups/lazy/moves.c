/* Chains that another backend runs in less time than NumPy, with all that goes there and back.

Compiled: to say what a chain does, and to keep what it gave. Left to Python: all else, in `_lazy.moves`. */

#include "moves.h"
#include "chains.h"
#include "config.h"

/* The operands of all calls: the index of a call, or -1 - the index of an array. A new array, or NULL without memory. */
static int *
index_operands(const Gathered *gathered)
{
    int *indices = PyMem_RawMalloc(sizeof(int) * (size_t)gathered->call_count * MAX_OPERANDS);
    for (int c = 0; indices != NULL && c < gathered->call_count; c++) {
        const Recorded *call = gathered->calls[c];
        for (int i = 0; i < call->loop->operand_count; i++) {
            PyObject *array = ndarray_of_operand(call->operands[i]);
            int at = array == NULL ? ((Recorded *)call->operands[i])->at : -1;
            for (int k = 0; array != NULL && gathered->arrays[k] != array; k++) {
                at--;
            }
            indices[c * MAX_OPERANDS + i] = at;
        }
    }
    return indices;
}

/* What a call does: the name of its function, or None for a cast, the dtype that it reads and the one that it gives, and
what it reads. */
static PyObject *
tell_call(const Recorded *call, const int *indices)
{
    const Loop *loop = call->loop;
    int count = loop->operand_count;
    PyObject *operands = PyTuple_New(count);
    for (int i = 0; operands != NULL && i < count; i++) {
        PyObject *index = PyLong_FromLong(indices[i]);
        if (index == NULL) {
            Py_CLEAR(operands);
            break;
        }
        PyTuple_SET_ITEM(operands, i, index);
    }
    return operands == NULL ? NULL
                            : Py_BuildValue("(ONNN)", loop->told == NULL ? Py_None : loop->ours,
                                            PyArray_DescrFromType(loop->types[0]), PyArray_DescrFromType(loop->types[count]),
                                            operands);
}

/* A tuple of ndarrays. */
static PyObject *
tell_arrays(const Gathered *gathered)
{
    PyObject *arrays = PyTuple_New(gathered->array_count);
    for (int i = 0; arrays != NULL && i < gathered->array_count; i++) {
        PyTuple_SET_ITEM(arrays, i, Py_NewRef(gathered->arrays[i]));
    }
    return arrays;
}

/* Keeps what calls gave, of those that no other thread has computed. */
static void
keep(Recorded *const *calls, const int *kept, int count, PyObject *values)
{
    lock_chains();
    for (int i = 0; i < count; i++) {
        Recorded *call = calls[kept[i]];
        if (call->value == NULL) {
            call->value = Py_NewRef(PyTuple_GET_ITEM(values, i));
            leave_ring(call);
        }
    }
    unlock_chains();
    for (int i = 0; i < count; i++) { /* now, as what is freed may run Python code */
        release_operands(calls[kept[i]]);
    }
}

/* Whether what Python gave are the values of so many calls. */
static int
are_values(PyObject *values, int count)
{
    int are = PyTuple_CheckExact(values) && PyTuple_GET_SIZE(values) == count;
    for (int i = 0; are && i < count; i++) {
        are = PyArray_CheckExact(PyTuple_GET_ITEM(values, i));
    }
    return are;
}

int
run_elsewhere(Recorded *target)
{
    Gathered gathered = {0};
    int is_gathered = gather_calls(target, &gathered), count = gathered.call_count, kept_count = 0;
    int *indices = is_gathered ? index_operands(&gathered) : NULL;
    int *kept = PyMem_RawMalloc(sizeof(int) * (size_t)(count + 1));
    if (indices == NULL || kept == NULL) { /* less is needed where it is */
        PyMem_RawFree(indices);
        PyMem_RawFree(kept);
        free_gathered(&gathered);
        return 1;
    }
    for (int c = 0; c < count; c++) { /* before any Python code runs, which may run other chains */
        if (c == count - 1 || Py_REFCNT(gathered.calls[c]) > gathered.calls[c]->readers) {
            kept[kept_count++] = c;
        }
    }
    for (int c = 0; c < count; c++) {
        Py_INCREF(gathered.calls[c]);
    }
    PyObject *arrays = tell_arrays(&gathered), *calls = arrays == NULL ? NULL : PyTuple_New(count);
    PyObject *places = calls == NULL ? NULL : PyTuple_New(kept_count), *values = NULL;
    int is_told = places != NULL;
    for (int c = 0; is_told && c < count; c++) {
        PyObject *call = tell_call(gathered.calls[c], indices + c * MAX_OPERANDS);
        is_told = call != NULL;
        PyTuple_SET_ITEM(calls, c, call);
    }
    for (int i = 0; is_told && i < kept_count; i++) {
        PyObject *place = PyLong_FromLong(kept[i]);
        is_told = place != NULL;
        PyTuple_SET_ITEM(places, i, place);
    }
    if (is_told) {
        PyObject *operand = target->group ? target->operands[0] : (PyObject *)target;
        PyObject *code = target->code;
        values = PyObject_CallFunction(
            config.moved, "OOONNiOi", calls, arrays, places,
            PyArray_IntTupleFromIntp(ndim_of_operand(operand), shape_of_operand(operand)),
            PyArray_IntTupleFromIntp(target->ndim, target->shape), target->group != 0,
            code == NULL ? Py_None : ((PyCodeObject *)code)->co_filename,
            code == NULL ? 0 : PyCode_Addr2Line((PyCodeObject *)code, target->instruction));
    }
    if (values != NULL && are_values(values, kept_count)) {
        keep(gathered.calls, kept, kept_count, values);
    }
    int is_done = values != NULL;
    Py_XDECREF(values);
    Py_XDECREF(arrays);
    Py_XDECREF(calls);
    Py_XDECREF(places);
    for (int c = 0; c < count; c++) {
        Py_DECREF(gathered.calls[c]);
    }
    PyMem_RawFree(indices);
    PyMem_RawFree(kept);
    free_gathered(&gathered);
    return is_done;
}
