"""A declaration becomes a call.

Imports from `_base`, `_registry`, `_memory` and `_choice`. A file imports only from those below it in this table, which
`lint-imports` checks. Begin with `dispatch`.

    dispatch        gives a declared function its body: the generated fast path before the slow path
    operators       the slow paths of operators, which leave operands of unknown classes to Python
    slow_path       a call of any arguments: converts them, and asks where it is to run
    execution       a call made on a home: scalars typed, the native function called, the result wrapped
    refusal         the clear error for a call that the native function has refused
    placement       where the arrays of a call live, and how they come to the home of the call
    compiled        which calls the extension module handles, and the objects of the package that it is passed
    arguments       arguments as calls take them: arrays, integers, numbers, shapes
    body            the source text of the fast path, generated
    out             results written to where the caller wants them
    declaration     what a typed signature and a few words say of a function
    wrapping        Arrays made of native arrays
    batching_rules  for each function, one call that computes all elements of a batch
    diagnosis       turns a native error into a clear one, by the rules of the standard
    batching        `vmap` for libraries that have none: a function over all elements of an axis at once
    fits            how the shapes and axes of a call must fit
    inner           homes of arrays that stand for values while a function runs
    by_position     which options may be given by position
    watching        the seconds of decided calls, recorded

The fast path holds no loop, no import and no check that a native function makes itself. Whatever it does not handle
goes to the slow path with the original arguments, so results do not depend on whether there is a fast path.
"""
