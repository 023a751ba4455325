"""What it costs to judge a shell command."""

import statistics
import time
from collections.abc import Callable

from agent_cli.safety.shell import ShellContext, analyse, bash_accepts
from bench.rows import Row, at_most, for_information

COMMAND = (
    "cd src && grep -rn --include='*.py' 'class .*(BaseModel)' agent_cli tests"
    " | sort -t: -k1,1 -k2,2n | head -n 40"
    " && git log --oneline --max-count=20 -- agent_cli/core/pipeline.py | cat && echo done"
)
DENSE = (
    "cd src && git status --short && grep -rn 'def main' --include='*.py' . | head -20 && "
    "ls -la tests && cat README.md | wc -l && find . -name '*.toml' -maxdepth 2 && echo 'done'"
)
PLACE = ShellContext(cwd="/srv/proj", roots=("/srv/proj",), home="/home/u")


def run() -> list[Row]:
    """The median time with and without bash's own opinion."""
    assert 190 <= len(COMMAND) <= 210
    alone = _median(lambda: analyse(COMMAND, PLACE), 300)
    both = _median(lambda: (analyse(COMMAND, PLACE), bash_accepts(COMMAND)), 50)
    dense = _median(lambda: analyse(DENSE, PLACE), 300)
    return [
        for_information("analysis of nine commands in 180 characters", dense, "ms"),
        at_most("analysis of a 200-character command", alone, "ms", 1.0),
        at_most("the same with bash -n", both, "ms", 10.0),
    ]


def _median(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1000
