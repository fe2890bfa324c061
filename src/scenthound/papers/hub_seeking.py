"""Hub-seeking crawler: a page that links to several seeds is a hub, and all its links are promising (sheet 20.4).

    score(link) = max(hub(page), DOM score of the link)
    hub(page)   = n(n - 1) / (1 + n²)        0 for n < 2, then 0.4, 0.6, 0.71, 0.77 … towards 1

Pant and Menczer 2003 [BIZ]. n is the number of distinct seed hosts among the hosts that the page links to, including
links to pages already crawled. For the DOM score see `dom`.

All seeds of the crawl count by default. If hubs were added to the seeds (sheet 60.2), only the original seeds should
count, since hubs are not what the crawl looks for. There are two ways to name the originals. With `counted="examples"`
they are the topic's `examples`: in a topic file, in a line of topics.jsonl, or as `Topic(examples=...)`. With
`counted="originals"` the laboratory supplies them (`lab run --start augmented`); elsewhere all seeds count.

Ours: on beds with a single host every page would link to all seed hosts or none, so `entity="url"` counts the seeds
themselves. Following the paper's wording, a link to any page of a seed's host counts, even from that host itself
(`count_own_host`), and `www.x.com` and `x.com` are different hosts (`strip_www`). A page's link to itself does not
count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from scenthound import url as urls
from scenthound.errors import BadConfig, NotAUrl
from scenthound.model import Candidate, Link, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.dom import Dom
from scenthound.parameters import parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("hub-seeking")
@dataclass
class HubSeeking(Dom):
    """Like dom, but all links of a page that links to several seeds get a high score."""

    score_parts: ClassVar[Mapping[str, str]] = {
        **Dom.score_parts,
        "hub": "hub score of the page, from the seeds it links to; the larger of this and the DOM score counts",
    }
    entity: Literal["host", "url"] = parameter(
        "host", "count links to hosts of seeds, or to the seeds themselves (url)"
    )
    counted: Literal["seeds", "examples", "originals"] = parameter(
        "seeds", "all seeds count, only the examples, or only the seeds to which hubs were added (originals)"
    )
    count_own_host: bool = parameter(True, "count links from a seed's site to itself")
    strip_www: bool = parameter(False, "treat www.x.com and x.com as one host")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.originals_: Sequence[Url] = ()

    @property
    def declaration(self) -> Declaration:
        return replace(super().declaration, topic_examples=self.counted == "examples")

    @property
    def wants_original_seeds(self) -> bool:
        return self.counted == "originals"

    def use_original_seeds(self, seeds: Sequence[Url]) -> None:
        self.originals_ = seeds

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        originals = _examples(topic) if self.counted == "examples" else self.originals_ or seeds
        self.entities_ = frozenset(map(self._entity, originals))
        return super().start(topic, seeds)

    def scored(self, page: Page) -> Iterator[tuple[Link, float, dict[str, float]]]:
        hub = hub_score(self.seeds_linked(page))
        for link, score, parts in super().scored(page):
            yield link, max(hub, score), {**parts, "hub": hub}

    def seeds_linked(self, page: Page) -> int:
        """n in the paper: how many seeds (or seed hosts) this page links to."""
        linked = (link.url for link in page.outlinks)
        if not self.count_own_host:
            own = self._host(page.url)
            linked = (url for url in linked if self._host(url) != own)
        return len(self.entities_.intersection(map(self._entity, linked)))

    def _entity(self, url: Url) -> str:
        if self.entity == "host":
            return self._host(url)
        if not self.strip_www:
            return url
        scheme, separator, rest = url.partition("://")
        return scheme + separator + rest.removeprefix("www.")

    def _host(self, url: Url) -> str:
        name = urls.host(url)
        return name.removeprefix("www.") if self.strip_www else name


def hub_score(n: int) -> float:
    """Score a page that links to `n` seeds.

    >>> [round(hub_score(n), 6) for n in (0, 1, 2, 3, 10)]
    [0.0, 0.0, 0.4, 0.6, 0.891089]
    """
    return n * (n - 1) / (1 + n * n)


def _examples(topic: Topic) -> list[Url]:
    if not topic.examples:
        raise BadConfig(
            'hub-seeking: `counted` is "examples", but the topic has no examples',
            "name the original seeds as the topic's examples, or leave `counted` out",
        )
    try:
        return [urls.make(example) for example in topic.examples]
    except NotAUrl as error:
        raise BadConfig(f"hub-seeking: an example of the topic is {error.message}", error.hint) from None
