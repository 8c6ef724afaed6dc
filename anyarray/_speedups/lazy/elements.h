/* Elements cast, chosen, copied and counted. */

#ifndef ANYARRAY_ELEMENTS_H
#define ANYARRAY_ELEMENTS_H

#include "loops.h"

/* Whether numbers of one dtype are cast to another here. */
int is_cast_known(int from, int to);

/* What casts from one dtype to another. */
const Loop *cast_loop(int from, int to);

/* Casts `count` numbers that lie `stride` bytes apart. */
void cast_numbers(int from, int to, const char *source, npy_intp stride, char *target, npy_intp count);

/* As `where`, of elements of one size, with the arguments of a loop. */
void select_elements(char **args, npy_intp count, const npy_intp *steps, npy_intp itemsize);

/* Copies elements that lie `stride` bytes apart to where they follow each other. */
void copy_strided(const char *from, npy_intp stride, npy_intp count, npy_intp itemsize, char *to);

/* Repeats the bytes before `to` so many times. */
void repeat(char *to, npy_intp nbytes, npy_intp times);

/* Adds up bools, which are 0 or 1, as the loop of a ufunc does numbers. */
void count_bools(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);

#endif
