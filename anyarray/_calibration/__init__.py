"""Measuring a machine for the automatic choice, and explaining its decisions.

Imports from all folders below it. Nothing here is imported by a call; `xp.calibrate`, `xp.explain` and `xp.policy` are
the only names that users see of it.

    calibration  the measurements: order and time limit
    processes    a process for each library, which is asked
    measuring    what it does there: calls, transfers, imports
    cells        the functions measured, their sizes and inputs
    fitting      laws from measured times
    explanation  `explain()`, which records decisions, and `policy()`, which restricts them

Begin with `calibration.Calibration`.
"""
