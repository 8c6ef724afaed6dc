"""Benchmarks for developers, run by `nox -s bench`; none of them is a test.

All figures are ratios within one run.
"""
