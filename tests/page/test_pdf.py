"""PDF files as pages: the parts of a paper that are read, and hostile files."""

from __future__ import annotations

import asyncio
import resource
import time
from pathlib import Path

import pytest

from scenthound.errors import BadUsage
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Miss, Response, Url
from scenthound.page import pdf, read_pdf
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.pdf import as_html
from scenthound.page.read import PageLimits
from scenthound.page.read_pdf import PdfPaper, read_lines, read_paper
from scenthound.ports import Failure
from scenthound.search.indexing import index_folder
from scenthound.store.text_index import INDEX, TextIndex
from scenthound.wiring import begin
from support.pdf_files import Placed, paper, pdf_file, stream, whole

WANTED = PageLimits(pdf=True)
REFERENCES = [
    ["Flame A, Heat B (2001). Burners of hot air bal-", "loons explained. Journal of Hot Air, 3, 1-20."],
    ["Wicker C (1999). Willow and the making of baskets."],
]
BALLOONS = paper("Why balloons of hot air rise", "Ada Flame and Bo Heat", REFERENCES)


def reply(content: bytes, url: str = "http://a.test/p.pdf", **more: str) -> Response:
    return Response(url, 200, "OK", (("Content-Type", "application/pdf"), *more.items()), content)


def read(content: bytes) -> PdfPaper:
    return read_paper(read_lines(content, 10))


def test_title_authors_and_references_of_a_paper_are_found() -> None:
    made = read(BALLOONS)
    assert made.title == "Why balloons of hot air rise"
    assert made.authors == ["Ada Flame", "Bo Heat"]
    assert made.references == [
        "Flame A, Heat B (2001). Burners of hot air balloons explained. Journal of Hot Air, 3, 1-20.",
        "Wicker C (1999). Willow and the making of baskets.",
    ]
    assert "Balloons rise because hot air is lighter than the air around them." in made.paragraphs


def test_the_title_in_the_metadata_counts_only_if_the_first_page_has_it() -> None:
    right = paper("Why balloons of hot air rise", "Ada Flame", info={"Title": "Why Balloons of Hot Air Rise"})
    assert read(right).title == "Why Balloons of Hot Air Rise"
    wrong = paper("Why balloons of hot air rise", "Ada Flame", info={"Title": "Microsoft Word - draft7.doc"})
    assert read(wrong).title == "Why balloons of hot air rise"


def test_references_in_two_columns_are_separated() -> None:
    left: list[Placed] = [(50, 700, 14, "References"), (50, 680, 10, "Aho A (1975). Efficient string")]
    left += [(60, 668, 10, "matching. CACM."), (50, 656, 10, "Bloom B (1970). Space and time")]
    right: list[Placed] = [
        (310, 700, 10, "trade-offs in hash coding."),
        (300, 688, 10, "Codd E (1970). A relational model."),
    ]
    right += [
        (310, 676, 10, "of data."),
        (300, 664, 10, "Dijkstra E (1968). Go to statement."),
        (310, 652, 10, "CACM."),
    ]
    assert read(pdf_file([[*left, *right]])).references == [
        "Aho A (1975). Efficient string matching. CACM.",
        "Bloom B (1970). Space and time trade-offs in hash coding.",
        "Codd E (1970). A relational model. of data.",
        "Dijkstra E (1968). Go to statement. CACM.",
    ]


def test_numbered_references_need_no_indent() -> None:
    lines: list[Placed] = [
        (50, 700, 14, "7 References"),
        (50, 680, 10, "[1] A. Aho. Efficient string matching."),
        (50, 668, 10, "CACM, 1975."),
    ]
    lines += [
        (50, 656, 10, "[2] B. Bloom. Space and time, 1970."),
        (50, 600, 14, "A Appendix"),
        (50, 580, 10, "[3] No reference, 1999 at all"),
    ]
    assert read(pdf_file([lines])).references == [
        "[1] A. Aho. Efficient string matching. CACM, 1975.",
        "[2] B. Bloom. Space and time, 1970.",
    ]


def test_page_numbers_and_running_heads_do_not_get_into_references() -> None:
    first: list[Placed] = [
        (50, 120, 14, "References"),
        (50, 100, 10, "Aho A (1975). Efficient string"),
        (50, 30, 10, "17"),
    ]
    second: list[Placed] = [
        (50, 780, 10, "A short history of balloons"),
        (62, 740, 10, "matching. CACM."),
        (50, 728, 10, "Bloom B (1970). Hash coding."),
        (62, 716, 10, "CACM."),
    ]
    assert read(pdf_file([first, second])).references == [
        "Aho A (1975). Efficient string matching. CACM.",
        "Bloom B (1970). Hash coding. CACM.",
    ]


def test_a_pdf_file_is_a_page_only_with_the_setting() -> None:
    candidate = Candidate(Url("http://a.test/p.pdf"), 1.0)
    refused = land(candidate, reply(BALLOONS))
    assert isinstance(refused, Miss)
    assert (refused.reason, refused.detail) == ("not-html", "application/pdf")
    page = land(candidate, reply(BALLOONS), WANTED)
    assert isinstance(page, Page)
    assert page.title == "Why balloons of hot air rise"
    assert "lighter than the air" in page.text


