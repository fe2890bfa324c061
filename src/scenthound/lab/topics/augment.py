"""Seed augmentation (sheet 60.2): add the hubs that link to several seeds, but no copy of the answer.

Pant and Menczer 2003 [BIZ]. Directory pages and their mirrors list the targets themselves; with them
among the seeds, recall would be trivial. So known directories are banned by host, and mirrors by text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scenthound.text.vectors import cosine
from scenthound.url import host

BANNED = ("dmoz.org", "directory.google.com")
MIRROR = 0.9  # [BIZ]: above this cosine a page is a copy of the category


class Fate(StrEnum):
    """What became of a page that links to seeds."""

    KEPT = "kept"
    TOO_FEW = "too few"
    BANNED = "banned host"
    MIRROR = "mirror"
    A_SEED = "already a seed"
    BEYOND = "beyond the limit"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that links to seeds: to how many, how close to the description (None: not looked at), its fate."""

    url: str
    seeds: int
    cosine: float | None
    fate: Fate


@dataclass(frozen=True, slots=True)
class Augmented:
    """The hubs to add, best first, and every candidate in the order of its count."""

    seeds: tuple[str, ...]
    hubs: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    @property
    def all_seeds(self) -> tuple[str, ...]:
        """The seeds followed by the hubs. A topic without hubs is left out of the comparison."""
        return self.seeds + self.hubs


def augment(
    seeds: Sequence[str],
    back_links: Callable[[str], Sequence[str]],
    description: Mapping[str, int],
    page: Callable[[str], Mapping[str, int] | None],
    host_of: Callable[[str], str] = host,
    banned: Iterable[str] = BANNED,
    per_seed: int = 10,
    fewest: int = 2,
    most: int = 10,
) -> Augmented:
    """The seeds and up to `most` hubs among the first `per_seed` back-links of each seed.

    `description` and `page(url)` are counts of terms; None for a page that is not there. Hubs come by
    the number of seeds they link to, ties by who was met first. Ours: a seed that links to other seeds
    is no candidate, since it is a seed already.
    """
    distinct = tuple(dict.fromkeys(seeds))
    counted: dict[str, int] = {}
    for seed in distinct:
        for linking in dict.fromkeys(back_links(seed)[:per_seed]):
            counted[linking] = counted.get(linking, 0) + 1
    refused = tuple(banned)
    candidates: list[Candidate] = []
    hubs: list[str] = []
    for url in sorted(counted, key=lambda met: -counted[met]):  # a stable sort: ties stay in the order of meeting
        fate, close = Fate.KEPT, None
        if url in distinct:
            fate = Fate.A_SEED
        elif counted[url] < fewest:
            fate = Fate.TOO_FEW
        elif is_banned(host_of(url), refused):
            fate = Fate.BANNED
        else:
            close = likeness(page(url) or {}, description)
            fate = Fate.MIRROR if close > MIRROR else Fate.BEYOND if len(hubs) >= most else Fate.KEPT
        if fate is Fate.KEPT:
            hubs.append(url)
        candidates.append(Candidate(url, counted[url], close, fate))
    return Augmented(distinct, tuple(hubs), tuple(candidates))


def likeness(page: Mapping[str, int], description: Mapping[str, int]) -> float:
    """Cosine after the page was projected on the description's terms: a mirror's own words don't hide it.

    >>> likeness({"solar": 2, "panel": 2, "mirror": 9}, {"solar": 1, "panel": 1})
    1.0
    """
    return cosine({term: page[term] for term in description if term in page}, description)


def is_banned(name: str, banned: Iterable[str]) -> bool:
    """Whether the host is one of the banned ones or below one.

    >>> is_banned("www.dmoz.org", BANNED), is_banned("notdmoz.org", BANNED)
    (True, False)
    """
    return any(name == host_name or name.endswith("." + host_name) for host_name in banned)
