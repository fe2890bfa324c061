"""From HTML to a record: leaves, their anchors and headings, and the elements around links."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.lab.beds.bed import Bed
from scenthound.model import Url
from scenthound.page.read import MOST_TEXT, read, read_html
from scenthound.page.record import EVERYTHING, Parts, Record
from scenthound.page.views.anchors import token_terms
from scenthound.page.views.elements import element_counts, tag_path
from scenthound.text.tokens import Analyser, tokens
from scenthound.url import make
from scenthound.web.content_type import to_text
from scenthound.web.html_document import parse_html
from support.random_pages import HOME, html_pages, record_of

PLAIN = Analyser("none", stem=False)


def leaves_of(record: Record) -> list[tuple[str, int, int]]:
    """Text, anchor and heading of each leaf."""
    leaves = record.leaves
    spans = zip(leaves.begin.tolist(), leaves.end.tolist(), strict=True)
    texts = [record.text[begin:end] for begin, end in spans]
    return list(zip(texts, leaves.anchor.tolist(), leaves.heading.tolist(), strict=True))


def test_leaves_are_all_text_in_order_but_no_script_style_or_comment() -> None:
    record = record_of(
        "<title>Bees</title><script>no()</script><style>no{}</style><!-- no -->"
        "<p>Honey<b>comb</b> <a href=a title=no>wax</a><svg><style>no</style></svg>"
    )
    assert leaves_of(record) == [("Bees", -1, -1), ("Honey", -1, -1), ("comb", -1, -1), ("wax", 0, -1)]
    assert record.text == "Bees Honey comb wax"


def test_leaves_know_the_innermost_anchor_around_them() -> None:
    record = record_of("a<a href=1>b<table><td><a href=2>c</a>d</table>e</a>f<a href=mailto:x>g</a><a href=3>h</a>")
    assert [(text, anchor) for text, anchor, _ in leaves_of(record)] == [
        ("a", -1), ("b", 0), ("c", 1), ("d", 0), ("e", 0), ("f", -1), ("g", -1), ("h", 2),
    ]  # fmt: skip


def test_leaves_know_the_innermost_heading_around_them() -> None:
    record = record_of("a<h2>b<i>c</i></h2><h3><a href=1>d</a></h3><h1>e<div><h6>f</h6>g</div></h1>h")
    assert leaves_of(record) == [
        ("a", -1, -1), ("b", -1, 0), ("c", -1, 0), ("d", 0, 1), ("e", -1, 2), ("f", -1, 3), ("g", -1, 2), ("h", -1, -1),
    ]  # fmt: skip


def test_leaves_of_links_that_were_left_out_have_no_anchor() -> None:
    document = parse_html("<a href=a>x</a>" * 10_000, HOME, max_links=100)
    assert set(read(document, HOME, EVERYTHING).leaves.anchor.tolist()) == {-1, *range(100)}


def test_a_picture_or_a_frame_has_an_element_without_leaves() -> None:
    record = record_of("before <a href=1><img alt=x></a><iframe src=2>no</iframe> after")
    elements = record.elements
    for element in elements.of_link.tolist():
        assert elements.first_leaf[element] == elements.end_leaf[element] == 1


def test_elements_are_a_tree_with_parents_first() -> None:
    elements = record_of("<div><p><a href=1>a</a></p><p><a href=2>b</a></p></div>").elements
    assert [elements.tags[tag] for tag in elements.tag.tolist()] == ["html", "body", "div", "p", "a", "p", "a"]
    assert elements.parent.tolist() == [-1, 0, 1, 2, 3, 2, 5]
    assert elements.of_link.tolist() == [4, 6]


def test_elements_that_are_not_above_a_link_are_not_kept() -> None:
    assert len(record_of("<div><p>a</p>" * 100).elements.parent) == 0


@pytest.mark.parametrize(
    "html",
    ["", "\0", "<", "<a", "<a href", "<a href=", "\ud800", "<a href='\ud800'>\udfff</a>", "<title>", "</html>",
     "<a href=" + "x" * 2_000_000 + ">", "<p " + "a" * 1_000_000 + ">b", "<frameset>",
     "<svg><a href=x><style><a href=y>", "<math><a href=x></math>", "<select><a href=x>",
     "\x00<a href='\x00'>\x00</a>"],
    ids=range(17),
)  # fmt: skip
def test_any_text_has_a_record(html: str) -> None:
    check(record_of(html))
    check(read_html(html, Url("no url at all")))


@given(st.text(alphabet=st.sampled_from("<>/='\" abhpreftdv!-&;\0\n#:?"), max_size=300) | html_pages)
def test_any_markup_has_a_record(html: str) -> None:
    check(record_of(html))


def check(record: Record) -> None:
    """Check the properties of every record."""
    assert tokens(record.text) == [token for text, _, _ in leaves_of(record) for token in tokens(text)]
    counts = record.counts(PLAIN)
    assert [counts.terms[index] for index in token_terms(record, PLAIN).tolist()] == tokens(record.text)
    for link in record.links:
        assert tag_path(record, link).startswith("html")
        inside, above = element_counts(record, link, 1, PLAIN), element_counts(record, link, 2, PLAIN)
        assert inside.keys() <= above.keys() <= set(record.counts(PLAIN))


def test_the_text_of_recorded_pages_has_the_tokens_of_its_leaves(any_bed: Bed) -> None:
    pages = (response for response in any_bed.responses() if response.status == 200)
    for response in itertools.islice(pages, 400):
        url, html = response.url, to_text(response.body, response.header("Content-Type", ""))
        record = read_html(html, make(url))
        assert tokens(record.text) == [token for text, _, _ in leaves_of(record) for token in tokens(text)], url
        assert record.text == parse_html(html, url).text, url
        for link in record.links[:20]:
            own, around = PLAIN.counts(link.anchor), element_counts(record, link, 1, PLAIN)
            element = record.elements.of_link[link.position]
            has_text = record.elements.first_leaf[element] < record.elements.end_leaf[element]
            assert own.keys() <= around.keys() or not has_text, url
        assert Record.from_bytes(record.to_bytes()).to_bytes() == record.to_bytes(), url


def test_the_beginning_of_a_long_text_is_kept_with_and_without_leaves() -> None:
    html = "<div>" + "<p>bees <a href=/x>honey hive</a>" * (MOST_TEXT // 14) + "</div>"
    url = Url("http://a.test/")
    plain, whole = read_html(html, url, Parts((Analyser(),))), read_html(html, url, EVERYTHING)
    assert len(plain.text) == MOST_TEXT
    assert plain.text == whole.text
    assert plain.counts(Analyser()) == whole.counts(Analyser())
    assert whole.leaves.end[-1] <= MOST_TEXT
    assert int(whole.elements.end_leaf.max()) <= whole.leaves.size
    assert Record.from_bytes(whole.to_bytes()).text == whole.text
