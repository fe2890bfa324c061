"""The simple generated web: determined by its seed number, of any size, with known answers.

The demo, the tests and the scale benchmarks use it. It is too easy for claims about quality: see `realistic_web`.

    web = GeneratedWeb(pages=3000, seed=1)
    web.url(17), web.html(17), web.links(17)      # any page, made on demand
    generate("beds/demo", pages=3000, seed=1)     # all of them, written as a bed

The same arguments give the same bytes on any machine. `simple_plan` plans hosts, subjects and links;
`simple_pages` renders HTML, and has the traps that some hosts link to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from scenthound.errors import BadConfig
from scenthound.files import unfinished
from scenthound.lab.beds.bed import Bed, Web, new_response, write_bed
from scenthound.lab.generate import subjects
from scenthound.lab.generate.rng import below, stream
from scenthound.lab.generate.simple_pages import PageRenderer, description
from scenthound.lab.generate.simple_plan import COMPANY, NO_LEAF, PORTAL, TOPICAL, LinkRates, Plan, make_plan
from scenthound.model import Response, Url
from scenthound.topic_list import BedTopic
from scenthound.url import make

VERSION = 1
"""Raise it when the same arguments give a different web."""
MOST_PAGES = 20_000_000
_LOCAL = re.compile(r"(\d{1,9})(?:\.html?|/)?$")


class GeneratedWeb:
    """A web that exists only as a plan. Pages are numbered from 0, and each is made on demand."""

    def __init__(
        self,
        pages: int = 3000,
        seed: int = 1,
        *,
        topics: int = 12,
        page_size: int = 5_000,
        traps: bool = True,
        habits: LinkRates | None = None,
    ) -> None:
        """`topics`: number of leaves that become topics; `page_size`: approximate bytes of a page (real: 40,000)."""
        if not 10 <= pages <= MOST_PAGES:
            raise BadConfig(f"a generated web can't have {pages} pages", f"give between 10 and {MOST_PAGES:,}")
        if topics < 1:
            raise BadConfig(f"a bed can't have {topics} topics", "ask for at least one")
        self.pages, self.seed, self.traps, self.page_size = pages, seed, traps, page_size
        self._arguments = (pages, seed, topics, page_size, traps, habits or LinkRates())
        self._topic_count = topics
        self.plan: Plan = make_plan(pages, seed, habits or LinkRates())
        self._renderer = PageRenderer(self.plan, page_size, traps)

    @property
    def name(self) -> str:
        return f"generated-{self.pages}-{self.seed}"

    @property
    def digest(self) -> str:
        """A hash of the arguments and the generator's version. A bed written from this web has a different digest."""
        return hashlib.sha256(f"generated web {VERSION} {self._arguments}".encode()).hexdigest()

    @cached_property
    def _hosts(self) -> dict[str, int]:
        return {name: host for host, name in enumerate(self.plan.names)}

    def url(self, number: int) -> Url:
        return make(self._renderer.url(number))

    def html(self, number: int) -> str:
        return self._renderer.html(number)

    def links(self, number: int) -> list[int]:
        """The pages that this page links to, without duplicates, in document order (its own host first)."""
        return list(dict.fromkeys(to for to, _ in self.plan.links(number)))

    def leaf(self, number: int) -> tuple[str, ...]:
        """The subject of the page as planned: a path in the taxonomy, or empty."""
        leaf = self.plan.page_leaf[number]
        return () if leaf == NO_LEAF else subjects.LEAVES[leaf].path

    def number(self, url: Url) -> int | None:
        """The number of the page with this canonical URL."""
        host, path = self._split(url)
        match = _LOCAL.search(path)
        if host is None or not (path == "/" or match):
            return None
        local = int(match[1]) if match and path != "/" else 0
        if local >= self.plan.size(host):
            return None
        number = self.plan.start[host] + local
        return number if self.url(number) == url else None

    def get(self, url: Url) -> Response | None:
        """The answer to a request for this URL: a page, a redirect, robots.txt, a sitemap, or None for 404."""
        number = self.number(url)
        if number is not None:
            return self.response(number)
        host, path = self._split(url)
        if path == "/":
            www_host = self._hosts.get(f"www.{url[7:-1]}")
            return None if www_host is None else self._redirect(url, self.plan.start[www_host])
        if host is None:
            return None
        if path == "/robots.txt":
            return self._robots(host)
        if path == "/sitemap.xml":
            return self._sitemap(host)
        match = _LOCAL.search(path) if path.startswith("/old/") else None
        if match and int(match[1]) < self.plan.size(host):
            number = self.plan.start[host] + int(match[1])
            return self._redirect(url, number) if self._renderer.alias(number) == url else None
        return None

    def response(self, number: int) -> Response:
        """The page as an HTTP response, in its host's character set."""
        host = self.plan.host_of(number)
        style = self._renderer.host_style(self.plan.original.get(host, host))
        text = self.html(number)
        if style.charset == "utf-16":
            body = b"\xff\xfe" + text.encode("utf-16-le")
        else:
            body = text.encode(style.charset, "xmlcharrefreplace")
        content_type = f"text/html; charset={style.charset}" if style.charset_in_header else "text/html"
        return new_response(self._renderer.url(number), content_type, body)

    def responses(self) -> Iterator[Response]:
        """All responses of this web, host by host."""
        plan = self.plan
        for host in range(plan.hosts):
            for extra in (self._robots(host), self._sitemap(host)):
                if extra is not None:
                    yield extra
            for number in range(plan.start[host], plan.start[host + 1]):
                yield self.response(number)
                old = self._renderer.alias(number)
                if old is not None:
                    yield self._redirect(old, number)

    def count_extras(self) -> tuple[int, int]:
        """The number of redirects, and of robots.txt files and sitemaps, that `responses` yields besides the pages."""
        redirects = sum(self._renderer.alias(number) is not None for number in range(self.pages))
        files = sum(self._robots(host) is not None for host in range(self.plan.hosts))
        return redirects, files + sum(self._has_sitemap(host) for host in range(self.plan.hosts))

    @cached_property
    def topics(self) -> list[BedTopic]:
        """Topics with known answers, spread over the areas of the taxonomy."""
        spread = sorted(range(self.plan.leaves), key=lambda leaf: (leaf * 7) % self.plan.leaves)
        topics = [self._topic(leaf) for leaf in spread[: self._topic_count]]
        return [topic for topic in topics if topic.targets]

    def company_topics(self) -> list[BedTopic]:
        """For each trade: given three companies, find the home pages of the rest. No company links to a competitor."""
        return [topic for leaf in range(1, self.plan.leaves, 3) if (topic := self._company_topic(leaf)).targets]

    def _topic(self, leaf: int) -> BedTopic:
        """A topic whose targets are pages on the leaf; three seeds are on sibling leaves, seven on none."""
        plan, path = self.plan, subjects.LEAVES[leaf].path
        draws = stream(self.seed, "topic", leaf)
        pages = plan.on_leaf(leaf)
        order = sorted(range(len(pages)), key=lambda _: next(draws))  # random
        examples = [pages[index] for index in order[: min(5, len(pages) // 4)]]
        family = [other for other in plan.siblings(leaf) if other != leaf]
        family = family or [other for other in range(plan.leaves) if other != leaf]  # it is the only leaf of its area
        seed_pools = [plan.popular[family[below(draws, len(family))]] for _ in range(3)]
        seed_pools += [plan.popular[-1]] * 7
        seeds = [pool[below(draws, len(pool))] for pool in seed_pools if pool]
        targets = [page for page in pages if page not in examples]
        openings = [self._renderer.opening(page) for page in targets[:40]]
        return BedTopic(
            id=".".join(path).replace(" ", "-"),
            path=path,
            keywords=" ".join(path),
            description=description(leaf, openings),
            seeds=tuple(dict.fromkeys(map(self.url, seeds))),
            targets=tuple(map(self.url, targets)),
            examples=tuple(map(self.url, examples)),
        )

    def _company_topic(self, leaf: int) -> BedTopic:
        plan, path = self.plan, (*subjects.LEAVES[leaf].path, "companies")
        homes = [plan.start[host] for host in plan.listed[leaf] if plan.kind[host] == COMPANY]
        return BedTopic(
            id=".".join(path).replace(" ", "-"),
            path=path,
            keywords=" ".join(path[-2:]),
            description=description(leaf, [self._renderer.opening(page) for page in homes[:40]]),
            seeds=tuple(map(self.url, homes[:3])),
            targets=tuple(map(self.url, homes[3:])),
            looking_for="sites",
        )

    def _split(self, url: Url) -> tuple[int | None, str]:
        name, _, path = url.removeprefix("http://").partition("/")
        return (self._hosts.get(name) if url.startswith("http://") else None), "/" + path

    def _redirect(self, url: str, number: int) -> Response:
        target = self._renderer.url(number)
        body = f'<html><body>Moved to <a href="{target}">{target}</a></body></html>\n'.encode()
        return new_response(url, "text/html", body, 301, "Moved Permanently", target)

    def _robots(self, host: int) -> Response | None:
        """The robots.txt that 40% of hosts have. It may disallow a folder, set a delay or name a sitemap."""
        plan = self.plan
        rules = plan.rules(host) % 5
        if rules > 1:
            return None
        lines = ["User-agent: *", "Disallow: /private/" if plan.has_private_folder(host) else "Disallow:"]
        if plan.size(host) < 8 and (plan.rules(host) >> 20) % 4 == 0:
            lines.append("Crawl-delay: 1")
        if self._has_sitemap(host):
            lines.append(f"Sitemap: http://{plan.names[host]}/sitemap.xml")
        body = ("\n".join(lines) + "\n").encode()
        return new_response(f"http://{plan.names[host]}/robots.txt", "text/plain", body)

    def _has_sitemap(self, host: int) -> bool:
        return (self.plan.rules(host) >> 12) % 4 == 0 and self.plan.kind[host] in (TOPICAL, COMPANY, PORTAL)

    def _sitemap(self, host: int) -> Response | None:
        if not self._has_sitemap(host):
            return None
        plan = self.plan
        pages = range(plan.start[host], plan.start[host + 1])
        urls = [self._renderer.url(page) for page in pages if not plan.is_private(page, host)]
        items = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls)
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{items}</urlset>\n'
        return new_response(f"http://{plan.names[host]}/sitemap.xml", "application/xml", body.encode())


def generate(
    folder: str | Path,
    pages: int = 3000,
    seed: int = 1,
    *,
    topics: int = 12,
    page_size: int = 5_000,
    companies: bool = False,
    habits: LinkRates | None = None,
) -> Bed:
    """Write a simple web as a bed, page by page. `companies` adds the topics of `company_topics`."""
    web = GeneratedWeb(pages, seed, topics=topics, page_size=page_size, habits=habits)
    redirects, others = web.count_extras()
    return write_generated(
        folder,
        web,
        web.topics + (web.company_topics() if companies else []),
        origin=f"scenthound's generator, version {VERSION}, seed {seed}",
        traps=web.traps,
        html_pages=web.pages,
        redirects=redirects,
        other_records=others,
        topics_asked=topics,
    )


def write_generated(folder: str | Path, web: Web, topics: Sequence[BedTopic], **about: str | int) -> Bed:
    """Write the pages of a generated web as a bed. Raises `BadConfig` or `DiskFull` if they can't be written."""
    title = f"A generated web of {about['html_pages']} pages"
    licence = {"title": title, "origin": about.pop("origin"), "licence": "Apache-2.0"}
    with unfinished(Path(folder)):
        return write_bed(folder, web.name, web.responses(), topics, **licence, **about)
