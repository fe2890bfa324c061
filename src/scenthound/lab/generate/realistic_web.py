"""The realistic web: pages by number or by URL, rendered as HTML from the plan, and topics with known answers.

    web = RealisticWeb(pages=100_000, seed=1)
    web.url(17), web.html(17), web.links(17)

Any page is made on demand, from the plan and the page's number. Its text is many words drawn at once, with stop words
between them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import new_response
from scenthound.lab.generate import subjects
from scenthound.lab.generate.realistic_links import ENTRY, TEXT, Linker, Target
from scenthound.lab.generate.realistic_sites import (
    ARTICLE,
    BOARD,
    COMPANY,
    COMPANY_HOME,
    COMPANY_PAGE,
    CORRIDOR,
    DIRECTORY,
    INDEX,
    LIST,
    NEAR_MISS,
    NO_SUBJECT,
    OUTER_CORRIDOR,
    SITE,
    SitePlan,
    make_plan,
)
from scenthound.lab.generate.realistic_words import SLOTS, RealisticHabits, Table, WebVocabulary, invented
from scenthound.lab.generate.rng import Words, below, mix, mix_all, stream
from scenthound.model import Response, Url
from scenthound.parameters import changed_values, values_of
from scenthound.topic_list import BedTopic
from scenthound.url import make

_TITLE, _MANNER = range(60, 62)  # the `purpose` of a call of `mix`
_TEXT, _CONTEXT = 1 << 20, 1 << 21  # the same, plus a page number
BETWEEN = (" ", " ", " and ", " of the ", " in a ", " for the ", ", ", " with ", " to the ", " is ", " on ", " by a ",
           " from ", ". The ", ". In ", ". This ")  # fmt: skip
DENSE = 1.6  # factor for the share of subject words beside a link
WEAK = 0.4  # factor for the share of subject words on the pages of directories


class PageTexts:
    """Draws words for the pages of a plan."""

    def __init__(self, plan: SitePlan, vocabulary: WebVocabulary) -> None:
        self._plan, self._vocabulary, self._words = plan, vocabulary, vocabulary.words

    def title(self, page: int) -> str:
        """Two or three words, mostly from the table of the page's subject."""
        bits = mix(self._plan.seed, _TITLE, page)
        table, background = self._table(page), self._vocabulary.background
        tables = [table if (bits >> 8 * n) % 5 else background for n in range(1, 3 + bits % 2)]
        words = [self._words[table[(bits >> 13 * n) % len(table)]] for n, table in enumerate(tables, 1)]
        return " ".join(words).capitalize()

    def words(self, page: int, count: int) -> list[str]:
        """The words of the page's text."""
        return self._draw(page, mix_all(self._plan.seed, _TEXT + page, count), self._strength(page))

    def beside(self, page: int, to: int, index: int, count: int) -> list[str]:
        """Words beside the link with this index on `page`: those of the linked page, or of `page` itself.

        Beside a link from another host to a company they are always the company's, often with the name of its trade.
        """
        plan = self._plan
        bits = mix_all(plan.seed ^ (to << 20), _CONTEXT + page + (index << 32), count)
        chance = mix(plan.seed, _MANNER + index, page ^ (to << 24))
        is_company = plan.role[to] == COMPANY_HOME and plan.role[page] not in (COMPANY_PAGE, BOARD)
        if not is_company and chance % 65536 >= plan.habits.context * 65536:
            return self._draw(page, bits, self._strength(page))
        words = self._draw(to, bits, min(1.0, DENSE * self._strength(to)))
        if is_company and (chance >> 16) % 65536 < plan.habits.named * 65536:
            words[:0] = [self._words[number] for number in self._vocabulary.name(int(plan.subject[to]))]
        return words

    def sentence(self, words: list[str], bits: int) -> str:
        """The words, joined by stop words that the bits choose."""
        parts = [words[0].capitalize()]
        for word in words[1:]:
            bits = (bits * 0x9E3779B97F4A7C15 + 1) & 0xFFFFFFFFFFFFFFFF
            parts += [BETWEEN[bits >> 60], word]
        return "".join(parts) + "."

    def _draw(self, page: int, bits: Words, strength: float) -> list[str]:
        """A word for each element of `bits`: from the page's subject (`strength`), its site, itself, or no subject."""
        habits, vocabulary, plan = self._plan.habits, self._vocabulary, self._plan
        slot = (bits & np.uint64(0xFFFF)).astype(np.int64)
        share = ((bits >> np.uint64(16)) & np.uint64(0xFFFF)).astype(np.float64) / 65536.0
        site, own = vocabulary.site_words(plan.host_of(page)), vocabulary.own_words(page)
        drawn = vocabulary.background[slot]
        below_subject, below_site = share < strength, share < strength + habits.jargon
        below_own = share < strength + habits.jargon + habits.burst
        drawn = np.where(below_own, own[slot % len(own)], drawn)
        drawn = np.where(below_site, site[slot % len(site)], drawn)
        drawn = np.where(below_subject, self._table(page)[slot % SLOTS], drawn)
        return [self._words[number] for number in drawn.tolist()]

    def _strength(self, page: int) -> float:
        """The page's share of subject words: 0.5 to 1.5 times the habit `strength`."""
        plan = self._plan
        if plan.subject[page] == NO_SUBJECT and plan.role[page] != BOARD:
            return 0.0
        varied = plan.habits.strength * (0.5 + mix(plan.seed, _MANNER, page) % 65536 / 65536.0)
        return varied * WEAK if plan.role[page] == LIST else min(varied, 1.0)

    def _table(self, page: int) -> Table:
        plan, vocabulary = self._plan, self._vocabulary
        subject, role = int(plan.subject[page]), int(plan.role[page])
        if role == BOARD:
            return vocabulary.board
        if subject == NO_SUBJECT:
            return vocabulary.background
        if role == NEAR_MISS:
            return vocabulary.decoy_table(subject)
        if role in (CORRIDOR, OUTER_CORRIDOR):
            return vocabulary.corridor_table(subject, int(role == OUTER_CORRIDOR))
        assert role in (ARTICLE, COMPANY_HOME, COMPANY_PAGE, LIST)
        return vocabulary.subject_table(subject, int(plan.community[page]))


