/* Work that threads share, without the GIL. */

#ifndef ANYARRAY_THREADS_H
#define ANYARRAY_THREADS_H

#include "numpy_api.h"

/* Items of work, of which each thread takes some after the other. */
typedef struct {
    npy_intp next, count, finished;
    int is_shared; /* whether there are several threads */
} Share;

/* Makes what is needed, also after a fork; 0 if memory ran out. */
int init_threads(void);

/* Takes at most so many items: the first, and how many, which is 0 if none is left. Then the context must not be touched
any more, as it may be gone. */
npy_intp take_items(Share *share, npy_intp most, npy_intp *count);

/* Says that items that were taken are done, with all that they write to the context. */
void finish_items(Share *share, npy_intp count);

/* While it is held, no other thread has it: to write what all have. */
void lock_share(Share *share);
void unlock_share(Share *share);

/* Calls `work` in so many threads at most, of which this is one, until `count` items are done. One thread does all if
others are at work already, or memory ran out. */
void run_shared(void (*work)(void *context, Share *share), void *context, npy_intp count, int threads);

/* Seconds, by a clock. */
double now(void);

#endif
