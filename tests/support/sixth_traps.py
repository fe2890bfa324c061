"""A sixth web of traps, written before the last change of `loop.trap_watch`; no limit was chosen on it.

Its good pages are thinner than those of the other webs: a third of the clean hosts are catalogues, whose pages share
most of their words, and two hosts in three have long menus. The traps:

* `albums`: a picture has a page for each size and place in a slide show; its caption is all that it says
* `listings`: a folder's files, sorted by `?C=N;O=D`, below folders that repeat themselves
* `compare`: products beside each other, any two to four of them in a path
* `members`: a profile for every number, with a name and nothing else; profiles link to profiles
* `towns`: one advertisement for each town, in which only the town's name differs; towns link to towns
* `weeks`: an archive by year and week, before and after any time, with teasers of the articles
* `filtered`: a shop's filters as folders in any order
* `sessions`: every article below a session in the path, a new one with each link
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from scenthound.model import Response

TOPIC = "kite string wind"
KINDS = ("albums", "listings", "compare", "members", "towns", "weeks", "filtered", "sessions")
_ABOUT_KITES = "kite string wind sail spar bridle knot reel gust beach ripstop tail".split()
_ONSETS, _RIMES = "br cl d f gr h j k l m n pr s st t v w".split(), "ack ell ine od um ash eet ilk orn unt".split()
_SIZES = ("small", "medium", "large", "original")
_FILTERS = {
    "colour": ("red", "blue", "green", "black"),
    "size": ("s", "m", "l", "xl"),
    "brand": ("arrow", "breeze", "cirrus", "drift"),
    "price": ("low", "middle", "high"),
}
Link = tuple[str, str]


def _name(number: int) -> str:
    """A word of letters for each number."""
    said, number = "", number + 7
    while number:
        number, onset = divmod(number, len(_ONSETS))
        number, rime = divmod(number, len(_RIMES))
        said += _ONSETS[onset] + _RIMES[rime]
    return said


def _words(length: int, *key: object) -> str:
    """One word in eight on the topic, the others by a power law over 15,000."""
    draw = random.Random(" ".join(map(str, key)))
    return " ".join(
        draw.choice(_ABOUT_KITES) if draw.random() < 0.125 else _name(int(15_000 ** draw.random()))
        for _ in range(length)
    )


class SixthTraps:
    """The web: a host with a trap of each kind, and clean ones. Every URL of a trap host has an answer."""

    def __init__(self, kinds: Sequence[str] = KINDS, clean: int = 9, articles: int = 30) -> None:
        self.articles = articles
        self.hosts = [f"{kind}.kites.test" for kind in kinds] + [f"club{n}.kites.test" for n in range(clean)]
        self.seeds = [f"http://{host}/" for host in (self.hosts[0], self.hosts[len(self.hosts) // 2], self.hosts[-1])]
        self.good_pages = {
            f"http://{host}{path}"
            for host in self.hosts
            for path in ("/", *(self._path(host, number) for number in range(articles)))
        }

    def _is_catalogue(self, host: str) -> bool:
        return host.startswith("club") and int(host[len("club") : host.index(".")]) % 3 == 0

    def _path(self, host: str, number: int) -> str:
        number %= self.articles
        if self._is_catalogue(host):
            return f"/catalogue/item-{number + 100}.html"
        return f"/{('guides', 'stories')[number % 2]}/{_name(number * 17 + 40)}.html"

    def answer(self, url: str) -> Response:
        host, _, rest = url.partition("://")[2].partition("/")
        kind, path = host.partition(".")[0], f"/{rest}"
        if url in self.good_pages:
            text, links = self._good(host, kind, path)
        elif host in self.hosts and kind in KINDS:
            text, links = getattr(self, f"_{kind}")(host, path, random.Random(f"{host} {path}"))
        else:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"nothing here")
        menu = [(self._path(host, number), _words(2, host, "menu", number)) for number in (0, 7, 14)]
        body = "".join(f"<a href='{to}'>{name}</a> " for to, name in (*menu, *links))
        html = f"<title>{_words(3, host, 'title')}</title><p>{text}</p>{body}<p>{_words(25, host, 'foot')}</p>"
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), html.encode())

    # ---- good pages

    def _good(self, host: str, kind: str, path: str) -> tuple[str, list[Link]]:
        if path == "/":
            place = self.hosts.index(host)
            near = [f"http://{self.hosts[(place + step) % len(self.hosts)]}/" for step in (1, 3, 4)]
            links = [(to, "kite friends") for to in near] + [(self._path(host, n), "kites") for n in range(4)]
            return _words(40, host, "front"), links + self._ways(host, kind, 0)
        number = next(n for n in range(self.articles) if self._path(host, n) == path)
        links = [(self._path(host, number + step), _words(3, host, number + step)) for step in (1, 2, 6)]
        return self._article(host, number), links + self._ways(host, kind, number)

    def _article(self, host: str, number: int) -> str:
        number %= self.articles
        if self._is_catalogue(host):
            return f"{_words(70, host, 'every item')} {_words(14, host, 'item', number)} {number * 13 + 5} pounds"
        return _words(130, host, "article", number)

    def _ways(self, host: str, kind: str, number: int) -> list[Link]:
        """From an article into the trap of its host."""
        ways = {
            "albums": f"/album/{number % 5}/photo-{number * 50}/medium",
            "listings": f"/files/?C={'NMSD'[number % 4]};O={'AD'[number % 2]}",
            "compare": f"/compare/{_name(number)}-vs-{_name(number + 3)}",
            "members": f"/member/{number * 1000 + 17}",
            "towns": f"/kites-in-{_name(900 + number)}",
            "weeks": f"/archive/{2010 + number % 9}/week-{number % 52 + 1}/",
            "filtered": f"/shop/colour-{_FILTERS['colour'][number % 4]}/",
            "sessions": f"/(S({number:024x})){self._path(host, number + 1)}",
        }
        return [(ways[kind], _ABOUT_KITES[number % 12])] if kind in ways else []

    # ---- traps

    def _albums(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        album, photo = path.split("/")[2], int("".join(filter(str.isdigit, path.partition("photo-")[2])) or 0)
        at = f"/album/{album}/photo-{photo}"
        links = [(f"{at}/{size}", size) for size in _SIZES] + [(f"{at}/slide/{draw.randrange(900)}", "slide show")]
        links += [(f"/album/{album}/photo-{photo + step}/{draw.choice(_SIZES)}", "next") for step in (1, 2, 9)]
        return f"{_words(9, host, 'caption', photo % 70)} picture {photo}", links

    def _listings(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        folder = path.partition("?")[0]
        rows = [_words(2, host, "file", draw.randrange(60)) for _ in range(20)]
        links = [(f"{folder}?C={key};O={way}", key) for key in "NMSD" for way in "AD"]
        links += [(f"{folder}{_name(draw.randrange(12))}/", "folder") for _ in range(4)]
        return f"index of files {' '.join(rows)}", links

    def _compare(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        chosen = path.rpartition("/")[2].split("-vs-")
        tables = [_words(12, host, "product", name) for name in chosen]
        names = [_name(draw.randrange(40)) for _ in range(8)]
        links = [(f"/compare/{'-vs-'.join([*chosen[-3:], name])}", name) for name in names[:5]]
        links += [(f"/compare/{names[5]}-vs-{names[6]}", "others"), (self._path(host, draw.randrange(99)), "read")]
        return f"which one to buy {' '.join(tables)}", links

    def _members(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        links = [(f"/member/{draw.randrange(10**6)}", _name(draw.randrange(10**5))) for _ in range(9)]
        links.append((f"{path.partition('?')[0]}?tab={draw.choice(('posts', 'likes', 'friends'))}", "more"))
        return f"{_name(draw.randrange(10**5))} has not written anything about kites yet", links

    def _towns(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        town = path.partition("-in-")[2]
        near = [_name(draw.randrange(10**5)) for _ in range(8)]
        said = _words(90, host, "advertisement").split()
        said[::15] = [town] * len(said[::15])
        return " ".join(said), [(f"/kites-in-{other}", f"kites in {other}") for other in near]

    def _weeks(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        year, week = (int("".join(filter(str.isdigit, part)) or 1) for part in [*path.split("/"), "", ""][2:4])
        weeks = [(year, week % 52 + 1), (year - 1, week), (year + 1, week), (year, (week + 25) % 52 + 1)]
        links = [(f"/archive/{y}/week-{w}/", f"week {w}") for y, w in weeks]
        links.append((f"/archive/{year}/week-{week}/page-{draw.randrange(2, 30)}/", "older"))
        teasers = [" ".join(self._article(host, draw.randrange(self.articles)).split()[:15]) for _ in range(3)]
        return f"week {week} of {year} {' '.join(teasers)}", links

    def _filtered(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        chosen = [part for part in path.split("/")[2:] if part][:5]
        links = []
        for _ in range(10):
            key = draw.choice(list(_FILTERS))
            kept = [part for part in chosen if not part.startswith(key)]
            draw.shuffle(kept)
            links.append((f"/shop/{'/'.join([*kept, f'{key}-{draw.choice(_FILTERS[key])}'])}/", key))
        shown = [_words(6, host, "goods", draw.randrange(50)) for _ in range(10)]
        return f"{len(shown)} kites found {' '.join(shown)}", links

    def _sessions(self, host: str, path: str, draw: random.Random) -> tuple[str, list[Link]]:
        page = path.partition("))")[2] or "/"
        number = next((n for n in range(self.articles) if self._path(host, n) == page), 0)
        token = f"/(S({draw.getrandbits(96):024x}))"
        return self._article(host, number), [(token + self._path(host, number + step), "on") for step in (1, 2, 3, 5)]
