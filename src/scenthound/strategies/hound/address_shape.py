"""The shape of an address: what kind of name its last part is.

Names of one kind of thing are often formed alike: people have two words with capitals, concepts one, lists begin with
a small letter or hold a year. The shape says that without the words themselves.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

MOST_WORDS = 5
MOST_SEGMENTS = 4
LONGEST_EXTENSION = 5
_NOT_WORDS = re.compile(r"[\W_]+")


def address_shape(url: str) -> str:
    """Depth of the path, whether there is a query, the file extension, and the kind of each word of the last segment.

    >>> address_shape("http://a.test/wp/j/James_Joyce.htm"), address_shape("http://a.test/b/2007-review/")
    ('3htm:XX', '3:0x')
    >>> address_shape("http://a.test/"), address_shape("http://a.test/item.php?id=7")
    ('1:', '1?php:x')
    """
    path, _, query = url.partition("://")[2].partition("/")[2].partition("?")
    segments = path.split("/")
    filled = [segment for segment in segments if segment]
    name = unquote(unquote(filled[-1])) if filled else ""
    stem, _, extension = name.rpartition(".")
    if not stem or len(extension) > LONGEST_EXTENSION:
        stem, extension = name, ""
    words = [word for word in _NOT_WORDS.split(stem) if word][:MOST_WORDS]
    kinds = "".join("0" if word[0].isdigit() else "X" if word[0].isupper() else "x" for word in words)
    return f"{min(len(segments), MOST_SEGMENTS)}{'?' if query else ''}{extension}:{kinds}"
