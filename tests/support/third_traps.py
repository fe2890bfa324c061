"""A third web of traps, of other kinds than the first two: `lab.generate.trap_webs` and `other_traps`.

It was written before the rule of `loop.trap_watch` was last changed, and no limit was chosen on it. Every host has a
chain of stories, each of which leads to the next two and, on a trap host, into one of these:

* `revisions`: a wiki's old versions of a page and the differences between any two of them
* `replies`: a blog in which every comment has a link that shows the same story with an empty form
* `nested`: links without a leading slash: each page repeats the site below a longer path
* `sorted`: a table of members, sorted and paged by path segments in any order
* `search`: results of the site's own search, in which every word leads to a further search
* `nonsense`: one flat folder of pages made of frequent words, each of which links to others
* `dates`: "what was on" by date in a parameter, back to the beginning of time
* `echo`: any path is answered with a page that quotes it and offers paths like it
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from urllib.parse import parse_qs, quote

from scenthound.model import Response

TOPIC = "lighthouse keeper harbour"
KINDS = ("revisions", "replies", "nested", "sorted", "search", "nonsense", "dates", "echo")
_TOPICAL = "lighthouse keeper harbour lamp fog tide vessel coast signal lens tower pilot".split()
_FIRST, _MIDDLE, _LAST = (
    "b c d f g h l m n p r s t v w".split(),
    "a e i o u ai ea ou".split(),
    "n r s t l nd st rk m".split(),
)


def _seeded(*parts: object) -> random.Random:
    return random.Random("|".join(map(str, parts)))


def _term(rank: int) -> str:
    draw = _seeded("term", rank)
    return "".join(draw.choice(part) for part in (_FIRST, _MIDDLE, _LAST, *((_MIDDLE, _LAST) if rank > 200 else ())))


def _text(length: int, *key: object) -> str:
    """Words by Zipf's law over 12,000 terms, one in ten on the topic."""
    draw = _seeded(*key)
    return " ".join(
        draw.choice(_TOPICAL) if draw.random() < 0.1 else _term(int(12_000 ** draw.random())) for _ in range(length)
    )


