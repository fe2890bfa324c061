"""Renders the pages of a simple web from its plan: URLs, the style of each host, HTML, the sentences in it, and crawler
traps.

Words are drawn according to Zipf's law from the vocabulary of a subject. In a *word table* each word occurs in
proportion to its probability, so that drawing a word is one look-up. There is a table for each leaf, facet and
strength: a page is about one of four facets of its subject, and only the first facet uses the subject's name freely. So
some pages on a subject never name it.

The traps are an endless calendar, session ids, and a folder that contains itself. A bed records only the links to them:
in a replay they are dead links, over HTTP they are traps. The response of a trap depends on the URL alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scenthound.lab.beds.bed import new_response
from scenthound.lab.generate import subjects
from scenthound.lab.generate.rng import below, mix, stream
from scenthound.lab.generate.simple_plan import COMPANY, DIRECTORY, NO_LEAF, Plan
from scenthound.model import Response

_BITS = 11
_SLOTS = 1 << _BITS
FACETS = 4
STRENGTHS = (0.12, 0.24, 0.40)
"""Share of a page's words that belong to its subject."""
_COUSINS = 0.05  # share of words from other subjects of the same area
_SHIFT = 32 - _BITS
_SENTENCES = tuple((text, text.count("%s")) for text in subjects.SENTENCES)
_LINKS = tuple((text, text.count("%s")) for text in subjects.LINK_SENTENCES)


def _fill(slots: int, ranked: Sequence[tuple[str, float]]) -> list[str]:
    """Divide `slots` entries among words by weight. Only adds and divides, since IEEE 754 fixes their results."""
    total, cumulative, table = sum(weight for _, weight in ranked), 0.0, list[str]()
    for word, weight in ranked:
        cumulative += weight
        table += [word] * (int(cumulative / total * slots + 0.5) - len(table))
    return table


def _zipf(ranked: Sequence[str]) -> list[tuple[str, float]]:
    return [(word, 1.0 / (rank + 3)) for rank, word in enumerate(ranked)]


