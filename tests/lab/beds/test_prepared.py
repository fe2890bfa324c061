"""Prepared beds: the same answers as the parser's, rebuilt when they must be, and no way from one page to another."""

from __future__ import annotations

import copy
import gc
import itertools
import os
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenthound.lab.beds.prepared_document import PreparedDocument, PreparedPage, pack, page_words, summed
from scenthound.text.contexts import (
    LinkLeaves,
    context_counts,
    contexts,
    link_leaves,
    numbered_counts,
    page_counts,
    stream,
    window_counts,
)
from scenthound.text.folded import Folded, checked, numbers_of, words_of
from scenthound.text.lasting import STREAM
from scenthound.text.register import WORDS as REGISTER
from scenthound.text.standing import standing
from scenthound.text.surroundings import surroundings

from scenthound.lab.beds import cache as prepared_cache
from scenthound.lab.beds.bed import Bed, BedTopic, write_bed
from scenthound.lab.beds.prepare_pages import Cut, read_response, written
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.web import GeneratedWeb
from scenthound.model import Candidate, Link, Miss, Moved, Response
from scenthound.page.page import Page
from scenthound.text import lasting
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, cosine, term_frequencies
from scenthound.url import make
from scenthound.web.parse import HtmlDocument, parse_html

SMALL = Analyser("small", stem=False)
HOME = (
    "<html><head><title>The  hive</title></head><body><div id=nav class='bar top'><ul>"
    "<li><a href='/honey'>Honey <b>cake</b></a> and tea<li><a href='/honey'>again</a></ul></div>"
    "<p>Bees\n fly to <a href='http://b.test/index.html' rel=nofollow><img alt='the meadow'></a> far\u00a0away.</p>"
    "<a href='/gone'>Crème brûlée</a><a href='/'>home</a><script>var x = 'bees'</script></body></html>"
)


OURS = [one.name for one in vars(lasting).values() if isinstance(one, lasting.Lasting)]


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
    return Page(make(url), Candidate(make(url), 0.5), parse_html(html, url))


def recorded(page: Page) -> Page:
    assert isinstance(page.document, HtmlDocument)
    record, _, _ = pack(written(page.document))
    document = PreparedDocument(page.title, tuple(page.links), record)
    return PreparedPage(page.url, page.candidate, document)


def plain(part: Any) -> Any:
    """To the last number and word, as what can be compared."""
    match part:
        case np.ndarray() | np.integer():
            return part.tolist()
        case dict():
            return {key: plain(value) for key, value in part.items()}
        case tuple() | list():
            return [plain(one) for one in part]
    return part


def assert_leaves_are_read_right(found: LinkLeaves, page: Page, analyser: Analyser) -> None:
    """Against one leaf and one link after the other."""
    leaves, names, flat = page.document.leaves, found.leaves.terms.names, found.leaves.flat.tolist()
    spans = itertools.pairwise(found.leaves.starts.tolist())
    assert [[names[place] for place in flat[begin:end]] for begin, end in spans] == [
        analyser.terms(leaf.text) for leaf in leaves
    ]
    start, expected = len(leaves), list[tuple[int, int]]()
    for number in reversed(range(len(page.links))):
        own = [place for place, leaf in enumerate(leaves) if leaf.anchor == number]
        expected.append((own[0], own[-1] + 1) if own else (start, start))
        start = expected[-1][0]
    assert list(zip(found.begins.tolist(), found.ends.tolist(), strict=True)) == expected[::-1]
    leading = [[place for place, link in enumerate(page.links) if link.url == outlink.url] for outlink in page.outlinks]
    assert [found.places[begin:end].tolist() for begin, end in itertools.pairwise(found.outlinks.tolist())] == leading


def assert_alike(ours: Page, theirs: Page) -> None:
    """Both pages answer every question of `model.Document` and of `text.contexts` alike."""
    assert (ours.title, list(ours.links)) == (theirs.title, list(theirs.links))
    assert list(ours.outlinks) == list(theirs.outlinks)
    assert " ".join(ours.text.split()) == " ".join(theirs.text.split())
    assert list(ours.document.leaves) == list(theirs.document.leaves)
    assert stream(ours) == stream(theirs)
    for up in (0, 1, 2, 50):
        assert contexts(ours, up, SMALL) == contexts(theirs, up, SMALL)
    for analyser in (Analyser(), SMALL):
        assert list(page_counts(ours, analyser).items()) == list(page_counts(theirs, analyser).items())
        assert surroundings(ours, analyser) == surroundings(theirs, analyser)
        assert [np.asarray(one).tolist() for one in standing(ours, analyser)] == [
            np.asarray(one).tolist() for one in standing(theirs, analyser)
        ]
        assert plain(link_leaves(ours, analyser)) == plain(link_leaves(theirs, analyser))
        assert_leaves_are_read_right(link_leaves(ours, analyser), ours, analyser)
    seen: dict[int, int] = {}
    for link in ours.links[:40]:
        assert ours.document.path(link) == theirs.document.path(link)
        assert window_counts(ours, link, 3, SMALL) == window_counts(theirs, link, 3, SMALL)
        for up in (0, 1, 2, 3, 99):
            assert context_counts(ours, link, up, SMALL) == context_counts(theirs, link, up, SMALL)
            (one, text), (other, same) = ours.document.under(link, up), theirs.document.under(link, up)
            assert text.split() == same.split()
            assert seen.setdefault(other, one) == one, "the same elements are the same"