PARAGRAPH = 45  # words
BESIDE, ENTRY_WORDS = 6, 8  # words beside a link in the text, and in an entry of a list
_SLUG, _NAME, _STYLE, _DEAD, _MOVED, _ANCHOR = range(70, 76)  # the `purpose` of a call of `mix`
_NUMBER = re.compile(r"-(\d{1,9})(?:\.html|/)$")
_OLD = re.compile(r"/old/(\d{1,9})\.htm$")
_HOST = re.compile(r"http://[a-z-]*?-(\d{1,8})\.test(/.*)$")
_ENDINGS = {SITE: subjects.HOST_ENDINGS, COMPANY: subjects.COMPANY_ENDINGS, DIRECTORY: subjects.DIRECTORY_ENDINGS}
_LAYOUTS = (  # start and end of the page's text, start and end of its menu, an entry of the menu
    ('<div class="content">', "</div>", '<div class="menu"><ul>', "</ul></div>", "<li>%s</li>"),
    ("<main><article>", "</article></main>", "<nav>", "</nav>", "%s |"),
    ("<table><tr><td>", "</td></tr></table>", "<table><tr>", "</tr></table>", "<td>%s</td>"),
    ('<div id="wrap"><div id="main">', "</div></div>", '<div id="top">', "</div>", "<span>%s</span>"),
)
_ENTRIES = (  # start of a list, an entry with a link and its description in the same parent, end
    ("<ul>", "<li>{link} {text}</li>", "</ul>"),
    ("<table>", "<tr><td>{link}<br>{text}</td></tr>", "</table>"),
    ("<div>", "<p>{text} {link}</p>", "</div>"),
    ("<section>", '<div class="entry">{link}<span>{text}</span></div>', "</section>"),
    ("<dl>", "<dd>{link}: {text}</dd>", "</dl>"),
)


