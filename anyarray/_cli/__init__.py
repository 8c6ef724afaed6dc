"""The commands of `python -m anyarray`, one per module; helpers of `bench`."""
