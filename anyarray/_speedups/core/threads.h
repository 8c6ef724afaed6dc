/* Work shared by threads without the GIL. */

#ifndef ANYARRAY_THREADS_H
#define ANYARRAY_THREADS_H

#include "numpy_api.h"

/* The items of a job, which threads take in turns. */
typedef struct {
    npy_intp next, count, finished;
    int is_shared; /* whether several threads work on it */
} Share;

/* Creates the locks, also after a fork. Returns 0 if memory ran out. */
int init_threads(void);

/* Takes up to `most` items. Returns the first, and sets `count` to their number, which is 0 if none is left: then the
context must not be accessed any more. */
npy_intp take_items(Share *share, npy_intp most, npy_intp *count);

/* Reports items as finished, with all their writes to the context. */
void finish_items(Share *share, npy_intp count);

/* Excludes other threads while one writes data that all share. */
void lock_share(Share *share);
void unlock_share(Share *share);

/* Calls `work` in up to `threads` threads, including this one, until `count` items are finished. Runs in one thread if
another job is running, or if memory ran out. */
void run_shared(void (*work)(void *context, Share *share), void *context, npy_intp count, int threads);

/* Returns the time of a clock, in seconds. */
double now(void);

#endif
