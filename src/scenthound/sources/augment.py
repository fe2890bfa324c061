"""Seed augmentation (sheet 60.2): add the hubs that link to several seeds, but no copy of the answers.

Pant and Menczer 2003 [BIZ]. Directory pages and their mirrors list the targets themselves; with them among the seeds,
recall would be trivial. So known directories are banned by host, and mirrors by text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scenthound.text.vectors import cosine
from scenthound.url import host

BANNED = ("dmoz.org", "directory.google.com")
MIRROR = 0.9  # [BIZ]: above this cosine a page is a copy of the category


class HubDecision(StrEnum):
    """The decision about a page that links to seeds."""

    KEPT = "kept"
    TOO_FEW = "too few"
    BANNED = "banned host"
    MIRROR = "mirror"
    A_SEED = "already a seed"
    BEYOND = "beyond the limit"


@dataclass(frozen=True, slots=True)
class HubCandidate:
    """A page that links to seeds: their number, its cosine with the description (None: not computed), the decision."""

    url: str
    seeds: int
    cosine: float | None
    decision: HubDecision


@dataclass(frozen=True, slots=True)
class AugmentedSeeds:
    """The seeds, the hubs to add, best first, and all candidates, sorted by the number of seeds that they link to."""

    seeds: tuple[str, ...]
    hubs: tuple[str, ...]
    candidates: tuple[HubCandidate, ...]

    @property
    def all_seeds(self) -> tuple[str, ...]:
        """The seeds followed by the hubs."""
        return self.seeds + self.hubs


@dataclass(frozen=True, slots=True)
class HubRules:
    """Which pages become hubs: at most `most`, among the first `per_seed` back-links of each seed."""

    per_seed: int = 10
    fewest: int = 2
    """The smallest number of seeds that a hub must link to."""
    most: int = 10
    banned: tuple[str, ...] = BANNED
    host_of: Callable[[str], str] = host


def augment(
    seeds: Sequence[str],
    back_links: Callable[[str], Sequence[str]],
    description: Mapping[str, int],
    page: Callable[[str], Mapping[str, int] | None],
    rules: HubRules | None = None,
) -> AugmentedSeeds:
    """Find the hubs among the back-links of the seeds.

    `description` and `page(url)` are term counts, None for a missing page. Hubs are sorted by the number of seeds that
    they link to; ties keep the order of the back-links. Ours: a seed that links to other seeds is not a candidate.
    """
    rules = rules or HubRules()
    distinct = tuple(dict.fromkeys(seeds))
    linked_seeds: dict[str, int] = {}
    for seed in distinct:
        for linking_url in dict.fromkeys(back_links(seed)[: rules.per_seed]):
            linked_seeds[linking_url] = linked_seeds.get(linking_url, 0) + 1
    candidates: list[HubCandidate] = []
    hubs: list[str] = []
    for url in sorted(linked_seeds, key=lambda page_url: -linked_seeds[page_url]):  # stable: ties keep their order
        decision, similarity = HubDecision.KEPT, None
        if url in distinct:
            decision = HubDecision.A_SEED
        elif linked_seeds[url] < rules.fewest:
            decision = HubDecision.TOO_FEW
        elif is_banned(rules.host_of(url), rules.banned):
            decision = HubDecision.BANNED
        else:
            similarity = description_cosine(page(url) or {}, description)
            if similarity > MIRROR:
                decision = HubDecision.MIRROR
            elif len(hubs) >= rules.most:
                decision = HubDecision.BEYOND
        if decision is HubDecision.KEPT:
            hubs.append(url)
        candidates.append(HubCandidate(url, linked_seeds[url], similarity, decision))
    return AugmentedSeeds(distinct, tuple(hubs), tuple(candidates))


def description_cosine(page: Mapping[str, int], description: Mapping[str, int]) -> float:
    """Cosine of page and description over the description's terms, so that other words can't hide a mirror.

    >>> description_cosine({"solar": 2, "panel": 2, "mirror": 9}, {"solar": 1, "panel": 1})
    1.0
    """
    return cosine({term: page[term] for term in description if term in page}, description)


def is_banned(name: str, banned: Iterable[str]) -> bool:
    """Whether the host is banned, or a subdomain of a banned host.

    >>> is_banned("www.dmoz.org", BANNED), is_banned("notdmoz.org", BANNED)
    (True, False)
    """
    return any(name == host_name or name.endswith("." + host_name) for host_name in banned)
