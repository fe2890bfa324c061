"""The contract of a seed source.

    for name, check in seed_source_contract(lambda: MySource("https://search.test/"), replies):
        check()

`replies` maps a URL without its query to the body of a good reply; all other requests get a 404. A source that makes no
requests needs none. The checks also feed it replies that are broken, wrong, huge or malicious.
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
from scenthound.sources.polite_requests import PoliteAsker
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
NOT_URLS = ("javascript:alert(1)", "file:///etc/passwd", "//", "http://", "ftp://a.test/", "x" * 100_000)
_BAD_URLS = ", ".join(f'{{"url": "{url}", "title": 7}}' for url in (*PRIVATE, *NOT_URLS))
_BAD_LINES = "\n".join(f'{{"url": "{url}"}}' for url in (*PRIVATE, *NOT_URLS))
_BAD_ENTRIES = "".join(f"<url><loc>{url}</loc></url>" for url in (*PRIVATE, *NOT_URLS))
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


class ReplyFetcher:
    """A fetcher with a fixed set of replies."""

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
    """Yield the checks for a source, each as a name and a function that asserts.

    `linked` is a page that other pages link to.
    """
    good_replies = replies or {}

    def seeds(most: int, topic: Topic = TOPIC, fetcher: ReplyFetcher | None = None) -> Sequence[FoundUrl]:
        asker = PoliteAsker(fetcher or ReplyFetcher(good_replies), "scenthound", 0.0)
        return asyncio.run(make().seeds(topic, most, asker))

    def back_links(most: int, fetcher: ReplyFetcher | None = None) -> Sequence[FoundUrl]:
        source, asker = make(), PoliteAsker(fetcher or ReplyFetcher(good_replies), "scenthound", 0.0)
        return asyncio.run(source.back_links(Url(linked), most, asker)) if isinstance(source, KnowsBackLinks) else []

    def check(results: Sequence[FoundUrl], most: int) -> None:
        assert len(results) <= most, f"{len(results)} results, but at most {most} were asked for"
        assert len({result.url for result in results}) == len(results), "a URL occurs twice"
        for url, title in ((result.url, result.title) for result in results):
            urls.make(url)
            assert forbidden_name(urls.host(url)) is None, f"{url} is a private address: use `Asker.checked`"
            assert isinstance(title, str)
            assert title.isprintable(), "a title has control characters: use `Asker.checked`"

    def results_are_public() -> None:
        assert isinstance(make(), SeedSource)
        assert seeds(50), "the `replies` must contain seeds for `hot air balloon`"
        for most in (1, 2, 50):
            check(seeds(most), most)
            check(back_links(most), most)

    def best_first() -> None:
        first = list(seeds(50))
        assert list(seeds(50)) == first, "the same query gives the same results"
        assert list(seeds(1)) == first[:1], "the best come first, however many are asked for"

    def back_links_are_other_pages() -> None:
        if isinstance(make(), KnowsBackLinks):
            sources = back_links(20)
            assert sources, f"the `replies` must contain a page that links to {linked}"
            assert linked not in [urls.make(source.url) for source in sources], "a page is not its own back-link"

    def odd_words() -> None:
        for words in ODD_WORDS:
            check(seeds(5, Topic(words)), 5)

    def hostile() -> None:
        for body in HOSTILE:
            for status in (200, 404, 403, 500, 302):
                for ask in (seeds, back_links):
                    with suppress(SourceFailed):
                        check(ask(5, fetcher=ReplyFetcher(good_replies, body, status)), 5)

    yield "it returns public URLs, each once, no more than asked for", results_are_public
    yield "the best come first, and the same query gives the same results", best_first
    yield "back-links are other pages", back_links_are_other_pages
    yield "it accepts any words as a query", odd_words
    yield "whatever the reply, it fails only with `SourceFailed`", hostile
