"""Whether a project's files are still those the user trusted, while a session runs."""

from collections.abc import Callable, Iterable
from pathlib import Path

from agent_cli.core.deciding.trust_items import TrustItem, what_trust_enables

Keep = Callable[[tuple[TrustItem, ...]], None]


class ProjectTrust:
    """Made for a folder that is trusted as it is now; it reads the folder at once.

    A project's tool file is code that runs in this program, and the model may have changed it: so
    it is loaded again only if it is what the user trusted, or if they look at it and say yes.
    """

    def __init__(self, root: Path, keep: Keep, own_settings: Path | None = None) -> None:
        self._root = root
        self._own_settings = own_settings
        self._keep = keep
        self._known = self._now()

    def find_changed(self, below: Iterable[Path]) -> tuple[TrustItem, ...]:
        """The files below these directories that are new or different; raises TooMuch."""
        places = tuple(below)
        now = self._now()
        return tuple(
            item
            for path, item in now.items()
            if any(map(Path(path).is_relative_to, places)) and self._known.get(path) != item
        )

    def accept(self, seen: Iterable[TrustItem]) -> None:
        """Trust these files too, as they were seen; raises OSError if that cannot be kept."""
        self._known |= {item.path: item for item in seen}
        self._keep(tuple(self._known.values()))

    def _now(self) -> dict[str, TrustItem]:
        return {item.path: item for item in what_trust_enables(self._root, self._own_settings)}
