"""The standard, declared: one file for each of its chapters.

Every function is declared here once: its types, its documentation, and the options of `anyarray._call.declaration`:
its cost class, how its shapes must fit, its batching rule. `anyarray._call.dispatch` makes its body.
"""
