"""The report of a crawl is complete, self-contained, and safe whatever the web sends."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.errors import ScenthoundError
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Lost, Miss, Step, Topic, Url
from scenthound.report.charts import round_step
from scenthound.report.crawl_facts import CrawlFacts, HostFacts, gather, read_history
from scenthound.report.crawl_report import render, standard_error, write_report
from scenthound.report.explain import explain
from scenthound.store.database import CrawlDatabase
from scenthound.store.sqlite_history import SqliteHistory
from scenthound.templates import link, text
from support.small_crawl import small_crawl
from support.suites import Suites

TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "p", "strong", "h1", "h2", "section", "div",
    "b", "span", "ul", "li", "i", "svg", "polygon", "polyline", "line", "text", "rect", "table", "thead", "tbody",
    "tr", "th", "td", "a", "code", "bdi", "footer", "input", "label", "mark",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "viewbox", "role", "aria-label", "points", "x", "y",
    "x1", "x2", "y1", "y2", "width", "height", "rx", "href", "rel", "target", "style", "type", "id", "for",
    "checked",
}  # fmt: skip


class Strict(HTMLParser):
    """Fails on any tag or attribute that the report does not write itself."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, f"{tag} {name}"
            assert name != "style" or re.fullmatch(r"width:\d+%|--others:\d|--s1:\d+(;--s\d:\d+)*", value or ""), value
        if tag == "a":
            self.links.append(dict(attrs))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


def parsed(page: str) -> Strict:
    parser = Strict()
    parser.feed(page)
    parser.close()
    assert not parser.open
    for link_attributes in parser.links:
        if re.fullmatch(r"copies/page-\d{6}\.html", link_attributes["href"] or ""):
            continue  # our own file beside the report
        assert re.match(r"https?://", link_attributes["href"] or ""), link_attributes
        assert link_attributes["rel"] == "noopener noreferrer nofollow"
    return parser


def step(n: int, similarity: float = 0.5, title: str = "", **more: object) -> Step:
    fields = {"url": Url(f"http://h{n % 3}.test/{n}"), "parent": Url("http://p.test/"), "anchor": "more", **more}
    return Step(
        n,
        fields["url"],
        fields["parent"],
        fields["anchor"],
        0.4,
        {"page": 0.4},
        similarity,
        1,
        200,
        100,
        50.0 + n,
        title,
        relevance=similarity,
        relevant=similarity >= 0.1,
    )  # type: ignore[arg-type]


def facts_of(events: list[Step | Lost], refused: Sequence[str] = ()) -> CrawlFacts:
    request = CrawlRequest(Topic("balloons"), ("http://p.test/",), settings=Settings(pages=500))
    facts = CrawlFacts(request, ended="pages")
    history = SqliteHistory(CrawlDatabase(":memory:"))
    for event in events:
        if isinstance(event, Step):
            history.record(event)
        else:
            candidate = Candidate(event.url, event.score, parent=event.parent, anchor=event.anchor, depth=event.depth)
            history.lost(Miss(candidate, event.reason, event.detail, event.status, event.bytes), event.time)
    for reason in refused:
        history.count("p.test", reason, 3)
    read_history(facts, history)
    return facts


def test_the_report_of_a_crawl_has_every_section(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with CrawlFolder.look(folder) as opened:
        page = write_report(opened).read_text(encoding="utf-8")
    parsed(page)
    for words in ("hot air balloons", "Harvest", "Best pages", "Hosts", "c.test", "http-404", "Seeds", "best-first"):
        assert words in page
    assert "No URL was left to fetch." in page
    assert "robots</code>" in page, "settings that were changed are listed"
    assert not list(folder.glob(".*part")), "nothing half-written is left"


def test_the_report_loads_nothing() -> None:
    page = render(facts_of([step(n) for n in range(1, 30)]))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert not re.search(r"<(img|link|iframe|object|embed|video|audio|form)\b", page)


def test_a_crawl_without_pages_has_a_report() -> None:
    parsed(render(facts_of([])))
    parsed(render(facts_of([step(1)])))


def test_no_payload_of_the_suite_is_left_unescaped(suites: Suites) -> None:
    texts = [case["payload"] for case in suites.cases("payloads/own", "payloads/dompurify_xss")]
    assert len(texts) == (35 if suites.is_own else 102)
    for start in range(0, len(texts), 15):
        chunk = texts[start : start + 15]
        events: list[Step | Lost] = [
            step(n, title=raw, anchor=raw, parent=Url("http://p.test/" + raw)) for n, raw in enumerate(chunk, 1)
        ]
        events += [
            Lost(99, Url("javascript:" + raw), None, raw, 0.1, 1, 0, 0, 60.0, "bad" + raw[:20], raw) for raw in chunk
        ]
        facts = facts_of(events, refused=chunk)
        facts.request = CrawlRequest(
            Topic(" ".join(chunk), description=chunk[0]),
            tuple(chunk),
            settings=Settings(proxy=chunk[-1], contact=chunk[0]),
        )
        page = render(facts)
        parsed(page)
        for raw in chunk:
            assert "<" not in raw or raw not in page


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        " http://a.test/",
        "http://a.test/\n",
        "//a.test/",
        "",
    ],
)
def test_only_a_web_address_becomes_a_link(url: str) -> None:
    assert "<a" not in link(url)


