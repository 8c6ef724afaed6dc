"""Recorded calls, and the code that runs them together.

Imports from `_call` and all folders below it. `_array` registers these functions with the calls of `_call`.

    recording    results of recorded calls on backends other than NumPy, for `_speedups/lazy/recording.c`
    loops        NumPy's loops, their errors and times, for the compiled code
    compiler     runs recorded calls on a library that compiles functions, or makes kernels
    tracing      functions whose elementwise calls become one kernel, for `xp.jit`
"""
