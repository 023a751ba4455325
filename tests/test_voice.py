"""No text of ours uses a word that docs/voice.md bans."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
BANNED = re.compile(
    r"\b(stands|shall|anew|all the same|goes on|go on with|takes? it back|took back|brings? it again"
    r"|the person|wherefrom|whereto|mend|mended|for want of|ever after|not any more)\b",
    re.IGNORECASE,
)
SPOKEN = {"tr", "trn", "mark"}
PAGES = [
    page
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "config.example.toml")
    if page.name not in ("voice.md", "glossary.md")
]


def spoken_texts() -> Iterator[tuple[str, str]]:
    """Each text that is said to a user, and where."""
    for file in sorted((ROOT / "agent_cli").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SPOKEN:
                for given in node.args:
                    if isinstance(given, ast.Constant) and isinstance(given.value, str):
                        yield f"{file.relative_to(ROOT)}:{given.lineno}", given.value


def test_no_text_for_users_has_a_banned_word() -> None:
    found = [f"{where}: {text}" for where, text in spoken_texts() if BANNED.search(text)]
    assert not found, "docs/voice.md has better words for:\n" + "\n".join(found)


def test_no_page_has_a_banned_word() -> None:
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
        for page in PAGES
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if BANNED.search(line)
    ]
    assert not found, "docs/voice.md has better words for:\n" + "\n".join(found)


def test_there_are_texts_to_look_at() -> None:
    assert sum(1 for _ in spoken_texts()) > 500
