"""Speaking, and which language is spoken."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages import Catalog
from babel.messages.mofile import write_mo

from agent_cli.lib import language
from agent_cli.lib.language import choose_language, current_language, mark, tr, trn, use

TEXT = mark("{path} is not a directory.")


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    use("en")


@pytest.fixture
def chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of a few texts, so that no translator's change breaks these tests."""
    words = Catalog(locale="zh")
    words.add(TEXT, "{path} 不是目录。")
    words.add("because {reason}", "因为{reason}")
    words.add(("{n} file", "{n} files"), ("{n} 个文件",))
    file = tmp_path / "zh" / "LC_MESSAGES" / "agent.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as written:
        write_mo(written, words)
    monkeypatch.setattr(language, "_LOCALE", str(tmp_path))
    use("zh")


def test_english_is_said_as_it_is_written() -> None:
    assert tr(TEXT, path="/x") == "/x is not a directory."
    assert (trn("{n} file", "{n} files", 1), trn("{n} file", "{n} files", 2)) == (
        "1 file",
        "2 files",
    )
    assert trn("{n:,} of {all}", "{n:,} of {all}", 1000, all="them") == "1,000 of them"
    assert mark("a") == "a"


def test_without_values_braces_are_only_braces() -> None:
    assert tr('{"id", "command"}') == '{"id", "command"}'


@pytest.mark.usefixtures("chinese")
def test_another_language_is_said_with_the_same_values() -> None:
    assert tr(TEXT, path="/x") == "/x 不是目录。"
    assert (trn("{n} file", "{n} files", 1), trn("{n} file", "{n} files", 2)) == (
        "1 个文件",
        "2 个文件",
    )
    assert tr('{"id", "command"}') == '{"id", "command"}'
    assert tr("") == ""


@pytest.mark.usefixtures("chinese")
def test_what_has_no_translation_is_said_in_english() -> None:
    assert tr("nobody has translated {this}", this="it") == "nobody has translated it"


def test_the_catalogue_that_is_shipped_can_be_read() -> None:
    use("zh")
    assert current_language() == "zh"
    assert tr("Interrupted") != ""


@pytest.mark.parametrize("unknown", ["xx", "", "../zh", "ZH"])
def test_a_language_that_is_not_spoken_is_english(unknown: str) -> None:
    use(unknown)
    assert current_language() == "en"
    assert tr(TEXT, path=1) == "1 is not a directory."


@pytest.mark.parametrize(
    ("wished", "environment", "expected"),
    [
        ("auto", {}, "en"),
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LANG": "zh_TW"}, "zh"),
        ("auto", {"LANG": "zh.UTF-8"}, "zh"),
        ("auto", {"LANG": "C.UTF-8"}, "en"),
        ("auto", {"LANG": "POSIX"}, "en"),
        ("auto", {"LANG": "de_DE.UTF-8"}, "en"),
        ("auto", {"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LC_ALL": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB", "LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LC_ALL": "", "LC_MESSAGES": "zh_CN", "LANG": "en_US.UTF-8"}, "zh"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("zh", {"LC_ALL": "en_US.UTF-8"}, "zh"),
        ("klingon", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("klingon", {}, "en"),
    ],
)
def test_the_setting_counts_before_the_locale(
    wished: str, environment: dict[str, str], expected: str
) -> None:
    assert choose_language(wished, environment) == expected
