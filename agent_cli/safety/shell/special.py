"""Argument rules that a list of options cannot express."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent_cli.safety.shell.facts import Place, absolute, inside, lexical
from agent_cli.safety.shell.globs import may_select_secret
from agent_cli.safety.shell.lenient_words import braces
from agent_cli.safety.shell.names import names
from agent_cli.safety.shell.options import Parsed, Refused, read
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import Word

Where = frozenset[str]
LONGEST_SLEEP = 60


class Look(Protocol):
    """Notes that a path is read."""

    def __call__(self, word: Word, where: Where, *, content: bool) -> None: ...


@dataclass(frozen=True)
class Context:
    """What a check may know and whom it tells about files."""

    place: Place
    where: Where
    look: Look


Check = Callable[[Spec, list[Word], Context], Where | None]
"""Raises Refused; returns where the shell stands afterwards if that changes."""


def operands(spec: Spec, parsed: Parsed, context: Context) -> None:
    """Judge option values and operands by the table entry."""
    for name, value in parsed.options:
        kind = spec.options.get(name)
        if value is not None and kind == "=path":
            context.look(value, context.where, content=True)
        elif value is not None and kind == "=glob":
            _no_secrets(name, value.text, context)
    words = parsed.operands
    if spec.operands == "none":
        if words:
            raise Refused(f"{words[0].text} is not an argument it is known to take harmlessly")
    elif spec.operands == "text":
        for word in words:
            if word.pattern is not None:
                context.look(word, context.where, content=False)
    else:
        if spec.operands == "pattern" and not parsed.has(spec.patterns):
            if words and words[0].pattern is not None:
                raise Refused(f"the search pattern {words[0].text} depends on file names")
            words = words[1:]
        for word in words:
            if word.text != "-":
                context.look(word, context.where, content=not spec.metadata)


def _no_secrets(option: str, glob: str, context: Context) -> None:
    """A search that is told which names to look into may not be told secret ones."""
    if glob.startswith("!"):
        return
    secret = next(filter(None, map(may_select_secret, braces(glob))), None)
    if secret:
        context.look(Word(secret, secret), context.where, content=True)
        raise Refused(f"{option} {glob} makes it search {secret}")


def _exact(words: list[Word], what: str) -> list[str]:
    for word in words:
        if word.pattern is not None:
            raise Refused(f"{what} depends on file names ({word.text})")
    return [word.text for word in words]


def check_echo(spec: Spec, words: list[Word], context: Context) -> None:
    for word in words:
        if word.pattern is not None:
            context.look(word, context.where, content=False)


_COUNTS = re.compile(r"%[-#0 +'0-9.*hjlLqtz]*n")


def check_printf(spec: Spec, words: list[Word], context: Context) -> None:
    if words and words[0].text == "--":
        words = words[1:]
    if not words:
        raise Refused("printf without a format")
    _exact(words[:1], "the format")
    form = words[0].text
    if form.startswith("-"):
        raise Refused(f"option {form} may set a variable")
    if _COUNTS.search(form.replace("%%", "")):
        raise Refused("%n sets a variable")
    check_echo(spec, words[1:], context)


def check_seq(spec: Spec, words: list[Word], context: Context) -> None:
    # A negative number is not an option.
    plain = [word for word in words if not re.fullmatch(r"-?[0-9.]{1,7}", word.text)]
    if read(spec, plain).operands:
        raise Refused("only numbers of moderate size are known to end soon")


def check_date(spec: Spec, words: list[Word], context: Context) -> None:
    for word in read(spec, words).operands:
        if not word.text.startswith("+"):
            raise Refused(f"{word.text} would set the clock")


def check_sleep(spec: Spec, words: list[Word], context: Context) -> None:
    for text in _exact(read(spec, words).operands, "the time"):
        found = re.fullmatch(r"([0-9]{1,6}(\.[0-9]+)?)s?", text)
        if not found or float(found.group(1)) > LONGEST_SLEEP:
            raise Refused(f"{text} is a long wait")


def check_expr(spec: Spec, words: list[Word], context: Context) -> None:
    for text in _exact(words, "the expression"):
        if text.startswith("--"):
            raise Refused(f"option {text} is not known to be harmless")


def check_checksum(spec: Spec, words: list[Word], context: Context) -> None:
    if any(word.may_be_option for word in words):
        raise Refused("a file name could be taken for an option")
    operands(spec, read(spec, words), context)


def check_strings(spec: Spec, words: list[Word], context: Context) -> None:
    if any(word.text.startswith("@") for word in words):
        raise Refused("@ makes it take options from a file")
    operands(spec, read(spec, words), context)


XXD_FLAGS = names("-a -b -e -E -i -p -ps -u")
XXD = Spec(operands="paths", most=1)


def check_xxd(spec: Spec, words: list[Word], context: Context) -> None:
    """It knows no clusters: `-ps` is one option, and a second operand would be written."""
    rest: list[Word] = []
    texts = iter(_exact(words, "the arguments"))
    for text in texts:
        if text in XXD_FLAGS or re.fullmatch(r"-[cglos][0-9]+", text):
            continue
        if text in {"-c", "-g", "-l", "-o", "-s"}:
            if not re.fullmatch(r"[-+]?(0x[0-9a-fA-F]+|[0-9]+)", next(texts, "")):
                raise Refused(f"{text} lacks its number")
        elif text.startswith("-") and text != "-":
            raise Refused(f"option {text} is not known to be harmless")
        else:
            rest.append(Word(text, text))
    operands(XXD, read(XXD, rest), context)


def check_tail(spec: Spec, words: list[Word], context: Context) -> None:
    parsed = read(spec, words)
    if any(re.match(r"\+[0-9]*[bcl]?f", word.text) for word in parsed.operands):
        raise Refused("an old spelling of -f: it would wait for more")
    operands(spec, parsed, context)


def check_unzip(spec: Spec, words: list[Word], context: Context) -> None:
    parsed = read(spec, words)
    if not parsed.has(frozenset({"-l"})):
        raise Refused("without -l it extracts files")
    operands(spec, parsed, context)


UNARY = names("-b -c -d -e -f -g -h -k -L -n -N -O -G -p -r -s -S -u -w -x -z")
BINARY = names("= == != -nt -ot -ef")
NUMERIC = names("-eq -ne -lt -le -gt -ge")


def check_test(spec: Spec, words: list[Word], context: Context) -> None:
    """`test` and `[`: -v and -R would evaluate the name they are given."""
    texts = _exact(words, "the test")
    if texts and texts[-1] == "]":
        texts, words = texts[:-1], words[:-1]
    start = 0
    for index in [*(i for i, text in enumerate(texts) if text in {"-a", "-o"}), len(texts)]:
        _one_test(words[start:index], context)
        start = index + 1


def _one_test(words: list[Word], context: Context) -> None:
    while words and words[0].text == "!":
        words = words[1:]
    texts = [word.text for word in words]
    match texts:
        case [] | [_]:
            if texts and texts[0].startswith("-"):
                raise Refused(f"{texts[0]} is not a simple test")
        case [operator, operand] if operator in UNARY and not operand.startswith("-"):
            if operator not in {"-n", "-z"}:
                context.look(words[1], context.where, content=False)
        case [left, operator, right] if operator in BINARY:
            if left.startswith("-") or right.startswith("-") or left in {"(", "!"}:
                raise Refused("the test is not simple")
            if operator.startswith("-"):
                context.look(words[0], context.where, content=False)
                context.look(words[2], context.where, content=False)
        case [left, operator, right] if operator in NUMERIC:
            if not (re.fullmatch(r"-?[0-9]+", left) and re.fullmatch(r"-?[0-9]+", right)):
                raise Refused("the numbers are not plain")
        case _:
            raise Refused("the test is not simple")


def check_double_bracket(spec: Spec, words: list[Word], context: Context) -> None:
    """`[[ -f name ]]` only: its other forms evaluate their words."""
    match [word.text for word in words]:
        case [operator, operand, "]]"] if operator in UNARY:
            if words[1].pattern is not None or operand.startswith("-"):
                raise Refused("the test is not simple")
            if operator not in {"-n", "-z"}:
                context.look(words[1], context.where, content=False)
        case _:
            raise Refused("only [[ -f name ]] and the like are known to be harmless")


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


def check_find(spec: Spec, words: list[Word], context: Context) -> None:
    if [word.text for word in words] in (["--version"], ["-version"]):
        return
    index = 0
    while index < len(words) and words[index].text in {"-P", "-H"}:
        index += 1
    while index < len(words) and not re.match(r"-|[(),!]", words[index].text):
        if words[index].may_be_option:
            raise Refused(f"a file that matches {words[index].text} could be taken for an action")
        context.look(words[index], context.where, content=False)
        index += 1
    if any(word.pattern is not None for word in words[index:]):
        raise Refused("an expression that depends on file names")
    while index < len(words):
        text = words[index].text
        index += 1
        if text in FIND_FLAGS:
            continue
        if text not in FIND_VALUES and text not in FIND_FILES:
            raise Refused(f"{text} is not known to be harmless")
        if index >= len(words):
            raise Refused(f"{text} lacks its value")
        if text in FIND_FILES:
            context.look(words[index], context.where, content=False)
        index += 1


# The regular expression may not contain its delimiter, so that the command letter is certain.
_SED_ADDRESS = r"(?:[0-9]+|\$|/(?:[^/\\\n\[\]]|\\[.*+?|(){}^$wsbWSB\"'-])+/)"
_SED_ONE = rf"(?:{_SED_ADDRESS}(?:,\+?{_SED_ADDRESS})?)[p=]"
_SED_PRINT = re.compile(rf"{_SED_ONE}(?:; *{_SED_ONE})*;?")
SED = Spec(
    options=dict.fromkeys(
        ["-n", "-E", "-r", "-s", "-u", "--quiet", "--silent", "--regexp-extended"], ""
    )
    | {"-e": "=", "--expression": "="},
    operands="paths",
)


def check_sed(spec: Spec, words: list[Word], context: Context) -> None:
    if [word.text for word in words] == ["--version"]:
        return
    parsed = read(SED, words)
    if not parsed.has(frozenset({"-n", "--quiet", "--silent"})):
        raise Refused("only `sed -n` with a print command is known to be harmless")
    scripts = [value for name, value in parsed.options if value is not None]
    if not scripts:
        scripts, parsed.operands = parsed.operands[:1], parsed.operands[1:]
    for script in _exact([each for each in scripts if each], "the script"):
        if not _SED_PRINT.fullmatch(script):
            raise Refused(f"the script {script} does more than print lines")
    operands(SED, parsed, context)


_FIELD = r"\$(?:[0-9]+|NF)"
_AWK_PRINT = re.compile(rf" *\{{ *print(?: +{_FIELD}(?: *,? *{_FIELD})*)? *\}} *")
AWK = Spec(options={"-F": "="}, operands="pattern", least=1)


def check_awk(spec: Spec, words: list[Word], context: Context) -> None:
    if [word.text for word in words] == ["--version"]:
        return
    parsed = read(AWK, words)
    program, *files = _exact(parsed.operands, "the program")
    if not _AWK_PRINT.fullmatch(program):
        raise Refused("the program does more than print fields")
    if any("=" in name for name in files):
        raise Refused("an argument sets a variable")
    operands(AWK, parsed, context)


JQ_WORDS = names(
    "keys keys_unsorted values length map map_values select type sort sort_by group_by unique "
    "unique_by to_entries from_entries with_entries has in join split test contains inside "
    "startswith endswith tostring tonumber first last min max min_by max_by add any all "
    "flatten not empty if then elif else end and or true false null reverse index tojson "
    "fromjson ascii_downcase ascii_upcase ltrimstr rtrimstr floor round csv tsv json text "
    "html base64 paths leaf_paths del nth arrays objects strings numbers booleans scalars"
)


def check_jq(spec: Spec, words: list[Word], context: Context) -> None:
    if [word.text for word in words] == ["--version"]:
        return
    parsed = read(spec, words)
    program = _exact(parsed.operands[:1], "the filter")[0]
    bare = re.sub(r'"(?:[^"\\]|\\["\\/bfnrt])*"', '""', program)
    if "\\" in bare or "$" in bare or "#" in bare:
        raise Refused("the filter is not simple")
    # A name right after a dot is a key of the data; every other one is a function.
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", bare)
    unknown = next((name for name in names if name not in JQ_WORDS), None)
    if unknown or re.search(r"\.\s+[A-Za-z_]|[.\d]\.[A-Za-z_]", bare):
        raise Refused(f"{unknown or 'the filter'} is not known to be harmless")
    operands(spec, parsed, context)


def check_tar(spec: Spec, words: list[Word], context: Context) -> None:
    texts = _exact(words, "the archive")
    if texts == ["--version"]:
        return
    if len(texts) < 2 or not re.fullmatch(r"-?[tvzjJ]*f|[tvzjJ]*f[tvzjJ]*", texts[0]):
        raise Refused("only listing an archive (tar tf) is known to be harmless")
    if texts[0].count("t") != 1 or texts[0].count("f") != 1:
        raise Refused("only listing an archive (tar tf) is known to be harmless")
    if ":" in texts[1]:
        raise Refused("a colon in the archive's name means another machine")
    if any(text.startswith("-") for text in texts[1:]):
        raise Refused("further options are not known to be harmless")
    context.look(words[1], context.where, content=True)


def check_cd(spec: Spec, words: list[Word], context: Context) -> Where:
    texts = _exact(words, "the directory")
    if texts[:1] == ["--"]:
        texts = texts[1:]
    if len(texts) != 1 or texts[0].startswith("-") or not texts[0]:
        raise Refused("where it leads is not known")
    moved = set()
    for cwd in context.where:
        path = absolute(texts[0], cwd)
        real = context.place.resolve(path)
        if not inside(real, context.place.roots):
            raise Refused(f"{texts[0]} is outside the workspace")
        if real != lexical(path):
            raise Refused(f"{texts[0]} leads through a link")
        moved.add(real)
    return frozenset(moved)


def check_set_options(spec: Spec, words: list[Word], context: Context) -> None:
    texts = _exact(words, "the option")
    if not texts:
        raise Refused("it shows every variable")
    while texts:
        if texts[0] in {"-o", "+o"} and texts[1:2] == ["pipefail"]:
            texts = texts[2:]
        elif re.fullmatch(r"[-+][eux]+", texts[0]):
            texts = texts[1:]
        elif re.fullmatch(r"[-+][eux]*o", texts[0]) and texts[1:2] == ["pipefail"]:
            texts = texts[2:]
        else:
            raise Refused(f"{texts[0]} changes how later commands are read")


def check_git(spec: Spec, words: list[Word], context: Context) -> None:
    from agent_cli.safety.shell.git_rules import check  # noqa: PLC0415  it builds on this module

    check(words, context)


CHECKS: dict[str, Check] = {
    "echo": check_echo,
    "printf": check_printf,
    "seq": check_seq,
    "date": check_date,
    "sleep": check_sleep,
    "expr": check_expr,
    "checksum": check_checksum,
    "strings": check_strings,
    "xxd": check_xxd,
    "tail": check_tail,
    "unzip": check_unzip,
    "test": check_test,
    "double_bracket": check_double_bracket,
    "find": check_find,
    "sed": check_sed,
    "awk": check_awk,
    "jq": check_jq,
    "tar": check_tar,
    "cd": check_cd,
    "set_options": check_set_options,
    "git": check_git,
}
