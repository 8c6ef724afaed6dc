"""Which backend a call runs on.

Imports from `_base`, `_registry` and `_memory`. It predicts and decides; it calls no native function and measures
nothing: measuring is `_calibration`'s.

    choice           `backend(...)`, the default, and the one rule; begin here
    automatic        the automatic choice: stay, or move the data; the rule and its prices
    whole_functions  where a function under `jit` runs
    machine          state of the process: the model, thresholds, accounts of calls alike
    cost             the model: predicted seconds of a call, from a profile
    law              the time of a call by its work, in five numbers
    learning         times of what ran, which correct the model
    profile          the profile's file
"""
