/* Work that threads share, without the GIL.

Threads are started for each piece of work, which takes some 20 us, so that none is there after a fork, or when the
interpreter ends. */

#include "threads.h"

#define MAX_THREADS 64

/* Held by who shares work, by who takes items of it, and released by the last thread that is through. */
static PyThread_type_lock sharing, taking, done;

int
init_threads(void)
{
    sharing = PyThread_allocate_lock();
    taking = PyThread_allocate_lock();
    done = PyThread_allocate_lock();
    return sharing != NULL && taking != NULL && done != NULL;
}

void
lock_share(Share *share)
{
    if (share->is_shared) {
        PyThread_acquire_lock(taking, WAIT_LOCK);
    }
}

void
unlock_share(Share *share)
{
    if (share->is_shared) {
        PyThread_release_lock(taking);
    }
}

npy_intp
take_items(Share *share, npy_intp most, npy_intp *count)
{
    lock_share(share);
    npy_intp first = share->next, left = share->count - first;
    *count = left < most ? left : most;
    share->next += *count;
    unlock_share(share);
    return first;
}

typedef struct {
    void (*work)(void *context, Share *share);
    void *context;
    Share share;
} Job;

static void
run_job(void *pointer)
{
    Job *job = pointer;
    job->work(job->context, &job->share);
    int is_shared = job->share.is_shared;
    lock_share(&job->share);
    int is_last = --job->share.running == 0;
    if (is_shared) {
        PyThread_release_lock(taking); /* from here on the job may be gone, unless this is the last thread */
    }
    if (is_last && is_shared) {
        PyThread_release_lock(done);
    }
}

void
run_shared(void (*work)(void *context, Share *share), void *context, npy_intp count, int threads)
{
    Job job = {work, context, {.count = count, .running = 1}};
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    job.share.is_shared = threads > 1 && PyThread_acquire_lock(sharing, NOWAIT_LOCK);
    if (!job.share.is_shared) {
        run_job(&job);
        return;
    }
    PyThread_acquire_lock(done, WAIT_LOCK);
    PyThread_acquire_lock(taking, WAIT_LOCK);
    for (int i = 1; i < threads; i++) {
        job.share.running += PyThread_start_new_thread(run_job, &job) != PYTHREAD_INVALID_THREAD_ID;
    }
    PyThread_release_lock(taking);
    run_job(&job);
    PyThread_acquire_lock(done, WAIT_LOCK); /* until the last thread has released it */
    PyThread_release_lock(done);
    PyThread_release_lock(sharing);
}