class ThirdTraps:
    """The web: a host with a trap of each kind, and clean ones. Every URL of a trap host has an answer."""

    def __init__(self, kinds: Sequence[str] = KINDS, clean: int = 10, stories: int = 24) -> None:
        self.stories = stories
        self.hosts = [f"www.{kind}.example" for kind in kinds] + [f"www.quiet{n}.example" for n in range(clean)]
        self.seeds = [f"http://{host}/" for host in self.hosts]
        self.good_pages = {
            f"http://{host}{path}" for host in self.hosts for path in ("/", *map(self._story, range(stories)))
        }

    def _story(self, number: int) -> str:
        number %= self.stories
        return f"/{('coast', 'people', 'ships')[number % 3]}/{_term(300 + number)}-{_term(900 + number)}"

    def answer(self, url: str) -> Response:
        host, _, rest = url.partition("://")[2].partition("/")
        kind, is_good = host.split(".")[1], url in self.good_pages
        trap = getattr(self, f"_{kind}", None) if kind in KINDS else None
        if not is_good and trap is None:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"no such page")
        html = self._good(host, kind, f"/{rest}") if is_good else trap(host, f"/{rest}")
        page = f"<html><title>{host}</title><body><a href='/'>home</a> {html}<p>all rights reserved</p></body></html>"
        return Response(url, 200, "OK", (("Content-Type", "text/html; charset=utf-8"),), page.encode())

    def _good(self, host: str, kind: str, path: str) -> str:
        paths = [self._story(n) for n in range(self.stories)]
        number = paths.index(path) if path in paths else -1
        onward = [self._story(number + step) for step in (1, 2, 5)]
        ways = {
            "revisions": f"/w/index.php?title=p{number}&amp;action=history",
            "replies": f"{paths[number]}?replytocom={number * 40 + 11}",
            "nested": f"more/{_term(number + 40)}/",
            "sorted": f"/members/by-{('name', 'town', 'year')[number % 3]}/page-{number + 2}/",
            "search": f"/search?q={_TOPICAL[number % 12]}",
            "nonsense": f"/library/{_term(number + 70)}.html",
            "dates": f"/whatson?date=2025-{number % 12 + 1:02}-{number % 27 + 1:02}",
            "echo": f"/{_term(number + 60)}/{_term(number + 61)}",
        }
        links = "".join(f'<li><a href="{to}">{_text(3, host, to)}</a>' for to in onward)
        more = f'<a href="{ways[kind]}">more about the lighthouse</a>' if kind in ways else ""
        return f"<h1>{_text(4, host, path)}</h1><p>{_text(140, host, path, 'body')}</p><ul>{links}</ul>{more}"

    def _revisions(self, host: str, path: str) -> str:
        title = (parse_qs(path.partition("?")[2]).get("title") or ["p0"])[0]
        draw = _seeded(host, path)
        ids = [draw.randrange(10**6) for _ in range(8)]
        base = f"/w/index.php?title={title}"
        links = [
            f'<a href="{base}&amp;oldid={n}">{n}</a> <a href="{base}&amp;diff={n}&amp;oldid={n - 3}">diff</a>'
            for n in ids
        ]
        words = _text(120, host, title, "wiki").split()
        cut = draw.randrange(len(words))
        return f"<h1>{title}</h1><p>{' '.join(words[cut:] + words[:cut])}</p>{' '.join(links)}"

    def _replies(self, host: str, path: str) -> str:
        story = path.partition("?")[0]
        draw = _seeded(host, path)
        links = [f'<a href="{story}?replytocom={draw.randrange(10**7)}">reply</a>' for _ in range(6)]
        return f"<h1>{_text(4, host, story)}</h1><p>{_text(140, host, story, 'body')}</p>{' '.join(links)}<form></form>"

    def _nested(self, host: str, path: str) -> str:
        last = [part for part in path.split("/") if part][-1:] or ["more"]
        names = [_term(200 + _seeded(last[0], n).randrange(30)) for n in range(5)]
        links = [f'<a href="{name}/">{name}</a>' for name in names]
        return f"<h1>{last[0]}</h1><p>{_text(100, host, last[0], 'nested')}</p>{' '.join(links)}"

    def _sorted(self, host: str, path: str) -> str:
        draw = _seeded(host, path)
        rows = "".join(f"<tr><td>{_text(5, host, 'member', draw.randrange(80))}" for _ in range(20))
        keys = ("name", "town", "year", "ship")
        links = [f'<a href="/members/by-{key}/page-{draw.randrange(2, 400)}/">{key}</a>' for key in keys]
        links += [
            f'<a href="/members/by-{a}/then-{b}/page-{draw.randrange(2, 400)}/">{a}</a>' for a in keys for b in keys
        ]
        return f"<h1>Members</h1><table>{rows}</table>{' '.join(links)}"

    def _search(self, host: str, path: str) -> str:
        asked = (parse_qs(path.partition("?")[2]).get("q") or ["all"])[0]
        draw = _seeded(host, path)
        found = [_text(140, host, self._story(draw.randrange(self.stories)), "body").split() for _ in range(6)]
        snippets = [" ".join(words[(start := draw.randrange(120)) : start + 18]) for words in found]
        words = draw.sample(" ".join(snippets).split(), 8)
        links = [f'<a href="/search?q={quote(asked)}+{word}">{word}</a>' for word in words[:4]]
        links += [f'<a href="/search?q={word}&amp;page={draw.randrange(9)}">{word}</a>' for word in words[4:]]
        return f"<h1>Results for {asked}</h1><p>{'</p><p>'.join(snippets)}</p>{' '.join(links)}"

    def _nonsense(self, host: str, path: str) -> str:
        draw = _seeded(host, path)
        text = " ".join(_term(draw.randrange(500)) for _ in range(130))
        links = [
            f'<a href="/library/{_term(draw.randrange(10**6))}.html">{draw.choice(_TOPICAL)}</a>' for _ in range(7)
        ]
        return f"<h1>{_term(draw.randrange(500))}</h1><p>{text}</p>{' '.join(links)}"

    def _dates(self, host: str, path: str) -> str:
        year, month, day = map(int, [*re.findall(r"\d+", path), "2025", "1", "1"][:3])
        draw = _seeded(host, path)
        days = [
            (year, month, day % 28 + 1),
            (year - 1, month, day),
            (year, (month + 6) % 12 + 1, day),
            (year - 30, 2, 3),
        ]
        links = [f'<a href="/whatson?date={y}-{m:02}-{d:02}">{d}.{m}.{y}</a>' for y, m, d in days]
        event = _text(7, host, "event", draw.randrange(25)) if draw.random() < 0.2 else "nothing on this day"
        return f"<h1>What was on: {day}.{month}.{year}</h1><p>{event} at the harbour</p>{' '.join(links)}"

    def _echo(self, host: str, path: str) -> str:
        draw = _seeded(host, path)
        likes = [f"/{_term(draw.randrange(10**6))}/{_term(draw.randrange(10**6))}" for _ in range(6)]
        links = [f'<a href="{like}">{like}</a>' for like in likes]
        return f"<h1>{path}</h1><p>You are looking for {path}. The keeper has these for you:</p>{' '.join(links)}"
