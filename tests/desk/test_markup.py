"""No text can become markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.desk.markup import element, join


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(), st.text())
def test_text_stays_text_and_an_attribute_stays_one(content: str, value: str) -> None:
    parser = _Tags()
    parser.feed(str(element("p", content, title=value, data_x=1)))
    parser.close()
    assert [tag for tag, _ in parser.tags] == ["p"]
    assert [name for name, _ in parser.tags[0][1]] == ["title", "data-x"]


def test_elements_nest_and_nothing_is_left_out_but_none() -> None:
    made = join(element("ul", [element("li", 1), None, element("li", "<2>")], class_="x"), element("br"))
    assert str(made) == '<ul class="x"><li>1</li><li>&lt;2&gt;</li></ul><br>'
    assert str(element("input", required=True, disabled=False, value=None)) == "<input required>"


@pytest.mark.parametrize("attribute", ["onclick", "ONLOAD", "style", "x y", 'x"'])
def test_attributes_that_could_run_or_break_out_are_refused(attribute: str) -> None:
    with pytest.raises(ValueError, match="attribute not allowed"):
        element("p", **{attribute: "x"})


def test_characters_that_turn_the_text_around_are_shown_as_such() -> None:
    assert str(element("p", "a\u202eb\x00")) == "<p>a\ufffdb\ufffd</p>"
