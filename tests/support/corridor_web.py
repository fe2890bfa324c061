"""Universities: the way to the papers of a subject leads through general pages that say nothing about it.

Each university has a portal, which leads to departments and to pages for visitors; a department leads to its staff,
who link to their papers. Only the papers are on topic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scenthound.model import Response, Url
from scenthound.ports import Failure

SUBJECT = "coral reef polyp lagoon sponge atoll bleaching seagrass plankton current tide"
GENERAL = {
    "portal": "university welcome faculty campus student apply research study degree term",
    "department": "department staff research teaching people study seminar lecture student degree",
    "staff": "professor staff research publications office phone teaching lecture curriculum seminar",
}
VISITORS = {
    "shop": "souvenir mug shirt cart checkout price delivery gift",
    "sports": "football rowing fixture league coach gym squad stadium",
    "canteen": "menu soup pasta vegetarian lunch dessert coffee salad",
    "news": "press release photo award ceremony visit minister opening",
}
DEPARTMENTS, STAFF, PAPERS = 3, 2, 2
DEEP = 6  # pages for visitors that follow each other


@dataclass(frozen=True)
class CorridorWeb:
    """Some universities; it is a fetcher, and `back_links` knows who links to whom."""

    universities: range
    seed: int = 1
    pages: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pages.update(self._pages())

    def _pages(self) -> Iterator[tuple[str, str]]:
        rng = random.Random(self.seed)

        def page(words: str, links: Sequence[str]) -> str:
            text = " ".join(rng.choice(words.split()) for _ in range(40))
            return f"<p>{text}</p>" + "".join(f"<p><a href='{link}'>{link.split('/')[-1]}</a></p>" for link in links)

        yield "http://list.test/", page("list of universities", [f"http://u{n}.test/" for n in self.universities])
        for n in self.universities:
            home = f"http://u{n}.test/"
            departments = [f"{home}d/{number}" for number in range(DEPARTMENTS)]
            yield home, page(GENERAL["portal"], [*(home + name for name in VISITORS), *departments])
            for place in departments:
                yield place, page(GENERAL["department"], [f"{place}/p{m}" for m in range(STAFF)])
                for m in range(STAFF):
                    papers = [f"{place}/p{m}/{k}" for k in range(PAPERS)]
                    yield f"{place}/p{m}", page(GENERAL["staff"], papers)
                    for paper in papers:
                        yield paper, page(SUBJECT + " abstract method result", [])
            for name, words in VISITORS.items():
                for k in range(DEEP):
                    here = f"{home}{name}" + (f"/{k}" if k else "")
                    yield here, page(words, [f"{home}{name}/{j}" for j in range(k + 1, min(k + 4, DEEP))])

    @property
    def targets(self) -> set[Url]:
        return {Url(url) for url in self.pages if url.count("/") == 6}

    def back_links(self, url: str) -> list[str]:
        return [other for other, html in self.pages.items() if f"'{url}'" in html]

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        html = self.pages.get(url)
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        return Response(url, 200 if html else 404, "", headers, (html or "").encode())
