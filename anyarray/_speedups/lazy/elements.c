/* Casts, selects, copies and counts elements: the steps of chains for which no ufunc has an inner loop. Nothing here
needs the GIL. */

#include "elements.h"

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
    /* The result for floats out of range depends on the processor. */
    return is_known && !(PyTypeNum_ISFLOAT(from) && PyTypeNum_ISINTEGER(to));
}

const Loop *
cast_loop(int from, int to)
{
    static Loop loops[NPY_CDOUBLE + 1][NPY_CDOUBLE + 1];
    Loop *loop = &loops[from][to];
    *loop = (Loop){.name = "cast", .operand_count = 1, .types = {from, to}, .is_correctly_rounded = 1};
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

/* Without branches, which processors predict badly; vectorized for contiguous elements. */
#define SELECT(TYPE)                                                                                                   \
    if (steps[0] == 1 && steps[1] % itemsize == 0 && steps[2] % itemsize == 0) {                                       \
        SELECT_STEPS(TYPE, steps[1] == itemsize, steps[2] == itemsize, 1, 1)                                           \
        SELECT_STEPS(TYPE, steps[1] == itemsize, steps[2] == 0, 1, 0)                                                  \
        SELECT_STEPS(TYPE, steps[1] == 0, steps[2] == itemsize, 0, 1)                                                  \
    }                                                                                                                  \
    for (npy_intp i = 0; i < count; i++) {                                                                             \
        TYPE yes = *(const TYPE *)(args[1] + i * steps[1]), no = *(const TYPE *)(args[2] + i * steps[2]);              \
        ((TYPE *)args[3])[i] = CHOOSE(TYPE, args[0][i * steps[0]], yes, no);                                           \
    }                                                                                                                  \
    break;

#define SELECT_STEPS(TYPE, IS_FIRST, IS_SECOND, FIRST, SECOND)                                                         \
    if (IS_FIRST && IS_SECOND) {                                                                                       \
        const TYPE *x1 = (const TYPE *)args[1], *x2 = (const TYPE *)args[2];                                           \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            ((TYPE *)args[3])[i] = CHOOSE(TYPE, args[0][i], x1[i * FIRST], x2[i * SECOND]);                            \
        }                                                                                                              \
        return;                                                                                                        \
    }

/* `yes` where a bool is not 0; numbers are unsigned integers of their size. */
#define CHOOSE(TYPE, BOOL, YES, NO) (TYPE)((NO) ^ (((NO) ^ (YES)) & (TYPE) - (TYPE)((BOOL) != 0)))

void
select_elements(char **args, npy_intp count, const npy_intp *steps, npy_intp itemsize)
{
    switch (itemsize) {
        case 1:
            SELECT(npy_uint8)
        case 2:
            SELECT(npy_uint16)
        case 4:
            SELECT(npy_uint32)
        case 8:
            SELECT(npy_uint64)
        default:
            for (npy_intp i = 0; i < count; i++) {
                const char *chosen = *(const npy_bool *)(args[0] + i * steps[0]) ? args[1] + i * steps[1]
                                                                                 : args[2] + i * steps[2];
                memcpy(args[3] + i * itemsize, chosen, itemsize);
            }
    }
}

#define COPY(TYPE)                                                                                                     \
    for (npy_intp i = 0; i < count; i++) {                                                                             \
        ((TYPE *)to)[i] = *(const TYPE *)(from + i * stride);                                                          \
    }                                                                                                                  \
    break;

void
copy_strided(const char *from, npy_intp stride, npy_intp count, npy_intp itemsize, char *to)
{
    switch (itemsize) {
        case 1:
            COPY(npy_uint8)
        case 2:
            COPY(npy_uint16)
        case 4:
            COPY(npy_uint32)
        case 8:
            COPY(npy_uint64)
        default:
            for (npy_intp i = 0; i < count; i++) {
                memcpy(to + i * itemsize, from + i * stride, (size_t)itemsize);
            }
    }
}

void
repeat(char *to, npy_intp nbytes, npy_intp times)
{
    const char *pattern = to - nbytes;
    for (npy_intp left = nbytes * times, known = nbytes; left > 0; known *= 2) {
        npy_intp here = known < left ? known : left;
        memcpy(to, pattern, (size_t)here);
        to += here;
        left -= here;
    }
}

void
count_bools(char **args, const npy_intp *dimensions, const npy_intp *Py_UNUSED(steps), void *Py_UNUSED(data))
{
    const char *bools = args[1], *end = bools + dimensions[0];
    npy_int64 count = 0;
    for (; end - bools >= 8; bools += 8) {
        npy_uint64 eight;
        memcpy(&eight, bools, sizeof eight);
        count += (npy_int64)(eight * 0x0101010101010101 >> 56); /* the sum of its bytes */
    }
    for (; bools < end; bools++) {
        count += *bools;
    }
    *(npy_int64 *)args[2] = *(const npy_int64 *)args[0] + count;
}
