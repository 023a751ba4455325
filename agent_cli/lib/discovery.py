"""Finds values in the modules of a package: adding one is adding a file."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def values_named(name: str, package: ModuleType) -> Iterator[Any]:
    """The value of this name in each module of a package that has one, by module name."""
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        if not found.name.startswith("_"):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            if hasattr(module, name):
                yield getattr(module, name)
