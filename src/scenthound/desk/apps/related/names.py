"""Find the name of an organisation: what its pages and those who link to it call it.

Candidates are the name stated in structured data, the parts of the home page's title without boilerplate ("Table of
Contents", "Welcome to …", "… documentation", version numbers), and the words of links from other organisations. Each
gets points for what supports it:

    3    it is stated in JSON-LD or Open Graph
    2    it is a part of the titles of two other pages of the site
    2    without spaces and punctuation it is a label of the host ("Hot Air" on hot-air.org); 1: one contains the other
    1    for each other organisation whose link says just this, at most 3
    1    it is a part of the home page's title

One is taken off a candidate of more than six words. Among equals the first one in this order counts: stated, in the
title, in links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

SEPARATORS = re.compile(r"\s+[-–—|·•:~/]+\s+|\s*[—|»«·•›]\s*|\s*::\s*|:\s+")
BOILERPLATE = re.compile(
    r"(the )?(table of )?contents?|(official )?(home|main|front|start|landing|index|title)([ -]?page)?|index|overview"
    r"|(the )?(official )?(web ?)?site|welcome|start(seite)?|hauptseite|accueil|inicio|home ?page|untitled( document)?"
    r"|(the )?(user |developer |reference |api )?(documentation|docs|manual|guide|reference|api|wiki|blog|news)"
    r"|about( us)?|首页|主页|ホーム|トップページ|главная|loading|redirecting|just a moment|search"
    r"|(error )?404|(page )?not found",
    re.IGNORECASE,
)
OPENING = re.compile(
    r"^(welcome (to|at)|willkommen (bei|auf)|bienvenue (à|chez|sur)|home of|(the )?official (web ?)?site of|about)"
    r"\s+(the\s+)?|^(home|documentation for|documentation of)\s+",
    re.IGNORECASE,
)
ENDING = re.compile(
    r"('s)?\s+(((user|developer|reference|api|online|official)\s+)?(documentation|docs|manual|home ?page|web ?site"
    r"|user guide|reference guide))$"
    r"|[\s,]*[(\[]?\b(v(ersion)?\.?\s*)?\d+(\.(\d+|x))+[\w.+-]*[)\]]?$|\s+v\d+$|[\s!,:;-]+$|\s*\(\s*(latest|stable)\s*\)$",
    re.IGNORECASE,
)
GENERIC = re.compile(
    r"(click )?here|link|(web)?site|home ?page|read more|more|this|source|visit.*|.*licen[cs]e.*|https?:.*|www\..*",
    re.I,
)
LONGEST, LONGEST_TITLE = 80, 500
MOST_WORDS = 6
MOST_LINKS = 3


def organisation_name(
    key: str, stated: str = "", title: str = "", other_titles: Iterable[str] = (), link_texts: Sequence[str] = ()
) -> str:
    """The most plausible name of the organisation `key`; `link_texts` has one text from each other organisation.

    >>> organisation_name("numpy.test", title="Table of Contents — NumPy v1.26 Manual")
    'NumPy'
    """
    parts = list(_parts(title))
    elsewhere = Counter(_plain(part) for other in other_titles for part in set(_parts(other)))
    linked = Counter(_plain(_cleaned(text)) for text in link_texts)
    stated = "" if BOILERPLATE.fullmatch(stated.strip()) else " ".join(stated.split())
    names = dict.fromkeys(name for name in (stated, *parts, *_linked(link_texts)) if name)
    labels = [_plain(label) for label in key.split(".")[:-1]]

    def points(name: str) -> float:
        plain = _plain(name)
        total = 3.0 * (name == stated) + 2 * (elsewhere[plain] >= 2) + min(linked[plain], MOST_LINKS)
        near = any(min(len(plain), len(label)) > 2 and (plain in label or label in plain) for label in labels)
        return total + (2 if plain in labels else near) + (name in parts) - (len(name.split()) > MOST_WORDS)

    return max(names, key=points, default=key)[:LONGEST]


def _parts(title: str) -> Iterator[str]:
    """The parts of a title that may be a name."""
    plain = " ".join(title.split())[:LONGEST_TITLE]
    return (part for text in SEPARATORS.split(plain) if (part := _cleaned(text)))


def _cleaned(text: str) -> str:
    """A text without boilerplate at its beginning and end; empty if nothing else is left."""
    text = " ".join(text.split())[: 4 * LONGEST]
    before = ""
    while text != before:
        before = text
        text = ENDING.sub("", OPENING.sub("", text)).strip()
    return "" if BOILERPLATE.fullmatch(text) else text


def _linked(texts: Iterable[str]) -> Sequence[str]:
    cleaned = [_cleaned(text) for text in texts]
    return [
        name for name, _ in Counter(name for name in cleaned if name and not GENERIC.fullmatch(name)).most_common(5)
    ]


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
