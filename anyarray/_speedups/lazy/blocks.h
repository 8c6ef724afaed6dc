/* Runs a chain of elementwise calls, block by block, by several threads. */

#ifndef ANYARRAY_BLOCKS_H
#define ANYARRAY_BLOCKS_H

#include "lazy.h"

/* An array that the steps of a chain read or write. */
typedef struct {
    char *data;          /* of its first element; NULL for a temporary, of which a thread has one block */
    npy_intp itemsize;
    npy_intp strides[MAX_AXES];
    int is_contiguous;   /* whether its elements lie one after the other, as those of the result do */
    int is_single;       /* whether it is one element that stands for all */
    int buffer;          /* the number of the block of a temporary */
} Register;

typedef struct {
    const Loop *loop;
    int operands[MAX_OPERANDS + 1]; /* indices of what it reads, and of what it writes */
    int errors;                     /* floating-point errors that came, as NumPy numbers them */
} Instruction;

/* A ufunc's reduction of what a chain gives: of each group of elements that follow each other, one number. */
typedef struct {
    const Loop *loop;      /* of the ufunc, of two operands */
    int operand;           /* the index of what is reduced */
    const char *start;     /* a number with which a reduction begins; NULL for the first element */
    npy_intp group;
    npy_intp read_itemsize, itemsize; /* of its elements, and of the results */
    char *results;
    int errors;            /* as of a step */
} Reduction;

typedef struct {
    int ndim;
    npy_intp shape[MAX_AXES], size;
    Register *operands;
    Instruction *steps;
    Reduction *reduction; /* after the last step, or NULL */
    int operand_count, step_count, buffer_count;
} Program;

/* Merges axes where all operands allow it. */
void merge_axes(Program *chain);

/* Runs a chain, without the GIL, by so many threads at most: 0 if memory ran out. */
int run_chain(Program *chain, int threads);

#endif
