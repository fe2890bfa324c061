"""One door for everything that can be plugged in, ours and strangers' alike.

An entry point of the group names a module, a package or an object. A module registers what it
defines by the shelf's decorator; a package has its files imported one by one, so that adding a file
is all it takes. Our own parts come through the same door (see `[project.entry-points]`).
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
    """Named things of one kind, found through an entry-point group when first asked for."""

    def __init__(self, kind: str, group: str, home: str) -> None:
        self.kind, self.group, self.home = kind, group, home
        self._things: dict[str, T] = {}
        self._filled = False
        self.broken: dict[str, str] = {}
        """Plug-ins that could not be loaded, and why: shown by `doctor`, never fatal."""

    def add(self, name: str) -> Callable[[T], T]:
        """Decorator: put a thing on the shelf under `name`."""

        def put(thing: T) -> T:
            taken = self._things.get(name)
            if taken is not None and taken is not thing and _origin(taken) != _origin(thing):
                raise ValueError(f"two things on the shelf of {self.kind}s are called {name}")
            self._things[name] = thing
            return thing

        return put

    def get(self, name: str) -> T:
        """The thing called `name`. One of ours that lives in a file of its own name needs no other file read."""
        if not self._filled and name not in self._things:
            self._look_at_home(name)
        if name not in self._things:
            self._fill()
        if name not in self._things:
            raise UnknownName.among(self.kind, name, self._things)
        return self._things[name]

    def names(self) -> list[str]:
        self._fill()
        return sorted(self._things)

    def items(self) -> Iterator[tuple[str, T]]:
        return ((name, self._things[name]) for name in self.names())

    def _look_at_home(self, name: str) -> None:
        module = f"{self.home}.{name.replace('-', '_')}"
        if name.replace("-", "").isalnum() and importlib.util.find_spec(module) is not None:
            importlib.import_module(module)

    def _fill(self) -> None:
        if self._filled:
            return
        self._filled = True
        _import_all(importlib.import_module(self.home))
        for point in entry_points(group=self.group):
            if point.value == self.home:
                continue
            try:
                found = point.load()
            except Exception as error:  # a stranger's plug-in must not stop ours
                self.broken[point.name] = f"{type(error).__name__}: {error}"
                continue
            if isinstance(found, ModuleType):
                _import_all(found)
            else:
                self._things.setdefault(point.name, found)


def _origin(thing: object) -> tuple[str, str]:
    return getattr(thing, "__module__", ""), getattr(thing, "__qualname__", repr(thing))


def _import_all(module: ModuleType) -> None:
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), module.__name__ + "."):
        importlib.import_module(found.name)
