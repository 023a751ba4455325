"""Find every command in a shell text leniently: in branches, substitutions and broken syntax too.

The scan may only raise suspicion, never lower it. It takes one pass over the text with a stack of
its own, so that its cost grows with the length and not with the nesting.
"""

import re

from agent_cli.safety.shell.found import Found, Frame, Scan
from agent_cli.safety.shell.lenient_words import (
    ANSI,
    LETTERS,
    LONGEST_VALUE,
    PLAIN,
    SHADOW,
    TO_SHADOW,
    UNKNOWN,
    expand,
    globs,
    moved,
    unshadow,
)
from agent_cli.safety.shell.names import names
from agent_cli.safety.shell.piped import substituted
from agent_cli.safety.shell.wrappers import SHELLS

RESERVED = names(
    "if then elif else fi do done while until { } ! time coproc esac in ;; function select"
)
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
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=(.*)\Z", re.DOTALL)
_DELIMITER = re.compile(r"<<-?[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|([^\s;&|<>()]+))")


class _Scanner:
    def __init__(self, source: str, cwd: str | None, variables: dict[str, str]) -> None:
        self.source = source
        self.at = 0
        self.variables = variables
        self.top = Frame("top", cwd=cwd)
        self.stack = [self.top]
        self.budget = LONGEST_VALUE * 16 + 4 * len(source)
        self.result = Scan()
        self.heredocs: list[tuple[Frame, str, bool, bool]] = []
        self.literal_quotes = False
        self.balanced = True
        self.loops: set[str] = set()
        self.keeps_skeleton = "{" in source or "()" in source

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
                    self._skeleton(argument[0])
                    self.at = argument.end()
                    continue
            run = _PLAIN_RUN.match(source, self.at)
            if run:
                text = run.group()
                top.word.append(text)
                top.has_word = True
                self._skeleton(text)
                self.at = run.end()
                continue
            char = source[self.at]
            if char == " ":
                self._end_word()
                self._skeleton(" ")
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
            self._end_command()
            self._pop()
        self._end_command()
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
                self._quoted(char)
            if following != "\n":
                self._quoted(following)
            self.at += 2
        elif char == "$":
            self._dollar()
        elif char == "`":
            self._backticks()
        else:
            run = _DOUBLE_RUN.match(self.source, self.at)
            text = run.group() if run else char
            self._quoted(text)
            self.at += len(text)

    def _plain(self, char: str) -> None:
        source, at = self.source, self.at
        if char == "\\":
            following = source[at + 1 : at + 2]
            if following and following != "\n":
                self._quoted(following)
            self.at += 2
        elif char == "'":
            close = source.find("'", at + 1)
            close = len(source) if close < 0 else close
            self._quoted(source[at + 1 : close])
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
            self._end_word()
            self._skeleton(" ")
            self.at += 1
        elif char == "#" and not self.top.has_word:
            stop = source.find("\n", at)
            self.at = len(source) if stop < 0 else stop
        elif char in "\n;&|()<>":
            self._operator(char)
        else:
            self.top.word.append(char)
            self.top.has_word = True
            self._skeleton(char)
            self.at += 1

    def _quoted(self, text: str) -> None:
        self.top.has_word = True
        self.top.word.append(text.translate(TO_SHADOW))
        self._skeleton("_")

    def _skeleton(self, char: str) -> None:
        if self.keeps_skeleton:
            self.result.skeleton.append(char)

    def _value(self, text: str) -> None:
        """Insert the value of an expansion; unquoted it is split into words."""
        self.budget -= len(text)
        if self.budget < 0:
            text = UNKNOWN
        if self.top.double:
            self._quoted(text)
            return
        for each in text:
            if each in " \t\n":
                self._end_word()
            else:
                self.top.word.append(each)
                self.top.has_word = True

    # -- expansions

    def _dollar(self) -> None:
        source, at = self.source, self.at
        following = source[at + 1 : at + 2]
        if following == "(":
            self._push("sub", at + 2)
        elif following == "{":
            found = _PARAMETER.match(source, at + 1)
            self._push("param", found.end() if found else at + 2)
            if found:
                self.top.words = [found.group(2), found.group(3), found.group(1)]
        elif following == "'" and not self.top.double:
            self._ansi_c()
        elif following == '"' and not self.top.double:
            self.at += 1
        elif following in "0123456789@*" and following:
            self.at += 2
        elif following in "?$!#-" and following:
            self._value(UNKNOWN)
            self.at += 2
        else:
            name = _NAME.match(source, at + 1)
            if not name:
                self._quoted("$")
                self.at += 1
                return
            # Alone and unquoted it stands for the words of all rounds at once.
            alone = not (self.top.double or self.top.has_word) and _ENDS_WORD.match(
                source, name.end()
            )
            if name.group() in self.loops and not alone:
                self.top.varies = True
            self._value(self._variable(name.group()))
            self.at = name.end()
        self._skeleton("_")

    def _variable(self, name: str) -> str:
        if name == "IFS":
            return " "
        if name == "PWD":
            return self.top.cwd or UNKNOWN
        return self.variables.get(name, UNKNOWN)

    def _ansi_c(self) -> None:
        at = self.at + 2
        self.top.has_word = True
        while at < len(self.source) and self.source[at] != "'":
            found = ANSI.match(self.source, at)
            if not found:
                self._quoted(self.source[at])
                at += 1
                continue
            *hexadecimal, octal, letter = found.groups()
            digits = next(filter(None, hexadecimal), None)
            if digits or octal:
                code = int(digits, 16) if digits else int(octal, 8)
                self._quoted(chr(code) if 0 < code < SHADOW else UNKNOWN)
            else:
                self._quoted(LETTERS.get(letter, letter))
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
        self._value(self._output(script))
        self._skeleton("_")
        self.at = at + 1

    def _output(self, script: str) -> str:
        if len(script) > LONGEST_VALUE:
            return UNKNOWN
        found = scan(script, self.top.cwd, dict(self.variables)).found
        return substituted(found[-1] if found else None, len(found))

    def _push(self, kind: str, at: int) -> None:
        self.top = Frame(kind, cwd=self.top.cwd)
        self.stack.append(self.top)
        self.at = at

    def _pop(self) -> Frame:
        frame = self.stack.pop()
        self.top = self.stack[-1]
        return frame

    def _close_parameter(self) -> None:
        frame = self._pop()
        self.at += 1
        name, operator, prefix = [*frame.words, "", "", ""][:3]
        default = unshadow("".join(frame.word))
        known = self._variable(name) if name else UNKNOWN
        self.top.varies = self.top.varies or name in self.loops
        if prefix or operator in {"+", ":+"}:
            value = default if operator else UNKNOWN
        elif operator and known == UNKNOWN:
            value = default
        else:
            value = known
        self._value(value)

    # -- operators

    def _operator(self, char: str) -> None:
        source, at = self.source, self.at
        self._skeleton(char)
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
            self._skeleton(extra)
        self._end_command()
        self.top.previous = self.top.last if operator in {"|", "|&"} else None
        self.at += length
        if char == "\n":
            self._read_heredocs()

    def _open(self) -> None:
        match = re.compile(r"\(\s*\)").match(self.source, self.at)
        if match:
            # `name()` defines a function; its body follows as ordinary commands.
            self._skeleton(")")
            self._drop()
            self.at = match.end()
            return
        if not self.top.has_word:
            self._end_command()
        self._push("paren", self.at + 1)

    def _close(self) -> None:
        if len(self.stack) == 1:
            # The pattern of a case branch ends.
            self._drop()
            self.at += 1
            return
        self._end_command()
        if self.top.kind == "param":
            self.at += 1
            return
        frame = self._pop()
        self.at += 1
        if frame.kind == "sub":
            self._value(substituted(frame.last, frame.count))
        elif frame.kind == "proc":
            if self.top.words and self.top.words[0].rpartition("/")[2] in READ_SCRIPTS:
                self.result.scripts.append(substituted(frame.last, frame.count))
            self._value(UNKNOWN)

    def _drop(self) -> None:
        self.top.words, self.top.word, self.top.has_word = [], [], False

    def _redirect(self) -> None:
        source, at = self.source, self.at
        if source[at : at + 2] in {"<(", ">("}:
            self._push("proc", at + 2)
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
        self._end_word()
        self.top.redirect = operator
        self.at = match.end()

    def _heredoc(self) -> None:
        match = _DELIMITER.match(self.source, self.at)
        if not match:
            self.at += 2
            return
        self._end_word()
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

    # -- words and commands

    def _end_word(self) -> None:
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

    def _end_command(self) -> None:
        frame = self.top
        if frame.kind == "param":
            return
        self._end_word()
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
        found = Found(tuple(words), frame.cwd, writes, reads, stdin, frame.previous)
        found.appends, found.globs, found.varies = appends, patterns, frame.varies
        frame.varies = False
        frame.last, frame.previous = found, None
        frame.count += 1
        self.result.found.append(found)
        if words and words[0] in {"cd", "pushd", "chdir"}:
            frame.cwd = moved(frame.cwd, words[1:], self.variables)

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
            self.variables[found.group(1)] = found.group(2)[:LONGEST_VALUE]
        return found is not None

    def _loop(self, words: list[str]) -> None:
        self.loops.add(words[1] if len(words) > 1 else "")
        if len(words) > 2 and words[2] == "in":
            self.variables[words[1]] = " ".join(words[3:])[:LONGEST_VALUE]
