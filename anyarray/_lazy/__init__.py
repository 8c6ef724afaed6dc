"""Calls that are recorded, and what runs them together.

Imports from `_call` and all that is below it. `_array` tells the calls of `_call` what is here.

    recording    what calls give on other backends than NumPy, for `_speedups/lazy/recording.c`, and what computes them
    loops        what the compiled code asks about NumPy's loops, and what it says of their errors and times
    compiler     runs recorded calls on a library that compiles functions, or makes kernels
    tracing      a function whose elementwise calls become one kernel, for `xp.jit`
"""
