"""Declarations of the standard's functions, one file per chapter.

Each function is declared here once: its types, its documentation, and the options of `anyarray._call.declaration`, such
as its cost class, the check of its shapes and its batching rule. `anyarray._call.dispatch` makes its body. `namespace`
has all functions.
"""
