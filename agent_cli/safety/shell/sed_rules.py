"""Which sed scripts only print what they read, changed or not."""

import re

from agent_cli.safety.reasons import because
from agent_cli.safety.shell.checks import Context, asks_version, exact, operands
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import Word

SED = Spec(
    options=dict.fromkeys(
        ["-n", "-E", "-r", "-s", "-u", "--quiet", "--silent", "--regexp-extended"], ""
    )
    | {"-e": "=", "--expression": "="},
    operands="paths",
)
DELIMITERS = "/|#,:@!+~%_"


def check(spec: Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless the script cannot write, run or read anything by itself."""
    if asks_version(words):
        return
    parsed = read(SED, words)
    scripts = [value for _, value in parsed.options if value is not None]
    if not scripts:
        scripts, parsed.operands = parsed.operands[:1], parsed.operands[1:]
    if not scripts:
        raise Refused(because("missing_argument"))
    for script in exact(scripts):
        if not _SCRIPT.fullmatch(script):
            raise Refused(because("program_unclear"))
    operands(SED, parsed, context)


def _text(delimiter: str, *, regex: bool) -> str:
    """What may stand between two delimiters, so that every sed sees the same end of it.

    The delimiter stands in it only behind a backslash, and never in brackets, of which some
    implementations know and others do not.
    """
    end = re.escape(delimiter)
    escape = rf"\\[.*+?|(){{}}^$\[\]wsbWSBtn0-9&\"'{end}\\-]"
    if not regex:
        return rf"(?:[^{end}\\\n]|{escape})*"
    return rf"(?:[^{end}\\\n\[\]]|{escape}|\[\^?[^{end}\\\]\[\n]+\])+"


_ADDRESS = rf"(?:[0-9]+|\$|/{_text('/', regex=True)}/)"
_RANGE = rf"(?:{_ADDRESS}(?:,\+?{_ADDRESS})? *!? *)?"
_CHANGES = "|".join(
    f"s{re.escape(each)}{_text(each, regex=True)}{re.escape(each)}"
    f"{_text(each, regex=False)}{re.escape(each)}[gpiI0-9]*"
    for each in DELIMITERS
)
_ONE = rf"{_RANGE}(?:[p=dq]|{_CHANGES})"
_SCRIPT = re.compile(rf" *{_ONE} *(?:; *{_ONE} *)*;? *")
