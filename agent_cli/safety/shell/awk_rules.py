"""Which awk programs only print what they read."""

import re

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell.checks import Context, asks_version, exact, operands
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import Word

AWK = Spec(options={"-F": "=", "-v": "="}, operands="pattern", least=1)
_FIELD = r"\$(?:[0-9]+|NF)"
_PRINT = re.compile(rf" *\{{ *print(?: +{_FIELD}(?: *,? *{_FIELD})*)? *\}} *")
# All else that is written in capitals shows the environment or opens other files.
CAPITALS = names("BEGIN END NR NF FNR FS OFS RS ORS FILENAME RSTART RLENGTH SUBSEP")
# awk writes and runs by these alone; where they stand is never asked, only whether they do.
_ACTS = re.compile(r"[|@]|system|getline|close|fflush|func|include|load|extension|dcgettext")


def check(spec: Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless the program can do no more than print what it reads."""
    if asks_version(words):
        return
    parsed = read(AWK, words)
    program, *files = exact(parsed.operands)
    if not _only_prints(program):
        raise Refused(because("program_unclear"))
    if not _PRINT.fullmatch(program) or any(option == "-v" for option, _ in parsed.options):
        context.doubt(because("only_confined", name="awk"))
    for option, value in parsed.options:
        text = value.text if value is not None else ""
        if option == "-v" and not re.fullmatch(r"[a-z][a-z0-9_]*=[^\\\x00]*", text):
            raise Refused(because("sets_variable"))
    if any("=" in name for name in files):
        raise Refused(because("sets_variable"))
    operands(AWK, parsed, context)


def _only_prints(program: str) -> bool:
    # Before the first brace there is no print, so a > there compares.
    _, brace, action = program.partition("{")
    if _ACTS.search(program.replace("||", "  ")) or ">" in brace + action:
        return False
    return set(re.findall(r"[A-Z_][A-Z0-9_]*", re.sub(r"[a-z]\w*", " ", program))) <= CAPITALS
