"""The words of generated webs, read from `subjects.toml`: a taxonomy of everyday subjects with their words.

An area has leaves, in some areas with a group level between, so paths have two or three labels. A leaf's words are
sorted roughly by frequency. Neighbours share words (`kiln`, `frame`, `model`) on purpose: a crawler that trusts a
single word should be misled now and then.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, NamedTuple


class Leaf(NamedTuple):
    """One subject: its path in the taxonomy and its words, the most frequent first."""

    path: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path[-1]


_DATA: dict[str, Any] = tomllib.loads(
    resources.files("scenthound.lab.generate").joinpath("subjects.toml").read_text(encoding="utf-8")
)

LEAVES: tuple[Leaf, ...] = tuple(
    Leaf(tuple(path.split("/")), tuple(words.split())) for path, words in _DATA["leaves"].items()
)
GENERAL: tuple[str, ...] = tuple(_DATA["general"].split())
BOARD: tuple[str, ...] = tuple(_DATA["board"].split())
"""Words of a page about a company's board of directors, the most frequent first."""
SENTENCES: tuple[str, ...] = tuple(_DATA["sentences"])
LINK_SENTENCES: tuple[str, ...] = tuple(_DATA["link_sentences"])
GENERIC_ANCHORS: tuple[str, ...] = tuple(_DATA["generic_anchors"])
TITLE_ENDINGS: tuple[str, ...] = tuple(_DATA["title_endings"])
HOST_ENDINGS: tuple[str, ...] = tuple(_DATA["host_endings"])
COMPANY_ENDINGS: tuple[str, ...] = tuple(_DATA["company_endings"])
DIRECTORY_ENDINGS: tuple[str, ...] = tuple(_DATA["directory_endings"])
PORTAL_NAMES: tuple[str, ...] = tuple(_DATA["portal_names"])
