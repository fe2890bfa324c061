"""Which pages of a realistic web link to which.

Most links stay on the site: the menu, the section, nearby pages. A link to another site often goes to a popular page of
the same subject and community, and then often a second link is copied from that page, so that triangles follow the
topic (the copying model of Kleinberg and others 1999). Communities are joined by few links and by corridor pages. A
company never links to another company of its trade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scenthound.lab.generate.realistic_sites import (
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
"""Where a link is: in the menu, in the text, or in an entry of a list."""
MOST_INSIDE, MOST_OUTSIDE = 40, 25
CORRIDOR_LINKS = 8
_LISTED = 0x4C49  # the `purpose` of a call of `mix`, plus a host: which companies a directory lists
_FOREIGN = 0.4  # share of a directory's entries that don't belong to its trade


class Target(NamedTuple):
    """A page that is linked to, and where the link is."""

    page: int
    where: int


class Linker:
    """Computes the links of a page from the plan and the page's number."""

    def __init__(self, plan: SitePlan) -> None:
        self.plan = plan

    def links(self, page: int) -> list[Target]:
        """The links of a page, in order; only the first link to each page."""
        plan = self.plan
        host = plan.host_of(page)
        draws = stream(plan.seed, "inside", page)
        targets = [Target(to, MENU) for to in self.menu(host)]
        if plan.kind[host] == DIRECTORY:
            targets += [Target(to, ENTRY) for to in self._directory_entries(page, host, draws)]
        elif plan.role[page] in (HOME, INDEX):
            targets += [Target(to, ENTRY) for to in self._index_entries(page, host, draws)]
        else:
            targets += [Target(to, TEXT) for to in self._inside(page, host, draws)]
        outside = [*self.outside(page, host), *self._copied(page, host, draws)]
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

    # ---- to the same host

    def _index_entries(self, page: int, host: int, draws: Iterator[int]) -> list[int]:
        """The list on an index page (its section) or a home page (all sections and some pages)."""
        plan = self.plan
        if plan.role[page] == INDEX:
            return list(plan.section_pages(plan.section_of(page, host), host)[1:])
        indexes = [pages[0] for section in plan.sections(host) if (pages := plan.section_pages(section, host))]
        size = int(plan.start[host + 1] - plan.start[host])
        return [*indexes[:MOST_INSIDE], *(page + below(draws, size) for _ in range(min(6, size // 4)))]

    def _inside(self, page: int, host: int, draws: Iterator[int]) -> list[int]:
        """The section's index, pages near this page in its section, and for one link in four any page of the host."""
        plan = self.plan
        count = heavy(draws, plan.habits.inside, MOST_INSIDE)
        if plan.kind[host] != SITE:
            size = int(plan.start[host + 1] - plan.start[host])
            return [int(plan.start[host]) + below(draws, size) for _ in range(count)]
        section = plan.section_pages(plan.section_of(page, host), host)
        similar = [other for other in section if self._is_similar(page, other)]
        targets = [section[0]]
        for _ in range(count):
            if not below(draws, 4):
                size = int(plan.start[host + 1] - plan.start[host])
                targets.append(int(plan.start[host]) + below(draws, size))
            elif len(similar) > 1 and _chance(draws, plan.habits.follow):
                targets.append(_near(page, similar, draws))
            else:
                targets.append(_near(page, section, draws))
        return targets

    def _is_similar(self, page: int, other: int) -> bool:
        """Whether two pages of a section are on the same subject, in the same role."""
        plan = self.plan
        subject = plan.subject[page]
        return bool(subject != NO_SUBJECT and subject == plan.subject[other] and plan.role[page] == plan.role[other])

    # ---- to other hosts

    def outside(self, page: int, host: int) -> list[int]:
        """The links of a page to other hosts, except those that it copies from a linked page."""
        plan = self.plan
        draws = stream(plan.seed, "outside", page)
        subject, role = int(plan.subject[page]), int(plan.role[page])
        if plan.kind[host] == COMPANY:
            return self._from_company(int(plan.trade[host]), host, draws)
        if role in (CORRIDOR, OUTER_CORRIDOR):
            return self._from_corridor(subject, role, draws)
        if plan.kind[host] == DIRECTORY:
            return []
        count = heavy(draws, 1, MOST_OUTSIDE) if _chance(draws, plan.habits.outside) else 0
        targets = [self._draw_outside(page, subject, role, draws) for _ in range(count)]
        companies = plan.companies.size(subject) if role == ARTICLE and subject != NO_SUBJECT else 0
        if companies and _chance(draws, plan.habits.mentions):
            targets.append(plan.companies.at(subject, below(draws, companies)))
        return [to for to in targets if to is not None]

    def _draw_outside(self, page: int, subject: int, role: int, draws: Iterator[int]) -> int | None:
        """Draw a link to another host, with the shares `same`, `related`, `through`, `misled`; the rest go anywhere."""
        plan, habits = self.plan, self.plan.habits
        draw = next(draws) / 4294967296.0
        if subject == NO_SUBJECT:
            return self._anywhere(draws)
        if role == NEAR_MISS and draw < habits.same:
            return _popular(plan.near_misses, subject, draws)
        related = habits.same + habits.related
        if draw < habits.same:
            return self._on_subject(plan.group(page), draws)
        if draw < related:
            return self._on_subject(self._related_group(subject, draws), draws)
        if draw < related + habits.through:
            return _popular(plan.corridors, subject, draws)
        if draw < related + habits.through + habits.misled:
            return _popular(plan.near_misses, subject, draws)
        return self._anywhere(draws)

    def _on_subject(self, group: int, draws: Iterator[int]) -> int | None:
        """A popular page of the group or, with probability `joined`, of any community of its subject."""
        plan = self.plan
        if _chance(draws, plan.habits.joined):
            communities = plan.habits.communities
            group = group // communities * communities + below(draws, communities)
        return _popular(plan.on_subject, group, draws)

    def _related_group(self, subject: int, draws: Iterator[int]) -> int:
        family, communities = self.plan.related(subject), self.plan.habits.communities
        return family[below(draws, len(family))] * communities + below(draws, communities)

    def _anywhere(self, draws: Iterator[int]) -> int:
        homes = self.plan.homes
        return int(homes[_steep(draws, len(homes))])

    def _from_corridor(self, subject: int, role: int, draws: Iterator[int]) -> list[int]:
        """A corridor links to all communities of its subject, an outer corridor to corridors; half is noise."""
        plan, communities = self.plan, self.plan.habits.communities
        targets: list[int | None] = []
        for _ in range(2 + below(draws, CORRIDOR_LINKS)):
            if below(draws, 2):
                targets.append(self._anywhere(draws))
            elif role == OUTER_CORRIDOR:
                targets.append(_popular(plan.corridors, subject, draws))
            else:
                group = subject * communities + below(draws, communities)
                targets.append(_popular(plan.on_subject, group, draws))
        return [to for to in targets if to is not None]

    def _from_company(self, trade: int, host: int, draws: Iterator[int]) -> list[int]:
        """Links to articles on its trade, a company of another trade, directories that list it, or anything else."""
        plan = self.plan
        targets: list[int | None] = []
        for turn in range(below(draws, 3)):
            draw = below(draws, 100)
            if draw < 30:
                group = trade * plan.habits.communities + below(draws, plan.habits.communities)
                targets.append(_popular(plan.on_subject, group, draws))
            elif draw < 45 and turn == 0:  # one supplier: a page that names two companies is a hub
                other = below(draws, plan.subjects)
                targets.append(_popular(plan.companies, other, draws) if other != trade else None)
            elif draw < 60:
                targets.append(self._directory_home(trade, host, draws))
            else:
                targets.append(self._anywhere(draws))
        return [to for to in targets if to is not None]

    def _directory_home(self, trade: int, host: int, draws: Iterator[int]) -> int | None:
        """The home page of a random directory of the trade, if it lists this company."""
        plan = self.plan
        count = plan.directories.size(trade)
        if not count:
            return None
        directory = plan.directories.at(trade, below(draws, count))
        return int(plan.start[directory]) if self._is_listed(directory, int(plan.start[host])) else None

    def _is_listed(self, directory: int, company: int) -> bool:
        return mix(self.plan.seed, _LISTED + directory, company) % 65536 < self.plan.habits.coverage * 65536

    def _directory_entries(self, page: int, host: int, draws: Iterator[int]) -> list[int]:
        """The page's share of the companies that the directory lists, mixed with other entries."""
        plan, trade = self.plan, int(self.plan.trade[host])
        listed = [home for home in plan.companies.all(trade) if self._is_listed(host, home)]
        parts, part = int(plan.start[host + 1] - plan.start[host]), page - int(plan.start[host])
        companies = listed[part * len(listed) // parts : (part + 1) * len(listed) // parts]
        foreign: list[int | None] = []
        for _ in range(int(len(companies) * _FOREIGN / (1 - _FOREIGN) + 0.5)):
            other = below(draws, plan.subjects)
            is_company = other != trade and plan.directories.size(other) and below(draws, 2)
            foreign.append(_popular(plan.companies, other, draws) if is_company else self._anywhere(draws))
        entries = [*companies, *(to for to in foreign if to is not None)]
        return sorted(entries, key=lambda to: mix(plan.seed, host, to))

    def _copied(self, page: int, host: int, draws: Iterator[int]) -> list[int]:
        """Links copied from some of the linked pages on the same subject, one from each.

        Links to companies are not copied: only directories may link to two companies of a trade.
        """
        plan = self.plan
        subject = plan.subject[page]
        if subject == NO_SUBJECT or plan.kind[host] != SITE:
            return []
        copied = []
        for to in self.outside(page, host):
            if plan.subject[to] == subject and _chance(draws, plan.habits.copying):
                choices = [link for link in self.outside(to, plan.host_of(to)) if plan.role[link] != COMPANY_HOME]
                if choices:
                    copied.append(choices[below(draws, len(choices))])
        return copied


def _near(page: int, pages: Sequence[int], draws: Iterator[int]) -> int:
    """A page some steps before or after this page; small steps are the most likely."""
    step = heavy(draws, 1, len(pages))
    return pages[(pages.index(page) + (step if below(draws, 2) else -step)) % len(pages)]


def _popular(group: PageGroups, key: int, draws: Iterator[int]) -> int | None:
    size = group.size(key)
    return group.at(key, _steep(draws, size)) if size else None


def _steep(draws: Iterator[int], limit: int) -> int:
    """The next number to the power 4, scaled to 0 .. limit - 1, so that small numbers prevail: density ~ rank^-3/4."""
    number = next(draws)
    square = (number * number) >> 32
    return (((square * square) >> 32) * limit) >> 32


def _chance(draws: Iterator[int], share: float) -> bool:
    return next(draws) < share * 4294967296.0
