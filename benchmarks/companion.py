"""The companion, measured in replay: how often is the reader's next page among its first five suggestions?

    $ python benchmarks/companion.py [--quick] [--bed schools|apache|generated]

Each simulated reader has a hidden topic of the bed, and knows what no companion knows: how many clicks each page is
away from the nearest unread page of the topic (its seeds and targets). With probability 0.7 the reader follows one of
the links that are nearest, with probability 0.3 any link. Readers never read a page twice, and go back where no link is
left. They read a page on their topic for a minute and any other page for ten seconds. They do not see suggestions, so
all methods are measured on the same walks.

Methods:
* companion: as shipped. It sees the pages in the order of the walk, with the reading times.
* companion, no times: without the reading times.
* page in front: the same ranking with a profile of the current page alone, so without memory.
* breadth-first: the pages that were fetched ahead, in that order, without a profile; dead links are left out.
* page order: the links in the order in which the page has them.

All methods look ahead at the same 20 pages. `next` is the share of steps whose next page is among the first five,
`soon` the share where the next page or the one after it is. Means are over topics, with 2 readers each (4 on the
generated web). Tests are paired over topics, with the topics of one category as a group and Holm's adjustment over all
tests of a bed. The constants of the companion were chosen on every fourth topic of the schools bed (left out here), on
another generated web, and on apache with other readers.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scenthound.desk.apps.companion import (
    CompanionPage,
    LooksAhead,
    PageLink,
    PageReceiver,
    Reader,
    settings_for,
    spellings,
    summarise,
)
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.statistics import holm, paired_t
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.replay import replay
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_scope

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
FIRST = 5
STEPS = 15
READERS = 2
TUNED = 4
PURPOSE = 0.7
"""Probability that a reader follows a link towards the topic."""
OURS, UNTIMED, FRONT, BLIND, ORDER = "companion", "companion, no times", "page in front", "breadth-first", "page order"
METHODS = (OURS, UNTIMED, FRONT, BLIND, ORDER)
Score = tuple[float, float]


class Walk(NamedTuple):
    """The pages that a reader opened, in order."""

    pages: list[Url]
    fronts: list[Url]
    """The page that each next page was opened from."""
    topical: set[Url]


class BedWeb:
    """A bed as a browser sees it."""

    def __init__(self, bed: PreparedBed) -> None:
        bed.read_parts(Parts((Analyser(),)))
        self.bed, self.pages = bed, set(bed.pages)
        self.links = {url: self._targets(url) for url in bed.pages}
        self._to: dict[Url, list[Url]] = {}
        for url, targets in self.links.items():
            for target in targets:
                self._to.setdefault(target, []).append(url)

    def _targets(self, url: Url) -> list[Url]:
        """The pages that a page links to, after redirects."""
        page_numbers = map(self.bed.number, self.bed.links(url))
        targets = dict.fromkeys(self.bed.pages[number] for number in page_numbers if number is not None)
        return [target for target in targets if target != url]

    def distances(self, targets: set[Url]) -> dict[Url, int]:
        """Number of clicks from each page to the nearest target."""
        distances = dict.fromkeys(targets & self.pages, 0)
        queue = deque(distances)
        while queue:
            url = queue.popleft()
            for source in self._to.get(url, ()):
                if source not in distances:
                    distances[source] = distances[url] + 1
                    queue.append(source)
        return distances

    def page(self, url: Url) -> tuple[CompanionPage, str]:
        """A page as the extension reports it, and its text."""
        landed = self.bed.fetch(Candidate(url, 0.0))
        assert isinstance(landed, Page)
        return summarise(landed), landed.text

    def look_ahead(self, links: Sequence[PageLink], receiver: PageReceiver) -> None:
        """Fetch pages ahead as the desk does, with its scope and budget."""
        settings = settings_for(Settings())
        scope = make_scope(settings)
        seeds = [(link.url, link.original_url or link.url) for link in links if scope.refuses_url(link.url) is None]
        crawl = Crawl(
            LooksAhead(receiver), MemoryFrontier(settings.frontier, "refuse"), MemoryHistory(), Topic(""), seeds,
            limits=Limits(pages=settings.pages), scope=scope,
        )  # fmt: skip
        crawl.start()
        replay(crawl, self.bed.fetch)


def walk(web: BedWeb, topic: BedTopic, rng: random.Random) -> Walk:
    """Simulate the walk of one reader."""
    topical = {*topic.seeds, *topic.targets}
    start = rng.choice([url for url in topic.seeds if url in web.pages])
    pages, fronts, path, read = [start], list[Url](), [start], {start}
    while len(fronts) < STEPS and path:
        open_links = [url for url in web.links[path[-1]] if url not in read]
        if not open_links:
            path.pop()
            continue
        distances = web.distances(topical - read)
        nearest = min(distances.get(url, 10**6) for url in open_links)
        choices = (
            [url for url in open_links if distances.get(url, 10**6) == nearest]
            if rng.random() < PURPOSE
            else open_links
        )
        fronts.append(path[-1])
        path.append(following := rng.choice(choices))
        pages.append(following)
        read.add(following)
    return Walk(pages, fronts, topical)


class Shown(NamedTuple):
    """One step of a walk: the following pages, and the first suggestions of each method."""

    following: Sequence[Url]
    first: dict[str, list[Url]]


class AllReaders:
    """Passes the pages that were fetched ahead on to all readers."""

    def __init__(self, ahead: dict[Url, CompanionPage], readers: list[Reader]) -> None:
        self._ahead, self._readers, self._gone = ahead, readers, list[Url]()

    def add_fetched(self, page: CompanionPage, requested: Url) -> None:
        for url in {page.url, requested}:
            self._ahead[url] = page
        for reader in self._readers:
            reader.add_fetched(page, requested)

    def add_missing(self, url: Url) -> None:
        self._gone.append(url)
        for reader in self._readers:
            reader.add_missing(url)

    def tell(self, reader: Reader) -> None:
        """Pass everything seen so far on to a new reader."""
        for url, page in self._ahead.items():
            reader.add_fetched(page, url)
        for url in self._gone:
            reader.add_missing(url)


def steps(web: BedWeb, walked: Walk) -> Iterator[Shown]:
    """Every step of a walk, with the suggestions of each method."""
    readers = {OURS: Reader(), UNTIMED: Reader()}
    ahead: dict[Url, CompanionPage] = {}
    read: set[Url] = set()

    all_readers = AllReaders(ahead, list(readers.values()))
    for index, front in enumerate(walked.fronts):
        page, text = web.page(front)
        spelling = spellings(text)
        forgetful = Reader()
        for reader in (*readers.values(), forgetful):
            reader.open(page, spelling)
        if front not in read:
            readers[OURS].teach(front, "read", 60.0 if front in walked.topical else 10.0)
        read |= set(walked.pages[: index + 1])
        web.look_ahead(readers[OURS].unseen(page), all_readers)
        all_readers.tell(forgetful)
        first = {
            name: [_key(suggestion.url, ahead) for suggestion in reader.suggestions(page, 30)]
            for name, reader in readers.items()
        }
        first[FRONT] = [_key(suggestion.url, ahead) for suggestion in forgetful.suggestions(page, 30)]
        near = [link.url for link in page.links]
        further = [link.url for url in near if url in ahead for link in ahead[url].links]
        first[BLIND] = [_key(url, ahead) for url in (*near, *further) if url in ahead]
        first[ORDER] = [_key(url, ahead) for url in near]
        for name, urls in first.items():
            first[name] = [url for url in dict.fromkeys(urls) if url not in read][:FIRST]
        yield Shown(walked.pages[index + 1 : index + 3], first)


def _key(url: str, ahead: dict[Url, CompanionPage]) -> Url:
    """The page that a URL leads to, if it was fetched."""
    key = Url(url)
    return ahead[key].url if key in ahead else key


def measured(web: BedWeb, topic: BedTopic, readers: int) -> dict[str, Score]:
    """For each method, the share of steps at which it suggests the next page, and at which it does so soon."""
    hits: dict[str, list[Score]] = {name: [] for name in METHODS}
    for number in range(readers):
        for shown in steps(web, walk(web, topic, random.Random(f"{topic.id}:{number}"))):
            for name, first in shown.first.items():
                hits[name].append((float(shown.following[0] in first), float(any(u in first for u in shown.following))))
    return {name: tuple(np.mean(values, axis=0)) if values else (0.0, 0.0) for name, values in hits.items()}


def report(name: str, bed: Bed, readers: int, most: int | None = None) -> None:
    web = BedWeb(prepare(bed))
    topics = [topic for topic in bed.topics if web.pages.intersection(topic.seeds)][:most]
    if name == "schools":
        topics = [topic for index, topic in enumerate(topics) if index % TUNED]
    scores = {topic.id: measured(web, topic, readers) for topic in topics}
    level = 0 if len({topic.path[0] for topic in topics}) > 1 else 1
    groups = [topic.path[level] for topic in topics]
    columns = {method: np.array([scores[topic.id][method] for topic in topics]) for method in METHODS}
    others = [method for method in METHODS if method not in (OURS, UNTIMED)]
    tests = [(other, kind, paired_t(columns[OURS][:, kind].tolist(), columns[other][:, kind].tolist(), groups).p)
             for other in others for kind in (0, 1)]  # fmt: skip
    adjusted = dict(zip([test[:2] for test in tests], holm([test[2] for test in tests]), strict=True))
    print(f"\n{name}: {len(topics)} topics in {len(set(groups))} groups, {readers} readers each, up to {STEPS} steps\n")
    print("| method | next | soon | p next (Holm) | p soon (Holm) |\n|---|---|---|---|---|")
    for method in METHODS:
        following, soon = columns[method].mean(axis=0)
        p_values = [_p(adjusted[method, kind]) if method in others else "" for kind in (0, 1)]
        print(f"| {method} | {following:.3f} | {soon:.3f} | {p_values[0]} | {p_values[1]} |", flush=True)


def _p(p: float | None) -> str:
    return "-" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 topics of a small generated web, 1 reader each")
    parser.add_argument("--bed", choices=["schools", "apache", "generated"], help="only this bed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.quick:
            report("generated", generate(Path(folder) / "web", pages=600, seed=7, topics=4), 1, 3)
            return
        if options.bed in (None, "generated"):
            report("generated", generate(Path(folder) / "web", pages=5000, seed=15, topics=20), 2 * READERS)
    for name in ("schools", "apache"):
        if options.bed in (None, name) and not (SHARED / "data" / name).exists():
            print(f"../shared/data/{name} is missing: skipped", file=sys.stderr)
        elif options.bed in (None, name):
            report(name, Bed.open(SHARED / "data" / name), READERS)


if __name__ == "__main__":
    main()
