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
_WORDS = re.compile(r"[^\W_]+")


def address_shape(url: str) -> str:
    """Depth of the path, whether there is a query, the file extension, and the kind of each word of the last segment.

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
