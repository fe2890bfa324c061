"""The pages that the judge `topic` remembers, and their form in a saved state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenthound.model import Url
from scenthound.text.topic_model import Document, Floats


@dataclass(slots=True, eq=False)
class SeenPage:
    """A remembered page."""

    url: Url
    document: Document
    keyword_counts: Floats
    """ln(1 + tf) of each keyword."""
    context: tuple[float, float, float]
    """title, links, parent"""
    kind: str = ""
    """`seed`, `given` (example, label or description), `off` (label), or nothing."""
    probability: float = 0.0


def pack(pages: Sequence[SeenPage]) -> dict[str, Any]:
    """The pages as columns of JSON values and arrays."""
    return {
        "urls": [page.url for page in pages],
        "kinds": [page.kind for page in pages],
        "probabilities": np.array([page.probability for page in pages], np.float64),
        "contexts": np.array([page.context for page in pages], np.float64),
        "keywords": np.array([page.keyword_counts for page in pages], np.float64),
        "lengths": np.array([len(page.document.ids) for page in pages], np.int64),
        "ids": np.concatenate([np.zeros(0, np.int64), *(page.document.ids for page in pages)]).astype(np.int32),
        "weights": np.concatenate([np.zeros(0), *(page.document.weights for page in pages)]),
    }


def unpack(state: Mapping[str, Any]) -> list[SeenPage]:
    """The inverse of `pack`; ValueError if columns do not fit together."""
    ends = np.cumsum(state["lengths"])
    ids, weights = state["ids"].astype(np.int64), state["weights"]
    if len(state["urls"]) != len(ends) or len(ids) != len(weights) or (len(ends) and ends[-1] != len(ids)):
        raise ValueError("the remembered pages of a judge are damaged")
    pages = []
    for number, (url, end, length) in enumerate(zip(state["urls"], ends, state["lengths"], strict=True)):
        title, links, parent = state["contexts"][number].tolist()
        document = Document(ids[end - length : end], weights[end - length : end])
        probability = float(state["probabilities"][number])
        told = (state["keywords"][number], (title, links, parent), state["kinds"][number], probability)
        pages.append(SeenPage(Url(url), document, *told))
    return pages
