"""The commands of `python -m anyarray`, one a module; the parts of `bench`."""
