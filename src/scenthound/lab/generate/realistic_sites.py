"""The plan of a realistic web: hosts, their sections, and the role and subject of each page.

*Sites* are about many things: each has sections, and a section has pages on its subject among others. *Companies* are
small hosts of one trade. *Directories* list companies; they have the highest numbers. A role, a subject and a community
are stored for each page (five bytes); links and texts are computed from the page's number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scenthound.lab.generate import subjects
from scenthound.lab.generate.realistic_words import AREA, RealisticHabits
from scenthound.lab.generate.rng import Words, mix, mix_all

SITE, COMPANY, DIRECTORY = range(3)
HOME, INDEX, ARTICLE, NEAR_MISS, CORRIDOR, OUTER_CORRIDOR, COMPANY_HOME, COMPANY_PAGE, LIST, BOARD = range(10)
NO_SUBJECT = -1
COMPANY_PAGES = (3, 11)  # fewest and most pages of a company
PRODUCTS = 0.4  # share of a company's pages, besides the home page, that are on its trade
ENTRIES = 30  # approximate number of companies on a page of a directory
COMPANIES_OF_TRADE = 40  # fewest companies of a trade; a web with few companies has fewer trades
_SIZE, _SECTION, _ROLE, _RANK, _HOST, _COMPANY, _TRADE, _BOARD = range(50, 58)  # the `purpose` of a call of `mix`

Integers = NDArray[np.int64]


@dataclass(slots=True)
class PageGroups:
    """Pages by group, most popular first; popularity is random."""

    starts: Integers
    pages: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Integers, pages: NDArray[np.int32], groups: int) -> PageGroups:
        """Group pages by their keys, from 0 to groups - 1; within a group they keep their order."""
        order = np.argsort(keys, kind="stable")
        return cls(np.searchsorted(keys[order], np.arange(groups + 1)), pages[order])

    def size(self, group: int) -> int:
        return int(self.starts[group + 1] - self.starts[group])

    def at(self, group: int, index: int) -> int:
        return int(self.pages[self.starts[group] + index])

    def all(self, group: int) -> list[int]:
        pages: list[int] = self.pages[self.starts[group] : self.starts[group + 1]].tolist()
        return pages


@dataclass(slots=True)
class SitePlan:
    """Hosts, sections and pages are numbered. The pages of a host are consecutive, its home page first."""

    pages: int
    seed: int
    habits: RealisticHabits
    subjects: int
    start: Integers = field(init=False)
    kind: NDArray[np.uint8] = field(init=False)
    trade: NDArray[np.int16] = field(init=False)
    """The trade of each company and directory; `NO_SUBJECT` for sites."""
    section_start: Integers = field(init=False)
    """The first section of each host."""
    section_size: NDArray[np.int32] = field(init=False)
    """Number of pages in each section of a host."""
    section_subject: NDArray[np.int16] = field(init=False)
    section_misses: NDArray[np.bool_] = field(init=False)
    """Whether a section uses words of its subject without being about it."""
    role: NDArray[np.uint8] = field(init=False)
    subject: NDArray[np.int16] = field(init=False)
    community: NDArray[np.int16] = field(init=False)
    on_subject: PageGroups = field(init=False)
    """Articles by subject and community."""
    corridors: PageGroups = field(init=False)
    near_misses: PageGroups = field(init=False)
    homes: NDArray[np.int32] = field(init=False)
    """The home pages of sites and directories, most popular first."""
    companies: PageGroups = field(init=False)
    """The home pages of companies by trade, which is a subject."""
    directories: PageGroups = field(init=False)
    """The hosts of directories by trade."""

    @property
    def hosts(self) -> int:
        return len(self.kind)

    def host_of(self, page: int) -> int:
        return int(np.searchsorted(self.start, page, side="right")) - 1

    def section_of(self, page: int, host: int) -> int:
        """The section of a page, numbered over all hosts. A home page belongs to the first section of its host."""
        local = max(page - int(self.start[host]) - 1, 0)
        return int(self.section_start[host]) + local // int(self.section_size[host])

    def section_pages(self, section: int, host: int) -> range:
        """The pages of a section, its index page first."""
        size = int(self.section_size[host])
        begin = int(self.start[host]) + 1 + (section - int(self.section_start[host])) * size
        return range(begin, min(begin + size, int(self.start[host + 1])))

    def sections(self, host: int) -> range:
        return range(int(self.section_start[host]), int(self.section_start[host + 1]))

    def group(self, page: int) -> int:
        """The group of `on_subject` that a page on a subject belongs to."""
        return int(self.subject[page]) * self.habits.communities + int(self.community[page])

    def related(self, subject: int) -> range:
        """The subjects of the same area, including this one."""
        area = subject // AREA
        return range(area * AREA, min(area * AREA + AREA, self.subjects))

    def on_topic(self, subject: int) -> list[int]:
        """All pages on a subject."""
        chosen = (self.subject == subject) & np.isin(self.role, (ARTICLE, COMPANY_HOME, COMPANY_PAGE))
        pages: list[int] = np.flatnonzero(chosen).tolist()
        return pages


def make_plan(pages: int, seed: int, habits: RealisticHabits) -> SitePlan:
    """Plan a web: hosts, then sections, then the role of each page."""
    most = min(len(subjects.LEAVES), max(2, pages // 500))
    plan = SitePlan(pages, seed, habits, min(habits.subjects or most, len(subjects.LEAVES)))
    trades, trades_with_lists = _trades(plan)
    expected = int(pages * habits.companies / np.mean(COMPANY_PAGES)) // max(len(trades), 1)
    pages_of_list = max(1, round(expected * habits.coverage / ENTRIES))
    lists = [(trade, pages_of_list) for trade in trades_with_lists for _ in range(habits.directories)]
    _place_hosts(plan, trades, lists)
    _place_sections(plan)
    _assign_roles(plan)
    _group_pages(plan)
    return plan


def _trades(plan: SitePlan) -> tuple[list[int], list[int]]:
    """The subjects that have companies, and those of them that have directories."""
    companies = plan.pages * plan.habits.companies / np.mean(COMPANY_PAGES)
    count = min(round(plan.subjects * plan.habits.trades), int(companies // COMPANIES_OF_TRADE))
    shuffled = sorted(range(plan.subjects), key=lambda subject: mix(plan.seed, _TRADE, subject))
    trades = shuffled[:count]
    return trades, trades[: round(count * plan.habits.hubs)]


def _place_hosts(plan: SitePlan, trades: list[int], lists: list[tuple[int, int]]) -> None:
    """Add sites and companies until only the pages of directories are left. Companies take turns by trade."""
    room = plan.pages - sum(size for _, size in lists)
    least, most = COMPANY_PAGES
    largest = max(20, min(4000, plan.pages // 30))
    starts, kinds, host_trades, company_pages, companies = [0], list[int](), list[int](), 0, 0
    while starts[-1] < room:
        bits = mix(plan.seed, _SIZE, len(kinds))
        left = room - starts[-1]
        if trades and company_pages < plan.habits.companies * starts[-1]:
            kind, trade, size = COMPANY, trades[companies % len(trades)], min(least + bits % (most - least + 1), left)
            company_pages, companies = company_pages + size, companies + 1
        else:
            kind, trade = SITE, NO_SUBJECT
            size = min(largest, (8 << 32) // ((bits >> 32) + 1), left)
        starts.append(starts[-1] + size)
        kinds.append(kind)
        host_trades.append(trade)
    for trade, size in lists:
        starts.append(starts[-1] + size)
        kinds.append(DIRECTORY)
        host_trades.append(trade)
    plan.start = np.array(starts, dtype=np.int64)
    plan.kind, plan.trade = np.array(kinds, dtype=np.uint8), np.array(host_trades, dtype=np.int16)


def _place_sections(plan: SitePlan) -> None:
    """Give sites sections on their main subject, on another, or with words of one. Other hosts have one section."""
    habits, sizes = plan.habits, np.diff(plan.start)
    bits = mix_all(plan.seed, _HOST, plan.hosts)
    half = max(1, habits.section // 2)
    plan.section_size = (half + (bits % np.uint64(2 * half)).astype(np.int64)).astype(np.int32)
    plan.section_size[plan.kind != SITE] = max(sizes.max(initial=1), 1)
    counts = np.maximum(1, -(-(sizes - 1) // plan.section_size))
    plan.section_start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    host = np.repeat(np.arange(plan.hosts), counts)
    section_bits = mix_all(plan.seed, _SECTION, len(host))
    main = ((bits >> np.uint64(20)) % np.uint64(plan.subjects)).astype(np.int16)[host]
    other = ((section_bits >> np.uint64(20)) % np.uint64(plan.subjects)).astype(np.int16)
    plan.section_subject = np.where(_share(section_bits) < habits.theme, main, other).astype(np.int16)
    has_trade = plan.kind[host] != SITE
    plan.section_subject[has_trade] = plan.trade[host][has_trade]
    plan.section_misses = (_share(section_bits, 0) < habits.near_misses) & ~has_trade


def _assign_roles(plan: SitePlan) -> None:
    """Choose role, subject and community of each page, from its position in its section and at random."""
    habits = plan.habits
    host = np.repeat(np.arange(plan.hosts), np.diff(plan.start))
    local = np.arange(plan.pages) - plan.start[host]
    size = plan.section_size[host]
    section = plan.section_start[host] + np.maximum(local - 1, 0) // size
    bits = mix_all(plan.seed, _ROLE, plan.pages)
    draw = _share(bits)
    section_subject = plan.section_subject[section]
    area = section_subject // AREA * AREA
    guest = area + ((bits >> np.uint64(32)) % np.uint64(AREA)).astype(np.int16)
    guest = np.where(guest < plan.subjects, guest, area).astype(np.int16)
    on_topic = habits.focus + habits.guests
    subject = np.select([draw < habits.focus, draw < on_topic], [section_subject, guest], NO_SUBJECT).astype(np.int16)
    role = np.full(plan.pages, ARTICLE, dtype=np.uint8)
    corridor = (draw >= on_topic) & (draw < on_topic + habits.corridors)
    role[corridor] = np.where((bits >> np.uint64(8))[corridor] % np.uint64(2) == 0, CORRIDOR, OUTER_CORRIDOR)
    subject[corridor] = section_subject[corridor]
    misses = plan.section_misses[section]
    role[misses], subject[misses] = NEAR_MISS, section_subject[misses]
    kind = plan.kind[host]
    role[(local - 1) % size == 0] = INDEX
    role[kind == COMPANY], role[kind == DIRECTORY] = COMPANY_PAGE, LIST
    products = (kind == COMPANY) & (draw < PRODUCTS)
    subject[kind == COMPANY] = NO_SUBJECT
    subject[products] = section_subject[products]
    boards = (kind == COMPANY) & (local == 1) & (_share(mix_all(plan.seed, _BOARD, plan.hosts))[host] < habits.boards)
    role[boards], subject[boards] = BOARD, NO_SUBJECT
    role[plan.start[:-1]] = np.array([HOME, COMPANY_HOME, LIST], dtype=np.uint8)[plan.kind]
    subject[(role == HOME) | (role == INDEX)] = NO_SUBJECT
    subject[(role == COMPANY_HOME) | (role == LIST)] = section_subject[(role == COMPANY_HOME) | (role == LIST)]
    plan.role, plan.subject = role, subject
    # pages on the subject of their section share a community; other pages get a random one
    section_chance = mix_all(plan.seed, _COMPANY, len(plan.section_subject))[section]
    chance = np.where(subject == section_subject, section_chance, bits >> np.uint64(17))
    plan.community = (chance % np.uint64(habits.communities)).astype(np.int16)


def _group_pages(plan: SitePlan) -> None:
    rank = np.argsort(mix_all(plan.seed, _RANK, plan.pages), kind="stable").astype(np.int32)
    role, subject = plan.role[rank], plan.subject[rank].astype(np.int64)

    def by_subject(*roles: int) -> PageGroups:
        chosen = np.isin(role, roles) & (subject >= 0)
        return PageGroups.of(subject[chosen], rank[chosen], plan.subjects)

    articles = (role == ARTICLE) & (subject >= 0)
    keys = subject[articles] * plan.habits.communities + plan.community[rank[articles]]
    plan.on_subject = PageGroups.of(keys, rank[articles], plan.subjects * plan.habits.communities)
    plan.corridors = by_subject(CORRIDOR)
    plan.near_misses, plan.companies = by_subject(NEAR_MISS), by_subject(COMPANY_HOME)
    host_of_home = np.searchsorted(plan.start[:-1], rank)
    is_home = plan.start[np.minimum(host_of_home, plan.hosts - 1)] == rank
    plan.homes = rank[is_home & ((role == HOME) | (role == LIST))]
    hosts = np.flatnonzero(plan.kind == DIRECTORY).astype(np.int32)
    plan.directories = PageGroups.of(plan.trade[hosts].astype(np.int64), hosts, plan.subjects)


def _share(bits: Words, offset: int = 48) -> NDArray[np.float64]:
    """Sixteen of the bits, from bit `offset` on, as numbers from 0 to 1."""
    return ((bits >> np.uint64(offset)) & np.uint64(0xFFFF)).astype(np.float64) / 65536.0
