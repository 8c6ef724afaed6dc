"""A process that has imported libraries, and forks for each program.

So programs that need TensorFlow, which takes seconds to import, share one import, also those of several processes that
run tests. The first program waits for it. `anyarray` is not imported before. `conftest.py` starts the process; its
fixture `forked` sends a program, variables of its environment, and the files for its output as a line to the socket.
The answer is the exit status. The process ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import traceback


def main(descriptor: str, *libraries: str) -> None:
    with socket.socket(fileno=int(descriptor)) as listening:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how those that serve a program end
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            for name in libraries:
                __import__(name)
            if not os.fork():
                serve(connection)
            connection.close()
    os._exit(0)  # ending as usual takes the libraries seconds


def serve(connection: socket.socket) -> None:
    """Run a program in a process of its own, and answer how that ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile("rw") as file:
        request = json.loads(file.readline())
        child = os.fork()
        if not child:
            run(*request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=file)
    os._exit(0)


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
    main(*sys.argv[1:])
