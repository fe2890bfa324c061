"""No text can become markup in a template."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

import scenthound
from scenthound.templates import environment

TEMPLATES = environment()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attrs]))


@given(st.text(), st.text())
def test_text_stays_text_and_an_attribute_stays_one(content: str, value: str) -> None:
    parser = _Tags()
    template = TEMPLATES.from_string('<p title="{{ value }}" data-x="{{ 1 }}">{{ content }}</p>')
    parser.feed(template.render(content=content, value=value))
    parser.close()
    assert parser.tags == [("p", ["title", "data-x"])]


def test_characters_that_turn_the_text_around_are_shown_as_such() -> None:
    assert TEMPLATES.from_string("<p>{{ text }}</p>").render(text="a\u202eb\x00") == "<p>a\ufffdb\ufffd</p>"


def test_nothing_is_shown_of_none_and_a_missing_value_raises() -> None:
    template = TEMPLATES.from_string("<p>{{ text }}{{ pages | figure }} {{ 0.5 | figure('.0%') }}</p>")
    assert template.render(text=None, pages=1234) == "<p>1,234 50%</p>"
    with pytest.raises(UndefinedError):
        template.render(pages=1)


def test_no_template_turns_escaping_off_or_has_a_value_outside_quotes() -> None:
    """The one exception is the style sheet in a chart that is saved as a file."""
    files = [file for file in Path(scenthound.__path__[0]).rglob("templates/*") if file.suffix in (".html", ".svg")]
    assert len(files) > 20
    for file in files:
        source = file.read_text(encoding="utf-8").replace("<style>{{ style|safe }}</style>", "")
        assert not re.search(r"\|\s*safe|autoescape|<script>|\s[\w-]+=\{\{|\son\w+=", source), file
