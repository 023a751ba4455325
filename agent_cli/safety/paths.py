"""temporary"""

import os
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class ResolvedPath:
    typed: str
    absolute: Path
    real: Path
    inside: bool


@dataclass(frozen=True)
class Workspace:
    root: Path
    added: tuple[Path, ...] = ()
    home: Path = Path("/")
    own: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()

    @classmethod
    def at(cls, root, *, added=(), home, own=()):
        return cls(root.resolve(), tuple(added), home, tuple(own))

    def with_readable(self, d):
        return replace(self, readable=(*self.readable, d))

    def resolve(self, path, *, cwd=None):
        p = Path(cwd or self.root) / os.path.expanduser(path)
        real = p.resolve()
        return ResolvedPath(
            path,
            p,
            real,
            any(real.is_relative_to(r) for r in (self.root, *self.added, *self.readable)),
        )
