"""Make a stored page safe to read: rebuild its text and structure from a short list of allowed elements.

None of the page's own markup is passed on. Only allowed elements are kept, text is escaped, and all attributes are
dropped, so there are no scripts, styles or forms, and no URLs to load or follow. The response also has its own policy:
a sandbox with an opaque origin and no network access.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from scenthound.desk.page_templates import render
from scenthound.web.html_document import HtmlDocument

BLOCKS = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot tr td th blockquote pre hr figure figcaption "
    "article section main header footer nav aside div address caption".split()
)
INLINE = frozenset("a b strong i em u s code kbd sub sup small mark q cite abbr br span time".split())
UNREADABLE = frozenset(("select", "option", "textarea", "button", "svg", "math"))
RENAMED = {"a": "u", "main": "div", "address": "div"}
"""Links become underlined text that can't be clicked."""
MOST_NODES = 50_000
DEEPEST = 60
STYLE = """
:root { color-scheme: light dark; }
body { margin: 16px; max-width: 70ch; font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 24px; } h2, h3 { font-size: 18px; } h4, h5, h6 { font-size: 15px; }
table { border-collapse: collapse; } td, th { padding: 4px 8px; border: 1px solid #8886; vertical-align: top; }
pre { overflow-x: auto; } u { text-decoration-color: #8888; }
"""
STYLE_HASH = "'sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode() + "'"
POLICY = (
    f"sandbox; default-src 'none'; style-src {STYLE_HASH}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def stored_copy(document: HtmlDocument) -> str:
    """Return the complete HTML of the copy."""
    body = next(iter(document.root.css("body")), document.root) if document.root is not None else None
    pieces = _Copy().pieces(body, 0) if body is not None else ()
    return render("copy.html", title=document.title, style=STYLE, pieces=pieces)


class _Copy:
    """Copies a page as pieces, each a tag or a text; the number of nodes is limited."""

    def __init__(self) -> None:
        self._nodes_left = MOST_NODES

    def pieces(self, node: LexborNode, depth: int) -> Iterator[tuple[str, str]]:
        child = node.first_child
        while child is not None and self._nodes_left > 0:
            self._nodes_left -= 1
            yield from self._of_node(child, depth)
            child = child.next

    def _of_node(self, node: LexborNode, depth: int) -> Iterator[tuple[str, str]]:
        if node.is_text_node:
            yield "", node.text_content or ""
        if not node.is_element_node or depth >= DEEPEST:
            return
        name = node.tag or ""
        if name == "img":
            if alternative := (node.attributes.get("alt") or "").strip():
                yield from (("small", ""), ("", f"[image: {alternative[:200]}]"), ("/small", ""))
        elif name in ("br", "hr"):
            yield name, ""
        elif name in BLOCKS or name in INLINE:
            tag = RENAMED.get(name, name)
            yield tag, ""
            yield from self.pieces(node, depth + 1)
            yield f"/{tag}", ""
        else:
            pieces = list(self.pieces(node, depth + 1))  # read in any case: its nodes count
            if name not in UNREADABLE:
                yield from pieces
