"""The web as an economy knows it: features of pages and links, goals, and the distance of each page from a goal.

    distance(page) = 0 for a goal, else 1 + the smallest distance of the pages it links to; at most `FAR`

Links, words and features are ids in arrays, so that thousands of pages fit in memory and are saved quickly.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound import url as urls
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.page.views.anchors import PageTerms
from scenthound.papers.hayek.page_features import (
    FAR,
    FEATURE_CLASSES,
    WORDS_PER_PAGE,
    Dictionaries,
    Lexicon,
    LinkWords,
    SiteCounts,
    bayes_levels,
    holds,
    known_ids,
    ngrams,
    pack_lists,
    sorted_counts,
    unpack_lists,
    url_features,
)
from scenthound.text.term_counts import terms_of
from scenthound.text.tokens import Analyser

ANCHORS_PER_PAGE = 16  # only the first anchors of links to a page are used
NEW, REQUESTED, FETCHED, DEAD = range(4)
Flags = npt.NDArray[np.bool_]

_NONE = array("i")  # shared, never modified: a page's arrays are replaced


@dataclass(slots=True)
class KnownPage:
    """A page of the known web, fetched or only linked to."""

    url: str
    host: str
    seen: set[int]
    """Features of its URL and of links to it."""
    words: array[int]
    """Features of its text, in ascending order; `counts` has the frequency of each."""
    counts: array[int]
    links: array[int]
    state: int = NEW
    goal: bool = False
    distance: int = FAR
    anchors: int = 0
    bought: int = 0
    """1: by a virtual agent, 2: by a real agent, 3: by both."""
    matches: list[int] | None = None
    """Cache of the agents that match it, some of which may have died; None: not computed."""
    order: array[int] = field(default_factory=lambda: _NONE)
    """Words of its text in document order; only stored if conditions need them."""


class KnownWeb:
    """Every known page, by number, with its features, links and distance from a goal."""

    def __init__(
        self,
        analyser: Analyser,
        is_goal: Callable[[Page], bool],
        most: int = 200_000,
        classes: Iterable[str] = FEATURE_CLASSES,
        keeps_order: bool = False,
    ) -> None:
        self.analyser, self.is_goal, self.most = analyser, is_goal, most
        self.classes, self.keeps_order = frozenset(classes), keeps_order
        self.sites = SiteCounts(self.classes)
        self._pages_of_host: dict[str, list[int]] = {}  # only if sites are counted
        self.lexicon, self.dictionaries = Lexicon(), Dictionaries()
        self.pages: list[KnownPage] = []
        self.numbers: dict[str, int] = {}
        """Page numbers by URL, including other URLs that led to the same page."""
        self.back: list[array[int]] = []
        """For each page, the pages that link to it."""
        self.fetched: list[int] = []
        self.goals: list[int] = []
        self.known_goals: set[str] = set()
        """URLs of goals given by the user, whatever the judge says."""
        self.refused: set[str] = set()
        """URLs of pages labelled as not goals, whatever the judge says."""
        self.pages_by_feature: dict[int, array[int]] = {}
        """The pages with each feature; words are added when they are first looked up, distances never."""
        self._indexed_words = array("i")  # the words in `pages_by_feature`
        self._hosts: dict[int, dict[str, list[int]]] = {}  # fetched pages at a distance, by host
        self.changed: set[int] = set()
        """Pages whose features have changed since the economy last cleared this set."""

    # ---- learning

    def add(self, url: str) -> int:
        """The number of a URL; -1 if it is new and there is no room."""
        number = self.numbers.get(url, -1)
        if number < 0 and len(self.pages) < self.most:
            number = self._new(url)
            self._add_seen(number, self.lexicon.add(url_features(url)).tolist())
        return number

    def _new(self, url: str) -> int:
        number = self.numbers[url] = len(self.pages)
        self.pages.append(KnownPage(url, urls.host(url), set(), _NONE, _NONE, _NONE))
        self.back.append(array("i"))
        if self.sites:
            self._pages_of_host.setdefault(self.pages[number].host, []).append(number)
        return number

    def learn(self, page: Page, requested: str | None = None) -> int:
        """Add a fetched page, perhaps requested under another URL. Returns its number; -1 if there is no room."""
        number = self.add(page.url)
        if requested is not None and requested != page.url and number >= 0:
            self._merge_alias(requested, number)
        if number < 0 or self.pages[number].state == FETCHED:
            return number
        known_page = self.pages[number]
        known_page.words, known_page.counts = self._words(page)
        if self.keeps_order:
            known_page.order = array("i", self.lexicon.add(self._words_in_order(page)).tolist())
        known_page.state, known_page.matches = FETCHED, None
        for feature in known_ids(known_page.words, self._indexed_words):
            self.pages_by_feature[feature].append(number)
        self.fetched.append(number)
        self._hosts.clear()
        known_page.links = array("i", self._links(page, number))
        self._count_site("visits", known_page.host)
        self._count_site("hub", known_page.host, sum(self.pages[link].goal for link in known_page.links))
        self._count(known_page, 1)
        is_goal = self.is_goal(page)  # called for every page, since a judge may learn from it
        if page.url in self.known_goals or (is_goal and page.url not in self.refused):
            self._set_goal(number)
        else:
            near = min((self.pages[link].distance for link in known_page.links), default=FAR)
            self._lower_distance(number, near + 1)
        self.changed.add(number)
        return number

    def label(self, url: str, is_goal: bool) -> None:
        """Take a person's label for a page, fetched or not."""
        (self.known_goals if is_goal else self.refused).add(url)
        (self.refused if is_goal else self.known_goals).discard(url)
        number = self.numbers.get(url, -1)
        if number < 0 or self.pages[number].state != FETCHED or self.pages[number].goal == is_goal:
            return
        if is_goal:
            self._set_goal(number)
            return
        self.pages[number].goal = False
        self.goals.remove(number)
        self._recompute_distances()

    def connect(self, distances: Mapping[str, int]) -> None:
        """Use distances from a goal that an earlier crawl found ([ECON] algorithm 1, line 2)."""
        for url, distance in distances.items():
            if (number := self.add(url)) >= 0:
                self._lower_distance(number, distance)

    def connected(self) -> dict[str, int]:
        """The pages that are known to lead to a goal, including goals, with their distances."""
        return {page.url: page.distance for page in self.pages if page.distance < FAR}

    def mark_dead(self, url: str) -> int:
        """Mark a URL as dead after a failed request, and return its number; -1 if it is unknown."""
        number = self.numbers.get(url, -1)
        if number >= 0 and self.pages[number].state != FETCHED:
            self.pages[number].state = DEAD
        return number

    def _words(self, page: Page) -> tuple[array[int], array[int]]:
        """The features of a page's text, in ascending order, and how often each occurs."""
        names, times = terms_of(page.record.counts(self.analyser))
        features, times = self.lexicon.add(names[:WORDS_PER_PAGE]), times[:WORDS_PER_PAGE]
        more = self._more_words(page, features)
        if more:
            features = np.concatenate([features, self.lexicon.add(list(more))])
            times = np.concatenate([times, np.array(list(more.values()), dtype=np.asarray(times).dtype)])
        return sorted_counts(features, times)

    def _more_words(self, page: Page, features: Any) -> dict[str, int]:
        """Other features of the text, if the economy uses them, and how often each occurs."""
        more: dict[str, int] = {}
        if "ngrams" in self.classes:
            more |= ngrams(self._words_in_order(page))
        if "bayes" in self.classes:
            self.dictionaries.make_room(len(self.lexicon))
            counts = self.dictionaries.documents[:, features[features >= 0]]
            more |= dict.fromkeys(bayes_levels(self.dictionaries.pages.tolist(), counts.tolist()), 1)
        return more

    def _words_in_order(self, page: Page) -> list[str]:
        """The words of a page in document order, without stop words."""
        words = PageTerms(page.record, self.analyser)
        return words.between(0, min(len(words.indices), 2 * WORDS_PER_PAGE))

    def _merge_alias(self, requested: str, number: int) -> None:
        """Merge the URL that was requested into the page that it led to."""
        other = self.numbers.get(requested)
        self.numbers[requested] = number
        if other is not None and other != number and self.pages[other].state != FETCHED:
            self.pages[other].state = DEAD
            self.back[number].extend(self.back[other])
            self._add_seen(number, self.pages[other].seen)
            for source in self.back[other]:
                links = self.pages[source].links
                self.pages[source].links = array("i", (number if link == other else link for link in links))

    def _links(self, page: Page, number: int) -> list[int]:
        """The pages that a page links to. They get the features of the links."""
        words, linked = LinkWords(page, self.analyser), list[int]()
        names, ends = list[str](), list[tuple[int, int]]()  # feature names; (page, where its names end)
        for link in page.outlinks:
            other = self.numbers.get(link.url, -1)
            if other < 0 and len(self.pages) < self.most:
                other = self._new(link.url)
                names += url_features(link.url)
                ends.append((other, len(names)))
            if other < 0 or other == number:
                continue
            self.back[other].append(number)
            linked.append(other)
            if self.pages[other].anchors < ANCHORS_PER_PAGE:
                self.pages[other].anchors += 1
                names += words.features(link)
                ends.append((other, len(names)))
        features, start = self.lexicon.add(names).tolist(), 0
        for other, end in ends:
            self._add_seen(other, features[start:end])
            start = end
        return linked

    def _add_seen(self, number: int, features: Iterable[int]) -> None:
        """Add features that are known without fetching the page; -1 is ignored."""
        known_page = self.pages[number]
        new = [feature for feature in features if feature >= 0 and feature not in known_page.seen]
        if not new:
            return
        known_page.seen.update(new)
        known_page.matches = None
        self.changed.add(number)
        pages_by_feature = self.pages_by_feature
        for feature in new:
            if feature in pages_by_feature:
                pages_by_feature[feature].append(number)
            else:
                pages_by_feature[feature] = array("i", (number,))
        if known_page.state == FETCHED:
            self.dictionaries.make_room(len(self.lexicon))
            self.dictionaries.count(known_page.distance, np.array(new, dtype=np.intp), 1)

    def _count(self, known_page: KnownPage, sign: int) -> None:
        """Add a page to the dictionaries of its distance, or remove it (sign = -1)."""
        self.dictionaries.make_room(len(self.lexicon))
        self.dictionaries.pages[known_page.distance] += sign
        words = np.frombuffer(known_page.words, dtype=np.int32) if known_page.words else np.zeros(0, np.int32)
        counts = np.frombuffer(known_page.counts, dtype=np.int32) if known_page.counts else np.zeros(0, np.int32)
        self.dictionaries.count(known_page.distance, words, counts, sign)
        self.dictionaries.count(known_page.distance, np.array(sorted(known_page.seen), dtype=np.intp), 1, sign)

    def _set_goal(self, number: int) -> None:
        self.pages[number].goal = True
        self.goals.append(number)
        self._count_site("goals", self.pages[number].host)
        for source in self.back[number]:
            self._count_site("hub", self.pages[source].host)
        self._lower_distance(number, 0)

    def _recompute_distances(self) -> None:
        """Forget all distances and compute them again from the goals."""
        for number, known_page in enumerate(self.pages):
            if known_page.distance < FAR:
                if known_page.state == FETCHED:
                    self._count(known_page, -1)
                known_page.distance, known_page.matches = FAR, None
                if known_page.state == FETCHED:
                    self._count(known_page, 1)
                self.changed.add(number)
        self._hosts.clear()
        self._recount_sites()
        for goal in self.goals:
            self._lower_distance(goal, 0)

    def _count_site(self, kind: str, host: str, number: int = 1) -> None:
        if self.sites.add(kind, host, number):
            for page in self._pages_of_host.get(host, ()):
                self.pages[page].matches = None
                self.changed.add(page)

    def _recount_sites(self) -> None:
        """Count sites again from all pages, after a label or a restart."""
        self.sites, self._pages_of_host = SiteCounts(self.classes), {}
        if not self.sites:
            return
        for number, known_page in enumerate(self.pages):
            self._pages_of_host.setdefault(known_page.host, []).append(number)
        for number in self.fetched:
            known_page = self.pages[number]
            self._count_site("visits", known_page.host)
            self._count_site("goals", known_page.host, int(known_page.goal))
            self._count_site("hub", known_page.host, sum(self.pages[link].goal for link in known_page.links))

    def _lower_distance(self, number: int, distance: int) -> None:
        """Lower the distance of a page from a goal, and then those of pages that link to it."""
        queue = deque([(number, distance)])
        while queue:
            number, distance = queue.popleft()
            known_page = self.pages[number]
            if distance >= known_page.distance:
                continue
            if known_page.state == FETCHED:
                self._count(known_page, -1)
            known_page.distance, known_page.matches = distance, None
            self._hosts.clear()
            if known_page.state == FETCHED:
                self._count(known_page, 1)
            self.changed.add(number)
            queue.extend((source, distance + 1) for source in self.back[number])

    # ---- queries

    def features(self, number: int, real: bool = True) -> set[int]:
        """All features of a page; with `real=False`, only those known before it is fetched."""
        known_page = self.pages[number]
        features = {*known_page.seen, *self._states(known_page)}
        if real:
            features.update(known_page.words)
        return features

    def features_among(self, number: int, features: Set[int], flags: Flags) -> list[int]:
        """The features of a page that are in `features`; `flags` is the same set as an array indexed by feature."""
        known_page = self.pages[number]
        present = list(known_page.seen & features)
        present += [feature for feature in self._states(known_page) if feature in features]
        if known_page.words:
            words = np.frombuffer(known_page.words, dtype=np.int32)
            present += words[flags.take(words, mode="clip")].tolist()
        return present

    def fetched_at(self, distance: int) -> Mapping[str, Sequence[int]]:
        """The fetched pages at this distance from a goal, by host, in fetch order."""
        hosts = self._hosts.get(distance)
        if hosts is None:
            hosts = self._hosts[distance] = {}
            for number in self.fetched:
                if self.pages[number].distance == distance:
                    hosts.setdefault(self.pages[number].host, []).append(number)
        return hosts

    def has(self, number: int, feature: int) -> bool:
        """Whether a page has a feature."""
        known_page = self.pages[number]
        if self.lexicon.virtual[feature]:
            return feature in known_page.seen or feature in self._states(known_page)
        if not self.lexicon.indexed[feature]:
            return known_page.state == FETCHED and self._holds(number, self.lexicon.names[feature])
        index = bisect_left(known_page.words, feature)
        return index < len(known_page.words) and known_page.words[index] == feature

    def _states(self, known_page: KnownPage) -> list[int]:
        """The features of a page that change during the crawl."""
        distance = known_page.distance
        states = [self.lexicon.distances[distance]] if 0 < distance < FAR else []
        if self.sites:
            ids = self.lexicon.add(self.sites.features(known_page.host)).tolist()
            states += [feature for feature in ids if feature >= 0]
        return states

    def _holds(self, number: int, condition: str) -> bool:
        """Whether a condition holds for a fetched page."""
        names, order = self.lexicon.names, self.pages[number].order

        def has(word: str) -> bool:
            feature = int(self.lexicon.ids([word])[0])
            return feature >= 0 and self.has(number, feature)

        return holds(condition, has, [names[word] for word in order if word >= 0])

    def pages_with(self, features: Sequence[int]) -> list[int]:
        """The pages that have all these features. The cost depends on the rarest feature."""
        indexed = [feature for feature in features if self.lexicon.indexed[feature]]
        if not indexed:
            return [number for number in range(len(self.pages)) if all(self.has(number, each) for each in features)]
        rarest = min(indexed, key=self.document_count)
        if rarest not in self.pages_by_feature:
            self.pages_by_feature[rarest] = array("i", (number for number in self.fetched if self.has(number, rarest)))
            self._indexed_words.append(rarest)
        return [number for number in self.pages_by_feature[rarest] if all(self.has(number, each) for each in features)]

    def document_count(self, feature: int) -> float:
        """The number of fetched pages, here or in training, that have a feature."""
        if not self.lexicon.indexed[feature]:
            return float("inf")
        if feature >= self.dictionaries.documents.shape[1]:
            return 0.0
        return float(self.dictionaries.documents[:, feature].sum())


