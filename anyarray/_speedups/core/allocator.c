/* The NumPy memory handler that aligns large results to ALIGNMENT bytes; call.c sets it around each call.

NumPy takes the memory of new arrays from the handler of the current context. This handler takes it from NumPy's default
handler, with padding. An array keeps the handler that allocated it, and frees its memory by it. A handler that the user
has set stays. Source: NumPy's C API, "Memory management in NumPy" (NEP 49).

Without this handler, `_memory.transfer` copies a large result when another library first shares it. */

#include "allocator.h"
#include "arrays.h"
#include "fast_paths.h"
#include "memory.h"

#define LARGE (LARGE_NBYTES / (npy_intp)sizeof(double)) /* elements */
#define HEADER sizeof(Header)
#define PADDING (ALIGNMENT + HEADER)
#define CAPSULE "mem_handler" /* the name of NumPy's handler capsules */

/* Stored in the bytes before the data of an array. */
typedef struct {
    size_t offset; /* from the start of the block to the data, in bytes */
    size_t nbytes; /* of the block */
} Header;

static PyDataMem_Handler *default_handler; /* NumPy's */
static PyObject *aligning_handler;         /* a capsule of `handler` */

static inline Header
header_of(const char *memory)
{
    Header header;
    memcpy(&header, memory - HEADER, HEADER);
    return header;
}

static inline size_t
aligned_offset(const char *block)
{
    return HEADER + (ALIGNMENT - ((uintptr_t)block + HEADER) % ALIGNMENT) % ALIGNMENT;
}

/* Writes the header of an array into a block. Returns the data pointer; NULL for NULL. */
static void *
begin(char *block, size_t nbytes)
{
    if (block == NULL) {
        return NULL;
    }
    Header header = {aligned_offset(block), nbytes};
    memcpy(block + header.offset - HEADER, &header, HEADER);
    return block + header.offset;
}

static void *
aligned_malloc(void *Py_UNUSED(ctx), size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    if (size > SIZE_MAX - PADDING) {
        return NULL;
    }
    return begin(own->malloc(own->ctx, size + PADDING), size + PADDING);
}

static void *
aligned_calloc(void *Py_UNUSED(ctx), size_t count, size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    if (size && count > (SIZE_MAX - PADDING) / size) {
        return NULL;
    }
    return begin(own->calloc(own->ctx, count * size + PADDING, 1), count * size + PADDING);
}

static void
aligned_free(void *Py_UNUSED(ctx), void *memory, size_t Py_UNUSED(size))
{
    if (memory != NULL) {
        Header header = header_of(memory);
        PyDataMemAllocator *own = &default_handler->allocator;
        own->free(own->ctx, (char *)memory - header.offset, header.nbytes);
    }
}

/* Called by `ndarray.resize`. */
static void *
aligned_realloc(void *ctx, void *memory, size_t size)
{
    void *resized = aligned_malloc(ctx, size);
    if (resized != NULL && memory != NULL) {
        size_t before = header_of(memory).nbytes - PADDING;
        memcpy(resized, memory, before < size ? before : size);
        aligned_free(ctx, memory, before);
    }
    return resized;
}

static PyDataMem_Handler handler = {
    "anyarray_aligned", 1, {NULL, aligned_malloc, aligned_calloc, aligned_realloc, aligned_free}};

int
init_allocator(void)
{
    default_handler = PyCapsule_GetPointer(PyDataMem_DefaultHandler, CAPSULE);
    aligning_handler = default_handler == NULL ? NULL : PyCapsule_New(&handler, CAPSULE, NULL);
    return aligning_handler != NULL;
}

static inline int
is_large(PyObject *value)
{
    PyObject *native = is_array(value) ? get_slot(value, config.native_offset) : NULL;
    if (native != NULL && Py_TYPE(native) == &LazyType) {
        return ((Lazy *)native)->size >= LARGE;
    }
    return native != NULL && PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= LARGE;
}

/* Whether indexing by a key makes a copy: whether the key is an array or a list. */
static inline int
is_copying_key(PyObject *key)
{
    PyObject *native = is_array(key) ? get_slot(key, config.native_offset) : key;
    return native != NULL && (PyArray_Check(native) || PyList_Check(native) || Py_TYPE(native) == &LazyType);
}

PyObject *
align_allocations(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    if (!(call->flags & MAY_ALLOCATE)) {
        return NULL;
    }
    int has_large = 0, is_sequence = nargs > 0 && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]));
    for (Py_ssize_t i = 0; i < nargs && i < 3 && !has_large; i++) { /* no function takes arrays in later positions */
        has_large = is_large(args[i]);
    }
    for (Py_ssize_t i = 0; is_sequence && !has_large && i < PySequence_Fast_GET_SIZE(args[0]); i++) {
        has_large = is_large(PySequence_Fast_GET_ITEM(args[0], i));
    }
    if (!has_large || (call->fast_path == fast_getitem && !(nargs == 2 && is_copying_key(args[1])))) {
        return NULL;
    }
    use_huge_pages();
    return set_allocator();
}

PyObject *
set_allocator(void)
{
    PyObject *before = PyDataMem_SetHandler(aligning_handler);
    if (before == NULL) {
        PyErr_Clear();
    }
    else if (before != PyDataMem_DefaultHandler) {
        restore_allocator(before);
        before = NULL;
    }
    return before;
}

void
restore_allocator(PyObject *before)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *ours = PyDataMem_SetHandler(before);
    if (ours == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(ours);
    Py_DECREF(before);
    PyErr_Restore(type, error, traceback);
}
