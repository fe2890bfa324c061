"""Make a stored page safe to read: rebuild its text and structure from a short list of allowed elements.

None of the page's own markup is passed on. Only allowed elements are kept, text is escaped, and all attributes are
dropped, so there are no scripts, styles or forms, and no URLs to load or follow. The response also has its own policy:
a sandbox with an opaque origin and no network access.
"""

from __future__ import annotations

import base64
import hashlib

from selectolax.lexbor import LexborNode

from scenthound.desk.markup import Markup, element, join, text
from scenthound.web.html_document import HtmlDocument

BLOCKS = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot tr td th blockquote pre hr figure figcaption "
    "article section main header footer nav aside div address caption".split()
)
INLINE = frozenset("a b strong i em u s code kbd sub sup small mark q cite abbr br span time".split())
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
    content = _Copy().children(body, 0) if body is not None else text("")
    head = join(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", document.title),
        Markup(f"<style>{STYLE}</style>"),
    )
    return f"<!doctype html>\n{element('html', element('head', head), element('body', content), lang='en')}"


class _Copy:
    """Copies a page; the number of nodes is limited."""

    def __init__(self) -> None:
        self._nodes_left = MOST_NODES

    def children(self, node: LexborNode, depth: int) -> Markup:
        parts: list[Markup] = []
        child = node.first_child
        while child is not None and self._nodes_left > 0:
            self._nodes_left -= 1
            parts.append(self._node(child, depth))
            child = child.next
        return join(*parts)

    def _node(self, node: LexborNode, depth: int) -> Markup:
        if node.is_text_node:
            return text(node.text_content or "")
        if not node.is_element_node or depth >= DEEPEST:
            return text("")
        name = node.tag or ""
        if name == "img":
            alternative = (node.attributes.get("alt") or "").strip()
            return element("small", f"[image: {alternative[:200]}]") if alternative else text("")
        if name in ("br", "hr"):
            return element(name)
        content = self.children(node, depth + 1)
        if name in BLOCKS or name in INLINE:
            return element(RENAMED.get(name, name), content)
        return content if name not in ("select", "option", "textarea", "button", "svg", "math") else text("")
