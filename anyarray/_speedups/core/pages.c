/* Huge pages for malloc's heap.

Compiled: to ask for them, once `_memory.heap` has said that they are wanted. */

#ifdef __linux__ /* before our own, which say that what follows is hidden */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "allocator.h"

static int is_wanted;

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

#define PAGE ((uintptr_t)4096)
#define ROOM ((size_t)30 << 20) /* of each block: smaller than what glibc maps by itself (`_memory.alignment.LARGEST_REUSED`) */
#define BLOCKS 2                /* together smaller than what it gives back to the system when it is freed */

void
use_huge_pages(void)
{
    static void *end;
    if (!is_wanted || sbrk(0) == end) { /* no system call; it has not grown since */
        return;
    }
    char *blocks[BLOCKS] = {NULL};
    for (int i = 0; i < BLOCKS && is_wanted && (blocks[i] = malloc(ROOM)) != NULL; i++) {
        size_t before = (uintptr_t)blocks[i] % PAGE, pages = (before + ROOM + PAGE - 1) / PAGE;
        is_wanted = madvise(blocks[i] - before, pages * PAGE, MADV_HUGEPAGE) == 0; /* else there are none */
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
want_huge_pages(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    is_wanted = 1;
    use_huge_pages();
    Py_RETURN_NONE;
}
