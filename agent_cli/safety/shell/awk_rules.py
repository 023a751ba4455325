"""Which awk programs only print what they read: those that print fields, and no others."""

import re

from agent_cli.safety.reasons import because
from agent_cli.safety.shell.checks import Context, asks_version, exact, operands
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import Word

AWK = Spec(options={"-F": "="}, operands="pattern", least=1)
_FIELD = r"\$(?:[0-9]+|NF)"
_PRINT = re.compile(rf" *\{{ *print(?: +{_FIELD}(?: *,? *{_FIELD})*)? *\}} *")


def check(spec: Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless the program prints fields."""
    if asks_version(words):
        return
    parsed = read(AWK, words)
    program, *files = exact(parsed.operands)
    if not _PRINT.fullmatch(program):
        raise Refused(because("program_unclear"))
    if any("=" in name for name in files):
        raise Refused(because("sets_variable"))
    operands(AWK, parsed, context)
