"""Callbacks that do not keep their owner alive. Not a strategy.

A strategy that brings its own frontier and is called back by it would hold itself in a ring, with all that it knows,
until somebody looks for rings: in a process that runs crawl after crawl that is too late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakMethod

T = TypeVar("T")


def weakly(method: Callable[..., T]) -> Callable[..., T]:
    """A bound method that may be called as long as its object is there."""
    held, name = WeakMethod(method), getattr(method, "__name__", "a callback")

    def call(*given: object) -> T:
        found = held()
        if found is None:
            raise ReferenceError(f"the owner of {name} is gone")
        return found(*given)

    return call
