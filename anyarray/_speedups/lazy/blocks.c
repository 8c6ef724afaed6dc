/* Runs a chain of elementwise calls block by block, in several threads; chains.c and sums.c call it.

All steps run on a block while it is in a core's cache, so temporaries need no arrays of full size. Each step is the
inner loop of NumPy's ufunc, with the strides that the ufunc would pass, so every bit is NumPy's. Nothing here needs the
GIL. */

#include "blocks.h"
#include "elements.h"
#include "threads.h"

#define BLOCK 1024      /* elements; the operands of a step fit into the L1 cache */
#define LARGE_BLOCK 16384       /* elements of a block of a chain without temporaries: fewer calls of loops */
#define SHARE 16        /* maximum of blocks that a thread takes at a time */
#define TIMED_ELEMENTS 4096      /* elements that one thread runs first, to measure their time */
#define THREAD_SECONDS 1e-4      /* seconds of work for which another thread is started; starting takes 2e-5 */
#define SHORT_ROW 48        /* elements of a row below which copying is faster than a call of the loop for each row */
#define MAX_ITEMSIZE 16 /* bytes */
#define LINE 64         /* bytes of a cache line; aligned buffers are 1.5 times as fast */
#define BUFFER (BLOCK * MAX_ITEMSIZE)

void
merge_axes(Program *chain)
{
    int last = -1; /* the last axis kept */
    for (int axis = 0; axis < chain->ndim; axis++) {
        if (chain->shape[axis] == 1) {
            continue;
        }
        int is_merged = last >= 0;
        for (int i = 0; is_merged && i < chain->operand_count; i++) {
            const npy_intp *strides = chain->operands[i].strides;
            is_merged = strides[last] == strides[axis] * chain->shape[axis];
        }
        if (is_merged) {
            chain->shape[last] *= chain->shape[axis];
        }
        else {
            chain->shape[++last] = chain->shape[axis];
        }
        for (int i = 0; i < chain->operand_count; i++) {
            chain->operands[i].strides[last] = chain->operands[i].strides[axis];
        }
    }
    chain->ndim = last + 1;
}

/* How the elements are divided: a block is part of a row, or several rows. In a reduction, a row is a group that is
reduced to one element. */
typedef struct {
    npy_intp columns, rows;  /* of the elements */
    npy_intp width, height;  /* elements of a block */
    npy_intp across, count;  /* blocks in a row, and in all */
    npy_intp *starts;        /* the first columns of the blocks of a row, and the end; NULL for blocks of equal width */
} Cut;

/* The state of a running chain, which its threads share. */
typedef struct {
    Program *chain;
    Cut cut;
    char *partial;   /* the results of blocks of a reduction whose rows have several */
    char *buffers;   /* of each thread, `buffers_nbytes` long */
    npy_intp buffers_nbytes;
    int *errors;     /* of each thread: for the steps, and for the reduction */
    int worker_count;
    npy_intp begun;  /* blocks that are finished before threads start */
    npy_intp share;  /* blocks that a thread takes at a time */
} Work;

/* Returns the bytes from the first element of an operand to the first element of a row. */
static npy_intp
row_offset(const Program *chain, const Register *operand, npy_intp row)
{
    npy_intp offset = 0;
    for (int axis = chain->ndim - 2; axis >= 0; axis--) {
        offset += row % chain->shape[axis] * operand->strides[axis];
        row /= chain->shape[axis];
    }
    return offset;
}

static void
apply(const Loop *loop, char **args, npy_intp count, const npy_intp *steps, npy_intp itemsize)
{
    char *copies[MAX_OPERANDS + 1]; /* a loop may change the pointers */
    memcpy(copies, args, sizeof copies);
    if (loop->function != NULL) {
        loop->function(copies, &count, steps, loop->data);
    }
    else if (loop->operand_count == 1) {
        cast_numbers(loop->types[0], loop->types[1], copies[0], steps[0], copies[1], count);
    }
    else {
        select_elements(copies, count, steps, itemsize);
    }
}

/* Copies elements of an operand to contiguous memory: `count` elements from number `first` on, over `axis` and later
axes, whose first element is at `from`. */
static void
pack(const Program *chain, const Register *operand, int axis, const char *from, npy_intp first, npy_intp count, char *to)
{
    npy_intp stride = operand->strides[axis], itemsize = operand->itemsize, inner = 1;
    if (axis == chain->ndim - 1) {
        copy_strided(from + first * stride, stride, count, itemsize, to);
        return;
    }
    for (int i = axis + 1; i < chain->ndim; i++) {
        inner *= chain->shape[i];
    }
    from += first / inner * stride;
    for (npy_intp start = first % inner, here; count > 0; start = 0, from += stride) {
        here = inner - start < count ? inner - start : count;
        pack(chain, operand, axis + 1, from, start, here, to);
        to += here * itemsize;
        count -= here;
        if (stride == 0 && here == inner && count >= inner) {
            npy_intp times = count / inner;
            repeat(to, inner * itemsize, times);
            to += times * inner * itemsize;
            count -= times * inner;
        }
    }
}

