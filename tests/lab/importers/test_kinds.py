"""Imports of HTML folders, crawl folders and ODP dumps."""

from __future__ import annotations

import doctest
import gzip
import os
from pathlib import Path

import pytest

from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.importers import html as html_importer
from scenthound.lab.importers import import_bed
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Candidate, Response, Step, Topic, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.store.warc_repository import files_of
from scenthound.topic_list import BedTopic
from scenthound.url import make


def bodies(bed: Path) -> dict[str, str]:
    return {response.url: response.body.decode("utf-8", "replace") for response in Bed.open(bed).responses()}


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- a folder of HTML --------------------------------------------------------------------------


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(html_importer).failed == 0


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "My Site"
    (folder / "docs").mkdir(parents=True)
    (folder / "index.html").write_bytes(
        b'<meta charset=iso-8859-1><title>caf\xe9</title><a href="docs">d</a> <a href="a b%25.html">x</a>'
        b'<a href="docs/gr\xfc\xdfe.htm">y</a> <a href="page">z</a>'
    )
    (folder / "index.htm").write_text("<p>the other index")
    (folder / "a b%.html").write_text("<p>odd")
    (folder / "docs" / "index.html").write_text('<a href="../">up</a>')
    (folder / "docs" / "grüße.htm").write_text("<p>hello")
    (folder / "page").write_text("<!doctype html><p>no suffix")
    (folder / "style.css").write_text("p {}")
    return folder


def test_files_become_pages_whose_links_lead_to_each_other(tmp_path: Path, site: Path) -> None:
    report = import_bed("html", site, tmp_path / "bed", {"base": "http://name.test/sub"})
    bed = Bed.open(tmp_path / "bed")
    assert set(bed.index()) == {
        "http://name.test/sub/",
        "http://name.test/sub/a%20b%25.html",
        "http://name.test/sub/page",
        "http://name.test/sub/docs",
        "http://name.test/sub/docs/",
        "http://name.test/sub/docs/gr%C3%BC%C3%9Fe.htm",
    }
    assert (report.pages, report.redirects) == (5, 1)
    home = bed.get(make("http://name.test/sub/"))
    assert home is not None
    landed = land(Candidate(make(home.url), 0.0), home)
    assert isinstance(landed, Page)
    assert landed.title == "café"
    assert [link.url in bed for link in landed.links] == [True] * 4
    assert set(report.problems) == {
        "1 skipped, a second record of a URL: http://name.test/sub/index.htm",
        f"1 skipped, not HTML (.css): {site}/style.css",
    }


def test_symbolic_links_do_not_lead_out_of_the_folder(tmp_path: Path, site: Path) -> None:
    (tmp_path / "secret.html").write_text("<p>secret")
    (site / "out.html").symlink_to(tmp_path / "secret.html")
    (site / "up").symlink_to(tmp_path)
    (site / "round.html").symlink_to(site / "round.html")
    (site / "in.html").symlink_to(site / "page")
    os.mkfifo(site / "pipe.html")
    report = import_bed("html", site, tmp_path / "bed", {"largest": "1 kB"})
    pages = bodies(tmp_path / "bed")
    assert "<p>secret" not in pages.values()
    assert pages["http://my-site.test/in.html"] == "<!doctype html><p>no suffix"
    text = "\n".join(report.problems)
    assert "2 skipped, symbolic links to folders or out of the source" in text
    assert "1 skipped, not a regular file" in text
    assert "1 skipped, files that can't be read" in text


