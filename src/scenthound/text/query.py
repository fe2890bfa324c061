"""Keywords as a vector, and how similar a text is to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, cosine

SHORT = 200  # characters: longer texts are not remembered
REMEMBERED = 1 << 13


@dataclass(frozen=True)
class Query:
    """Keywords as raw term frequencies, repeated words counted. Equal queries are equal keys."""

    text: str
    analyser: Analyser = field(default_factory=Analyser)
    counts: Counts = field(init=False, repr=False, compare=False)
    _short: Callable[[str], float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.analyser.counts(self.text))
        object.__setattr__(self, "_short", lru_cache(maxsize=REMEMBERED)(self._similarity_of_text))

    def similarity(self, counts: Mapping[str, int]) -> float:
        """The cosine with something counted by the same analyser."""
        return cosine(self.counts, counts)

    def text_similarity(self, text: str) -> float:
        """The cosine with a text. Short ones are remembered: menus stand on every page of a site."""
        return self._short(text) if len(text) <= SHORT else self._similarity_of_text(text)

    def _similarity_of_text(self, text: str) -> float:
        return cosine(self.counts, self.analyser.counts(text))
