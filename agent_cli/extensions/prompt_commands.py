"""Slash commands that are Markdown files: what stands in the file is sent as a prompt."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from agent_cli.core.extension_protocol import PromptCommand
from agent_cli.core.prompt_template import CommandSlot, PromptTemplate
from agent_cli.extensions.documents import BadDocument, Complain, Document, Folder, read_document
from agent_cli.lib.language import mark, tr

MAX_COMMANDS = 500
SHELL = "Bash"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}")
_COMMAND = re.compile(r"!`([^`\n]+)`|^!(?![\[`!])(.+)$", re.MULTILINE)
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")


def find_commands(folder: Folder, complain: Complain) -> Iterator[PromptCommand]:
    """The commands of a folder by name; `review.md` is /review, `git/review.md` /git:review."""
    for path in _files(folder):
        name = ":".join(path.relative_to(folder.path).with_suffix("").parts).lower()
        if not _NAME.fullmatch(name):
            text = mark("Skipped {path}: /{name} cannot be typed as a command.")
            complain(tr(text, path=path, name=name[:64]), "")
            continue
        try:
            document = read_document(path, follow=folder.is_users)
        except BadDocument as problem:
            complain(tr("Skipped a command: {problem}", problem=problem), "")
            continue
        yield _command(name, document, folder)


def write_prompt(name: str, body: str, argument: str) -> PromptTemplate:
    """The prompt of a command. Its commands are found first and arguments put in afterwards, so
    that an argument never becomes a command."""
    words = _words(argument)
    has_place = False

    def value(found: re.Match[str]) -> str:
        nonlocal has_place
        has_place = True
        if found[1] == "ARGUMENTS":
            return argument
        place = int(found[1])
        return words[place - 1] if place <= len(words) else ""

    pieces: list[str | CommandSlot] = []
    end = 0
    for found in _COMMAND.finditer(body):
        pieces.append(_PLACE.sub(value, body[end : found.start()]))
        pieces.append(CommandSlot(_PLACE.sub(value, (found[1] or found[2]).strip())))
        end = found.end()
    pieces.append(_PLACE.sub(value, body[end:]))
    if argument and not has_place:
        pieces.append(f"\n\n{argument}")
    kept = tuple(piece for piece in pieces if piece)
    return PromptTemplate(said=f"/{name} {argument}".rstrip(), pieces=kept, tool=SHELL)


def _command(name: str, document: Document, folder: Folder) -> PromptCommand:
    first = document.body.split("\n", 1)[0].lstrip("# ")
    described = document.fact("description", 200) or first[:80]
    return PromptCommand(
        name=name,
        help=tr("{help} (user)", help=described)
        if folder.is_users
        else tr("{help} (project)", help=described),
        argument=document.fact("argument-hint", 60),
        prompt=lambda argument: write_prompt(name, document.body, argument),
    )


def _files(folder: Folder) -> Iterator[Path]:
    if folder.path.is_symlink() and not folder.is_users:
        return
    found = 0
    for parent, directories, names in os.walk(folder.path, followlinks=False):
        directories.sort()
        for name in sorted(names):
            if name.endswith(".md") and not name.startswith(".") and name != "README.md":
                found += 1
                if found > MAX_COMMANDS:
                    return
                yield Path(parent, name)


def _words(argument: str) -> list[str]:
    try:
        return shlex.split(argument)
    except ValueError:  # a quotation mark of the text's own
        return argument.split()
