"""What a body is: its media type, its encoding, and the request headers that ask for them.

Media types are parsed according to the MIME Sniffing standard, which also decides whether a body is HTML. Encodings are
found according to the HTML and Encoding standards, or guessed. The fetcher sends `request_headers`, and the archive
records them.
"""

from __future__ import annotations

import codecs
import importlib.util
import re
from collections.abc import Iterable
from typing import NamedTuple

LONGEST = 10_000  # characters read of a header

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)("?)', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_COMMA = re.compile(r'((?:[^",]|"(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z))*+)(?:,|\Z)', re.DOTALL)
_SPACE = "\t\n\r "

_HTML = frozenset(("text/html", "application/xhtml+xml"))
_UNKNOWN = frozenset(("unknown/unknown", "application/unknown", "*/*"))
_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*(?:<!--|<\?xml|<(?:!doctype[ ]html|html|head|script|iframe|h1|div|font|table|a"
    rb"|style|title|b|body|br|p|meta|link)[\t\n\f\r />])",
    re.IGNORECASE,
)


class Mime(NamedTuple):
    """A media type: its `essence` in lower case, and its parameters in order, the first of each name."""

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    def parameter(self, name: str) -> str | None:
        return next((value for key, value in self.parameters if key == name), None)

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_written(value)}" for name, value in self.parameters)


def parse(text: str) -> Mime | None:
    """The media type in `text`, parsed with the standard's algorithm; None if it is invalid.

    >>> str(parse('Text/HTML ; charset="utf\\\\-8"; charset=gbk'))
    'text/html;charset=utf-8'
    """
    text = text[:LONGEST].strip(_SPACE)
    kind, slash, rest = text.partition("/")
    subtype, _, rest = rest.partition(";")
    subtype = subtype.rstrip(_SPACE)
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    return Mime(f"{kind}/{subtype}".lower(), tuple(_parameters(rest).items()))


def _parameters(rest: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    position = 0
    while position < len(rest):
        while position < len(rest) and rest[position] in _SPACE:
            position += 1
        end = _find_any(rest, position, ";=")
        name = rest[position:end].lower()
        position = end + 1
        if end >= len(rest) or rest[end] == ";":
            continue
        if rest[position : position + 1] == '"':
            quoted = _QUOTED.match(rest, position)
            assert quoted is not None  # it matches any opening quote
            value = _ESCAPE.sub(r"\1", quoted[1])
            if not quoted[2] and rest[quoted.end() :] == "\\":
                value += "\\"
            position = _find_any(rest, quoted.end(), ";") + 1
        else:
            end = _find_any(rest, position, ";")
            value = rest[position:end].rstrip(_SPACE)
            position = end + 1
            if not value:
                continue
        if name not in parameters and _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            parameters[name] = value
    return parameters


def _find_any(text: str, start: int, characters: str) -> int:
    """The position of the first of these characters; the length of the text if there is none."""
    positions = [position for character in characters if (position := text.find(character, start)) >= 0]
    return min(positions, default=len(text))


def _written(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def extract(values: Iterable[str]) -> Mime | None:
    """The media type of a response from all its Content-Type headers, according to the Fetch standard.

    The last valid header counts; if it has no charset, the charset of an earlier header of the same type is used.
    """
    result: Mime | None = None
    charset: str | None = None
    for part in _COMMA.findall(",".join(values)[:LONGEST]):
        mime = parse(part)
        if mime is None or mime.essence == "*/*":
            continue
        if result is None or mime.essence != result.essence:
            charset = mime.parameter("charset")
        elif mime.parameter("charset") is None and charset is not None:
            mime = Mime(mime.essence, (*mime.parameters, ("charset", charset)))
        result = mime
    return result


def is_html(mime: Mime | None, body: bytes) -> bool:
    """Whether a browser would show the body as HTML, based on its type, or on its first bytes if that is unknown."""
    if mime is not None and mime.essence not in _UNKNOWN:
        return mime.essence in _HTML
    opening = _OPENING.match(body)
    if opening is None:
        return False
    return not opening[0].lower().endswith(b"<?xml") or b"<html" in body[:2048].lower()


PRESCAN = 1024  # bytes in which the standard looks for a <meta>
LATE = 1 << 16  # bytes searched for a <meta> before guessing; a browser would find it while parsing
PIECE = 1 << 16  # bytes of a long body decoded at a time
SAMPLE = 4096  # bytes around the first non-ASCII byte, from which the encoding is guessed
FALLBACK = "windows-1252"

# The labels of the Encoding standard, in lower case. Each line begins with the name of the encoding, also a label.
_LABELS = """
utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866 866 cp866 csibm866
iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127
iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987
iso-8859-7 sun_eu_greek
iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988
iso-8859-8 visual
iso-8859-8-i csiso88598i logical
iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso8859-13 iso885913
iso-8859-14 iso8859-14 iso885914
iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16
koi8-r cskoi8r koi koi8 koi8_r
koi8-u koi8-ru
macintosh csmacintosh mac x-mac-roman
windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250 cp1250 x-cp1250
windows-1251 cp1251 x-cp1251
windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1
windows-1252 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
windows-1253 cp1253 x-cp1253
windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
windows-1255 cp1255 x-cp1255
windows-1256 cp1256 x-cp1256
windows-1257 cp1257 x-cp1257
windows-1258 cp1258 x-cp1258
x-mac-cyrillic x-mac-ukrainian
gbk chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030
big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp cseucpkdfmtjapanese x-euc-jp
iso-2022-jp csiso2022jp
shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr
utf-16be unicodefffe
utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
x-user-defined
"""
_NAMES = {label: words[0] for line in _LABELS.split("\n") if (words := line.split()) for label in words}

# The standard's names to Python's, where they differ: mostly a vendor's superset.
_CODECS = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
# Encodings that may be guessed, by Python's names.
_GUESSABLE = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "iso8859_2"),
    *("koi8_r", "koi8_u", "cp866", "gb18030", "big5", "euc_jp", "shift_jis", "cp932", "euc_kr", "cp949"),
]
_GUESSED = {
    "iso8859_2": "iso-8859-2",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "cp866": "ibm866",
}

