"""Where the crawls of an experiment start (`lab run --start`): at a topic's own seeds, or as in the papers.

    seeds         the topic's own seeds and targets
    examples      at some pages on topic; the others are the targets [EXP, task 1]
    neighbours    at pages from which such a page is two links away; all pages on topic are targets [EXP, task 2]
    distance=N    at pages from which such a page is up to N links away; all pages on topic are targets [GRAPH]
    augmented     at the topic's seeds and the hubs that link to several of them [BIZ]

Pages on topic are the topic's targets and examples, or its targets and seeds if it has no examples. As many are drawn
as the topic has seeds, at random, from different hosts if there are enough. The draw depends on the seed number and the
topic alone. The original topic stays in the experiment's `topics.jsonl`, which only the lab reads: a strategy gets the
new seeds and no examples. Only `hub-seeking:counted=originals` learns which seeds are not hubs.

Pages at some distance from the answers are found through the back-links of a bed (sheet 60.1).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from scenthound.errors import BadUsage
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.model import Url
from scenthound.sources.augment import augment
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from scenthound.url import host

BackLinks = Callable[[str, int | None], Sequence[str]]
"""Returns the pages that link to a URL, in the order of sheet 60.1, up to a limit, as `LinkGraph.back_links` does."""


def neighbours(
    examples: Sequence[str], back_links: BackLinks, rng: random.Random, width: int = 20, number: int = 10
) -> list[str]:
    """The seeds of task 2 of [EXP]: a random sample of the pages from which an example is two links away.

    Uses up to `width` back-links of each page. Examples are left out.
    """
    first = dict.fromkeys(page for example in examples for page in back_links(example, width))
    second = {page for parent in first for page in back_links(parent, width)} - set(examples)
    return rng.sample(sorted(second), min(number, len(second)))


def seeds_at_distance(
    targets: Iterable[str], back_links: BackLinks, rng: random.Random, number: int = 10, distance: int = 3
) -> tuple[list[str], list[str]]:
    """The seeds of [GRAPH], and the targets S0 that they were moved back from, both without duplicates.

    S0 are `number` random targets. `distance` times, every URL is replaced by a random one of its back-links, if it has
    any. So each seed is at most `distance` links away from some member of S0.
    """
    pool = sorted(set(targets))
    origin = rng.sample(pool, min(number, len(pool)))
    moved = list(origin)
    for _ in range(distance):
        moved = [rng.choice(linking) if (linking := back_links(url, None)) else url for url in moved]
    return list(dict.fromkeys(moved)), origin


KINDS = ("seeds", "examples", "neighbours", "distance", "augmented")
DISTANCE = 3  # links, as in [GRAPH]


@dataclass(frozen=True, slots=True)
class Start:
    """A way to choose seeds."""

    kind: str = "seeds"
    distance: int = 0

    @classmethod
    def parse(cls, text: str) -> Start:
        """Read `examples` or `distance=3`. Raises `BadUsage`.

        >>> Start.parse("distance=2"), str(Start.parse("distance"))
        (Start(kind='distance', distance=2), 'distance=3')
        """
        kind, equals, links = text.partition("=")
        is_valid = kind in KINDS and (not equals or (kind == "distance" and links.isdecimal() and int(links) > 0))
        if not is_valid:
            raise BadUsage(
                f"crawls can't start at `{text}`", "give seeds, examples, neighbours, distance=N or augmented"
            )
        return cls(kind, int(links or DISTANCE) if kind == "distance" else 0)

    def __str__(self) -> str:
        return f"{self.kind}={self.distance}" if self.kind == "distance" else self.kind


def start_topic(bed: ReplayBed, topic: BedTopic, start: Start, seed_number: int = 0) -> BedTopic:
    """Return the topic with the seeds and targets of this start; its seeds are empty if no page qualifies."""
    if start.kind == "seeds":
        return topic
    rng = random.Random(f"start:{start}:{topic.id}:{seed_number}")
    graph = _BackLinks(bed)
    if start.kind == "augmented":
        return replace(topic, seeds=_augmented(bed, topic, graph), originals=topic.seeds)
    on_topic = _on_topic(bed, topic)
    count = max(len(topic.seeds), 1)
    drawn = from_distinct_hosts(on_topic, rng, count)
    seeds: Sequence[str] = drawn
    if start.kind == "neighbours":
        seeds = neighbours(drawn, graph, rng, number=count)
    elif start.kind == "distance":
        seeds, _ = seeds_at_distance(drawn, graph, rng, number=count, distance=start.distance)
    seed_urls = set(seeds)
    targets = tuple(url for url in on_topic if url not in seed_urls)
    return replace(topic, seeds=tuple(map(Url, seeds)), targets=targets, examples=(), neighbours=())


def from_distinct_hosts(urls: Sequence[Url], rng: random.Random, count: int) -> list[Url]:
    """A random sample with one page per host, or more if there are not enough hosts.

    >>> urls = [Url(f"http://{name}.test/{page}") for name in "abc" for page in range(9)]
    >>> sorted(host(url) for url in from_distinct_hosts(urls, random.Random(1), 3))
    ['a.test', 'b.test', 'c.test']
    """
    shuffled = sorted(urls)
    rng.shuffle(shuffled)
    first: dict[str, Url] = {}
    for url in shuffled:
        first.setdefault(host(url), url)
    chosen = list(first.values())[:count]
    return chosen + [url for url in shuffled if url not in set(chosen)][: count - len(chosen)]


class _BackLinks:
    """Looks up the pages of a bed that link to a URL, redirects followed."""

    def __init__(self, bed: ReplayBed) -> None:
        self._bed = bed

    def __call__(self, url: str, most: int | None = None) -> Sequence[str]:
        number = self._bed.number(url)
        return [] if number is None else self._bed.graph.back_links(self._bed.pages[number], most)


def _on_topic(bed: ReplayBed, topic: BedTopic) -> list[Url]:
    """The bed's pages on topic, without duplicates, with the URLs that the topic uses."""
    pages: dict[int, Url] = {}
    for url in (*topic.targets, *(topic.examples or topic.seeds)):
        number = bed.number(url)
        if number is not None:
            pages.setdefault(number, url)
    return list(pages.values())


def _augmented(bed: ReplayBed, topic: BedTopic, graph: _BackLinks) -> tuple[Url, ...]:
    analyser = Analyser()
    result = augment(
        topic.seeds,
        graph,
        analyser.counts(topic.description),
        lambda url: None if (counts := bed.counts(Url(url), analyser)) is None else dict(counts.items()),
    )
    return tuple(map(Url, result.all_seeds))
