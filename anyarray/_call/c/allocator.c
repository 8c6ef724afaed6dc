/* Large results of NumPy in memory that every library takes as it is.

NumPy asks the handler of the context for the memory of its arrays. Around a call that has a large array, the
handler is one that allocates NumPy's own blocks with room to start at a multiple of `ALIGNMENT`. An array keeps
the handler that it was allocated with, so its memory is freed rightly whenever that is. Source: NumPy's C API,
"Memory management in NumPy".

Left to Python: results that are not aligned are copied when they are transferred (`_memory.alignment`). */

#include "allocator.h"
#include "arrays.h"
#include "fast_paths.h"
#include "memory.h"

#define LARGE (1 << 17) /* elements of a large array: 1 MB of float64, 128 kB of bool */
#define OFFSET_SIZE sizeof(size_t) /* of what stands before an array: its offset in its block, in bytes */
#define PADDING (ALIGNMENT + OFFSET_SIZE)
#define CAPSULE "mem_handler" /* NumPy's name of such capsules */

static PyDataMem_Handler *numpy_handler;
static PyObject *aligning_handler;

static inline size_t
read_offset(const char *memory)
{
    size_t offset;
    memcpy(&offset, memory - OFFSET_SIZE, OFFSET_SIZE);
    return offset;
}

/* The offset in a block at which an array starts. */
static inline size_t
aligned_offset(const char *block)
{
    return OFFSET_SIZE + (ALIGNMENT - ((uintptr_t)block + OFFSET_SIZE) % ALIGNMENT) % ALIGNMENT;
}

/* The start of an array in a block, with its offset written before it; NULL for NULL. */
static void *
start_array(char *block)
{
    if (block == NULL) {
        return NULL;
    }
    size_t offset = aligned_offset(block);
    memcpy(block + offset - OFFSET_SIZE, &offset, OFFSET_SIZE);
    return block + offset;
}

static void *
aligned_malloc(void *Py_UNUSED(ctx), size_t size)
{
    PyDataMemAllocator *numpy = &numpy_handler->allocator;
    return size > SIZE_MAX - PADDING ? NULL : start_array(numpy->malloc(numpy->ctx, size + PADDING));
}

static void *
aligned_calloc(void *Py_UNUSED(ctx), size_t count, size_t size)
{
    PyDataMemAllocator *numpy = &numpy_handler->allocator;
    if (size && count > (SIZE_MAX - PADDING) / size) {
        return NULL;
    }
    return start_array(numpy->calloc(numpy->ctx, count * size + PADDING, 1));
}

static void
aligned_free(void *Py_UNUSED(ctx), void *memory, size_t size)
{
    PyDataMemAllocator *numpy = &numpy_handler->allocator;
    if (memory != NULL) {
        numpy->free(numpy->ctx, (char *)memory - read_offset(memory), size + PADDING);
    }
}

/* As `ndarray.resize` asks for it. */
static void *
aligned_realloc(void *ctx, void *memory, size_t size)
{
    if (memory == NULL) {
        return aligned_malloc(ctx, size);
    }
    PyDataMemAllocator *numpy = &numpy_handler->allocator;
    size_t offset = read_offset(memory);
    char *block = size > SIZE_MAX - PADDING ? NULL
                                            : numpy->realloc(numpy->ctx, (char *)memory - offset, size + PADDING);
    if (block == NULL) {
        return NULL;
    }
    size_t wanted = aligned_offset(block);
    if (wanted != offset) {
        memmove(block + wanted, block + offset, size);
    }
    return start_array(block);
}

static PyDataMem_Handler handler = {
    "anyarray_aligned", 1, {NULL, aligned_malloc, aligned_calloc, aligned_realloc, aligned_free}};

int
init_allocator(void)
{
    numpy_handler = PyCapsule_GetPointer(PyDataMem_DefaultHandler, CAPSULE);
    aligning_handler = numpy_handler == NULL ? NULL : PyCapsule_New(&handler, CAPSULE, NULL);
    return aligning_handler != NULL;
}

static inline int
is_large(PyObject *value)
{
    if (!is_array(value)) {
        return 0;
    }
    PyObject *native = native_of(value);
    return native != NULL && PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= LARGE;
}

/* Functions that return views in less than a microsecond: 0.2 more would tell. If one copies, its result is not
aligned. */
static const char *const views[] = {"broadcast_arrays", "broadcast_to", "diagonal", "expand_dims", "flip", "imag",
                                    "matrix_transpose", "meshgrid", "moveaxis", "permute_dims", "real", "reshape",
                                    "squeeze", "unstack"};

static int
returns_view(Call *call)
{
    FastPath *path = call->fast_path;
    if (path == fast_transpose || path == fast_array || path == fast_iter || path == fast_setitem) {
        return 1;
    }
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        if (PyUnicode_CompareWithASCIIString(call->name, views[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether the result of a call may be large and new. */
static inline int
may_allocate(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    if (call->fast_path == fast_getitem) {
        return nargs == 2 && (is_array(args[1]) || PyArray_Check(args[1]) || PyList_Check(args[1]));
    }
    if (call->allocates == 0) { /* not known yet */
        call->allocates = returns_view(call) ? -1 : 1;
    }
    return call->allocates > 0;
}

PyObject *
set_aligning_handler(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < nargs && i < 3 && !found; i++) { /* `where` has three arrays, no function more */
        found = is_large(args[i]);
    }
    if (!found && call->fast_path == fast_join && nargs
        && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]))) {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[0]) && !found; i++) {
            found = is_large(PySequence_Fast_GET_ITEM(args[0], i));
        }
    }
    if (!found || !may_allocate(call, args, nargs)) {
        return NULL;
    }
    PyObject *before = PyDataMem_SetHandler(aligning_handler);
    if (before == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (before == PyDataMem_DefaultHandler) {
        return before;
    }
    restore_handler(before);
    return NULL;
}

void
restore_handler(PyObject *before)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *ours = PyDataMem_SetHandler(before);
    if (ours == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(ours);
    Py_DECREF(before);
    PyErr_Restore(type, error, trace);
}
