"""The commands of `python -m anyarray`, one module each, and the parts of `bench`."""
