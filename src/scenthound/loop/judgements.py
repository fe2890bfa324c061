"""What the crawl thinks of a fetched page: its similarity to the keywords, and the verdict of the judge.

The loop does not know how a judge decides. It stores the verdict of the moment in which a page was fetched: that is
what steered the crawl. `revised` gives the later verdicts of a judge that learns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scenthound.errors import JudgeFailed
from scenthound.judging import HearsLabels, Judge, Revises
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.ports import Saves


class Judgement(NamedTuple):
    """A fetched page in three values; see `model.Step`."""

    similarity: float = 0.0
    relevance: float = 0.0
    relevant: bool = False


NONE = Judgement()


class Judging:
    """A judge that was started, and the similarity that every trail records. Without a judge nothing is relevant.

    A `threshold` above 0 replaces that of the judge.
    """

    def __init__(
        self, judge: Judge | None = None, similarity: Callable[[Page], float] | None = None, threshold: float = 0.0
    ) -> None:
        self._judge, self._similarity, self.threshold = judge, similarity, threshold
        self._hears = judge if isinstance(judge, HearsLabels) else None
        self._saves = judge if isinstance(judge, Saves) else None
        self._revises = judge if isinstance(judge, Revises) else None

    def judge(self, page: Page, requested: Url | None = None) -> Judgement:
        """Judge a page that was just fetched, before the strategy reads it.

        `requested` is the URL from which redirects led here: the judge finds it as that of the page's candidate, so it
        knows a seed or an example that has moved.
        """
        if requested is not None and self._judge is not None:
            candidate = page.candidate._replace(url=requested)
            page = Page(page.url, candidate, page.record, page.status, page.size)
        similarity = self._similarity(page) if self._similarity is not None else 0.0
        if self._judge is None:
            return NONE if self._similarity is None else Judgement(similarity)
        try:
            probability, is_relevant = self._judge.judge(page)
        except Exception as error:
            raise JudgeFailed(
                f"the judge {type(self._judge).__name__} failed on {page.url}: {type(error).__name__}: {error}",
                "nothing recorded is lost: mend the judge, then resume",
            ) from error
        return Judgement(similarity, float(probability), self._flag(probability, is_relevant))

    def _flag(self, probability: float, is_relevant: bool) -> bool:
        return bool(probability >= self.threshold) if self.threshold else bool(is_relevant)

    @property
    def hears_labels(self) -> bool:
        return self._hears is not None

    def take_label(self, url: Url, on_topic: bool) -> None:
        if self._hears is not None:
            self._hears.take_label(url, on_topic)

    def doubts(self) -> list[str]:
        """Why the verdicts may be wrong, in sentences for the user."""
        return self._judge.doubts() if self._judge is not None else []

    def revised(self) -> dict[Url, Judgement]:
        """The present verdicts on the pages that the judge still remembers; their `similarity` is 0."""
        if self._revises is None:
            return {}
        return {url: Judgement(0.0, said.probability, self._flag(*said)) for url, said in self._revises.revised()}

    @property
    def has_state(self) -> bool:
        """Whether the judge has learned something that a resumed crawl needs."""
        return self._saves is not None

    def save(self) -> Mapping[str, Any]:
        return self._saves.save() if self._saves is not None else {}

    def load(self, state: Mapping[str, Any]) -> None:
        if self._saves is not None:
            self._saves.load(state)
