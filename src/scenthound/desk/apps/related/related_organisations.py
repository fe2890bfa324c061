"""Rank the organisations in a crawl by their similarity to the seed organisations, each with its evidence.

Home pages that a person has labelled on topic count as seeds. Home pages labelled off topic are rejected and serve as
negative examples when home pages are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import log
from typing import Any

from scenthound import url as urls
from scenthound.desk.apps.related.confidence import confidences
from scenthound.desk.apps.related.facts import CrawledWeb, FolderWeb, HomeFacts
from scenthound.desk.apps.related.link_evidence import Evidence, GatheredEvidence, ListPage, gather, home_pages
from scenthound.desk.apps.related.names import organisation_name
from scenthound.desk.apps.related.owners import Owners, merge_aliases
from scenthound.desk.apps.related.shared_words import words_shared_with_seeds
from scenthound.errors import BadUsage
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url

MOST_HOMES = 3_000
MOST_HUBS = 5
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Hub:
    """A page that links to the organisation and to at least one seed."""

    url: Url
    title: str
    seeds: tuple[str, ...]
    organisations: int
    """Number of organisations that the page links to, including seeds."""
    heading: str
    passage: str


@dataclass(frozen=True, slots=True)
class Organisation:
    """A related organisation, with the evidence for it."""

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
    nearer_than: float | None = None
    """The share of the other sites whose pages are less like those of the seeds; None if it has no pages."""

    def as_plain(self) -> dict[str, Any]:
        """Return JSON data."""
        return {**asdict(self), "confidence": round(self.confidence, 4)}


@dataclass(frozen=True, slots=True)
class RelatedOrganisations:
    """The related organisations, best first, and the seeds they were compared with."""

    topic: str
    pages: int
    seeds: tuple[str, ...]
    organisations: tuple[Organisation, ...]
    rejected: tuple[Organisation, ...] = ()
    augmented: tuple[Url, ...] = ()
    """Pages that link to at least two seeds and would be good seeds for another crawl, best first."""
    notes: tuple[str, ...] = field(default=())

    def as_plain(self) -> dict[str, Any]:
        """Return JSON data."""
        lists = {"organisations": self.organisations, "rejected": self.rejected}
        return {**asdict(self), **{name: [one.as_plain() for one in found] for name, found in lists.items()}}


def related(folder: CrawlFolder, most: int = 25) -> RelatedOrganisations:
    """Rank the related organisations in a crawl.

    Raises `BadUsage` if there are no pages, or if all seeds belong to one organisation.
    """
    web, request = FolderWeb(folder), folder.request
    if not web.pages:
        raise BadUsage(
            "this crawl has no pages yet", f"wait, or find out why: scenthound status {printable(str(folder.path))}"
        )
    hub_seeds = {urls.make(url) for url in request.found.get("augment", ())}
    seeds = [url for url, _ in request.keyed_seeds() if url not in hub_seeds]
    labels = {url: on_topic for url, on_topic in folder.database.labels().items() if urls.is_home(url)}
    return related_in(web, seeds, request.topic.keywords, most, labels)


def related_in(
    web: CrawledWeb,
    seeds: Sequence[Url],
    keywords: str = "",
    most: int = 25,
    labels: Mapping[Url, bool] | None = None,
) -> RelatedOrganisations:
    """Rank the related organisations in a crawled web. `labels` marks home pages as on or off topic."""
    labels = labels or {}
    home_seeds = _home_seeds(seeds)
    accepted = [url for url, on_topic in labels.items() if on_topic]
    owners = Owners([*home_seeds, *accepted])
    seed_keys = {owners.key(url) for url in home_seeds}
    homes, home_urls = read_homes(web, owners, {*seed_keys, *map(owners.key, accepted)}, home_seeds)
    seed_keys = {owners.key(url) for url in home_seeds}
    accepted_keys = {owners.key(url) for url in accepted} - seed_keys
    rejected_keys = {owners.key(url) for url, on_topic in labels.items() if not on_topic} - seed_keys - accepted_keys
    check_seeds(seed_keys | accepted_keys)
    gathered = gather(web, owners, seed_keys | accepted_keys, homes, rejected_keys, keywords)
    probabilities = confidences(gathered.evidence, seed_keys | accepted_keys)
    ranked = sorted(
        ((key, probabilities[key]) for key in gathered.evidence if key not in seed_keys),
        key=lambda entry: (-round(entry[1], 9), *_tie_break(gathered.evidence[entry[0]]), entry[0]),
    )
    builder = _OrganisationBuilder(
        owners,
        gathered,
        homes,
        home_urls,
        {**dict.fromkeys(accepted_keys, "accepted"), **dict.fromkeys(rejected_keys, "rejected")},
        _names_read(gathered, owners),
    )
    selected = [
        (key, probability)
        for key, probability in ranked
        if key not in rejected_keys and _has_evidence(gathered.evidence[key])
    ][:most]
    return RelatedOrganisations(
        keywords,
        len(web.pages),
        tuple(sorted(seed_keys)),
        tuple(builder.organisation(key, probability) for key, probability in selected),
        tuple(builder.organisation(key, probability) for key, probability in ranked if key in rejected_keys),
        suggested_seeds(gathered.links.lists),
        tuple(_notes(gathered, seed_keys, selected)),
    )


def _home_seeds(seeds: Sequence[Url]) -> list[Url]:
    """The seeds that are home pages; all seeds if the home pages belong to fewer than two organisations."""
    homes = [url for url in seeds if urls.is_home(url)]
    owners = Owners(homes)
    return homes if len({owners.key(url) for url in homes}) > 1 else list(seeds)


def check_seeds(keys: Iterable[str]) -> None:
    """Raise `BadUsage` if there are fewer than two organisations."""
    organisations = sorted(keys)
    if len(organisations) < 2:
        raise BadUsage(
            f"all seeds belong to one organisation, {organisations[0]}" if organisations else "there are no seeds",
            "give the home pages of at least two organisations; "
            "or label home pages: scenthound label DIR URL --on-topic",
        )


def suggested_seeds(
    lists: Sequence[ListPage], per_seed: int = 10, min_seeds: int = 2, most: int = 10
) -> tuple[Url, ...]:
    """Pick pages that link to several seeds and could seed another crawl ([BIZ], augmented seeds).

    For each seed, take the first `per_seed` pages of `lists` that link to it; return the pages taken for at least
    `min_seeds` seeds, those taken most often first. `lists` must be sorted by weight.
    """
    taken: dict[str, int] = {}
    seed_counts: dict[Url, int] = {}
    for page in lists:
        for seed in page.seeds:
            taken[seed] = taken.get(seed, 0) + 1
            if taken[seed] <= per_seed:
                seed_counts[page.url] = seed_counts.get(page.url, 0) + 1
    hubs = sorted((url for url, count in seed_counts.items() if count >= min_seeds), key=lambda url: -seed_counts[url])
    return tuple(hubs[:most])


def read_homes(
    web: CrawledWeb, owners: Owners, preferred: set[str], seeds: Sequence[Url] = ()
) -> tuple[dict[str, HomeFacts], dict[str, Url]]:
    """Return facts and URLs of home pages by organisation, after merging aliases."""
    home_urls = dict(list(home_pages(web, owners, seeds).items())[:MOST_HOMES])
    facts_by_key = {key: facts for key, url in home_urls.items() if (facts := web.home_facts(url)) is not None}
    merge_aliases(owners, facts_by_key, web.moved, preferred)
    homes: dict[str, HomeFacts] = {}
    main_urls: dict[str, Url] = {}
    for key, facts in facts_by_key.items():
        main_key = owners.key(home_urls[key])
        if main_key not in homes or key == main_key:
            homes[main_key], main_urls[main_key] = facts, home_urls[key]
    return homes, main_urls


def _tie_break(evidence: Evidence) -> tuple[float, ...]:
    """What puts one of two organisations with the same confidence first."""
    return -evidence.likeness, -evidence.cocitation, -evidence.described, -evidence.links, -evidence.company


def _has_evidence(evidence: Evidence) -> bool:
    return bool(
        evidence.cocitation
        or evidence.from_seeds
        or evidence.to_seeds
        or max(evidence.likeness, evidence.described) > 0
    )


def _notes(gathered: GatheredEvidence, seeds: set[str], selected: Sequence[tuple[str, float]]) -> list[str]:
    notes = []
    if missing := sorted(seeds - gathered.likeness.values.keys()):
        notes.append(f"not fetched, so nothing can be compared with it: the site of {', '.join(missing[:5])}")
    if not any(len(page.seeds) > 1 for page in gathered.links.lists):
        notes.append(
            "no page links to two of the seeds; a larger crawl, or --source with --augment, may find such pages"
        )
    if not selected:
        notes.append(
            "no organisation was found; crawl more pages (scenthound resume DIR --pages N), or try other seeds"
        )
    return notes


@dataclass(frozen=True, slots=True)
class _OrganisationBuilder:
    """Builds `Organisation` objects from the gathered evidence."""

    owners: Owners
    gathered: GatheredEvidence
    homes: Mapping[str, HomeFacts]
    home_urls: Mapping[str, Url]
    decisions: Mapping[str, str]
    names_read: tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]]

    def organisation(self, key: str, probability: float) -> Organisation:
        home = self.homes.get(key)
        hubs = [page for page in self.gathered.links.lists if key in page.organisations and page.seeds - {key}]
        hubs.sort(key=lambda page: (-len(page.seeds - {key}) / (1 + log(len(page.organisations))), page.url))
        home_url = self.home_urls.get(key) or _linked_home(key, hubs, self.gathered, self.owners)
        return Organisation(
            key,
            self._name(key, home),
            home_url,
            probability,
            self.gathered.evidence[key],
            tuple(self._hub(page, key) for page in hubs[:MOST_HUBS]),
            () if home is None else words_shared_with_seeds(key, home, self.gathered.likeness),
            tuple(self.owners.aliases().get(key, ())),
            self.decisions.get(key, ""),
            self.gathered.nearer_than(key),
        )

    def _name(self, key: str, home: HomeFacts | None) -> str:
        stated, title = ("", "") if home is None else (home.name, home.title)
        texts, titles = self.names_read
        return printable(organisation_name(key, stated, title, titles.get(key, ()), texts.get(key, ())), LONGEST_NAME)

    def _hub(self, page: ListPage, key: str) -> Hub:
        facts = self.gathered.pages_read.get(page.url)
        mentions = () if facts is None else facts.mentions.values()
        mention = next((mention for mention in mentions if self.owners.key(mention.url) == key), None)
        return Hub(
            page.url,
            "" if facts is None else printable(facts.title, 120),
            tuple(sorted(page.seeds - {key})),
            len(page.organisations),
            "" if mention is None else mention.heading,
            "" if mention is None else mention.passage,
        )


def _linked_home(key: str, hubs: Sequence[ListPage], gathered: GatheredEvidence, owners: Owners) -> Url:
    """The presumed URL of a home page that was not fetched, derived from a link on a hub."""
    for page in hubs:
        if (facts := gathered.pages_read.get(page.url)) is not None:
            for host, mention in facts.mentions.items():
                if owners.key(mention.url) == key:
                    return urls.make(f"{mention.url.partition('://')[0]}://{host}/")
    return urls.make(f"https://{key}/")


def _names_read(gathered: GatheredEvidence, owners: Owners) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By organisation: the words of links to it, one for each organisation that links to it; and its pages' titles."""
    texts: dict[str, dict[str, str]] = {}
    titles: dict[str, list[str]] = {}
    for url, facts in gathered.pages_read.items():
        own = owners.key(url)
        if not urls.is_home(url):
            titles.setdefault(own, []).append(facts.title)
        for mention in facts.mentions.values():
            if (key := owners.key(mention.url)) != own and mention.anchor:
                texts.setdefault(key, {}).setdefault(own, mention.anchor)
    return {key: list(by_owner.values()) for key, by_owner in texts.items()}, titles
