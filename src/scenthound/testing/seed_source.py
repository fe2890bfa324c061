"""What every seed source must do.

    for name, check in seed_source_contract(lambda: MySource("https://search.test/"), replies):
        check()

`replies` maps the beginning of a URL, without its query, to the body of a good reply; everything else is 404. A source
that asks nobody needs none. The checks also feed it replies that are broken, wrong, huge or malicious.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from scenthound import url as urls
from scenthound.errors import SourceFailed
from scenthound.model import Response, Topic, Url
from scenthound.ports import Failure
from scenthound.seeding import FoundUrl, KnowsBackLinks, SeedSource
from scenthound.sources.asking import PoliteAsker
from scenthound.web.addresses import forbidden_name

TOPIC = Topic("hot air balloon")
ODD_WORDS = (
    "balloon \"quoted' \\ & ?x=1 #y",
    "Heißluftballon 熱氣球 🎈",
    "-balloon OR AND NOT *",
    "a\x00b balloon",
    "z" * 3000,
)
PRIVATE = (
    "http://127.0.0.1/a",
    "http://[::1]/",
    "http://10.1.2.3/",
    "http://localhost/x",
    "http://169.254.169.254/latest",
)
NO_URLS = ("javascript:alert(1)", "file:///etc/passwd", "//", "http://", "ftp://a.test/", "x" * 100_000)
_BAD_URLS = ", ".join(f'{{"url": "{url}", "title": 7}}' for url in (*PRIVATE, *NO_URLS))
_BAD_LINES = "\n".join(f'{{"url": "{url}"}}' for url in (*PRIVATE, *NO_URLS))
_BAD_ENTRIES = "".join(f"<url><loc>{url}</loc></url>" for url in (*PRIVATE, *NO_URLS))
HOSTILE = (
    b"",
    b"\xff\xfe\x00broken",
    b"null",
    b"[]",
    b"{}",
    b'{"results": null}',
    b'{"results": [null, 1, "x", [], {}, {"url": null}, {"url": ["http://a.test/"]}]}',
    b"[" * 100_000,
    b'{"results": ' + b"[" * 50_000,
    b"9" * 100_000,
    b'[{"cdx-api": "http://elsewhere.test/index"}]',
    b'[{"cdx-api": ["x"]}]',
    f'{{"results": [{_BAD_URLS}]}}'.encode(),
    _BAD_LINES.encode(),
    f"<urlset>{_BAD_ENTRIES}</urlset>".encode(),
    b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>',
)


class RepliesTo:
    """A fetcher that knows a few replies."""

    def __init__(self, replies: Mapping[str, bytes], hostile: bytes | None = None, status: int = 200) -> None:
        self._replies, self._hostile, self._status = replies, hostile, status
        self.asked: list[str] = []

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        self.asked.append(url)
        if url.endswith("/robots.txt") and url not in self._replies:
            return Response(url, 404, "Not Found", (), b"")
        body = self._replies.get(url.partition("?")[0])
        if self._hostile is not None:
            return Response(url, self._status, "", (), self._hostile)
        return Response(url, 404, "Not Found", (), b"no") if body is None else Response(url, 200, "OK", (), body)


def seed_source_contract(
    make: Callable[[], SeedSource], replies: Mapping[str, bytes] | None = None, linked: str = "http://a.test/"
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Checks for one source, each a name and a function that asserts. `linked` is a page that others link to."""
    given = replies or {}

    def seeds(most: int, topic: Topic = TOPIC, fetcher: RepliesTo | None = None) -> Sequence[FoundUrl]:
        asker = PoliteAsker(fetcher or RepliesTo(given), "scenthound", 0.0)
        return asyncio.run(make().seeds(topic, most, asker))

    def back_links(most: int, fetcher: RepliesTo | None = None) -> Sequence[FoundUrl]:
        source, asker = make(), PoliteAsker(fetcher or RepliesTo(given), "scenthound", 0.0)
        return asyncio.run(source.back_links(Url(linked), most, asker)) if isinstance(source, KnowsBackLinks) else []

    def check(found: Sequence[FoundUrl], most: int) -> None:
        assert len(found) <= most, f"{len(found)} answers, and {most} were asked for"
        assert len({one.url for one in found}) == len(found), "a URL comes twice"
        for one in found:
            urls.make(one.url)
            assert forbidden_name(urls.host(one.url)) is None, f"{one.url} is a private address: use `Asker.checked`"
            assert isinstance(one.title, str)
            assert one.title.isprintable(), "a title may hold control characters: use `Asker.checked`"

    def answers() -> None:
        assert isinstance(make(), SeedSource)
        assert seeds(50), "the replies that were given hold seeds for `hot air balloon`"
        for most in (1, 2, 50):
            check(seeds(most), most)
            check(back_links(most), most)

    def best_first() -> None:
        found = list(seeds(50))
        assert list(seeds(50)) == found, "the same question has the same answer"
        assert list(seeds(1)) == found[:1], "the best come first, however many are asked for"

    def links() -> None:
        if isinstance(make(), KnowsBackLinks):
            found = back_links(20)
            assert found, f"the replies that were given hold a page that links to {linked}"
            assert linked not in [urls.make(one.url) for one in found], "a page is no back-link of itself"

    def odd_words() -> None:
        for words in ODD_WORDS:
            check(seeds(5, Topic(words)), 5)

    def hostile() -> None:
        for body in HOSTILE:
            for status in (200, 404, 403, 500, 302):
                for ask in (seeds, back_links):
                    with suppress(SourceFailed):
                        check(ask(5, fetcher=RepliesTo(given, body, status)), 5)

    yield "it answers with public URLs, each once, no more than were asked for", answers
    yield "the best come first, and the same question has the same answer", best_first
    yield "back-links lead to others", links
    yield "any words are a question", odd_words
    yield "no reply makes it fail otherwise than with `SourceFailed`", hostile
