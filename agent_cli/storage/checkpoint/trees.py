"""The manifests of a session's directories."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from agent_cli.core.undo.checkpoint import PathChange
from agent_cli.lib.language import tr
from agent_cli.safety.paths import contains
from agent_cli.storage.checkpoint.blobs import Blobs, is_unread
from agent_cli.storage.checkpoint.git import GitDirectory
from agent_cli.storage.checkpoint.manifest import Manifest
from agent_cli.storage.checkpoint.manifest_log import ManifestLog
from agent_cli.storage.checkpoint.path_states import keep
from agent_cli.storage.checkpoint.watch import Watch


class Trees:
    """Looks at all of them, and knows where the bytes of their files are."""

    def __init__(
        self,
        roots: Sequence[str],
        home: str,
        environment: Mapping[str, str],
        own: Path,
        blobs: Blobs,
    ) -> None:
        self._blobs = blobs
        self._told: set[str] = set()
        self._notes: list[str] = []
        self._trees: list[tuple[Manifest, ManifestLog]] = []
        for number, root in enumerate(roots):
            if contains(root, home):
                note = tr(
                    "what commands change in {root} cannot be taken back: it is too much to keep",
                    root=root,
                )
                self._notes.append(note)
                continue
            git = GitDirectory(root, environment, own / "git")
            manifest = Manifest(git, partial(keep, blobs), Watch(root))
            log = ManifestLog(own / f"manifest-{number}.jsonl", manifest)
            log.load()
            self._trees.append((manifest, log))

    def refresh(self) -> list[PathChange]:
        """Look again; what has changed since the last time. Raises NoGit and OSError."""
        changes: list[PathChange] = []
        for manifest, log in self._trees:
            found = manifest.refresh()
            if manifest.fresh:
                log.write()
            changes += found
            self._note(manifest, found)
        return changes

    def take_notes(self) -> tuple[str, ...]:
        """What the person should know and was not told yet."""
        fresh = [note for note in dict.fromkeys(self._notes) if note not in self._told]
        self._notes.clear()
        self._told.update(fresh)
        return tuple(fresh)

    def safe(self, struck: Iterable[str]) -> Callable[[str], bool]:
        """Tells of a path whether its bytes are safe already, were all that is struck gone."""
        listed = list(struck)
        with_git = [
            manifest
            for manifest, _ in self._trees
            if not any(contains(each, manifest.git.directory or "/") for each in listed)
        ]

        def is_safe(path: str) -> bool:
            for manifest, _ in self._trees:
                if contains(manifest.root, path):
                    seen = manifest.seen.get(os.path.relpath(path, manifest.root))
                    if seen is None:
                        return False
                    state = seen.state
                    in_store = state.kind != "file" or state.content in self._blobs
                    return state.is_kept and (in_store or manifest in with_git)
            return False

        return is_safe

    def with_bytes(self, changes: Iterable[PathChange]) -> list[PathChange]:
        """The changes, with what was there before fetched from git while git still has it."""
        listed = list(changes)
        wanted = [
            each.before.content
            for each in listed
            if each.before.kind == "file"
            and each.before.content
            and each.before.content not in self._blobs
        ]
        kept, why = {}, tr("git does not have it any more")
        for name, data in self.read(wanted).items():
            try:
                kept[name] = self._blobs.add(data)
            except OSError as error:
                why = error.strerror or str(error)
        missing = set(wanted) - kept.keys()
        return [
            replace(each, before=replace(each.before, content="", why=why))
            if each.before.kind == "file" and each.before.content in missing
            else each
            for each in listed
        ]

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Bytes that git keeps."""
        wanted = [name for name in names if not is_unread(name)]
        found: dict[str, bytes] = {}
        for manifest, _ in self._trees:
            found.update(manifest.git.read(name for name in wanted if name not in found))
        return found

    def contents(self) -> set[str]:
        """The names of all bytes the manifests speak of."""
        return set().union(*(manifest.contents() for manifest, _ in self._trees))

    def close(self) -> None:
        """Stop watching."""
        for manifest, _ in self._trees:
            manifest.watch.close()

    def _note(self, manifest: Manifest, changes: Iterable[PathChange]) -> None:
        for name in manifest.nested:
            self._notes.append(
                tr("{name} is a repository of its own; changes there are not kept", name=name)
            )
        for change in changes:
            if change.after.why:
                self._notes.append(
                    tr("{path} is not kept: {why}", path=change.path, why=change.after.why)
                )
