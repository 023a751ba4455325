"""A tool whose parameters somebody else describes, by a JSON Schema instead of a params model."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, ValidationError

from agent_cli.core.call_arguments import parse_arguments, validation_failure
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Invocation, Tool, ToolParams

MAX_PROBLEMS = 5


class FreeParams(ToolParams):
    """Whatever was given; the schema has been held against it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @property
    def given(self) -> dict[str, Any]:
        """The arguments as they go out."""
        return dict(self.__pydantic_extra__ or {})


@dataclass(frozen=True, kw_only=True)
class SchemaTool(Tool[FreeParams]):
    """Like any other tool, but for where the schema comes from."""

    input_schema: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema as it was given."""
        return dict(self.input_schema)

    def bind(self, arguments: str | Mapping[str, Any]) -> Invocation[FreeParams]:
        """Parse the arguments and hold the schema against them."""
        given = parse_arguments(arguments, self.name, self.schema)
        problems = [
            f"- {'.'.join(map(str, problem.absolute_path)) or 'arguments'}: {problem.message[:200]}"
            for problem in itertools.islice(self._validator.iter_errors(given), MAX_PROBLEMS)
        ]
        if problems:
            raise ToolFailure(
                f"{self.name} was not run: its arguments are not valid.\n" + "\n".join(problems),
                type=FailureType.VALIDATION,
            )
        try:
            return Invocation(self, FreeParams.model_validate(given))
        except ValidationError as error:
            raise validation_failure(self.name, error, self.schema) from error

    @cached_property
    def _validator(self) -> Any:
        from jsonschema import Draft202012Validator  # noqa: PLC0415 (slow, and rarely needed)

        return Draft202012Validator(self.schema)
