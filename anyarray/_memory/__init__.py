"""Who holds memory, where it may be shared, and how it moves between backends.

Imports from `_base` and `_registry`.

    alignment      the alignment that every library takes as it is, and memory that has it
    ownership      whether an Array alone holds its memory, told by reference counts; the locks of writes
    second_copies  what went to another backend stays with its Array until that is written
    transfer       routes between backends, the ledger of `transfers()`, the guard of `no_transfers()`

Two rules hold: no write reaches memory that somebody else can see, and no memory is lent that somebody else can write
to. Begin with `transfer`, whose docstring has the routes.
"""