def test_a_prepared_page_says_what_the_parser_says(bed: Bed) -> None:
    assert_alike(fetched(prepare(bed), "http://a.test/"), live(HOME))


def test_the_text_of_a_prepared_page_is_the_parsers_to_the_letter(bed: Bed) -> None:
    assert fetched(prepare(bed), "http://a.test/").text == live(HOME).text


TAGS = st.sampled_from(
    ["a href=/x", "a href=/y", "b", "p", "div id=n", "ul", "li", "table", "td", "/a", "/p", "/div", "br"]
)
WORDS = st.sampled_from(
    ["solar", "panel", " ", "\n", "\u00a0", "Élan", "&amp;", "<!-- c -->", "<script>z</script>", "x"]
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(TAGS.map(lambda tag: f"<{tag}>"), WORDS), max_size=60))
def test_any_markup_is_recorded_faithfully(parts: list[str]) -> None:
    page = live("".join(parts))
    assert_alike(recorded(page), page)


def test_generated_pages_are_recorded_faithfully() -> None:
    web = GeneratedWeb(60, seed=3)
    for number in range(0, 60, 4):
        page = live(web.html(number), str(web.url(number)))
        assert_alike(recorded(page), page)


@pytest.mark.parametrize("most", [1, 7, 40])
def test_what_is_beyond_a_bound_is_recorded_as_it_is_read(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words around links, and more terms than the register of the process holds."""
    monkeypatch.setattr("scenthound.text.surroundings.MOST_AROUND", most)
    web = GeneratedWeb(60, seed=3)
    for number in range(0, 60, 20):
        page = live(web.html(number), str(web.url(number)))
        assert surroundings(recorded(page), SMALL) == surroundings(page, SMALL)
    monkeypatch.setattr(REGISTER, "most", most)
    for one in (page, recorded(page)):
        seen = standing(one, SMALL)
        terms = [REGISTER.names[number] for number in seen.terms.tolist()]
        assert set(page_counts(page, SMALL)) <= set(terms)
        assert seen.epoch == REGISTER.epoch


@pytest.mark.shared
@pytest.mark.parametrize("name", ["schools", "apache"])
def test_real_pages_are_recorded_faithfully(shared: Path, name: str) -> None:
    responses = Bed.open(shared / "data" / name).responses()
    for response in itertools.islice(responses, 0, 600, 40):
        page = live(response.body.decode("utf-8", "replace"), response.url)
        assert_alike(recorded(page), page)


def test_what_the_bed_lacks_is_a_404_and_what_it_has_is_what_was_recorded(bed: Bed) -> None:
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
    heard: list[int] = []
    first = prepare(bed, progress=heard.append).folder
    assert heard[-1] == len(RESPONSES)
    heard.clear()
    assert prepare(bed, progress=heard.append).folder == first
    assert not heard
    monkeypatch.setattr(prepared_cache, "READERS", (*prepared_cache.READERS, "scenthound.errors"))
    assert prepare(bed, progress=heard.append).folder != first
    assert heard


def test_another_bed_is_another_folder(bed: Bed, tmp_path: Path) -> None:
    other = write_bed(tmp_path / "other", "tiny", RESPONSES[:2], [TOPIC])
    assert prepare(bed).folder != prepare(other).folder


def test_a_damaged_folder_is_made_again(bed: Bed) -> None:
    ready = prepare(bed)
    (ready.folder / "heads").write_bytes(b"")
    assert fetched(prepare(bed), "http://a.test/").title == "The hive"


def test_two_that_prepare_at_once_do_not_disturb_each_other(bed: Bed, cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        ready = list(pool.map(lambda _: prepare(bed), range(2)))
    assert ready[0].folder == ready[1].folder
    assert [path.name for path in (cache / "prepared").iterdir()] == [ready[0].folder.name], "nothing is left behind"


def test_several_processes_prepare_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web = GeneratedWeb(330, seed=2, page_size=1500)
    folders = []
    for jobs in (1, 2):
        monkeypatch.setenv(prepared_cache.VARIABLE, str(tmp_path / str(jobs)))
        folders.append(prepare(web, jobs=jobs).folder)
    files = sorted(path.relative_to(folders[0]) for path in folders[0].rglob("*") if path.is_file())
    assert len(files) > 10
    for file in files:
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file


def test_a_page_is_cut_before_it_is_parsed_and_long_urls_are_refused() -> None:
    html = (
        "<p>alpha</p><a href='/first'>one</a>"
        + "<i>beta</i>" * 50
        + f"<a href='/{'x' * 300}'>long</a><a href='/last'>two</a>"
    )
    response = answer("http://a.test/", html)
    whole, short = read_response(response, Cut()), read_response(response, Cut(page_bytes=100))
    assert len(whole.links) == 3
    assert short.links == ("http://a.test/first",)
    assert "two" not in short.words
    assert read_response(response, Cut(url_length=256)).links == ("http://a.test/first", "http://a.test/last")


def test_a_bed_without_a_page_can_be_prepared(tmp_path: Path) -> None:
    ready = prepare(write_bed(tmp_path / "empty", "empty", [answer("http://a.test/", "", 404)], []))
    assert (len(ready), ready.pages, len(ready.graph)) == (0, [], 0)
    assert isinstance(fetched(ready, "http://a.test/"), Miss)


# ---- folded counts

TERMS = st.lists(st.text("abcé", min_size=1, max_size=3), max_size=20)


def folded(counts: Counts) -> Counts:
    return checked(counts.square, words_of(counts), numbers_of(counts.values()))


@given(TERMS, TERMS)
def test_folded_counts_answer_like_counts(terms: list[str], asked: list[str]) -> None:
    plain = term_frequencies(terms)
    assert [folded(plain).get(term, 0) for term in asked] == [plain.get(term, 0) for term in asked]
    assert [term in folded(plain) for term in asked] == [term in plain for term in asked]
    assert cosine(term_frequencies(asked), folded(plain)) == cosine(term_frequencies(asked), plain)
    assert (len(folded(plain)), folded(plain).square, bool(folded(plain))) == (len(plain), plain.square, bool(plain))
    assert list(folded(plain).items()) == list(plain.items())
    assert dict(folded(plain)) == {**folded(plain)} == folded(plain) == plain
    assert folded(plain) | {"z": 1} == plain | {"z": 1}
    assert {"z": 1} | folded(plain) == {"z": 1} | plain
    assert sorted(folded(plain)) == sorted(plain)


def test_folded_counts_become_ordinary_ones() -> None:
    counts = folded(term_frequencies(["solar", "panel", "solar"]))
    with pytest.raises(KeyError):
        counts["roof"]
    assert (counts["solar"], type(counts)) == (2, Folded)
    assert list(counts.values()) == [2, 1]
    assert type(counts) is Counts
    assert (counts["solar"], counts.square) == (2, 5)


def test_counts_by_any_analyser_come_from_the_recorded_tokens() -> None:
    page = recorded(live(HOME))
    words, numbers = page_words(page.document._record)  # type: ignore[attr-defined]
    assert summed(SMALL, words, numbers) == SMALL.counts(page.text)


# ---- nobody can peek

NOT_CONTENT = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.FrameType)


def reachable(*roots: object) -> list[object]:
    """Everything that can be reached from objects by attributes, items, closures and references.

    Classes, modules and a function's globals are left out: through them a program reaches all of itself.
    """
    found: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in found or isinstance(thing, (type, types.ModuleType)):
            continue
        found[id(thing)] = thing
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
    return list(found.values())


def test_nothing_a_strategy_is_handed_leads_to_another_page(tmp_path: Path) -> None:
    secret = "zebrafinch"
    pages = [
        answer("http://a.test/", "<p>bees</p><a href='http://a.test/other'>more</a>"),
        answer(
            "http://a.test/other", f"<title>{secret}</title><p>{secret}</p><a href='http://{secret}.test/'>{secret}</a>"
        ),
    ]
    ready = prepare(write_bed(tmp_path / "bed", "two", pages, [TOPIC]))
    # A process that tokenises remembers the stem of every word it met, of whatever page. This one has just prepared
    # the bed; one that only replays has read nothing but records.
    Analyser()._terms.clear()
    ready.bring(Analyser(), numbered=[Analyser()])
    other = fetched(ready, "http://a.test/other")  # whatever the bed remembers of it, it remembers now
    page = fetched(ready, "http://a.test/")
    link: Link = page.links[0]
    page.document.under(link, 2), page.text, page.document.leaves, stream(page), page_counts(page, SMALL)
    page.document.path(link), page.outlinks, window_counts(page, link, 5, Analyser())
    link_leaves(page, Analyser()), numbered_counts(page, Analyser())
    leaked = [thing for thing in reachable(page, TOPIC.topic, [TOPIC.seeds[0]]) if _tells(thing, secret)]
    assert not leaked
    assert not any(isinstance(thing, PreparedBed) for thing in reachable(page))
    assert any(_tells(thing, secret) for thing in reachable(other)), "and the search would have found it"


def _tells(thing: object, secret: str) -> bool:
    if isinstance(thing, str):
        return secret in thing
    if isinstance(thing, (bytes, bytearray, memoryview)):
        return secret.encode() in bytes(thing)
    return False


def test_what_older_code_prepared_is_removed_when_nobody_has_used_it_for_a_month(tmp_path: Path) -> None:
    month = 30 * 86_400
    for name, age in (("bed-now", 0), ("bed-old", month + 60), ("bed-lately", month - 60), ("other-old", 2 * month)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    assert prepared_cache.prune(tmp_path / "bed-now") == [tmp_path / "bed-old"]
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["bed-lately", "bed-now", "other-old"]


def test_what_was_found_out_on_an_earlier_visit_changes_no_answer(bed: Bed) -> None:
    """A page may repeat itself only so often; recalling what stands around its links counts as asking for it."""
    ready = prepare(bed)
    first, again, other = (fetched(ready, "http://a.test/") for _ in range(3))
    found = surroundings(first, SMALL)
    told = [first.document.under(link, up) for link in first.links for up in (1, 2)]
    assert surroundings(again, SMALL) is found
    assert [again.document.under(link, up) for link in again.links for up in (1, 2)] == told
    assert again.document._spare == first.document._spare
    other.document.under(other.links[0], 3)
    assert surroundings(other, SMALL) == found
    assert surroundings(other, SMALL) is not found, "something had been asked before"


def test_what_is_forgotten_is_not_recalled_on_the_next_visit(bed: Bed) -> None:
    ready = prepare(bed)
    first, again = (fetched(ready, "http://a.test/") for _ in range(2))
    found = stream(first)
    first.forget((STREAM,))
    assert stream(again) == found
    assert stream(again) is not found


def test_numbers_of_words_change_no_answer(bed: Bed) -> None:
    plain, ready = prepare(bed), prepare(bed)
    ready.bring(Analyser(), SMALL, numbered=[Analyser(), SMALL])
    for url in ready.pages:
        ours, theirs = fetched(ready, url), fetched(plain, url)
        for analyser in (Analyser(), SMALL):
            (terms, times), (same, often) = numbered_counts(ours, analyser), numbered_counts(theirs, analyser)
            assert terms.ids is not None
            assert same.ids is None
            assert (terms, times.tolist()) == (same, often.tolist())
        assert_alike(ours, theirs)


def test_numbers_of_words_do_not_tell_where_in_the_bed_a_page_lies(tmp_path: Path) -> None:
    forth = prepare(write_bed(tmp_path / "forth", "forth", RESPONSES, [TOPIC]))
    back = prepare(write_bed(tmp_path / "back", "back", RESPONSES[::-1], []))  # no topics: another digest
    for analyser in (Analyser(), SMALL):
        assert forth.terms(analyser).vocabulary == back.terms(analyser).vocabulary
        for ready in (forth, back):
            ready.bring(analyser, numbered=[analyser])
        for url in forth.pages:
            (ours, _), (theirs, _) = (numbered_counts(fetched(ready, url), analyser) for ready in (forth, back))
            assert ours.ids is not None
            assert theirs.ids is not None
            assert ours.ids.tolist() == theirs.ids.tolist()


def test_only_answers_that_follow_from_the_page_are_kept(bed: Bed) -> None:
    ready = prepare(bed)
    first, again = (fetched(ready, "http://a.test/") for _ in range(2))
    assert first.derived((STREAM, "mine"), lambda: "a") == "a"
    assert again.derived((STREAM, "mine"), lambda: "b") == "b"
    assert again.derived((), lambda: "nothing") == "nothing"


@pytest.mark.parametrize("name", [*OURS, "anchored", "anchor groups", "feature words", "feature links"])
@pytest.mark.parametrize("more", [(), (SMALL,)])
def test_a_name_that_a_plug_in_makes_up_is_none_of_ours(bed: Bed, name: str, more: tuple[Analyser, ...]) -> None:
    ready = prepare(bed)
    first, again = (fetched(ready, "http://a.test/") for _ in range(2))
    assert first.derived((name, *more), lambda: {"poison"}) == {"poison"}
    assert again.derived((name, *more), lambda: {"its own"}) == {"its own"}
    assert_alike(again, live(HOME))


def test_folded_counts_may_be_asked_while_they_unfold() -> None:
    plain = term_frequencies(["solar", "panel", "solar"])
    first, second, third = (folded(plain) for _ in range(3))
    assert sorted(first, key=first.__getitem__) == ["panel", "solar"]
    assert list(filter(second.__contains__, second)) == ["solar", "panel"]
    assert copy.copy(third) == plain
    assert copy.deepcopy(folded(plain)) == plain
