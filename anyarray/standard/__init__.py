"""The standard, declared: one file for each of its chapters.

Every function stands here once: its types, its documentation, and the words of `anyarray._call.declaration` that say
what it costs, how its shapes must fit and how it is batched. `anyarray._call.dispatch` makes its body.
"""
