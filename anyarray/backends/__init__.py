"""The contract of a backend: the standard's functions over native arrays.

A backend is one module (JAX and TensorFlow: one package) that knows nothing of `anyarray.Array`.
`anyarray._registry` imports it, by name. A function of the standard is looked up as: the
module's own function of that name, else its `namespace`'s, else the one in `_composed`, else
the user gets `UnsupportedError: NAME is not implemented on BACKEND`. Names of `linalg` and `fft`
stand beside those of the main namespace: `svd`, `fft`; `namespace.linalg` and `namespace.fft` are searched too.

What a function gets
    The parameters of the standard, arrays and positional-only ones by position, keyword-only ones by keyword.
    An array parameter is always a native array of this library on the device of the call: Python
    scalars have become 0-d native arrays of the dtype that the promotion rule gives them. `dtype=` is a
    native dtype, or None where the standard allows it; creation functions always get one, and a native `device`.
    `shape` is a tuple of ints.

What a function does
    Arrays of one call may differ in dtype. The function promotes them by `_base.dtypes.promoted`, in whatever
    way is cheapest in its library; integers and bools given to a floating-point function become
    `_base.dtypes.floating`, in a reduction, a transform or linear algebra float64.
    `sum`, `prod` and the cumulative ones with `dtype=None` follow `_base.dtypes.summed`.
    A function of the `namespace` need not: unless `PROMOTES` says that all do, it is given arrays of the dtype that the
    rule says, and does what the standard asks. Where the rule says float16 and the library has none, that is float32.
    A dtype that the standard forbids (complex in an ordering, floats in a bitwise function) raises TypeError.
    Where the library refuses, any exception will do: the caller's arguments are then examined and
    a clear error is raised from it. A wrong answer is never returned in its place.

    Several results are a tuple in the standard's order. Values are the standard's; where it leaves them
    open, NumPy's. A function never writes to its inputs, and works under the library's own transforms.
    Beside those of the standard, a module may have `cube(x)`, `x**3`, and `root(x)`, `x**0.5` of floats and complex
    numbers with the standard's values for -0 and -inf, if they are faster than `pow`, which stands in where they are
    missing.

What a key is
    `getitem` and `setitem` get an int, slice, None, Ellipsis, native array, or a tuple of these. Bounds of slices are
    ints or None. Arrays are of bool or an integer dtype. Lists, NumPy arrays and Arrays have become native ones.
    Both follow the standard 2025.12 and, beyond it, NumPy (integer arrays mixed with slices, several
    masks). Out of range ints raise IndexError; so do out of range values in integer arrays, where the library can tell
    without waiting.

Besides functions of the standard, a module may define the hooks below; defaults stand in `_registry`. Most need no more
than `namespace` and `ARRAY_TYPES`.

What the library is
    `namespace`
        where functions are looked up next; an Array API namespace
    `PROMOTES`
        True if its functions promote as said above
    `ARRAY_TYPES`
        the classes of its native arrays, abstract ones included
    `devices()`
        `{kind: [native device, ...]}`, best kind first: `{"gpu": [...], "cpu": [...]}`
    `native_dtype(name)`
        the library's dtype for a name of `_base.dtypes.KNOWN`; KeyError or AttributeError if none
    `IS_IMMUTABLE`
        True if nobody can write to its arrays; their memory may be shared then

What an array is
    `device_of(x)`
        the native device of a native array
    `dtype_of(x)`
        the library's dtype of a native array; hashable
    `shape_of(x)`
        tuple of ints, None for an axis that is unknown under a trace
    `is_traced(x)`
        whether x stands for a value inside a transform
    `is_differentiated(x)`
        whether x, which has a value, is part of what `value_and_grad` or `jacobian` differentiates now: it must not
        leave the library. No default: without it such arrays are traced
    `is_deleted(x)`
        whether its memory was given away. No default: without it nobody can do that
    `plain(x)`
        a user's native array as functions here want it: no subclass, no variable, no foreign byte order

From and to elsewhere
    `to_numpy(x)`
        an ndarray of the same values; read-only if it shares memory with x
    `read_in_place(x)`
        the same in less time where it is of a buffer, else anything. No default: then
        nothing takes less
    `from_numpy(a, device)`
        a native array; shares no memory with the ndarray `a`, ever
    `to_device(x, device)`
        the same values on another device of this library
    `scalar(value, dtype, device)`
        0-d native array of a Python scalar, valid outside and inside any trace
    `exported(x)`
        an object with `__dlpack__` of x's memory, or of a copy if someone could write to that
    `duplicate(x)`
        a native array in memory of its own; x itself if nobody can write to x or delete it
    `from_dlpack(x, device)`
        a native array in the memory of an object with `__dlpack__` on that device; raises if
        it cannot share. No default: without it arrays come by the host

Reading, writing, calling
    `getitem(x, key)`
        `x[key]`
    `setitem(x, key, value, exclusive)`
        a native array with x's values, except `value` at `key`. `value` is a native
        array, or for an ndarray x a Python scalar of its kind; it is cast to x's dtype and
        broadcasts. May reuse x's memory if `exclusive`: nobody else holds x, or `x.base`
        where it has one. The caller drops x. Without a function of its own, a backend
        copies x for each write
    `scoped(function, device)`
        the function that is really called: the place to enter a device or 64-bit scope
    `synchronize(x)`
        return when x is computed; for timing

What its errors mean
    `is_leak(error)`
        whether the library complains of an array that outlived its transform
    `is_out_of_memory(error)`
        whether it complains that memory ran out; left out, it raises MemoryError for that
    `refusal_of(error)`
        what the library has against an argument, if it tells that by an error of its own, which is no built-in; None
        for any other

Transforms
    `adopt(kind, unwrap, wrap)`
        let instances of a class go in and out of the library's own transforms:
        `unwrap(instance)` is its native array, `wrap(native)` an instance; called once
    `jit(function)`
        the function, compiled at its first call and anew for other dtypes and shapes; takes
        native arrays, gives one or a list of them. No default: without it nothing is compiled
    `prepared(function, xs, device)`
        what `function`, made by `jit` and called before, gives for `xs`, and a callable that
        gives it sooner; it raises, but no RuntimeError, for arrays that are not just like
        `xs`. None in its place if there is none. Neither is called in the scope. No default:
        then there never is one
    `value_and_grad(function, xs, has_aux=False)`
        value and gradients, one for each of `xs`, of a function that gives a 0-d array of a
        floating dtype; zeros where it does not depend on one. With `has_aux` it gives a pair of
        that and a list of arrays, both of which come back in place of the value. No default
    `vmap(function, xs)`
        what `function`, which gives a list of arrays, gives for the elements of `xs` along
        their first axes, stacked along first axes. No default: without it the function runs once on
        all elements where each of its calls can, else in a loop
    `jacobian(function, xs, mode, has_aux=False)`
        for each array in the list that `function` gives, the derivatives by each of `xs`, of
        the shape of the result and then that of x; `mode` is "reverse" or "forward". With
        `has_aux` it gives a pair of that list and another, which comes back beside them
    `stop_gradient(x)`
        x, as a constant for derivatives. No default: without it `x` is given as it is
"""
