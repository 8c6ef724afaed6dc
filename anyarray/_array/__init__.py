"""Array, the one array class, and its protocols.

Imports from all folders below it: `_call` most of all.

    array       the class: attributes, operators, conversion to Python; begin here
    indexing    `x[key]`, iteration, and keys
    assignment  `x[key] = value` and in-place operators
    methods     NumPy's methods and attributes of arrays, which the class inherits
    layout      strides and flags
    flat        `x.flat`
    printing    repr and str
    protocols   NumPy's and DLPack's protocols, and those of JAX and TensorFlow

An Array is a native array and its home; another slot holds its second copy (`_memory.second_copies`). Only
`_call.wrapping.wrap` and its variants make one.
"""
