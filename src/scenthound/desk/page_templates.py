"""Renders the pages of the desk from the templates beside it.

Every page extends `frame.html` and uses the macros of `parts.html`. A page of a collection gets `name`, and `without`,
the entries that its navigation leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from scenthound.lab.report.formatting import number
from scenthound.report.charts import shares
from scenthound.report.wording import in_words
from scenthound.templates import environment


def render(template: str, **values: Any) -> str:
    """The HTML of a page."""
    return TEMPLATES.get_template(template).render(values, address=partial(address, values.get("name", "")))


def address(name: str, page: str = "", **query: Any) -> str:
    """The path of a page of a collection; templates leave out the name."""
    return f"/c/{quote(name)}{f'/{page}' if page else ''}?{urlencode(query)}"


def short(url: str, most: int = 72) -> str:
    """A URL without its scheme, shortened in the middle.

    >>> short("https://example.org/a/very/long/path/to/a/page.html", 28)
    'example.org/a/ve/…/page.html'
    """
    bare = url.partition("://")[2] or url
    if len(bare) <= most:
        return bare
    end = bare.rstrip("/").rpartition("/")[2][-most // 2 :]
    return f"{bare[: most - len(end) - 3].rstrip('/')}/…/{end}"


def score_text(score: Any) -> str:
    return f"{score:.3g}" if isinstance(score, float | int) else "infinity (fetched first)"


def facts_in_words(facts: Mapping[str, Any]) -> str:
    """The facts of a strategy's note, but for the agent, which the page shows as a link."""
    return ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in facts.items() if key != "agent")[:300]


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def link_detail(link: Mapping[str, Any]) -> str:
    """What a link's state means for this link: the page's number, its score, why the request failed."""
    state, detail = link["state"], link["detail"]
    if state == "fetched":
        return f" as page {detail}"
    if state == "waiting":
        try:
            return f", score {float(detail):.3g}"
        except ValueError:
            return ""
    return f": {in_words(detail)}" if detail and state == "failed" else ""


def first_upper(text: str) -> str:
    """The text with its first letter in upper case; unlike `capitalize`, the others stay as they are."""
    return text[:1].upper() + text[1:]


def sentence(message: str) -> str:
    """An error or a hint as a sentence. They are written for terminals, with names in backticks."""
    return first_upper(re.sub(r"`([^`]*)`", r"“\1”", message))


TEMPLATES = environment("scenthound.desk")
FILTERS = (short, score_text, facts_in_words, link_detail, first_upper, sentence, in_words, number)
TEMPLATES.filters |= {function.__name__: function for function in FILTERS}
TEMPLATES.globals["shares"] = shares
