"""Rules learnt from "always in this project", kept in the user's state, never in the project.

One file for each workspace, named by the hash of its real path; one JSON object per line, so that
several sessions can add to it at once.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent_cli.core.deciding.rules import Rule, Rules
from agent_cli.core.errors import UserError
from agent_cli.lib.files import append_line, open_regular, private_directory
from agent_cli.lib.language import tr

MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Learnt:
    """The rules of a workspace, and what the user should know about their file."""

    rules: Rules = Rules()
    warnings: tuple[str, ...] = ()


class LearntRules:
    """The learnt rules of one workspace."""

    def __init__(self, directory: Path, workspace: str) -> None:
        name = hashlib.sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self.path = directory / f"{name}.jsonl"
        self._workspace = workspace

    def load(self) -> Learnt:
        """What was learnt. If any of it cannot be read, nothing is allowed and denials stay."""
        try:
            lines = self._lines()
        except OSError as error:
            why = error.strerror or error
            return self._broken(tr("it cannot be read ({error})", error=why), [])
        rules: dict[str, list[Rule]] = {"allow": [], "deny": []}
        problem = ""
        for number, line in enumerate(lines, 1):
            try:
                effect, rule = self._parse(line)
            except (ValueError, UserError) as error:
                problem = problem or tr("line {number}: {error}", number=number, error=error)
                continue
            rules[effect].append(rule)
        if problem:
            return self._broken(problem, rules["deny"])
        return Learnt(Rules(allow=tuple(rules["allow"]), deny=tuple(rules["deny"])))

    def keep(self, rule: str) -> None:
        """Add an allow rule; raises OSError if it cannot be kept."""
        Rule.parse(rule)
        if any(rule == known.text for known in self.load().rules.allow):
            return
        private_directory(self.path.parent)
        line = {"effect": "allow", "rule": rule, "workspace": self._workspace}
        append_line(self.path, json.dumps(line))

    def _lines(self) -> list[str]:
        try:
            descriptor = open_regular(self.path)
        except FileNotFoundError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise OSError(tr("it is larger than {most:,} bytes", most=MAX_BYTES))
        return data.decode("utf-8", "replace").splitlines()

    def _parse(self, line: str) -> tuple[str, Rule]:
        entry = json.loads(line)
        if not isinstance(entry, dict):
            raise ValueError(tr("it is not an object"))  # noqa: TRY004  one kind of error for the caller
        if entry.get("workspace") != self._workspace:
            raise ValueError(tr("it belongs to another workspace"))
        if entry.get("effect") not in ("allow", "deny"):
            raise ValueError(tr("its effect is neither allow nor deny"))
        if not isinstance(entry.get("rule"), str):
            raise ValueError(tr("it has no rule"))  # noqa: TRY004  as above
        return str(entry["effect"]), Rule.parse(entry["rule"])

    def _broken(self, problem: str, deny: Iterable[Rule]) -> Learnt:
        said = tr(
            "The learned rules in {path} are damaged: {problem}. None of them "
            "allows anything until the file is repaired or removed.",
            path=self.path,
            problem=problem,
        )
        return Learnt(Rules(deny=tuple(deny)), (said,))
