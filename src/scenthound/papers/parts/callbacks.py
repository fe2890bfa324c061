"""Callbacks that do not keep their owner alive.

A strategy and a frontier that calls back into it would form a reference cycle. All their memory would stay allocated
until the garbage collector runs, which is too late in a process that runs crawl after crawl.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Generic, TypeVar
from weakref import ref

T = TypeVar("T")


class WeakMethod(Generic[T]):
    """A bound method that holds only a weak reference to its object.

    When copied or pickled together with its object, it calls the copy, which `weakref.WeakMethod` can't do.
    """

    __slots__ = ("_function", "_owner")

    def __init__(self, owner: object, function: Callable[..., T]) -> None:
        self._owner, self._function = ref(owner), function

    def __call__(self, *arguments: object) -> T:
        return self._function(self._existing_owner(), *arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return WeakMethod, (self._existing_owner(), self._function)

    def _existing_owner(self) -> object:
        owner = self._owner()
        if owner is None:
            raise ReferenceError(f"the owner of {self._function.__name__} is gone")
        return owner


def weak_method(method: Callable[..., T]) -> WeakMethod[T]:
    """Wrap a bound method so that it holds only a weak reference to its object."""
    if not isinstance(method, MethodType):
        raise TypeError(f"{method!r} is not a bound method")
    return WeakMethod(method.__self__, method.__func__)
