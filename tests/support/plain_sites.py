"""Sites without traps, in many layouts and with many kinds of content, to find out what trap defence costs them.

`PlainSite(layout, content, size)` is a site of `size` pages, all of which can be reached from its home page. Its texts
are hard on purpose: their words come from short lists, so that after a few pages every word was seen before.
Everything is a function of the arguments and the URL.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from scenthound.lab.beds.bed import new_response
from scenthound.model import Response

TOPIC = "harbour lighthouse"
HOST = "plain.example"
_SYLLABLES = "ba co di fe gu ha je ki lo mu na pe qui ro sa te vu wo xi ya zu bra cle dri flo gra".split()


def _word(number: int, stock: str = "") -> str:
    draw = random.Random(f"{stock} {number}")
    return "".join(draw.choice(_SYLLABLES) for _ in range(draw.randint(2, 3)))


_WORDS = [_word(n) for n in range(300)]
_FIRST = [_word(n, "first").title() for n in range(40)]
_LAST = [_word(n, "last").title() for n in range(60)]
_TOWNS = [_word(n, "town").title() for n in range(30)]
_HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
    "同工也能下过子说产种面而方后多定行学法所民得经"
)
_KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん"
_ARABIC = (
    "ال كتاب بيت مدينة طريق بحر شمس قمر ليل نهار ولد بنت رجل امرأة ماء نار "
    "هواء شجرة زهرة جبل نهر سوق باب نافذة قلم ورقة درس معلم طالب صوت"
).split()
Draw = random.Random


def _prose(draw: Draw, number: int) -> str:
    sentences = [" ".join(draw.choice(_WORDS) for _ in range(draw.randint(6, 14))) for _ in range(10)]
    return "".join(f"<p>{sentence.capitalize()}.</p>" for sentence in sentences)


def _short(draw: Draw, number: int) -> str:
    return f"<p>{' '.join(draw.choice(_WORDS) for _ in range(9))}.</p>"


def _product(draw: Draw, number: int) -> str:
    colour, stuff = draw.choice("red blue green black white grey".split()), draw.choice("oak steel wool glass".split())
    return (
        f"<h2>{_WORDS[draw.randrange(60)]} {_WORDS[draw.randrange(60)]}</h2><p>A fine piece for house and garden, made "
        f"with care by our own people. Free delivery, thirty days to return it, two years of warranty.</p><ul>"
        f"<li>Colour: {colour}<li>Material: {stuff}<li>Weight: {draw.randrange(10, 90)} kg"
        f"<li>Price: {draw.randrange(5, 400)}.{draw.randrange(100):02} euro</ul>"
    )


def _register(draw: Draw, number: int) -> str:
    rows = [
        f"<tr><td>{draw.choice(_FIRST)} {draw.choice(_LAST)}<td>{draw.randrange(1, 90)} {draw.choice(_WORDS)} street"
        f"<td>{draw.choice(_TOWNS)}"
        for _ in range(8)
    ]
    return f"<table><tr><th>name<th>street<th>town{''.join(rows)}</table>"


def _numbers(draw: Draw, number: int) -> str:
    cells = ["<td>".join(f"{draw.randrange(1000) / 10}" for _ in range(6)) for _ in range(8)]
    return f"<p>Measured values by station and month</p><table><tr><td>{'<tr><td>'.join(cells)}</table>"


def _tables(draw: Draw, number: int) -> str:
    rows = [
        f"<tr><td>{draw.choice(_TOWNS)}<td>{draw.choice('north east south west'.split())}<td>{draw.randrange(100)}"
        for _ in range(10)
    ]
    return f"<table><tr><th>town<th>side<th>count{''.join(rows)}</table>"


def _code(draw: Draw, number: int) -> str:
    lines = [
        f"def {draw.choice(_WORDS[:80])}({draw.choice('abcxyz')}, {draw.choice('ijkmn')}):\n    "
        f"return {draw.choice('abcxyz')} {draw.choice('+-*/')} {draw.choice(_WORDS[:80])}({draw.randrange(20)})"
        for _ in range(8)
    ]
    return f"<pre>{chr(10).join(lines)}</pre>"


def _captions(draw: Draw, number: int) -> str:
    said = " ".join(draw.choice(_WORDS[:120]) for _ in range(5))
    return f'<figure><img src="/pictures/{number}.jpg" alt="{said}"><figcaption>{said}</figcaption></figure>'


def _chinese(draw: Draw, number: int) -> str:
    said = ["".join(draw.choice(_HAN) for _ in range(draw.randint(6, 16))) for _ in range(12)]
    return f"<p>{'，'.join(said)}。</p>"


def _japanese(draw: Draw, number: int) -> str:
    said = ["".join(draw.choice(_KANA + _HAN[:30]) for _ in range(draw.randint(8, 20))) for _ in range(12)]
    return f"<p>{'。'.join(said)}。</p>"


def _arabic(draw: Draw, number: int) -> str:
    return f"<p>{' '.join(draw.choice(_ARABIC) for _ in range(60))}.</p>"


def _same(draw: Draw, number: int) -> str:
    return f"<p>This page has been moved from our old archive. It is sheet {number}. All rights are reserved.</p>"


_TEMPLATE = " ".join(random.Random("template").choice(_WORDS) for _ in range(2_500))


def _template(draw: Draw, number: int) -> str:
    """A sentence behind a text of 2,500 words that is on every page."""
    return f"<div>{_TEMPLATE}</div>{_short(draw, number)}"


def _before_template(draw: Draw, number: int) -> str:
    return f"{_product(draw, number)}<div>{_TEMPLATE}</div>"


CONTENTS: dict[str, Callable[[Draw, int], str]] = {
    "prose": _prose, "short": _short, "product": _product, "register": _register, "numbers": _numbers,
    "tables": _tables, "code": _code, "captions": _captions, "chinese": _chinese, "japanese": _japanese,
    "arabic": _arabic, "same": _same, "template": _template, "before template": _before_template,
}  # fmt: skip
Graph = tuple[list[str], dict[int, list[int]]]
"""The path of each page, and its links outside the menu."""


def _tree(size: int, fan: int = 5) -> Graph:
    paths, links = ["/"], dict[int, list[int]]()
    for number in range(1, size):
        parent = (number - 1) // fan
        paths.append(f"{paths[parent]}{(number - 1) % fan + 1}/")
        links.setdefault(parent, []).append(number)
        links[number] = [parent]
    return paths, {number: sorted(of) for number, of in links.items()}


def _menu(size: int) -> Graph:
    """Six links of a menu, and four to related pages."""
    paths = ["/", *(f"/pages/{_word(n % 97)}-{n}.html" for n in range(1, size))]
    links = {}
    for number in range(size):
        near = [2 * number + 1, 2 * number + 2, *(random.Random(f"menu {number} {n}").randrange(size) for n in (1, 2))]
        links[number] = [*range(1, min(7, size)), *(n for n in near if n < size)]
    return paths, links


def _further(size: int) -> Graph:
    """Each page leads to the next, and to nothing else."""
    return ["/", *(f"/page-{n}.html" for n in range(1, size))], {n: [n + 1] for n in range(size - 1)}


def _paged(size: int) -> Graph:
    """A list in pages of ten, each of which leads to its neighbours; an entry leads back to the first."""
    lists = max(1, size // 11)
    paths = ["/", *(f"/list?page={n + 1}" for n in range(1, lists)), *(f"/entry/{n}" for n in range(size - lists))]
    links = {n: [0] for n in range(lists, size)}
    for number in range(lists):
        of = range(lists + number * 10, size if number == lists - 1 else lists + number * 10 + 10)
        links[number] = [n for n in (number - 1, number + 1) if 0 <= n < lists] + list(of)
    return paths, links


def _index(size: int) -> Graph:
    """The home page leads to every other page, and these to the home page."""
    paths = ["/", *(f"/{_word(n % 50)}/{n}.html" for n in range(1, size))]
    return paths, {0: list(range(1, size)), **{n: [0] for n in range(1, size)}}


def _calendar(size: int) -> Graph:
    """An archive by month, with five articles a month: real ones, so that it has a first and a last month."""
    months = max(1, size // 6)
    links = {0: [1]}
    paths = ["/", *(f"/archive/{2000 + number // 12}/{number % 12 + 1:02}/" for number in range(months))]
    article = len(paths)
    for number in range(months):
        of = range(article, size if number == months - 1 else min(size, article + 5))
        links[number + 1] = [n for n in (number, number + 2) if 1 <= n <= months] + list(of)
        for place in of:
            paths.append(f"/archive/{2000 + number // 12}/{number % 12 + 1:02}/{_word(place)}-{_word(place * 7)}.html")
            links[place] = [number + 1]
        article += len(of)
    return paths, links


def _gallery(size: int) -> Graph:
    """Albums of twelve pictures; a picture leads to the one before and the one after."""
    albums = max(1, size // 13)
    paths = ["/", *(f"/album/{n}/" for n in range(albums)), *(f"/picture/{n}" for n in range(size - albums - 1))]
    links = {0: list(range(1, albums + 1))}
    for number in range(size - albums - 1):
        album, page = min(number // 12, albums - 1), number + albums + 1
        links.setdefault(album + 1, [0]).append(page)
        links[page] = [album + 1, *(n for n in (page - 1, page + 1) if albums < n < size)]
    return paths, links


def _wiki(size: int) -> Graph:
    """Eight links to any other pages, without a menu."""
    paths = ["/", *(f"/wiki/{_word(n).title()}_{_word(n * 3 + 1)}_{n}" for n in range(1, size))]
    links = {}
    for number in range(size):
        draw = random.Random(f"wiki {number}")
        links[number] = [
            n for n in (2 * number + 1, 2 * number + 2, *(draw.randrange(size) for _ in range(6))) if n < size
        ]
    return paths, links


def _forum(size: int) -> Graph:
    """Boards with numbers as parameters, of twenty threads each; a thread leads to two others of its board."""
    boards = max(1, size // 21)
    paths = ["/", *(f"/board.php?id={n}" for n in range(boards)),
             *(f"/thread.php?id={n}&board={min(n // 20, boards - 1)}" for n in range(size - boards - 1))]  # fmt: skip
    links = {0: list(range(1, boards + 1))}
    for number in range(size - boards - 1):
        board, page = min(number // 20, boards - 1), number + boards + 1
        links.setdefault(board + 1, [0]).append(page)
        links[page] = [board + 1, *(n for n in (page + 3, page + 7) if n < size)]
    return paths, links


LAYOUTS: dict[str, Callable[[int], Graph]] = {
    "tree": _tree, "menu": _menu, "further": _further, "paged": _paged, "index": _index, "calendar": _calendar,
    "gallery": _gallery, "wiki": _wiki, "forum": _forum,
}  # fmt: skip


@dataclass(frozen=True)
class PlainSite:
    """A site of `size` pages. `answer` acts as its server."""

    layout: str
    content: str
    size: int = 200
    wanted: float = 0.2
    """The share of pages with words of the topic."""
    _numbers: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _graph(self) -> Graph:
        return LAYOUTS[self.layout](self.size)

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self._graph[0])}

    @property
    def hosts(self) -> list[str]:
        return [HOST]

    @property
    def seeds(self) -> list[str]:
        return [f"http://{HOST}/"]

    @cached_property
    def good_pages(self) -> set[str]:
        return {f"http://{HOST}{path}" for path in self._graph[0]}

    @cached_property
    def targets(self) -> set[str]:
        """The pages with words of the topic: neighbours in the order of the site, in a few groups."""
        return {f"http://{HOST}{path}" for number, path in enumerate(self._graph[0]) if self._is_wanted(number)}

    def _is_wanted(self, number: int) -> bool:
        return random.Random(f"wanted {number // 5}").random() < self.wanted

    def answer(self, url: str) -> Response:
        number = self._number_of.get("/" + url.partition("://")[2].partition("/")[2])
        if number is None:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"no such page")
        paths, links = self._graph
        text = CONTENTS[self.content](random.Random(f"{self.content} {number}"), number)
        about = f"<p>{' '.join([TOPIC] * 3)}</p>" if self._is_wanted(number) else ""
        anchors = "".join(
            f'<li><a href="{paths[to].replace("&", "&amp;")}">{_WORDS[to % 300]}</a>' for to in links.get(number, ())
        )
        head = "<title>Our site</title><p>Our site: news, people, contact</p>"
        foot = "<p>All rights reserved. Made with care by the people of the site.</p>"
        html = f"<!DOCTYPE html><meta charset=utf-8>{head}{text}{about}<ul>{anchors}</ul>{foot}"
        return new_response(url, "text/html; charset=utf-8", html.encode())
