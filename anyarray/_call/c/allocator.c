/* Large results of NumPy in memory that every library takes as it is, and in huge pages.

NumPy asks the memory handler of the context for the memory of its arrays. Around a call that has a large array
this one is set: it takes blocks from NumPy's own, with room to begin at a multiple of `ALIGNMENT`. An array keeps
the handler with which it was made, so its memory is freed rightly whenever that is. A handler of the user's stays
as it is. Source: NumPy's C API, "Memory management in NumPy" (NEP 49).

Without this, as where nothing is compiled, such a result is copied when it is first lent: `_memory.transfer`. */

#ifdef __linux__ /* before our own, which say that what follows is hidden */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "allocator.h"
#include "arrays.h"
#include "fast_paths.h"
#include "memory.h"

#define LARGE (1 << 17) /* elements of a large array: 1 MB of float64 */
#define HEADER sizeof(size_t) /* before an array: the bytes from the beginning of its block to its own */
#define PADDING (ALIGNMENT + HEADER)
#define CAPSULE "mem_handler" /* what NumPy calls such capsules */

static PyDataMem_Handler *default_handler; /* NumPy's own */
static PyObject *aligning_handler;         /* a capsule of `handler` */

static inline size_t
offset_of(const char *memory)
{
    size_t offset;
    memcpy(&offset, memory - HEADER, HEADER);
    return offset;
}

static inline size_t
aligned_offset(const char *block)
{
    return HEADER + (ALIGNMENT - ((uintptr_t)block + HEADER) % ALIGNMENT) % ALIGNMENT;
}

/* Where an array begins in a block, NULL in none. */
static void *
begin(char *block)
{
    if (block == NULL) {
        return NULL;
    }
    size_t offset = aligned_offset(block);
    memcpy(block + offset - HEADER, &offset, HEADER);
    return block + offset;
}

static void *
aligned_malloc(void *Py_UNUSED(ctx), size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    return size > SIZE_MAX - PADDING ? NULL : begin(own->malloc(own->ctx, size + PADDING));
}

static void *
aligned_calloc(void *Py_UNUSED(ctx), size_t count, size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    if (size && count > (SIZE_MAX - PADDING) / size) {
        return NULL;
    }
    return begin(own->calloc(own->ctx, count * size + PADDING, 1));
}

static void
aligned_free(void *Py_UNUSED(ctx), void *memory, size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    if (memory != NULL) {
        own->free(own->ctx, (char *)memory - offset_of(memory), size + PADDING);
    }
}

/* As `ndarray.resize` asks for it. */
static void *
aligned_realloc(void *ctx, void *memory, size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    if (memory == NULL) {
        return aligned_malloc(ctx, size);
    }
    size_t offset = offset_of(memory);
    char *block = size > SIZE_MAX - PADDING ? NULL : own->realloc(own->ctx, (char *)memory - offset, size + PADDING);
    if (block == NULL) {
        return NULL;
    }
    if (aligned_offset(block) != offset) {
        memmove(block + aligned_offset(block), block + offset, size);
    }
    return begin(block);
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
    if (native != NULL && Py_TYPE(native) == &RecordedType) {
        return ((Recorded *)native)->size >= LARGE;
    }
    return native != NULL && PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= LARGE;
}

/* Whether a call may make a new array. To set a handler takes 0.2 us, which views are not worth. */
static int
may_allocate(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    if (call->fast_path == fast_getitem) {
        PyObject *key = nargs != 2 ? NULL : is_array(args[1]) ? get_slot(args[1], config.native_offset) : args[1];
        return key != NULL && (PyArray_Check(key) || PyList_Check(key) || Py_TYPE(key) == &RecordedType);
    }
    return !call->gives_views && call->fast_path != fast_setitem && call->fast_path != fast_iter
           && call->fast_path != fast_transpose && call->fast_path != fast_array && call->fast_path != fast_inplace;
}

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

#define PAGE ((uintptr_t)4096)
#define ROOM ((size_t)30 << 20) /* of each block: smaller than what glibc maps by itself (`_memory.alignment.LARGEST_KEPT`) */
#define BLOCKS 2                /* together smaller than what it gives back to the system when it is freed */

void
use_huge_pages(void)
{
    static void *end;
    static int is_unwanted;
    if (is_unwanted || sbrk(0) == end) { /* no system call; it has not grown since */
        return;
    }
    const char *wanted = getenv("NUMPY_MADVISE_HUGEPAGE");
    is_unwanted = wanted != NULL && strcmp(wanted, "0") == 0;
    char *blocks[BLOCKS] = {NULL};
    for (int i = 0; i < BLOCKS && !is_unwanted && (blocks[i] = malloc(ROOM)) != NULL; i++) {
        size_t before = (uintptr_t)blocks[i] % PAGE, pages = (before + ROOM + PAGE - 1) / PAGE;
        is_unwanted = madvise(blocks[i] - before, pages * PAGE, MADV_HUGEPAGE) < 0; /* there are none */
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
    end = sbrk(0);
}

#else

void
use_huge_pages(void)
{
}

#endif

PyObject *
huge_pages_used(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    use_huge_pages();
    Py_RETURN_NONE;
}

PyObject *
align_allocations(Call *call, PyObject *const *args, Py_ssize_t nargs)
{
    int has_large = 0;
    for (Py_ssize_t i = 0; i < nargs && i < 3 && !has_large; i++) { /* arrays are no later arguments */
        has_large = is_large(args[i]);
    }
    if (!has_large && nargs && call->fast_path == fast_join && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]))) {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[0]) && !has_large; i++) {
            has_large = is_large(PySequence_Fast_GET_ITEM(args[0], i));
        }
    }
    if (!has_large || !may_allocate(call, args, nargs)) {
        return NULL;
    }
    use_huge_pages();
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
