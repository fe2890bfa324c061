"""HTML for people comes from jinja2 templates, in which every value is escaped.

Each surface (the report of a crawl, the lab's report, the desk, the portal) is a package with a folder `templates`: a
file per page, the macros that they share, and one style sheet. A template gets plain values and objects; what is
already HTML is a `Markup`, and only another template, `charts`, `text` or `link` makes one. `{{ pages | figure }}`
writes 12,345; `{{ title | text(90) }}` and `{{ url | link }}` show what comes from the web.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from scenthound.formats import duration, printable, size

__all__ = ["Markup", "environment", "link", "text"]
LONGEST = 160  # characters of a title, an anchor or a URL as shown; links keep the whole URL

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""Characters that HTML forbids, and those that change the text direction."""


def _shown(value: Any) -> Any:
    """What a template shows of a value: nothing of None, text without forbidden characters."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return _FORBIDDEN.sub("\ufffd", value)
    return "" if value is None else value


@cache
def environment(*packages: str) -> Environment:
    """The templates of these packages; a name that several have is taken from the first. A missing value raises."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters["figure"] = lambda number, form=",": format(number, form)
    made.filters |= {"text": text, "link": link, "printable": printable, "duration": duration, "size": size}
    made.filters["px"] = "{:.1f}".format  # coordinates of drawings
    return made


def text(raw: str, most: int = LONGEST) -> Markup:
    """Text from the web, cleaned, shortened and escaped; `bdi` isolates its writing direction."""
    shown = Markup.escape(printable(raw, most))
    return shown if raw.isascii() else Markup("<bdi>{}</bdi>").format(shown)


def link(url: str, label: str = "", most: int = LONGEST) -> Markup:
    """An HTML link if the URL is http(s), otherwise only its text."""
    shown = text(label or url, most)
    if not url.lower().startswith(("http://", "https://")) or not url.isprintable():
        return shown
    tag = Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>')
    return tag.format(url, shown)
