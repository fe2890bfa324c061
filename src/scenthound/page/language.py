"""Detect the language of a text offline, with Resiliparse (docs/decisions/0022)."""

from __future__ import annotations

import unicodedata

from scenthound.errors import BadUsage

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
