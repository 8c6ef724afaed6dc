"""Who holds memory, where it may be shared, and how it moves between backends.

Imports from `_base` and `_registry`.

    alignment      memory that every library can share: contiguous, writable, aligned to 64 bytes
    heap           how glibc's malloc gets and keeps memory
    ownership      whether an Array is the sole owner of its memory, by reference counts; locks
    views          which Arrays show the same elements, and how a write to one reaches all of them
    second_copies  a cache: the transferred copy of an Array on another backend, kept until the Array is written
    devices        how much memory devices have, how to free it, the error when it is out
    transfer       routes between backends, the ledger of `transfers()`, the guard of `no_transfers()`

Two rules hold: no write reaches memory that the user handed in or that is lent to an immutable array, and no memory is
lent that anybody else can write to. Begin with `views` for writes, with `transfer` for routes.
"""
