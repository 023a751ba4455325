"""Runs benchmarks by name, or all of them, and fails if a budget is exceeded."""

import importlib
import pkgutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row, table


def main(arguments: Sequence[str]) -> int:
    """Print one table; 1 if something is over its budget, 2 for a name nobody knows."""
    known = _benchmarks()
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are: {', '.join(known)}.")
        return 2
    rows: list[Row] = []
    for name in arguments or known:
        started = time.perf_counter()
        rows += importlib.import_module(f"bench.{name}").run()
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    print(table(rows))
    return 0 if all(row.ok for row in rows) else 1


def _benchmarks() -> list[str]:
    """The modules here that have a `run`, told by their text: importing all would cost time."""
    here = Path(__file__).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(here)]))
    return [
        name for name in names if "\ndef run(" in (here / f"{name}.py").read_text(encoding="utf-8")
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
