"""Argument rules that a list of options cannot express."""

import posixpath
import re
from pathlib import PurePosixPath

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell import awk_rules, find_rules, git_rules, jq_rules, sed_rules, table
from agent_cli.safety.shell.checks import Check, Context, Where, asks_version, exact, operands
from agent_cli.safety.shell.globs import literal
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.shell_facts import absolute, inside, lexical
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import UNKNOWN, Word

MAX_SLEEP_S = 60


def check_echo(spec: Spec, words: list[Word], context: Context) -> None:
    for word in words:
        if word.pattern is not None or word.splits:
            context.look(word, context.where, content=False)


_COUNTS = re.compile(r"%[-#0 +'0-9.*hjlLqtz]*n")


def check_lookup(spec: Spec, words: list[Word], context: Context) -> None:
    """A name that is a path is looked for on the disk."""
    for word in read(spec, words).operands:
        if "/" in word.text or word.pattern is not None:
            context.look(word, context.where, content=False)


def check_printf(spec: Spec, words: list[Word], context: Context) -> None:
    if words and words[0].text == "--":
        words = words[1:]
    if not words:
        raise Refused(because("missing_argument"))
    exact(words[:1])
    form = words[0].text
    if form.startswith("-"):
        raise Refused(because("sets_variable"))
    if _COUNTS.search(form.replace("%%", "")):
        raise Refused(because("sets_variable"))
    check_echo(spec, words[1:], context)


def check_seq(spec: Spec, words: list[Word], context: Context) -> None:
    # A negative number is not an option.
    plain = [word for word in words if not re.fullmatch(r"-?[0-9.]{1,7}", word.text)]
    if read(spec, plain).operands:
        raise Refused(because("runs_long"))


def check_date(spec: Spec, words: list[Word], context: Context) -> None:
    for word in read(spec, words).operands:
        if not word.text.startswith("+"):
            raise Refused(because("sets_clock", word=word.text))


def check_sleep(spec: Spec, words: list[Word], context: Context) -> None:
    for text in exact(read(spec, words).operands):
        found = re.fullmatch(r"([0-9]{1,6}(\.[0-9]+)?)s?", text)
        if not found or float(found.group(1)) > MAX_SLEEP_S:
            raise Refused(because("runs_long"))


def check_expr(spec: Spec, words: list[Word], context: Context) -> None:
    for text in exact(words):
        if text.startswith("--"):
            raise Refused(because("not_known_safe", what=text))


_LISTED = re.compile(
    r"(?:[0-9a-fA-F]+[ \t]+[ *]?|[A-Z0-9-]+ ?\()(?P<name>.+?)(?:\) = [0-9a-fA-F]+)?"
)


def check_checksum(spec: Spec, words: list[Word], context: Context) -> None:
    """With -c it opens whatever the list names."""
    for word in words:
        if word.may_be_option:
            raise Refused(because("file_as_option", word=word.text))
        if word.splits or word.text[:1] == UNKNOWN:
            raise Refused(because("runtime_value"))
    parsed = read(spec, words)
    operands(spec, parsed, context)
    if not parsed.has(frozenset({"-c", "--check"})) or context.place.read_list is None:
        return
    for name in exact(parsed.operands) or ["-"]:
        for cwd in context.where:
            text = context.place.read_list(context.place.resolve(absolute(name, cwd)))
            for line in ("",) if text is None else filter(str.strip, text.splitlines()):
                found = _LISTED.fullmatch(line.strip())
                if found is None or line.startswith("\\"):
                    raise Refused(because("list_unclear", path=name))
                listed = found["name"]
                context.look(Word(listed, listed), context.where, content=True)


def check_strings(spec: Spec, words: list[Word], context: Context) -> None:
    if any(word.text.startswith("@") for word in words):
        raise Refused(because("options_from_file"))
    operands(spec, read(spec, words), context)


XXD_FLAGS = names("-a -b -e -E -i -p -ps -u")
XXD = Spec(operands="paths", most=1)


def check_xxd(spec: Spec, words: list[Word], context: Context) -> None:
    """It knows no clusters: `-ps` is one option, and a second operand would be written."""
    rest: list[Word] = []
    texts = iter(exact(words))
    for text in texts:
        if text in XXD_FLAGS or re.fullmatch(r"-[cglos][0-9]+", text):
            continue
        if text in {"-c", "-g", "-l", "-o", "-s"}:
            if not re.fullmatch(r"[-+]?(0x[0-9a-fA-F]+|[0-9]+)", next(texts, "")):
                raise Refused(because("missing_value", option=text))
        elif text.startswith("-") and text != "-":
            raise Refused(because("not_known_safe", what=text))
        else:
            rest.append(Word(text, text))
    operands(XXD, read(XXD, rest), context)


