/* The program of a chain of elementwise calls, which blocks.c runs. */

#ifndef ANYARRAY_BLOCKS_H
#define ANYARRAY_BLOCKS_H

#include "lazy.h"

/* An array that steps read or write. */
typedef struct {
    char *data;          /* of its first element; NULL for a temporary, which has a buffer of a block in each thread */
    npy_intp itemsize;
    npy_intp strides[MAX_AXES];
    int is_contiguous;   /* whether its memory is contiguous in the order of the result */
    int is_single;       /* whether it is one element, which is broadcast */
    int buffer;          /* the index of the buffer of a temporary */
} Register;

typedef struct {
    const Loop *loop;
    int operands[MAX_OPERANDS + 1]; /* indices of the operands, the result last */
    int errors;                     /* floating-point errors, by NumPy's numbers */
} Instruction;

/* A reduction of the result of a chain by a ufunc: of each group of contiguous elements to one. */
typedef struct {
    const Loop *loop;      /* the loop of a ufunc with two operands */
    int operand;           /* the index of the operand */
    const char *start;     /* the identity; NULL to start with the first element */
    npy_intp group;
    npy_intp read_itemsize, itemsize; /* of the operand, and of the results */
    char *results;
    int errors;            /* as in a step */
} Reduction;

typedef struct {
    int ndim;
    npy_intp shape[MAX_AXES], size;
    Register *operands;
    Instruction *steps;
    Reduction *reduction; /* after the last step, or NULL */
    int operand_count, step_count, buffer_count;
} Program;

/* Merges adjacent axes where the strides of all operands allow it. */
void merge_axes(Program *chain);

/* Runs a chain in up to `threads` threads, without the GIL. Returns 0 if memory ran out. */
int run_chain(Program *chain, int threads);

#endif
