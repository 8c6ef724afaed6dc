/* The pages of memory that arrays are made in.

To map a page takes as long as to write it several times. So malloc's heap is to be in huge pages, and large blocks that
were freed are kept for the next arrays. */

#ifdef __linux__ /* before our own, which say that what follows is hidden */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "pages.h"

#define LEAST_KEPT (32 << 20) /* bytes of a block that is kept: the C library keeps smaller ones */
#define KEPT 16               /* blocks, */
#define PART 16               /* and this part of the memory of the machine, that are kept at most */
#define HUGE_PAGE (2 << 20)   /* bytes */

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

int
keep_block(char *block, size_t nbytes)
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

char *
take_kept(size_t *nbytes)
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

int
keep_block(char *Py_UNUSED(block), size_t Py_UNUSED(nbytes))
{
    return 0;
}

char *
take_kept(size_t *Py_UNUSED(nbytes))
{
    return NULL;
}

PyObject *
free_kept(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_NONE;
}

#endif

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
