"""Extract the text of a page without menus, footers and advertisements, with Resiliparse (docs/decisions/0022)."""

from __future__ import annotations

from scenthound.errors import BadUsage

LONGEST = 2_000_000  # characters of HTML that are read; a larger page is a list or a dump without an article


def main_text(html: str) -> str:
    """The main text of an HTML page. Raises `BadUsage` if the extra `text` is not installed."""
    try:
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError:
        raise BadUsage("main text needs the package resiliparse", "pip install 'scenthound[text]'") from None
    clean = html[:LONGEST].encode("utf-8", "replace").decode()
    return str(extract_plain_text(clean, main_content=True, alt_texts=False, links=False)) if clean.strip() else ""
