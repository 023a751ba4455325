"""The second parser's opinion: tree-sitter must see the same words in the same commands."""

from functools import cache
from threading import Lock

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import ReasonedError, because
from agent_cli.safety.shell.lexer import Token
from agent_cli.safety.shell.syntax import (
    Chain,
    Group,
    If,
    Loop,
    Pipeline,
    Sequence,
    Simple,
)
from agent_cli.safety.shell.syntax import Node as Plain

# Only these may occur; whatever the grammar calls otherwise is not proven.
STRUCTURE = names(
    "program list pipeline redirected_statement negated_command subshell compound_statement "
    "if_statement elif_clause else_clause for_statement while_statement do_group command "
    "command_name variable_assignment "
    "variable_name file_redirect file_descriptor herestring_redirect heredoc_redirect "
    "heredoc_start heredoc_body heredoc_end comment test_command"
)
UNITS = names(
    "word number raw_string string concatenation ansi_c_string heredoc_start brace_expression "
    "simple_expansion expansion command_substitution"
)
IN_UNITS = names(
    "word number raw_string string string_content ansi_c_string brace_expression simple_expansion "
    "expansion variable_name special_variable_name command_substitution"
)
OPERATORS = names(
    "; && || | |& ! ( ) { } if then elif else fi for in while do done "
    "> >> >| >& < <& <> &> &>> << <<- <<< = [ ] [[ ]]"
) | {"\n"}
IN_TEST = UNITS | frozenset(["unary_expression", "binary_expression", "test_operator"])


class Disagreement(ReasonedError):
    """The second parser sees something else."""


_READING = Lock()


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def agree(source: str, plain: Plain, tokens: list[Token]) -> None:
    """Raise Disagreement unless tree-sitter reads the source as our own parser does."""
    data = source.encode()
    with _READING:
        root = _parser().parse(data).root_node
    if root.has_error:
        raise Disagreement(because("unclear_command"))
    seen = _TreeFindings(data)
    seen.walk(root)
    tests = seen.tests
    commands, loops = parts(plain)
    names_of_loops = {loop.name.start for loop in loops if loop.name}
    starts = [
        (token.start, token)
        for token in tokens
        if token.kind == "word" and token.start not in names_of_loops
    ]
    firsts = [simple.words[0].start for simple in commands if simple.words]
    if len(data) != len(source):  # tree-sitter counts bytes
        starts = [(len(source[:start].encode()), token) for start, token in starts]
        firsts = [len(source[:start].encode()) for start in firsts]
    ours = [(start, token.raw) for start, token in starts if token.raw not in KEYWORDS]
    if tests:
        ours = [each for each in ours if not any(a <= each[0] < b for a, b in tests)]
    theirs = sorted(each for each in seen.units if each[1] not in KEYWORDS)
    if ours != theirs:
        raise Disagreement(because("unclear_command"))
    if sorted(firsts) != sorted(seen.starts + [start for start, _ in tests]):
        raise Disagreement(because("unclear_command"))


KEYWORDS = names("if then elif else fi { } ! for in while do done")


class _TreeFindings:
    def __init__(self, data: bytes) -> None:
        self.units: list[tuple[int, str]] = []
        self.starts: list[int] = []
        self.tests: list[tuple[int, int]] = []
        self._data = data

    def walk(self, root: Node) -> None:
        pending = [root]
        while pending:
            node = pending.pop()
            kind = node.type
            if not node.is_named:
                if kind == "$":
                    self._unit(node)
                elif kind not in OPERATORS:
                    raise Disagreement(because("unclear_syntax"))
            elif kind == "test_command":
                _only(node, IN_TEST | IN_UNITS)
                self.tests.append((node.start_byte, node.end_byte))
            elif kind in UNITS:
                if node.child_count:
                    _only(node, IN_UNITS)
                self._unit(node)
            elif kind == "variable_assignment":
                for child in node.named_children[1:]:
                    _only(child, IN_UNITS)
                self._unit(node)
            elif kind in STRUCTURE:
                if kind == "command_name":
                    self.starts.append(node.start_byte)
                pending.extend(node.children)
            else:
                raise Disagreement(because("complex_syntax", what=kind.replace("_", " ")))

    def _unit(self, node: Node) -> None:
        start, end = node.start_byte, node.end_byte
        self.units.append((start, self._data[start:end].decode()))


def _only(node: Node, allowed: frozenset[str]) -> None:
    if node.type == "command_substitution":
        return  # what is in it is read by itself
    pending = list(node.children)
    while pending:
        child = pending.pop()
        if child.is_named and child.type not in allowed:
            raise Disagreement(because("complex_syntax", what=child.type.replace("_", " ")))
        if child.type != "command_substitution":
            pending.extend(child.children)


def parts(node: Plain) -> tuple[list[Simple], list[Loop]]:
    """Every simple command and every loop in the structure, in no particular order."""
    found: list[Simple] = []
    loops: list[Loop] = []
    pending: list[Plain] = [node]
    while pending:
        each = pending.pop()
        match each:
            case Simple():
                found.append(each)
            case Pipeline(parts=inner) | Sequence(parts=inner):
                pending.extend(inner)
            case Chain(first=first, rest=rest):
                pending.extend((first, *(part for _, part in rest)))
            case Group(body=body):
                pending.append(body)
            case Loop(body=body, condition=condition):
                loops.append(each)
                pending.extend((body, condition) if condition else (body,))
            case If(conditions=conditions, branches=branches):
                pending.extend(conditions + branches)
    return found, loops
