"""Generated webs without pages on disk: a bed whose folder holds a recipe, and an endless web for scale benchmarks.

    bed.toml        name, origin and, under [made], the arguments of the generator
    topics.jsonl    the topics, as in any bed

Everything that accepts a bed's folder accepts this one. A replay parses each page when it is fetched; nothing is
prepared beforehand.

In the endless web every page is a function of its URL. Nothing is stored, so a crawl of millions of pages measures the
crawler and not the bed. Each page links to `fresh` pages that no other page links to, and to a few home pages that many
pages link to. Its text is one of 1,024 short texts with up to eleven words of `KEYWORDS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from scenthound.errors import BadConfig
from scenthound.files import write_text
from scenthound.formats import toml_value
from scenthound.graph.link_graph import LinkGraph, numbered_graph
from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.beds.cache import fingerprint
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.beds.replay_bed import PreparedTerms
from scenthound.lab.generate.realistic_web import RealisticWeb
from scenthound.lab.generate.realistic_words import RealisticHabits
from scenthound.loop.settings import read
from scenthound.model import Candidate, Link, Miss, Moved, Response, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.read import LIMITS
from scenthound.page.record import EVERYTHING, Analysed, Parts, Record
from scenthound.parameters import changed_values
from scenthound.ports import Where
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.topic_list import BedTopic

_HINT = "write its pages to disk: `lab generate` without --on-the-fly"


def write_recipe(folder: str | Path, web: RealisticWeb, topics: Sequence[BedTopic], **about: str | int) -> GeneratedBed:
    """Write a bed that consists of the arguments of its generator and the topics."""
    folder = Path(folder)
    if (folder / "bed.toml").exists():
        raise BadConfig(f"{folder} already contains a bed", "give a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "topics.jsonl", "".join(map(topic_line, topics)))
    facts = {"name": web.name, **about, "pages": web.pages, "topics": len(topics), "digest": web.digest}
    recipe = {"web": "realistic", **web.arguments}
    lines = [f"{key} = {toml_value(value)}\n" for key, value in facts.items()]
    lines += ["\n[made]\n", *(f"{key} = {toml_value(value)}\n" for key, value in recipe.items())]
    if changed := changed_values(web.habits):
        lines += ["\n[made.habits]\n", *(f"{key} = {toml_value(value)}\n" for key, value in changed.items())]
    write_text(folder / "bed.toml", "".join(lines))
    return GeneratedBed(folder, {**facts, "made": {**recipe, "habits": changed}}, list(topics), [])


class GeneratedBed(Bed):
    """A bed whose responses are generated on request."""

    @cached_property
    def web(self) -> RealisticWeb:
        """The web of the recipe. Raises `BadConfig` if this version can't make it."""
        recipe: dict[str, Any] = dict(self.about["made"])
        kind, habits = recipe.pop("web", ""), recipe.pop("habits", {})
        if kind != "realistic":
            raise BadConfig(f"{self.folder} needs a web of the kind `{kind}`", "only `realistic` is made on the fly")
        try:
            web = RealisticWeb(**recipe, habits=read(RealisticHabits, habits, "habit"))
        except TypeError as error:
            raise BadConfig(f"[made] in {self.folder}/bed.toml: {error}", "make the bed again") from None
        if self.about.get("digest") != web.digest:
            raise BadConfig(
                f"the bed {self.folder} was made by another version of the generator", "make it again: `lab generate`"
            )
        return web

    @property
    def digest(self) -> str:
        return self.web.digest

    def responses(self) -> Iterator[Response]:
        return self.web.responses()

    def get(self, url: Url) -> Response | None:
        return self.web.get(url)

    def index(self) -> Mapping[Url, Where]:
        """All URLs. Their positions are meaningless, since there is no file."""
        urls = [*map(self.web.url, range(self.web.pages)), *map(Url, self.web.aliases)]
        return {url: Where("", row, 0) for row, url in enumerate(urls)}

    def __len__(self) -> int:
        return self.web.pages + len(self.web.aliases)

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self.web.number(Url(url)) is not None

    def for_replay(self, cut: Cut) -> OnTheFlyBed:
        """The bed for replay."""
        return OnTheFlyBed(self, cut)


