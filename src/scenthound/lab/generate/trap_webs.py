"""Webs of good pages and traps, to measure how much of a crawl's budget the traps take.

Some hosts are clean; each of the others has one kind of trap beside its good pages. The text of a good page is drawn
from a vocabulary according to Zipf's law, with a few words of its own. Words of the topic are both on good pages and in
traps, so topical strategies are lured too. Everything is a function of the URL.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from scenthound.lab.beds.bed import new_response
from scenthound.model import Response

TOPIC = "beekeeping honey hives"
KINDS = ("session", "facets", "missing", "print", "calendar", "maze")
MONTHS = "January February March April May June July August September October November December".split()
_LETTERS = "aeiou", "bcdfghjklmnprstvwz"


def _word(rng: random.Random) -> str:
    return "".join(rng.choice(_LETTERS[n % 2 == 0]) for n in range(rng.randint(4, 9)))


_VOCABULARY = [_word(random.Random(f"word {number}")) for number in range(4000)]
_ZIPF = list(accumulate(1 / (rank + 10) for rank in range(len(_VOCABULARY))))


@dataclass(frozen=True)
class TrapWeb:
    """A web of `clean` hosts without traps, and `trapped` hosts for each kind of trap. `answer` acts as its server."""

    kinds: tuple[str, ...] = KINDS
    clean: int = 20
    trapped: int = 1
    good: int = 30
    """Number of good pages of each host, besides its home page."""
    _makers: dict[str, Callable[[str, str], tuple[str, str, list[str]]]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._makers.update(
            {"view": _session, "shop": _facets, "calendar": _calendar, "maze": _maze, "print": self._print}
        )

    @property
    def hosts(self) -> list[str]:
        names = [f"{kind}{number}.example" for kind in self.kinds for number in range(self.trapped)]
        return [*(f"clean{number}.example" for number in range(self.clean)), *names]

    @property
    def seeds(self) -> list[str]:
        return ["http://clean0.example/"]

    @property
    def good_pages(self) -> set[str]:
        paths = ["/", *(f"/articles/{number}.html" for number in range(self.good))]
        return {f"http://{host}{path}" for host in self.hosts for path in paths}

    def answer(self, url: str) -> Response:
        """The server's response; a URL without a good page gets a page of a trap."""
        host, _, path = url.partition("://")[2].partition("/")
        if host not in self.hosts:
            return new_response(url, "text/html", b"no such host")
        maker = self._makers.get(path.partition("?")[0].partition("/")[0])
        if f"http://{host}/{path}" in self.good_pages:
            title, text, links = self._good(host, path)
        elif maker is not None:
            title, text, links = maker(host, path)
        else:
            title, text, links = _missing(path)
        body = f"<title>{title}</title><h1>{title}</h1><p>{text}</p>"
        body += "".join(f'<a href="{link.replace("&", "&amp;")}">{_anchor(link)}</a>\n' for link in links)
        return new_response(url, "text/html; charset=utf-8", f"<!DOCTYPE html>{body}".encode())

    def _good(self, host: str, path: str) -> tuple[str, str, list[str]]:
        kind = host.partition(".")[0].rstrip("0123456789")
        entrances = _ENTRANCES.get(kind, [])
        if not path:
            hosts = self.hosts
            index = hosts.index(host)
            links = [f"http://{hosts[n]}/" for n in (2 * index + 1, 2 * index + 2) if n < len(hosts)]
            return (
                f"Home of {host}",
                _text(host, 80),
                [*(f"/articles/{n}.html" for n in range(self.good)), *links, *entrances],
            )
        number = int(path.partition("/")[2].partition(".")[0])
        own_words = [_word(random.Random(f"{host} {number} {n}")) for n in range(6)]
        links = ["/", *(f"/articles/{(number + step) % self.good}.html" for step in (1, 2, 3)), *entrances]
        if kind == "print":
            links += [f"/print/{number}", f"/print/{number}?format=text", f"/print/{number}?format=mail"]
        return f"Article {own_words[0]}", " ".join([_text(f"{host}/{path}", 120), *own_words]), links

    def _print(self, host: str, path: str) -> tuple[str, str, list[str]]:
        number = int("".join(filter(str.isdigit, path)) or 0) % self.good
        title, text, _ = self._good(host, f"articles/{number}.html")
        return title, text, []


