"""Profiles in files: Markdown with a few settings at its head.

    ---
    description: Finds where something is done
    tools: Read, Grep, Glob
    model: openai/gpt-5-mini
    ---
    You search. Answer with files and lines.

A project's file may tighten what is allowed and never loosen it: of its settings those that would
are not taken, and it cannot stand in for a profile of the user's.
"""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from agent_cli.core.agents.agent_profile import BUILT_IN, Profile, Profiles
from agent_cli.core.policy import Mode
from agent_cli.lib.files import open_regular
from agent_cli.lib.language import mark, tr
from agent_cli.safety.redact import Redactor

MAX_FILES = 200
MAX_FILE_BYTES = 100_000
_HEAD = re.compile(r"\A---[ \t]*\n(?P<head>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
FROM_PROJECT = (Mode.PLAN, Mode.DEFAULT)
"""The modes that a project's profile may ask for."""


class _Head(BaseModel):
    """The settings at the head of a file."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    description: str = Field("", max_length=2_000)
    model: str = ""
    tools: tuple[str, ...] | None = None
    read_only: bool = False
    mode: Mode | None = None
    budget: float | None = Field(None, gt=0)
    role: str | None = None
    color: str = ""
    """Others' programs write it; it means nothing here."""

    @field_validator("tools", mode="before")
    @classmethod
    def _as_list(cls, value: object) -> object:
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list):
            return names
        names = [str(name).strip() for name in names if str(name).strip()]
        return None if names == ["all"] else names


@dataclass(frozen=True)
class ProfileFolders:
    """Where profiles are looked for."""

    user: Path
    project: Path | None
    """None: the folder is not trusted."""


def read_profiles(places: ProfileFolders, known_models: Collection[str] = ()) -> Profiles:
    """The built-in ones, the user's and the project's; what cannot be used is told.

    `known_models` are those the user has named: a project may choose among them.
    """
    found = {profile.name: profile for profile in BUILT_IN}
    problems: list[str] = []
    found |= {profile.name: profile for profile in _all_in(places.user, problems)}
    for profile in _all_in(places.project, problems) if places.project is not None else ():
        if profile.name in found:
            text = mark("Ignored the profile {path}: the name {name} is already in use.")
            problems.append(tr(text, path=profile.source, name=profile.name))
        else:
            found[profile.name] = _tighten(profile, known_models, problems)
    return Profiles(found, tuple(problems))


def _all_in(directory: Path, problems: list[str]) -> Iterator[Profile]:
    for path in _files(directory):
        try:
            yield _read(path)
        except (OSError, ValueError) as error:
            problems.append(tr("Ignored the profile {path}: {why}", path=path, why=_words(error)))


def _files(directory: Path) -> Iterator[Path]:
    try:
        files = sorted(path for path in directory.iterdir() if path.suffix == ".md")
    except OSError:
        return
    yield from files[:MAX_FILES]


def _read(path: Path) -> Profile:
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(tr("it is larger than {most:,} bytes", most=MAX_FILE_BYTES))
    text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    match = _HEAD.match(text)
    head = _Head.model_validate(_settings(match["head"]) if match else {})
    name = head.name or path.stem
    if not _NAME.fullmatch(name):
        raise ValueError(
            tr("{name!r} is not a valid name: use lowercase letters, digits, - and _", name=name)
        )
    return Profile(
        name=name,
        description=head.description,
        prompt=Redactor({}).redact((text[match.end() :] if match else text).strip()),
        model=head.model,
        tools="all" if head.tools is None else head.tools,
        read_only=head.read_only,
        mode=head.mode,
        budget=head.budget,
        role=head.role or name,
        source=str(path),
    )


def _settings(head: str) -> dict[str, object]:
    """Lines `key: value`, with lists as `[a, b]` or as lines `- a`: no more of YAML than that."""
    settings: dict[str, object] = {}
    key = ""
    for number, line in enumerate(head.splitlines(), 2):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("- ") and key and isinstance(settings[key] or [], list):
            settings[key] = [*(settings[key] or []), _unquote(stripped[2:])]  # type: ignore[misc]
            continue
        key, colon, value = stripped.partition(":")
        key = key.strip().replace("-", "_")
        if not colon or line[:1].isspace():
            raise ValueError(
                tr("cannot parse line {number}: {line}", number=number, line=stripped[:80])
            )
        settings[key] = _value(value.strip())
    if empty := [key for key, value in settings.items() if value == ""]:
        raise ValueError(tr("{setting} has no value", setting=empty[0]))
    return settings


def _value(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        return [_unquote(item) for item in text[1:-1].split(",") if item.strip()]
    return _unquote(text)


def _unquote(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _tighten(profile: Profile, known_models: Collection[str], problems: list[str]) -> Profile:
    """A project's profile without what would loosen or redirect."""
    mode, model = profile.mode, profile.model
    if mode is not None and mode not in FROM_PROJECT:
        text = mark(
            "Ignored the mode {mode} in {path}: a project's profile can only tighten permissions."
        )
        problems.append(tr(text, mode=mode.value, path=profile.source))
        mode = None
    if model and model not in known_models:
        text = mark("Ignored the model {model} in {path}: you have not configured it.")
        problems.append(tr(text, model=model, path=profile.source))
        model = ""
    return replace(profile, mode=mode, model=model, role=None, from_project=True)


def _words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            known = ", ".join(name for name in _Head.model_fields if name != "color")
            return tr(
                "unknown setting {where}. The settings are: {known}.", where=where, known=known
            )
        return tr("{where}: {problem}.", where=where, problem=first["msg"])
    if isinstance(error, UnicodeDecodeError):
        return tr("it is not UTF-8.")
    return tr("{what}.", what=getattr(error, "strerror", None) or error)
