"""Find every command in a shell text leniently: in branches, substitutions and broken syntax too.

The scan may only raise suspicion, never lower it. It takes one pass over the text with a stack of
its own, so that its cost grows with the length and not with the nesting.
"""

import re

from agent_cli.safety.shell.found import Frame, Scan
from agent_cli.safety.shell.lenient_words import (
    ANSI,
    MAX_VALUE_CHARS,
    PLAIN,
    UNKNOWN,
    decode,
    unshadow,
)
from agent_cli.safety.shell.piped import substituted_text
from agent_cli.safety.shell.scan_assembly import Assembly
from agent_cli.safety.shell.wrappers import SHELLS

# What these are given as a file, they run.
READ_SCRIPTS = SHELLS | {"source", "."}


def scan(source: str, cwd: str | None, variables: dict[str, str], *, data: bool = False) -> Scan:
    """Scan one text; `data` when only its substitutions run (an unquoted heredoc)."""
    scanner = _Scanner(source, cwd, variables)
    if data:
        scanner.top.double = True
        scanner.literal_quotes = True
    scanner.run()
    return scanner.result


_PLAIN_RUN = re.compile(r"[A-Za-z0-9_./:@%+,=*?~!^\[\]{-]+")
_ARGUMENT = re.compile(rf"({PLAIN.pattern}) ")
_DOUBLE_RUN = re.compile(r'[^"\\$`]+')
_ENDS_WORD = re.compile(r"[ \t\n;|&)]|\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"\{([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])(:?[-=+?]|)")
_DELIMITER = re.compile(r"<<-?[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|([^\s;&|<>()]+))")


class _Scanner(Assembly):
    def __init__(self, source: str, cwd: str | None, variables: dict[str, str]) -> None:
        super().__init__(source, cwd, variables)
        self.heredocs: list[tuple[Frame, str, bool, bool]] = []
        self.literal_quotes = False
        self.balanced = True

    def run(self) -> None:
        source, end = self.source, len(self.source)
        while self.at < end:
            top = self.top
            if top.double:
                self._in_double(source[self.at])
                continue
            if top.words and not top.has_word and top.redirect is None and top.kind != "param":
                argument = _ARGUMENT.match(source, self.at)
                if argument:  # most words, told at once
                    top.words.append(argument[1])
                    self.sketch(argument[0])
                    self.at = argument.end()
                    continue
            run = _PLAIN_RUN.match(source, self.at)
            if run:
                text = run.group()
                top.word.append(text)
                top.has_word = True
                self.sketch(text)
                self.at = run.end()
                continue
            char = source[self.at]
            if char == " ":
                self.end_word()
                self.sketch(" ")
                self.at += 1
            elif self.top.kind == "param" and char == "}":
                self._close_parameter()
            else:
                self._plain(char)
        if self.literal_quotes:
            return
        if len(self.stack) > 1 or self.top.double:
            self.balanced = False
        while len(self.stack) > 1:
            self.end_command()
            self.pop()
        self.end_command()
        if not self.balanced:
            # Broken quoting may hide a command from this scan but not from another shell.
            self.result.scripts.append(re.sub(r"[\"'`{}()]", " ", self.source))

    # -- characters

    def _in_double(self, char: str) -> None:
        following = self.source[self.at + 1 : self.at + 2]
        if char == '"' and not (self.literal_quotes and len(self.stack) == 1):
            self.top.double = False
            self.at += 1
        elif char == "\\" and following:
            if following not in '$`"\\\n':
                self.put_quoted(char)
            if following != "\n":
                self.put_quoted(following)
            self.at += 2
        elif char == "$":
            self._dollar()
        elif char == "`":
            self._backticks()
        else:
            run = _DOUBLE_RUN.match(self.source, self.at)
            text = run.group() if run else char
            self.put_quoted(text)
            self.at += len(text)

    def _plain(self, char: str) -> None:
        source, at = self.source, self.at
        if char == "\\":
            following = source[at + 1 : at + 2]
            if following and following != "\n":
                self.put_quoted(following)
            self.at += 2
        elif char == "'":
            close = source.find("'", at + 1)
            close = len(source) if close < 0 else close
            self.put_quoted(source[at + 1 : close])
            self.balanced = self.balanced and close < len(source)
            self.at = close + 1
        elif char == '"':
            self.top.has_word = self.top.double = True
            self.at += 1
        elif char == "$":
            self._dollar()
        elif char == "`":
            self._backticks()
        elif char in "\t\r":
            self.end_word()
            self.sketch(" ")
            self.at += 1
        elif char == "#" and not self.top.has_word:
            stop = source.find("\n", at)
            self.at = len(source) if stop < 0 else stop
        elif char in "\n;&|()<>":
            self._operator(char)
        else:
            self.top.word.append(char)
            self.top.has_word = True
            self.sketch(char)
            self.at += 1

    # -- expansions

    def _dollar(self) -> None:
        source, at = self.source, self.at
        following = source[at + 1 : at + 2]
        if following == "(":
            self.push("sub", at + 2)
        elif following == "{":
            found = _PARAMETER.match(source, at + 1)
            self.push("param", found.end() if found else at + 2)
            if found:
                self.top.words = [found.group(2), found.group(3), found.group(1)]
        elif following == "'" and not self.top.double:
            self._ansi_c()
        elif following == '"' and not self.top.double:
            self.at += 1
        elif following in "0123456789@*" and following:
            self.at += 2
        elif following in "?$!#-" and following:
            self.put_value(UNKNOWN)
            self.at += 2
        else:
            name = _NAME.match(source, at + 1)
            if not name:
                self.put_quoted("$")
                self.at += 1
                return
            # Alone and unquoted it stands for the words of all rounds at once.
            alone = not (self.top.double or self.top.has_word) and _ENDS_WORD.match(
                source, name.end()
            )
            if name.group() in self.loops and not alone:
                self.top.varies = True
            self.put_value(self.variable(name.group()))
            self.at = name.end()
        self.sketch("_")

    def _ansi_c(self) -> None:
        at = self.at + 2
        self.top.has_word = True
        while at < len(self.source) and self.source[at] != "'":
            found = ANSI.match(self.source, at)
            if not found:
                self.put_quoted(self.source[at])
                at += 1
                continue
            self.put_quoted(decode(found, nul=UNKNOWN))
            at = found.end()
        self.at = at + 1

    def _backticks(self) -> None:
        at = self.at + 1
        inner: list[str] = []
        while at < len(self.source) and self.source[at] != "`":
            if self.source[at] == "\\" and self.source[at + 1 : at + 2] in {"`", "\\", "$"}:
                at += 1
            inner.append(self.source[at : at + 1])
            at += 1
        script = "".join(inner)
        self.result.scripts.append(script)
        self.put_value(self._output(script))
        self.sketch("_")
        self.at = at + 1

    def _output(self, script: str) -> str:
        if len(script) > MAX_VALUE_CHARS:
            return UNKNOWN
        found = scan(script, self.top.cwd, dict(self.variables)).found
        return substituted_text(found[-1] if found else None, len(found))

    def _close_parameter(self) -> None:
        frame = self.pop()
        self.at += 1
        name, operator, prefix = [*frame.words, "", "", ""][:3]
        default = unshadow("".join(frame.word))
        known = self.variable(name) if name else UNKNOWN
        self.top.varies = self.top.varies or name in self.loops
        if prefix or operator in {"+", ":+"}:
            value = default if operator else UNKNOWN
        elif operator and known == UNKNOWN:
            value = default
        else:
            value = known
        self.put_value(value)

    # -- operators

    def _operator(self, char: str) -> None:
        source, at = self.source, self.at
        self.sketch(char)
        if char in "<>" or source.startswith("&>", at):
            self._redirect()
            return
        if char == "(":
            self._open()
            return
        if char == ")":
            self._close()
            return
        length = 2 if source[at : at + 2] in {"&&", "||", "|&", ";;"} else 1
        operator = source[at : at + length]
        for extra in operator[1:]:
            self.sketch(extra)
        self.end_command()
        self.top.previous = self.top.last if operator in {"|", "|&"} else None
        self.at += length
        if char == "\n":
            self._read_heredocs()

    def _open(self) -> None:
        match = re.compile(r"\(\s*\)").match(self.source, self.at)
        if match:
            # `name()` defines a function; its body follows as ordinary commands.
            self.sketch(")")
            self.drop()
            self.at = match.end()
            return
        if not self.top.has_word:
            self.end_command()
        self.push("paren", self.at + 1)

    def _close(self) -> None:
        if len(self.stack) == 1:
            # The pattern of a case branch ends.
            self.drop()
            self.at += 1
            return
        self.end_command()
        if self.top.kind == "param":
            self.at += 1
            return
        frame = self.pop()
        self.at += 1
        if frame.kind == "sub":
            self.put_value(substituted_text(frame.last, frame.count))
        elif frame.kind == "proc":
            if self.top.words and self.top.words[0].rpartition("/")[2] in READ_SCRIPTS:
                self.result.scripts.append(substituted_text(frame.last, frame.count))
            self.put_value(UNKNOWN)

    def _redirect(self) -> None:
        source, at = self.source, self.at
        if source[at : at + 2] in {"<(", ">("}:
            self.push("proc", at + 2)
            return
        if source.startswith("<<", at) and not source.startswith("<<<", at):
            self._heredoc()
            return
        match = re.compile(r"&>>|<<<|&>|>>|>\||>&|<&|<>|<|>").match(source, at)
        assert match
        operator = match.group()
        word = "".join(self.top.word)
        if self.top.has_word and (word.isdigit() or re.fullmatch(r"\{\w+\}", word)):
            self.top.word, self.top.has_word = [], False
        self.end_word()
        self.top.redirect = operator
        self.at = match.end()

    def _heredoc(self) -> None:
        match = _DELIMITER.match(self.source, self.at)
        if not match:
            self.at += 2
            return
        self.end_word()
        bare = match.group(3)
        name = next((group for group in match.groups() if group is not None), "")
        quoted = bare is None or any(char in bare for char in "'\"\\")
        self.heredocs.append(
            (self.top, re.sub(r"['\"\\]", "", name), quoted, match.group().startswith("<<-"))
        )
        self.top.redirect = None
        self.top.stdin = UNKNOWN
        self.at = match.end()

    def _read_heredocs(self) -> None:
        pending, self.heredocs = self.heredocs, []
        for frame, name, quoted, tabs in pending:
            lines: list[str] = []
            while self.at < len(self.source):
                stop = self.source.find("\n", self.at)
                stop = len(self.source) if stop < 0 else stop
                line = self.source[self.at : stop]
                self.at = stop + 1
                line = line.lstrip("\t") if tabs else line
                if line == name:
                    break
                lines.append(line)
            body = "\n".join(lines)
            owner = frame.last
            while owner is not None:
                owner.stdin = body
                owner = owner.piped_from
            if not quoted and ("$" in body or "`" in body):
                self.result.data.append((body, frame.cwd))
