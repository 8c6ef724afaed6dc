"""A declaration becomes a call.

Imports from `_base`, `_registry`, `_memory` and `_choice`. A file imports only from those below it in this table, which
`lint-imports` checks. Begin with `dispatch`.

    dispatch        gives a declared function its body, with the compiled call before it
    operators       the slow paths of operators, which decline operands of unknown classes
    slow_path       a call of any arguments: converts them and chooses a home
    execution       a call on a home: gives scalars a dtype, calls the native function, wraps the result
    refusal         the clear error for a call that a native function has refused
    placement       the home of the arrays of a call, and their transfer to the home of the call
    compiled        passes the extension module what it needs to know of a function
    arguments       conversion of arguments: arrays, integers, numbers, shapes
    body            the source text of bodies, which pass their arguments to the slow path
    out             results written to an array of the caller
    declaration     the properties of a function, from a typed signature and a few words
    wrapping        Arrays made of native arrays
    batching_rules  for each function, one call that computes all elements of a batch
    diagnosis       turns a native error into a clear one, by the rules of the standard
    batching        `vmap` for libraries without one: a function over all elements of an axis at once
    fits            rules by which the shapes and axes of a call must fit
    inner           homes of arrays that stand for values while a function runs
    by_position     options that may be given by position
    watching        records the seconds of calls that the automatic choice has decided

The compiled call handles the commonest arguments and leaves every other call to the body, with the original arguments.
So results do not depend on whether the extension module is there.
"""
