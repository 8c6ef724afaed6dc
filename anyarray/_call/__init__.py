"""A declaration becomes a call.

Imports from `_base`, `_registry`, `_memory` and `_choice`. The class Array is registered from above, see
`dispatch.register_array_class`.

    declaration  what a typed signature and a few words say of a function
    body         the generated Python text of its fast path
    dispatch     that text compiled, and the slow path, written once; begin here
    compiled     which calls the extension module in `c/` takes, and what it is told of the package
    diagnosis    after a native error: the clear one, by the rules of the standard
    batching     a function over all elements of an axis at once, where the library has no `vmap`

The fast path holds no loop, no import and no check that a native function makes itself. What it does not know, it
leaves to the slow path from the beginning, so it may be left out without another answer.
"""
