/* Chains that another backend runs in less time than NumPy, with all that goes there and back. */

#ifndef ANYARRAY_MOVES_H
#define ANYARRAY_MOVES_H

#include "recorded.h"

/* Runs the calls that lead to a recorded one on another backend, if that is decided; 0 with an exception. They are still
recorded if it is not. */
int run_elsewhere(Recorded *target);

#endif
