"""The standard, declared: one file for each of its chapters.

Every function stands here once, with its types and its documentation; `anyarray._dispatch` makes its body.
"""
