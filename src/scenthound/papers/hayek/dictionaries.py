"""How often each feature occurs on the known pages, by distance from a goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenthound.papers.hayek.page_features import FAR


class Dictionaries:
    """Document and term counts of each feature, by distance from a goal."""

    def __init__(self) -> None:
        self.pages = np.zeros(FAR + 1, dtype=np.int32)
        self.documents = np.zeros((FAR + 1, 1024), dtype=np.int32)
        self.occurrences = np.zeros((FAR + 1, 1024), dtype=np.int32)

    def make_room(self, features: int) -> None:
        """Make room for this many features."""
        size = self.documents.shape[1]
        if features > size:
            padding = ((0, 0), (0, max(features, 2 * size) - size))
            self.documents, self.occurrences = np.pad(self.documents, padding), np.pad(self.occurrences, padding)

    def save(self, features: int) -> dict[str, Any]:
        """The counts of the first `features` features."""
        self.make_room(features)
        return {
            "pages": self.pages.copy(),
            "documents": self.documents[:, :features].copy(),
            "occurrences": self.occurrences[:, :features].copy(),
        }

    def load(self, state: Mapping[str, Any], features: int) -> None:
        for name in ("pages", "documents", "occurrences"):
            shape = (FAR + 1,) if name == "pages" else (FAR + 1, features)
            counts = np.array(state[name], dtype=np.int32)
            if counts.shape != shape or (counts < 0).any():
                raise ValueError(f"`{name}` of the dictionaries is damaged")
            setattr(self, name, counts)

    def count(self, distance: int, features: Any, counts: Any, sign: int = 1) -> None:
        self.documents[distance, features] += sign
        self.occurrences[distance, features] += sign * counts
