/* Inner loops that are not those of ufuncs. */

#ifndef ANYARRAY_ELEMENTS_H
#define ANYARRAY_ELEMENTS_H

#include "loops.h"

/* Whether `cast_numbers` casts between two dtypes. */
int is_cast_known(int from, int to);

/* Returns the loop that casts between two dtypes. */
const Loop *cast_loop(int from, int to);

/* Casts `count` numbers, `stride` bytes apart. */
void cast_numbers(int from, int to, const char *source, npy_intp stride, char *target, npy_intp count);

/* `where` for elements of one size, with the arguments of an inner loop. */
void select_elements(char **args, npy_intp count, const npy_intp *steps, npy_intp itemsize);

/* Copies elements that are `stride` bytes apart to contiguous memory. */
void copy_strided(const char *from, npy_intp stride, npy_intp count, npy_intp itemsize, char *to);

/* Copies the `nbytes` bytes before `to` to it, `times` times. */
void repeat(char *to, npy_intp nbytes, npy_intp times);

/* Adds up bools, as an inner loop. */
void count_bools(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);

#endif
