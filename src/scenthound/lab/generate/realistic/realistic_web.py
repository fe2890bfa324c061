"""The realistic web: pages by number or by URL, and topics with known answers.

    web = RealisticWeb(pages=100_000, seed=1)
    web.url(17), web.html(17), web.links(17)

Any page is made on demand, from the plan and the page's number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import new_response
from scenthound.lab.generate import subjects
from scenthound.lab.generate.realistic.habits import RealisticHabits
from scenthound.lab.generate.realistic.link_plan import Linker
from scenthound.lab.generate.realistic.realistic_pages import make_pages
from scenthound.lab.generate.realistic.site_plan import NO_SUBJECT, SitePlan, make_plan
from scenthound.lab.generate.rng import below, stream
from scenthound.model import Response, Url
from scenthound.parameters import changed_values, values_of
from scenthound.topic_list import BedTopic
from scenthound.url import make

VERSION = 1
"""Raise it when the same arguments give a different web."""
MOST_PAGES = 20_000_000
LEAST_PAGES = 500
SEEDS, EXAMPLES = 10, 10
OPENINGS = 40  # pages quoted in the description of a topic


class RealisticWeb:
    """A web that exists only as a plan. Pages are numbered from 0, and each is made on demand."""

    traps = False

    def __init__(
        self,
        pages: int = 100_000,
        seed: int = 1,
        *,
        topics: int = 12,
        companies: bool = False,
        habits: RealisticHabits | None = None,
    ) -> None:
        """`topics` is the number of subjects that become topics; `companies` adds the topics of `company_topics`."""
        if not LEAST_PAGES <= pages <= MOST_PAGES:
            raise BadConfig(
                f"a realistic web can't have {pages} pages", f"give between {LEAST_PAGES} and {MOST_PAGES:,}"
            )
        self.pages, self.seed, self.habits = pages, seed, habits or RealisticHabits()
        self._topic_count, self._companies = topics, companies
        self.plan: SitePlan = make_plan(pages, seed, self.habits)
        self._pages, self._linker = make_pages(self.plan), Linker(self.plan)

    @property
    def name(self) -> str:
        changed = "".join(f"-{name}={value}" for name, value in changed_values(self.habits).items())
        return f"realistic-{self.pages}-{self.seed}{changed}"

    @property
    def arguments(self) -> dict[str, int | bool]:
        """The arguments that this web was made with, except its habits."""
        return {"pages": self.pages, "seed": self.seed, "topics": self._topic_count, "companies": self._companies}

    @property
    def digest(self) -> str:
        """A hash of the arguments and the generator's version. A bed written from this web has a different digest."""
        arguments = [*self.arguments.items(), *sorted(values_of(self.habits).items())]
        return hashlib.sha256(f"realistic web {VERSION} {arguments}".encode()).hexdigest()

    def url(self, number: int) -> Url:
        return make(self._pages.url(number))

    def html(self, number: int) -> str:
        return self._pages.html(number)

    def links(self, number: int) -> list[int]:
        """The pages that this page links to, without duplicates: the menu first, then the list, then the text."""
        return [target.page for target in self._linker.links(number)]

    def subject(self, number: int) -> tuple[str, ...]:
        """The subject that the page is about or leads to: a path in the taxonomy, or empty."""
        subject = int(self.plan.subject[number])
        return () if subject == NO_SUBJECT else subjects.LEAVES[subject].path

    def number(self, url: Url) -> int | None:
        """The number of the page with this canonical URL, present or former."""
        return self._pages.number(url)

    def get(self, url: Url) -> Response | None:
        """The answer to a request for this URL: a page, a redirect, or None for 404."""
        number = self.number(url)
        if number is None:
            return None
        return self.response(number) if url != self._pages.old_url(number) else self._redirect(url, number)

    def response(self, number: int) -> Response:
        return new_response(self._pages.url(number), "text/html; charset=utf-8", self.html(number).encode())

    def responses(self) -> Iterator[Response]:
        """All responses of this web, page by page, each redirect after the page that it leads to."""
        for number in range(self.pages):
            yield self.response(number)
            if (old := self._pages.old_url(number)) is not None:
                yield self._redirect(old, number)

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """The redirects, from old URL to present URL."""
        moved = ((self._pages.old_url(number), number) for number in self._pages.moved_pages())
        return {old: self.url(number) for old, number in moved if old is not None}

    @cached_property
    def topics(self) -> list[BedTopic]:
        """Topics with known answers, spread over the areas of the taxonomy, then company topics if asked for."""
        spread = sorted(range(self.plan.subjects), key=lambda subject: (subject * 7) % self.plan.subjects)
        topics = [self._topic(subject) for subject in spread[: self._topic_count]]
        return [topic for topic in [*topics, *(self.company_topics() if self._companies else [])] if topic.targets]

    def company_topics(self) -> list[BedTopic]:
        """For each trade: given some companies, find the home pages of the others. No company links to a competitor."""
        trades = [subject for subject in range(self.plan.subjects) if self.plan.companies.size(subject)]
        return [topic for trade in trades if (topic := self._company_topic(trade)).targets]

    def _topic(self, subject: int) -> BedTopic:
        """A topic whose seeds and examples are pages on the subject, from different hosts as far as possible."""
        draws = stream(self.seed, "topic", subject)
        pages = self.plan.on_topic(subject)
        chosen = self._from_hosts(pages, min(SEEDS + EXAMPLES, len(pages) // 3), draws)
        seeds, examples = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
        path, taken = subjects.LEAVES[subject].path, set(chosen)
        targets = [page for page in pages if page not in taken]
        return BedTopic(
            id=".".join(path).replace(" ", "-"),
            path=path,
            keywords=" ".join(path),
            description=self._description(subject, targets),
            seeds=tuple(map(self.url, seeds)),
            targets=tuple(map(self.url, targets)),
            examples=tuple(map(self.url, examples)),
        )

    def _from_hosts(self, pages: list[int], count: int, draws: Iterator[int]) -> list[int]:
        order = _shuffled(pages, draws)
        by_host: dict[int, int] = {}
        for page in order:
            by_host.setdefault(self.plan.host_of(page), page)
        first = list(by_host.values())
        return [*first, *(page for page in order if page not in set(first))][:count]

    def _company_topic(self, trade: int) -> BedTopic:
        path = (*subjects.LEAVES[trade].path, "companies")
        homes, count = self.plan.companies.all(trade), self.habits.company_seeds
        homes = _shuffled(homes, stream(self.seed, "companies", trade))
        return BedTopic(
            id=".".join(path).replace(" ", "-"),
            path=path,
            keywords=" ".join(path[-2:]),
            description=self._description(trade, homes[count:]),
            seeds=tuple(map(self.url, homes[:count])),
            targets=tuple(map(self.url, homes[count:])),
            looking_for="sites",
        )

    def _description(self, subject: int, pages: list[int]) -> str:
        leaf = subjects.LEAVES[subject]
        words = f"{leaf.name.capitalize()}: {', '.join(leaf.words[:12])}."
        return " ".join([words, *map(self._pages.opening, pages[:OPENINGS])])

    def _redirect(self, url: str, number: int) -> Response:
        target = self._pages.url(number)
        body = f'<html><body>Moved to <a href="{target}">{target}</a></body></html>\n'.encode()
        return new_response(url, "text/html", body, 301, "Moved Permanently", target)


def _shuffled(pages: Sequence[int], draws: Iterator[int]) -> list[int]:
    order = list(pages)
    for index in range(len(order) - 1, 0, -1):
        other = below(draws, index + 1)
        order[index], order[other] = order[other], order[index]
    return order
