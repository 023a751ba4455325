"""A final answer in the shape of a JSON Schema, asked for, checked, and asked for again."""

import json
import re
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr

MAX_TRIES = 3


def read_schema(path: Path) -> dict[str, Any]:
    """A JSON Schema from a file."""
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        said = tr("Can't read the schema {path}: {error}.", path=path, error=error.strerror)
        raise UserError(said) from error
    except ValueError as error:
        said = tr("The schema {path} is not JSON: {error}.", path=path, error=error)
        raise UserError(said) from error
    if not isinstance(schema, dict):
        raise UserError(tr("The schema {path} is not a JSON object.", path=path))
    return schema


class Structured:
    """Follows one answer until it satisfies the schema or the tries are used up."""

    def __init__(self, schema: dict[str, Any]) -> None:
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise UserError(
                tr("The JSON schema is not valid: {why}.", why=error.message)
            ) from error
        self._schema = schema
        self._validator = Draft202012Validator(schema)
        self._tries = 0
        self.value: Any = None
        self.problem: str | None = None
        """What is wrong with the last answer, in the model's language."""

    def prompt(self, prompt: str) -> str:
        """The prompt with what is expected of the final answer."""
        schema = json.dumps(self._schema, ensure_ascii=False)
        return (
            f"{prompt}\n\nYour final answer must be one JSON value and nothing else, "
            f"valid against this JSON Schema:\n{schema}"
        )

    def check(self, text: str) -> str | None:
        """Look at an answer; returns what to say to the model if it should try again."""
        self._tries += 1
        self.problem = self._problem(text)
        if self.problem is None or self._tries >= MAX_TRIES:
            return None
        return (
            f"That answer does not match the schema: {self.problem}. "
            "Answer again with the JSON value alone."
        )

    def _problem(self, text: str) -> str | None:
        fenced = re.fullmatch(r"\s*```(?:json)?\n(.*)\n```\s*", text, re.DOTALL)
        try:
            value = json.loads(fenced[1] if fenced else text)
        except ValueError as error:
            return f"it is not JSON ({error})"
        wrong = next(iter(self._validator.iter_errors(value)), None)
        if wrong is not None:
            where = wrong.json_path.removeprefix("$").lstrip(".") or "the value"
            return f"{where}: {wrong.message}"
        self.value = value
        return None
