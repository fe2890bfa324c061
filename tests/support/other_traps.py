"""A second web of traps, written from the list of kinds alone and without the first (`lab.generate.trap_webs`).

The limits of `loop.trap_watch` were not chosen on it. Each trap host has a small real site beside its trap:

* `session`: every link gets a new session id in the path, and leads to one of the same few products
* `facets`: a shop's list, filtered and sorted by any combination of seven parameters
* `soft404`: links that lead nowhere are answered with 200, an apology with a random word, and more dead links
* `print`: every article has a print copy, a mobile copy and a copy to send by mail, each of which links to the next
* `calendar`: an agenda without end, by day, week and month, with an event now and then
* `maze`: pages of shuffled sentences from a fixed stock of words, each with links to deeper folders

Good pages have text of their own, drawn from a vocabulary in which some words are frequent and most are rare.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from scenthound.model import Response

TOPIC = "alpine glacier climbing"
KINDS = ("session", "facets", "soft404", "print", "calendar", "maze")
_ABOUT = "alpine glacier climbing rope crampon summit crevasse ridge guide hut".split()
_SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve wi xo zu ka le mi no pu".split()


def _word(number: int) -> str:
    """The number as syllables: word 0 is the most frequent."""
    parts = [_SYLLABLES[number % 20], _SYLLABLES[number // 20 % 20], _SYLLABLES[number // 400 % 20]]
    return "".join(parts)


def _prose(key: str, words: int, stock: int = 8000) -> str:
    """Text that is the same for the same key; words are drawn by a power law."""
    draw = random.Random(key)
    text = [_word(int(stock ** draw.random()) - 1) for _ in range(words)]
    for _ in range(words // 12):
        text[draw.randrange(words)] = draw.choice(_ABOUT)
    return " ".join(text)


class OtherTraps:
    """The web: hosts with a trap of each kind, and clean ones. Any URL has an answer."""

    def __init__(self, kinds: Sequence[str] = KINDS, clean: int = 12, articles: int = 25) -> None:
        self.clean, self.articles = clean, articles
        self.hosts = [f"{kind}.test" for kind in kinds] + [f"clean{number}.test" for number in range(clean)]
        self.seeds = [f"http://{host}/" for host in self.hosts]
        self.good_pages = {
            url
            for host in self.hosts
            for url in (f"http://{host}/", *(self._article(host, n) for n in range(articles)))
        }

    def _article(self, host: str, number: int) -> str:
        return f"http://{host}/articles/{_word(number * 37)}-{_word(number * 11 + 5)}-{number}.html"

    def answer(self, url: str) -> Response:
        host, _, rest = url.partition("://")[2].partition("/")
        kind = host.partition(".")[0]
        if f"http://{host}/{rest}" in self.good_pages:
            html = self._good(host, kind, rest)
        elif kind in KINDS:
            html = {
                "session": self._session,
                "facets": self._facets,
                "soft404": self._soft404,
                "print": self._print,
                "calendar": self._calendar,
                "maze": self._maze,
            }[kind](host, rest)
        else:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"gone")
        body = f"<html><body>{html}</body></html>".encode()
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), body)

    def _good(self, host: str, kind: str, rest: str) -> str:
        """A home page that leads to all articles, or an article; both lead into the host's trap."""
        number = int(match[1]) if (match := re.search(r"-(\d+)\.html$", rest)) else -1
        articles = [self._article(host, n) for n in (range(self.articles) if number < 0 else (number + 1, number + 2))]
        links = [f'<li><a href="{url}">{_word(place)} climbing</a>' for place, url in enumerate(articles)]
        ways = {
            "session": f'<a href="/shop/S{abs(hash_of(rest)):012x}/item/{number + 1}">our shop</a>',
            "facets": f'<a href="/list?colour={(number + 1) % 6}">alpine rope by colour</a>',
            "soft404": f'<a href="/missing/{_word(number + 400)}">glacier news</a>',
            "print": f'<a href="/output.php?format=print&amp;article={number}">print this climbing page</a>',
            "calendar": f'<a href="/agenda/2026/{number % 12 + 1}/{number % 28 + 1}">climbing dates</a>',
            "maze": f'<a href="/deep/{_word(number + 50)}/">more about the glacier</a>',
        }
        menu = '<p><a href="/">home</a> about contact imprint</p>'
        text = _prose(f"{host}/{rest}", 160)
        return f"{menu}<h1>{_word(abs(hash_of(rest)) % 8000)}</h1><p>{text}</p>{''.join(links)}{ways.get(kind, '')}"

    def _session(self, host: str, rest: str) -> str:
        item = int(match[1]) if (match := re.search(r"item/(\d+)", rest)) else 0
        draw = random.Random(rest)
        links = [f'<a href="/shop/S{draw.getrandbits(48):012x}/item/{(item + n) % 20}">item</a>' for n in range(1, 7)]
        return f"<h1>Shop</h1><p>{_prose(f'{host} item {item % 20}', 90)}</p>{' '.join(links)}"

    def _facets(self, host: str, rest: str) -> str:
        chosen = dict(parse_qsl(rest.partition("?")[2]))
        names = ("colour", "size", "maker", "price", "sort", "view", "page")
        links = [
            f'<a href="/list?{urlencode({**chosen, name: value})}">{name} {value}</a>'
            for name in names
            for value in range(3 if name == "page" else 6)
        ]
        draw = random.Random(rest)
        items = "".join(f"<li>{_prose(f'{host} rope {draw.randrange(60)}', 12)}" for _ in range(15))
        return f"<h1>Ropes</h1>{items}{' '.join(links)}"

    def _soft404(self, host: str, rest: str) -> str:
        draw = random.Random(rest)
        lost = _word(draw.randrange(8000))
        dead = [f"/missing/{_word(draw.randrange(8000))}/{_word(draw.randrange(8000))}" for _ in range(4)]
        links = [f'<a href="{way}">see</a>' for way in dead]
        sorry = "We are sorry, the page that you wanted has moved or never was. Try the search or our home page."
        mark = f"Did you mean {lost}? Reference {draw.getrandbits(40):x}"
        return f"<h1>Climbing</h1><p>{sorry} {mark}</p>{' '.join(links)}"

    def _print(self, host: str, rest: str) -> str:
        asked = dict(parse_qsl(rest.partition("?")[2]))
        number = int(asked.get("article", "0")) if asked.get("article", "0").lstrip("-").isdigit() else 0
        article = self._article(host, number % self.articles).partition("://")[2].partition("/")[2]
        nexts = []
        for style in ("print", "mobile", "mail"):
            more = {"format": style, "article": str(number), "from": asked.get("format", ""), "n": str(number + 1)}
            nexts.append(f'<a href="/output.php?{urlencode(more)}&amp;t={hash_of(rest) % 10**6}">{style}</a>')
        return f"<p>{_prose(f'{host}/{article}', 160)}</p><p>Page layout: {' '.join(nexts)}</p>"

    def _calendar(self, host: str, rest: str) -> str:
        parts = [int(part) for part in rest.split("/")[1:] if part.isdigit()][:3]
        year, month, day = [*parts, *(2026, 1, 1)[len(parts) :]]
        after = day % 28 + 1, month % 12 + 1
        links = [
            f'<a href="/agenda/{year}/{month}/{after[0]}">next day</a>',
            f'<a href="/agenda/{year + (month == 12)}/{after[1]}/{day}">next month</a>',
            f'<a href="/agenda/{year + 1}/{month}/{day}">next year</a>',
            f'<a href="/agenda/{year}/{month}/{day}?view=week">week</a>',
        ]
        event = _prose(f"{host} event {year * month * day % 9}", 8) if hash_of(rest) % 10 == 0 else "no climbing today"
        days = " ".join(str(n) for n in range(1, 29))
        return f"<h1>Agenda {day}. {month}. {year}</h1><p>{days}</p><p>{event}</p>{' '.join(links)}"

    def _maze(self, host: str, rest: str) -> str:
        draw = random.Random(f"{host} {rest}")
        text = " ".join(draw.choice((*_ABOUT, *map(_word, range(600)))) for _ in range(120))
        links = [f'<a href="/{rest.rstrip("/")[-80:]}/{_word(draw.randrange(8000))}/">climbing</a>' for _ in range(6)]
        return f"<p>{text}</p>{' '.join(links)}"


def hash_of(text: str) -> int:
    """The same number in every process."""
    return random.Random(text).getrandbits(40)
