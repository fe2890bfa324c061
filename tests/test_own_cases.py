"""Cases of our own, written by hand from the standards, through a crawl's politeness, the decoder and the report.

Those that need no more than a parser are in `tests/data/suites`.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scenthound import url as urls
from scenthound.hosts import HostClock
from scenthound.loop.folder import CrawlFolder
from scenthound.report.crawl_report import write_report
from scenthound.web.decode import Undecodable, decompress
from scenthound.web.robots import parse
from support.small_crawl import small_crawl

# ---- robots.txt, RFC 9309

ROBOTS = [
    # rules, agent, path, allowed, section
    ("User-agent: *\nDisallow: /", "scenthound", "/", False, "2.2.2"),
    ("User-agent: *\nDisallow:", "scenthound", "/x", True, "2.2.2: an empty path matches nothing"),
    ("User-agent: *\nDisallow: /a\nAllow: /a/b", "scenthound", "/a/b/c", True, "2.2.2: the longest match"),
    ("User-agent: *\nAllow: /a/b\nDisallow: /a", "scenthound", "/a/c", False, "2.2.2: in any order"),
    ("User-agent: *\nAllow: /p\nDisallow: /p", "scenthound", "/p", True, "2.2.2: equal length, allow"),
    ("User-agent: other\nDisallow: /", "scenthound", "/", True, "2.2.1: not our group"),
    ("User-agent: SCENTHOUND\nDisallow: /a", "scenthound", "/a", False, "2.2.1: names ignore case"),
    ("User-agent: *\nDisallow: /\n\nUser-agent: scenthound\nAllow: /", "scenthound", "/a", True, "2.2.1: ours first"),
    ("User-agent: a\nUser-agent: scenthound\nDisallow: /x", "scenthound", "/x", False, "2.2.1: a group of two"),
    (
        "User-agent: scenthound\nDisallow: /a\n\nUser-agent: b\nDisallow: /\n\nUser-agent: scenthound\nDisallow: /c",
        "scenthound", "/c", False, "2.2.1: groups of one name are joined",
    ),
    ("User-agent: *\nDisallow: /*.gif$", "scenthound", "/a/b.gif", False, "2.2.3: * and $"),
    ("User-agent: *\nDisallow: /*.gif$", "scenthound", "/b.gif?x", True, "2.2.3: $ is the end"),
    ("User-agent: *\nDisallow: /a*z", "scenthound", "/abcz9", False, "2.2.3"),
    ("User-agent: *\nDisallow: /caf%C3%A9", "scenthound", "/caf%C3%A9", False, "2.2.2: percent codes"),
    ("User-agent: *\nDisallow: /caf%C3%A9", "scenthound", "/caf%c3%a9", False, "RFC 3986 6.2.2.1: in small letters"),
    ("User-agent: *\nDisallow: /caf%C3%A9", "scenthound", "/café", False, "2.2.2: a URL that is not encoded"),
    ("User-agent: *\nDisallow: /caf%c3%a9", "scenthound", "/café", False, "2.2.2: a pattern in small letters"),
    ("User-agent: *\nDisallow: /café", "scenthound", "/caf%c3%a9", False, "2.2.2: a pattern that is not encoded"),
    ("User-agent: *\nDisallow: /\nAllow: /caf%C3%A9", "scenthound", "/caf%c3%A9", True, "6.2.2.1: for Allow too"),
    ("User-agent: *\nDisallow: /%7Ea", "scenthound", "/~a", True, "nothing is decoded, as for Google"),
    ("user-AGENT : *\ndisallow : /x # why", "scenthound", "/x", False, "2.2: keys ignore case; comments"),
    ("Disallow: /", "scenthound", "/", True, "2.1: rules before a group"),
    ("\ufeffUser-agent: *\nDisallow: /x", "scenthound", "/x", False, "2.3: a byte order mark"),
    ("User-agent: *\r\nDisallow: /x\rAllow: /x/y", "scenthound", "/x/y", True, "2.2: CR, LF, CRLF"),
    ("User-agent: *\nSitemap: http://a.test/s.xml\nDisallow: /x", "scenthound", "/x", False, "2.2.4: others between"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "agent", "path", "allowed", "section"), ROBOTS, ids=[case[4] for case in ROBOTS])
def test_robots_rules_mean_what_the_rfc_says(text: str, agent: str, path: str, allowed: bool, section: str) -> None:
    host_clock = HostClock()
    host_clock.learn("http://a.test", parse(text.encode(), agent), now=0.0)
    verdict = host_clock.verdict(urls.resolve(f"http://a.test{path}"), now=1.0)
    assert verdict == ("fetch" if allowed else "robots")


# ---- bombs, and text that would be markup


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip"])
def test_a_small_body_that_unpacks_to_much_is_a_bomb(coding: str) -> None:
    body = bytes(30_000_000)
    for name in coding.split(", "):
        body = gzip.compress(body) if name == "gzip" else zlib.compress(body)
    with pytest.raises(Undecodable) as caught:
        decompress(body, coding, limit=20_000_000, ratio=200)
    assert caught.value.reason == "bomb"


PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "'-alert(1)-'",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>",
    "{{7*7}}${7*7}",
    "<!--><script>alert(1)</script>-->",
    "&lt;script&gt;",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "\x1b]0;owned\x07<b>",
    "\u202e<script>",
]  # fmt: skip


def test_no_payload_becomes_markup_in_report_or_copy(tmp_path: Path) -> None:
    links = [f"http://a.test/{n}" for n in range(1, len(PAYLOADS))]
    web = {"http://a.test/": (PAYLOADS[0], f"hot air balloons {PAYLOADS[0]}", links)}
    web |= {f"http://a.test/{n}": (text, f"hot air balloons {text}", []) for n, text in enumerate(PAYLOADS) if n}
    folder = small_crawl(tmp_path / "crawl", web)
    with CrawlFolder.look(folder) as opened:
        documents = [write_report(opened), *(folder / "copies").iterdir()]
    assert len(documents) == len(PAYLOADS) + 1
    for document in documents:
        page = document.read_text(encoding="utf-8").lower()
        for tag in ("<script", "<img", "<svg onload", "<iframe", "<math", 'href="javascript', "\x1b", "\u202e"):
            assert tag not in page, (document.name, tag)  # fmt: skip
