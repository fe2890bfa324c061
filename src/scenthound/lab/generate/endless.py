"""An endless web for scale benchmarks: every page is a function of its URL, made on demand.

Nothing is stored, so a crawl of millions of pages measures the crawler and not the bed. Each page links to `fresh`
pages that no other page links to, and to a few home pages that many pages link to. Its text is one of 1,024 short
texts with up to eleven words of `KEYWORDS`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from hashlib import blake2b

from scenthound.model import Candidate, Link, Url
from scenthound.page.page import Page
from scenthound.page.record import Analysed, Record
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser

KEYWORDS = "honey bees hive queen pollen"
_WORDS = (
    "weather road table paper window river market letter garden music engine winter bridge island kitchen doctor "
    "summer forest number picture school village morning station history library mountain company machine office "
    "hammer bottle candle mirror pocket rocket saddle tunnel violin walnut yellow zipper anchor basket carpet"
)
_ANALYSER = Analyser()
_OTHERS = _WORDS.split()
_TEXTS = 1024
_HOMES = 3  # links from every page to home pages


@dataclass(slots=True)
class EndlessWeb:
    """`fetch` returns the page of any URL of this web in a few dozen microseconds, and always the same page."""

    hosts: int = 20_000
    fresh: int = 10
    """Links from each page to pages that no other page links to."""
    seed: int = 1
    _texts: list[tuple[str, TermCounts]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        for _ in range(_TEXTS):
            words = rng.choices(KEYWORDS.split(), k=rng.randrange(12)) + rng.choices(_OTHERS, k=rng.randrange(20, 50))
            rng.shuffle(words)
            text = " ".join(words)
            self._texts.append((text, TermCounts.of(_ANALYSER.counts(text))))

    def home(self, host: int) -> Url:
        return Url(f"http://h{host % self.hosts}.endless.test/")

    def fetch(self, candidate: Candidate) -> Page:
        """The page at a URL of this web."""
        record = self.record(candidate.url)
        return Page(candidate.url, candidate, record, 200, len(record.text))

    def html(self, url: Url) -> str:
        """The page as HTML, for strategies that read elements: its text, then its links as a list."""
        record = self.record(url)
        links = "".join(f'<li><a href="{link.spelling}">{link.anchor}</a>' for link in record.links)
        return f"<title>{record.title}</title><p>{record.text}</p><ul>{links}</ul>"

    def record(self, url: Url) -> Record:
        """The record of a page: a text that many pages share, and its links."""
        salt = self.seed.to_bytes(8, "little")
        page_bits = int.from_bytes(blake2b(url.encode(), digest_size=16, salt=salt).digest(), "little")
        links, host, hosts = [], page_bits >> 64, self.hosts
        for index in range(self.fresh):  # 128 bits of the page's digest are in each URL, so no other page has it
            host = (host * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
            fresh = Url(f"http://h{(host >> 33) % hosts}.endless.test/{_OTHERS[host >> 59]}/{page_bits:032x}-{index}")
            links.append(Link(fresh, _OTHERS[(host >> 54) & 31], fresh, index))
        for index in range(_HOMES):
            home = self.home(page_bits >> (32 * index))
            links.append(Link(home, "home", home, self.fresh + index))
        text, counts = self._texts[page_bits % _TEXTS]
        return Record(url, text[:30], text, links, {_ANALYSER.key: Analysed(counts)})
