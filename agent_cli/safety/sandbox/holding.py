"""How protected places inside writable directories are held with mounts."""

# ruff: noqa: PTH118

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent_cli.safety.sandbox.confinement import Confinement
from agent_cli.safety.sandbox.masks import is_mask


@dataclass
class Holding:
    """What has to be mounted so that the protected places stay as they are."""

    read_only: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    """Directories above protected places: moved away, they would take the protection along."""
    missing: list[str] = field(default_factory=list)
    """Places that must not come to be."""
    links: list[str] = field(default_factory=list)
    """Protected places that are links. No mount can hold a link where it is."""


def holding_for(confinement: Confinement) -> Holding:
    """How to hold the protected places of a confinement, as the files are now."""
    holding = Holding()
    for path in confinement.read_only_inside:
        root = _root_of(path, confinement.writable)
        if root is not None:
            _hold(root, path, confinement, holding)
    # The same directory may be above several places, and a place below another one.
    holding.read_only = list(dict.fromkeys(holding.read_only))
    holding.pinned = [p for p in dict.fromkeys(holding.pinned) if p not in holding.read_only]
    holding.missing = list(dict.fromkeys(holding.missing))
    holding.links = list(dict.fromkeys(holding.links))
    return holding


def _hold(root: str, path: str, confinement: Confinement, holding: Holding) -> None:
    above = []
    for place in _steps(root, path):
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            holding.missing.append(place)
            break
        except OSError:
            break  # nobody can get there
        if stat.S_ISLNK(mode):
            holding.links.append(place)
            target = os.path.realpath(place)
            if os.path.lexists(target) and _root_of(target, confinement.writable):
                holding.read_only.append(target)
            break
        if place == path or not stat.S_ISDIR(mode) or is_mask(place):
            holding.read_only.append(place)
            break
        above.append(place)
    holding.pinned += above


def _steps(root: str, path: str) -> Iterator[str]:
    """Every place on the way from a root to a path, the path last."""
    place = root
    for name in path[len(root.rstrip("/")) + 1 :].split("/"):
        place = os.path.join(place, name)
        yield place


def _root_of(path: str, roots: tuple[str, ...]) -> str | None:
    """The innermost root above a path."""
    above = [root for root in roots if path.startswith(f"{root.rstrip('/')}/")]
    return max(above, key=len, default=None)
