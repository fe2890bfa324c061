"""How much of a page is read."""

from __future__ import annotations

from dataclasses import dataclass

from scenthound import url as urls
from scenthound.web.guard import SHAPE
from scenthound.web.html_document import MAX_LINKS

MOST_TEXT = 1 << 19  # characters of a page's text that are kept; the longest of 13,506 recorded pages has 99,897


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How much of a page is read. Live defaults (design, section 4); the papers' smaller ones are lab profiles."""

    unpacked: int = 10_000_000
    """Bytes after decompression; the rest is cut off."""
    ratio: int = 200
    """A body that unpacks to more than so many times its size, and to more than a megabyte, is a bomb."""
    links: int = MAX_LINKS
    url_length: int = urls.LONGEST
    tags: int = SHAPE.tags
    nesting: int = SHAPE.nesting
    """Deeper pages are flattened, see `guard`."""
    attributes: int = SHAPE.attributes
    """Of one tag; those after are dropped."""
    pdf: bool = False
    """Whether PDF files are pages."""
    default_pages: tuple[str, ...] = ()
    """File names that stand for their folder, see `url.UrlRules`."""

    @property
    def url_rules(self) -> urls.UrlRules:
        return urls.UrlRules(self.url_length, self.default_pages)


LIMITS = PageLimits()
