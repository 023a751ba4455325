"""Which jq filters only rearrange what they read."""

import re

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell.checks import Context, asks_version, exact, operands
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.table import Spec
from agent_cli.safety.shell.words import Word

WORDS = names(
    "keys keys_unsorted values length map map_values select type sort sort_by group_by unique "
    "unique_by to_entries from_entries with_entries has in join split test contains inside "
    "startswith endswith tostring tonumber first last min max min_by max_by add any all "
    "flatten not empty if then elif else end and or true false null reverse index indices tojson "
    "fromjson ascii_downcase ascii_upcase ltrimstr rtrimstr trim ltrim rtrim floor ceil round sqrt "
    "csv tsv json text html base64 base64d uri sh paths leaf_paths del nth arrays objects strings "
    "numbers booleans scalars iterables nulls reduce foreach as sub gsub match capture scan splits "
    "explode implode transpose walk path getpath setpath delpaths error try catch limit "
    "todate fromdate now strftime strptime mktime gmtime abs isnan isinfinite ascii tojson "
    "utf8bytelength toarray pick"
)
_ENV = re.compile(r"\$\s*(?:ENV\b|__)")
_ARGUMENT = names("--arg --argjson")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_KEY = re.compile(r"\s*[,:}]")


def check(spec: Spec, words: list[Word], context: Context) -> None:
    """Raise Refused unless the filter knows nothing but the data of the named files."""
    if asks_version(words):
        return
    parsed = read(spec, _without_arguments(words))
    program = exact(parsed.operands[:1])[0]
    code = _code(program)
    if "\\" in code or "#" in code or _ENV.search(code):
        raise Refused(because("program_unclear"))
    unknown = next((name for name in _names(code) if name not in WORDS), None)
    if unknown or re.search(r"\.\s+[A-Za-z_]|[.\d]\.[A-Za-z_]", code):
        raise Refused(
            because("not_known_safe", what=unknown) if unknown else because("program_unclear")
        )
    operands(spec, parsed, context)


def _without_arguments(words: list[Word]) -> list[Word]:
    """The words without `--arg name value`, which only gives a text a name."""
    if any(word.text == "--" for word in words):
        return words
    rest, kept = list(words), []
    while rest:
        word = rest.pop(0)
        if word.text not in _ARGUMENT:
            kept.append(word)
        elif len(exact(rest[:2])) == 2 and rest[0].text.isidentifier():
            del rest[:2]
        else:
            raise Refused(because("missing_value", option=word.text))
    return kept


def _code(program: str) -> str:
    """The filter with the texts taken out of it, but not what is calculated inside of them."""
    code: list[str] = []
    open_: list[str] = []
    """Brackets still to be closed; `"` stands for a text around what is calculated."""
    at, in_text = 0, False
    while at < len(program):
        char = program[at]
        at += 1
        if in_text:
            if char == "\\" and program[at : at + 1] == "(":
                open_ += ['"', "("]
                code.append(" (")
                in_text = False
            elif char == "\\" and program[at : at + 1] not in '"\\/bfnrtu':
                raise Refused(because("program_unclear"))
            elif char == '"':
                in_text = False
            at += char == "\\"
            continue
        if char == '"':
            in_text = True
            code.append('""')
        elif char in _CLOSES:
            open_.append(char)
            code.append(char)
        elif char in ")]}":
            if not open_ or _CLOSES.get(open_.pop()) != char:
                raise Refused(because("program_unclear"))
            code.append(char)
            if open_[-1:] == ['"']:
                open_.pop()
                in_text = True
        else:
            code.append(char)
    if in_text or open_:
        raise Refused(because("program_unclear"))
    return "".join(code)


def _names(code: str) -> list[str]:
    """Every name but for keys of the data (`.name`, `{name}`, `{name: …}`) and variables."""
    found: list[str] = []
    open_: list[str] = []
    before = ""
    at = 0
    while at < len(code):
        name = re.compile(r"[A-Za-z_]\w*").match(code, at)
        if name is None:
            char = code[at]
            if char in _CLOSES:
                open_.append(char)
            elif char in ")]}":
                open_.pop()
            before = before if char.isspace() else char
            at += 1
            continue
        at = name.end()
        is_key = open_[-1:] == ["{"] and before in {"{", ","} and _KEY.match(code, at)
        if not is_key and before not in {".", "$"}:
            found.append(name[0])
        before = "name"
    return found
