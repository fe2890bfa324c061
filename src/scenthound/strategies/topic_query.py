"""Similarity of pages to the topic's words, using raw frequencies or tf-idf over the pages read so far.

Used by `best-first`, `best-n-first`, `dom`, `hub-seeking`, `fish-search` and `shark-search`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scenthound.model import Topic
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.text.running_idf import RunningIdf
from scenthound.text.tokens import Analyser


def idf_parameter() -> Any:
    return parameter(
        "none",
        "weigh words by their frequency alone (none), or by tf-idf over the pages read so far (running)",
        among=("none", "running"),
    )


@dataclass(frozen=True)
class RunningQuery(Query):
    """Keywords with weights that change as pages are read, so similarities must not be cached."""

    idf: RunningIdf = field(default_factory=RunningIdf, repr=False, compare=False)

    def similarity(self, counts: Mapping[str, int]) -> float:
        return self.idf.cosine(self.counts, counts)

    def text_similarity(self, text: str) -> float:
        return self.similarity(self.analyser.counts(text))


class ComparesTopic(Parameterised):
    """Base class of strategies with the parameters `idf`, `stop_words` and `stem`."""

    idf: str
    stop_words: str
    stem: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.idf == "running":  # otherwise there is nothing to save
            self.save, self.load = self._save, self._load

    def _use_topic(self, topic: Topic) -> None:
        kind = RunningQuery if self.idf == "running" else Query
        self.query_ = kind(topic.keywords, Analyser(self.stop_words, self.stem))

    def _page_similarity(self, page: Page) -> float:
        """The cosine of the topic and a page, which is first added to the idf counts: call once per page read."""
        if not isinstance(self.query_, RunningQuery):
            return page.view(page_similarity, self.query_)
        counts = page.record.counts(self.query_.analyser)
        self.query_.idf.add(counts)
        return self.query_.similarity(counts)

    def _save(self) -> Mapping[str, Any]:
        assert isinstance(self.query_, RunningQuery)
        return self.query_.idf.save()

    def _load(self, state: Mapping[str, Any]) -> None:
        self.query_ = RunningQuery(self.query_.text, self.query_.analyser, RunningIdf.load(state))
