"""`doctor`: run a script, say where its time goes and what would save some."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
import time
from pathlib import Path
from typing import Any

from anyarray._cli import report
from anyarray._cli.console import console
from anyarray._cli.sampling import Sampler
from anyarray._memory import transfer


def add_parser(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="run a script, and say where its time goes",
        description="Run a script, nearly as fast as Python does. However it ends, print its time by line, and advise "
        "what would save some of it.",
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is a module, as for python -m")
    parser.add_argument("script", metavar="SCRIPT", help="a Python file, or a folder with a __main__.py")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="what the script gets")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the script and print the report; gives its exit status."""
    script, process, out = Path(options.script), os.getpid(), sys.stdout
    if options.is_module:
        sys.path[0] = os.getcwd()
    if not (_is_module(options.script) if options.is_module else script.exists()):
        print(f"doctor: {script}: there is no such {'module' if options.is_module else 'file'}", file=sys.stderr)
        return 2
    folder = os.getcwd() if options.is_module else str((script if script.is_dir() else script.parent).resolve())
    sampler, log = Sampler(folder), transfer.TransferLog()
    arguments, path = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [options.script, *options.arguments], folder
    started = time.perf_counter()
    try:
        transfer.logs_of_copies.append(log)
        sampler.start()
        status = _ran(options.script, sampler, is_module=options.is_module)
    finally:
        transfer.logs_of_copies.remove(log)
        sys.argv, sys.path[0], sys.stdout = arguments, path, out
    if os.getpid() != process:  # forked by the script
        return status
    seconds = time.perf_counter() - started
    sampler.stop()
    report.show(report.Program(options.script, folder, seconds, sampler, log.rows), console())
    return status


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def _ran(script: str, sampler: Sampler, *, is_module: bool) -> int:
    """The exit status of a script, as Python would give it.

    However it ends, what it did until then is to be told: an error is printed, and 130 stands for Ctrl-C.
    """
    try:
        try:
            if is_module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
        finally:
            while sampler.is_busy():  # threads of the script, for which Python waits, too
                time.sleep(0.01)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("doctor: interrupted", file=sys.stderr)
        return 130
    except BaseException as error:  # noqa: BLE001  # of whatever class a program raises
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename.startswith((__file__, "<frozen runpy>")):
            own = own.tb_next
        sys.excepthook(type(error), error.with_traceback(own), own)
        return 1
    return 0
