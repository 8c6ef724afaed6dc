"""Backends by name: known, installed and loaded.

Imports from `_base` alone. A library is imported when a backend of it is first used, never before; this is the only
folder that imports the modules in `anyarray.backends`, and it does so by name.

    libraries      a row for each library: name, package, devices, install line; entry points of other distributions
    home           where an Array lives: a backend, with its native functions and cached scalars
    default_hooks  the hooks that a backend need not define if its namespace follows the standard
    registry       the `Backend` of a name, and of a native array
    inventory      `xp.backends()`

Begin with `registry.backend_of_name`. A new library is a row in `libraries` and a module in `anyarray.backends`.
"""
