"""A fifth web of traps, written before the rule of `loop.trap_watch` was changed for the third and fourth.

Its good pages are harder than those of the others: half of the clean hosts keep their articles under parameters, and
every article has a menu, a foot and a "see also" in common with the others of its host. The traps:

* `comments`: each comment of an article has a page, and a page to reply, which lists more comments
* `tags`: a cloud of tags on every page; a list for each combination of tags, in any order
* `diffs`: changes of a wiki between any two versions: a few words of the article in a frame
* `locales`: every article in 40 languages by a prefix, of which only the menu is translated; prefixes pile up
* `orders`: one table of records by sort order, direction, page size and view, as parameters in any order
* `tracking`: every link has campaign parameters of its own, from ever more campaigns
* `recursion`: links without a leading slash, below an article that has no slash at its end
* `redirected`: "log in first" for each page that is asked for, with where to go afterwards as a parameter
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from urllib.parse import quote

from scenthound.model import Response

TOPIC = "sourdough rye baking"
KINDS = ("comments", "tags", "diffs", "locales", "orders", "tracking", "recursion", "redirected")
_TOPIC_WORDS = "sourdough rye baking starter crumb crust oven flour proof levain knead loaf".split()
_SYLLABLES = "ka lo mi tu re sa po ne di vu ga be".split()
_TAGS = 30
_COLUMNS = ("name", "date", "price", "weight", "origin", "rank")
Link = tuple[str, str]


def _word(number: int) -> str:
    """A word of its own for each number, without a digit."""
    letters, number = "", number + 13
    while number:
        number, place = divmod(number, len(_SYLLABLES))
        letters += _SYLLABLES[place]
    return letters


def _prose(length: int, *key: object) -> str:
    """A seventh on the topic, the others by a power law over 20,000 words."""
    draw = random.Random("/".join(map(str, key)))
    return " ".join(
        draw.choice(_TOPIC_WORDS) if draw.random() < 0.15 else _word(int(20_000 ** draw.random()))
        for _ in range(length)
    )


class FifthTraps:
    """The web: a host with a trap of each kind, and clean ones. Every URL of a trap host has an answer."""

    def __init__(self, kinds: Sequence[str] = KINDS, clean: int = 10, articles: int = 25) -> None:
        self.articles = articles
        self.hosts = [f"{kind}.bread.test" for kind in kinds] + [f"bakery{n}.bread.test" for n in range(clean)]
        self.seeds = [f"http://{host}/" for host in (*self.hosts[:2], self.hosts[-1])]
        self.good_pages = {
            f"http://{host}{path}"
            for host in self.hosts
            for path in ("/", *(self._path(host, number) for number in range(articles)))
        }

    def _path(self, host: str, number: int) -> str:
        number %= self.articles
        if host.startswith("bakery") and host[len("bakery")] in "02468":
            return f"/index.php?id={number + 3}&section={('bread', 'cake')[number % 2]}"
        return f"/{('bread', 'cake', 'tools')[number % 3]}/{_word(number * 31 + 90)}"

    def answer(self, url: str) -> Response:
        host, _, rest = url.partition("://")[2].partition("/")
        kind, path = host.partition(".")[0], f"/{rest}"
        if url in self.good_pages:
            text, links = self._good(host, kind, path)
        elif host in self.hosts and kind in KINDS:
            text, links = getattr(self, f"_{kind}")(host, path)
        else:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"gone")
        menu = "<nav><a href='/'>start</a> " + _prose(8, host, "menu") + "</nav>"
        anchors = "".join(f"<li><a href='{to}'>{name}</a>" for to, name in links)
        foot = f"<footer>{_prose(15, host, 'foot')}</footer>"
        html = f"<html><title>{host}</title><body>{menu}<p>{text}</p><ul>{anchors}</ul>{foot}</body></html>"
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), html.encode())

    def _good(self, host: str, kind: str, path: str) -> tuple[str, list[Link]]:
        paths = [self._path(host, number) for number in range(self.articles)]
        if path == "/":
            place = self.hosts.index(host)
            others = [f"http://{self.hosts[(place + step) % len(self.hosts)]}/" for step in (1, 2, 5)]
            links = [(to, "rye friends") for to in others] + [(to, "sourdough") for to in paths[:4]]
            return _prose(50, host, "start"), links + self._ways(host, kind, 0)
        number = paths.index(path)
        links = [(paths[(number + step) % self.articles], _prose(2, host, number, step)) for step in (1, 3, 4)]
        return self._article(host, number), links + self._ways(host, kind, number)

    def _article(self, host: str, number: int) -> str:
        return _prose(120, host, "article", number % self.articles)

    def _ways(self, host: str, kind: str, number: int) -> list[Link]:
        """From an article into the trap of its host."""
        path, draw = self._path(host, number), random.Random(f"{host} way {number}")
        ways = {
            "comments": [f"{path}/comment/{draw.randrange(10**5)}"],
            "tags": [f"/tag/{_word(number % _TAGS)}"],
            "diffs": [f"/wiki/Special:Diff/{number * 40 + 9}/{number * 40 + 5}"],
            "locales": [f"/{_locale(n)}{path}" for n in range(number, number + 3)],
            "orders": [f"/records?sort={_COLUMNS[number % 6]}&dir=up"],
            "tracking": [f"{path}?utm_source=s{number}&utm_medium=web"],
            "recursion": [f"more/{_word(number)}"],
            "redirected": [f"/login?next={quote(path, '')}"],
        }
        return [(way, _TOPIC_WORDS[number % 12]) for way in ways.get(kind, [])]

    def _comments(self, host: str, path: str) -> tuple[str, list[Link]]:
        article, draw = path.partition("/comment")[0], random.Random(host + path)
        numbers = [draw.randrange(10**5) for _ in range(4)]
        links = [(f"{article}/comment/{n}", "permalink") for n in numbers]
        links += [(f"{article}/comment/{n}/reply", "reply") for n in numbers]
        said = [_prose(12, host, "comment", draw.randrange(60)) for _ in range(4)]
        return f"{_prose(40, host, article, 'top')} {' '.join(said)} write your answer here", links

    def _tags(self, host: str, path: str) -> tuple[str, list[Link]]:
        chosen, draw = path.rpartition("/")[2].split("+"), random.Random(host + path)
        tags = [_word(draw.randrange(_TAGS)) for _ in range(10)]
        links = [(f"/tag/{'+'.join([*chosen[-3:], tag])}", tag) for tag in tags] + [(f"/tag/{tags[0]}", tags[0])]
        teasers = [_prose(120, host, "article", draw.randrange(self.articles)).split()[:10] for _ in range(5)]
        links += [(self._path(host, draw.randrange(self.articles)), "read on") for _ in range(2)]
        return " ".join(word for teaser in teasers for word in teaser), links

    def _diffs(self, host: str, path: str) -> tuple[str, list[Link]]:
        draw = random.Random(host + path)
        words = self._article(host, draw.randrange(self.articles)).split()
        at, version = draw.randrange(len(words) - 12), draw.randrange(10**6)
        links = [(f"/wiki/Special:Diff/{version - n}/{version - n - 1}", "older change") for n in range(4)]
        links += [(f"/wiki/Special:History/{version}", "history"), (f"/wiki/Special:Undo/{version}", "undo")]
        editor = _word(draw.randrange(40))
        return f"line {version % 60} changed by {editor} minor edit {' '.join(words[at : at + 12])}", links

    def _locales(self, host: str, path: str) -> tuple[str, list[Link]]:
        paths = {self._path(host, number): number for number in range(self.articles)}
        article = next((known for known in paths if path.endswith(known)), self._path(host, 0))
        language = path.split("/")[1]
        links = [(f"/{_locale(n)}{path}", _locale(n)) for n in random.Random(path).sample(range(40), 6)]
        links += [(f"/{language}{self._path(host, paths[article] + step)}", "next") for step in (1, 2)]
        menu = " ".join(_prose(8, "menu in", language).split())
        return f"{menu} {self._article(host, paths[article])}", links

    def _orders(self, host: str, path: str) -> tuple[str, list[Link]]:
        draw = random.Random(host + path)
        rows = [_prose(4, host, "record", draw.randrange(90)) for _ in range(15)]
        links = []
        for _ in range(9):
            chosen = {
                "sort": draw.choice(_COLUMNS),
                "dir": draw.choice(("up", "down")),
                "per": draw.choice(("10", "25", "50", "100")),
                "view": draw.choice(("list", "grid", "short")),
                "page": str(draw.randrange(1, 30)),
            }
            names = draw.sample(list(chosen), draw.randrange(2, 6))
            links.append(("/records?" + "&".join(f"{name}={chosen[name]}" for name in names), names[0]))
        return "; ".join(rows), links

    def _tracking(self, host: str, path: str) -> tuple[str, list[Link]]:
        article = path.partition("?")[0]
        paths = {self._path(host, number): number for number in range(self.articles)}
        number, draw = paths.get(article, 0), random.Random(host + path)
        names = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "ref", "gclid", "mc_eid")
        links = []
        for step in (1, 2, 3, 5):
            marks = "&".join(f"{name}={draw.getrandbits(40):x}" for name in draw.sample(names, draw.randrange(1, 5)))
            links.append((f"{self._path(host, number + step)}?{marks}", "read"))
        return self._article(host, number), links

    def _recursion(self, host: str, path: str) -> tuple[str, list[Link]]:
        last, draw = path.rstrip("/").rpartition("/")[2], random.Random(host + path)
        links = [(f"more/{_word(draw.randrange(40))}", "on"), (f"about/{_word(draw.randrange(5))}", "about us")]
        links += [(f"more/{_word(draw.randrange(40))}/", "further"), ("more/contact", "contact")]
        return f"{_prose(25, host, 'about us')} {_prose(30, host, 'section', len(last) % 8)}", links

    def _redirected(self, host: str, path: str) -> tuple[str, list[Link]]:
        draw = random.Random(host + path)
        wanted = [self._path(host, draw.randrange(self.articles)) for _ in range(3)]
        again = quote(f"/login?next={draw.getrandbits(32):x}", "")
        links = [(f"/login?next={quote(to, '')}&try={draw.randrange(9)}", "log in") for to in wanted]
        links += [(f"/login?next={again}", "log in"), (f"/register?next={again}&lang={_locale(len(path) % 9)}", "join")]
        return f"Please log in to bake with us. {_prose(20, host, 'login')}", links


def _locale(number: int) -> str:
    return f"{'abcdefghij'[number % 10]}{'klmn'[number // 10 % 4]}"