/* Runs a step on the elements of a block. */
static void
run_step(const Program *chain, const Instruction *step, char *buffers, npy_intp first, npy_intp count)
{
    char *args[MAX_OPERANDS + 1] = {NULL};
    npy_intp steps[MAX_OPERANDS + 1] = {0}, length = chain->shape[chain->ndim - 1];
    int is_strided = 0, last = step->loop->operand_count;
    for (int i = 0; i <= last; i++) {
        const Register *operand = &chain->operands[step->operands[i]];
        if (operand->data == NULL) {
            args[i] = buffers + (npy_intp)operand->buffer * BUFFER;
            steps[i] = operand->itemsize;
        }
        else if (operand->is_single) {
            args[i] = operand->data;
        }
        else if (operand->is_contiguous) {
            args[i] = operand->data + first * operand->itemsize;
            steps[i] = operand->itemsize;
        }
        else {
            steps[i] = operand->strides[chain->ndim - 1];
            is_strided = 1;
        }
    }
    npy_intp itemsize = chain->operands[step->operands[last]].itemsize;
    if (is_strided && args[last] != NULL && step->loop->is_correctly_rounded && length < SHORT_ROW) {
        for (int i = 0; i < last; i++) {
            const Register *operand = &chain->operands[step->operands[i]];
            if (args[i] == NULL) {
                args[i] = buffers + (npy_intp)(chain->buffer_count + i) * BUFFER;
                steps[i] = operand->itemsize;
                pack(chain, operand, 0, operand->data, first, count, args[i]);
            }
        }
        is_strided = 0;
    }
    if (!is_strided) {
        apply(step->loop, args, count, steps, itemsize);
        return;
    }
    for (npy_intp done = 0, here; done < count; done += here) { /* row by row */
        npy_intp row = (first + done) / length, column = (first + done) % length;
        char *at[MAX_OPERANDS + 1] = {NULL};
        for (int i = 0; i <= last; i++) {
            const Register *operand = &chain->operands[step->operands[i]];
            int is_cut = operand->data == NULL || operand->is_contiguous || operand->is_single;
            at[i] = is_cut ? args[i] + done * steps[i]
                           : operand->data + row_offset(chain, operand, row) + column * steps[i];
        }
        here = length - column < count - done ? length - column : count - done;
        apply(step->loop, at, here, steps, itemsize);
    }
}

/* Reduces `count` contiguous numbers to one. */
static void
reduce(const Reduction *reduction, char *numbers, npy_intp count, char *result)
{
    npy_intp steps[] = {0, reduction->read_itemsize, 0};
    memcpy(result, reduction->start == NULL ? numbers : reduction->start, (size_t)reduction->itemsize);
    char *args[] = {result, numbers, result};
    reduction->loop->function(args, &count, steps, reduction->loop->data);
}

#define MAX_UNHALVED 128 /* numbers of a row up to which NumPy adds eight partial sums, and does not halve the row */

/* Adds up rows of `group` numbers with NumPy's bits, without a call of the loop for each row. */
#define DEFINE_ADD_ROWS(NAME, TYPE)                                                                                    \
    static void NAME(const TYPE *numbers, npy_intp group, npy_intp count, TYPE *sums)                                  \
    {                                                                                                                  \
        for (npy_intp row = 0; row < count; row++, numbers += group) {                                                 \
            TYPE sum = 0;                                                                                              \
            npy_intp i = 0;                                                                                            \
            if (group >= 8) {                                                                                          \
                TYPE r[8];                                                                                             \
                memcpy(r, numbers, sizeof r);                                                                          \
                for (i = 8; i < group - group % 8; i += 8) {                                                           \
                    for (int k = 0; k < 8; k++) {                                                                      \
                        r[k] += numbers[i + k];                                                                        \
                    }                                                                                                  \
                }                                                                                                      \
                sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                               \
            }                                                                                                          \
            for (; i < group; i++) {                                                                                   \
                sum += numbers[i];                                                                                     \
            }                                                                                                          \
            sums[row] = sum + 0; /* NumPy adds it to 0, so that -0 becomes 0 */                                        \
        }                                                                                                              \
    }

DEFINE_ADD_ROWS(add_rows_of_doubles, npy_double)
DEFINE_ADD_ROWS(add_rows_of_floats, npy_float)

