"""Callbacks that do not keep their owner alive.

A strategy that brings its own frontier and is called back by it would be part of a reference cycle, with all that it
knows, until the garbage collector runs: in a process that runs crawl after crawl that is too late.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Generic, TypeVar
from weakref import ref

T = TypeVar("T")


class Weakly(Generic[T]):
    """A method of an object, by name, that may be called as long as the object is there. Copied together with its
    owner, or sent to another process with it, it calls the copy."""

    __slots__ = ("_name", "_owner")

    def __init__(self, owner: object, name: str) -> None:
        self._owner, self._name = ref(owner), name

    def __call__(self, *given: object) -> T:
        found: T = getattr(self._held(), self._name)(*given)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Weakly, (self._held(), self._name)

    def _held(self) -> object:
        owner = self._owner()
        if owner is None:
            raise ReferenceError(f"the owner of {self._name} is gone")
        return owner


def weak_method(method: Callable[..., T]) -> Weakly[T]:
    """A bound method that may be called as long as its object is there."""
    if not isinstance(method, MethodType):
        raise TypeError(f"{method!r} is no method of an object")
    return Weakly(method.__self__, method.__name__)
