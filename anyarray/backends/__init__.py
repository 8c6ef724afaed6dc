"""The contract of a backend: the standard's functions over native arrays.

A backend is one module (JAX and TensorFlow: one package) that does not use `anyarray.Array`. `anyarray._registry`
imports it by name. A function of the standard is looked up in this order: the module, its `namespace`, and
`_shared.composed`. If none has it, the user gets `UnsupportedError: NAME is not implemented on BACKEND`. Functions of
`linalg` and `fft` have no prefix (`svd`, `fft`); `namespace.linalg` and `namespace.fft` are searched, too.

Arguments of a function
    A function gets the parameters of the standard: arrays and positional-only parameters by position, keyword-only
    parameters by keyword. Arrays are native arrays of this library on the device of the call. Python scalars have been
    converted to 0-d native arrays of the dtype that the promotion rule gives them. `dtype=` is a native dtype, or None
    where the standard allows it; creation functions always get a dtype and a native `device`. `shape` is a tuple of
    ints.

Results of a function
    Arrays of one call may differ in dtype. The function promotes them by `_base.dtypes.promoted`, in the cheapest way
    of its library. Integers and bools become `_base.dtypes.floating` in a floating-point function, and float64 in a
    reduction, a transform or linear algebra. `sum`, `prod` and the cumulative functions with `dtype=None` follow
    `_base.dtypes.summed`. Functions of the `namespace` need not promote: unless `PROMOTES` is True, their arguments are
    cast to the dtype of the rule before the call, with float32 in place of float16 if the library lacks that.
    A dtype that the standard forbids (complex in an ordering, floats in a bitwise function) raises TypeError. Other
    invalid arguments may raise any exception: anyarray then examines the arguments and raises a clear error. A function
    must never return a wrong result instead.

    Several results are a tuple in the standard's order. Values are the standard's, and NumPy's where the standard
    leaves them open. A function never writes to its inputs, and works in the library's own transforms.
    A module may also have faster functions than `pow`: `cube(x)`, which is `x**3`, and `root(x)`, which is `x**0.5` of
    floats and complex numbers with the standard's values for -0 and -inf. `bitcast(x, dtype)` returns the bits of the
    elements as numbers of another dtype, as a view if the library has views; if the sizes of the dtypes differ, the
    last axis has fewer or more elements.

Keys
    `getitem` and `setitem` get an int, slice, None, Ellipsis, native array, or a tuple of these. Bounds of slices are
    ints or None. Arrays are of bool or an integer dtype. Lists, NumPy arrays and Arrays have been converted to native
    arrays. Both functions follow the standard 2025.12 and, beyond it, NumPy (integer arrays mixed with slices, several
    masks). Ints out of range raise IndexError, and so do values out of range in integer arrays if the library can check
    them without synchronizing.

Besides functions of the standard, a module may define the hooks below, which have defaults in `_registry`. Most modules
need only `namespace` and `ARRAY_TYPES`.


The library
    `namespace`
        an Array API namespace, in which functions are looked up next
    `PROMOTES`
        True if its functions promote by the rule above
    `ARRAY_TYPES`
        the classes of its native arrays, abstract ones included
    `devices()`
        `{kind: [native device, ...]}`, best kind first: `{"gpu": [...], "cpu": [...]}`
    `devices_of(kind)`
        the native devices of a kind that `devices()` leaves out, as they are those of another library; it is imported
        when one of them is asked for. No default: without it there are no others
    `native_dtype(name)`
        the library's dtype for a name of `_base.dtypes.KNOWN`; KeyError or AttributeError if none
    `IS_IMMUTABLE`
        True if its arrays are immutable; then their memory may be shared
    `HAS_VIEWS`
        True if a part of an array is a view, and `setitem` writes in place if `exclusive` is True. Otherwise a write
        makes a new array, and views are recorded and read again

Properties of an array
    `device_of(x)`
        the native device of a native array
    `dtype_of(x)`
        the library's dtype of a native array; hashable
    `shape_of(x)`
        tuple of ints, None for an axis that is unknown under a trace
    `data_of(x)`
        the value of `x.data`, as in the library. No default: without it, `x.data` is the memory of an ndarray
    `count_of(x)`
        `len(x)`; TypeError if x has no axes
    `lengths_of(x)`
        the shape as users see it: a tuple of ints or 0-d Arrays, which the functions here accept as lengths
    `length(x)`
        a length from a 0-d array that `is_traced`. No default: without it, every trace knows all lengths
    `is_traced(x)`
        whether x is a tracer, a placeholder for a value inside a transform
    `is_differentiated(x)`
        whether `value_and_grad` or `jacobian` is differentiating by the eager array x, which therefore must not leave
        the library. No default: without it, such arrays are traced
    `has_graph(x)`
        whether the library records computations on the eager array x for the user's own derivative. Such an array must
        not leave the library, but its Python scalars may. No default
    `base_of(x)`
        the native array whose memory x is a view of, or None; by default its attribute `base`
    `is_writable(x)`, `is_own(x)`
        of a library with views: whether x may be written in place, unlike memory that an immutable array of another
        library shares; and whether in addition no other code knows its address. True by default
    `is_replaced(x)`
        of a library with views: whether this array is treated as immutable, such as a tensor of PyTorch that a
        derivative needs. False by default
    `is_in_place(x)`
        of a library with views: a faster test of `is_writable(x)` and not `is_replaced(x)`, with which compiled calls
        make views. No default
    `holders(x)`
        the number of other holders of the memory of x: views, buffers, capsules. No default: without it, references to
        its `base` are counted, and memory is not shared with other libraries
    `layout_of(x)`
        an ndarray with the strides of x in elements, whose values are never read; by default x itself, if it has
        `strides`
    `as_strided(x, function)`
        of a library with views: the view of x that `function` gives of an ndarray which lies in memory as x does, with
        other strides and lengths, and the same first element; its elements, bytes, are nowhere. None where there is no
        such view, as by default
    `is_deleted(x)`
        whether its buffer was donated. No default: without it, buffers are never donated
    `plain(x)`
        a user's native array in the form that functions here accept: not a subclass or variable, native byte order

Conversion and transfer
    `to_numpy(x)`
        an ndarray of the same values; read-only if it shares memory with x
    `read_in_place(x)`
        a faster `to_numpy`: a view whose `base` is a memoryview of x's buffer; any other
        result is ignored. No default: without it `to_numpy` is called
    `number(x)`
        a faster `to_numpy` of an array without axes in host memory: its value as a bool, int, float or complex; None of
        any other array, and of one that must not be read. No default: without it `to_numpy` is called
    `from_numpy(a, device)`
        a native array that never shares memory with the ndarray `a`
    `to_device(x, device)`
        the same values on another device of this library
    `scalar(value, dtype, device)`
        0-d native array of a Python scalar, valid outside and inside any trace
    `exported(x)`
        an object with `__dlpack__` of x's memory, or of a copy if other code could write to that memory
    `lent(x)`
        x, after preparing its memory for sharing with another library on the same device; results of `exported` are
        prepared already
    `address(x)`
        the start address of the memory of x, an int; None, the default, if it is unknown. The log records a transfer as
        a copy if addresses differ
    `duplicate(x)`
        a copy of a native array; x itself if it can neither be written nor deleted
    `from_dlpack(x, device)`
        a native array that shares the memory of an object with `__dlpack__` on that device; raises if
        it cannot. No default: without it arrays are transferred by the host

Reading, writing, calling
    `getitem(x, key)`
        `x[key]`
    `setitem(x, key, value, exclusive)`
        a native array with x's values, except `value` at `key`. `value` is a native
        array, or for an ndarray x a Python scalar of its kind; it is cast to x's dtype and
        broadcasts. May write in place if `exclusive`: there is no other reference to x, or to
        `x.base` if it has one. The caller drops its reference to x. The default copies x for
        each write
    `written(x, key, value)`
        of a library with views: writes a Python number or a native array in place if no conversion is needed, and
        returns whether it did; no default
    `scoped(function, device)`
        a wrapper of a function that enters the scope of a device, or of 64-bit dtypes
    `synchronize(x)`
        block until x is computed; for timing

Calls that run later
    `may_wait(*xs)`
        whether a call of these native arrays may run later: none is traced, and no open batch, derivative or graph must
        see the call. True by default
    `outside_traces()`
        the context in which such calls run, also if their values are needed inside a trace; does nothing by default
    `result_dtype(function, *xs)`
        the library's dtype of the result of a native function for 0-d arrays; by default the function is called

Arrays over several devices
    `mesh(kind, axes, numbers=())`
        a native device for a grid of devices of a kind, with lengths by name: an object with an attribute `mesh`, whose
        text says its axes. `device_of` gives it for arrays there, and `device=` may be it. No default: without it
        there are no meshes
    `laid_out(x, device, axis)`
        `x` with one axis split over all devices of a mesh
    `layout(x)`
        how each axis of `x` is split, as a tuple; None if each device has all values
    `local_part(a, device)`
        an array whose parts along the first axis are the ndarrays of the processes

Lazy arrays
    `chunks_of(x)`
        the shape, None for an unknown length, and a text with the lengths of the blocks along each axis; `repr` shows
        them in place of the values, which it never computes. Such arrays have no hash, and `sys.getsizeof` counts no
        elements. No default: without it arrays have values
    `pickled(x)`
        an object that is pickled in place of the values of x, and is unpickled as an array like x. No default: without
        it the values are pickled
    `computed(*xs)`
        a list of the values of several arrays, ndarrays, computed together and kept
    `persisted(*xs)`
        compute several arrays together and keep their blocks where they are
    `from_source(source, device, chunks)`
        an array that reads its parts from a file when they are needed; `source` has `shape`, `dtype`, `chunks` and
        `name`, and `source[key]` is an ndarray; it can be pickled. None if
        the file is to be read at once, as without this hook, which has no default
    `stored(x, make, in_turn)`
        compute an array and write its blocks to `make(pieces)[key] = block`, where `pieces` are their lengths; in this
        process and one after another if they must be written `in_turn`. No default: without it arrays are read first

Errors and memory
    `is_leak(error)`
        whether it is the library's error for a leaked tracer
    `is_out_of_memory(error)`
        whether it is the library's out-of-memory error; the default knows MemoryError
    `memory(device)`
        the total bytes of a native device, its free bytes, and the bytes that the library holds; None for unknown
        numbers
    `free_memory()`
        frees the memory that the library cached, and returns the number of bytes
    `refusal_of(error)`
        the library's message about an invalid argument, if the error is of a class of its own, not a built-in; else
        None

Special functions
    `SPECIAL`
        the name of a module with functions of `anyarray.special`, which is imported when one is first called. They get
        floats of 32 or 64 bits of one dtype. No default: functions that it lacks are composed, in float64. If it has a
        function `composed`, that takes each of these, and returns the function to call
    `with_slopes(name, function, slopes)`
        an elementwise function with these derivatives by each argument, functions of the same arguments; None is one
        that is refused. No default: without it the derivatives are the library's own

Transforms
    `adopt(kind, unwrap, wrap)`
        register a class, as a JAX pytree say, with the library's own transforms:
        `unwrap(instance)` is its native array, `wrap(native)` an instance; called once
    `jit(function)`
        the function, compiled at its first call and again for other dtypes and shapes; takes
        native arrays, returns one or a list of them. No default: without it nothing is compiled
    `fusible(name, dtypes, *to)`, `fused(steps, dtypes, results)`
        of a library without `jit`: the dtype that the elementwise function of that name returns, if it can be
        part of a kernel, else None, where `to` is what `astype` casts to; and one kernel of such steps, see
        `_registry.home.Step`: it takes arrays of these dtypes and returns the results of those names, one array or a
        tuple of several. No default: without both functions run as they are
    `prepared(function, xs, device)`
        the result for `xs` of `function`, made by `jit` and called before; and a faster
        callable for arrays like `xs`, which raises, but not RuntimeError, for others. None
        instead of it if there is none. Neither is called in the scope. No default: without
        it there is no faster callable
    `value_and_grad(function, xs, has_aux=False)`
        value and gradients, one for each of `xs`, of a function that returns a 0-d array of a
        floating dtype; zeros where it does not depend on one. Without `vmap`, the function may
        return several values, and the gradients are those of their sum. With `has_aux` it
        returns a pair of that and a sequence of arrays, both of which are returned in place of
        the value. No default
    `vmap(function, xs)`
        the results of `function`, which returns a list of arrays, for the elements of `xs` along
        their first axes, stacked along first axes. No default: without it the function is called
        once by the rules of `_call.batching` if each of its calls has one, else as follows
    `vectorized_map(function, xs)`
        the same, if it takes longer than one call for all elements. No default: without it the
        function runs in a loop
    `jacobian(function, xs, mode, has_aux=False)`
        for each array in the list that `function` returns, the derivatives by each of `xs`, of
        the shape of the result and then that of x; `mode` is "reverse" or "forward". With
        `has_aux` it returns a pair of that list and another, which is returned beside the
        derivatives. Without `vmap`, `batch_ndim` may follow: so many first axes of results and
        of `xs` are those of elements that do not depend on each other, and come once
    `is_reversed(x)`
        whether a derivative in reverse mode is being taken of x. No default: without it `while_loop` does not ask
    `is_tracing()`
        whether a trace of the library is open, of which loops and branches become a part by the hooks that follow. No
        default for all four: without them loops are Python's, unrolled in a trace, and all branches run in one
    `while_loop(test, body, xs, captured)`
        the last of `xs`, which `body(*xs)` replaces while `test(*xs)` is true. The functions close over the arrays
        `captured`
    `scan(body, carry, xs, length, reverse, unroll, captured)`
        the last `carry`, and what is stacked: `body(carry, row)` returns two lists, where `row` is an element of each
        of `xs`. `length` is None if the trace does not know it
    `switch(index, branches, xs, captured)`
        `branches[index](*xs)`; the index is within bounds
    `TAKES_CAPTURED`
        True if these three give `captured` to each function as further arguments; else it is empty
    `COMPILES_LOOPS`
        True if loops outside traces are to be compiled
    `stop_gradient(x)`
        x, as a constant for derivatives. No default: without it `x` is returned as it is
"""
