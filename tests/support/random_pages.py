"""Small random pages for properties: nested elements, headings, anchors with and without text."""

from __future__ import annotations

import random
import re
from pathlib import Path

from hypothesis import strategies as st

from scenthound.model import Url
from scenthound.page.read import read_html
from scenthound.page.record import EVERYTHING, Parts, Record

HOME = Url("http://home.test/dir/page.html")

WORDS = ["chess", "club", "clubs", "golf", "the", "and", "Été", "x", "2nd", "»", "\u00a0", "\u2028", "a\nb"]
HREFS = ["/a", "/b", "c?d=1", "#top", "", "page.html", "http://other.test/", "HTTP://Other.test:80/%7e", "mailto:x@y.z"]

WRAPPERS = [
    *("<p>{}</p>", "<div id=nav>{}</div>", "<ul class='wide menu'><li>{}</ul>", "<b>{}</b>", "<h1>{}</h1>"),
    *("<table><td>{}</table>", "<h6>{} <i>{}</i> {}</h6>", "<title>{}</title>", "<template>{}</template>"),
    *("<noscript>{}</noscript>", "<svg><title>{}</title></svg>", "{} {}", "{}{}", "<form>{}<div>{}</div></form>"),
    *("<a href='{href}'>{}</a>", "<a href='{href}'>{}</a>", "<a rel=nofollow href='{href}'>{} <b>{}</b></a>"),
    "<a href='{href}'>{}<table><td>{}<a href='{href}'>{}</a>{}</table>{}</a>",  # only so may anchors nest
    "<h3>{}<a href='{href}'>{}</a>{}<div><h4>{}</h4>{}</div></h3>",
]  # fmt: skip
SINGLES = ["<img alt='golf club'>", "<img alt='the'>", "<img>", "<iframe src=/f></iframe>", "<h1></h1>", "<!-- no -->"]


def random_html(rng: random.Random, depth: int) -> str:
    """A page with everything that makes links hard to place."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(SINGLES) if rng.random() < 0.3 else " ".join(rng.choices(WORDS, k=rng.randint(0, 4)))
    wrapper = rng.choice(WRAPPERS)
    inside = [random_html(rng, depth - 1) for _ in range(wrapper.count("{}"))]
    return wrapper.format(*inside, href=rng.choice(HREFS))


def _page(seed: int, size: int, depth: int) -> str:
    rng = random.Random(seed)
    return "\n".join(random_html(rng, depth) for _ in range(size))


html_pages = st.one_of(
    st.builds(_page, st.integers(0, 1 << 32), st.integers(1, 6), st.integers(1, 5)),
    st.text("<>/a href='=h1\ud800\0\n é", max_size=60),
)
"""Markup that is mostly well-formed; some that is not."""


def record_of(html: str, parts: Parts = EVERYTHING) -> Record:
    return read_html(html, HOME, parts)


def suite_pages(suites: Path) -> list[str]:
    """The documents of the suites with HTML trees, broken ones among them."""
    folder = suites / "html-tree" / "tree-construction"
    found = []
    for path in sorted(folder.glob("*.dat")):
        blocks = re.split(r"(?:\A|\n\n)#data\n", path.read_bytes().decode("utf-8"))[1:]
        found += [block.partition("\n#errors")[0] for block in blocks]
    return found
