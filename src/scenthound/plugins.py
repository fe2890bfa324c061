"""Find plug-ins by name, in this and in other packages: strategies, judges, exporters, importers, metrics.

Each kind of plug-in has an entry-point group. An entry point names a module, a package or an object. A module registers
its plug-ins with the decorator `Registry.add`. All files of a package are imported, so that adding a file is enough.
Our own plug-ins are found the same way (see `[project.entry-points]`).
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from types import ModuleType
from typing import Generic, TypeVar

from scenthound.errors import UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Plug-ins of one kind by name, loaded from an entry-point group on first use."""

    def __init__(self, kind: str, group: str, package: str) -> None:
        self.kind, self.group, self.package = kind, group, package
        self._plugins: dict[str, T] = {}
        self._loaded = False
        self.broken: dict[str, str] = {}
        """Plug-ins that could not be loaded, and why. `doctor` shows them; they are never fatal."""

    def add(self, name: str) -> Callable[[T], T]:
        """Decorator: register a plug-in as `name`."""

        def register(plugin: T) -> T:
            existing = self._plugins.get(name)
            if existing is not None and existing is not plugin and _origin(existing) != _origin(plugin):
                raise ValueError(f"there are two {self.kind} plug-ins called {name}")
            self._plugins[name] = plugin
            return plugin

        return register

    def get(self, name: str) -> T:
        """The plug-in called `name`. If a package has a file of that name, only that file is imported."""
        if not self._loaded and name not in self._plugins:
            self._import_by_name(name)
        if name not in self._plugins:
            self._load()
        if name not in self._plugins:
            raise UnknownName.among(self.kind, name, self._plugins)
        return self._plugins[name]

    def names(self) -> list[str]:
        self._load()
        return sorted(self._plugins)

    def items(self) -> Iterator[tuple[str, T]]:
        return ((name, self._plugins[name]) for name in self.names())

    def _import_by_name(self, name: str) -> None:
        """Import the file called `name` of the first package that has one: ours, then those of entry points."""
        file = name.replace("-", "_")
        if not file.isidentifier():
            return
        if _import_file(self.package, file):
            return
        for point in entry_points(group=self.group):
            if ":" not in point.value and point.value != self.package and _import_file(point.value, file):
                return

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        _import_all(importlib.import_module(self.package))
        for point in entry_points(group=self.group):
            if point.value == self.package:
                continue
            try:
                loaded = point.load()
            except Exception as error:  # a broken plug-in must not stop the others
                self.broken[point.name] = f"{type(error).__name__}: {error}"
                continue
            if isinstance(loaded, ModuleType):
                _import_all(loaded)
            else:
                self._plugins.setdefault(point.name, loaded)


def _origin(plugin: object) -> tuple[str, str]:
    """The module and name of a plug-in, which stay the same if its module is imported twice."""
    return getattr(plugin, "__module__", ""), getattr(plugin, "__qualname__", repr(plugin))


def _import_file(package: str, file: str) -> bool:
    """Import a file of a package, if there is one."""
    try:
        if importlib.util.find_spec(f"{package}.{file}") is None:
            return False
    except Exception:  # a broken plug-in, or a module without files: `_load` reports it
        return False
    importlib.import_module(f"{package}.{file}")
    return True


def _import_all(module: ModuleType) -> None:
    for submodule in pkgutil.walk_packages(getattr(module, "__path__", ()), module.__name__ + "."):
        importlib.import_module(submodule.name)
