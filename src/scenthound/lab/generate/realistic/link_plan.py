"""Who links to whom in a realistic web.

Most links stay on the site: the menu, the section, other pages nearby. A link to another site mostly goes to a popular
page of the same subject and community, and then often a second link is copied from that page, so that triangles follow
the topic (the copying model of Kleinberg and others 1999). Communities are joined by few links and by corridor pages.
A company links to nobody in its trade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scenthound.lab.generate.realistic.site_plan import (
    ARTICLE,
    COMPANY,
    COMPANY_HOME,
    CORRIDOR,
    DIRECTORY,
    HOME,
    INDEX,
    NEAR_MISS,
    NO_SUBJECT,
    OUTER_CORRIDOR,
    SITE,
    PageGroups,
    SitePlan,
)
from scenthound.lab.generate.rng import below, heavy, mix, stream

MENU, TEXT, ENTRY = range(3)
"""Where a link is: in the menu, in the text, or as an entry of a list."""
MOST_INSIDE, MOST_OUTSIDE = 40, 25
CORRIDOR_LINKS = 8
LISTED_FROM = 0x4C49  # purpose of chance: which companies a directory lists
_FOREIGN = 0.4  # share of entries of a directory that are not of its trade


class Target(NamedTuple):
    """A page that is linked to, and where the link is."""

    page: int
    place: int


class Linker:
    """Computes the links of a page from the plan and the page's number."""

    def __init__(self, plan: SitePlan) -> None:
        self.plan = plan

    def links(self, page: int) -> list[Target]:
        """The links of a page, in order; each page once, at its first place."""
        plan = self.plan
        host = plan.host_of(page)
        numbers = stream(plan.seed, "inside", page)
        targets = [Target(to, MENU) for to in self.menu(host)]
        if plan.kind[host] == DIRECTORY:
            targets += [Target(to, ENTRY) for to in self._entries(page, host, numbers)]
        elif plan.role[page] in (HOME, INDEX):
            targets += [Target(to, ENTRY) for to in self._listed(page, host, numbers)]
        else:
            targets += [Target(to, TEXT) for to in self._inside(page, host, numbers)]
        outside = [*self.outside(page, host), *self._copied(page, host, numbers)]
        targets += [Target(to, TEXT) for to in outside if not plan.start[host] <= to < plan.start[host + 1]]
        first: dict[int, Target] = {}
        for target in targets:
            if target.page != page:
                first.setdefault(target.page, target)
        return list(first.values())

    def menu(self, host: int) -> list[int]:
        """The home page and the first sections of a host; all pages of a small host."""
        plan = self.plan
        begin, end = int(plan.start[host]), int(plan.start[host + 1])
        if plan.kind[host] != SITE:
            return list(range(begin, min(end, begin + plan.habits.menu + 1)))
        sections = plan.sections(host)[: plan.habits.menu]
        indexes = [plan.section_pages(section, host)[0] for section in sections if plan.section_pages(section, host)]
        return [begin, *indexes]

    # ---- on the own host

    def _listed(self, page: int, host: int, numbers: Iterator[int]) -> list[int]:
        """An index lists its section; a home page lists all sections and some pages."""
        plan = self.plan
        if plan.role[page] == INDEX:
            return list(plan.section_pages(plan.section_of(page, host), host)[1:])
        indexes = [pages[0] for section in plan.sections(host) if (pages := plan.section_pages(section, host))]
        size = int(plan.start[host + 1] - plan.start[host])
        return [*indexes[:MOST_INSIDE], *(page + below(numbers, size) for _ in range(min(6, size // 4)))]

    def _inside(self, page: int, host: int, numbers: Iterator[int]) -> list[int]:
        """The index of the section, pages near this one in the section, and now and then any page of the host."""
        plan = self.plan
        count = heavy(numbers, plan.habits.inside, MOST_INSIDE)
        if plan.kind[host] != SITE:
            size = int(plan.start[host + 1] - plan.start[host])
            return [int(plan.start[host]) + below(numbers, size) for _ in range(count)]
        section = plan.section_pages(plan.section_of(page, host), host)
        alike = [other for other in section if self._is_alike(page, other)]
        targets = [section[0]]
        for _ in range(count):
            if not below(numbers, 4):
                size = int(plan.start[host + 1] - plan.start[host])
                targets.append(int(plan.start[host]) + below(numbers, size))
            elif len(alike) > 1 and _chance(numbers, plan.habits.follow):
                targets.append(_near(page, alike, numbers))
            else:
                targets.append(_near(page, section, numbers))
        return targets

    def _is_alike(self, page: int, other: int) -> bool:
        """Whether two pages of a section are on the same subject, in the same role."""
        plan = self.plan
        subject = plan.subject[page]
        return bool(subject != NO_SUBJECT and subject == plan.subject[other] and plan.role[page] == plan.role[other])

    # ---- to other hosts

    def outside(self, page: int, host: int) -> list[int]:
        """The links of a page to other hosts, without those that it copies."""
        plan = self.plan
        numbers = stream(plan.seed, "outside", page)
        subject, role = int(plan.subject[page]), int(plan.role[page])
        if plan.kind[host] == COMPANY:
            return self._from_company(int(plan.trade[host]), host, numbers)
        if role in (CORRIDOR, OUTER_CORRIDOR):
            return self._from_corridor(subject, role, numbers)
        if plan.kind[host] == DIRECTORY:
            return []
        count = heavy(numbers, 1, MOST_OUTSIDE) if _chance(numbers, plan.habits.outside) else 0
        targets = [self._one_outside(page, subject, role, numbers) for _ in range(count)]
        companies = plan.companies.size(subject) if role == ARTICLE and subject != NO_SUBJECT else 0
        if companies and _chance(numbers, plan.habits.mentions):
            targets.append(plan.companies.at(subject, below(numbers, companies)))
        return [to for to in targets if to is not None]

    def _one_outside(self, page: int, subject: int, role: int, numbers: Iterator[int]) -> int | None:
        plan, habits = self.plan, self.plan.habits
        draw = next(numbers) / 4294967296.0
        if subject == NO_SUBJECT:
            return self._anywhere(numbers)
        if role == NEAR_MISS and draw < habits.same:
            return _popular(plan.near_misses, subject, numbers)
        related = habits.same + habits.related
        if draw < habits.same:
            return self._same(plan.group(page), numbers)
        if draw < related:
            return self._same(self._related_group(subject, numbers), numbers)
        if draw < related + habits.through:
            return _popular(plan.corridors, subject, numbers)
        if draw < related + habits.through + habits.misled:
            return _popular(plan.near_misses, subject, numbers)
        return self._anywhere(numbers)

    def _same(self, group: int, numbers: Iterator[int]) -> int | None:
        """A popular page of the same subject, mostly of the same community."""
        plan = self.plan
        if _chance(numbers, plan.habits.joined):
            communities = plan.habits.communities
            group = group // communities * communities + below(numbers, communities)
        return _popular(plan.on_subject, group, numbers)

    def _related_group(self, subject: int, numbers: Iterator[int]) -> int:
        family, communities = self.plan.related(subject), self.plan.habits.communities
        return family[below(numbers, len(family))] * communities + below(numbers, communities)

    def _anywhere(self, numbers: Iterator[int]) -> int:
        homes = self.plan.homes
        return int(homes[_steep(numbers, len(homes))])

    def _from_corridor(self, subject: int, role: int, numbers: Iterator[int]) -> list[int]:
        """A corridor leads to all communities of its subject, an outer corridor to corridors; half of both is noise."""
        plan, communities = self.plan, self.plan.habits.communities
        targets: list[int | None] = []
        for _ in range(2 + below(numbers, CORRIDOR_LINKS)):
            if below(numbers, 2):
                targets.append(self._anywhere(numbers))
            elif role == OUTER_CORRIDOR:
                targets.append(_popular(plan.corridors, subject, numbers))
            else:
                group = subject * communities + below(numbers, communities)
                targets.append(_popular(plan.on_subject, group, numbers))
        return [to for to in targets if to is not None]

    def _from_company(self, trade: int, host: int, numbers: Iterator[int]) -> list[int]:
        """Articles on its trade, companies of other trades, directories that list it, anything. No competitor."""
        plan = self.plan
        targets: list[int | None] = []
        for turn in range(below(numbers, 3)):
            draw = below(numbers, 100)
            if draw < 30:
                group = trade * plan.habits.communities + below(numbers, plan.habits.communities)
                targets.append(_popular(plan.on_subject, group, numbers))
            elif draw < 45 and turn == 0:  # one supplier: a page that names two companies is a hub
                other = below(numbers, plan.subjects)
                targets.append(_popular(plan.companies, other, numbers) if other != trade else None)
            elif draw < 60:
                targets.append(self._listing(trade, host, numbers))
            else:
                targets.append(self._anywhere(numbers))
        return [to for to in targets if to is not None]

    def _listing(self, trade: int, host: int, numbers: Iterator[int]) -> int | None:
        """The home page of a directory that lists this company."""
        plan = self.plan
        count = plan.directories.size(trade)
        if not count:
            return None
        directory = plan.directories.at(trade, below(numbers, count))
        return int(plan.start[directory]) if self._is_listed(directory, int(plan.start[host])) else None

    def _is_listed(self, directory: int, company: int) -> bool:
        return mix(self.plan.seed, LISTED_FROM + directory, company) % 65536 < self.plan.habits.coverage * 65536

    def _entries(self, page: int, host: int, numbers: Iterator[int]) -> list[int]:
        """The page's part of the companies that the directory lists, mixed with entries of other kinds."""
        plan, trade = self.plan, int(self.plan.trade[host])
        listed = [home for home in plan.companies.all(trade) if self._is_listed(host, home)]
        parts, part = int(plan.start[host + 1] - plan.start[host]), page - int(plan.start[host])
        own = listed[part * len(listed) // parts : (part + 1) * len(listed) // parts]
        foreign: list[int | None] = []
        for _ in range(int(len(own) * _FOREIGN / (1 - _FOREIGN) + 0.5)):
            other = below(numbers, plan.subjects)
            is_company = other != trade and plan.directories.size(other) and below(numbers, 2)
            foreign.append(_popular(plan.companies, other, numbers) if is_company else self._anywhere(numbers))
        entries = [*own, *(to for to in foreign if to is not None)]
        return sorted(entries, key=lambda to: mix(plan.seed, host, to))

    def _copied(self, page: int, host: int, numbers: Iterator[int]) -> list[int]:
        """A link of a linked page, for some of the pages of the same subject that this page links to.

        Links to companies are not copied: without a directory no page knows two companies of a trade.
        """
        plan = self.plan
        subject = plan.subject[page]
        if subject == NO_SUBJECT or plan.kind[host] != SITE:
            return []
        copied = []
        for to in self.outside(page, host):
            if plan.subject[to] == subject and _chance(numbers, plan.habits.copying):
                theirs = [link for link in self.outside(to, plan.host_of(to)) if plan.role[link] != COMPANY_HOME]
                if theirs:
                    copied.append(theirs[below(numbers, len(theirs))])
        return copied


def _near(page: int, pages: Sequence[int], numbers: Iterator[int]) -> int:
    """A page a few steps before or after this one, the nearest most often."""
    step = heavy(numbers, 1, len(pages))
    return pages[(pages.index(page) + (step if below(numbers, 2) else -step)) % len(pages)]


def _popular(group: PageGroups, key: int, numbers: Iterator[int]) -> int | None:
    size = group.size(key)
    return group.at(key, _steep(numbers, size)) if size else None


def _steep(numbers: Iterator[int], limit: int) -> int:
    """A number from 0 to limit - 1, small ones much more likely: u to the fourth, so density ~ rank^-3/4."""
    number = next(numbers)
    square = (number * number) >> 32
    return (((square * square) >> 32) * limit) >> 32


def _chance(numbers: Iterator[int], share: float) -> bool:
    return next(numbers) < share * 4294967296.0
