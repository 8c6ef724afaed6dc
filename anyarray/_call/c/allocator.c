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

#define LARGE (LARGE_NBYTES / (npy_intp)sizeof(double)) /* elements of a large array */
#define HEADER sizeof(Header)
#define PADDING (ALIGNMENT + HEADER)
#define LEAST_KEPT (32 << 20) /* bytes of a block that is kept: the C library keeps smaller ones */
#define KEPT 16               /* blocks, */
#define PART 16               /* and this part of the memory of the machine, that are kept at most */
#define HUGE_PAGE (2 << 20)   /* bytes */
#define CAPSULE "mem_handler" /* what NumPy calls such capsules */

/* What stands before an array. */
typedef struct {
    size_t offset; /* bytes from the beginning of its block to its own */
    size_t nbytes; /* of the block */
} Header;

static PyDataMem_Handler *default_handler; /* NumPy's own */
static PyObject *aligning_handler;         /* a capsule of `handler` */

static inline Header
header_of(const char *memory)
{
    Header header;
    memcpy(&header, memory - HEADER, HEADER);
    return header;
}

static inline void
free_block(char *block, size_t nbytes)
{
    default_handler->allocator.free(default_handler->allocator.ctx, block, nbytes);
}

static inline size_t
aligned_offset(const char *block)
{
    return HEADER + (ALIGNMENT - ((uintptr_t)block + HEADER) % ALIGNMENT) % ALIGNMENT;
}

/* Where an array begins in a block of so many bytes, NULL in none. */
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

#ifdef MADV_FREE

/* Blocks that were freed and may be used again, the oldest first.

The C library gives each block of more than 32 MiB back to the system, and the next one is zeroed and mapped anew, page
by page, which takes as long as to add two arrays of its size. The system is told that it may have the pages of these
blocks whenever memory is short. The GIL is held by who comes here. */
static struct {
    char *blocks[KEPT];
    size_t sizes[KEPT], nbytes;
    int count;
} kept;

static void
forget(int i)
{
    kept.nbytes -= kept.sizes[i];
    kept.count--;
    memmove(kept.blocks + i, kept.blocks + i + 1, sizeof *kept.blocks * (size_t)(kept.count - i));
    memmove(kept.sizes + i, kept.sizes + i + 1, sizeof *kept.sizes * (size_t)(kept.count - i));
}

static void
free_oldest(void)
{
    char *block = kept.blocks[0];
    size_t nbytes = kept.sizes[0];
    forget(0);
    free_block(block, nbytes);
}

/* The bytes of all blocks that are kept at most: 0 if the user has said what the C library is to keep. */
static size_t
most_kept(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    if (getenv("MALLOC_MMAP_THRESHOLD_") != NULL || getenv("MALLOC_TRIM_THRESHOLD_") != NULL
        || (tunables != NULL && strstr(tunables, "glibc.malloc.") != NULL)) {
        return 0;
    }
    return (size_t)sysconf(_SC_PHYS_PAGES) / PART * (size_t)sysconf(_SC_PAGESIZE);
}

/* Keeps a block; 0 if it is to be freed. */
static int
keep(char *block, size_t nbytes)
{
    static size_t most = SIZE_MAX;
    if (nbytes < LEAST_KEPT) {
        return 0;
    }
    if (most == SIZE_MAX) {
        most = most_kept();
    }
    if (nbytes > most) {
        return 0;
    }
    uintptr_t start = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE; /* no huge page is split */
    uintptr_t end = ((uintptr_t)block + nbytes) / HUGE_PAGE * HUGE_PAGE;
    if (madvise((void *)start, end - start, MADV_FREE) != 0) {
        return 0;
    }
    while (kept.count == KEPT || kept.nbytes > most - nbytes) {
        free_oldest();
    }
    kept.blocks[kept.count] = block;
    kept.sizes[kept.count++] = nbytes;
    kept.nbytes += nbytes;
    return 1;
}

/* A block that was kept, of so many bytes or little more; sets the number. NULL without one. */
static char *
take(size_t *nbytes)
{
    int best = -1;
    for (int i = 0; i < kept.count; i++) {
        size_t its = kept.sizes[i];
        if (its >= *nbytes && its - *nbytes <= *nbytes / 8 && (best < 0 || its <= kept.sizes[best])) {
            best = i;
        }
    }
    if (best < 0) {
        return NULL;
    }
    char *block = kept.blocks[best];
    *nbytes = kept.sizes[best];
    forget(best);
    return block;
}

PyObject *
free_kept(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    while (kept.count) {
        free_oldest();
    }
    Py_RETURN_NONE;
}

#else

static int
keep(char *Py_UNUSED(block), size_t Py_UNUSED(nbytes))
{
    return 0;
}

static char *
take(size_t *Py_UNUSED(nbytes))
{
    return NULL;
}

PyObject *
free_kept(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_NONE;
}

#endif

static void *
aligned_malloc(void *Py_UNUSED(ctx), size_t size)
{
    PyDataMemAllocator *own = &default_handler->allocator;
    if (size > SIZE_MAX - PADDING) {
        return NULL;
    }
    size_t nbytes = size + PADDING;
    char *block = take(&nbytes);
    if (block == NULL) {
        block = own->malloc(own->ctx, nbytes);
    }
    if (block == NULL) {
        Py_XDECREF(free_kept(NULL, NULL));
        block = own->malloc(own->ctx, nbytes);
    }
    return begin(block, nbytes);
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
        char *block = (char *)memory - header.offset;
        if (!keep(block, header.nbytes)) {
            free_block(block, header.nbytes);
        }
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
    size_t offset = header_of(memory).offset;
    char *block = size > SIZE_MAX - PADDING ? NULL : own->realloc(own->ctx, (char *)memory - offset, size + PADDING);
    if (block == NULL) {
        return NULL;
    }
    if (aligned_offset(block) != offset) {
        memmove(block + aligned_offset(block), block + offset, size);
    }
    return begin(block, size + PADDING);
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
           && call->fast_path != fast_transpose && call->fast_path != fast_reshape && call->fast_path != fast_ravel
           && call->fast_path != fast_array && call->fast_path != fast_inplace;
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
