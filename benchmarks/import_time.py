"""What `import anyarray` takes beyond `import numpy`.

Run it by `python -m benchmarks.import_time`. Fresh processes take turns, with bytecode at hand, as for an installed
package. Counted is the time that the main thread computes, which other processes on the machine hardly lengthen.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Final

BOUND: Final = 0.7
"""What comes on top of `import numpy`, as a part of what that takes."""

HEAVY: Final = ("jax", "tensorflow", "cupy", "matplotlib", "rich")
"""What `import anyarray` must not import."""

PROGRAM: Final = """
import sys, time
start = time.thread_time()
import {module}
print(time.thread_time() - start, *({heavy!r} & sys.modules.keys()))
"""


def imported(module: str, bytecode: str) -> tuple[float, list[str]]:
    """Seconds of an import in a fresh process, and heavy modules it brought.

    `bytecode` is a folder for the compiled modules.
    """
    program = PROGRAM.format(module=module, heavy=set(HEAVY))
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPYCACHEPREFIX"] = bytecode
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    seconds, *heavy = done.stdout.split()
    return float(seconds), heavy


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.import_time", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds: int = parser.parse_args().rounds
    numpy = anyarray = float("inf")
    heavy: list[str] = []
    with tempfile.TemporaryDirectory() as bytecode:
        imported("anyarray", bytecode)
        for _ in range(rounds):
            numpy = min(numpy, imported("numpy", bytecode)[0])
            seconds, heavy = imported("anyarray", bytecode)
            anyarray = min(anyarray, seconds)
    over = anyarray - numpy
    judged = "ok" if over <= BOUND * numpy else "NO"
    print(f"import numpy      {numpy * 1e3:6.1f} ms, the least of {rounds} rounds")
    print(f"import anyarray   {anyarray * 1e3:6.1f} ms")
    print(f"over numpy        {over * 1e3:6.1f} ms   {over / numpy:.2f} of numpy, at most {BOUND}: {judged}")
    print(f"heavy imports     {' '.join(heavy) or 'none'}: {'NO' if heavy else 'ok'}")


if __name__ == "__main__":
    main()
