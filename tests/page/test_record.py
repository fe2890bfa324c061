"""A page's record: it is immutable, can be sent as bytes, and bytes that are not a record are refused."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import PartMissing
from scenthound.model import Link, Url
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.record import EVERYTHING, FORMAT, Analysed, Parts, Record, read_layout
from scenthound.page.tree_columns import analyse, fixed
from scenthound.page.views import KEPT
from scenthound.page.views.anchors import (
    anchor_counts,
    anchor_leaves,
    anchor_tokens,
    heading_leaves,
    link_leaves,
    term_positions,
    token_terms,
    window_counts,
    window_similarities,
)
from scenthound.page.views.elements import (
    WHOLE_PAGE,
    climbed_similarities,
    element_counts,
    element_similarities,
    elements_above,
    surroundings,
    tag_path,
)
from scenthound.text.term_counts import TermCounts, terms_of
from scenthound.text.tokens import Analyser
from support.long_form import long_form
from support.random_pages import html_pages, record_of, suite_pages
from support.suites import Suites

ENGLISH, SMALL, OWN = Analyser(), Analyser("small", stem=False), Analyser(frozenset({"chess"}))
PAGE = """<title>Clubs</title><h1></h1><h2>The <b>best</b> clubs</h2><div id=nav><p class=a>Some <a href=/c>chess club
</a> in town <a rel=nofollow href=/g><img alt='golf course'></a></p></div><a href="http://Other.test:80/%7e">other</a>"""
SOME = Query("chess golf club", SMALL)

Answers = dict[str, Any]
VIEWS: dict[str, Callable[[Record], Any]] = {
    "page similarity": lambda record: page_similarity(record, SOME),
    "terms": lambda record: terms_of(record.counts(SMALL)),
    "token terms": lambda record: token_terms(record, OWN),
    "anchor leaves": anchor_leaves,
    "anchor tokens": anchor_tokens,
    "heading leaves": heading_leaves,
    "anchors": lambda record: [anchor_counts(record, link, SMALL) for link in record.links],
    "windows": lambda record: [window_counts(record, link, 3, SMALL) for link in record.links],
    "window similarities": lambda record: window_similarities(record, SOME, 3),
    "elements above": lambda record: [elements_above(record, up) for up in (0, 1, 2, WHOLE_PAGE)],
    "tag paths": lambda record: [tag_path(record, link) for link in record.links],
    "elements": lambda record: [
        element_counts(record, link, up, SMALL) for link in record.links for up in (0, 1, 2, WHOLE_PAGE)
    ],
    "element similarities": lambda record: [element_similarities(record, SOME, up) for up in (0, 1, 9)],
    "climbed similarities": lambda record: [climbed_similarities(record, SOME, up, 3) for up in (0, 1, 9)],
    "link leaves": lambda record: link_leaves(record, ENGLISH),
    "surroundings": lambda record: surroundings(record, ENGLISH),
    "term positions": lambda record: term_positions(record, SMALL),
}


def plain(value: Any) -> Any:
    """A value in comparable form: arrays as lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return [(plain(key), plain(each)) for key, each in value.items()]
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value


def answers(record: Record) -> Answers:
    """The results of all views of a record."""
    return {name: plain(view(record)) for name, view in VIEWS.items()}


def columns(record: Record) -> Answers:
    """Everything in a record."""
    found: Answers = {name: getattr(record, name) for name in ("url", "title", "noindex", "text", "links", "outlinks")}
    for name in ("leaves", "elements"):
        try:
            found[name] = plain(getattr(record, name))
        except PartMissing:
            found[name] = None
    found["counts"] = {analyser: plain(record.counts(analyser)) for analyser in (ENGLISH, SMALL, OWN)}
    return found


# ---- as bytes


@settings(deadline=None, max_examples=long_form(50, 150))
@given(html_pages, st.booleans(), st.booleans(), st.lists(st.sampled_from([ENGLISH, SMALL, OWN]), unique=True))
def test_a_record_survives_its_bytes(html: str, leaves: bool, elements: bool, counts: list[Analyser]) -> None:
    record = record_of(html, Parts(tuple(counts), leaves, elements))
    again = Record.from_bytes(record.to_bytes())
    assert columns(again) == columns(record)
    if counts != [OWN] and OWN not in counts:
        assert again.to_bytes() == record.to_bytes()


