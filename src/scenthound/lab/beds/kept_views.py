"""Views of pages that a prepared bed keeps for the next crawl in the same process.

A strategy can change whatever it can reach, so it never reaches these. They are made from the bed's own record, by an
analyser of the bed's own, and every visit gets arrays of its own. What a page holds has no reference to them: as in
`run.handover`, that lies in a table of this module.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from scenthound.page.link_text import link_text
from scenthound.page.record import Record
from scenthound.page.views import KEPT
from scenthound.text.tokens import Analyser

Key = tuple[Callable[..., Any], str, bool]
"""Function, stop list and whether words are stemmed."""
Views = dict[Key, Any]


class PageViews:
    """The kept views of one page, as the page holds them."""

    __slots__ = ("__weakref__",)

    def find(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        """The view from an earlier visit; None if there is none."""
        key = _key(function, arguments)
        view = None if key is None else _LENT[self][1].get(key)
        return None if view is None else view._make(map(_opened, view))

    def make(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        """The view, worked out; None if it is not one of `page.views.KEPT` with an analyser of ours."""
        key, (read, views) = _key(function, arguments), _LENT[self]
        if key is None:
            return None
        view = function(read(), Analyser(*key[1:]))
        views[key] = view._make(map(_packed, view))
        return self.find(function, arguments)


def _key(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Key | None:
    if not any(
        function is kept for kept in (*KEPT, link_text)
    ):  # a plug-in's function may say that it equals one of them
        return None
    analyser = portable(arguments[0]) if len(arguments) == 1 else None
    if analyser is None or not isinstance(analyser.stop_words, str):
        return None
    return function, analyser.stop_words, analyser.stem


_LENT: WeakKeyDictionary[PageViews, tuple[Callable[[], Record], Views]] = WeakKeyDictionary()


def lend_views(read: Callable[[], Record], views: Views) -> PageViews:
    """Access to the views of a page for one visit. New ones, of the record that `read` gives, are added to `views`."""
    lent = PageViews()
    _LENT[lent] = (read, views)
    return lent


def portable(analyser: object) -> Analyser | None:
    """An equal analyser that nobody else holds; None for one of another class, which may find any terms it likes."""
    if type(analyser) is not Analyser or type(analyser.stem) is not bool:
        return None
    words = analyser.stop_words
    is_plain = type(words) is str or (type(words) is frozenset and all(type(word) is str for word in words))
    return Analyser(words, analyser.stem) if is_plain else None


class _Column(NamedTuple):
    """A column of numbers as it is kept. An array over these bytes can't be written, but it can be given another shape;
    so every visit gets an array of its own, and all share the bytes."""

    data: bytes
    shape: tuple[int, ...]


def _packed(part: Any) -> Any:
    return _Column(part.tobytes(), part.shape) if isinstance(part, np.ndarray) else part


def _opened(part: Any) -> Any:
    match part:
        case _Column(data, shape):
            return np.frombuffer(data, np.int32).reshape(shape)
        case MappingProxyType():
            return MappingProxyType(dict(part))
    return part