class Pages:
    """Renders the pages of a plan; each depends only on the plan and the page's number."""

    def __init__(self, plan: SitePlan, texts: PageTexts, linker: Linker) -> None:
        self.plan, self.texts, self._linker = plan, texts, linker
        self.host_name = lru_cache(maxsize=1 << 16)(self._host_name)
        self._frame = lru_cache(maxsize=1 << 12)(self._host_frame)

    # ---- addresses

    def _host_name(self, host: int) -> str:
        """A name that ends in the number of the host, so that `number` can find the host of a URL."""
        plan = self.plan
        bits = mix(plan.seed, _NAME, host)
        endings, trade = _ENDINGS[int(plan.kind[host])], int(plan.trade[host])
        word = invented(bits % 100_000)
        if trade != NO_SUBJECT and bits >> 20 & 1:
            word = _plain(subjects.LEAVES[trade].words[(bits >> 21) % 12])
        return f"{word}-{endings[(bits >> 40) % len(endings)]}-{host}.test"

    def path(self, page: int, host: int) -> str:
        plan = self.plan
        local = page - int(plan.start[host])
        if local == 0:
            return "/"
        section = self._section_slug(plan.section_of(page, host)) if plan.kind[host] == SITE else "pages"
        if plan.role[page] == INDEX:
            return f"/{section}-{local}/"
        slug = self.texts.title(page).lower().replace(" ", "-") if mix(plan.seed, _SLUG, page) % 3 else "page"
        return f"/{section}/{_plain(slug)}-{local}.html"

    def url(self, page: int) -> str:
        host = self.plan.host_of(page)
        return f"http://{self.host_name(host)}{self.path(page, host)}"

    def old_url(self, page: int) -> str | None:
        """The old URL of a page that moved, which some pages still link to; most pages have none."""
        plan = self.plan
        if mix(plan.seed, _MOVED, page) % 65536 >= plan.habits.moved * 65536:
            return None
        host = plan.host_of(page)
        return f"http://{self.host_name(host)}/old/{page - int(plan.start[host])}.htm"

    def moved_pages(self) -> list[int]:
        """The pages that have an old URL."""
        plan = self.plan
        chosen = mix_all(plan.seed, _MOVED, plan.pages) % np.uint64(65536) < plan.habits.moved * 65536
        pages: list[int] = np.flatnonzero(chosen).tolist()
        return pages

    def number(self, url: str) -> int | None:
        """The number of the page with this URL or old URL."""
        match = _HOST.fullmatch(url)
        if match is None or int(match[1]) >= self.plan.hosts:
            return None
        host, path = int(match[1]), match[2]
        local = None if path == "/" else _NUMBER.search(path) or _OLD.fullmatch(path)
        if path != "/" and local is None:
            return None
        page = int(self.plan.start[host]) + (0 if local is None else int(local[1]))
        if page >= self.plan.start[host + 1] or url not in (self.url(page), self.old_url(page)):
            return None
        return page

    def _section_slug(self, section: int) -> str:
        plan = self.plan
        subject = int(plan.section_subject[section])
        bits = mix(plan.seed, _SLUG, section)
        words = subjects.LEAVES[subject].words[:20] if bits % 2 else subjects.GENERAL
        return _plain(words[(bits >> 8) % len(words)])

    # ---- pages

    def title(self, page: int) -> str:
        plan, host = self.plan, self.plan.host_of(page)
        if page == plan.start[host]:
            return self.host_name(host).rpartition("-")[0].replace("-", " ").title()
        if plan.role[page] == INDEX:
            return self._section_slug(plan.section_of(page, host)).capitalize()
        return self.texts.title(page)

    def opening(self, page: int) -> str:
        """Title and first words, as the editor of a directory would quote them."""
        return f"{self.title(page)}. {self.texts.sentence(self.texts.words(page, 12), page)}"

    def html(self, page: int) -> str:
        host = self.plan.host_of(page)
        links = self._linker.links(page)
        heading = self.title(page)
        opens, closes, head, menu = self._frame(host)
        entries = [link for link in links if link.where == ENTRY]
        in_text = [link for link in links if link.where == TEXT]
        text = self._article(page, host, in_text, bool(entries))
        entry_list = self._list(page, host, entries) if entries else ""
        return (
            f"{head}<title>{heading}</title>\n</head>\n<body>\n{menu}\n{opens}\n<h1>{heading}</h1>\n"
            f"{text}\n{entry_list}\n{closes}\n</body>\n</html>\n"
        )

    def _article(self, page: int, host: int, links: Sequence[Target], is_list: bool) -> str:
        """Paragraphs with the links spread over them, and a few words beside each link."""
        bits = mix(self.plan.seed, _STYLE, page)
        typical = self.plan.habits.words
        count = typical // 6 if is_list else typical // 2 + bits % typical
        words = self.texts.words(page, max(count, 1))
        blocks = [words[start : start + PARAGRAPH] for start in range(0, len(words), PARAGRAPH)]
        paragraphs = [[self.texts.sentence(block, bits + index)] for index, block in enumerate(blocks)]
        for index, link in enumerate(links):
            beside = self.texts.sentence(self.texts.beside(page, link.page, index, BESIDE), bits ^ link.page)
            paragraphs[(bits + link.page) % len(paragraphs)].append(f"{self._anchor(page, host, link.page)} {beside}")
        if mix(self.plan.seed, _DEAD, page) % 65536 < self.plan.habits.dead * 65536:
            paragraphs[0].append(f'<a href="/gone/{bits % 10_000}.html">{words[0]}</a>')
        return "\n".join([f"<p>{' '.join(parts)}</p>" for parts in paragraphs])

    def _list(self, page: int, host: int, links: Sequence[Target]) -> str:
        opens, entry, closes = _ENTRIES[mix(self.plan.seed, _STYLE, host) % len(_ENTRIES)]
        items = []
        for index, link in enumerate(links):
            text = self.texts.sentence(self.texts.beside(page, link.page, index, ENTRY_WORDS), link.page)
            items.append(entry.format(link=self._anchor(page, host, link.page), text=text))
        return "\n".join([opens, *items, closes])

    def _anchor(self, page: int, host: int, to: int) -> str:
        plan = self.plan
        bits = mix(plan.seed, _ANCHOR, page ^ (to << 24))
        inside = plan.start[host] <= to < plan.start[host + 1]
        old = None if inside or bits & 1 else self.old_url(to)
        href = self.path(to, host) if inside else old or self.url(to)
        is_generic = (bits >> 16) % 65536 < plan.habits.generic * 65536
        generic = subjects.GENERIC_ANCHORS[(bits >> 40) % len(subjects.GENERIC_ANCHORS)]
        return f'<a href="{href}">{generic if is_generic else self.title(to)}</a>'

    def _host_frame(self, host: int) -> tuple[str, str, str, str]:
        """The HTML that all pages of a host share: the tags around the text, the head and the menu."""
        opens, closes, menu_opens, menu_closes, item = _LAYOUTS[mix(self.plan.seed, _STYLE + 100, host) % len(_LAYOUTS)]
        home = int(self.plan.start[host])
        links = [
            f'<a href="{self.path(page, host)}">{"Home" if page == home else self.title(page)}</a>'
            for page in self._linker.menu(host)
        ]
        head = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        return opens, closes, head, menu_opens + " ".join([item % link for link in links]) + menu_closes


def make_pages(plan: SitePlan) -> Pages:
    """The renderer of a plan, with its words and links."""
    return Pages(plan, PageTexts(plan, WebVocabulary(plan.habits, plan.subjects, plan.seed)), Linker(plan))


def _plain(word: str) -> str:
    return word.encode("ascii", "ignore").decode()


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