_ENTRANCES = {
    "session": ["/view?id=1&sid=0a1b2c3d4e5f"],
    "facets": ["/shop?color=red", "/shop?size=m"],
    "missing": ["/old/missing-page"],
    "calendar": ["/calendar?year=2024&month=1"],
    "maze": ["/maze/entrance"],
}


def _text(name: str, words: int) -> str:
    rng = random.Random(name)
    text = rng.choices(_VOCABULARY, cum_weights=_ZIPF, k=words)
    if rng.random() < 0.5:
        text[5:5] = TOPIC.split()
    return " ".join(text)


def _anchor(link: str) -> str:
    return link.rpartition("/")[2].partition("?")[0] or "more"


def _session(host: str, path: str) -> tuple[str, str, list[str]]:
    """One of nine texts; each link has a new session id."""
    rng = random.Random(path)
    number = int("".join(filter(str.isdigit, path.partition("id=")[2].partition("&")[0])) or 0) % 9
    links = [f"/view?id={(number + step) % 9}&sid={rng.getrandbits(48):012x}" for step in range(1, 5)]
    sid = path.partition("sid=")[2]
    return f"View {number}", f"{_text(f'{host} view {number}', 100)} session {sid}", links


_FACETS = {
    "color": ["red", "green", "blue", "black"],
    "size": ["s", "m", "l"],
    "brand": ["acme", "apis", "apex"],
    "sort": ["price", "name", "new"],
    "page": ["1", "2", "3"],
}


def _facets(host: str, path: str) -> tuple[str, str, list[str]]:
    """Fifteen of sixty items; every combination of filters has a page."""
    query = path.partition("?")[2]
    filters = dict(part.partition("=")[::2] for part in query.split("&") if part)
    rng = random.Random(repr(sorted(filters.items())))
    items = [" ".join(_text(f"{host} item {number}", 4).split()[-4:]) for number in rng.sample(range(60), 15)]
    links = []
    for name, values in _FACETS.items():
        links += [_with(filters, name, value) for value in values if filters.get(name) != value]
    return "Shop", "; ".join(items), links


def _with(filters: dict[str, str], name: str, value: str) -> str:
    return "/shop?" + "&".join(f"{key}={setting}" for key, setting in {**filters, name: value}.items())


def _missing(path: str) -> tuple[str, str, list[str]]:
    rng = random.Random(path)
    links = [f"/{_word(rng)}/{_word(rng)}-{_word(rng)}" for _ in range(5)]
    return "Nothing here", f"Sorry, we could not find {path} on this server. You may like these pages instead.", links


def _calendar(host: str, path: str) -> tuple[str, str, list[str]]:
    year, month = (int("".join(filter(str.isdigit, path.partition(f"{name}=")[2].partition("&")[0])) or 1)
                   for name in ("year", "month"))  # fmt: skip
    months = year * 12 + month - 1
    links = [f"/calendar?year={n // 12}&month={n % 12 + 1}" for n in (months - 1, months + 1)]
    days = " ".join(map(str, range(1, 29)))
    links += [f"/calendar?year={year}&month={month}&day={day}" for day in range(1, 29)] * ("day=" not in path)
    return (
        f"Calendar {MONTHS[(month - 1) % 12]} {year}",
        f"Events of our club. {TOPIC}. {days}. No events today.",
        links,
    )


def _maze(host: str, path: str) -> tuple[str, str, list[str]]:
    """Random text and random links, without end."""
    rng = random.Random(path)
    links = [f"/maze/{_word(rng)}/{_word(rng)}-{rng.randrange(1000)}" for _ in range(8)]
    return f"{_VOCABULARY[rng.randrange(500)]} {_VOCABULARY[rng.randrange(500)]}", _text(path, 100), links
