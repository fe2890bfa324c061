"""Views of pages that a prepared bed keeps for the next crawl in the same process.

A strategy could modify whatever it can reach, so it never gets the kept objects: they are computed from the bed's copy
of the record, with the bed's copy of the analyser, and every visit gets new arrays. A page has only a weak reference to
the bed, as in `run.handover`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from weakref import ref

import numpy as np

from scenthound.page.link_text import link_text
from scenthound.page.record import Record
from scenthound.page.views import KEPT
from scenthound.text.tokens import Analyser

Key = tuple[Callable[..., Any], str, bool]
"""The function, the name of the stop list, and whether words are stemmed."""
Views = dict[Key, Any]


class KeepsViews(Protocol):
    """A bed that keeps views, by the rows of its pages."""

    def read(self, row: int) -> Record: ...
    def views(self, row: int) -> Views: ...


class PageViews:
    """Access to the kept views of one page, held by the page."""

    __slots__ = ("_bed", "_row")

    def __init__(self, bed: ref[KeepsViews], row: int) -> None:
        self._bed, self._row = bed, row

    def key(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Key | None:
        """The key of a view; None unless it is one of `page.views.KEPT` with one of our analysers."""
        analyser = portable(arguments[0]) if len(arguments) == 1 else None
        if analyser is None or not isinstance(analyser.stop_words, str):
            return None
        # Not `in`: a plug-in's function may claim to be equal to one of them.
        is_kept = any(function is view for view in (*KEPT, link_text))
        return (function, analyser.stop_words, analyser.stem) if is_kept else None

    def find(self, key: Key) -> Any | None:
        """The view from an earlier visit; None if there is none."""
        bed = self._bed()
        view = None if bed is None else bed.views(self._row).get(key)
        return None if view is None else view._make(map(_opened, view))

    def make(self, key: Key) -> Any | None:
        """Compute the view and keep it; None if the bed is gone."""
        bed = self._bed()
        if bed is None:
            return None
        function, stop_words, stem = key
        view = function(bed.read(self._row), Analyser(stop_words, stem))
        kept = bed.views(self._row)[key] = view._make(map(_packed, view))
        return kept._make(map(_opened, kept))


def portable(analyser: object) -> Analyser | None:
    """A private copy of the analyser; None if it has another class, which may compute any terms."""
    if type(analyser) is not Analyser or type(analyser.stem) is not bool:
        return None
    words = analyser.stop_words
    is_plain = type(words) is str or (type(words) is frozenset and all(type(word) is str for word in words))
    return Analyser(words, analyser.stem) if is_plain else None


class _Column(NamedTuple):
    """A column of numbers as it is kept. An array over these bytes is read-only, but its shape can be changed; so every
    visit gets a new array, and all arrays share the bytes."""

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
