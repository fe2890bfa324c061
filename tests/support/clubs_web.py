"""A small web of clubs, as a fetcher: home pages, inner pages, lists of clubs, and hosts about other things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.model import Response, Url
from scenthound.ports import Failure
from scenthound.topic_list import BedTopic

QUESTION = "chess openings gambit"
CLUBS = 12
OTHERS = 8
_CHESS = "chess openings gambit endgame knight bishop castling tournament"
_OTHER = (
    "garden tulip compost rake seedling mulch trowel greenhouse",
    "recipe oven flour butter cake sugar baking kitchen",
)


def _page(title: str, words: str, links: Sequence[str]) -> bytes:
    anchors = "".join(f"<p><a href='{link}'>{link.rpartition('/')[2] or link}</a></p>" for link in links)
    return f"<title>{title}</title><p>{words} {words} {title}</p>{anchors}".encode()


def _web() -> Mapping[str, bytes]:
    clubs, others = [f"http://club{n}.test" for n in range(CLUBS)], [f"http://other{n}.test" for n in range(OTHERS)]
    pages: dict[str, bytes] = {}
    for n, club in enumerate(clubs):
        pages[f"{club}/"] = _page(f"Club {n}", _CHESS, ["/openings", "/gambit", "/legal", "http://lists.test/chess"])
        pages[f"{club}/openings"] = _page(f"Openings of club {n}", _CHESS, ["/", "/gambit"])
        pages[f"{club}/gambit"] = _page(f"A gambit of club {n}", _CHESS, ["/", "http://lists.test/all"])
        pages[f"{club}/legal"] = _page(f"Legal notice {n}", "cookie notice court law address imprint", ["/"])
    for n, other in enumerate(others):
        pages[f"{other}/"] = _page(f"Other {n}", _OTHER[n % 2], ["/more", "/most"])
        pages[f"{other}/more"] = _page(f"More {n}", _OTHER[n % 2], ["/"])
        pages[f"{other}/most"] = _page(f"Most {n}", _OTHER[n % 2], ["/"])
    pages["http://lists.test/"] = _page("Lists", "index directory", ["/chess", "/all"])
    pages["http://lists.test/chess"] = _page("Chess clubs", "chess clubs", [f"{club}/openings" for club in clubs])
    pages["http://lists.test/all"] = _page("All", "index directory", [f"{site}/" for site in (*others, *clubs)])
    return pages


PAGES = _web()


def is_about_chess(url: str) -> bool:
    return b"knight bishop" in PAGES[url]


class Clubs:
    """A fetcher that knows this web."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        body = PAGES.get(url)
        if body is None:
            return Response(url, 404, "Not Found", (), b"")
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), body)


class ClubsWeb:
    """The same web, for `lab serve`."""

    name, digest, traps = "clubs", "clubs", False
    topics: tuple[BedTopic, ...] = ()

    def get(self, url: Url) -> Response | None:
        body = PAGES.get(url)
        return None if body is None else Response(url, 200, "OK", (("Content-Type", "text/html"),), body)

    def responses(self) -> Iterator[Response]:
        return (Response(url, 200, "OK", (("Content-Type", "text/html"),), body) for url, body in PAGES.items())


@contextmanager
def served_clubs() -> Iterator[str]:
    """The address of a proxy that knows this web."""
    with serving(BedServer(ClubsWeb(), ServerOptions())) as address:  # type: ignore[arg-type]
        yield address
