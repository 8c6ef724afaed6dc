"""The command line, `python -m anyarray`: five commands.

`info`, `bench`, `calibrate` and `doctor` say what is installed and how fast it is, measure what the automatic choice
knows, and where a program spends its time. `run` runs a NumPy program unchanged.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import anyarray
from anyarray._base import errors
from anyarray._cli import bench, calibrate, doctor, info, replacing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; gives the exit status.

    It is 2 for a wrong command line, 130 after Ctrl-C, as shells have it, and 1 if the output was closed early.
    """
    parser = argparse.ArgumentParser(
        prog="python -m anyarray", description="The Array API standard on NumPy, TensorFlow, JAX, PyTorch and CuPy."
    )
    parser.add_argument("--version", action="version", version=f"anyarray {anyarray.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in (info, calibrate, bench, doctor, replacing):
        command.add_parser(commands)
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help()
        return 0
    try:
        status = int(options.run(options))
        if sys.stdout is not None:  # as where it was closed before
            sys.stdout.flush()
        return status
    except errors.BackendError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        if sys.stdout is not None:
            # What is left of the output is written at the end of the interpreter, which would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
