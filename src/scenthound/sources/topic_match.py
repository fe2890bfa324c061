"""Rank addresses by how well address and title match a topic, for sources that know nothing else about a page."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from scenthound.model import Topic
from scenthound.seeding import FoundUrl
from scenthound.text.tokens import Analyser


def best_by_words(pages: Iterable[FoundUrl], topic: Topic, most: int, only_matching: bool) -> list[FoundUrl]:
    """The pages with the most topic words in address or title, without duplicate URLs; ties keep their order.

    With `only_matching`, pages without any of the words are left out.
    """
    analyser = Analyser()
    keywords = set(analyser.terms(topic.keywords))

    def matching_words(page: FoundUrl) -> int:
        return len(keywords.intersection(analyser.terms(f"{unquote(page.url)} {page.title}")))

    rated = [(matching_words(page), page) for page in {page.url: page for page in pages}.values()]
    rated.sort(key=lambda pair: -pair[0])
    return [page for words, page in rated if words or not only_matching][:most]
