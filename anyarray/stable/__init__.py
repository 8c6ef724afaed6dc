"""Namespaces whose names and signatures stay: `anyarray.stable.v1`."""