def check_tail(spec: Spec, words: list[Word], context: Context) -> None:
    if any(word.is_unknown for word in words):
        context.doubt(because("reads_unknown"))
    parsed = read(spec, words)
    if any(re.match(r"\+[0-9]*[bcl]?f", word.text) for word in parsed.operands):
        raise Refused(because("runs_long"))
    operands(spec, parsed, context)


def check_diff(spec: Spec, words: list[Word], context: Context) -> None:
    """It reads what links in a directory lead to, unless it is told not to."""
    parsed = read(spec, words)
    exact(parsed.operands)
    if not parsed.has(frozenset({"--no-dereference"})):
        for word in parsed.operands:
            for cwd in context.where:
                if context.place.has_links(context.place.resolve(absolute(word.text, cwd))):
                    raise Refused(because("link_within", path=word.text))
    operands(spec, parsed, context)


def check_unzip(spec: Spec, words: list[Word], context: Context) -> None:
    parsed = read(spec, words)
    if not parsed.has(frozenset({"-l"})):
        raise Refused(because("extracts_files"))
    operands(spec, parsed, context)


UNARY = names("-a -b -c -d -e -f -g -h -k -L -n -N -O -G -p -r -s -S -u -w -x -z")
BINARY = names("= == != < > -nt -ot -ef")
NUMERIC = names("-eq -ne -lt -le -gt -ge")


def check_test(spec: Spec, words: list[Word], context: Context) -> None:
    """`test` and `[`: -v, -R and -o would evaluate the name they are given."""
    for word in words:
        if word.pattern is not None or word.splits:
            raise Refused(because("test_unclear"))
    if words and words[-1].text == "]":
        words = words[:-1]
    while words and words[0].text == "!":
        words = words[1:]
    if len(words) > 3:
        exact(words)
    start = 0
    # Between tests -a and -o join them; at the start of one they test a file or an option.
    joints = [i for i, word in enumerate(words) if word.text in {"-a", "-o"}] if words[3:] else []
    for index in [*joints, len(words)]:
        if index < start or (index == start and index < len(words)):
            raise Refused(because("test_unclear"))
        _one_test(words[start:index], context)
        start = index + 1


def _one_test(words: list[Word], context: Context) -> None:
    while words and words[0].text == "!":
        words = words[1:]
    texts = [word.text for word in words]
    match texts:
        case [] | [_]:
            if texts and texts[0].startswith("-"):
                raise Refused(because("test_unclear"))
        case [operator, operand] if operator in UNARY and not operand.startswith("-"):
            if operator not in {"-n", "-z"}:
                context.look(words[1], context.where, content=False)
        case [left, operator, right] if operator in BINARY:
            if left.startswith("-") or right.startswith("-") or left in {"(", "!"}:
                raise Refused(because("test_unclear"))
            if operator.startswith("-"):
                context.look(words[0], context.where, content=False)
                context.look(words[2], context.where, content=False)
        case [left, operator, right] if operator in NUMERIC:
            if not (re.fullmatch(r"-?[0-9]+", left) and re.fullmatch(r"-?[0-9]+", right)):
                raise Refused(because("test_unclear"))
        case _:
            raise Refused(because("test_unclear"))


def check_double_bracket(spec: Spec, words: list[Word], context: Context) -> None:
    """`[[ -f name ]]` only: its other forms evaluate their words."""
    match [word.text for word in words]:
        case [operator, operand, "]]"] if operator in UNARY:
            if words[1].pattern is not None or operand.startswith("-"):
                raise Refused(because("test_unclear"))
            if operator not in {"-n", "-z"}:
                context.look(words[1], context.where, content=False)
        case _:
            raise Refused(because("test_unclear"))


BSD_PS = re.compile(r"[aAcfhjlmprsuvwxTHLSN]+")
PS = Spec(
    options=dict.fromkeys(names("-e -A -a -d -f -F -j -l -L -T -w -H -x -y -c -N --forest"), "")
    | dict.fromkeys(
        names("-o -O -p -u -U -g -G -C -t -q --sort --format --pid --ppid --user --cols"), "="
    )
    | dict.fromkeys(names("--no-headers --no-heading --headers --version --help"), ""),
)


