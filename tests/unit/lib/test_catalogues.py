"""Everything that persons read is said in every language."""

import ast
import fnmatch
import gettext
import re
from functools import cache

import pytest

from agent_cli.lib.language import LANGUAGES, SOURCE
from tests.kit import catalogues, wording
from tests.kit.catalogues import place, translated

said = cache(catalogues.said)
OTHERS = [language for language in LANGUAGES if language != SOURCE]
PLACEHOLDER = re.compile(r"\{[a-z_][\w.\[\]]*(?:![rsa])?(?::[^{}]*)?\}|%\(\w+\)[sr]|%[sr]")
NOT_SAID = {
    "cli.py: agent*{}?": "a name and a value",
    "folder.py: agent setup": "a command",
    "commands/mcp.py: /mcp {} NAME": "a command",
    "frontends/acp/diffs.py: *No newline at end of file": "a diff has these words",
    "frontends/acp/json_lines.py": "the protocol has these words",
    "frontends/acp/prompts.py": "a model reads it",
    "frontends/acp/start.py: listening to the editor failed": "for the log",
    "frontends/repl/completing.py: reading file names failed": "for the log",
    "frontends/repl/live_stage.py: the * failed": "for the log",
    "frontends/repl/live_stage.py: the prompt could not be drawn": "for the log",
    "frontends/repl/live_stage.py: noinherit *": "a style",
    "frontends/repl/start.py: agent: {}?": "a name and a value",
    "frontends/headless/structured.py": "a model reads it",
    "frontends/shared/keys.py: escape escape": "keys",
    "frontends/tui/app.py: sessions {}": "a command",
    "frontends/tui/highlight.py": "names of languages",
    "frontends/tui/palette.py: not bold": "a style",
    "frontends/tui/setting_up.py: agent setup": "a command",
    "frontends/web/request_guard.py": "what a browser reads",
    "frontends/web/server.py: a page could not be drawn": "for the log",
    "doctor/program_checks.py: agent {}": "a name and a value",
    "doctor/model_checks.py: Reply with: ok": "a model reads it",
    "setup/setup_service.py": "a model reads it",
    "setup/setup_flow.py: provider {}": "an id",
    "setup/setup_flow.py: local {} {}": "an id",
    "setup/local_servers.py: LM Studio": "a name",
    "subcommands/completions.py": "what a shell reads",
    "subcommands/check.py: the line cannot be read: {}": "JSON for programs",
}
"""Prose that has no translation, by file and text, and why."""


def listed(found: object) -> str:
    return "\n".join(sorted(map(str, found)))  # type: ignore[call-overload]


def forms(text: object) -> tuple[str, ...]:
    return text if isinstance(text, tuple) else (str(text),)


def placeholders(text: object) -> set[str]:
    return {found for form in forms(text) for found in PLACEHOLDER.findall(form)}


