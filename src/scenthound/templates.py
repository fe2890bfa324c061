"""HTML for people comes from jinja2 templates, in which every value is escaped.

Each surface (the report of a crawl, the lab's report, the desk, the portal) is a package with a folder `templates`: a
file per page, the macros that they share, and one style sheet. A template gets plain values and objects; what is
already HTML is a `Markup`, and only another template or `charts` makes one. `{{ pages | figure }}` writes 12,345.
"""

from __future__ import annotations

import re
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["Markup", "environment"]

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""Characters that HTML forbids, and those that change the text direction."""


def _shown(value: Any) -> Any:
    """What a template shows of a value: nothing of None, text without forbidden characters."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return _FORBIDDEN.sub("\ufffd", value)
    return "" if value is None else value


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
    return made
