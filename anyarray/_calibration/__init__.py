"""What is measured of a machine, and what was decided by it.

Imports from all folders below it. Nothing here is imported by a call; `xp.calibrate`, `xp.explain` and `xp.policy` are
the only names that users see of it.

    calibration  the measuring itself, with its order, its time limit and what it believes
    cells        the functions measured, their sizes and inputs
    explanation  `explain()`, which records decisions, and `policy()`, which narrows them

Begin with `calibration.Calibration`.
"""
