"""A tool's JSON Schema, made as lean as a model can use it."""

from collections.abc import Mapping
from typing import Any


def inline_definitions(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Put nested models where they are used: small models do not follow references."""
    if isinstance(schema, list):
        return [inline_definitions(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in definitions:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        nested = {k: v for k, v in definitions[name].items() if k != "description"}
        return inline_definitions({**nested, **rest}, definitions)
    return {key: inline_definitions(value, definitions) for key, value in schema.items()}


def lean(schema: Any) -> Any:
    """Drop pydantic's titles and fold `anyOf [X, null]` into X: fewer tokens, same meaning."""
    if isinstance(schema, list):
        return [lean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    slim = {
        key: (
            {name: lean(prop) for name, prop in value.items()}
            if key == "properties"
            else lean(value)
        )
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    options = slim.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options and len(options) == 2:
        (kept,) = (option for option in options if option != {"type": "null"})
        rest = {
            k: v for k, v in slim.items() if k != "anyOf" and not (k == "default" and v is None)
        }
        return {**kept, **rest}
    return slim