# What the prescan recognises: a comment, a <meta>, any other tag up to its attributes, any other markup.
_MARKUP = re.compile(
    rb"<!--(?:-?>|.*?(?:-->|\Z))|<(meta)(?=[\t\n\f\r /])|<(/?[a-z])[^\t\n\f\r >]*|<[!/?][^>]*",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*)|(?=>)))?"
)
_CHARSET = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))",
    re.IGNORECASE,
)
_XML = re.compile(rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*([\"'])([^\"'>\x00-\x20]*)\1")


class Charset(NamedTuple):
    """The standard name of an encoding, and its source: `bom`, `header`, `meta`, `guess`, `default`."""

    name: str
    source: str


def encoding_for(label: str) -> str | None:
    """The encoding for a label in the Encoding standard, such as windows-1252 for `latin1`; None if unknown."""
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def detect(body: bytes, content_type: str = "") -> Charset:
    """The encoding of a page: from its byte order mark, the header, a `<meta>`, or a guess."""
    if body.startswith(b"\xef\xbb\xbf"):
        return Charset("utf-8", "bom")
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Charset("utf-16le" if body[0] == 0xFF else "utf-16be", "bom")
    if content_type:
        mime = parse(content_type)
        if mime is not None and (label := mime.parameter("charset")) and (name := encoding_for(label)):
            return Charset(name, "header")
    if name := prescan(body[:PRESCAN]):
        return Charset(name, "meta")
    if body.isascii():
        return Charset(FALLBACK, "default")
    return _guess(body)


def to_text(body: bytes, content_type: str = "") -> str:
    """The body as text. Never fails: invalid bytes become U+FFFD."""
    return decode(body, detect(body, content_type).name)


def decode(body: bytes, name: str, most: int | None = None) -> str:
    """The body, decoded from an encoding of the standard, without its byte order mark.

    With `most`, it stops somewhere after this many characters.
    """
    if most is not None and len(body) > most + PIECE and name not in ("replacement", "x-user-defined"):
        return _decode_beginning(body, name, most)
    if name == "replacement":
        return "\N{REPLACEMENT CHARACTER}" if body else ""
    if name == "x-user-defined":
        return body.decode("latin-1").translate(_USER_DEFINED)
    try:
        text = body.decode(_CODECS.get(name, name), "replace")
    except (LookupError, UnicodeError):  # not a name of the standard
        text = body.decode(FALLBACK, "replace")
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def _decode_beginning(body: bytes, name: str, most: int) -> str:
    """The first characters of a long body, with memory for nothing but these: read twice, first to count them."""
    try:
        codec = codecs.lookup(_CODECS.get(name, name))
    except LookupError:  # not a name of the standard
        codec = codecs.lookup(FALLBACK)
    assert codec.incrementaldecoder is not None  # every encoding of the standard has one
    decoder, size, end = codec.incrementaldecoder("replace"), 0, 0
    while size <= most + 1 and end < len(body):  # one more, because the last character may be cut in two
        size += len(decoder.decode(body[end : end + PIECE]))
        end += PIECE
    return codec.decode(memoryview(body)[:end], "replace")[0].removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


_USER_DEFINED = {code: 0xF700 + code for code in range(0x80, 0x100)}


def prescan(head: bytes) -> str | None:
    """The encoding in a `<meta>`, found with the HTML standard's prescan, or else in an XML declaration, or None."""
    if head.startswith((b"<\0?\0x\0", b"\0<\0?\0x")):
        return "utf-16le" if head[1] == 0 else "utf-16be"
    position = 0
    while (markup := _MARKUP.search(head, position)) is not None:
        position = markup.end()
        if markup[1] or markup[2]:
            attributes, position = _attributes(head, position)
            if position >= len(head):  # the tag is cut off
                break
            if markup[1] and (name := _meta(attributes)):
                return name
    declared = _XML.match(head)
    name = encoding_for(declared[2].decode("latin-1")) if declared else None
    return "utf-8" if name in ("utf-16le", "utf-16be") else name


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of a tag (the first of each name), and where they end."""
    attributes: dict[bytes, bytes] = {}
    while (attribute := _ATTRIBUTE.match(head, position)) is not None:
        position = attribute.end()
        attributes.setdefault(attribute[1].lower(), attribute[2] or attribute[3] or attribute[4] or b"")
        if head[position : position + 1] in (b'"', b"'") and head[:position].rstrip(b"\t\n\f\r ").endswith(b"="):
            return attributes, len(head)  # an unclosed quote
    rest = head[position:]
    return attributes, len(head) - len(rest.lstrip(b"\t\n\f\r /"))


def _meta(attributes: dict[bytes, bytes]) -> str | None:
    """The encoding that a `<meta>` with these attributes names."""
    name = None
    if b"charset" in attributes:
        name = encoding_for(attributes[b"charset"].decode("latin-1"))
    elif attributes.get(b"http-equiv", b"").lower() == b"content-type":
        content = _CHARSET.search(attributes.get(b"content", b""))
        if content is not None:
            name = encoding_for((content[1] or content[2] or content[3] or b"").decode("latin-1"))
    # A page with a readable tag is not in UTF-16, and x-user-defined is only meant for scripts.
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": FALLBACK}.get(name or "", name)


def _first_invalid(body: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8; None if all are, perhaps cut at the end."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(body), PIECE):  # in pieces, because the text of all of it can take twice its bytes
        held_back = len(decoder.getstate()[0])
        try:
            decoder.decode(body[start : start + PIECE])
        except UnicodeDecodeError as error:
            return start - held_back + error.start
    return None


def _guess(body: bytes) -> Charset:
    """UTF-8 if the body is valid UTF-8 (perhaps cut at the end), else a late `<meta>`, else a statistical guess."""
    first = _first_invalid(body)
    if first is None:
        return Charset("utf-8", "guess")
    if late := prescan(body[:LATE]):
        return Charset(late, "meta")
    from charset_normalizer import from_bytes  # slow to import, and rarely needed

    start = max(0, min(first - SAMPLE // 8, len(body) - SAMPLE))
    best = from_bytes(body[start : start + SAMPLE], steps=4, cp_isolation=_GUESSABLE, preemptive_behaviour=False).best()
    if best is None:
        return Charset(FALLBACK, "default")
    name = _GUESSED.get(best.encoding) or encoding_for(best.encoding.replace("_", "-"))
    return Charset(name, "guess") if name else Charset(FALLBACK, "default")


ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"


def request_headers(user_agent: str) -> tuple[tuple[str, str], ...]:
    """The headers of a request except Host, in the order in which they are sent."""
    codings = "gzip, deflate, br" if importlib.util.find_spec("brotli") else "gzip, deflate"
    return (("User-Agent", user_agent), ("Accept", ACCEPT), ("Accept-Encoding", codings))
