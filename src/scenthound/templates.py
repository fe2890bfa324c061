"""HTML for people comes from jinja2 templates, in which every value is escaped.

Each surface (the report of a crawl, the lab's report, the desk, the portal) is a package with a folder `templates`: a
file per page, the macros that they share, and one style sheet. A template gets plain values and objects; what is
already HTML is a `Markup`, and only another template or `charts` makes one.
"""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def environment(*packages: str) -> Environment:
    """The templates of these packages; a name that several have is taken from the first. A missing value raises."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
