"""The shape of a URL: its depth, its extension and the kind of words in its last path segment.

Names of the same kind of thing often look alike: people have two capitalised words, concepts one; lists begin with a
small letter or contain a year. The shape captures this without the words themselves.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

MOST_WORDS = 5
MOST_SEGMENTS = 4
LONGEST_EXTENSION = 5
_WORDS = re.compile(r"[^\W_]+")


def address_shape(url: str) -> str:
    """Path depth, `?` if there is a query, the file extension, and the kind of each word in the last segment.

    A word is `X` if it begins with a capital, `0` with a digit, else `x`.

    >>> address_shape("http://a.test/wp/j/James_Joyce.htm"), address_shape("http://a.test/b/2007-review/")
    ('3htm:XX', '3:0x')
    >>> address_shape("http://a.test/"), address_shape("http://a.test/item.php?id=7")
    ('1:', '1?php:x')
    """
    path, _, query = url.partition("://")[2].partition("/")[2].partition("?")
    name = path.rstrip("/").rpartition("/")[2]
    if "%" in name:
        name = unquote(unquote(name))
    stem, _, extension = name.rpartition(".")
    if not stem or len(extension) > LONGEST_EXTENSION:
        stem, extension = name, ""
    kinds = ""
    for word in _WORDS.findall(stem)[:MOST_WORDS]:
        kinds += "0" if word[0].isdigit() else "X" if word[0].isupper() else "x"
    return f"{min(path.count('/') + 1, MOST_SEGMENTS)}{'?' if query else ''}{extension}:{kinds}"