/* Reduces the elements of a block. */
static void
reduce_block(const Work *work, npy_intp block, char *buffers, npy_intp first, npy_intp count)
{
    const Reduction *reduction = work->chain->reduction;
    const Register *operand = &work->chain->operands[reduction->operand];
    npy_intp group = reduction->group, itemsize = reduction->itemsize, read_itemsize = reduction->read_itemsize;
    char *numbers = operand->data == NULL ? buffers + (npy_intp)operand->buffer * BUFFER : operand->data + first * read_itemsize;
    if (work->cut.starts != NULL) {
        reduce(reduction, numbers, count, work->partial + block * itemsize);
        return;
    }
    char *results = reduction->results + first / group * itemsize;
    int typenum = reduction->loop->types[0], is_short_sum = reduction->start != NULL && group <= MAX_UNHALVED;
    if (is_short_sum && typenum == NPY_DOUBLE) {
        add_rows_of_doubles((const npy_double *)numbers, group, count / group, (npy_double *)results);
    }
    else if (is_short_sum && typenum == NPY_FLOAT) {
        add_rows_of_floats((const npy_float *)numbers, group, count / group, (npy_float *)results);
    }
    else {
        for (npy_intp i = 0; i < count / group; i++) {
            reduce(reduction, numbers + i * group * read_itemsize, group, results + i * itemsize);
        }
    }
}

/* Runs all steps on a block. `errors` has an entry for each step, and one for the reduction. */
static void
run_block(const Work *work, npy_intp block, char *buffers, int *errors)
{
    const Program *chain = work->chain;
    const Cut *cut = &work->cut;
    npy_intp row = block / cut->across * cut->height, column = block % cut->across;
    npy_intp start = cut->starts == NULL ? column * cut->width : cut->starts[column];
    npy_intp end = cut->starts == NULL ? start + cut->width : cut->starts[column + 1];
    npy_intp rows = cut->rows - row < cut->height ? cut->rows - row : cut->height;
    npy_intp first = row * cut->columns + start, count = rows * ((end < cut->columns ? end : cut->columns) - start);
    for (int i = 0; i < chain->step_count; i++) {
        run_step(chain, &chain->steps[i], buffers, first, count);
        errors[i] |= take_floating_errors();
    }
    if (chain->reduction != NULL) {
        reduce_block(work, block, buffers, first, count);
        errors[chain->step_count] |= take_floating_errors();
    }
}

static void
run_blocks(void *context, Share *share)
{
    npy_intp count, first = take_items(share, 1, &count);
    if (count == 0) {
        return;
    }
    Work *work = context;
    lock_share(share);
    npy_intp worker = work->worker_count++;
    unlock_share(share);
    char *buffers = work->buffers + worker * work->buffers_nbytes;
    int *errors = work->errors + worker * (work->chain->step_count + 1);
    take_floating_errors();
    for (npy_intp at_once = work->share; count > 0; first = take_items(share, at_once, &count)) {
        for (npy_intp i = first; i < first + count; i++) {
            run_block(work, work->begun + i, buffers, errors);
        }
        finish_items(share, count);
    }
}

/* Runs all blocks: some to measure their time, the others in as many threads as pay. */
static void
run_all(Work *work, int threads)
{
    const Cut *cut = &work->cut;
    npy_intp size = cut->width * cut->height, first = size < TIMED_ELEMENTS ? TIMED_ELEMENTS / size : 1;
    first = first < cut->count ? first : cut->count;
    double started = now();
    take_floating_errors();
    for (; work->begun < first; work->begun++) {
        run_block(work, work->begun, work->buffers, work->errors);
    }
    npy_intp left = cut->count - first;
    double worth = (now() - started) / (double)first * (double)left / THREAD_SECONDS;
    threads = worth < threads ? (int)worth + 1 : threads;
    work->share = left / (4 * threads) < SHARE ? left / (4 * threads) + 1 : SHARE;
    run_shared(run_blocks, work, left, threads);
}

/* Returns the size of the first half when NumPy's pairwise summation halves `count` elements. */
static npy_intp
half_of(npy_intp count)
{
    return count / 2 - count / 2 % 8;
}

/* Divides a row of a reduction into blocks that pairwise summation adds up separately. Returns the number of blocks. */
static npy_intp
cut_row(npy_intp start, npy_intp count, npy_intp *starts)
{
    if (count <= BLOCK) {
        if (starts != NULL) {
            starts[0] = start;
            starts[1] = start + count;
        }
        return 1;
    }
    npy_intp half = half_of(count), before = cut_row(start, half, starts);
    return before + cut_row(start + half, count - half, starts == NULL ? NULL : starts + before);
}

