/* Runs items of work in several threads without the GIL; blocks.c calls it.

Starting a thread takes about 20 us. Each job starts its own threads, so that none exists after a fork or at exit.
Nobody waits for a thread that has not taken an item yet; on a busy machine that may take milliseconds. */

#include "threads.h"
#include <time.h>

#define MAX_THREADS 64

/* `sharing` is held while a job runs, `taking` while a Share changes, and `done` until the last item is finished. */
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

void
finish_items(Share *share, npy_intp count)
{
    lock_share(share);
    share->finished += count;
    int is_last = share->finished == share->count;
    int is_shared = share->is_shared;
    unlock_share(share);
    if (is_last && is_shared) {
        PyThread_release_lock(done);
    }
}

typedef struct {
    void (*work)(void *context, Share *share);
    void *context;
    Share share;
    int references; /* threads that may still access the job */
} Job;

static void
leave_job(Job *job)
{
    PyThread_acquire_lock(taking, WAIT_LOCK);
    int is_last = --job->references == 0;
    PyThread_release_lock(taking);
    if (is_last) {
        PyMem_RawFree(job);
    }
}

static void
run_job(void *pointer)
{
    Job *job = pointer;
    job->work(job->context, &job->share);
    leave_job(job);
}

double
now(void)
{
    struct timespec found;
    return timespec_get(&found, TIME_UTC) ? (double)found.tv_sec + 1e-9 * (double)found.tv_nsec : 0;
}

void
run_shared(void (*work)(void *context, Share *share), void *context, npy_intp count, int threads)
{
    int is_shared = threads > 1 && PyThread_acquire_lock(sharing, NOWAIT_LOCK);
    Job *job = is_shared ? PyMem_RawMalloc(sizeof *job) : NULL;
    if (job == NULL) {
        Share alone = {.count = count};
        work(context, &alone);
    }
    else {
        *job = (Job){work, context, {.count = count, .is_shared = 1}, 1};
        PyThread_acquire_lock(done, WAIT_LOCK);
        for (int i = 1; i < threads && i < MAX_THREADS; i++) {
            PyThread_acquire_lock(taking, WAIT_LOCK);
            job->references++;
            PyThread_release_lock(taking);
            if (PyThread_start_new_thread(run_job, job) == PYTHREAD_INVALID_THREAD_ID) {
                leave_job(job);
            }
        }
        work(context, &job->share);
        PyThread_acquire_lock(done, WAIT_LOCK); /* until the last item is finished */
        PyThread_release_lock(done);
        leave_job(job);
    }
    if (is_shared) {
        PyThread_release_lock(sharing);
    }
}
