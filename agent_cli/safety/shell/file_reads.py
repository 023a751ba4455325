"""Which files a command would read, and whether that needs the user."""

import posixpath

from agent_cli.safety.reasons import because
from agent_cli.safety.sensitive import is_secret
from agent_cli.safety.shell.globs import literal, may_match_parent, may_match_secret
from agent_cli.safety.shell.proof import ProofNotes
from agent_cli.safety.shell.shell_facts import ShellContext, absolute, inside, lexical
from agent_cli.safety.shell.words import Word


class FileReads:
    """Looks at each path that a command reads, as it is now."""

    def __init__(self, place: ShellContext, notes: ProofNotes) -> None:
        self.place = place
        self.notes = notes
        self.proof = notes.proof

    def look(self, word: Word, where: frozenset[str], *, content: bool, tree: bool = False) -> None:
        """Note that a path is read, and refuse the proof where that needs the user."""
        for cwd in sorted(where):
            if word.below:
                for directory in word.below:
                    self._look_below(lexical(absolute(directory, cwd)), content=content)
            elif word.is_unknown:
                self.notes.doubt(because("reads_unknown"))
            elif word.pattern is None:
                self._look_at(absolute(word.text, cwd), word.text, content=content, tree=tree)
            else:
                self._look_at_pattern(word, cwd, content=content, tree=tree)

    def _doubt_secret(self, path: str, secret: str) -> None:
        name = posixpath.basename(secret)
        self.notes.doubt(because("secret_within", path=path, secret=name))

    def _look_below(self, path: str, *, content: bool) -> None:
        """Any file below a directory is read, or all of them."""
        real = self.place.resolve(path)
        if not content:
            return
        if real not in self.proof.trees:
            self.proof.trees.append(real)
        if secret := self.place.secret_below(real):
            self._doubt_secret(path, secret)
        if self.place.has_links(real):
            self.notes.doubt(because("link_within", path=path))

    def _look_at(self, path: str, shown: str, *, content: bool, tree: bool = False) -> None:
        real = self.place.resolve(path)
        if real == "/dev/null":
            return
        if tree:
            if real not in self.proof.trees:
                self.proof.trees.append(real)
            if secret := self.place.secret_below(real):
                self._doubt_secret(shown, secret)
        if real not in self.proof.reads:
            self.proof.reads.append(real)
        # Whatever the workspace is: some names there are connections, or the state of processes.
        if not inside(real, self.place.roots) or real.startswith(("/dev/", "/proc/", "/sys/")):
            self.notes.sensitive(because("outside_workspace", path=shown))
        if not content:
            return
        for each in (lexical(path), real):
            if why := is_secret(each, self.place.home):
                self.notes.sensitive(because("secret_path", path=shown, why=why))
                return

    def _look_at_pattern(self, word: Word, cwd: str, *, content: bool, tree: bool) -> None:
        assert word.pattern is not None
        pattern = absolute(word.pattern, literal(cwd))
        parts = word.pattern.split("/")
        first = next(i for i, part in enumerate(parts) if any(char in part for char in "*?["))
        base = absolute("/".join(parts[:first]) or ("/" if parts[0] == "" else "."), cwd)
        if ".." in parts[first:] or any(may_match_parent(part) for part in parts[first:]):
            self.notes.sensitive(because("may_leave_workspace", path=word.text))
        self._look_at(base, word.text, content=content)
        if content:
            secret = next(filter(None, map(may_match_secret, parts[first:])), None)
            if secret:
                self.notes.sensitive(because("may_match_secret", path=word.text, secret=secret))
        matches = self.place.expand(pattern)
        if matches is None:
            self.notes.mark_unresolved(because("many_matches", path=word.text))
        for match in matches or ():
            if posixpath.basename(match).startswith("-") and word.may_be_option:
                self.notes.mark_unresolved(
                    because("file_as_option", word=posixpath.basename(match))
                )
            self._look_at(match, match, content=content, tree=tree)
        if not matches:
            # What matches nothing stays as it is written.
            self._look_at(absolute(word.text, cwd), word.text, content=content, tree=tree)