@settings(deadline=None, max_examples=long_form(33, 100))
@given(html_pages)
def test_every_view_is_the_same_for_a_record_and_for_its_bytes(html: str) -> None:
    record = record_of(html)
    assert answers(Record.from_bytes(record.to_bytes())) == answers(record)


def test_the_pages_of_the_suites_survive_their_bytes(suites: Suites) -> None:
    pages = suite_pages(suites.folder)
    assert pages
    for html in pages:
        record = record_of(html)
        again = Record.from_bytes(record.to_bytes())
        assert columns(again) == columns(record), html
        assert answers(again) == answers(record), html


@settings(deadline=None)
@given(html_pages)
def test_what_is_read_does_not_depend_on_the_requested_parts(html: str) -> None:
    whole = columns(record_of(html))
    for parts in (Parts(), Parts((SMALL,)), Parts(leaves=True), Parts(elements=True)):
        for name, column in columns(record_of(html, parts)).items():
            assert column in (whole[name], None), name


@settings(deadline=None)
@given(html_pages)
def test_unpacking_some_parts_equals_reading_only_these(html: str) -> None:
    data = record_of(html).to_bytes()
    for parts in (Parts(), Parts((SMALL, OWN)), Parts((ENGLISH,), leaves=True), Parts(elements=True), EVERYTHING):
        record = Record.from_bytes(data, parts)
        assert columns(record) == columns(record_of(html, parts))
        assert columns(Record.from_file(data, read_layout(data, 0), parts)) == columns(record)
        assert columns(Record.from_bytes(record.to_bytes())) == columns(record)


def test_parts_that_the_bytes_do_not_have_are_missing() -> None:
    data = record_of(PAGE, Parts()).to_bytes()
    record = Record.from_bytes(data, EVERYTHING)
    assert record.counts(ENGLISH) == ENGLISH.counts(record.text)
    with pytest.raises(PartMissing):
        _ = record.leaves


def test_an_empty_page_has_a_record() -> None:
    record = record_of("")
    assert (record.text, record.title, record.links, record.outlinks) == ("", "", (), ())
    assert columns(Record.from_bytes(record.to_bytes())) == columns(record)
    assert set(map(str, answers(record)["element similarities"])) == {"[]"}


def test_headings_without_text_have_numbers_too() -> None:
    record = record_of("<h1></h1>" * 20 + "<h2>clubs</h2>")
    assert record.leaves.heading.tolist() == [20]
    assert Record.from_bytes(record.to_bytes()).leaves.heading.tolist() == [20]


# ---- bytes that are not a record


def refused_or_sound(data: bytes) -> None:
    """ValueError, or a record that every view can look at."""
    try:
        record = Record.from_bytes(data)
    except ValueError:
        return
    try:
        columns(record)
        answers(record)
    except PartMissing:
        return


@pytest.mark.parametrize("parts", [EVERYTHING, Parts((SMALL,)), Parts(leaves=True)])
def test_cut_bytes_are_refused(parts: Parts) -> None:
    data = record_of(PAGE, parts).to_bytes()
    for size in range(len(data)):
        with pytest.raises(ValueError, match=r"."):
            Record.from_bytes(data[:size])
    with pytest.raises(ValueError, match="sizes"):
        Record.from_bytes(data + b"\0")


@settings(deadline=None, max_examples=long_form(133, 400))
@given(st.data())
def test_flipped_bytes_are_refused_or_harmless(data: st.DataObject) -> None:
    whole = bytearray(PACKED)
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    refused_or_sound(bytes(whole))


PACKED = record_of(PAGE, EVERYTHING | Parts((SMALL,))).to_bytes()


def test_every_number_of_a_record_may_be_wrong() -> None:
    """Each column byte in turn becomes larger than any index, or negative."""
    begin = 4 + struct.unpack_from("<I", PACKED)[0]
    for place in range(begin, len(PACKED)):
        for value in (127, 255, 0):
            refused_or_sound(PACKED[:place] + bytes([value]) + PACKED[place + 1 :])


