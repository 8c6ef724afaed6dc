"""Backends by name: which are known, which installed, which loaded.

Imports from `_base` alone. A library is imported when a backend of it is first used, never before; this is the only
folder that imports the modules in `anyarray.backends`, and it does so by name.

    libraries      the rows: name, package, devices, install line; those that other distributions register
    home           where an Array lives: a backend, with its native functions and cached scalars
    default_hooks  what a backend gets for nothing if its namespace follows the standard
    registry       a name becomes a `Backend`; a native array tells on which one it lives
    inventory      `xp.backends()`

Begin with `registry.backend_of_name`. A new library is a row in `libraries` and a module in `anyarray.backends`.
"""
