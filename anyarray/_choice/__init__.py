"""Which backend a call runs on.

Imports from `_base`, `_registry` and `_memory`. It predicts and decides; it calls no native function and measures
nothing: measuring is `_calibration`'s.

    choice           `backend(...)`, the default, and the one rule; begin here
    automatic        the automatic choice: stay, or move the data
    rule             whether a move is worth its price, as arithmetic
    prices           what bringing arrays, importing and compiling take
    accounts         seconds that were missed by staying, which pay for a move
    whole_functions  where a function under `jit` runs
    machine          what is known of this machine and was found out by its model
    cost             predicted seconds of a call, from a profile
    profile          the profile's file
"""
