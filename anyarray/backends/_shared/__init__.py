"""What several backends share, over each library's own functions.

A function that computes takes `xp` first: the library's module, or that of the backend, with the names that it calls.
What depends on shapes, axes and keys alone takes numbers. Invalid arguments raise any exception, as the contract of
backends allows: the caller's arguments are examined then.
"""