def test_file_names_that_are_not_utf_8_become_urls(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff#?.html"))).write_text("<p>odd")
    import_bed("html", folder, tmp_path / "bed")
    assert list(Bed.open(tmp_path / "bed").index()) == ["http://site.test/%FF%23%3F.html"]


@pytest.mark.parametrize("base", ["ftp://x/", "nonsense", "http://x.test/?q=1"])
def test_an_invalid_base_is_refused(tmp_path: Path, site: Path, base: str) -> None:
    with pytest.raises(BadConfig, match="base"):
        import_bed("html", site, tmp_path / "bed", {"base": base})


# --- a crawl folder ---------------------------------------------------------------------------


def step(n: int, url: str, similarity: float, requested: str | None = None) -> Step:
    first = None if requested is None else make(requested)
    return Step(
        n,
        make(url),
        None,
        "",
        1.0,
        {},
        similarity,
        0,
        200,
        10,
        0.0,
        f"title {n}",
        requested=first,
        relevance=similarity,
        relevant=similarity >= 0.2,
    )


def test_a_crawl_becomes_a_bed_with_its_topic(tmp_path: Path) -> None:
    request = CrawlRequest(Topic("hot air", name="Balloons"), ("http://s.test/", "http://t.test/"))
    html = (("Content-Type", "text/html"),)
    with CrawlFolder.create(tmp_path / "crawl", request) as folder:
        for n, (url, similarity) in enumerate(
            [("http://s.test/", 0.9), ("http://a.test/", 0.2), ("http://b.test/", 0.1)]
        ):
            where = folder.repository.put(Response(url, 200, "OK", html, b"<p>" + url.encode()), 0.0)
            folder.history.record(step(n + 1, url, similarity), where)
        folder.repository.put(Response("http://t.test/", 301, "Moved", (("Location", "/new"),), b""), 0.0)
        folder.repository.put(Response("http://t.test/new", 200, "OK", html, b"<p>new"), 0.0)
        folder.history.record(step(4, "http://t.test/new", 0.8, requested="http://t.test/"))
        folder.database.commit()
    report = import_bed("crawl", tmp_path / "crawl", tmp_path / "bed")
    assert (report.pages, report.redirects, report.topics, report.problems) == (4, 1, 1, ())
    bed = Bed.open(tmp_path / "bed")
    assert bed.topics == [
        BedTopic(
            "balloons",
            ("Balloons",),
            "hot air",
            "title 2",
            (Url("http://s.test/"), Url("http://t.test/")),
            (Url("http://a.test/"),),
        )
    ]
    assert "judge (topic)" in str(bed.about["origin"])
    assert files_of(tmp_path / "crawl" / "pages")


def test_a_folder_that_is_not_a_crawl_is_refused(tmp_path: Path, site: Path) -> None:
    with pytest.raises(BadConfig, match=r"crawl\.toml"):
        import_bed("crawl", site, tmp_path / "bed")


# --- an ODP dump -------------------------------------------------------------------------------


def dump_records(category: str, urls: list[str]) -> str:
    pages = "".join(
        f'<ExternalPage about="{url}"><d:Title>T{n}</d:Title><d:Description>solar words</d:Description>'
        f"<topic>{category}</topic></ExternalPage>"
        for n, url in enumerate(urls)
    )
    links = "".join(f'<link r:resource="{url}"/>' for url in urls)
    return f'<Topic r:id="{category}">{links}</Topic>{pages}'


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "content.rdf.u8.gz"
    body = dump_records("Top/Arts/Clay", [f"http://clay{n}.test/" for n in range(6)])
    body += dump_records("Top/Arts/Wool", [f"http://wool{n}.test/" for n in range(6)])
    path.write_bytes(gzip.compress(f'<RDF xmlns:r="r" xmlns:d="d">{body}</RDF>'.encode()))
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Two lists link to the clay pages 0 to 3, a gate links to the lists; there are no pages about wool."""
    html = (("Content-Type", "text/html"),)
    every = "".join(f'<a href="http://clay{n}.test/">c</a>' for n in range(4))
    texts = {f"http://clay{n}.test/": f"pot {n}" for n in range(4)}
    texts |= {"http://list1.test/": every, "http://list2.test/": every}
    texts["http://gate.test/"] = '<a href="http://list1.test/">1</a><a href="http://list2.test/">2</a>'
    responses = [Response(url, 200, "OK", html, f"<p>{text}".encode()) for url, text in texts.items()]
    write_bed(tmp_path / "web", "web", responses, [], licence="CC0", origin="made up")
    return tmp_path / "web"


def test_topics_alone_become_a_file_that_other_imports_can_use(tmp_path: Path, dump: Path) -> None:
    report = import_bed("odp", dump, tmp_path / "topics", {"rule": "exp"})
    assert (report.pages, report.topics, left(tmp_path / "topics")) == (0, 2, ["topics.jsonl"])
    html = (("Content-Type", "text/html"),)
    write_bed(tmp_path / "one", "one", [Response("http://clay1.test/", 200, "OK", html, b"<p>")], [])
    report = import_bed(
        "warc", tmp_path / "one", tmp_path / "bed", {"topics": str(tmp_path / "topics" / "topics.jsonl")}
    )
    assert report.topics == 2
    assert any(line.startswith("11 targets that are not in the bed: http://clay0.test/") for line in report.problems)


def test_only_categories_with_recorded_pages_become_topics(tmp_path: Path, dump: Path, pages: Path) -> None:
    options = {"pages": str(pages), "recorded_only": "yes", "fewest": 3}
    report = import_bed("odp", dump, tmp_path / "bed", options)
    bed = Bed.open(tmp_path / "bed")
    assert [topic.id for topic in bed.topics] == ["arts-clay"]
    assert bed.topics[0].targets == tuple(f"http://clay{n}.test/" for n in range(4))
    assert bed.topics[0].neighbours == ("http://gate.test/",)
    assert (bed.about["licence"], report.pages) == ("CC0", 7)
    assert str(bed.about["origin"]).startswith("made up. Topics of the Open Directory")


@pytest.mark.parametrize(
    ("start", "seeds"),
    [
        ("neighbours", {"http://gate.test/"}),
        ("distance", {"http://gate.test/", "http://clay4.test/", "http://clay5.test/"}),
        ("augmented", {*(f"http://clay{n}.test/" for n in range(6)), "http://list1.test/", "http://list2.test/"}),
    ],
)
def test_crawls_start_where_the_bed_leads_to_the_answers(
    tmp_path: Path, dump: Path, pages: Path, start: str, seeds: set[str]
) -> None:
    warc = next(pages.glob("*.warc.gz"))
    import_bed("odp", dump, tmp_path / "bed", {"pages": str(warc), "start": start, "distance": 3})
    topics = Bed.open(tmp_path / "bed").topics
    assert set(topics[0].seeds) == seeds
    for topic in topics:
        assert topic.targets
        assert not set(topic.examples) & set(topic.targets), "the crawler would see the answers"
        assert not topic.topic.examples


def test_bad_options_and_damaged_dumps_are_reported(tmp_path: Path, dump: Path) -> None:
    with pytest.raises(UnknownName, match="`expp`"):
        import_bed("odp", dump, tmp_path / "bed", {"rule": "expp"})
    with pytest.raises(BadConfig, match="needs the links"):
        import_bed("odp", dump, tmp_path / "bed", {"start": "distance"})
    with pytest.raises(BadConfig, match="no topic"):
        import_bed("odp", dump, tmp_path / "bed", {"rule": "biz"})
    (tmp_path / "cut.rdf.u8.gz").write_bytes(dump.read_bytes()[:-40])
    report = import_bed("odp", tmp_path / "cut.rdf.u8.gz", tmp_path / "bed", {"fewest": 2})
    assert report.topics >= 1
    assert any("(cut)" in line for line in report.problems)