@lru_cache(maxsize=1024)
def word_table(leaf: int, facet: int, strength: int) -> tuple[str, ...]:
    """The words of a page about `leaf` (-1: no particular subject)."""
    if leaf < 0:
        return tuple(_fill(_SLOTS, _zipf(subjects.GENERAL)))
    subject = subjects.LEAVES[leaf]
    favoured = [
        (word, weight * (5.0 if rank % FACETS == facet else 1.0))
        for rank, (word, weight) in enumerate(_zipf(subject.words))
    ]
    if facet == 0:
        favoured += [(word, 0.4) for word in subject.name.split()]
        favoured += [(word, 0.1) for word in subject.path[0].split()]
    area = subjects.LEAVES[leaf // 6 * 6 : leaf // 6 * 6 + 6]
    cousins = [word for sibling in area for word in sibling.words[:20]]
    on_topic, near = int(_SLOTS * STRENGTHS[strength]), int(_SLOTS * _COUSINS)
    table = _fill(on_topic, favoured) + _fill(near, [(word, 1.0) for word in cousins])
    return tuple(table + _fill(_SLOTS - len(table), _zipf(subjects.GENERAL)))


def sentence(table: Sequence[str], draws: Iterator[int]) -> str:
    """One sentence of words drawn from a word table."""
    text, slots = _SENTENCES[next(draws) * len(_SENTENCES) >> 32]
    return text % tuple([table[next(draws) >> _SHIFT] for _ in range(slots)])


def sentences(count: int, table: Sequence[str], draws: Iterator[int]) -> str:
    return " ".join([sentence(table, draws) for _ in range(count)])


def link_sentence(anchor: str, table: Sequence[str], draws: Iterator[int]) -> str:
    """A sentence around an `<a>` element, with words from the table of the linked page's subject."""
    text, slots = _LINKS[next(draws) * len(_LINKS) >> 32]
    return (text % tuple([table[next(draws) >> _SHIFT] for _ in range(slots)])).replace("{}", anchor)


def title(leaf: int, bits: int) -> str:
    """The title of a page about `leaf`. One in ten names the subject; three in twenty have only general words."""
    draw = bits % 20
    ending = subjects.TITLE_ENDINGS[(bits >> 8) % len(subjects.TITLE_ENDINGS)]
    if leaf < 0 or draw < 3:
        first = subjects.GENERAL[(bits >> 16) % len(subjects.GENERAL)]
        second = subjects.GENERAL[(bits >> 32) % len(subjects.GENERAL)]
        return f"{first.capitalize()} and {second} {ending}"
    subject = subjects.LEAVES[leaf]
    if draw < 5:
        return f"{subject.name.capitalize()} {ending}"
    first = subject.words[(bits >> 16) % len(subject.words)]
    second = subject.words[(bits >> 32) % 12]
    return f"{first.capitalize()} and {second} {ending}" if draw < 13 else f"{first.capitalize()} {ending}"


def description(leaf: int, openings: Sequence[str]) -> str:
    """A description of the subject, as the editor of a directory would write it."""
    subject = subjects.LEAVES[leaf]
    return " ".join([subject.name.capitalize() + ":", ", ".join(subject.words[:12]) + ".", *openings])


def pick(choices: Sequence[str], draws: Iterator[int]) -> str:
    return choices[below(draws, len(choices))]


_TITLE, _SLUG, _ALIAS, _CHARSET, _FACE = range(20, 25)  # the `purpose` of a call of `mix`
_CHARSETS = ("iso-8859-1", "windows-1252", "iso-8859-15", "koi8-r", "utf-16")
_SECTIONS = ("articles", "news", "guides", "stories")
_LAYOUTS = {  # start and end of the page's text, start and end of its navigation, an entry of the navigation
    0: ('<div class="content">', "</div>", '<div class="menu"><ul>', "</ul></div>", "<li>%s</li>"),
    1: ("<main>", "</main>", "<nav>", "</nav>", "%s |"),
    2: ('<table width="100%"><tr><td>', "</td></tr></table>", "<table><tr>", "</tr></table>", "<td>%s</td>"),
    3: ('<section id="post"><article>', "</article></section>", '<aside><ol class="nav">', "</ol></aside>", "<li>%s"),
    4: ('<div id="wrap"><div id="main">', "</div></div>", '<div id="top">', "</div>", "<span>%s</span>"),
}


@dataclass(frozen=True, slots=True)
class HostStyle:
    """The title, charset and HTML that all pages of a host share."""

    title: str
    charset: str
    charset_in_header: bool
    """Whether the HTTP header names the character set."""
    head: str
    menu: str
    footer: str
    body: tuple[str, str]


class PageRenderer:
    """Renders the pages of a plan; each depends only on the plan and the page's number."""

    def __init__(self, plan: Plan, page_size: int, traps: bool) -> None:
        self.plan, self.page_size, self.traps = plan, page_size, traps
        self.host_style = lru_cache(maxsize=4096)(self._host_style)

    # Addresses

    def path(self, page: int) -> str:
        plan = self.plan
        host = plan.host_of(page)
        if host in plan.original:
            host, page = plan.original[host], page - plan.start[host] + plan.start[plan.original[host]]
        local = page - plan.start[host]
        if local == 0:
            return "/"
        if plan.is_private(page, host):
            return f"/private/{local}.html"
        bits = mix(plan.seed, _SLUG, page)
        style = plan.rules(host) >> 40
        if style % 5 == 3:
            return f"/node.php?id={local}"
        if style % 5 == 4:
            return f"/p/{local}"
        leaf = plan.page_leaf[page] if bits % 4 else NO_LEAF
        vocabulary = subjects.GENERAL if leaf == NO_LEAF else subjects.LEAVES[leaf].words[:32]
        slug = vocabulary[(bits >> 8) % len(vocabulary)].encode("ascii", "ignore").decode()
        section = _SECTIONS[(bits >> 24) % len(_SECTIONS)]
        return f"/{section}/{slug}-{local}/" if style % 5 == 2 else f"/{section}/{slug}-{local}.html"

    def url(self, page: int) -> str:
        return f"http://{self.plan.names[self.plan.host_of(page)]}{self.path(page)}"

    def alias(self, page: int) -> str | None:
        """The old URL of a page that moved, which some pages still link to; most pages have none."""
        host = self.plan.host_of(page)
        name = self.plan.names[host]
        local = page - self.plan.start[host]
        if local == 0 and name.startswith("www."):
            return f"http://{name[4:]}/"
        if host in self.plan.original or mix(self.plan.seed, _ALIAS, page) % 25:
            return None
        return f"http://{name}/old/{local}.htm"

    # Pages

    def title(self, page: int) -> str:
        plan = self.plan
        host = plan.host_of(page)
        if host in plan.original:
            host, page = plan.original[host], page - plan.start[host] + plan.start[plan.original[host]]
        if page == plan.start[host]:
            return self.host_style(host).title
        if plan.kind[host] == DIRECTORY:
            return f"Links, part {page - plan.start[host] + 1}"
        return title(plan.page_leaf[page], mix(plan.seed, _TITLE, page))

    def opening(self, page: int) -> str:
        """Title and first sentence, as the editor of a directory would quote them."""
        leaf = self.plan.page_leaf[page]
        return f"{self.title(page)}. {sentence(word_table(leaf, 0, 2), stream(self.plan.seed, 'opening', page))}"

    def html(self, page: int) -> str:
        plan = self.plan
        host = plan.host_of(page)
        source = page
        if host in plan.original:
            source = page - plan.start[host] + plan.start[plan.original[host]]
        style = self.host_style(plan.original.get(host, host))
        draws = stream(plan.seed, "text", source)
        links = plan.links(page)
        inside = [(to, self.path(to)) for to, same_host in links if same_host]
        outside = [to for to, same_host in links if not same_host]
        is_directory = plan.kind[plan.original.get(host, host)] == DIRECTORY
        text = self._list(outside, draws) if is_directory else self._article(source, outside, draws)
        related = "\n".join([f'<li><a href="{path}">{self.title(to)}</a></li>' for to, path in inside])
        heading = self.title(page)
        return (
            f"{style.head}<title>{heading} - {style.title}</title>\n</head>\n<body>\n"
            f"{style.menu}\n{style.body[0]}\n<h1>{heading}</h1>\n"
            f'{text}\n{style.body[1]}\n<ul class="related">\n{related}\n</ul>\n{style.footer}</body>\n</html>\n'
        )

    def _article(self, page: int, outside: list[int], draws: Iterator[int]) -> str:
        plan = self.plan
        leaf = plan.page_leaf[page]
        bits = mix(plan.seed, _FACE, page)
        table = word_table(leaf, bits % FACETS, (0, 1, 1, 2)[(bits >> 8) % 4])
        paragraphs = [
            sentences(3 + below(draws, 5), table, draws)
            for _ in range((4 + below(draws, 7)) * max(1, self.page_size // 10_000))
        ]
        if below(draws, 7) == 0:  # a paragraph about another subject
            guest = word_table(below(draws, plan.leaves), 0, 2)
            paragraphs.append(sentences(4, guest, draws))
        anchors = [self._anchor(to, draws) for to in outside]
        if below(draws, 100) < plan.habits.dead:
            host_name = plan.names[below(draws, plan.hosts)]
            href = f"http://{host_name}/gone/{below(draws, 10_000)}.html"
            anchors.append((f'<a href="{href}">{pick(subjects.GENERAL, draws)}</a>', leaf))
        items = []
        for anchor, linked_leaf in anchors:
            if below(draws, 3):
                text = link_sentence(anchor, word_table(linked_leaf, 0, 1), draws)
                index = below(draws, len(paragraphs))
                paragraphs[index] = f"{paragraphs[index]} {text}"
            else:
                items.append(f"<li>{anchor}</li>")
        text = "\n".join([f"<p>{paragraph}</p>" for paragraph in paragraphs])
        return f"{text}\n<h2>Links</h2>\n<ul>\n{chr(10).join(items)}\n</ul>" if items else text

    def _list(self, outside: list[int], draws: Iterator[int]) -> str:
        items = []
        for to in outside:
            anchor, leaf = self._anchor(to, draws)
            table = word_table(leaf, 0, 2)
            items.append(f"<dt>{anchor}</dt><dd>{table[next(draws) >> 21]}, {table[next(draws) >> 21]}</dd>")
        return f"<dl>\n{chr(10).join(items)}\n</dl>"

    def _anchor(self, to: int, draws: Iterator[int]) -> tuple[str, int]:
        """An `<a>` element to a page of another host, and the leaf of that page."""
        plan = self.plan
        draw = below(draws, 100)
        target = to
        if draw < 12:
            text = pick(subjects.GENERIC_ANCHORS, draws)
        elif draw < 20:
            text = pick(subjects.GENERAL, draws)
        else:
            text = self.title(to)
        host = plan.host_of(to)
        if draw % 4 == 1 and host in plan.mirrors:
            target = plan.start[plan.mirrors[host]] + to - plan.start[host]
        old = self.alias(to) if draw % 2 == 0 else None
        return f'<a href="{old or self.url(target)}">{text}</a>', plan.page_leaf[to]

    # Hosts

    def _host_style(self, host: int) -> HostStyle:
        plan = self.plan
        draws = stream(plan.seed, "look", host)
        name = plan.names[host].removeprefix("www.").removesuffix(".test")
        host_title = name.replace("-", " ").title()
        charset, in_header = self._charset(host)
        opens, closes, menu_opens, menu_closes, item = _LAYOUTS[below(draws, len(_LAYOUTS))]
        first, size = plan.start[host], plan.size(host)
        entries = min(size, 4 if self.page_size < 20_000 else 60)
        links = [
            f'<a href="{self.path(first + local)}">{"Home" if local == 0 else self._short_title(first + local)}</a>'
            for local in range(entries)
        ]
        if self.traps and plan.kind[host] != COMPANY and size > 3 and below(draws, 25) == 0:
            entrance = below(draws, len(ENTRANCES))
            label = ("Calendar", "View", "Files")[entrance]
            links.append(f'<a href="{ENTRANCES[entrance].replace("&", "&amp;")}">{label}</a>')
        slogan = sentences(2, word_table(plan.leaf[host], 1, 0), draws)
        year = 1998 + below(draws, 25)
        accents = "Привет, друзья" if charset == "koi8-r" else "Café Zoë, Köln"
        meta = f'<meta charset="{charset}">\n' if charset != "utf-16" else ""
        generator = f'<meta name="generator" content="site {below(draws, 9)}">\n'
        items = " ".join([item % link for link in links])
        rights = f"&copy; {year} {host_title} &amp; friends, {accents}. All rights reserved."
        return HostStyle(
            title=host_title,
            charset=charset,
            charset_in_header=in_header,
            head=f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{meta}{generator}{self._filler(host)}',
            menu=f"<header><h3>{host_title}</h3><p>{slogan}</p></header>\n{menu_opens}{items}{menu_closes}",
            footer=f'<footer><hr><p>{rights} <a href="/">Home</a></p></footer>\n',
            body=(opens, closes),
        )

    def _short_title(self, page: int) -> str:
        return title(self.plan.page_leaf[page], mix(self.plan.seed, _TITLE, page)).rpartition(" ")[0] or "Page"

    def _charset(self, host: int) -> tuple[str, bool]:
        bits = mix(self.plan.seed, _CHARSET, host)
        if bits % 8:
            return "utf-8", (bits >> 8) % 5 != 0
        charset = _CHARSETS[(bits >> 16) % len(_CHARSETS)]
        return charset, charset != "utf-16" and (bits >> 8) % 2 == 0

    def _filler(self, host: int) -> str:
        """Style and script elements; as long as on real pages if `page_size` is 20,000 or more."""
        if self.page_size < 20_000:
            return "<style>body { margin: 2em }</style>\n"
        rule = ".c%d { margin: %dpx; padding: %dpx; color: #%06x }\n"
        draws = stream(self.plan.seed, "filler", host)
        style = "".join(
            [rule % (n, below(draws, 40), below(draws, 40), next(draws) >> 8) for n in range(self.page_size // 120)]
        )
        calls = "".join([f"track({n}, 'c{next(draws):x}');\n" for n in range(self.page_size // 200)])
        return f"<style>\n{style}</style>\n<script>\n{calls}</script>\n"


_CALENDAR = re.compile(r"/calendar/(\d{1,6})-(\d{2})\.html(?:\?day=(\d{1,2}))?")
_SESSION = re.compile(r"/view\?page=(\d{1,6})&sid=[0-9a-f]{12}")
_FOLDER = re.compile(r"/files/(?:a/b/)*(?:a/)?")
MAX_URL_LENGTH = 1900  # the folder trap ends before its URLs get longer than crawlers accept

ENTRANCES = ("/calendar/2024-01.html", "/view?page=1&sid=000000000000", "/files/a/b/")
"""The first URL of each kind of trap; hosts with a trap link to one of them."""


def trap(url: str) -> Response | None:
    """The trap page at this URL; None if the URL is not part of a trap."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    if len(url) > MAX_URL_LENGTH:
        return None
    if match := _CALENDAR.fullmatch(path):
        title, links = _calendar(int(match[1]), int(match[2]), match[3])
    elif match := _SESSION.fullmatch(path):
        title, links = _session(int(match[1]), url)
    elif _FOLDER.fullmatch(path):
        title, links = f"Folder of {path.count('/')} parts", ["b/" if path.endswith("/a/") else "a/", "../"]
    else:
        return None
    text = sentences(6, word_table(-1, 0, 0), stream("trap", url))
    items = [
        f'<li><a href="{link.replace("&", "&amp;")}">{link.rpartition("?")[0] or link}</a></li>\n' for link in links
    ]
    body = (
        f"<!DOCTYPE html>\n<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n"
        f"<p>{text}</p>\n<ul>\n{''.join(items)}</ul>\n</body></html>\n"
    ).encode()
    return new_response(url, "text/html; charset=utf-8", body)


def _calendar(year: int, month: int, day: str | None) -> tuple[str, list[str]]:
    before = (year, month - 1) if month > 1 else (max(year - 1, 0), 12)
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    links = [f"/calendar/{y}-{m:02d}.html" for y, m in (before, after)]
    if day is None:
        links += [f"/calendar/{year}-{month:02d}.html?day={n}" for n in range(1, 29)]
    return f"Calendar {year}-{month:02d}{' day ' + day if day else ''}", links


def _session(page: int, url: str) -> tuple[str, list[str]]:
    """Title and links of one of nine pages, each link with a new session id."""
    digest = hashlib.sha256(url.encode()).hexdigest()
    return f"View {page}", [
        f"/view?page={(page + step) % 9}&sid={digest[step * 12 : step * 12 + 12]}" for step in range(1, 4)
    ]
