"""Read of 100 lines at line 5,000,000 of a 1 GB file: seconds and megabytes."""

import asyncio
import resource
import tempfile
import time
from pathlib import Path

from agent_cli.tools.read import TOOL
from tests.kit.hands import Hands

SIZE = 1_000_000_000
LINE = 160


def main() -> None:
    """Make the file, read from it, print what it took."""
    with tempfile.TemporaryDirectory() as directory:
        workspace = Path(directory)
        with (workspace / "big.log").open("wb") as file:
            for start in range(0, SIZE // LINE, 10_000):
                lines = (b"%0*d\n" % (LINE - 1, n) for n in range(start, start + 10_000))
                file.write(b"".join(lines))
        started = time.monotonic()
        hands = Hands(workspace)
        result = asyncio.run(hands.call(TOOL, file_path="big.log", offset=5_000_000, limit=100))
        seconds = time.monotonic() - started
        assert result.success, result.llm_content
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{result.summary}: {seconds:.2f} s, peak {peak:.0f} MB (limit 100 MB)")


if __name__ == "__main__":
    main()
