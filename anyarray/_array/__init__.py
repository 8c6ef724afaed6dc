"""Array, the one array class, and how others see it.

Imports from all folders below it: `_call` most of all.

    array      the class: attributes, operators, indexing, writes, conversion to Python; begin here
    printing   its text
    protocols  NumPy's and DLPack's protocols, and those of JAX and TensorFlow

An Array is a native array and its home; the slots beside these two hold what was lent and what was missed. Only
`_call.dispatch.wrap` and its neighbours make one.
"""
