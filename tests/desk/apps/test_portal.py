"""A portal: its pages, categories, citations, search files, and what happens when it is built again."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.apps.portal import build_portal
from scenthound.desk.apps.portal.citations import Paper, Papers
from scenthound.desk.apps.portal.naming import name_groups, title_terms
from scenthound.desk.apps.portal.page_metadata import extract_metadata
from scenthound.desk.apps.portal.page_vectors import clusters, make_vectors, most_similar, term_counts
from scenthound.desk.apps.portal.search_files import shard_of
from scenthound.errors import BadConfig
from scenthound.loop.settings import Settings
from scenthound.model import Response
from scenthound.wiring import begin, resume
from support.pdf_files import paper

HOME = "http://a.test/"
BURNER = " ".join(["burner propane flame valve pilot heat"] * 4)
BASKET = " ".join(["basket wicker willow weaving passengers floor"] * 4)
WEB = {
    HOME: '<title>Home</title><p>hot air balloons</p><a href="/b1">b</a><a href="/k1">k</a>'
    '<a href="/b2">b</a><a href="/k2">k</a><a href="/evil">e</a>',
    "http://a.test/b1": "<title>Burners of hot air balloons explained</title>"
    '<script type="application/ld+json">{"@graph": [{"author": [{"name": "Ada Flame"}, "Bo Heat"],'
    f' "datePublished": "2001-05-06T10:00Z"}}]}}</script><p>balloons {BURNER}</p><a href="/b2">two</a>',
    "http://a.test/b2": f'<title>Burner care</title><meta name="author" content="Cy Valve"><p>balloons {BURNER}</p>'
    "<h2>References</h2><ol><li>Flame, A. and Heat, B.: Burners of hot air balloons explained. 2001.</li>"
    "<li>Nobody: A paper that nobody has collected yet. 1999.</li></ol>",
    "http://a.test/k1": f'<title>Wicker</title><p>balloons {BASKET}</p><time datetime="2010-02-03">then</time>',
    "http://a.test/k2": f"<title>Willow</title><p>balloons {BASKET}</p>",
    "http://a.test/evil": '<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><meta name="author" '
    'content="&lt;img src=x onerror=alert(2)&gt;"><p>balloons &lt;b onclick=x&gt; text</p>',
}


class Pages:
    async def fetch(self, url: str) -> Response:
        html = WEB.get(url)
        status = 404 if html is None else 200
        return Response(url, status, "", (("Content-Type", "text/html; charset=utf-8"),), (html or "").encode())


def crawled(out: Path, pages: int = 6) -> Path:
    settings = Settings(delay=0.0, robots=False, retries=0, pages=pages)
    if out.exists():
        session = resume(out, pages=pages, fetcher=Pages())
    else:
        session = begin("hot air balloons", [HOME], out, strategy="breadth-first", settings=settings, fetcher=Pages())
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawled(tmp_path_factory.mktemp("portal") / "crawl")


def numbers(site: Path) -> dict[str, int]:
    """The number of each page, by its address."""
    listed = {}
    for file in site.glob("search/pages-*.json"):
        listed |= {facts[1]: int(n) for n, facts in json.loads(file.read_text(encoding="utf-8")).items()}
    return listed


def page(site: Path, url: str) -> str:
    return (site / "p" / f"{numbers(site)[url]}.html").read_text(encoding="utf-8")


def test_a_page_has_its_authors_date_text_and_citations(folder: Path, tmp_path: Path) -> None:
    made = build_portal(folder, tmp_path / "site")
    site, n = tmp_path / "site", numbers(tmp_path / "site")
    assert made.pages == len(n) == 6
    burners = page(site, "http://a.test/b1")
    assert "By Ada Flame, Bo Heat" in burners
    assert '<time datetime="2001-05-06">' in burners
    assert "propane flame valve" in burners
    assert '<time datetime="2010-02-03">' in page(site, "http://a.test/k1")
    care = page(site, "http://a.test/b2")
    cites = care.split("<h2>Cites</h2>")[1].split("</section>")[0]
    assert f'href="../p/{n["http://a.test/b1"]}.html"' in cites
    assert "in its references" in cites
    cited_by = burners.split("<h2>Cited by</h2>")[1].split("</section>")[0]
    assert f"p/{n['http://a.test/b2']}.html" in cited_by
    assert f"p/{n[HOME]}.html" in cited_by, "a link of the crawl is a citation too"
    assert made.references == 1


def test_pages_alike_are_related_and_in_one_category(folder: Path, tmp_path: Path) -> None:
    made = build_portal(folder, tmp_path / "site", clusters=2)
    n = numbers(tmp_path / "site")
    related_to = page(tmp_path / "site", "http://a.test/k1").split("<h2>Related</h2>")[1]
    assert f"p/{n['http://a.test/k2']}.html" in related_to
    assert f"p/{n['http://a.test/b1']}.html" not in related_to
    names = [name.lower() for name, _ in made.categories]
    assert any("burner" in name or "flame" in name or "heat" in name for name in names)
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert home.count("<section>") == len(made.categories)


def test_text_from_the_web_never_becomes_markup(folder: Path, tmp_path: Path) -> None:
    build_portal(folder, tmp_path / "site")
    for file in (tmp_path / "site").rglob("*.html"):
        html = file.read_text(encoding="utf-8")
        assert "<script>" not in html, file
        assert "<img" not in html, file
        assert "<b onclick" not in html, file
        assert "script-src 'self'" in html
    assert "&lt;script&gt;alert(1)" in page(tmp_path / "site", "http://a.test/evil")


def test_the_search_files_name_the_pages_of_a_word(folder: Path, tmp_path: Path) -> None:
    build_portal(folder, tmp_path / "site")
    n = numbers(tmp_path / "site")
    shard = json.loads((tmp_path / "site" / "search" / f"words-{shard_of('wicker')}.json").read_text())
    listed, found, last = shard["wicker"], set(), 0
    for delta, weight in zip(listed[::2], listed[1::2], strict=True):
        last += delta
        found.add(last)
        assert 1 <= weight <= 22
    assert found == {n["http://a.test/k1"], n["http://a.test/k2"]}
    about = json.loads((tmp_path / "site" / "search" / "about.json").read_text())
    assert about["pages"] == 6
    assert "the" in about["stop"]


def test_building_again_writes_only_what_has_changed(tmp_path: Path) -> None:
    crawl = crawled(tmp_path / "crawl", pages=4)
    first = build_portal(crawl)
    assert first.written == first.files
    again = build_portal(crawl)
    assert (again.written, again.removed, again.new) == (0, 0, 0)
    crawled(tmp_path / "crawl", pages=6)
    more = build_portal(crawl)
    assert more.new == 2
    assert more.pages == 6
    assert 0 < more.written < more.files
    assert sum(pages for _, pages in more.categories) == 6


def test_names_that_people_give_are_kept(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    before = build_portal(folder, site, clusters=2)
    file = site / "categories.toml"
    old = before.categories[0][0]
    file.write_text(file.read_text(encoding="utf-8").replace(f'"{old}"', '"My <own> name"'), encoding="utf-8")
    after = build_portal(folder, site)
    assert ("My <own> name", before.categories[0][1]) in after.categories
    assert "My &lt;own&gt; name" in (site / "index.html").read_text(encoding="utf-8")
    build_portal(folder, site, clusters=3)
    assert (site / "categories.toml.old-1").exists(), "a person's work is never overwritten"


def test_files_of_pages_that_are_gone_are_removed_and_no_others(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_portal(folder, site, clusters=3)
    (tmp_path / "mine.txt").write_text("mine")
    state = site / ".portal" / "files.json"
    plain = json.loads(state.read_text())
    plain["files"] += ["p/99.html", "../mine.txt", "categories.toml"]
    state.write_text(json.dumps(plain))
    (site / "p" / "99.html").write_text("old")
    assert build_portal(folder, site).removed == 1
    assert not (site / "p" / "99.html").exists()
    assert (tmp_path / "mine.txt").exists()
    assert (site / "categories.toml").exists()


def test_a_taxonomy_sorts_the_pages(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(
        '[[category]]\nname = "Parts"\n'
        '[[category]]\nname = "Fire"\nparent = "Parts"\nexamples = ["http://a.test/b1"]\n'
        '[[category]]\nname = "Wicker work"\nparent = "Parts"\nexamples = ["http://a.test/k1"]\n'
        '[[category]]\nname = "Anything"\ntext = "home page of a club with its festivals, members, meetings and news"\n'
    )
    build_portal(folder, tmp_path / "site", taxonomy=file)
    listed = json.loads((tmp_path / "site" / "search" / "pages-0.json").read_text(encoding="utf-8"))
    category = {url: name for _, url, name, _ in listed.values()}
    assert category["http://a.test/b2"] == "Fire", "learned from the other page on burners"
    assert category["http://a.test/k2"] == "Wicker work"
    assert "Fire" in (tmp_path / "site" / "c" / "parts.html").read_text(encoding="utf-8")
    as_json = tmp_path / "kinds.json"
    as_json.write_text(
        json.dumps({"category": [{"name": "Fire", "text": "burner"}, {"name": "Wood", "text": "wicker"}]})
    )
    assert len(build_portal(folder, tmp_path / "other", taxonomy=as_json).categories) >= 2


BAD_TAXONOMIES = {
    '[[category]]\nname = "a"\nparent = "b"\ntext = "x"\n[[category]]\nname = "b"\nparent = "a"\ntext = "y"': "cycle",
    '[[category]]\nname = "a"\nparent = "c"\ntext = "burner"': "not in the file",
    '[[category]]\nname = "a"\ntext = "burner"': "fewer than two",
    '[[category]]\nname = "a"\n[[category]]\nname = "b"\ntext = "burner"': "nothing can be learned",
    '[[category]]\nname = "a"\nexamples = ["http://x.test/"]\n[[category]]\nname = "b"\ntext = "y"': "not a page of",
    '[[category]]\nname = "a"\n[[category]]\nname = "a"': "two categories called",
    "[[category]]\nname = 3": "no name",
    "category = 1": "no categories",
    "[[": "can't be read",
}


@pytest.mark.parametrize(("text", "said"), BAD_TAXONOMIES.items(), ids=BAD_TAXONOMIES.values())
def test_a_taxonomy_that_cannot_be_used_says_why(folder: Path, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(text)
    with pytest.raises(BadConfig, match=said) as caught:
        build_portal(folder, tmp_path / "site", taxonomy=file)
    assert caught.value.hint


def test_what_is_not_a_crawl_or_has_no_pages_or_is_taken_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadConfig, match="not a crawl"):
        build_portal(tmp_path / "empty")
    session = begin("balloons", [HOME], tmp_path / "none", settings=Settings(robots=False), fetcher=Pages())
    session.close()
    with pytest.raises(BadConfig, match="no pages yet"):
        build_portal(tmp_path / "none")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("mine")
    with pytest.raises(BadConfig, match="is not a portal"):
        build_portal(folder, tmp_path / "taken")
    build_portal(folder, tmp_path / "site")
    other = crawled(tmp_path / "other", pages=2)
    state = tmp_path / "site" / ".portal" / "files.json"
    state.write_text(state.read_text().replace('"started": "', '"started": "x'))
    with pytest.raises(BadConfig, match="another crawl"):
        build_portal(other, tmp_path / "site")


def test_the_command_prints_figures(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["portal", str(folder), "--out", str(tmp_path / "site"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["pages"] == 6
    assert said["search_bytes"] > 0
    assert run(["portal", str(folder), "--clusters", "2", "--taxonomy", "x.toml"]) == 2
    assert run(["portal", str(folder), "--out", str(tmp_path / "site"), "--clusters", "0"]) == 2


def test_what_a_page_states_is_read_in_order_and_never_fails() -> None:
    both = '<meta name="author" content="Meta"><script type="application/ld+json">{"author": {"name": "Json"}}</script>'
    assert extract_metadata(both).authors == ("Json",)
    assert extract_metadata('<meta name="author" content="http://x.test/me">').authors == ()
    assert extract_metadata('<meta name="citation_date" content="2004/7"><time datetime="1999">').date == "2004-07"
    for bad in ("{", "[[[[", '{"author": 3, "@graph": 4}', "null", '"x"'):
        assert extract_metadata(f'<script type="application/ld+json">{bad}</script>').authors == ()


def test_a_reference_is_joined_only_if_it_is_certain() -> None:
    papers = Papers(
        {
            1: Paper("Adaptive retrieval agents on the web", ("Filippo Menczer",), "2000"),
            2: Paper("Focused crawling made easy here", (), ""),
            3: Paper("The same title of two papers", ("Ann One",), "1990"),
            4: Paper("The same title of two papers", ("Bob Two",), "1991"),
            5: Paper("Too short", ("Ann One",), "1990"),
        }
    )
    assert papers.cited_in(["F. Menczer. Adaptive Retrieval Agents on the Web. J. of X"]) == [1]
    assert papers.cited_in(["Anonymous: Adaptive retrieval agents on the web, 2000"]) == [1]
    assert papers.cited_in(["Anonymous: Adaptive retrieval agents on the web"]) == [], "no second sign"
    assert papers.cited_in(["Focused crawling made easy here. 1999"]) == [], "the page states neither"
    assert papers.cited_in(["B. Two: The same title of two papers"]) == [4]
    assert papers.cited_in(["One, Two: The same title of two papers"]) == [], "two are possible"
    assert papers.cited_in(["Ann One: Too short. 1990"]) == []
    assert papers.cited_in(["Menczer, F.: Adaptive retrieval agents on the web. 2000"]) == [1]
    assert papers.cited_in(["F. Menczer (2000). Ada­ptive re-trieval agents on the Web."]) == [1], "letters alone count"
    longer = "Adaptive retrieval agents on the web of things"
    assert papers.cited_in([f"F. Menczer. {longer}. 2000"]) == [], "part of a longer title"
    assert papers.cited_in(["F. Menczer. arachnid: Adaptive retrieval agents on the web. R package, 2000"]) == []


def test_groups_are_the_same_each_time_and_tell_subjects_apart() -> None:
    texts = [
        BURNER,
        BURNER + " roof",
        BASKET,
        BASKET + " roof",
        "balloon festival crowd " * 3,
        "festival crowd tents " * 3,
    ]
    vectors = make_vectors([term_counts("", text) for text in texts])
    found = clusters(vectors.rows, 3)
    assert found == clusters(vectors.rows, 3)
    tops = {max(group.centroid, key=lambda term: group.centroid[term]) for group in found}
    assert len(tops) == 3
    assert sorted(place for group in found for place in group.members) == list(range(len(texts)))
    assert most_similar(vectors.rows)[0][0] == 1
    assert clusters([{}, {}], 2) == []


def test_a_group_is_named_by_the_words_that_tell_it_from_others_and_no_word_twice() -> None:
    texts = [
        "balloon fibre fiber wool roof",
        "balloon fibre fiber wool wall",
        "balloon gas burner roof",
        "balloon gas burner wall",
    ]
    pages = [("a.test", f"{title} - Crew House") for title in ("Wool", "Wool again", "Gas", "More gas")]
    vectors = make_vectors([term_counts(title, text) for (_, title), text in zip(pages, texts, strict=True)])
    found = name_groups(clusters(vectors.rows, 2), vectors, title_terms(pages), {"balloon"})
    assert sorted(name.split(", ")[0] for name in found) == ["Gas", "Wool"]
    assert not any("balloon" in name.lower() or "crew" in name.lower() for name in found)
    assert not any("fibre" in name and "fiber" in name for name in found)


class PdfPages:
    """A page that links to two papers in PDF, of which the second cites the first."""

    async def fetch(self, url: str, most: int | None = None) -> Response:
        first = paper("Why balloons of hot air rise", "Ada Flame")
        second = paper(
            "Baskets made of willow", "Bo Wicker", [["Flame A (1999). Why balloons of hot air", "rise. CACM."]]
        )
        content = {"/1.pdf": first, "/2.pdf": second}.get(url.removeprefix("http://a.test"))
        if content is not None:
            return Response(url, 200, "", (("Content-Type", "application/pdf"),), content)
        html = b"<title>Home</title><p>balloons</p><a href=/1.pdf>one</a><a href=/2.pdf>two</a>"
        return Response(url, 200, "", (("Content-Type", "text/html"),), html)


def test_papers_in_pdf_have_title_authors_text_and_citations(tmp_path: Path) -> None:
    settings = Settings(delay=0.0, robots=False, retries=0, pages=3, pdf=True)
    session = begin("hot air balloons", [HOME], tmp_path / "crawl", settings=settings, fetcher=PdfPages())
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    made = build_portal(tmp_path / "crawl")
    assert (made.pages, made.references) == (3, 1)
    pages = [file.read_text() for file in (made.path / "p").iterdir()]
    citing = next(page for page in pages if "<h1>Baskets made of willow</h1>" in page)
    assert "By Bo Wicker" in citing
    assert "lighter than the air around them" in citing
    assert "Why balloons of hot air rise</a> <small>in its references" in citing


# ---- a build that is killed

KILLED_AT = """
import os, signal, sys
from pathlib import Path
from scenthound.desk.apps.portal import build_portal
left, sync = int(sys.argv[3]), os.fsync
def killing(descriptor):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(descriptor)
os.fsync = killing
build_portal(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def published(site: Path) -> dict[str, bytes]:
    """The files that a web server offers."""
    files = (file for file in site.rglob("*") if file.is_file() and ".portal" not in file.relative_to(site).parts)
    return {str(file.relative_to(site)): file.read_bytes() for file in files}


def test_a_killed_build_leaves_nothing_half_written_in_the_published_folder(tmp_path: Path) -> None:
    folder, site, whole = crawled(tmp_path / "crawl", pages=3), tmp_path / "site", tmp_path / "whole"
    build_portal(folder, site)
    old = published(site)
    shutil.copytree(site, whole)
    crawled(folder, pages=6)
    build_portal(folder, whole)
    new = published(whole)
    for sync in (1, 2, 3, 5, 8, 13, 21):
        words = [sys.executable, "-c", KILLED_AT, str(folder), str(site), str(sync)]
        killed = subprocess.run(words, capture_output=True, text=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        now = published(site)
        assert not [name for name in now if name.endswith(".part")]
        assert all(content in (old.get(name), new.get(name)) for name, content in now.items())
    (site / "p" / ".1.html.0123abcd.part").write_text("left by an older version")
    build_portal(folder, site)
    assert not [file for file in site.rglob("*") if file.name.endswith(".part")]
    assert not (site / ".portal" / "new").exists()
    assert published(site) == new