def test_a_web_address_is_a_link_that_gives_nothing_away() -> None:
    assert link('http://a.test/?a=1&b="x') == (
        '<a href="http://a.test/?a=1&amp;b=&#34;x" rel="noopener noreferrer nofollow" target="_blank">'
        "http://a.test/?a=1&amp;b=&#34;x</a>"
    )


def test_the_direction_of_foreign_text_is_isolated() -> None:
    assert text("שלום\u202e") == "<bdi>שלום</bdi>"


def test_standard_error_and_round_steps() -> None:
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert standard_error(0.0, 10) == 0.0
    assert [round_step(span, 4) for span in (1.0, 0.07, 600, 7)] == [0.25, 0.02, 200.0, 2.0]


def test_the_axis_ends_with_its_last_number_and_nothing_runs_into_it() -> None:
    page = render(facts_of([step(n) for n in range(1, 501)]))
    ticks = re.findall(r'<text class="tick (?:mid|end)" x="([\d.]+)" y="288">([^<]+)</text>', page)
    assert [label for _, label in ticks] == ["0", "100", "200", "300", "400", "500 pages"]
    facts = facts_of([step(n) for n in range(1, 103)])
    ticks = re.findall(r'<text class="tick (?:mid|end)" x="([\d.]+)" y="288">([^<]+)</text>', render(facts))
    assert [label for _, label in ticks] == ["0", "20", "40", "60", "80", "102 pages"]


def test_each_band_has_a_swatch_of_its_colour() -> None:
    page = render(facts_of([step(n) for n in range(1, 30)]))
    assert '<i class="se overall"></i><i class="se recent"></i>± 1 standard error' in page
    assert ".legend .se { height: 10px; opacity" in page, "the colour is that of the curve"


def test_the_curve_of_a_long_crawl_is_thinned() -> None:
    facts = facts_of([step(n, similarity=n % 2) for n in range(1, 20_000)])
    assert 400 <= len(facts.figures.curve) < 1600
    assert facts.figures.curve[-1].harvest == pytest.approx(0.5, abs=0.01)
    assert facts.figures.harvest_recent == 0.5


def test_a_pause_between_two_runs_is_not_slow_crawling() -> None:
    facts = facts_of([step(1), step(2), Lost(3, Url("http://x.test/"), None, "", 0, 0, 0, 0, 1e6, "timeout", "")])
    assert facts.busy == 1.0


def test_facts_have_hosts_failures_and_the_reason_for_the_end(tmp_path: Path) -> None:
    with CrawlFolder.look(small_crawl(tmp_path / "crawl")) as opened:
        facts = gather(opened)
    assert facts.figures.pages == 4
    assert facts.figures.misses == {"http-404": 1}
    assert {name: (host.pages, host.misses) for name, host in facts.hosts.items()} == {
        "c.test": (2, 0),
        "a.test": (1, 0),
        "b.test": (1, 0),
        "d.test": (0, 1),
    }
    assert facts.ended == "frontier empty"
    assert facts.best[0].similarity >= facts.best[-1].similarity
    json.dumps(facts.as_plain(), allow_nan=False)


# ---- explain


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("explain") / "crawl", not_hosts=["e.test"], pages=3)


