"""Lessons on a generated web, for tests of strategies that learn before they crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from resuming import TOPIC, WEB
from scenthound.lab.bed import BedTopic
from scenthound.lab.generate import GeneratedWeb
from scenthound.model import Candidate, Page, Taxonomy, Topic, Url
from scenthound.web.landing import land


class GeneratedLessons:
    """The topic's seeds are the examples, those of other topics the background; every link of the web is known."""

    taxonomy: Taxonomy | None = None

    def __init__(self, web: GeneratedWeb = WEB, topic: BedTopic = TOPIC) -> None:
        self.web, self.chosen = web, topic

    @property
    def topic(self) -> Topic:
        return self.chosen.topic

    @cached_property
    def examples(self) -> Sequence[Page]:
        return self._found(self.chosen.seeds)

    @cached_property
    def others(self) -> Sequence[Page]:
        others = [url for topic in self.web.topics if topic is not self.chosen for url in topic.seeds]
        return self._found([url for url in others if url not in self.chosen.seeds])

    @cached_property
    def pages(self) -> Mapping[Url, Page]:
        landed = (land(Candidate(Url(one.url), 0.0), one) for one in self.web.responses())
        return {page.url: page for page in landed if isinstance(page, Page)}

    @cached_property
    def linking(self) -> Mapping[Url, Sequence[Url]]:
        found: dict[Url, list[Url]] = {}
        for page in self.pages.values():
            for link in page.outlinks:
                found.setdefault(link.url, []).append(page.url)
        return found

    def page(self, url: Url) -> Page | None:
        return self.pages.get(url)

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        return self.linking.get(url, ())[:most]

    def _found(self, urls: Sequence[Any]) -> list[Page]:
        return [page for url in dict.fromkeys(urls) if (page := self.page(url)) is not None]
