"""Code without a library: errors, dtypes, `with` blocks, nested values.

Everything else may import from here; nothing here imports from another folder.

    errors        the tree of exceptions, and the sentences that more than one place needs
    dtypes        the dtypes, promotion, and the default dtypes of a block
    blocks        context managers that are decorators, too: of functions and coroutines
    functions     functions that users pass in: checks, names for messages, wrappers
    nested        tuples, lists, dicts and dataclasses (pytrees), flattened to their Arrays and a structure
    callers       the user's code that called us, and warnings for it
    files         files that several processes read, write and lock
    processor     its model, how many cores there are, and which accelerators
    environment   environment variables that users set
    extension     the compiled module `anyarray._speedups`, or None
    other_names   what to write for a name of NumPy that the namespace or an Array lacks

Begin with `errors`: each message is made in one place, and most are there.
"""