def check_ps(spec: Spec, words: list[Word], context: Context) -> None:
    """Without a dash, an `e` would show the environment of processes."""
    texts = exact(words)
    if texts and BSD_PS.fullmatch(texts[0]):
        words = words[1:]
    parsed = read(PS, words)
    if any(value is not None and "env" in value.text.lower() for _, value in parsed.options):
        raise Refused(because("shows_variables"))
    operands(PS, parsed, context)


def check_tar(spec: Spec, words: list[Word], context: Context) -> None:
    texts = exact(words)
    if asks_version(words):
        return
    if len(texts) < 2 or not re.fullmatch(r"-?[tvzjJ]*f|[tvzjJ]*f[tvzjJ]*", texts[0]):
        raise Refused(because("only_lists"))
    if texts[0].count("t") != 1 or texts[0].count("f") != 1:
        raise Refused(because("only_lists"))
    if ":" in texts[1]:
        raise Refused(because("remote_archive"))
    if any(text.startswith("-") for text in texts[1:]):
        raise Refused(because("only_lists"))
    context.look(words[1], context.where, content=True)


def check_cd(spec: Spec, words: list[Word], context: Context) -> Where:
    texts = exact(words)
    if texts[:1] == ["--"]:
        texts = texts[1:]
    if len(texts) != 1 or texts[0].startswith("-") or not texts[0]:
        raise Refused(because("unknown_destination"))
    moved = set()
    for cwd in context.where:
        path = absolute(texts[0], cwd)
        real = context.place.resolve(path)
        if not inside(real, context.place.roots):
            raise Refused(because("outside_workspace", path=texts[0]))
        if real != lexical(path):
            raise Refused(because("link_on_path", path=texts[0]))
        moved.add(real)
    return frozenset(moved)


def check_set_options(spec: Spec, words: list[Word], context: Context) -> None:
    texts = exact(words)
    if not texts:
        raise Refused(because("shows_variables"))
    while texts:
        if texts[0] in {"-o", "+o"} and texts[1:2] == ["pipefail"]:
            texts = texts[2:]
        elif re.fullmatch(r"[-+][eux]+", texts[0]):
            texts = texts[1:]
        elif re.fullmatch(r"[-+][eux]*o", texts[0]) and texts[1:2] == ["pipefail"]:
            texts = texts[2:]
        else:
            raise Refused(because("changes_shell", text=texts[0]))


def check_version(name: str, context: Context) -> None:
    """Some programs let a file of the project choose which program answers."""
    for file in table.version_choosers().get(name, ()):
        for cwd in context.where:
            for directory in (cwd, *map(str, PurePosixPath(cwd).parents)):
                if context.place.expand(posixpath.join(literal(directory), file)) != ():
                    raise Refused(
                        because("picks_program", file=file, directory=directory, name=name)
                    )


def check_pip(spec: Spec, words: list[Word], context: Context) -> None:
    """Only what looks at installed packages, and asks no server about them."""
    _subcommand(spec, words, names("list show freeze check"))


def check_npm(spec: Spec, words: list[Word], context: Context) -> None:
    """Only what lists installed packages."""
    _subcommand(spec, words, names("ls list ll la root prefix bin"))


def _subcommand(spec: Spec, words: list[Word], known: frozenset[str]) -> None:
    texts = exact(words)
    if not texts or texts[0] not in known:
        raise Refused(because("not_known_safe", what=" ".join(texts[:1])))
    for text in exact(read(spec, words[1:]).operands):
        if not re.fullmatch(r"[A-Za-z0-9@][A-Za-z0-9@._/-]*", text):
            raise Refused(because("not_known_safe", what=text))


CHECKS: dict[str, Check] = {
    "echo": check_echo,
    "lookup": check_lookup,
    "printf": check_printf,
    "seq": check_seq,
    "date": check_date,
    "sleep": check_sleep,
    "expr": check_expr,
    "checksum": check_checksum,
    "strings": check_strings,
    "xxd": check_xxd,
    "tail": check_tail,
    "diff": check_diff,
    "unzip": check_unzip,
    "test": check_test,
    "double_bracket": check_double_bracket,
    "find": find_rules.check,
    "sed": sed_rules.check,
    "awk": awk_rules.check,
    "jq": jq_rules.check,
    "ps": check_ps,
    "pip": check_pip,
    "npm": check_npm,
    "tar": check_tar,
    "cd": check_cd,
    "set_options": check_set_options,
    "git": git_rules.check,
}
