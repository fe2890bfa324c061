"""The guard before the parser: hostile pages are tamed, normal pages are not changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from scenthound.lab.beds.bed import Bed
from scenthound.model import Url
from scenthound.page.read import read
from scenthound.page.record import EVERYTHING
from scenthound.page.views.elements import element_counts
from scenthound.text.tokens import Analyser
from scenthound.web.content_type import to_text
from scenthound.web.guard import SHAPE, Shape, tame
from scenthound.web.html_document import parse_html


def depth(html: str) -> int:
    """The depth of the parser's tree."""
    deepest = 0
    level = 1
    node = LexborHTMLParser(html).root
    while node is not None:
        deepest = max(deepest, level)
        if node.first_child is not None:
            node = node.first_child
            level += 1
            continue
        while node is not None and node.next is None:
            node = node.parent
            level -= 1
        node = node.next if node is not None else None
    return deepest


HONEST = "<!doctype html><title>Bees</title><ul>" + "<li class=a><a href=x>one</a> two" * 3000 + "</ul>"


def test_an_honest_page_passes_untouched() -> None:
    assert tame(HONEST) == (HONEST, ())
    assert tame(HONEST).text is HONEST
    assert tame(HONEST).cuts == ()


# Each would keep the parser busy for seconds to hours, or fill the memory.
HIDDEN = {
    "plain": "<div>",
    "behind a stray end tag": "</x><div>",
    "behind an end tag that an object keeps out": "<div><object></div></object>",
    "behind an end tag in a comment": "<div><!--</div>-->",
    "behind an end tag in a value": "<div title='</div>'>",
    "behind an end tag in a bogus comment": "<div><!x</div>",
    "behind an end tag in a text field": "<div><textarea></div></textarea>",
    "behind an end tag in a script in a script": "<div><script><!--<script></script></div></script>",
    "inside links": "<a href=x><div>",
    "tables": "<table><tr><td>",
    "lists": "<ul><li>",
}


@pytest.mark.parametrize("unit", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("start", ["", "<!-->", "<svg><title>", "<script><!--</script>", "<svg><foreignObject>"])
def test_deep_nesting_is_flattened_however_it_hides(unit: str, start: str) -> None:
    html = start + unit * 3000 + "<a href=/end>the end</a>"
    if html.count("<") <= 4000:
        html = start + unit * 6000 + "<a href=/end>the end</a>"
    tamed = tame(html)
    assert "nesting" in tamed.cuts
    assert depth(tamed.text) < 50


def test_a_flattened_page_keeps_text_links_title_and_base() -> None:
    html = (
        "<title>Bees</title><base href=/b/><b>bold</b>" + "<div>" * 5000 + "<section>wax <a href=x>one</a></section>end"
    )
    page = parse_html(html, "http://x.test/")
    assert page.cuts == ("nesting",)
    assert page.text == "Bees bold wax one end"
    assert [(link.url, link.anchor) for link in page.links] == [("http://x.test/b/x", "one")]
    record = read(page, Url("http://x.test/"), EVERYTHING)
    assert element_counts(record, record.links[0], 1, Analyser("none", stem=False)) == {"wax": 1, "one": 1}


@pytest.mark.parametrize(
    "attributes",
    [
        " ".join(f"a{n}" for n in range(50_000)),
        "/".join(f"a{n}" for n in range(50_000)),
        "".join(f"a{n}=''" for n in range(50_000)),
        " ".join(f"a{n}='>'" for n in range(50_000)),
        " ".join(f'<a{n}="<>"' for n in range(50_000)),
        " ".join(f"a{n} = {n}" for n in range(50_000)),
    ],
)
def test_a_tag_keeps_its_first_attributes_and_the_page_goes_on(attributes: str) -> None:
    page = tame(f"<p>one</p><p class=x {attributes}>two</p><a href=z>three</a>")
    assert page.cuts == ("attributes",)
    parser = LexborHTMLParser(page.text)
    assert parser.text(separator=" ") == "one two three"
    attributes = parser.css("p")[1].attributes
    assert attributes["class"] == "x"
    assert len(attributes) == SHAPE.attributes
    assert tame(page.text) == (page.text, ())


def test_short_pages_are_trimmed_too() -> None:
    html = "<p " + " ".join(f"a{n}" for n in range(400)) + ">two"
    assert tame(html).cuts == ("attributes",)
    assert tame(html, Shape(attributes=500)).cuts == ()
    assert len(LexborHTMLParser(tame(html, Shape(attributes=7)).text).css_first("p").attributes) == 7


@pytest.mark.parametrize(
    "unit",
    [
        "<p><font c={n}>x",
        "<p><font c={n}>x<!--</font>-->",
        "<p><b a' b='x>{n}'>x",
        "<p><B\tc={n}>x<object></B></object>",
    ],
)
def test_formatting_that_every_paragraph_would_open_again_is_taken_out(unit: str) -> None:
    html = "".join(unit.format(n=n) for n in range(3000))
    tamed = tame(html + "<a href=z>end</a>")
    assert "formatting" in tamed.cuts
    parser = LexborHTMLParser(tamed.text)
    assert len(parser.css("*")) < 10_000
    assert parser.css_first("a[href]").text() == "end"


def test_thirty_nine_plain_formatting_elements_are_too_many_for_a_long_page() -> None:
    kinds = ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
    html = "<p>" + "".join(f"<{kind}>" * 3 for kind in kinds) + "<p>x" * 60_000
    assert tame(html).cuts == ("formatting",)


def test_a_page_may_use_the_same_formatting_as_often_as_it_likes() -> None:
    html = "<p><code class='k'>x</code> <em>y</em>" * 5000
    assert tame(html) == (html, ())


def test_too_many_tags_or_characters_end_the_page_there() -> None:
    assert tame("<p>x" * 50, Shape(characters=10)) == ("<p>x<p>x<p", ("characters",))
    tamed = tame("<p>x" * 2000, Shape(tags=1500))
    assert tamed == ("<p>x" * 1500, ("tags",))


@pytest.mark.parametrize(
    "unit",
    ["<", "<a ", "<title", "<!--", "<script>", '<a b="', "<a b='>", "</", "<b", "<b ", "<font a='", "<?", "&", "<a/",
     "<svg>", "<![CDATA[", "<a =", "<!-", "-->", "<textarea>", "<table><b c=1>x", "<script><!--<script>"],
)  # fmt: skip
def test_the_look_itself_takes_linear_time(unit: str) -> None:
    """Two megabytes of each attack. Anything quadratic would take hours and exceed the time limit of the suite."""
    html = "x" + unit * (2_000_000 // len(unit))
    text = tame(html).text
    LexborHTMLParser(text)


@given(st.text(alphabet=st.sampled_from("<>/='\" abpdiv!-\n"), max_size=600), st.integers(1, 5))
def test_taming_a_tame_page_changes_nothing(html: str, most: int) -> None:
    shape = Shape(attributes=most)
    once = tame(html, shape).text
    assert tame(once, shape).text == once
    widest = max((len(node.attributes) for node in LexborHTMLParser(once).css("*")), default=0)
    assert widest <= most


def test_no_recorded_page_is_changed(any_bed: Bed) -> None:
    pages = 0
    for response in any_bed.responses():
        assert tame(to_text(response.body)).cuts == (), response.url
        pages += 1
    assert pages >= len(any_bed) > 500
