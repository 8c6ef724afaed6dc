/* Runs a chain of elementwise calls, block by block, by several threads.

A block goes through all steps while it stays in a core's cache, and no temporary array has full size. Each step is
the inner loop of NumPy's own ufunc, with the strides that the ufunc would give it, so that every bit is NumPy's.
Nothing here needs the GIL. */

#include "blocks.h"
#include "loops.h"
#include "threads.h"

#define BLOCK 1024      /* elements: what a step reads and writes of so many stays in the first cache of a core */
#define SHARE 16        /* blocks that a thread takes at a time */
#define MAX_ITEMSIZE 16 /* bytes */
#define LINE 64         /* bytes of a line of the cache, at which buffers begin: 1.5 times as fast as anywhere */
#define BUFFER (BLOCK * MAX_ITEMSIZE)

#define REAL_TYPES(X, ...)                                                                                             \
    X(NPY_BOOL, npy_bool, __VA_ARGS__)                                                                                 \
    X(NPY_BYTE, npy_byte, __VA_ARGS__) X(NPY_UBYTE, npy_ubyte, __VA_ARGS__)                                            \
    X(NPY_SHORT, npy_short, __VA_ARGS__) X(NPY_USHORT, npy_ushort, __VA_ARGS__)                                        \
    X(NPY_INT, npy_int, __VA_ARGS__) X(NPY_UINT, npy_uint, __VA_ARGS__)                                                \
    X(NPY_LONG, npy_long, __VA_ARGS__) X(NPY_ULONG, npy_ulong, __VA_ARGS__)                                            \
    X(NPY_LONGLONG, npy_longlong, __VA_ARGS__) X(NPY_ULONGLONG, npy_ulonglong, __VA_ARGS__)                            \
    X(NPY_FLOAT, npy_float, __VA_ARGS__) X(NPY_DOUBLE, npy_double, __VA_ARGS__)

int
is_cast_known(int from, int to)
{
    int is_known = from >= NPY_BOOL && from <= NPY_DOUBLE && to >= NPY_BOOL && to <= NPY_CDOUBLE
                   && to != NPY_LONGDOUBLE && to != NPY_HALF;
    /* What a float beyond an integer's range becomes depends on the processor's instruction. */
    return is_known && !(PyTypeNum_ISFLOAT(from) && PyTypeNum_ISINTEGER(to));
}

const Loop *
cast_loop(int from, int to)
{
    static Loop loops[NPY_CDOUBLE + 1][NPY_CDOUBLE + 1];
    Loop *loop = &loops[from][to];
    *loop = (Loop){.name = "cast", .operand_count = 1, .types = {from, to}};
    return loop;
}

#define CAST_TO(NUMBER, TYPE, FROM)                                                                                    \
    case NUMBER:                                                                                                       \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            ((TYPE *)target)[i] = (TYPE)*(const FROM *)(source + i * stride);                                          \
        }                                                                                                              \
        break;

#define CAST_TO_COMPLEX(NUMBER, TYPE, FROM)                                                                            \
    case NUMBER:                                                                                                       \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            ((TYPE *)target)[2 * i] = (TYPE)*(const FROM *)(source + i * stride);                                      \
            ((TYPE *)target)[2 * i + 1] = 0;                                                                           \
        }                                                                                                              \
        break;

#define CASTS_FROM(NUMBER, FROM, unused)                                                                               \
    static void cast_from_##NUMBER(int to, const char *source, npy_intp stride, char *target, npy_intp count)          \
    {                                                                                                                  \
        switch (to) {                                                                                                  \
            case NPY_BOOL:                                                                                             \
                for (npy_intp i = 0; i < count; i++) {                                                                 \
                    ((npy_bool *)target)[i] = *(const FROM *)(source + i * stride) != 0;                               \
                }                                                                                                      \
                break;                                                                                                 \
            INTEGER_AND_FLOAT_TYPES(CAST_TO, FROM)                                                                     \
            CAST_TO_COMPLEX(NPY_CFLOAT, npy_float, FROM)                                                               \
            CAST_TO_COMPLEX(NPY_CDOUBLE, npy_double, FROM)                                                             \
        }                                                                                                              \
    }

#define INTEGER_AND_FLOAT_TYPES(X, FROM)                                                                               \
    X(NPY_BYTE, npy_byte, FROM) X(NPY_UBYTE, npy_ubyte, FROM) X(NPY_SHORT, npy_short, FROM)                            \
    X(NPY_USHORT, npy_ushort, FROM) X(NPY_INT, npy_int, FROM) X(NPY_UINT, npy_uint, FROM)                              \
    X(NPY_LONG, npy_long, FROM) X(NPY_ULONG, npy_ulong, FROM) X(NPY_LONGLONG, npy_longlong, FROM)                      \
    X(NPY_ULONGLONG, npy_ulonglong, FROM) X(NPY_FLOAT, npy_float, FROM) X(NPY_DOUBLE, npy_double, FROM)

REAL_TYPES(CASTS_FROM, )

#define CALL_CAST(NUMBER, FROM, unused)                                                                                \
    case NUMBER:                                                                                                       \
        cast_from_##NUMBER(to, source, stride, target, count);                                                         \
        break;

void
cast_numbers(int from, int to, const char *source, npy_intp stride, char *target, npy_intp count)
{
    switch (from) {
        REAL_TYPES(CALL_CAST, )
    }
}

#define SELECT(TYPE)                                                                                                   \
    for (npy_intp i = 0; i < count; i++) {                                                                             \
        const char *chosen = *(const npy_bool *)(args[0] + i * steps[0]) ? args[1] + i * steps[1] : args[2] + i * steps[2]; \
        ((TYPE *)args[3])[i] = *(const TYPE *)chosen;                                                                  \
    }

