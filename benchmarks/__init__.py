"""Benchmarks for developers, all as ratios within one run; run by `nox -s bench`. None of them is a test."""
