/* The ufuncs floor_divide and remainder, for floats with NumPy's bits in a twentieth of its time; `backends.numpy` uses
them.

NumPy calls fmod of the C library for each element, which takes about 20 ns. Here the rounded quotient is rounded down.
The remainder that a fused multiply-add then gives has the sign of the exact one: if that is not the divisor's sign, the
quotient was rounded up to an integer, and is one less. NumPy's own loop runs, with its errors, on parts where a
quotient is too large, a number is not finite, or a divisor is zero. */

#include <fenv.h>
#include <float.h>
#include <math.h>

#include "numerics.h"
#include "loops.h"

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))

#ifdef __clang__
#define UNTRAPPED
#else
#define UNTRAPPED __attribute__((optimize("no-trapping-math"))) /* lets comparisons be vectorized */
#endif

#ifdef __x86_64__
#define FUSED __attribute__((target("avx2,fma"), noinline)) UNTRAPPED
#define HAS_FUSED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define FUSED __attribute__((noinline)) UNTRAPPED
#define HAS_FUSED 1
#endif

#define PART 64    /* elements that NumPy's loop repeats if one of them needs it */
#define BLOCK 1024 /* elements for which floating-point errors are saved once */

/* The loops for one type. `NAME_part` returns whether NumPy's loop must repeat the elements; `step` is 0 for a single
divisor, else 1. */
#define LOOPS(NAME, TYPE, LARGE, MIN, MAX, FLOOR, FMA, ABS, RESULT)                                                    \
    static inline __attribute__((always_inline)) UNTRAPPED int NAME##_of(const TYPE *a, const TYPE *b, npy_intp step, TYPE *results) \
    {                                                                                                                  \
        int is_doubtful = 0;                                                                                           \
        for (npy_intp i = 0; i < PART; i++) {                                                                          \
            TYPE divisor = b[i * step], ratio = a[i] / divisor, quotient = FLOOR(ratio), rest = FMA(-quotient, divisor, a[i]); \
            quotient -= ((rest < 0) != (divisor < 0)) & (rest != 0) ? (TYPE)1 : (TYPE)0;                               \
            is_doubtful |= !(ABS(quotient) < LARGE) | !(ABS(divisor) <= MAX) | ((ABS(ratio) < MIN) & (a[i] != 0));     \
            results[i] = RESULT;                                                                                       \
        }                                                                                                              \
        return is_doubtful;                                                                                            \
    }                                                                                                                  \
    FUSED static int NAME##_part(const TYPE *a, const TYPE *b, npy_intp step, TYPE *results)                           \
    {                                                                                                                  \
        return step ? NAME##_of(a, b, 1, results) : NAME##_of(a, b, 0, results);                                       \
    }                                                                                                                  \
    static void NAME(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)                       \
    {                                                                                                                  \
        const Loop *numpy_loops = data;                                                                                \
        if (steps[2] != sizeof(TYPE)) {                                                                                \
            numpy_loops->function(args, dimensions, steps, numpy_loops->data);                                         \
            return;                                                                                                    \
        }                                                                                                              \
        TYPE first[BLOCK], second[BLOCK], results[BLOCK];                                                              \
        npy_intp whole = dimensions[0] / PART * PART;                                                                  \
        for (npy_intp start = 0, count; start < whole; start += count) {                                               \
            count = whole - start < BLOCK ? whole - start : BLOCK;                                                     \
            const char *a = args[0] + start * steps[0], *b = args[1] + start * steps[1];                               \
            char *out = args[2] + start * steps[2];                                                                    \
            npy_uint32 doubtful = 0; /* parts */                                                                       \
            const TYPE *dividends = gather_##TYPE(a, steps[0], first, count);                                          \
            const TYPE *divisors = steps[1] ? gather_##TYPE(b, steps[1], second, count) : (const TYPE *)b;             \
            fenv_t before;                                                                                             \
            feholdexcept(&before);                                                                                     \
            for (npy_intp i = 0; i < count; i += PART) {                                                               \
                const TYPE *divisors_of_part = divisors + (steps[1] ? i : 0);                                          \
                doubtful |= (npy_uint32)NAME##_part(dividends + i, divisors_of_part, steps[1], results + i) << i / PART; \
            }                                                                                                          \
            fesetenv(&before);                                                                                         \
            for (npy_intp i = 0; i < count; i += PART) {                                                               \
                char *copies[] = {(char *)a + i * steps[0], (char *)b + i * steps[1], out + i * steps[2]};             \
                npy_intp part = PART;                                                                                  \
                if (doubtful >> i / PART & 1) {                                                                        \
                    numpy_loops->function(copies, &part, steps, numpy_loops->data);                                    \
                }                                                                                                      \
                else {                                                                                                 \
                    memcpy(copies[2], results + i, PART * sizeof(TYPE));                                               \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        char *rest[] = {args[0] + whole * steps[0], args[1] + whole * steps[1], args[2] + whole * steps[2]};           \
        npy_intp left = dimensions[0] - whole;                                                                         \
        if (left) {                                                                                                    \
            numpy_loops->function(rest, &left, steps, numpy_loops->data);                                              \
        }                                                                                                              \
    }

/* Returns contiguous numbers: those at `numbers`, or a copy in `to` if they are strided. */
#define GATHER(TYPE)                                                                                                   \
    static const TYPE *gather_##TYPE(const char *numbers, npy_intp stride, TYPE *to, npy_intp count)                   \
    {                                                                                                                  \
        if (stride == (npy_intp)sizeof(TYPE)) {                                                                        \
            return (const TYPE *)numbers;                                                                              \
        }                                                                                                              \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            memcpy(&to[i], numbers + i * stride, sizeof(TYPE));                                                        \
        }                                                                                                              \
        return to;                                                                                                     \
    }

/* The remainder for a quotient; a zero has the divisor's sign. */
#define REMAINDER(FMA, COPYSIGN) (rest = FMA(-quotient, divisor, a[i])) == 0 ? COPYSIGN(0, divisor) : rest

GATHER(double)
GATHER(float)
LOOPS(double_quotients, double, 0x1p51, DBL_MIN, DBL_MAX, floor, fma, fabs, quotient)
LOOPS(float_quotients, float, 0x1p22f, FLT_MIN, FLT_MAX, floorf, fmaf, fabsf, quotient)
LOOPS(double_remainders, double, 0x1p51, DBL_MIN, DBL_MAX, floor, fma, fabs, (REMAINDER(fma, copysign)))
LOOPS(float_remainders, float, 0x1p22f, FLT_MIN, FLT_MAX, floorf, fmaf, fabsf, (REMAINDER(fmaf, copysignf)))

#define MAX_LOOPS 12 /* the dtypes from NPY_BYTE to NPY_DOUBLE */

/* The loops of a ufunc, in the arrays that PyUFunc_FromFuncAndData keeps references to. */
typedef struct {
    LoopFunction functions[MAX_LOOPS];
    void *data[MAX_LOOPS];
    char types[3 * MAX_LOOPS];
    Loop numpy_loops[2]; /* NumPy's loops for float64 and float32 */
} Loops;

/* Adds a ufunc with NumPy's loops for integers and the given ones for float64 and float32; 0 with an exception. */
static int
add_ufunc(PyObject *module, const char *name, LoopFunction of_doubles, LoopFunction of_floats, Loops *loops)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *function = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, name);
    int count = 0;
    for (int typenum = NPY_BYTE; function != NULL && typenum <= NPY_DOUBLE; typenum++) {
        Loop loop = {.operand_count = 2, .types = {typenum, typenum, typenum}};
        if (!find_exact_loop(function, &loop)) {
            continue;
        }
        loops->functions[count] = loop.function;
        loops->data[count] = loop.data;
        if (!PyTypeNum_ISINTEGER(typenum)) {
            int is_float = typenum == NPY_FLOAT;
            loops->numpy_loops[is_float] = loop;
            loops->functions[count] = is_float ? of_floats : of_doubles;
            loops->data[count] = &loops->numpy_loops[is_float];
        }
        memset(loops->types + 3 * count++, typenum, 3);
    }
    Py_XDECREF(numpy);
    Py_XDECREF(function);
    PyObject *ufunc = count == 0 ? NULL : new_ufunc(name, loops->functions, loops->data, loops->types, count);
    int is_added = ufunc != NULL && PyModule_AddObjectRef(module, name, ufunc) == 0;
    Py_XDECREF(ufunc);
    return is_added;
}

int
add_quotients(PyObject *module)
{
    static Loops quotients, remainders;
    return !HAS_FUSED
           || (add_ufunc(module, "floor_divide", double_quotients, float_quotients, &quotients)
               && add_ufunc(module, "remainder", double_remainders, float_remainders, &remainders));
}

#else

int
add_quotients(PyObject *Py_UNUSED(module))
{
    return 1;
}

#endif