# ── the catalogues ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", OTHERS)
def test_everything_is_translated(language: str) -> None:
    known = translated(language)
    missing = []
    for message in said():
        held = known.get(message.id) if message.id else None
        if message.id and (held is None or held.fuzzy or not all(forms(held.string or ""))):
            missing.append(f"{message.locations[0][0]}: {message.id!r}")
    assert not missing, f"say it in {place(language)}:\n{listed(missing)}"


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_same_places_for_values(language: str) -> None:
    wrong = [
        f"{message.id!r}: {message.string!r}"
        for message in translated(language)
        if message.id
        for form in forms(message.string or "")
        if form and placeholders(form) != placeholders(message.id)
    ]
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_catalogue_says_what_the_written_one_says(language: str) -> None:
    with place(language, "mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    stale = []
    for message in translated(language):
        if message.id and all(forms(message.string or "")):
            one, *more = forms(message.id)
            heard = compiled.ngettext(one, more[0], 2) if more else compiled.gettext(one)
            if heard != forms(message.string)[-1]:
                stale.append(repr(message.id))
    assert not stale, f"make catalogues\n{listed(stale)}"


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_translated_that_is_no_longer_said(language: str) -> None:
    now = {message.id for message in said()}
    assert not [message.id for message in translated(language) if message.id not in now]


def test_the_catalogues_find_what_is_said_and_nothing_else() -> None:
    """Babel looks neither into f-strings nor at what a string is an argument of."""
    described = {sentence for _, sentence in catalogues.described_tools()}
    found, meant = {each.id for each in said() if each.id} - described, wording.spoken()
    assert not [str(spot) for text, spot in meant.items() if text not in found]
    assert not [text for text in found if text not in meant]


# ── how it is said ────────────────────────────────────────────────────────────────────────────────


def test_texts_are_written_where_they_are_said() -> None:
    """Only a marked constant can be said by its name."""
    wrong = []
    for file, call in wording.calls("tr", "trn", "mark"):
        if file == "safety/reasons.py":  # says what reason_texts.py has marked
            continue
        speaker = ast.unparse(call.func)
        texts = call.args[: 2 if speaker == "trn" else 1]
        for text in texts:
            is_literal = isinstance(text, ast.Constant) and isinstance(text.value, str)
            if not is_literal and (speaker != "tr" or not is_marked(file, text)):
                wrong.append(f"{file}:{call.lineno}: {ast.unparse(call)}")
    assert not wrong, listed(wrong)


def is_marked(file: str, text: ast.expr) -> bool:
    """Whether it may be a marked constant: a name whose value in this module is marked."""
    if isinstance(text, ast.BoolOp):  # one of these
        return all(is_marked(file, each) for each in text.values)
    if isinstance(text, ast.Call):  # TABLE.get(…), mark(…), or what a function gives back
        text = text.func.value if ast.unparse(text.func).endswith(".get") else text.func  # type: ignore[attr-defined]
    name = text.value if isinstance(text, ast.Subscript) else text
    if not isinstance(name, ast.Name):
        return isinstance(name, ast.Attribute)
    for node in wording.modules()[file].body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name.id for each in targets):
            return "mark(" in ast.unparse(node)
    return True


def test_every_place_for_a_value_gets_one_and_no_value_is_lost() -> None:
    wrong = []
    for file, call in wording.calls("tr", "trn"):
        given = {each.arg for each in call.keywords}
        if None in given or not isinstance(call.args[0], ast.Constant):
            continue
        speaker = ast.unparse(call.func)
        texts = [str(each.value) for each in call.args[:2] if isinstance(each, ast.Constant)]
        fields = set().union(*(wording.fields(text) for text in texts))
        given |= {"n"} if speaker == "trn" else set()
        is_plain = speaker == "tr" and not given  # its braces are only braces
        if not is_plain and fields != given:
            wrong.append(f"{file}:{call.lineno}: {ast.unparse(call)}")
        if is_plain and placeholders(texts[0]) and "%" not in texts[0]:
            wrong.append(f"{file}:{call.lineno}: {ast.unparse(call)}")
    assert not wrong, listed(wrong)


def test_nothing_is_said_before_the_language_is_known() -> None:
    early = [
        f"{file}:{call.lineno}: {ast.unparse(call)}"
        for file, tree in wording.modules().items()
        for call in wording.at_import(tree)
        if ast.unparse(call.func) in ("tr", "trn")
    ]
    assert not early, f"mark it there, and say it where it is shown:\n{listed(early)}"


# ── what is not said ──────────────────────────────────────────────────────────────────────────────


def test_errors_and_results_speak_the_persons_language() -> None:
    assert not listed(wording.bare_messages())


def test_persons_read_nothing_that_has_no_translation() -> None:
    bare = [found for found in wording.bare_words() if not is_excepted(found)]
    assert not bare, listed(bare)


def test_every_exception_is_needed() -> None:
    found = list(wording.bare_words())
    unused = [each for each in NOT_SAID if not any(fits(each, spot) for spot in found)]
    assert not unused, listed(unused)


def is_excepted(found: wording.Place) -> bool:
    return any(fits(each, found) for each in NOT_SAID)


def fits(exception: str, found: wording.Place) -> bool:
    file, _, text = exception.partition(": ")
    return fnmatch.fnmatchcase(found.file, file) and fnmatch.fnmatchcase(found.text, text or "*")
