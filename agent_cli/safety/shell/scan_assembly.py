"""Words and commands, put together by the lenient scan while it reads."""

import re

from agent_cli.safety.name_sets import names
from agent_cli.safety.shell.found import FoundCommand, Frame, Scan
from agent_cli.safety.shell.lenient_words import (
    MAX_VALUE_CHARS,
    PLAIN,
    TO_SHADOW,
    UNKNOWN,
    expand,
    follow_cd,
    globs,
)

RESERVED = names(
    "if then elif else fi do done while until { } ! time coproc esac in ;; function select"
)
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=(.*)\Z", re.DOTALL)


class Assembly:
    """Puts words and commands together from what is read, and keeps track of the nesting."""

    def __init__(self, source: str, cwd: str | None, variables: dict[str, str]) -> None:
        self.source = source
        self.at = 0
        self.variables = variables
        self.top = Frame("top", cwd=cwd)
        self.stack = [self.top]
        self.budget = MAX_VALUE_CHARS * 16 + 4 * len(source)
        self.result = Scan()
        self.loops: set[str] = set()
        self.keeps_skeleton = "{" in source or "()" in source

    def put_quoted(self, text: str) -> None:
        """Add to the word what nothing more happens to."""
        self.top.has_word = True
        self.top.word.append(text.translate(TO_SHADOW))
        self.sketch("_")

    def sketch(self, char: str) -> None:
        """Keep the outline of the text, where it may hold a function."""
        if self.keeps_skeleton:
            self.result.skeleton.append(char)

    def put_value(self, text: str) -> None:
        """Insert the value of an expansion; unquoted it is split into words."""
        self.budget -= len(text)
        if self.budget < 0:
            text = UNKNOWN
        if self.top.double:
            self.put_quoted(text)
            return
        for each in text:
            if each in " \t\n":
                self.end_word()
            else:
                self.top.word.append(each)
                self.top.has_word = True

    def variable(self, name: str) -> str:
        """The value of a variable, as far as it is known."""
        if name == "IFS":
            return " "
        if name == "PWD":
            return self.top.cwd or UNKNOWN
        return self.variables.get(name, UNKNOWN)

    def push(self, kind: str, at: int) -> None:
        """Go one level deeper; reading goes on at `at`."""
        self.top = Frame(kind, cwd=self.top.cwd)
        self.stack.append(self.top)
        self.at = at

    def pop(self) -> Frame:
        """Go one level up; returns what was left."""
        frame = self.stack.pop()
        self.top = self.stack[-1]
        return frame

    def drop(self) -> None:
        """Forget the words so far: they are no command."""
        self.top.words, self.top.word, self.top.has_word = [], [], False

    def end_word(self) -> None:
        """What was read so far is a word of the command or the target of a redirection."""
        frame = self.top
        if frame.kind == "param":
            if frame.has_word:
                frame.word.append(" ")
            return
        if not frame.has_word:
            return
        whole = "".join(frame.word)
        frame.word, frame.has_word = [], False
        if PLAIN.fullmatch(whole):
            words = [whole]
        else:
            words = expand(whole, self.variables)
            frame.globs += globs(whole, self.variables)
        if frame.redirect is not None:
            operator, frame.redirect = frame.redirect, None
            target = words[0]
            if operator == "<<<":
                frame.stdin = target
            elif operator in {"<", "<&"}:
                frame.reads.append(target)
            elif not (operator == ">&" and (target.isdigit() or target == "-")):
                frame.writes.append(target)
                if operator in {">>", "&>>", "<>"}:
                    frame.appends.append(target)
            return
        for word in words:
            if not frame.words and (word in RESERVED or (frame.keyword == "time" and word == "-p")):
                frame.keyword = word
                continue
            frame.keyword = ""
            frame.words.append(word)

    def end_command(self) -> None:
        """What was read so far is a command."""
        frame = self.top
        if frame.kind == "param":
            return
        self.end_word()
        words, frame.words = frame.words, []
        writes, frame.writes = tuple(frame.writes), []
        appends, frame.appends = tuple(frame.appends), []
        patterns, frame.globs = tuple(frame.globs), []
        reads, frame.reads = tuple(frame.reads), []
        stdin, frame.stdin, frame.redirect = frame.stdin, None, None
        words = self._assignments(words)
        if words and words[0] in {"for", "select", "case"}:
            self._loop(words)
            return
        if not (words or writes or reads):
            return
        found = FoundCommand(tuple(words), frame.cwd, writes, reads, stdin, frame.previous)
        found.appends, found.globs, found.varies = appends, patterns, frame.varies
        frame.varies = False
        frame.last, frame.previous = found, None
        frame.count += 1
        self.result.found.append(found)
        if words and words[0] in {"cd", "pushd", "chdir"}:
            frame.cwd = follow_cd(frame.cwd, words[1:], self.variables)

    def _assignments(self, words: list[str]) -> list[str]:
        index = 0
        if words and words[0] in {"export", "declare", "typeset", "local", "readonly"}:
            for word in words[1:]:
                self._assign(word)
            return words
        while index < len(words) and self._assign(words[index]):
            index += 1
        return words[index:]

    def _assign(self, word: str) -> bool:
        found = _ASSIGN.match(word)
        if found:
            self.variables[found.group(1)] = found.group(2)[:MAX_VALUE_CHARS]
        return found is not None

    def _loop(self, words: list[str]) -> None:
        self.loops.add(words[1] if len(words) > 1 else "")
        if len(words) > 2 and words[2] == "in":
            self.variables[words[1]] = " ".join(words[3:])[:MAX_VALUE_CHARS]
