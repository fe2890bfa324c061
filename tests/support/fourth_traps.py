"""A fourth web of traps: the kinds of the first, in other shapes. Written together with the third, and run only after
the rule of `loop.trap_watch` was changed: what the rule does here was never looked at before.

Every page has a menu and a list of the latest articles. The traps:

* `token`: each link of an article's copy leads to copies under new tokens
* `catalogue`: filters as path segments, in any order
* `lost`: a friendly page with status 200 for whatever is asked, which names articles and offers dead links
* `copies`: for each article a copy to print, one for phones, and two to share
* `diary`: a grid of days for every month, a page for every day, a form for every event
* `spun`: text spun from the words of the articles, under numbers without end
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from scenthound.model import Response

TOPIC = "bronze bell casting"
KINDS = ("token", "catalogue", "lost", "copies", "diary", "spun")
_TOPIC_WORDS = "bronze bell casting foundry mould clapper tower tin copper tuning chime founder".split()
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiouy"


def _name(number: int) -> str:
    letters = ""
    number += 37
    while number:
        number, place = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        letters += _CONSONANTS[place // len(_VOWELS)] + _VOWELS[place % len(_VOWELS)]
    return letters


def _words(key: str, count: int) -> list[str]:
    """A tenth on the topic, the others by a power law over 30,000 names."""
    draw = random.Random(key)
    return [
        draw.choice(_TOPIC_WORDS) if draw.random() < 0.1 else _name(int(30_000 ** draw.random())) for _ in range(count)
    ]


class FourthTraps:
    """The web: a host with a trap of each kind, and clean ones."""

    def __init__(self, kinds: Sequence[str] = KINDS, clean: int = 12, articles: int = 28) -> None:
        self.articles = articles
        self.hosts = [f"{kind}.bells.test" for kind in kinds] + [f"site{n}.bells.test" for n in range(clean)]
        self.seeds = [f"http://{self.hosts[0]}/", f"http://{self.hosts[-1]}/"]
        self.good_pages = {
            f"http://{host}{path}"
            for host in self.hosts
            for path in ("/", "/archive", *(self._path(number) for number in range(articles)))
        }

    def _path(self, number: int) -> str:
        number %= self.articles
        return f"/{2019 + number % 5}/{number % 12 + 1:02}/{_name(number * 97)}-{_name(number * 13 + 400)}/"

    def answer(self, url: str) -> Response:
        host, _, rest = url.partition("://")[2].partition("/")
        kind, path = host.partition(".")[0], f"/{rest}"
        if url in self.good_pages:
            text, links = self._good(host, kind, path)
        elif kind in KINDS and host in self.hosts:
            text, links = self._trap(host, kind, path)
        else:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"not found")
        menu = f"<ul><li><a href='/'>home</a><li><a href='/archive'>archive</a><li>{' '.join(_words(host, 12))}</ul>"
        html = f"<html><body>{menu}<p>{text}</p>" + "".join(f"<a href='{to}'>{name}</a> " for to, name in links)
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), f"{html}</body></html>".encode())

    def _body(self, host: str, number: int) -> str:
        return " ".join(_words(f"{host} article {number % self.articles}", 110))

    def _good(self, host: str, kind: str, path: str) -> tuple[str, list[tuple[str, str]]]:
        place = self.hosts.index(host)
        others = [f"http://{self.hosts[(place + step) % len(self.hosts)]}/" for step in (1, 3, 7)]
        numbers = range(self.articles)
        if path == "/":
            links = [(self._path(n), f"bell {n}") for n in (0, 9, 18)] + [(to, "bell friends") for to in others]
            return " ".join(_words(f"{host} home", 60)), links + self._entrances(kind, 0)
        if path == "/archive":
            return "all bells", [(self._path(n), _name(n * 97)) for n in numbers if n % 2]
        number = next(n for n in numbers if self._path(n) == path)
        links = [(self._path(number + 1), "next bell"), (self._path(number + 4), "another bell")]
        return self._body(host, number), links + self._entrances(kind, number)

    def _entrances(self, kind: str, number: int) -> list[tuple[str, str]]:
        path = self._path(number)
        ways = {
            "token": [f"{path}?tok={random.Random(path).getrandbits(60):x}"],
            "catalogue": [f"/shop/metal-{number % 4}/"],
            "lost": [f"/old/{_name(number)}.asp"],
            "copies": [f"/print{path}", f"/m{path}", f"{path}?share=mail", f"{path}?share=post"],
            "diary": [f"/diary/{2020 + number % 6}-{number % 12 + 1:02}"],
            "spun": [f"/node/{number * 7919 + 11}"],
        }
        return [(way, "bronze bell casting") for way in ways.get(kind, [])]

    def _trap(self, host: str, kind: str, path: str) -> tuple[str, list[tuple[str, str]]]:
        draw = random.Random(f"{host}{path}")
        number = draw.randrange(self.articles)
        if kind == "token":
            links = [f"{self._path(number + n)}?tok={draw.getrandbits(60):x}" for n in (1, 2, 4, 5)]
            return self._body(host, number), [(to, "bell") for to in links]
        if kind == "catalogue":
            chosen = path.strip("/").split("/")[1:]
            filters = [f"{name}-{value}" for name in ("metal", "size", "tone", "year") for value in range(5)]
            links = [f"/shop/{'/'.join([*chosen[-5:], more])}/" for more in draw.sample(filters, 9)]
            items = [" ".join(_words(f"{host} item {draw.randrange(70)}", 5)) for _ in range(14)]
            return "; ".join(items), [(to, to.rsplit("/", 2)[1]) for to in links]
        if kind == "lost":
            hint = " ".join(_words(f"{host} article {number}", 110)[:9])
            links = [f"/old/{_name(draw.randrange(10**6))}/{_name(draw.randrange(10**6))}.asp" for _ in range(5)]
            return f"Oops! This page went missing. Try {hint} instead.", [(to, "perhaps this") for to in links]
        if kind == "copies":
            original = path.partition("?")[0].removeprefix("/print").removeprefix("/m")
            numbers = [n for n in range(self.articles) if self._path(n) == original]
            return (self._body(host, numbers[0]) if numbers else "a copy of nothing"), [(original, "back")]
        if kind == "diary":
            year, month, *day = (int(part) if part.isdigit() else 1 for part in path.rpartition("/")[2].split("-")[:3])
            before, after = year * 12 + month - 2, year * 12 + month
            links = [f"/diary/{at // 12}-{at % 12 + 1:02}" for at in (before, after)]
            links += [f"/diary/{year}-{month:02}-{n:02}" for n in range(1, 29)] if not day else ["/diary/add/1-1"]
            event = " ".join(_words(f"{host} event {draw.randrange(12)}", 6)) if draw.random() < 0.15 else "no events"
            return f"{month} {year}: {event} {' '.join(map(str, range(1, 29)))}", [(to, to[-2:]) for to in links]
        words = [word for n in draw.sample(range(self.articles), 4) for word in _words(f"{host} article {n}", 110)]
        links = [f"/node/{draw.randrange(10**7)}" for _ in range(6)]
        return " ".join(draw.sample(words, 90)), [(to, draw.choice(_TOPIC_WORDS)) for to in links]
