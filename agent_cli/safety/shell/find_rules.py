"""Which uses of find only look."""

import re

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell.checks import Context, exact
from agent_cli.safety.shell.options import Refused
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import UNKNOWN, Word

FIND_FLAGS = names(
    "-print -print0 -ls -not -a -and -o -or ! ( ) , -true -false -empty -prune -depth -d "
    "-mount -xdev -daystart -noleaf -nouser -nogroup -readable -writable -executable -quit "
    "-ignore_readdir_race -nowarn -warn"
)
FIND_VALUES = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type "
    "-xtype -size -newermt -newerct -newerat -mtime -mmin -atime -amin -ctime -cmin -used "
    "-maxdepth -mindepth -perm "
    "-user -group -uid -gid -links -inum -regextype -printf -fstype"
)
FIND_FILES = names("-newer -anewer -cnewer -samefile")


def check(spec: Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless every test and action is known to only look."""
    if [word.text for word in words] in (["--version"], ["-version"]):
        return
    index = 0
    while index < len(words) and words[index].text in {"-P", "-H"}:
        index += 1
    first = index
    while index < len(words) and not re.match(r"-|[(),!]", words[index].text):
        if words[index].may_be_option:
            raise Refused(because("file_as_option", word=words[index].text))
        context.look(words[index], context.where, content=False)
        index += 1
    starts = [word.text for word in words[first:index]] or ["."]
    exact(words[index:])
    while index < len(words):
        text = words[index].text
        index += 1
        if text in FIND_FLAGS:
            continue
        if text == "-exec":
            index = _run(words, index, tuple(starts), context)
            continue
        if text not in FIND_VALUES and text not in FIND_FILES:
            raise Refused(because("not_known_safe", what=text))
        if index >= len(words):
            raise Refused(because("missing_value", option=text))
        if text in FIND_FILES:
            context.look(words[index], context.where, content=False)
        index += 1


def _run(words: list[Word], index: int, starts: tuple[str, ...], context: Context) -> int:
    """Prove the command that find runs on what it finds; returns where its arguments end."""
    end = next((i for i in range(index, len(words)) if words[i].text in {";", "+"}), None)
    if end is None or end == index:
        raise Refused(because("missing_argument"))
    if all(word.text != "{}" for word in words[index:end]):
        raise Refused(because("not_known_safe", what="-exec"))
    context.doubt(because("only_confined", name="find -exec"))
    found = f"{starts[0]}/{UNKNOWN}"
    exact(words[:index])
    many = words[end].text == "+"
    context.run(
        [
            Word(found, word.raw, splits=many, below=starts)
            if word.text == "{}"
            else Word(word.text.replace("{}", UNKNOWN), word.raw)
            for word in words[index:end]
        ]
    )
    return end + 1
