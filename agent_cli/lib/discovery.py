"""Finds values in the modules of a package: adding one is adding a file."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """The modules of a package, by name; those that begin with _ are its own business."""
    for name in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        if not name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{name}")


def values_named(name: str, package: ModuleType) -> Iterator[Any]:
    """The value of this name in each module of a package that has one."""
    return (getattr(module, name) for module in modules_of(package) if hasattr(module, name))
