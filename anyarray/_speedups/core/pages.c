/* Asks for huge pages for malloc's heap; `_memory.heap` turns it on. */

#ifdef __linux__ /* before headers that hide the declarations that follow */
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
#define ROOM ((size_t)30 << 20) /* bytes of a block: below glibc's mmap threshold, `_memory.alignment.LARGEST_REUSED` */
#define BLOCKS 2                /* of a total below glibc's trim threshold */

void
use_huge_pages(void)
{
    static void *end;
    if (!is_wanted || sbrk(0) == end) { /* not a system call; the heap has not grown */
        return;
    }
    char *blocks[BLOCKS] = {NULL};
    for (int i = 0; i < BLOCKS && is_wanted && (blocks[i] = malloc(ROOM)) != NULL; i++) {
        size_t before = (uintptr_t)blocks[i] % PAGE, pages = (before + ROOM + PAGE - 1) / PAGE;
        is_wanted = madvise(blocks[i] - before, pages * PAGE, MADV_HUGEPAGE) == 0; /* fails if the system has none */
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
