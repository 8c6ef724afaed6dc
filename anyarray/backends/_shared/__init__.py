"""Code that several backends share.

Functions that compute take `xp` first: the module of the library or of the backend, with the functions that they call.
Functions of shapes, axes and keys take numbers. Invalid arguments may raise any exception, as the contract of backends
allows; the caller then examines its arguments.
"""
