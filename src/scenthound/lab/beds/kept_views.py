"""Views of pages that a prepared bed keeps for the next crawl in the same process.

A strategy can change whatever it can reach, so it never reaches these. They are made from the bed's own record, by an
analyser of the bed's own, and every visit gets a copy. What a page holds has no reference to them: as in
`run.handover`, that lies in a table of this module.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from scenthound.page.record import Record, fixed
from scenthound.page.views import KEPT
from scenthound.text.tokens import Analyser

Views = dict[tuple[Callable[..., Any], str, bool], Any]
"""By function, stop list and whether words are stemmed."""


class PageViews:
    """The kept views of one page, as the page holds them."""

    __slots__ = ("__weakref__",)

    def find(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        """The view; None if it is not one of `page.views.KEPT` with an analyser of ours."""
        if not any(function is kept for kept in KEPT):  # a plug-in's function may say that it equals one of them
            return None
        analyser = portable(arguments[0]) if len(arguments) == 1 else None
        if analyser is None or not isinstance(analyser.stop_words, str):
            return None
        read, views = _LENT[self]
        key = (function, analyser.stop_words, analyser.stem)
        if key not in views:
            views[key] = function(read(), analyser)
        return _copied_view(views[key])


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


def _copied_view(view: Any) -> Any:
    """A named tuple with columns of its own: they can't be written, but they can be given another shape."""
    return view._make(map(_copied, view))


def _copied(part: Any) -> Any:
    match part:
        case np.ndarray():
            return fixed(part).reshape(part.shape)
        case MappingProxyType():
            return MappingProxyType(dict(part))
    return part