def test_links_of_a_pdf_file_can_be_followed_and_x_robots_tag_is_obeyed() -> None:
    candidate, content = (
        Candidate(Url("http://a.test/p.pdf"), 1.0),
        pdf_file([[(80, 700, 10, "see there")]], link="http://b.test/"),
    )
    page = land(candidate, reply(content), WANTED)
    assert isinstance(page, Page)
    assert [link.url for link in page.links] == ["http://b.test/"]
    silent = land(candidate, reply(content, **{"X-Robots-Tag": "noindex, nofollow"}), WANTED)
    assert isinstance(silent, Page)
    assert silent.record.noindex
    assert not silent.outlinks


def test_markup_in_a_pdf_file_stays_text() -> None:
    shown = as_html(reply(paper("A <script>alert(1)</script> title", "Ada Flame")), WANTED)
    assert isinstance(shown, Response)
    assert b"<script>" not in shown.body


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"%PDF-1.4\nnothing",
        BALLOONS[:300],
        whole([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"]),
    ],
    ids=["empty", "no-objects", "cut-off", "pages-that-contain-themselves"],
)
def test_a_broken_file_is_a_miss_that_says_why(content: bytes) -> None:
    shown = as_html(reply(content), WANTED)
    if isinstance(shown, Failure):
        assert shown.reason == pdf.NOT_READ
        assert shown.detail
    else:
        assert b"lighter" not in shown.body  # pypdf could make something of it, and did no harm


def test_a_bomb_ends_its_own_process_and_nothing_else() -> None:
    bomb = stream(b"(x) Tj\n" * 60_000_000)  # 420 MB from 400 kB
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    content = whole([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, bomb])
    assert len(content) < 2_000_000
    started = time.monotonic()
    shown = as_html(reply(content), WANTED)
    assert time.monotonic() - started < pdf.SECONDS + 30
    assert isinstance(shown, Failure) or len(shown.body) < 10_000_000


CATALOG, NO_PAGES = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"
EMPTY = whole([CATALOG, NO_PAGES])
FORM = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >> /Length 60 >>\n"
BOMBS = {
    "two thousand million pages": whole([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>", b"<< >>"]),
    "a tree of 50,000 levels": whole(
        [CATALOG, *(b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (n + 3) for n in range(50_000))]
    ),
    "a table that leads to itself": EMPTY.replace(b"/Root", b"/Prev %d /Root" % EMPTY.index(b"xref\n0")),
    "a table of a thousand million entries": EMPTY.replace(b"xref\n0 3", b"xref\n0 999999999"),
    "forms that each draw the next ten times": whole(
        [
            CATALOG,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
            stream(b"/X Do " * 10),
            *(FORM % (n + 6) + b"stream\n" + b"/X Do " * 10 + b"\nendstream" for n in range(30)),
        ]
    ),
}


@pytest.mark.parametrize("content", BOMBS.values(), ids=BOMBS)
def test_every_bomb_stays_within_the_limits(content: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    shown = as_html(reply(content), WANTED)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < read_pdf.HARD_SECONDS + 1
    assert isinstance(shown, Failure) or len(shown.body) < 1_000_000


def test_a_truncated_file_is_not_read() -> None:
    cut = Response(
        "http://a.test/p.pdf", 200, "OK", (("Content-Type", "application/pdf"),), BALLOONS, truncated="length"
    )
    shown = as_html(cut, WANTED)
    assert isinstance(shown, Failure)
    assert "only its first" in shown.detail


def test_without_the_extra_a_crawl_that_wants_pdf_files_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadUsage, match="pypdf") as caught:
        begin("balloons", ["http://a.test/"], tmp_path / "crawl", settings=Settings(pdf=True))
    assert "scenthound[pdf]" in caught.value.hint
    assert not (tmp_path / "crawl").exists()


class Site:
    """A page that links to a PDF file and to one that can't be read."""

    async def fetch(self, url: str, most: int | None = None) -> Response:
        if url.endswith("good.pdf"):
            return reply(BALLOONS, url)
        if url.endswith("bad.pdf"):
            return reply(b"%PDF-1.4\nnothing", url)
        html = b"<title>Home</title><p>balloons</p><a href=/good.pdf>hot air</a><a href=/bad.pdf>bad</a>"
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), html)


def test_a_crawl_stores_pdf_files_and_their_text_can_be_searched(tmp_path: Path) -> None:
    settings = Settings(pdf=True, delay=0.0, robots=False, retries=0, pages=5)
    session = begin("hot air balloons", ["http://a.test/"], tmp_path / "crawl", settings=settings, fetcher=Site())
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        pages = {page.url: page for page in folder.pages()}
        assert set(pages) == {"http://a.test/", "http://a.test/good.pdf"}
        stored = pages[Url("http://a.test/good.pdf")]
        assert stored.content == BALLOONS  # the archive has the file itself
        assert stored.title == "Why balloons of hot air rise"
        assert "lighter than the air" in stored.text
        assert "<li>Wicker C (1999)." in stored.html
        assert folder.history.reasons() == {pdf.NOT_READ: 1}
    index_folder(tmp_path / "crawl")
    with TextIndex(tmp_path / "crawl" / INDEX) as index:
        assert len(index) == 2
