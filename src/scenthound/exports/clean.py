"""Text from the web made fit to be shown to a person, on a terminal or anywhere else."""

from __future__ import annotations

import re
import unicodedata

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]"  # the two-character ones
)
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # needed to write Persian, Hindi and some emoji; they move nothing


def clean(text: str, most: int = 0) -> str:
    """One line without escape sequences, control characters or marks that turn the direction of text.

    Runs of white space become one blank. With `most` it is cut to so many characters.

    >>> clean("\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07bell\\n\\u202etxt.exe")
    'red bell txt.exe'
    """
    if most and len(text) > 20 * most + 1000:
        text = text[: 20 * most + 1000]
    if not (text.isascii() and text.isprintable()):
        text = _SEQUENCES.sub("", text)
        text = "".join(c if c.isprintable() or c in _JOINERS else _instead(c) for c in text)
    text = " ".join(text.split())
    return text[: most - 1] + "…" if most and len(text) > most else text


def _instead(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character) in _UNSEEN else character