class OnTheFlyBed:
    """A `ReplayBed` whose pages are generated and parsed when they are fetched."""

    has_terms = False

    def __init__(self, bed: GeneratedBed, cut: Cut) -> None:
        self._folder, self._cut, self.web = bed.folder, cut, bed.web
        unpacked = cut.page_bytes or LIMITS.unpacked
        self._limits = replace(LIMITS, unpacked=unpacked, url_length=cut.url_length, nofollow=False)
        self._parts = EVERYTHING

    @property
    def name(self) -> str:
        return self.web.name

    @property
    def key(self) -> str:
        return f"made-{self.web.digest[:20]}-{fingerprint(asdict(self._cut))[:20]}"

    @property
    def reopen(self) -> Callable[[], OnTheFlyBed]:
        return partial(_reopen, self._folder, self._cut)

    def read_parts(self, parts: Parts) -> None:
        self._parts = parts

    def fetch(self, candidate: Candidate) -> Page | Miss | Moved:
        """The page at a URL, as a live crawl would read it; a 404 if the web has no such URL."""
        response = self.web.get(candidate.url)
        if response is None:
            return Miss(candidate, "http-404", status=404)
        return land(candidate, response, self._limits, self._parts, agent="")

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self.number(url) is not None

    def __len__(self) -> int:
        return self.web.pages

    @property
    def pages(self) -> Sequence[Url]:
        return _Urls(self.web)

    @property
    def page_rows(self) -> Sequence[int]:
        return range(self.web.pages)

    @property
    def aliases(self) -> Mapping[str, str]:
        return self.web.aliases

    def number(self, url: str) -> int | None:
        """The number of the page at this URL, after redirects."""
        return self.web.number(Url(url))

    def terms(self, analyser: Analyser) -> PreparedTerms:
        raise BadConfig("a web that is made on the fly has no table of all words", _HINT)

    def counts(self, url: Url, analyser: Analyser) -> Counts | None:
        page = self._page(url, Parts((analyser,)))
        return None if page is None else Counts(page.record.counts(analyser))

    def links(self, url: Url) -> list[Url]:
        page = self._page(url, Parts(()))
        return [] if page is None or page.url != url else [link.url for link in page.outlinks]

    @cached_property
    def outgoing(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The link targets of all pages: where those of each page start, and the page numbers, in the plan's order."""
        links = [self.web.links(page) for page in range(self.web.pages)]
        starts = np.concatenate(([0], np.cumsum([len(targets) for targets in links]))).astype(np.int64)
        return starts, np.fromiter((to for targets in links for to in targets), dtype=np.int32, count=int(starts[-1]))

    @cached_property
    def graph(self) -> LinkGraph:
        starts, targets = self.outgoing
        return numbered_graph(list(self.pages), np.repeat(np.arange(self.web.pages), np.diff(starts)), targets)

    def _page(self, url: Url, parts: Parts) -> Page | None:
        number = self.web.number(url)
        if number is None:
            return None
        candidate = Candidate(self.web.url(number), 0.0)
        page = land(candidate, self.web.response(number), self._limits, parts, agent="")
        return page if isinstance(page, Page) else None


class _Urls(Sequence[Url]):
    """The URLs of all pages, each computed on request."""

    def __init__(self, web: RealisticWeb) -> None:
        self._web = web

    @overload
    def __getitem__(self, index: int) -> Url: ...
    @overload
    def __getitem__(self, index: slice) -> list[Url]: ...
    def __getitem__(self, index: int | slice) -> Url | list[Url]:
        if isinstance(index, slice):
            return [self._web.url(number) for number in range(*index.indices(len(self)))]
        return self._web.url(range(len(self))[index])

    def __len__(self) -> int:
        return self._web.pages


def _reopen(folder: Path, cut: Cut) -> OnTheFlyBed:
    bed = Bed.open(folder)
    assert isinstance(bed, GeneratedBed)
    return bed.for_replay(cut)


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
