"""temporary"""

from pathlib import Path


def private_directory(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def write_atomic(path: Path, data: bytes, *, mode: int | None = None) -> None:
    path.write_bytes(data)
