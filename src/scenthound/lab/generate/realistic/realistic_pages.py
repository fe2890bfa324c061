"""Renders the pages of a realistic web from its plan: URLs and HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from scenthound.lab.generate import subjects
from scenthound.lab.generate.realistic.link_plan import ENTRY, TEXT, Linker, Target
from scenthound.lab.generate.realistic.realistic_text import PageTexts
from scenthound.lab.generate.realistic.site_plan import COMPANY, DIRECTORY, INDEX, NO_SUBJECT, SITE, SitePlan
from scenthound.lab.generate.realistic.word_tables import WebVocabulary, invented
from scenthound.lab.generate.rng import mix, mix_all

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
