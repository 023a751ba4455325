"""Lists of small objects as models really write them."""

import json
from collections.abc import Collection, Mapping
from typing import Any


def read_list(given: Any) -> Any:
    """A list that came as JSON text, decoded; anything else as it is, for validation to judge."""
    if isinstance(given, str) and given.lstrip().startswith(("[", "{")):
        try:
            given = json.loads(given)
        except ValueError:
            return given
    return [given] if isinstance(given, Mapping) else given


def rename_keys(given: Any, names: Mapping[str, Collection[str]]) -> Any:
    """An object with usual other names replaced; a mere text becomes the first name's value."""
    if isinstance(given, str):
        return {next(iter(names)): given}
    if not isinstance(given, Mapping):
        return given
    fields = dict(given)
    for name, others in names.items():
        found = next((other for other in others if other in fields), None)
        if name not in fields and found is not None:
            fields[name] = fields.pop(found)
    return fields