def explained(folder: Path, url: str) -> tuple[str, str, list[str]]:
    with CrawlFolder.look(folder) as opened:
        explanation = explain(opened, url)
    json.dumps(explanation.as_plain(), allow_nan=False)
    return explanation.state, explanation.why, [str(hop.url) for hop in explanation.path]


def test_a_crawled_page_is_explained_by_its_path_from_a_seed(crawled: Path) -> None:
    state, _, path = explained(crawled, "http://b.test/one.html")
    assert (state, path) == ("crawled", ["http://a.test/", "http://b.test/one.html"])


def test_a_waiting_page_is_explained_by_its_score(crawled: Path) -> None:
    state, why, path = explained(crawled, "http://c.test/three")
    assert state == "waiting"
    assert "score" in why
    assert path == ["http://a.test/", "http://c.test/two"]


def test_a_dead_page_is_explained_by_its_reason(tmp_path: Path) -> None:
    state, why, path = explained(small_crawl(tmp_path / "crawl"), "http://d.test/gone")
    assert (state, path) == ("dead", ["http://a.test/", "http://b.test/one.html"])
    assert "not found (404)" in why


def test_a_page_out_of_scope_is_refused(crawled: Path) -> None:
    assert explained(crawled, "http://e.test/")[:2] == (
        "refused",
        "never requested: it is out of scope (hosts, domains or paths)",
    )


def test_an_unknown_page_is_answered_with_near_ones(crawled: Path) -> None:
    with CrawlFolder.look(crawled) as opened:
        explanation = explain(opened, "http://b.test/one.htm")
    assert (explanation.state, explanation.near) == ("unknown", ["http://b.test/one.html"])


# ---- snippets, stored copies, tables that are sorted


def test_the_best_pages_have_a_snippet_and_a_stored_copy(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with CrawlFolder.look(folder) as opened:
        page = write_report(opened).read_text(encoding="utf-8")
    copies = re.findall(r'href="(copies/page-\d+\.html)"', page)
    assert len(copies) == 4
    assert "<mark>balloon</mark>" in page
    for copy in copies:
        stored = (folder / copy).read_text(encoding="utf-8")
        assert "Stored copy, text only" in stored
        assert "script-src" not in stored
        assert "default-src 'none'" in stored
    assert any("hot air balloons fly" in (folder / copy).read_text(encoding="utf-8") for copy in copies)


def test_copies_of_hostile_pages_are_text(tmp_path: Path) -> None:
    evil = "</p><script>alert(1)</script><img src=x onerror=alert(1)>"
    web = {"http://a.test/": (evil, f"hot air balloons {evil}", ["http://b.test/?q=<script>"])}
    folder = small_crawl(tmp_path / "crawl", web)
    with CrawlFolder.look(folder) as opened:
        page = write_report(opened).read_text(encoding="utf-8")
    (copy,) = (folder / "copies").iterdir()
    for document in (page, copy.read_text(encoding="utf-8")):
        assert "<script" not in document
        assert "<img" not in document


def test_copies_are_not_written_through_a_link(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    (tmp_path / "elsewhere").mkdir()
    (folder / "copies").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScenthoundError):
        CrawlFolder.look(folder)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_old_copies_are_removed_when_the_report_is_written_again(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    (folder / "copies").mkdir()
    (folder / "copies" / "page-999999.html").write_text("old")
    with CrawlFolder.look(folder) as opened:
        write_report(opened)
    assert not (folder / "copies" / "page-999999.html").exists()


def test_relevant_hosts_come_first_and_every_column_sorts() -> None:
    facts = CrawlFacts(CrawlRequest(Topic("bees"), ("http://a.test/",)))
    facts.hosts = {"many.test": HostFacts(50, 0), "good.test": HostFacts(5, 5), "mixed.test": HostFacts(9, 2)}
    page = render(facts)
    assert page.index("good.test") < page.index("mixed.test") < page.index("many.test")
    row = next(line for line in page.splitlines() if "many.test" in line)
    ranks = dict(re.findall(r"--s(\d):(\d)", row))
    assert ranks["2"] == "3"  # by relevant pages it is last
    assert ranks["3"] == "1"  # by pages it is first
    assert page.count('type="radio" name="hosts"') == 6
    assert "<script" not in page
