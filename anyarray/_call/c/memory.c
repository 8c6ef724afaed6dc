/* Large results of NumPy in memory that every library takes as it is.

NumPy asks the handler of the context for the memory of its arrays. Around a call that has a large array this one is
set: it has NumPy's own blocks, with room to begin at an address that is `ALIGNMENT` times a number. What was made with
it keeps it, so the memory is freed rightly whenever that is. Source: NumPy's C API, "Memory management in NumPy". */

#include "speedups.h"

#define HEAD sizeof(size_t) /* bytes before an array: how far it is from the beginning of its block */
#define MORE (ALIGNMENT + HEAD)
#define HANDLER "mem_handler" /* what NumPy calls such capsules */

static PyDataMem_Handler *usual; /* NumPy's own */
static PyObject *aligning;

static inline size_t
head_of(const char *memory)
{
    size_t head;
    memcpy(&head, memory - HEAD, HEAD);
    return head;
}

/* Where an array begins in a block. */
static void *
begun(char *block)
{
    if (block == NULL) {
        return NULL;
    }
    size_t head = HEAD + (ALIGNMENT - ((uintptr_t)block + HEAD) % ALIGNMENT) % ALIGNMENT;
    memcpy(block + head - HEAD, &head, HEAD);
    return block + head;
}

static void *
aligned_malloc(void *unused, size_t size)
{
    return size > SIZE_MAX - MORE ? NULL : begun(usual->allocator.malloc(usual->allocator.ctx, size + MORE));
}

static void *
aligned_calloc(void *unused, size_t count, size_t width)
{
    if (width && count > (SIZE_MAX - MORE) / width) {
        return NULL;
    }
    return begun(usual->allocator.calloc(usual->allocator.ctx, count * width + MORE, 1));
}

static void
aligned_free(void *unused, void *memory, size_t size)
{
    if (memory != NULL) {
        usual->allocator.free(usual->allocator.ctx, (char *)memory - head_of(memory), size + MORE);
    }
}

/* As `ndarray.resize` asks for it. */
static void *
aligned_realloc(void *unused, void *memory, size_t size)
{
    if (memory == NULL) {
        return aligned_malloc(NULL, size);
    }
    size_t head = head_of(memory);
    char *block = size > SIZE_MAX - MORE
                      ? NULL
                      : usual->allocator.realloc(usual->allocator.ctx, (char *)memory - head, size + MORE);
    if (block == NULL) {
        return NULL;
    }
    size_t wanted = HEAD + (ALIGNMENT - ((uintptr_t)block + HEAD) % ALIGNMENT) % ALIGNMENT;
    if (wanted != head) {
        memmove(block + wanted, block + head, size);
    }
    return begun(block);
}

static PyDataMem_Handler handler = {
    "anyarray_aligned", 1, {NULL, aligned_malloc, aligned_calloc, aligned_realloc, aligned_free}};

int
prepare_memory(void)
{
    usual = PyCapsule_GetPointer(PyDataMem_DefaultHandler, HANDLER);
    aligning = usual == NULL ? NULL : PyCapsule_New(&handler, HANDLER, NULL);
    return aligning != NULL;
}

/* Whether an argument is an Array of NumPy's memory that has so many elements that a result is worth it. */
static inline int
is_much(PyObject *value)
{
    if (Py_TYPE(value) != house.array) {
        return 0;
    }
    PyObject *native = field(value, house.native_at);
    return native != NULL && PyArray_CheckExact(native) && PyArray_SIZE((PyArrayObject *)native) >= MANY;
}

/* Functions that give views, which take less than a microsecond: 0.2 more would tell. If one copies, that is not aligned. */
static const char *const views[] = {"broadcast_arrays", "broadcast_to", "diagonal", "expand_dims", "flip", "imag",
                                    "matrix_transpose", "meshgrid", "moveaxis", "permute_dims", "real", "reshape",
                                    "squeeze", "unstack"};

/* Whether what a call gives may be large and new. */
static inline int
allocates(Call *call, PyObject *const *args, Py_ssize_t given)
{
    if (call->quick == quick_item) {
        return given == 2 && (Py_TYPE(args[1]) == house.array || PyArray_Check(args[1]) || PyList_Check(args[1]));
    }
    if (call->allocates == 0) { /* not known yet */
        call->allocates = call->quick == quick_transpose || call->quick == quick_view || call->quick == quick_iter
                                  || call->quick == quick_write
                              ? -1
                              : 1;
        for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
            if (PyUnicode_CompareWithASCIIString(call->name, views[i]) == 0) {
                call->allocates = -1;
            }
        }
    }
    return call->allocates > 0;
}

/* Let NumPy align what it allocates in this context, if a call has a large array: then `restore` must follow.

What it gives is NULL where nothing is to be restored: without such an array, or where the user has set a handler. */
PyObject *
align(Call *call, PyObject *const *args, Py_ssize_t given)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < given && i < 3 && !found; i++) { /* a condition and what is chosen from, at most */
        found = is_much(args[i]);
    }
    if (!found && call->quick == quick_join && given && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]))) {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[0]) && !found; i++) {
            found = is_much(PySequence_Fast_GET_ITEM(args[0], i));
        }
    }
    if (!found || !allocates(call, args, given)) {
        return NULL;
    }
    PyObject *before = PyDataMem_SetHandler(aligning);
    if (before == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (before == PyDataMem_DefaultHandler) {
        return before;
    }
    restore(before);
    return NULL;
}

/* Set the handler that was there before; an error that is raised stays. */
void
restore(PyObject *before)
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