/* As `where`, of elements of one size. */
static void
select_elements(char **args, npy_intp count, const npy_intp *steps, npy_intp itemsize)
{
    switch (itemsize) {
        case 1:
            SELECT(npy_uint8)
            break;
        case 2:
            SELECT(npy_uint16)
            break;
        case 4:
            SELECT(npy_uint32)
            break;
        case 8:
            SELECT(npy_uint64)
            break;
        default:
            for (npy_intp i = 0; i < count; i++) {
                const char *chosen = *(const npy_bool *)(args[0] + i * steps[0]) ? args[1] + i * steps[1]
                                                                                 : args[2] + i * steps[2];
                memcpy(args[3] + i * itemsize, chosen, itemsize);
            }
    }
}

void
merge_axes(Chain *chain)
{
    int last = -1; /* the last of the axes that are kept */
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

/* How the result is cut: a block is a part of a row, or some rows. */
typedef struct {
    npy_intp columns, rows;     /* of the result */
    npy_intp width, height;     /* of a block */
    npy_intp across, count;     /* blocks beside each other, and all */
} Cut;

static Cut
cut_into_blocks(const Chain *chain)
{
    Cut cut = {.columns = chain->shape[chain->ndim - 1]};
    cut.rows = chain->size / cut.columns;
    cut.width = cut.columns < BLOCK ? cut.columns : BLOCK;
    cut.height = cut.columns < BLOCK ? BLOCK / cut.columns : 1;
    cut.across = (cut.columns + cut.width - 1) / cut.width;
    cut.count = (cut.rows + cut.height - 1) / cut.height * cut.across;
    return cut;
}

/* What the threads of a chain have. */
typedef struct {
    Chain *chain;
    Cut cut;
    int has_failed; /* whether a thread had no memory */
} Work;

/* Bytes from the first element of an operand to the first of a row. */
static npy_intp
row_offset(const Chain *chain, const Operand *operand, npy_intp row)
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
    char *copies[MAX_OPERANDS + 1]; /* loops may move the pointers that they get */
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

/* Runs a step for the rows and columns of a block. */
static void
run_step(const Chain *chain, const Step *step, char *buffers, npy_intp row, npy_intp rows, npy_intp column, npy_intp columns)
{
    npy_intp first = row * chain->shape[chain->ndim - 1] + column;
    char *args[MAX_OPERANDS + 1] = {NULL};
    npy_intp steps[MAX_OPERANDS + 1] = {0};
    int is_strided = 0, count = step->loop->operand_count;
    for (int i = 0; i <= count; i++) {
        const Operand *operand = &chain->operands[step->operands[i]];
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
    npy_intp itemsize = chain->operands[step->operands[count]].itemsize;
    if (!is_strided) {
        apply(step->loop, args, rows * columns, steps, itemsize);
        return;
    }
    for (npy_intp r = 0; r < rows; r++) {
        char *here[MAX_OPERANDS + 1] = {NULL};
        for (int i = 0; i <= count; i++) {
            const Operand *operand = &chain->operands[step->operands[i]];
            int is_cut = operand->data == NULL || operand->is_contiguous || operand->is_single;
            here[i] = is_cut ? args[i] + r * columns * steps[i]
                             : operand->data + row_offset(chain, operand, row + r) + column * steps[i];
        }
        apply(step->loop, here, columns, steps, itemsize);
    }
}

/* Runs all steps for a block. */
static void
run_block(const Chain *chain, const Cut *cut, npy_intp block, char *buffers, int *errors)
{
    npy_intp row = block / cut->across * cut->height, column = block % cut->across * cut->width;
    npy_intp rows = cut->rows - row < cut->height ? cut->rows - row : cut->height;
    npy_intp columns = cut->columns - column < cut->width ? cut->columns - column : cut->width;
    for (int i = 0; i < chain->step_count; i++) {
        run_step(chain, &chain->steps[i], buffers, row, rows, column, columns);
        errors[i] |= take_floating_errors();
    }
}

static void
run_blocks(void *context, Share *share)
{
    npy_intp count, block = take_items(share, SHARE, &count);
    if (count == 0) {
        return;
    }
    Work *work = context;
    Chain *chain = work->chain;
    char *memory = PyMem_RawMalloc((size_t)chain->buffer_count * BUFFER + LINE);
    char *buffers = memory + (LINE - (uintptr_t)memory % LINE) % LINE;
    int *errors = PyMem_RawCalloc((size_t)chain->step_count, sizeof *errors);
    int is_whole = memory != NULL && errors != NULL;
    take_floating_errors();
    for (; count > 0; block = take_items(share, SHARE, &count)) {
        for (npy_intp end = block + count; is_whole && block < end; block++) {
            run_block(chain, &work->cut, block, buffers, errors);
        }
        lock_share(share);
        for (int i = 0; errors != NULL && i < chain->step_count; i++) {
            chain->steps[i].errors |= errors[i];
        }
        work->has_failed |= !is_whole;
        unlock_share(share);
        finish_items(share, count);
    }
    PyMem_RawFree(memory);
    PyMem_RawFree(errors);
}

int
run_chain(Chain *chain, int threads)
{
    Work work = {.chain = chain, .cut = cut_into_blocks(chain)};
    npy_intp shares = work.cut.count / SHARE;
    return run_shared(run_blocks, &work, work.cut.count, shares < threads ? (int)shares : threads) && !work.has_failed;
}
