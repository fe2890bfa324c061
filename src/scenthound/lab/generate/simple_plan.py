"""The plan of a generated web: its hosts, the subject of each page, and the links.

A few numbers are stored per page (its leaf, its rank by popularity), so a plan of a million pages takes about ten
megabytes. Links and texts are not stored: they are computed from the page's number.

A *leaf* is a subject of the taxonomy. There are five kinds of hosts. *Topical* hosts are clubs and journals, mostly
about one leaf. *Companies* exist for every third leaf and never link to one another. *Directories* list the hosts of a
leaf, including companies, in few words; most companies are reached only through them. *Portals* are about everything.
*Mirrors* copy another host.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from scenthound.lab.generate import subjects
from scenthound.lab.generate.rng import below, heavy, mix, mix_all, skewed, stream
from scenthound.parameters import Parameterised, parameter

TOPICAL, COMPANY, DIRECTORY, PORTAL, MIRROR = range(5)
NO_LEAF = -1
_KIND, _SIZE, _LEAF, _DRIFT, _RANK, _PRIVATE, _RULES = range(1, 8)  # the `purpose` of a call of `mix`


@dataclass(frozen=True, slots=True)
class LinkRates(Parameterised):
    """How the pages of a simple web link to each other, in percent."""

    same: int = parameter(30, "percent of links to other hosts that stay on the page's subject", least=0, most=100)
    sibling: int = parameter(
        18, "… that go to another subject of the same area; the others go anywhere", least=0, most=100
    )
    directory: int = parameter(3, "… that go to a directory of the subject", least=0, most=100)
    drift: int = parameter(
        25, "percent of the pages of a topical host that are about something else", least=0, most=100
    )
    dead: int = parameter(8, "percent of pages with a dead link", least=0, most=100)


@dataclass(slots=True)
class Plan:
    """Hosts and pages are numbered. The pages of a host are consecutive, its home page first."""

    pages: int
    seed: int
    leaves: int
    habits: LinkRates
    kind: bytearray = field(default_factory=bytearray)
    leaf: array[int] = field(default_factory=lambda: array("h"))
    start: array[int] = field(default_factory=lambda: array("q", [0]))
    names: list[str] = field(default_factory=list)
    original: dict[int, int] = field(default_factory=dict)
    mirrors: dict[int, int] = field(default_factory=dict)
    page_leaf: array[int] = field(default_factory=lambda: array("h"))
    popular: list[array[int]] = field(default_factory=list)
    """For each leaf, the pages that others link to, most popular first; the last list has the pages without a leaf."""
    listed: list[array[int]] = field(default_factory=list)
    """For each leaf, the hosts that its directories list."""
    directories: list[array[int]] = field(default_factory=list)
    """For each leaf, the pages of its directories."""

    @property
    def hosts(self) -> int:
        return len(self.kind)

    def host_of(self, page: int) -> int:
        return bisect_right(self.start, page) - 1

    def size(self, host: int) -> int:
        return self.start[host + 1] - self.start[host]

    def has_private_folder(self, host: int) -> bool:
        """Whether this host's robots.txt disallows a folder."""
        return self.rules(host) % 5 == 0

    def rules(self, host: int) -> int:
        """64 random bits that determine robots.txt, sitemap and URL style of a host. A mirror has its own."""
        return mix(self.seed, _RULES, host)

    def is_private(self, page: int, host: int) -> bool:
        """Whether the page is in the disallowed folder. A mirror copies the paths of its original."""
        if host in self.original:
            page = self.start[self.original[host]] + page - self.start[host]
            host = self.original[host]
        return page != self.start[host] and self.has_private_folder(host) and mix(self.seed, _PRIVATE, page) % 8 == 0

    def siblings(self, leaf: int) -> range:
        """The leaves of the same area, including this one."""
        area = leaf // 6
        return range(area * 6, min(area * 6 + 6, self.leaves))

    def on_leaf(self, leaf: int) -> list[int]:
        """The pages about this leaf, except mirrors and disallowed pages."""
        pages = np.flatnonzero(np.frombuffer(self.page_leaf, dtype=np.int16) == leaf)
        hosts = np.searchsorted(np.frombuffer(self.start, dtype=np.int64), pages, side="right") - 1
        return [
            page
            for page, host in zip(pages.tolist(), hosts.tolist(), strict=True)
            if host not in self.original and not self.is_private(page, host)
        ]

    def links(self, page: int) -> list[tuple[int, bool]]:
        """The pages that this page links to, in order and with duplicates, each with whether it is on the same host."""
        host = self.host_of(page)
        if host in self.original:
            shift = self.start[host] - self.start[self.original[host]]
            return [(to + shift if inside else to, inside) for to, inside in self.links(page - shift)]
        draws = stream(self.seed, "links", page)
        inside = [(to, True) for to in self._inside(page, host, draws)]
        if self.kind[host] == DIRECTORY:
            outside = self._from_directory(host, draws)
        elif self.kind[host] == COMPANY:
            outside = self._from_company(host, draws)
        else:
            outside = self._from_page(self.page_leaf[page], 8 if self.kind[host] == PORTAL else 2, draws)
        return inside + [(to, False) for to in outside if not self.start[host] <= to < self.start[host + 1]]

    def _inside(self, page: int, host: int, draws: Iterator[int]) -> list[int]:
        """Links within a host: home, parent and children in a ternary tree, and a random page if the host has four."""
        first, size = self.start[host], self.size(host)
        local = page - first
        targets = [first, first + (local - 1) // 3] if local else []
        targets += [first + child for child in range(3 * local + 1, min(3 * local + 4, size))]
        targets += [first + below(draws, size) for _ in range(min(size // 4, 1))]
        return [to for to in dict.fromkeys(targets) if to != page]

    def _from_page(self, leaf: int, least: int, draws: Iterator[int]) -> list[int]:
        habits = self.habits
        targets = []
        for _ in range(heavy(draws, least, 40)):
            draw = below(draws, 100)
            if leaf == NO_LEAF:
                targets.append(self._anywhere(draws))
            elif draw < habits.directory and self.directories[leaf]:
                targets.append(self.directories[leaf][skewed(draws, len(self.directories[leaf]))])
            elif draw < habits.directory + habits.same:
                targets += self._popular(leaf, draws)
            elif draw < habits.directory + habits.same + habits.sibling:
                family = self.siblings(leaf)
                targets += self._popular(family[below(draws, len(family))], draws)
            else:
                targets.append(self._anywhere(draws))
        return targets

    def _from_company(self, host: int, draws: Iterator[int]) -> list[int]:
        """A company never links to a page about its own trade."""
        targets = [self._anywhere(draws) for _ in range(below(draws, 3))]
        return [to for to in targets if self.page_leaf[to] != self.leaf[host]]

    def _from_directory(self, host: int, draws: Iterator[int]) -> list[int]:
        """A slice of the ring of the leaf's hosts, so that all directories together list nearly all hosts."""
        leaf = self.leaf[host]
        ring, same_leaf = self.listed[leaf], self.directories[leaf]
        entries = min(len(ring), heavy(draws, 5, 50))
        first = below(draws, len(ring)) if ring else 0
        targets = [self.start[ring[(first + step) % len(ring)]] for step in range(entries)]
        family = self.siblings(leaf)
        cousins = self.directories[family[below(draws, len(family))]]
        targets += [pages[below(draws, len(pages))] for pages in (same_leaf, cousins) if pages]
        targets.append(self._anywhere(draws))
        return targets

    def _popular(self, leaf: int, draws: Iterator[int]) -> list[int]:
        pages = self.popular[leaf]
        return [pages[skewed(draws, len(pages))]] if pages else []

    def _anywhere(self, draws: Iterator[int]) -> int:
        draw = below(draws, 100)
        if draw < 6:
            directory_pages = self.directories[below(draws, self.leaves)]
            if directory_pages:
                return directory_pages[below(draws, len(directory_pages))]
        pages = self.popular[below(draws, self.leaves) if draw < 70 else -1] or self.popular[-1]
        return pages[skewed(draws, len(pages))] if pages else 0


def make_plan(pages: int, seed: int, habits: LinkRates) -> Plan:
    """Add hosts until every page has one, then assign the subjects of the pages."""
    leaves = max(2, min(len(subjects.LEAVES), pages // 50))
    plan = Plan(pages, seed, leaves, habits)
    taken_names: set[str] = set()
    while plan.start[-1] < pages:
        _add_host(plan, taken_names)
    _assign_leaves(plan)
    _rank_pages(plan)
    return plan


def _add_host(plan: Plan, taken_names: set[str]) -> None:
    host, leaves, pages_left = plan.hosts, plan.leaves, plan.pages - plan.start[-1]
    portals = leaves // 4 + 1
    required = 2 * leaves + portals  # every web has a directory and a topical host for each leaf, and some portals
    bits = mix(plan.seed, _KIND, host)
    draw, leaf = bits % 100, (bits >> 32) % leaves
    most = max(3, min(3000, plan.pages // 60))
    if host < required:
        most = max(1, plan.pages // (2 * required))
        kind = DIRECTORY if host < leaves else PORTAL if host < leaves + portals else TOPICAL
        leaf = host if kind == DIRECTORY else host - leaves - portals if kind == TOPICAL else NO_LEAF
    elif draw < 5:
        kind = DIRECTORY
    elif draw < 15:
        kind, leaf = PORTAL, NO_LEAF
    elif draw < 18 and (original := _host_to_mirror(plan, bits >> 16, pages_left)) is not None:
        kind, leaf = MIRROR, plan.leaf[original]
        plan.original[host], plan.mirrors[original] = original, host
    else:
        # every third leaf is a trade: two in three of its later hosts are companies
        kind = COMPANY if leaf % 3 == 1 and (bits >> 8) % 3 else TOPICAL
    size = min(most, (2 << 32) // ((mix(plan.seed, _SIZE, host) >> 32) + 1), pages_left)
    if kind == MIRROR:
        size = plan.size(plan.original[host])
    elif kind in (DIRECTORY, COMPANY):
        size = min(size, 8 if kind == DIRECTORY else 12)
    plan.kind.append(kind)
    plan.leaf.append(leaf)
    plan.start.append(plan.start[-1] + size)
    plan.names.append(_host_name(kind, leaf, mix(plan.seed, _LEAF, host), taken_names))


def _host_to_mirror(plan: Plan, bits: int, pages_left: int) -> int | None:
    host = bits % plan.hosts
    fits = plan.kind[host] == TOPICAL and plan.size(host) <= min(pages_left, 60)
    return host if fits and host not in plan.mirrors else None


def _host_name(kind: int, leaf: int, bits: int, taken_names: set[str]) -> str:
    by_kind = {COMPANY: subjects.COMPANY_ENDINGS, DIRECTORY: subjects.DIRECTORY_ENDINGS}
    endings = by_kind.get(kind, subjects.HOST_ENDINGS)
    firsts = subjects.PORTAL_NAMES if leaf == NO_LEAF else subjects.LEAVES[leaf].words[:16]
    base = f"{firsts[bits % len(firsts)].encode('ascii', 'ignore').decode()}-{endings[(bits >> 16) % len(endings)]}"
    name, count = base, 1
    while name in taken_names:
        count += 1 + count // 8  # grows faster when many hosts share a name, to keep the search short
        name = f"{base}-{count}"
    taken_names.add(name)
    return f"www.{name}.test" if (bits >> 32) % 3 == 0 else f"{name}.test"


def _assign_leaves(plan: Plan) -> None:
    """Give each page the leaf of its host, except where chance lets it drift."""
    starts = np.frombuffer(plan.start, dtype=np.int64)
    host = np.repeat(np.arange(plan.hosts), np.diff(starts))
    kind = np.frombuffer(plan.kind, dtype=np.uint8)[host]
    leaf = np.frombuffer(plan.leaf, dtype=np.int16)[host].copy()
    bits = mix_all(plan.seed, _DRIFT, plan.pages)
    draw = (bits % np.uint64(100)).astype(np.int64)
    other = ((bits >> np.uint64(32)) % np.uint64(plan.leaves)).astype(np.int16)
    cousin = (leaf // 6 * 6 + other % 6).astype(np.int16)
    cousin[cousin >= plan.leaves] = NO_LEAF
    inner = np.arange(plan.pages) != starts[host]
    leaf[kind == DIRECTORY] = NO_LEAF
    portal = (kind == PORTAL) & (draw < 30) & inner
    leaf[portal] = other[portal]
    drifting = (kind == TOPICAL) & (draw < plan.habits.drift) & inner
    leaf[drifting] = np.where(draw[drifting] * 2 < plan.habits.drift, cousin[drifting], NO_LEAF)
    leaf[(kind == COMPANY) & (draw < 15) & inner] = NO_LEAF
    for copy, source in plan.original.items():
        leaf[starts[copy] : starts[copy + 1]] = leaf[starts[source] : starts[source + 1]]
    plan.page_leaf = array("h", leaf.tobytes())


def _rank_pages(plan: Plan) -> None:
    """Fill `popular`, `directories` and `listed`, each in an order that is random but fixed by the seed."""
    starts = np.frombuffer(plan.start, dtype=np.int64)
    host = np.repeat(np.arange(plan.hosts), np.diff(starts))
    kind = np.frombuffer(plan.kind, dtype=np.uint8)[host]
    page_leaf = np.frombuffer(plan.page_leaf, dtype=np.int16)
    key = mix_all(plan.seed, _RANK, plan.pages)
    key[starts[:-1]] >>= np.uint64(3)  # home pages get most links
    order = np.argsort(key, kind="stable").astype(np.int32)
    linkable = order[(kind[order] == TOPICAL) | (kind[order] == PORTAL)]
    for leaf in [*range(plan.leaves), NO_LEAF]:
        plan.popular.append(array("i", linkable[page_leaf[linkable] == leaf].tobytes()))
    directory_pages = order[kind[order] == DIRECTORY]
    ring = np.argsort(mix_all(plan.seed, _RANK + 100, plan.hosts), kind="stable").astype(np.int32)
    host_kind, host_leaf = np.frombuffer(plan.kind, dtype=np.uint8), np.frombuffer(plan.leaf, dtype=np.int16)
    ring = ring[(host_kind[ring] == TOPICAL) | (host_kind[ring] == COMPANY)]
    for leaf in range(plan.leaves):
        pages = directory_pages[host_leaf[host[directory_pages]] == leaf]
        plan.directories.append(array("i", pages.tobytes()))
        plan.listed.append(array("i", ring[host_leaf[ring] == leaf].tobytes()))
