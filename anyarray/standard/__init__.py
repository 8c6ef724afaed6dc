"""Declarations of the standard's functions, one file per chapter.

Every function is declared here once: its types, its documentation, and the options of `anyarray._call.declaration`:
its cost class, the check of its shapes, its batching rule. `anyarray._call.dispatch` makes its body. `namespace` has
them all.
"""
