"""Prepared beds: equal to the parser's results, rebuilt when necessary, and without a way from one page to another."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import types
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from scenthound.errors import PartMissing
from scenthound.lab.beds import cache as prepared_cache
from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.prepare_bed import Cut, read_response
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.model import Candidate, Link, Miss, Moved, Response
from scenthound.page.keyword_similarity import Query
from scenthound.page.page import Page
from scenthound.page.read import read
from scenthound.page.record import EVERYTHING, Parts, Record
from scenthound.page.views import KEPT
from scenthound.page.views.anchors import (
    anchor_leaves,
    anchor_tokens,
    heading_leaves,
    link_leaves,
    term_positions,
    token_terms,
    window_counts,
)
from scenthound.page.views.elements import element_counts, element_similarities, surroundings, tag_path
from scenthound.text.term_counts import NumberedTerms
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from scenthound.url import make
from scenthound.web.html_document import parse_html
from support.long_form import long_form

SMALL = Analyser("small", stem=False)
HOME = (
    "<html><head><title>The  hive</title></head><body><div id=nav class='bar top'><ul>"
    "<li><a href='/honey'>Honey <b>cake</b></a> and tea<li><a href='/honey'>again</a></ul></div>"
    "<p>Bees\n fly to <a href='http://b.test/index.html' rel=nofollow><img alt='the meadow'></a> far\u00a0away.</p>"
    "<a href='/gone'>Crème brûlée</a><a href='/'>home</a><script>var x = 'bees'</script></body></html>"
)


def answer(url: str, body: str = "", status: int = 200, *headers: tuple[str, str]) -> Response:
    return Response(url, status, "", (("Content-Type", "text/html; charset=utf-8"), *headers), body.encode())


RESPONSES = [
    answer("http://a.test/", HOME),
    answer("http://a.test/honey", "<p>honey honey bees <a href='http://a.test/'>hive</a></p>"),
    answer("http://b.test/", "busy", 503),
    answer("http://b.test/", "<title>Meadow</title>flowers"),
    answer("http://a.test/old", "", 301, ("Location", "/honey")),
    answer("http://a.test/shut", "", 403),
    Response("http://a.test/picture", 200, "", (("Content-Type", "image/png"),), b"\x89PNG"),
    answer("http://c.test/far", "<meta name=robots content=nofollow><a href='http://a.test/'>back</a>"),
]
TOPIC = BedTopic("bees", ("bees",), "bees honey", "about bees", (make("http://a.test/"),), (make("http://b.test/"),))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(prepared_cache.VARIABLE, str(folder))
    return folder


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return write_bed(tmp_path / "bed", "tiny", RESPONSES, [TOPIC])


def fetched(bed: PreparedBed, url: str) -> Any:
    return bed.fetch(Candidate(make(url), 0.5))


def live(html: str, url: str = "http://a.test/") -> Page:
    document = parse_html(html, make(url))
    document.mark_links(nofollow=False)  # the lab follows all links
    return Page(make(url), Candidate(make(url), 0.5), read(document, make(url), EVERYTHING))


def recorded(page: Page) -> Page:
    return Page(page.url, page.candidate, Record.from_bytes(page.record.to_bytes()))


def plain(part: Any) -> Any:
    """The value with arrays and mappings as lists, which can be compared."""
    match part:
        case np.ndarray() | np.integer():
            return part.tolist()
        case Mapping():
            return [[key, plain(value)] for key, value in part.items()]
        case tuple() | list():
            return [plain(item) for item in part]
    return part


def leaf_texts(page: Page) -> list[str]:
    text, leaves = page.text, page.record.leaves
    return [text[begin:end] for begin, end in zip(leaves.begin.tolist(), leaves.end.tolist(), strict=True)]


def assert_leaves_are_read_right(page: Page, analyser: Analyser) -> None:
    """Compare with a simple loop over leaves and links."""
    found, texts, names = page.view(link_leaves, analyser), leaf_texts(page), page.record.counts(analyser).terms
    spans = itertools.pairwise(found.starts.tolist())
    assert [[names[place] for place in found.flat[begin:end].tolist()] for begin, end in spans] == [
        analyser.terms(text) for text in texts
    ]
    anchors, start, expected = page.record.leaves.anchor.tolist(), len(texts), list[tuple[int, int]]()
    for number in reversed(range(len(page.links))):
        own = [place for place, anchor in enumerate(anchors) if anchor == number]
        expected.append((own[0], own[-1] + 1) if own else (start, start))
        start = expected[-1][0]
    assert list(zip(found.begins.tolist(), found.ends.tolist(), strict=True)) == expected[::-1]
    leading = [[place for place, link in enumerate(page.links) if link.url == outlink.url] for outlink in page.outlinks]
    positions = found.positions
    assert [positions[begin:end].tolist() for begin, end in itertools.pairwise(found.outlinks.tolist())] == leading


def assert_elements_are_the_parsers(page: Page, html: str) -> None:
    """Compare with the nodes of the tree: the words in the element some levels above each link."""
    document = parse_html(html, page.url)
    for link in page.links[:40]:
        node: LexborNode = document.nodes[link.position]
        for up in (1, 2, 3, 99):
            above = node
            for _ in range(up):
                if above.parent is None or not above.parent.is_element_node:
                    break
                above = above.parent
            inside = above.text(separator=" ", strip=True, skip_empty=True)
            assert element_counts(page.record, link, up, SMALL) == SMALL.counts(inside)


def assert_alike(ours: Page, theirs: Page) -> None:
    """Both pages have the same parts of `page.record` and the same views of `page.views`."""
    assert (ours.url, ours.title, ours.text) == (theirs.url, theirs.title, theirs.text)
    assert (list(ours.links), list(ours.outlinks)) == (list(theirs.links), list(theirs.outlinks))
    assert plain(ours.record.leaves) == plain(theirs.record.leaves)
    assert plain(ours.record.elements) == plain(theirs.record.elements)
    for view in (anchor_tokens, heading_leaves, anchor_leaves):
        assert plain(ours.view(view)) == plain(theirs.view(view))  # type: ignore[arg-type]
    for analyser in (Analyser(), SMALL):
        assert_alike_to(analyser, ours, theirs)
    for link in ours.links[:40]:
        assert tag_path(ours.record, link) == tag_path(theirs.record, link)
        assert window_counts(ours.record, link, 3, SMALL) == window_counts(theirs.record, link, 3, SMALL)
        for up in (0, 1, 2, 3, 99):
            found = [element_counts(page.record, link, up, SMALL) for page in (ours, theirs)]
            assert found[0] == found[1]


def assert_alike_to(analyser: Analyser, ours: Page, theirs: Page) -> None:
    mine, their = ours.record.counts(analyser), theirs.record.counts(analyser)
    assert (list(mine.items()), mine.square) == (list(their.items()), their.square)
    for view in (token_terms, surroundings, link_leaves, term_positions):
        assert plain(ours.view(view, analyser)) == plain(theirs.view(view, analyser))  # type: ignore[arg-type]
    query = Query("solar panel bees honey", analyser)
    for up in (0, 1, 2, 50):
        similar = element_similarities
        assert similar(ours.record, query, up) == similar(theirs.record, query, up)
    assert_leaves_are_read_right(ours, analyser)


def test_a_prepared_page_equals_the_parsed_page(bed: Bed) -> None:
    ready = prepare(bed)
    ready.read_parts(EVERYTHING | Parts((SMALL,)))
    page = fetched(ready, "http://a.test/")
    assert_alike(page, live(HOME))
    assert_elements_are_the_parsers(page, HOME)


def test_the_text_of_a_prepared_page_is_the_parsers_to_the_letter(bed: Bed) -> None:
    assert fetched(prepare(bed), "http://a.test/").text == parse_html(HOME, "http://a.test/").text


def test_a_prepared_page_has_exactly_the_requested_parts(bed: Bed) -> None:
    ready = prepare(bed)
    for parts in (Parts((SMALL,)), Parts((SMALL,), leaves=True), EVERYTHING):
        ready.read_parts(parts)
        for page in (fetched(ready, "http://a.test/"), fetched(ready, "http://a.test/")):
            assert page.record.counts(SMALL) == SMALL.counts(page.text)
            assert _has(page, "leaves") == parts.leaves
            assert _has(page, "elements") == parts.elements


def _has(page: Page, part: str) -> bool:
    try:
        getattr(page.record, part)
    except PartMissing:
        return False
    return True


TAGS = st.sampled_from(
    ["a href=/x", "a href=/y", "b", "p", "div id=n", "ul", "li", "table", "td", "/a", "/p", "/div", "br"]
)
WORDS = st.sampled_from(
    ["solar", "panel", " ", "\n", "\u00a0", "Élan", "&amp;", "<!-- c -->", "<script>z</script>", "x"]
)


@settings(max_examples=long_form(26, 80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(TAGS.map(lambda tag: f"<{tag}>"), WORDS), max_size=60))
def test_any_markup_is_recorded_faithfully(parts: list[str]) -> None:
    html = "".join(parts)
    page = live(html)
    assert_alike(recorded(page), page)
    assert_elements_are_the_parsers(page, html)
    assert all(leaf_texts(page)), "no leaf is empty"
    assert " ".join(leaf_texts(page)).split() == parse_html(html, page.url).text.split()


def test_generated_pages_are_recorded_faithfully() -> None:
    web = GeneratedWeb(60, seed=3)
    for number in range(0, 60, 4):
        page = live(web.html(number), str(web.url(number)))
        assert_alike(recorded(page), page)


@pytest.mark.parametrize("most", [1, 7, 40])
def test_words_around_links_beyond_a_bound_are_left_out_of_a_recorded_page_too(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = GeneratedWeb(60, seed=3)
    pages = [live(web.html(number), str(web.url(number))) for number in range(0, 60, 20)]
    whole = [page.view(surroundings, SMALL) for page in pages]
    monkeypatch.setattr("scenthound.page.views.elements.MOST_WORDS_AROUND", most)
    for page, before in zip(pages, whole, strict=True):
        cut = surroundings(page.record, SMALL)
        assert plain(cut) == plain(recorded(page).view(surroundings, SMALL))
        assert len(cut.flat) < len(before.flat)
        assert before.flat[: len(cut.flat)].tolist() == cut.flat.tolist()


def test_pages_of_beds_are_recorded_faithfully(any_bed: Bed) -> None:
    for response in itertools.islice(any_bed.responses(), 0, 600, 40):
        html = response.body.decode("utf-8", "replace")
        page = live(html, response.url)
        assert_alike(recorded(page), page)
        assert_elements_are_the_parsers(page, html)


def test_a_missing_url_is_a_404_and_other_urls_give_what_was_recorded(bed: Bed) -> None:
    ready = prepare(bed)
    nothing = fetched(ready, "http://a.test/nowhere")
    assert (nothing.reason, nothing.status) == ("http-404", 404)
    moved = fetched(ready, "http://a.test/old")
    assert isinstance(moved, Moved)
    assert (moved.url, moved.status) == ("http://a.test/honey", 301)
    shut, picture = fetched(ready, "http://a.test/shut"), fetched(ready, "http://a.test/picture")
    assert isinstance(shut, Miss)
    assert (shut.reason, shut.status) == ("http-403", 403)
    assert picture.reason == "not-html"
    assert fetched(ready, "http://b.test/").title == "Meadow", "of two records a success wins"


def test_a_page_that_says_nofollow_keeps_its_links_in_the_lab(bed: Bed) -> None:
    assert [link.url for link in fetched(prepare(bed), "http://c.test/far").links] == ["http://a.test/"]


def test_the_judge_sees_pages_links_and_terms(bed: Bed) -> None:
    ready = prepare(bed)
    assert sorted(ready.pages) == ["http://a.test/", "http://a.test/honey", "http://b.test/", "http://c.test/far"]
    assert "http://a.test/old" in ready
    assert "http://a.test/shut" not in ready
    assert ready.aliases == {"http://a.test/old": "http://a.test/honey"}
    assert ready.counts(make("http://a.test/old"), SMALL) == {"honey": 2, "bees": 1, "hive": 1}
    assert ready.links(make("http://a.test/")) == ["http://a.test/honey", "http://b.test/", "http://a.test/gone"]
    assert ready.graph.linked_from("http://a.test/") == ["http://a.test/honey", "http://b.test/"]
    assert ready.misses() == {"http-403": 1, "not-html": 1}


def test_a_bed_is_prepared_once_and_again_when_the_code_changes(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    progress: list[int] = []
    first = prepare(bed, progress=progress.append).folder
    assert progress[-1] == len(RESPONSES)
    progress.clear()
    assert prepare(bed, progress=progress.append).folder == first
    assert not progress
    monkeypatch.setattr(prepared_cache, "FORMAT", prepared_cache.FORMAT + 1)
    assert prepare(bed, progress=progress.append).folder != first
    assert progress


def test_another_bed_is_another_folder(bed: Bed, tmp_path: Path) -> None:
    other = write_bed(tmp_path / "other", "tiny", RESPONSES[:2], [TOPIC])
    assert prepare(bed).folder != prepare(other).folder


def test_a_damaged_folder_is_rebuilt(bed: Bed) -> None:
    ready = prepare(bed)
    (ready.folder / "heads").write_bytes(b"")
    assert fetched(prepare(bed), "http://a.test/").title == "The hive"


def test_two_threads_may_prepare_the_same_bed(bed: Bed, cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        ready = list(pool.map(lambda _: prepare(bed), range(2)))
    assert ready[0].folder == ready[1].folder
    assert [path.name for path in (cache / "prepared").iterdir()] == [ready[0].folder.name], "nothing is left behind"


def test_several_processes_write_the_same_bytes_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = GeneratedWeb(330, seed=2, page_size=1500)
    folders = []
    for jobs in (1, 2):
        monkeypatch.setenv(prepared_cache.VARIABLE, str(tmp_path / str(jobs)))
        folders.append(prepare(web, jobs=jobs).folder)
    files = sorted(path.relative_to(folders[0]) for path in folders[0].rglob("*") if path.is_file())
    assert len(files) > 10
    for file in files:
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file


def test_a_page_is_cut_before_it_is_parsed_and_links_to_long_urls_are_ignored() -> None:
    html = (
        "<p>alpha</p><a href='/first'>one</a>"
        + "<i>beta</i>" * 50
        + f"<a href='/{'x' * 300}'>long</a><a href='/last'>two</a>"
    )
    response = answer("http://a.test/", html)
    whole, short = read_response(response, Cut()), read_response(response, Cut(page_bytes=100))
    assert len(whole.links) == 3
    assert short.links == ("http://a.test/first",)
    assert short.record is not None
    assert "two" not in short.record.text
    assert read_response(response, Cut(url_length=256)).links == ("http://a.test/first", "http://a.test/last")


def test_a_bed_without_a_page_can_be_prepared(tmp_path: Path) -> None:
    ready = prepare(write_bed(tmp_path / "empty", "empty", [answer("http://a.test/", "", 404)], []))
    assert (len(ready), ready.pages, len(ready.graph)) == (0, [], 0)
    assert isinstance(fetched(ready, "http://a.test/"), Miss)


def test_counts_by_any_analyser_come_from_the_recorded_tokens(bed: Bed) -> None:
    own = Analyser(frozenset({"honey"}), stem=False)
    ready = prepare(bed)
    ready.read_parts(Parts((Analyser(), SMALL, own)))
    for page in (recorded(live(HOME)), fetched(ready, "http://a.test/")):
        for analyser in (Analyser(), SMALL, own, Analyser("none")):
            assert page.record.counts(analyser) == analyser.counts(page.text)
            assert list(page.record.counts(analyser)) == list(analyser.counts(page.text))


# ---- a page gives no access to other pages

NOT_CONTENT = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.FrameType)


def reachable(*roots: object) -> list[object]:
    """Everything that can be reached from objects by attributes, items, closures and references.

    Classes, modules and a function's globals are left out: through them everything can be reached.
    """
    seen: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (type, types.ModuleType)):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, (types.FunctionType, types.MethodType)):
            function = getattr(thing, "__func__", thing)
            waiting += [cell.cell_contents for cell in function.__closure__ or ()]
            waiting += [*(function.__defaults__ or ()), getattr(thing, "__self__", None)]
            continue
        if isinstance(thing, NOT_CONTENT):
            continue
        waiting += gc.get_referents(thing)
        names = [
            *getattr(thing, "__dict__", ()),
            *(n for k in type(thing).__mro__ for n in getattr(k, "__slots__", ())),
        ]
        waiting += [getattr(thing, name, None) for name in names if isinstance(name, str)]
        base = getattr(thing, "base", None)  # what an array is a view of
        waiting.append(base)
    return list(seen.values())


def test_nothing_that_a_strategy_gets_leads_to_another_page(tmp_path: Path) -> None:
    secret = "zebrafinch"
    pages = [
        answer("http://a.test/", "<p>bees</p><a href='http://a.test/other'>more</a>"),
        answer(
            "http://a.test/other", f"<title>{secret}</title><p>{secret}</p><a href='http://{secret}.test/'>{secret}</a>"
        ),
    ]
    bed = write_bed(tmp_path / "bed", "two", pages, [TOPIC])
    # A process that tokenises caches the stems of all words of all pages. So another process prepares the bed.
    code = "import sys; from scenthound.lab.beds import bed, prepared; "
    subprocess.run(
        [sys.executable, "-c", f"{code}prepared.prepare(bed.Bed.open(sys.argv[1]))", str(bed.folder)], check=True
    )
    progress: list[int] = []
    ready = prepare(bed, progress=progress.append)
    assert not progress, "it was prepared already"
    other = fetched(ready, "http://a.test/other")  # so that the bed has cached whatever it caches
    page = fetched(ready, "http://a.test/")
    link: Link = page.links[0]
    element_counts(page.record, link, 2, Analyser()), page.text, page.record.leaves, page.record.elements
    tag_path(page.record, link), page.outlinks, window_counts(page.record, link, 5, Analyser())
    for view in KEPT:
        page.view(view, Analyser())
    leaked = [thing for thing in reachable(page, TOPIC.topic, [TOPIC.seeds[0]]) if _contains(thing, secret)]
    assert not leaked
    assert not any(isinstance(thing, PreparedBed) for thing in reachable(page))
    assert any(_contains(thing, secret) for thing in reachable(other)), "and the search would have found it"


def _contains(thing: object, secret: str) -> bool:
    if isinstance(thing, str):
        return secret in thing
    if isinstance(thing, (bytes, bytearray, memoryview)):
        return secret.encode() in bytes(thing)
    return False


def test_beds_prepared_by_older_code_are_removed_after_a_month_without_use(tmp_path: Path) -> None:
    month = 30 * 86_400
    for name, age in (("bed-now", 0), ("bed-old", month + 60), ("bed-recent", month - 60), ("other-old", 2 * month)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    assert prepared_cache.prune(tmp_path / "bed-now") == [tmp_path / "bed-old"]
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["bed-now", "bed-recent", "other-old"]


@pytest.mark.parametrize("view", sorted(KEPT, key=lambda view: view.__name__))
def test_a_kept_view_is_computed_once_and_each_visit_gets_its_own_arrays(
    bed: Bed, view: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Record] = []
    counts = Record.counts

    def counted(record: Record, analyser: Analyser) -> Any:
        calls.append(record)
        return counts(record, analyser)

    ready = prepare(bed)
    first, again = (fetched(ready, "http://a.test/") for _ in range(2))
    monkeypatch.setattr(Record, "counts", counted)
    computed = first.view(view, Analyser())
    call_count = len(calls)
    assert first.view(view, Analyser()) is computed, "once per visit"
    kept = again.view(view, Analyser())
    assert len(calls) == call_count
    assert plain(kept) == plain(computed) == plain(view(live(HOME).record, Analyser()))
    assert not any(part is other for part in computed for other in kept if isinstance(part, np.ndarray))


def test_views_by_another_analyser_are_kept_apart(bed: Bed) -> None:
    ready = prepare(bed)
    for analyser in (Analyser(), SMALL, Analyser("small"), Analyser(frozenset({"bees"}))):
        page, again = (fetched(ready, "http://a.test/") for _ in range(2))
        expected = plain(link_leaves(live(HOME).record, analyser))
        assert plain(page.view(link_leaves, analyser)) == plain(again.view(link_leaves, analyser)) == expected


def test_the_view_of_a_plug_in_is_not_kept(bed: Bed) -> None:
    ready = prepare(bed)
    first, again = (fetched(ready, "http://a.test/") for _ in range(2))
    values = iter(["a", "b"])

    def terms(record: Record, analyser: Analyser) -> str:
        return next(values)

    assert (first.view(terms, SMALL), again.view(terms, SMALL)) == ("a", "b")
    assert_alike(again, live(HOME))


def test_the_columns_of_a_prepared_page_can_not_be_written(bed: Bed) -> None:
    page = fetched(prepare(bed), "http://a.test/")
    held = [page.record.leaves, page.record.elements, *(page.view(view, SMALL) for view in KEPT)]
    columns = [part for part in itertools.chain(*held) if isinstance(part, np.ndarray)]
    assert len(columns) > 15
    for column in columns:
        with pytest.raises(ValueError, match="WRITEABLE"):
            column.setflags(write=True)
    with pytest.raises(AttributeError):
        page.record.title = "mine"


def test_all_pages_of_a_bed_have_the_same_id_for_a_term(bed: Bed) -> None:
    ready = prepare(bed)
    ready.read_parts(Parts((Analyser(), SMALL)))
    for analyser in (Analyser(), SMALL):
        ids: dict[str, int] = {}
        for url in ready.pages:
            names = fetched(ready, url).record.counts(analyser).names
            assert isinstance(names, NumberedTerms)
            assert all(ids.setdefault(name, number) == number for name, number in zip(names, names.ids, strict=True))
        assert len(set(ids.values())) == len(ids) == names.numbering.size


def test_term_ids_do_not_depend_on_the_order_of_the_pages(tmp_path: Path) -> None:
    forth = prepare(write_bed(tmp_path / "forth", "forth", RESPONSES, [TOPIC]))
    back = prepare(write_bed(tmp_path / "back", "back", RESPONSES[::-1], []))  # no topics: another digest
    for analyser in (Analyser(), SMALL):
        assert forth.terms(analyser).vocabulary == back.terms(analyser).vocabulary
        for url in forth.pages:
            assert forth.counts(url, analyser) == back.counts(url, analyser)