def test_shuffled_bytes_are_refused_or_harmless() -> None:
    begin, rng = 4 + struct.unpack_from("<I", PACKED)[0], random.Random(7)
    for _ in range(300):
        body = bytearray(PACKED[begin:])
        first, last = sorted(rng.sample(range(len(body)), 2))
        body[first:last] = rng.sample(body[first:last], last - first)
        refused_or_sound(PACKED[:begin] + bytes(body))
        with pytest.raises(ValueError, match=r"."):
            Record.from_bytes(bytes(rng.sample(PACKED, len(PACKED))))


def with_head(change: Callable[[list[Any]], Any], data: bytes = PACKED) -> bytes:
    size = struct.unpack_from("<I", data)[0]
    head = json.loads(data[4 : 4 + size])
    head = change(head) or head
    packed = json.dumps(head).encode()
    return struct.pack("<I", len(packed)) + packed + data[4 + size :]


def put(place: int, value: object) -> Callable[[list[Any]], list[Any]]:
    return lambda head: [*head[:place], value, *head[place + 1 :]]


@pytest.mark.parametrize(
    "change",
    [
        *(put(place, value) for place in range(9) for value in (None, [], {}, -1, 1.5, 10**12, 10**40, [[]])),
        *(put(place, "x") for place in (0, 3, 4, 5, 6, 7, 8)),
        *(put(5, [value]) for value in (["english"], ["englsh", True], [5, True], ["english", 5], ["small", {}])),
        *(put(8, value) for value in ([10**18], ["5"], [True] * 30)),
        *(lambda head, place=place: head[:place] + head[place + 1 :] for place in range(9)),
        lambda head: [*head, 1],
        lambda head: put(8, [*head[8], 0])(head),
        lambda head: put(8, [*head[8][:-2], head[8][-2] + head[8][-1]])(head),
        lambda head: put(6, False)(head),
        lambda head: put(4, 0)(head),
        lambda head: {"format": FORMAT},
        lambda head: "a record",
        lambda head: FORMAT,
    ],
)  # fmt: skip
def test_a_head_that_does_not_fit_is_refused(change: Callable[[list[Any]], Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Record.from_bytes(with_head(change))


def test_an_endlessly_nested_head_is_refused() -> None:
    head = b"[" * 100_000
    with pytest.raises(ValueError, match=r"."):
        Record.from_bytes(struct.pack("<I", len(head)) + head)


def test_missing_columns_are_refused() -> None:
    record = record_of("")
    for parts in (Parts(), Parts(leaves=True), EVERYTHING):
        data = Record.from_bytes(record.to_bytes(), parts).to_bytes()
        for sizes in ([], [0], [0, 0, 0, 0, 0, 0]):
            begin = 4 + struct.unpack_from("<I", data)[0]
            with pytest.raises(ValueError, match=r"."):
                Record.from_bytes(with_head(put(8, sizes), data)[: begin + sum(sizes)])


# ---- what can't be changed


def reachable(value: Any) -> Iterator[Any]:
    """A value and all that it contains."""
    yield value
    if isinstance(value, Mapping):
        value = [each for pair in value.items() for each in pair]
    if isinstance(value, tuple | list):
        for each in value:
            yield from reachable(each)


def parts_of(record: Record) -> list[Any]:
    slots = [getattr(record, name) for name in Record.__slots__]
    return [each for value in slots for each in reachable(value)]


@pytest.mark.parametrize(
    "record", [record_of(PAGE), Record.from_bytes(record_of(PAGE).to_bytes())], ids=["read", "sent"]
)
def test_nothing_in_a_record_can_be_changed(record: Record) -> None:
    found = parts_of(record)
    arrays = [value for value in found if isinstance(value, np.ndarray)]
    assert len(arrays) > 10
    for array in arrays:
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
            array[:] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    immutable = (str, bytes, int, tuple, frozenset, Analyser, TermCounts, np.ndarray, Mapping, type(None))
    assert [value for value in found if not isinstance(value, immutable)] == []
    for value in found:
        if isinstance(value, Mapping):
            with pytest.raises(TypeError):
                value["stranger"] = 1  # type: ignore[index]


@pytest.mark.parametrize("record", [record_of(PAGE), record_of(PAGE, Parts())], ids=["all parts", "no parts"])
def test_the_attributes_of_a_record_can_not_be_set(record: Record) -> None:
    for name in (*Record.__slots__, "text", "leaves", "elements", "counts", "stranger"):
        with pytest.raises(AttributeError, match="changed"):
            setattr(record, name, None)
        with pytest.raises(AttributeError, match="changed"):
            delattr(record, name)
    assert record.title == "Clubs"


def test_the_record_keeps_its_own_list_of_links() -> None:
    links = [Link(Url("http://a.test/"), "a", "http://a.test/", 0)]
    record = Record(Url("http://b.test/"), "", "", links, analysed := {SMALL.key: Analysed(TermCounts.of({"a": 1}))})
    links.clear()
    analysed.clear()
    assert len(record.links) == 1
    assert record.counts(SMALL) == {"a": 1}


def test_the_views_of_a_record_can_not_be_changed_where_a_bed_keeps_them() -> None:
    for view in KEPT:
        made = view(record_of(PAGE), SMALL)  # type: ignore[operator]
        for value in reachable(made):
            assert not isinstance(value, list | dict)
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="WRITEABLE"):
                    value.setflags(write=True)


def test_bytes_that_change_later_do_not_change_the_record() -> None:
    data = bytearray(PACKED)
    record = Record.from_bytes(data)  # type: ignore[arg-type]
    before = columns(record)
    data[:] = bytes(len(data))
    assert columns(record) == before


# ---- parts


def test_a_part_that_was_not_read_raises_an_error_with_a_hint() -> None:
    record = record_of(PAGE, Parts())
    for view, part in [(anchor_tokens, "leaves"), (lambda one: elements_above(one, 1), "elements")]:
        with pytest.raises(PartMissing, match=rf"without its {part}\nhint: declare it: Parts\({part}=True\)") as caught:
            view(record)  # type: ignore[operator]
        assert caught.value.part == part
    with pytest.raises(PartMissing, match="elements"):
        element_similarities(record_of(PAGE, Parts(leaves=True)), SOME, 1)


def test_elements_imply_leaves() -> None:
    record = record_of(PAGE, Parts(elements=True))
    assert record.leaves.size > 0
    assert Record.from_bytes(PACKED, Parts(elements=True)).leaves.size == record.leaves.size


def test_parts_add_up() -> None:
    assert Parts((ENGLISH,), leaves=True) | Parts((SMALL, ENGLISH)) == Parts((ENGLISH, SMALL), leaves=True)
    assert Parts() | EVERYTHING == EVERYTHING


def test_counts_that_were_not_requested_are_computed() -> None:
    for parts in (Parts(), Parts(leaves=True), EVERYTHING):
        record = record_of(PAGE, parts)
        for analyser in (ENGLISH, SMALL, OWN):
            assert list(record.counts(analyser).items()) == list(analyser.counts(record.text).items())


def test_an_analyser_with_a_stop_list_of_its_own_stays_in_its_process() -> None:
    record = record_of(PAGE, Parts((OWN, ENGLISH)))
    assert record.to_bytes() == record_of(PAGE, Parts((ENGLISH,))).to_bytes()


@given(st.lists(st.sampled_from(["the", "clubs", "club", "chess", "été"]), max_size=12))
def test_terms_are_counted_by_token(tokens: list[str]) -> None:
    words = list(dict.fromkeys(tokens))
    numbers = np.array([words.index(token) for token in tokens], dtype=np.int32)
    found = analyse(Analyser("small"), words, numbers)
    assert list(found.counts.items()) == list(Analyser("small").counts(" ".join(tokens)).items())
    assert found.of_word is not None
    assert [-1 if term is None else found.counts.index(term) for term in Analyser("small").term_of_each(words)] == (
        found.of_word.tolist()
    )


def test_a_fixed_column_is_a_copy() -> None:
    column = np.array([1, 2], dtype=np.int32)
    kept = fixed(column)
    column[0] = 9
    assert kept.tolist() == [1, 2]
