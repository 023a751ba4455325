"""The catalogues of what the program says: `python -m tests.kit.catalogues` brings them up to date.

Babel finds what is said in the source; what is new in a catalogue waits there for its translation,
what is no longer said is left out, and the rest is compiled.
"""

from collections.abc import Iterator
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from agent_cli.core.tool import Description
from agent_cli.lib.language import LANGUAGES, SOURCE
from tests.kit.program import ROOT

PACKAGE = ROOT / "agent_cli"
SPEAKERS = {"tr": None, "trn": (1, 2), "mark": None, "mark_plural": (1, 2)}


def said() -> Catalog:
    """Everything the program can say."""
    catalogue = Catalog(charset="utf-8")
    found = extract_from_dir(
        str(PACKAGE),
        [("**.py", "python")],
        {},
        SPEAKERS,
        directory_filter=lambda _directory: True,  # by itself it passes over names like _shell
    )
    for name, _, message, _, _ in found:
        catalogue.add(message, locations=[(f"agent_cli/{name}", 0)])
    for name, sentence in described_tools():
        catalogue.add(sentence, locations=[(name, 0)])
    return catalogue


def described_tools() -> Iterator[tuple[str, str]]:
    """Where each tool of ours is described, and the sentence that /tools shows."""
    for folder in ("tools", "extensions"):
        for path in sorted((PACKAGE / folder).rglob("*.md")):
            description = Description.beside(str(path))
            yield str(path.relative_to(ROOT)), description.first_sentence


def place(language: str, suffix: str = "po") -> Path:
    """Where a catalogue lies."""
    return PACKAGE / "locale" / language / "LC_MESSAGES" / f"agent.{suffix}"


def translated(language: str) -> Catalog:
    """A catalogue as it was written."""
    with place(language).open("rb") as file:
        return read_po(file, locale=language)


def update(language: str) -> int:
    """Bring a catalogue up to date; how many texts have no translation."""
    kept = translated(language) if place(language).exists() else Catalog(locale=language)
    now = Catalog(
        locale=language,
        header_comment="# What agent says, and how it says it in this language: make catalogues",
        project="agent",
        version="1",
        msgid_bugs_address="the issue tracker",
        last_translator="the contributors of agent",
        language_team="the contributors of agent",
        charset="utf-8",
        creation_date=kept.creation_date,  # no new date where nothing changed
        revision_date=kept.creation_date,
        fuzzy=False,
    )
    for message in sorted(said(), key=lambda each: (sorted(each.locations), str(each.id))):
        if message.id:
            known = kept.get(message.id)
            now.add(message.id, known.string if known else None, locations=message.locations)
    place(language).parent.mkdir(parents=True, exist_ok=True)
    with place(language).open("wb") as file:
        write_po(file, now, width=100, include_lineno=False)
    with place(language, "mo").open("wb") as file:
        write_mo(file, now)
    return sum(not each.string or not all(each.string) for each in now if each.id)


def main() -> None:
    for language in LANGUAGES:
        if language != SOURCE:
            print(f"{language}: {update(language)} texts without a translation")


if __name__ == "__main__":
    main()
