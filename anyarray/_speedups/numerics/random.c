/* Fills arrays with random numbers by Threefry2x32 with 20 rounds; `backends.numpy` and `backends.dask` call it.
Mirrors `random._threefry` and `random._quantile`, to the bit except for the last digits of log. */

#include "numerics.h"
#include <math.h>
#include <string.h>

#define BLOCK 512 /* counters for which words are generated at a time */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define FOR_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_VECTORS
#endif

#define ROUND(r)                                                                                                       \
    x0 += x1;                                                                                                          \
    x1 = (x1 << r) | (x1 >> (32 - r));                                                                                 \
    x1 ^= x0;

#define INJECT(a, b, n)                                                                                                \
    x0 += a;                                                                                                           \
    x1 += b + n;

/* Computes the words of `count` counters from `start` on. */
FOR_VECTORS static void
fill_words(uint32_t k0, uint32_t k1, uint64_t start, int count, uint32_t *restrict high, uint32_t *restrict low)
{
    uint32_t k2 = k0 ^ k1 ^ 0x1BD11BDAu;
    for (int i = 0; i < count; i++) {
        uint64_t counter = start + (uint64_t)i;
        uint32_t x0 = (uint32_t)(counter >> 32) + k0, x1 = (uint32_t)counter + k1;
        ROUND(13) ROUND(15) ROUND(26) ROUND(6) INJECT(k1, k2, 1u)
        ROUND(17) ROUND(29) ROUND(16) ROUND(24) INJECT(k2, k0, 2u)
        ROUND(13) ROUND(15) ROUND(26) ROUND(6) INJECT(k0, k1, 3u)
        ROUND(17) ROUND(29) ROUND(16) ROUND(24) INJECT(k1, k2, 4u)
        ROUND(13) ROUND(15) ROUND(26) ROUND(6) INJECT(k2, k0, 5u)
        high[i] = x0;
        low[i] = x1;
    }
}

static float
normal_32(uint32_t word)
{
    float q = ((float)((int32_t)(word >> 8) - (1 << 23)) + 0.5f) * 0x1p-24f;
    if (fabsf(q) <= 0.425f) {
        float r = 0.180625f - q * q;
        return q * (((r * 59.109374720f + 159.29113202f) * r + 50.434271938f) * r + 3.3871327179f)
               / (((r * 67.187563600f + 78.757757664f) * r + 17.895169469f) * r + 1.0f);
    }
    float r = sqrtf(-logf(0.5f - fabsf(q))) - 1.6f;
    float x = (((r * 0.17023821103f + 1.3067284816f) * r + 2.7568153900f) * r + 1.4234372777f)
              / ((r * 0.12021132975f + 0.73700164250f) * r + 1.0f);
    return copysignf(x, q);
}

static double
ratio(double x, const double *over, const double *under)
{
    double above = over[7], below = under[7];
    for (int i = 6; i >= 0; i--) {
        above = above * x + over[i];
        below = below * x + under[i];
    }
    return above / below;
}

static const double centre[2][8] = {
    {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727},
    {1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
     39307.895800092710610, 28729.085735721942674, 5226.4952788528545610}};
static const double near_tail[2][8] = {
    {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590,
     0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
static const double far_tail[2][8] = {
    {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
     0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131745613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

static double
normal_64(uint64_t word)
{
    double q = ((double)((int64_t)(word >> 11) - ((int64_t)1 << 52)) + 0.5) * 0x1p-53;
    if (fabs(q) <= 0.425) {
        return q * ratio(0.180625 - q * q, centre[0], centre[1]);
    }
    double r = sqrt(-log(0.5 - fabs(q)));
    double x = r <= 5 ? ratio(r - 1.6, near_tail[0], near_tail[1]) : ratio(r - 5, far_tail[0], far_tail[1]);
    return copysign(x, q);
}

enum { BITS, FRACTION, NORMAL };

static void
fill(int kind, int is_wide, uint32_t k0, uint32_t k1, uint64_t first, void *data, npy_intp size)
{
    uint32_t high[BLOCK], low[BLOCK];
    for (npy_intp start = 0; start < size; start += BLOCK) {
        int count = size - start < BLOCK ? (int)(size - start) : BLOCK;
        fill_words(k0, k1, first + (uint64_t)start, count, high, low);
        if (is_wide) {
            uint64_t *bits = (uint64_t *)data + start;
            double *numbers = (double *)data + start;
            for (int i = 0; i < count; i++) {
                uint64_t word = ((uint64_t)high[i] << 32) | low[i];
                if (kind == BITS) {
                    bits[i] = word;
                }
                else {
                    numbers[i] = kind == FRACTION ? (double)(word >> 11) * 0x1p-53 : normal_64(word);
                }
            }
        }
        else {
            uint32_t *bits = (uint32_t *)data + start;
            float *numbers = (float *)data + start;
            for (int i = 0; i < count; i++) {
                uint32_t word = high[i] ^ low[i];
                if (kind == BITS) {
                    bits[i] = word;
                }
                else {
                    numbers[i] = kind == FRACTION ? (float)(word >> 8) * 0x1p-24f : normal_32(word);
                }
            }
        }
    }
}

PyObject *
random_fill(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    unsigned long long key, first;
    PyArrayObject *out;
    if (!PyArg_ParseTuple(args, "sKKO!", &name, &key, &first, &PyArray_Type, &out)) {
        return NULL;
    }
    int kind = strcmp(name, "bits") == 0 ? BITS : strcmp(name, "random") == 0 ? FRACTION : NORMAL;
    int typenum = PyArray_TYPE(out), is_wide = PyArray_ITEMSIZE(out) == 8;
    int is_fit = kind == BITS ? PyTypeNum_ISUNSIGNED(typenum) && (is_wide || PyArray_ITEMSIZE(out) == 4)
                              : typenum == NPY_FLOAT || typenum == NPY_DOUBLE;
    if (!is_fit || !PyArray_ISCARRAY(out)) {
        PyErr_SetString(PyExc_TypeError, "random_fill: out must be contiguous, of 32 or 64 bits");
        return NULL;
    }
    npy_intp size = PyArray_SIZE(out);
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(size);
    fill(kind, is_wide, (uint32_t)(key >> 32), (uint32_t)key, first, PyArray_DATA(out), size);
    NPY_END_THREADS;
    Py_RETURN_NONE;
}
