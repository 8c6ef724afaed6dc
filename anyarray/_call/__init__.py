"""A declaration becomes a call.

Imports from `_base`, `_registry`, `_memory` and `_choice`. The class Array is registered from above, see
`dispatch.register_array_class`.

    declaration  what a typed signature and a few words say of a function
    body         the source text of its fast path, generated
    dispatch     compiles that text; has the slow path, written once; begin here
    compiled     which calls the extension module in `c/` handles, and the objects of the package that it is passed
    diagnosis    turns a native error into a clear one, by the rules of the standard
    out          results written to where the caller wants them
    batching     `vmap` for libraries that have none: a function over all elements of an axis at once

The fast path holds no loop, no import and no check that a native function makes itself. Whatever it does not handle
goes to the slow path with the original arguments, so results do not depend on whether there is a fast path.
"""