/* Reduces the results of the blocks of a row, in the order of NumPy's pairwise summation. */
static void
reduce_partial(const Reduction *reduction, npy_intp count, char **partial, char *result)
{
    if (count <= BLOCK) {
        memcpy(result, *partial, (size_t)reduction->itemsize);
        *partial += reduction->itemsize;
        return;
    }
    npy_intp half = half_of(count), one = 1, steps[] = {0, 0, 0};
    double first[MAX_ITEMSIZE / sizeof(double)], second[MAX_ITEMSIZE / sizeof(double)];
    reduce_partial(reduction, half, partial, (char *)first);
    reduce_partial(reduction, count - half, partial, (char *)second);
    char *args[] = {(char *)first, (char *)second, result};
    if (reduction->loop->function == count_bools) {
        npy_int64 counts[2];
        memcpy(&counts[0], first, sizeof counts[0]);
        memcpy(&counts[1], second, sizeof counts[1]);
        counts[0] += counts[1];
        memcpy(result, &counts[0], sizeof counts[0]);
    }
    else {
        reduction->loop->function(args, &one, steps, reduction->loop->data);
    }
}

/* Returns the number of elements of a block. */
static npy_intp
block_size(const Program *chain)
{
    int is_cut = chain->reduction != NULL || chain->buffer_count > 0;
    for (int i = 0; i < chain->operand_count; i++) {
        const Register *operand = &chain->operands[i]; /* strided operands may be copied to buffers */
        is_cut |= operand->data != NULL && !operand->is_single && !operand->is_contiguous;
    }
    return is_cut ? BLOCK : LARGE_BLOCK;
}

/* Divides the elements of a chain into blocks. Returns 0 if memory ran out. */
static int
cut_into_blocks(const Program *chain, Cut *cut)
{
    cut->columns = chain->reduction == NULL ? chain->shape[chain->ndim - 1] : chain->reduction->group;
    cut->rows = chain->size / cut->columns;
    npy_intp block = block_size(chain);
    cut->width = cut->columns < block ? cut->columns : block;
    cut->height = cut->columns < block ? block / cut->columns : 1;
    cut->across = (cut->columns + cut->width - 1) / cut->width;
    if (chain->reduction != NULL && cut->columns > BLOCK) {
        cut->across = cut_row(0, cut->columns, NULL);
        cut->starts = PyMem_RawMalloc(sizeof *cut->starts * (size_t)(cut->across + 1));
        if (cut->starts == NULL) {
            return 0;
        }
        cut_row(0, cut->columns, cut->starts);
    }
    cut->count = (cut->rows + cut->height - 1) / cut->height * cut->across;
    return 1;
}

int
run_chain(Program *chain, int threads)
{
    Work work = {.chain = chain};
    Cut *cut = &work.cut;
    Reduction *reduction = chain->reduction;
    int is_cut = cut_into_blocks(chain, cut);
    threads = cut->count < threads ? (int)cut->count : threads;
    threads = threads < 1 ? 1 : threads;
    /* Memory is allocated before anything is written: the result may overwrite an operand. */
    work.buffers_nbytes = (chain->buffer_count + MAX_OPERANDS) * BUFFER;
    char *memory = PyMem_RawMalloc((size_t)(threads * work.buffers_nbytes + LINE));
    work.buffers = memory + (LINE - (uintptr_t)memory % LINE) % LINE;
    work.errors = PyMem_RawCalloc((size_t)(threads * (chain->step_count + 1)), sizeof *work.errors);
    npy_intp parts = cut->starts == NULL ? 0 : cut->rows * cut->across;
    work.partial = parts ? PyMem_RawMalloc((size_t)(parts * reduction->itemsize)) : NULL;
    int is_done = is_cut && memory != NULL && work.errors != NULL && (parts == 0 || work.partial != NULL);
    if (is_done) {
        run_all(&work, threads);
    }
    for (int worker = 0; is_done && worker < threads; worker++) {
        const int *errors = work.errors + worker * (chain->step_count + 1);
        for (int i = 0; i < chain->step_count; i++) {
            chain->steps[i].errors |= errors[i];
        }
        if (reduction != NULL) {
            reduction->errors |= errors[chain->step_count];
        }
    }
    if (is_done && parts) {
        take_floating_errors();
        char *partial = work.partial;
        for (npy_intp row = 0; row < cut->rows; row++) {
            reduce_partial(reduction, cut->columns, &partial, reduction->results + row * reduction->itemsize);
        }
        reduction->errors |= take_floating_errors();
    }
    PyMem_RawFree(memory);
    PyMem_RawFree(work.errors);
    PyMem_RawFree(work.partial);
    PyMem_RawFree(cut->starts);
    return is_done;
}
