"""The answer for a crawl: organisations of the seeds' kind, best first, each with its evidence.

Home pages that a person has labelled on topic count as seeds; those labelled off topic are rejected, and teach what the
seeds' home pages are not like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import log
from typing import Any

from scenthound import url as urls
from scenthound.apps.related.confidence import confidence
from scenthound.apps.related.facts import CrawledWeb, FolderWeb, HomeFacts
from scenthound.apps.related.link_evidence import Evidence, GatheredEvidence, ListPage, gather, home_pages
from scenthound.apps.related.owners import Owners, merge_aliases
from scenthound.apps.related.shared_words import shared_words
from scenthound.errors import BadUsage
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url

MOST_HOMES = 3_000
MOST_HUBS = 5
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Hub:
    """A page that lists an organisation beside seeds."""

    url: Url
    title: str
    seeds: tuple[str, ...]
    organisations: int
    """That the page links to, seeds included."""
    heading: str
    passage: str


@dataclass(frozen=True, slots=True)
class Organisation:
    """One line of the answer."""

    key: str
    name: str
    home: Url
    confidence: float
    evidence: Evidence
    hubs: tuple[Hub, ...] = ()
    shared_words: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    decision: str = ""
    """`accepted`, `rejected`, or empty."""

    def as_plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {**asdict(self), "confidence": round(self.confidence, 4), "evidence": asdict(self.evidence)}


@dataclass(frozen=True, slots=True)
class RelatedOrganisations:
    """The organisations found, best first, and the seeds they are compared with."""

    topic: str
    pages: int
    seeds: tuple[str, ...]
    organisations: tuple[Organisation, ...]
    rejected: tuple[Organisation, ...] = ()
    augmented: tuple[Url, ...] = ()
    """Pages that link to at least two seeds and would be good seeds of a further crawl, best first."""
    notes: tuple[str, ...] = field(default=())

    def as_plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "topic": self.topic,
            "pages": self.pages,
            "seeds": list(self.seeds),
            "organisations": [one.as_plain() for one in self.organisations],
            "rejected": [one.as_plain() for one in self.rejected],
            "augmented": list(self.augmented),
            "notes": list(self.notes),
        }


def related(folder: CrawlFolder, most: int = 25) -> RelatedOrganisations:
    """The organisations of a crawl. Raises `BadUsage` if there are no pages, or seeds of one organisation only."""
    web, request = FolderWeb(folder), folder.request
    if not web.pages:
        raise BadUsage(
            "this crawl has no pages yet", f"wait, or see why with: scenthound status {printable(str(folder.path))}"
        )
    hubs_given = {urls.make(url) for url in request.found.get("augment", ())}
    seeds = [url for url, _ in request.keyed_seeds() if url not in hubs_given]
    labels = {url: on_topic for url, on_topic in folder.database.labels().items() if urls.is_home(url)}
    return answer_from(web, seeds, request.topic.keywords, most, labels)


def answer_from(
    web: CrawledWeb,
    seeds: Sequence[Url],
    keywords: str = "",
    most: int = 25,
    labels: Mapping[Url, bool] | None = None,
) -> RelatedOrganisations:
    """The answer for what a crawl has seen, from home pages of seeds and labels of home pages."""
    labels = labels or {}
    homes_given = _organisations_given(seeds)
    accepted = [url for url, on_topic in labels.items() if on_topic]
    owners = Owners([*homes_given, *accepted])
    seed_keys = {owners.key(url) for url in homes_given}
    homes, addresses = read_homes(web, owners, {*seed_keys, *map(owners.key, accepted)})
    seed_keys = {owners.key(url) for url in homes_given}
    yes = {owners.key(url) for url in accepted} - seed_keys
    no = {owners.key(url) for url, on_topic in labels.items() if not on_topic} - seed_keys - yes
    check_seeds(seed_keys | yes)
    gathered = gather(web, owners, seed_keys | yes, homes, no, keywords)
    ranked = sorted(
        ((key, confidence(evidence)) for key, evidence in gathered.evidence.items() if key not in seed_keys),
        key=lambda entry: (-round(entry[1], 9), entry[0]),
    )
    shown = _Showing(
        owners, gathered, homes, addresses, {**dict.fromkeys(yes, "accepted"), **dict.fromkeys(no, "rejected")}
    )
    kept = [entry for entry in ranked if entry[0] not in no and _says_something(gathered.evidence[entry[0]])][:most]
    return RelatedOrganisations(
        keywords,
        len(web.pages),
        tuple(sorted(seed_keys)),
        tuple(shown.organisation(key, sure) for key, sure in kept),
        tuple(shown.organisation(key, sure) for key, sure in ranked if key in no),
        hubs_to_start_from(gathered.links.lists),
        tuple(_notes(gathered, homes, seed_keys, kept)),
    )


def _organisations_given(seeds: Sequence[Url]) -> list[Url]:
    """The seeds that stand for organisations: home pages; all of them if those are of fewer than two organisations."""
    homes = [url for url in seeds if urls.is_home(url)]
    owners = Owners(homes)
    return homes if len({owners.key(url) for url in homes}) > 1 else list(seeds)


def check_seeds(keys: Iterable[str]) -> None:
    """Raise `BadUsage` for fewer than two organisations."""
    known = sorted(keys)
    if len(known) < 2:
        which = f"all seeds belong to one organisation, {known[0]}" if known else "there are no seeds"
        raise BadUsage(
            which,
            "give home pages of two or more, one a line; or label home pages: scenthound label DIR URL --on-topic",
        )


def hubs_to_start_from(
    lists: Sequence[ListPage], per_seed: int = 10, fewest: int = 2, most: int = 10
) -> tuple[Url, ...]:
    """Augmented seeds [BIZ] from the crawl's own links: of each seed the first 10 pages that link to it, counted across
    seeds; those that link to at least two.

    `lists` are in order of worth.
    """
    taken: dict[str, int] = {}
    counted: dict[Url, int] = {}
    for page in lists:
        for seed in page.seeds:
            taken[seed] = taken.get(seed, 0) + 1
            if taken[seed] <= per_seed:
                counted[page.url] = counted.get(page.url, 0) + 1
    hubs = sorted((url for url, times in counted.items() if times >= fewest), key=lambda url: -counted[url])
    return tuple(hubs[:most])


def read_homes(web: CrawledWeb, owners: Owners, first: set[str]) -> tuple[dict[str, HomeFacts], dict[str, Url]]:
    """Home pages by organisation, after aliases are merged: what they say, and their addresses."""
    found = dict(list(home_pages(web, owners).items())[:MOST_HOMES])
    read = {key: facts for key, url in found.items() if (facts := web.home_facts(url)) is not None}
    merge_aliases(owners, read, web.moved, first)
    homes: dict[str, HomeFacts] = {}
    addresses: dict[str, Url] = {}
    for key, facts in read.items():
        main = owners.key(found[key])
        if main not in homes or key == main:
            homes[main], addresses[main] = facts, found[key]
    return homes, addresses


def _says_something(evidence: Evidence) -> bool:
    return bool(evidence.cocitation or evidence.from_seeds or evidence.to_seeds or evidence.likeness > 0)


def _notes(
    gathered: GatheredEvidence, homes: Mapping[str, HomeFacts], seeds: set[str], kept: Sequence[tuple[str, float]]
) -> list[str]:
    notes = []
    if missing := sorted(seeds - homes.keys()):
        notes.append(f"no home page of {', '.join(missing[:5])}: nothing can be compared with it")
    if not any(len(page.seeds) > 1 for page in gathered.links.lists):
        notes.append("no page links to two of the seeds: a larger crawl, or --source with --augment, may find some")
    if not kept:
        notes.append("no organisation was met: crawl more pages (scenthound resume DIR --pages N), or give other seeds")
    return notes


@dataclass(frozen=True, slots=True)
class _Showing:
    """Makes lines of the answer from what was gathered."""

    owners: Owners
    gathered: GatheredEvidence
    homes: Mapping[str, HomeFacts]
    addresses: Mapping[str, Url]
    decisions: Mapping[str, str]

    def organisation(self, key: str, sure: float) -> Organisation:
        home = self.homes.get(key)
        hubs = [page for page in self.gathered.links.lists if key in page.listed and page.seeds - {key}]
        hubs.sort(key=lambda page: (-len(page.seeds - {key}) / (1 + log(len(page.listed))), page.url))
        address = self.addresses.get(key) or _linked_home(key, hubs, self.gathered, self.owners)
        return Organisation(
            key,
            _name(key, home),
            address,
            sure,
            self.gathered.evidence[key],
            tuple(self._hub(page, key) for page in hubs[:MOST_HUBS]),
            () if home is None else shared_words(home, self.gathered.model),
            tuple(self.owners.aliases().get(key, ())),
            self.decisions.get(key, ""),
        )

    def _hub(self, page: ListPage, key: str) -> Hub:
        facts = self.gathered.pages_read.get(page.url)
        mentions = () if facts is None else facts.mentions.values()
        mention = next((one for one in mentions if self.owners.key(one.url) == key), None)
        return Hub(
            page.url,
            "" if facts is None else printable(facts.title, 120),
            tuple(sorted(page.seeds - {key})),
            len(page.listed),
            "" if mention is None else mention.heading,
            "" if mention is None else mention.passage,
        )


def _linked_home(key: str, hubs: Sequence[ListPage], gathered: GatheredEvidence, owners: Owners) -> Url:
    """The address of an organisation whose home page was not fetched: as a hub links to it."""
    for page in hubs:
        if (facts := gathered.pages_read.get(page.url)) is not None:
            for host, mention in facts.mentions.items():
                if owners.key(mention.url) == key:
                    return urls.make(f"{mention.url.partition('://')[0]}://{host}/")
    return urls.make(f"https://{key}/")


def _name(key: str, home: HomeFacts | None) -> str:
    return printable(home.name or home.title, LONGEST_NAME) if home is not None and (home.name or home.title) else key
