"""The command line, `python -m anyarray`: `info`, `bench` and `calibrate`.

They say what is installed and how fast it is, and measure what the automatic choice knows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from anyarray import _errors
from anyarray._cli import bench, calibrate, info


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; gives the exit status.

    It is 2 for a wrong command line and 130 after Ctrl-C, as shells have it.
    """
    parser = argparse.ArgumentParser(
        prog="python -m anyarray", description="The Array API standard on NumPy, TensorFlow, JAX and CuPy."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in (info, calibrate, bench):
        command.add_parser(commands)
    options = parser.parse_args(arguments)
    if "run" not in options:
        parser.print_help()
        return 0
    try:
        return int(options.run(options))
    except _errors.BackendError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
