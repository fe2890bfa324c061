"""How well an address and a title fit a topic, for sources that know nothing else of a page."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from scenthound.model import Topic
from scenthound.seeding import FoundUrl
from scenthound.text.tokens import Analyser


def best_by_words(found: Iterable[FoundUrl], topic: Topic, most: int, only_matching: bool) -> list[FoundUrl]:
    """Those with most of the topic's words in address or title, each URL once; equal ones in the order given.

    `only_matching`: none without any of them.
    """
    analyser = Analyser()
    wanted = set(analyser.terms(topic.keywords))

    def share(one: FoundUrl) -> int:
        return len(wanted.intersection(analyser.terms(f"{unquote(one.url)} {one.title}")))

    rated = [(share(one), one) for one in {one.url: one for one in found}.values()]
    rated.sort(key=lambda pair: -pair[0])
    return [one for words, one in rated if words or not only_matching][:most]
