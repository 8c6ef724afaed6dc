"""Ownership of memory, sharing, and transfers between backends.

Imports from `_base` and `_registry`.

    alignment      memory that every library can share: contiguous, writable, aligned to 64 bytes
    heap           settings of glibc's malloc
    ownership      whether an Array is the sole owner of its memory, by reference counts; locks
    views          Arrays that share elements, and writes that reach all of them
    second_copies  a cache: the transferred copy of an Array on another backend, kept until the Array is written
    devices        memory of devices: usage, freeing, errors
    transfer       routes between backends, the ledger of `transfers()`, the guard of `no_transfers()`

Two rules hold. No write reaches memory that the user passed in or that an immutable array shares. No memory is shared
with an immutable array if other code can write to it. Begin with `views` for writes, and with `transfer` for routes.
"""
