"""A web with every way in which a link can come to nothing, and a driver that crawls it step by step."""

from __future__ import annotations

import re
from pathlib import Path

from scenthound import url as urls
from scenthound.loop.messages import Done, Fetch, Wait
from scenthound.loop.replies import Replies, response_to_store
from scenthound.loop.settings import Settings, read
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.wiring import Session, begin
from scenthound.wiring.parts_from_settings import parts_read

SEED = "http://a.test/"
SETTINGS = {
    "delay": 0,
    "backoff": 0.1,
    "retries": 1,
    "hosts": ["a.test", "b.test", "broken.test"],
    "depth": 5,
    "sitemaps": True,
    "links_per_page": 40,
    "url_length": 200,
    "snapshot": 4,
}
ANCHOR = re.compile(r"<a |<area |<frame |<iframe ")
GUARDED = 34  # links on the page that says nofollow
MANY = 60  # links on the page with too many


def _links(*targets: str) -> str:
    return "".join(f"<p>balloon <a href='{target}'>to {number}</a></p>" for number, target in enumerate(targets))


_HOME = _links(
    *("one", "one#part", "two", "three", "closed", "headed", "based", "badly-based", "canonical", "again", "waits"),
    *("lost", "many", "moved", "moved-again", "circle", "gone", "flaky", "picture", "private/secret", "deep/1"),
    *("loop/x/loop/x/loop/x/loop/x", "http://b.test/", "http://elsewhere.test/", "http://broken.test/"),
    *("mailto:me@a.test", "javascript:void(0)", "ftp://a.test/file", "http://[bad/", f"long/{'x' * 300}", "", "#top"),
)
PAGES = {
    "/": f"<title>Home</title>{_HOME}<a rel=nofollow href=advert>ad</a><a rel='me nofollow' href=marked>m</a>"
    "<a rel=ugc href=one>one again</a>"
    "<map><area href=area alt=area></map><iframe src=framed></iframe><iframe></iframe><a name=here>no link</a>",
    "/one": _links("/", "two", "gone", "moved", "advert"),
    "/two": _links("/", "/two", "one", "three", "three"),
    "/three": "balloons " + _links("one", "two"),
    "/closed": "<meta name=robots content='index, nofollow'>" + _links(*(f"vault/{n}" for n in range(GUARDED))),
    "/headed": _links("vault/0", "attic/1", "attic/2", "one"),
    "/based": "<base href='http://b.test/cellar/'>" + _links("wine", "../"),
    "/badly-based": "<base href='mailto:x@y.test'>" + _links("two", "shelf"),
    "/canonical": "<link rel=canonical href='/one'>" + _links("two", "http://elsewhere.test/more"),
    "/again": "<meta http-equiv=refresh content='0; url=/three'>" + _links("unread/1", "unread/2"),
    "/waits": "<meta http-equiv=refresh content='30; url=/later'>" + _links("two"),
    "/lost": "<meta http-equiv=refresh content='30; url=javascript:x'>" + _links("two"),
    "/many": _links(*(f"shop/{n}" for n in range(MANY))),
    "/later": "late " + _links("one"),
    "/area": "an area",
    "/framed": "a frame",
    "/shelf": "a shelf",
    "/listed": "from the map " + _links("one"),
    "/advert": "buy",
    "/attic/1": "dust",
    **{f"/deep/{n}": f"level {n} " + _links(str(n + 1)) for n in range(1, 9)},
    **{f"/shop/{n}": f"balloon number {n} " + _links("/many", f"{n + 1}") for n in range(MANY)},
}
MOVED = {"/moved": "/one", "/moved-again": "/advert-new", "/circle": "/circle2", "/circle2": "/circle"}
PAGES["/advert-new"] = "a new advert"
FILES = {
    "/robots.txt": "User-agent: *\nDisallow: /private/\nSitemap: http://a.test/map.xml\n",
    "/map.xml": "<urlset>"
    + "".join(
        f"<url><loc>{loc}</loc></url>"
        for loc in ("http://a.test/listed", "http://a.test/one", "http://b.test/not-ours", f"http://a.test/{'y' * 300}")
    )
    + "</urlset>",
}


class VanishingWeb:
    """The fetcher."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        return answer(url)


def answer(url: str) -> Response | Failure:
    host, path = urls.host(url), "/" + url.partition("://")[2].partition("/")[2]
    if host == "broken.test":
        return Response(url, 500, "broken", (), b"")
    if host == "b.test":
        html = "" if path == "/robots.txt" else "<p>cellar</p>" + _links("/", "http://a.test/one", "more")
        return _html(url, html, 404 if path.endswith(("robots.txt", "more")) else 200)
    if path in FILES:
        return Response(url, 200, "OK", (("Content-Type", "text/plain"),), FILES[path].encode())
    if path in MOVED:
        return Response(url, 301, "Moved", (("Location", MOVED[path]),), b"")
    if path == "/picture":
        return Response(url, 200, "OK", (("Content-Type", "image/png"),), b"\x89PNG")
    if path == "/flaky":
        return Failure("timeout", may_retry=True)
    html = PAGES.get(path)
    return _html(url, html or "", 200 if html else 404, path == "/headed")


def _html(url: str, html: str, status: int = 200, is_nofollow: bool = False) -> Response:
    headers = [("Content-Type", "text/html; charset=utf-8"), *([("X-Robots-Tag", "nofollow")] if is_nofollow else [])]
    return Response(url, status, "OK", tuple(headers), html.encode())


def links_on(url: str) -> int:
    """How many links a page has, counted in its HTML."""
    response = answer(url)
    assert isinstance(response, Response)
    html = response.body.decode()
    without = html.count("<a name=")
    refreshes = html.count("content='30; url=")
    return len(ANCHOR.findall(html)) - without + refreshes


def begun(folder: Path, strategy: str, **settings: object) -> Session:
    wanted = read(Settings, {**SETTINGS, **settings})
    return begin("balloon", [SEED], folder, strategy=strategy, settings=wanted, fetcher=VanishingWeb())


def steps(session: Session, count: int = 100_000) -> str:
    """Take some steps of a crawl, committing after every third. Returns the reason if it has ended, else "".

    Several requests are in flight at a time; those that are in flight after the last step are lost, as in a kill.
    """
    replies = Replies.of(session.settings, parts_read(session.crawl.strategy))
    now, flying = session.clock(), list[Fetch]()
    for number in range(count):
        step = session.crawl.next(now)
        while isinstance(step, Fetch) and len(flying) < 3:
            flying.append(step)
            step = session.crawl.next(now) if len(flying) < 3 else step
        if flying:
            fetch = flying.pop(0)
            reply = answer(fetch.spelling)
            result = replies.result(fetch, reply, now)
            session.crawl.landed(result, now, response_to_store(result, reply))
            now += 0.01
        elif isinstance(step, Wait):
            now = max(now + 0.01, min(step.until, now + 86_400.0))
        elif isinstance(step, Done):
            session.folder.finish(step.reason, now)
            return step.reason
        if number % 3 == 2:
            session.folder.commit(now)
    return ""