# ---- saving


def save_web(web: KnownWeb) -> dict[str, Any]:
    """The state of the web, without cached matches, as arrays and text."""
    pages = web.pages
    return {
        "features": "\n".join(web.lexicon.names),
        "urls": "\n".join(page.url for page in pages),
        "aliases": {url: number for url, number in web.numbers.items() if pages[number].url != url},
        "seen": pack_lists([sorted(page.seen) for page in pages]),
        "words": pack_lists([page.words for page in pages]),
        "counts": pack_lists([page.counts for page in pages]),
        "links": pack_lists([page.links for page in pages]),
        "back": pack_lists(web.back),
        "state": np.array(
            [[page.state, page.goal, page.distance, page.anchors, page.bought] for page in pages], dtype=np.int32
        ).reshape(len(pages), 5),
        "fetched": np.array(web.fetched, dtype=np.int32),
        "goals": np.array(web.goals, dtype=np.int32),
        "known_goals": sorted(web.known_goals),
        "refused": sorted(web.refused),
        **({"order": pack_lists([page.order for page in pages])} if web.keeps_order else {}),
        "dictionaries": web.dictionaries.save(len(web.lexicon)),
    }


def load_web(web: KnownWeb, state: Mapping[str, Any]) -> None:
    """Replace the contents of a web with the result of `save_web`."""
    web.lexicon = Lexicon(str(state["features"]).split("\n"))
    web.dictionaries, web.pages_by_feature, web.changed, web._hosts = Dictionaries(), {}, set(), {}
    web._indexed_words = array("i")
    names = str(state["urls"]).split("\n") if state["urls"] else []
    lists = zip(*(unpack_lists(state[name]) for name in ("seen", "words", "counts", "links", "back")), strict=True)
    web.pages, web.back = [], []
    for url, row, (seen, words, counts, links, back) in zip(
        names, np.asarray(state["state"]).tolist(), lists, strict=True
    ):
        web.pages.append(
            KnownPage(url, urls.host(url), set(seen), words, counts, links, row[0], bool(row[1]), *row[2:5])
        )
        web.back.append(back)
    web.numbers = {page.url: number for number, page in enumerate(web.pages)} | dict(state["aliases"])
    web.fetched, web.goals = np.asarray(state["fetched"]).tolist(), np.asarray(state["goals"]).tolist()
    web.known_goals, web.refused = set(state["known_goals"]), set(state["refused"])
    web.dictionaries.load(state["dictionaries"], len(web.lexicon))
    if "order" in state:
        for page, order in zip(web.pages, unpack_lists(state["order"]), strict=True):
            page.order = order
    web._recount_sites()
    web.changed.clear()
    for number, page in enumerate(web.pages):
        for feature in page.seen:
            web.pages_by_feature.setdefault(feature, array("i")).append(number)


__all__ = [
    "DEAD",
    "FAR",
    "FETCHED",
    "NEW",
    "REQUESTED",
    "KnownPage",
    "KnownWeb",
    "Lexicon",
    "Url",
    "load_web",
    "save_web",
]
