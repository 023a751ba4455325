"""Makes a foreign JSON Schema fit for every provider: small, flat, without what some refuse."""

import re
from collections.abc import Mapping
from typing import Any

from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean, for_model

MAX_DEPTH = 10
MAX_NODES = 2_000
MAX_TEXT_CHARS = 1_000
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_FORMATS = frozenset({"date-time", "date", "time", "email", "uri", "uuid", "int32", "int64"})
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")


class Unusable(ValueError):
    """A schema that cannot be put right; the text says why."""


def repair_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a tool as an object schema; raises Unusable.

    References are put in their places, alternatives at the top are merged, and what is no JSON
    Schema is left out. It never allows a call that the server's own check would not see.
    """
    whole = _Repair(schema).node(schema, 0)
    if whole.get("type") != "object" and "properties" not in whole:
        whole = {}
    properties = whole.get("properties", {})
    required = [name for name in whole.get("required", []) if name in properties]
    top: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        top["required"] = required
    if whole.get("additionalProperties") is False:
        top["additionalProperties"] = False
    return top


class _Repair:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MAX_NODES

    def node(self, schema: Any, depth: int) -> dict[str, Any]:
        """One sub-schema; what is too deep or too much becomes "anything"."""
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH or self._left < 0:
            return {}
        if "$ref" in schema:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return self.node({**self._follow_reference(schema["$ref"]), **rest}, depth + 1)
        fixed = self._plain(schema)
        self._add_parts(fixed, schema, depth)
        self._add_choices(fixed, schema, depth)
        return fixed

    def _follow_reference(self, reference: Any) -> Mapping[str, Any]:
        """What a reference within the schema leads to; others lead nowhere."""
        found: Any = self._root
        steps = str(reference).split("/")
        if steps[0] != "#":
            return {}
        for step in steps[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) and "$ref" not in found else {}

    def _plain(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        fixed: dict[str, Any] = {}
        if kind := _type(schema.get("type")):
            fixed["type"] = kind
        if description := schema.get("description"):
            fixed["description"] = shorten(str(description), MAX_TEXT_CHARS)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and 0 < len(choices) <= 500:
            fixed["enum"] = choices
        if "default" in schema and _is_small(schema["default"]):
            fixed["default"] = schema["default"]
        if schema.get("format") in _FORMATS:
            fixed["format"] = schema["format"]
        for name in _NUMBERS:
            if _is_number(schema.get(name)):
                fixed[name] = schema[name]
        for name in _COUNTS:
            if isinstance(schema.get(name), int) and not isinstance(schema[name], bool):
                fixed[name] = schema[name]
        return fixed

    def _add_parts(self, fixed: dict[str, Any], schema: Mapping[str, Any], depth: int) -> None:
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            required = schema.get("required")
            wanted = [str(each) for each in required] if isinstance(required, list) else []
            if odd := [name for name in wanted if not _PROPERTY.fullmatch(name)]:
                raise Unusable(tr("it requires a parameter named {name!r}", name=odd[0][:40]))
            fixed.setdefault("type", "object")
            fixed["properties"] = {
                name: self.node(value, depth + 1)
                for name, value in properties.items()
                if _PROPERTY.fullmatch(str(name))
            }
            if kept := [name for name in wanted if name in fixed["properties"]]:
                fixed["required"] = kept
        if isinstance(schema.get("additionalProperties"), bool):
            fixed["additionalProperties"] = schema["additionalProperties"]
        if fixed.get("type") == "array" or "items" in schema:
            items = schema.get("items")
            fixed["type"] = "array"
            fixed["items"] = self.node(items if isinstance(items, Mapping) else {}, depth + 1)

    def _add_choices(self, fixed: dict[str, Any], schema: Mapping[str, Any], depth: int) -> None:
        if isinstance(schema.get("allOf"), list):
            for part in schema["allOf"][:20]:
                _merge(fixed, self.node(part, depth + 1), is_needed=True)
        for word in ("anyOf", "oneOf"):
            options = schema.get(word)
            if not isinstance(options, list) or not options:
                continue
            nodes = [self.node(option, depth + 1) for option in options[:20]]
            nodes = [node for node in nodes if node.get("type") != "null"]
            if len(nodes) == 1:
                _merge(fixed, nodes[0], is_needed=True)
            elif depth == 0:  # several providers take no alternatives at the top
                for node in nodes:
                    _merge(fixed, node, is_needed=False)
            elif nodes:
                fixed["anyOf"] = nodes


def _merge(into: dict[str, Any], part: Mapping[str, Any], *, is_needed: bool) -> None:
    """Lay a part over a schema; what only one of several alternatives needs is not needed."""
    for key, value in part.items():
        if key == "properties":
            into["properties"] = {**into.get("properties", {}), **value}
        elif key == "required":
            if is_needed:
                into["required"] = list(dict.fromkeys([*into.get("required", []), *value]))
        elif is_needed or key == "type":
            into.setdefault(key, value)


def _type(given: Any) -> str | None:
    """One type; of several the first that isn't null, if there is but one."""
    if isinstance(given, list):
        others = [each for each in given if each != "null"]
        given = others[0] if len(others) == 1 else None
    return given if isinstance(given, str) and given in _TYPES else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_small(value: Any) -> bool:
    return (
        value is None or isinstance(value, bool | int | float) or len(repr(value)) <= MAX_TEXT_CHARS
    )


def shorten(text: str, longest: int) -> str:
    """Foreign words as a model may read them: nothing hidden, nothing endless."""
    shown = " ".join(for_model(clean(text[: longest * 4]))[0].split(" ")).strip()
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
