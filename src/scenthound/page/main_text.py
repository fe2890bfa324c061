"""The text of a page without menus, footers and advertisements, and its language, offline with Resiliparse
(docs/decisions/0002).
"""

from __future__ import annotations

import unicodedata

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


ENOUGH = 20_000  # characters of the text that are used
SHORTEST = 20  # letters; the language of shorter texts is uncertain


def language_of(text: str) -> str:
    """The language as an ISO 639-1 code; empty if it is uncertain. Raises `BadUsage` without the extra `text`."""
    try:
        from resiliparse.parse.lang import detect_fast
    except ImportError:
        raise BadUsage("language needs the package resiliparse", "pip install 'scenthound[text]'") from None
    start = unicodedata.normalize("NFC", text[:ENOUGH].encode("utf-8", "replace").decode())
    if sum(map(str.isalpha, start)) < SHORTEST:
        return ""
    name = detect_fast(start)[0]
    return "" if name == "unknown" else str(name)
