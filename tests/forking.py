"""A process that has imported libraries, and forks for each program.

So programs that need TensorFlow, which takes seconds to import, share one import. `anyarray` is not imported before.
The fixture `forked` in `conftest.py` starts it. A line of standard input is a program, variables of its environment,
and the files for its output; a line of standard output is its exit status.
"""

from __future__ import annotations

import json
import os
import sys
import traceback


def main(libraries: list[str]) -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no reply
    for name in libraries:
        __import__(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(*json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=replies, flush=True)
    os._exit(0)  # ending as usual takes the libraries seconds


def run(program: str, variables: dict[str, str], *outputs: str) -> None:
    """Run the program in this process, and end it."""
    status = 1
    try:
        for descriptor, path in enumerate(outputs, start=1):
            os.dup2(os.open(path, os.O_WRONLY), descriptor)
        os.environ.update(variables)
        sys.path[0] = ""  # as of `python -c`
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as at the end of an interpreter
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
