"""Change HTML that would be slow to parse, so that parsing takes linear time.

Every HTML5 parser is quadratic on some inputs, because the standard's own algorithm is. Measured on lexbor:

    100,000 nested <div>, 0.5 MB                 27 to 37 s    each start tag searches the stack of open elements
    50,000 attributes on one tag                  4 to 5 s     each is compared with all before it
    2,000 times <p><font c=N>x, 33 KB        1 to 2 s, 720 MB  each paragraph opens all fonts again

`tame` returns text without these costs that has the same content for a crawler. It changes as little as possible:

* too many attributes: only the first of them are kept
* too many unclosed formatting elements: all formatting tags (`b`, `font` …) become spaces; the rest of the tree stays
* nesting too deep: the page is flattened. Every element that can nest becomes a paragraph; text, links, title, metas
  and base stay
* more characters or tags than the limit: the text is cut there

Normal pages are not changed; none of 13,548 recorded pages is. For nearly all pages counting `<` is enough; a page is
tokenised in Python only above 4,000 tags, where the worst nesting begins to matter.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Shape:
    """The limits of a page, above which it is changed."""

    characters: int = 3_000_000
    """Length of the HTML source. A parsed page takes at least three times as much memory."""
    tags: int = 150_000
    """Number of `<`, two for most elements; each element takes 400 bytes. The largest of 13,548 recorded pages has
    9,300."""
    nesting: int = 512
    """Unclosed elements inside each other; browsers stop at 512, too."""
    attributes: int = 250
    """Attributes of one tag."""
    reopened: int = 500_000
    """Elements that unclosed formatting can make the parser add (180 MB, 0.14 s measured). With 200,000 a normal
    recorded page would be changed."""


SHAPE = Shape()


class Tamed(NamedTuple):
    """Text for the parser, and the changes: `characters`, `tags`, `attributes`, `formatting`, `nesting`."""

    text: str
    cuts: tuple[str, ...] = ()


FORMATTING_FROM = 1000  # tags below which the worst formatting attack takes 40 ms and 45 MB
NESTING_FROM = 4000  # tags; this many nested <div> take 26 ms
LONG_TAG = 300  # characters without `>`; a shorter tag has fewer than 150 attributes
EXACT_FROM = 48_000  # characters below which a tag that hides its length with quoted `>` takes 0.2 s


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_VOID = _names("area base br col embed hr img input link meta param source track wbr")
# Closed by the next element of their kind: they nest only inside others, which are counted. For each element counted,
# at most three of these (tbody, tr, td) are on the parser's stack.
_IMPLIED = _names(
    "p li dd dt option optgroup tr td th tbody thead tfoot colgroup rb rt rp rtc html head body frame image"
)
# An end tag does not close anything outside of these (the standard's "scope").
_BARRIER = _names("table caption object applet marquee template select button svg math foreignobject")
_RAW = _names("script style textarea title xmp iframe noembed noframes")  # contain no tags but their own end tag
# Inside <svg> and <math> other rules apply: no element is void or raw, `/>` closes, and these tags return to HTML …
_BREAKOUT = _names(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
# … while these contain HTML.
_HTML_INSIDE = {"svg": _names("foreignobject desc title"), "math": _names("mi mo mn ms mtext")}
_FORMATTING = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_KINDS = frozenset(_FORMATTING.split("|"))
_KEPT = "a|area|base|body|frame|frameset|head|html|iframe|img|link|meta|p|script|style|template|textarea|title"

# One attribute as the standard's tokeniser reads it. Possessive throughout: no backtracking.
_SPACE = r"[\t\n\f\r ]"
_ATTRIBUTE = (
    rf"(?:[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+))?+)"
)
_LONG = re.compile(rf"<[a-zA-Z][^>]{{{LONG_TAG}}}")
_OPENING = re.compile(r"<[a-zA-Z]")
# Anything like a formatting tag with attributes; names are checked afterwards. One pattern with IGNORECASE would take
# four times as long, because the engine could not use its fast search for `<`.
_ALIKE = re.compile(r"<([bcefinstuBCEFINSTU][a-zA-Z]{0,5})[\t\n\f\r /]")
_ANY_FORMATTED = re.compile(rf"<(?:{_FORMATTING})(?=[\t\n\f\r />])", re.IGNORECASE)
# Tags so simple that equal spelling means equal tags, and that nothing is hidden in a quote.
_PLAINLY_FORMATTED = re.compile(
    rf"<(?:{_FORMATTING})(?:{_SPACE}++[\w:-]++(?:=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\t\n\f\r \"'<>=/]++))?+)*+ ?+/?+>",
    re.IGNORECASE,
)
_FORMATTING_TAG = re.compile(rf"</?(?:{_FORMATTING})(?=[\t\n\f\r />])[^>]*+(?:>|\Z)", re.IGNORECASE)
_OTHER_TAG = re.compile(rf"</?(?!(?:{_KEPT})[\t\n\f\r />])[a-zA-Z][^>]*+(?:>|\Z)", re.IGNORECASE)
_TOKEN = re.compile(
    r"<!--(?:-?>|(?s:.*?)(?:--!?>|\Z))"
    rf"|<(/?)([a-zA-Z][^\t\n\f\r />]*+){_ATTRIBUTE}*+[\t\n\f\r ]*+(/?)[\t\n\f\r /]*+(?:>|\Z)"
    r"|<[!?/][^>]*+(?:>|\Z)"
)
_RAW_END = {name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE) for name in _RAW}
_SCRIPT_MARK = re.compile(r"<!---?>|<!--|-->|(<script(?=[\t\n\f\r />]))|(</script(?=[\t\n\f\r />]))", re.IGNORECASE)
_FONT_OF_HTML = re.compile(r"[\t\n\f\r /](?:color|face|size)[\t\n\f\r />=]", re.IGNORECASE)
_HOLDS_HTML = re.compile(r"encoding[\t\n\f\r ]*=[\t\n\f\r \"']*(?:text/html|application/xhtml\+xml)", re.IGNORECASE)


def tame(text: str, shape: Shape = SHAPE) -> Tamed:
    """The text, changed only where the parser would be too slow. Takes linear time."""
    cuts: list[str] = []
    if len(text) > shape.characters:
        text = text[: shape.characters]
        cuts.append("characters")
    if len(text) > 2 * shape.attributes:
        trimmed = _trim_attributes(text, shape.attributes)
        if trimmed is not text:
            text = trimmed
            cuts.append("attributes")
    tags = text.count("<") if len(text) > 3 * FORMATTING_FROM else 0
    if tags > shape.tags:
        text = text[: next(islice(re.finditer("<", text), shape.tags, None)).start()]
        tags = shape.tags
        cuts.append("tags")
    if tags > FORMATTING_FROM and _may_reopen(text, tags, shape.reopened):
        text = _FORMATTING_TAG.sub(" ", text)
        cuts.append("formatting")
    if tags > NESTING_FROM and _nests_deeper(text, shape.nesting):
        text = _flattened(text)
        cuts.append("nesting")
    return Tamed(text, tuple(cuts))


def _trim_attributes(text: str, most: int) -> str:
    """The text with only the first `most` attributes of each tag; the same object if no tag has more."""
    start = _LONG if len(text) < EXACT_FROM and 2 * most >= LONG_TAG else _OPENING
    if start is _OPENING:
        # One match for all tags before the first one with too many attributes: no Python code runs for these.
        end = _acceptable_tags(most).match(text).end()  # type: ignore[union-attr]
        if end == len(text):
            return text
    else:
        end = 0
    pieces: list[str] = []
    copied = 0
    split = _split(most)
    while (opening := start.search(text, end)) is not None:
        tag = split.match(text, opening.start())
        assert tag is not None  # it matches every `<` with a letter
        end = tag.end()
        if tag[2]:
            pieces.append(text[copied : tag.start(2)])
            copied = end
        if start is _OPENING and (more := _acceptable_tags(most).match(text, end)) is not None:
            end = more.end()
    return "".join((*pieces, text[copied:])) if pieces else text


def _patterns(most: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    split = re.compile(rf"<[a-zA-Z][^\t\n\f\r />]*+({_ATTRIBUTE}{{0,{most}}}+)({_ATTRIBUTE}*+)")
    acceptable_tags = re.compile(
        rf"(?:[^<]++|<[a-zA-Z][^\t\n\f\r />]*+{_ATTRIBUTE}{{0,{most}}}+[\t\n\f\r /]*+(?:>|\Z)|<(?![a-zA-Z]))*+"
    )
    return split, acceptable_tags


_COMPILED: dict[int, tuple[re.Pattern[str], re.Pattern[str]]] = {SHAPE.attributes: _patterns(SHAPE.attributes)}


def _split(most: int) -> re.Pattern[str]:
    return (_COMPILED.get(most) or _patterns(most))[0]


def _acceptable_tags(most: int) -> re.Pattern[str]:
    return (_COMPILED.get(most) or _patterns(most))[1]


def _may_reopen(text: str, tags: int, limit: int) -> bool:
    """Whether unclosed formatting could make the parser add more than `limit` elements.

    The parser remembers three formatting elements with the same name and attributes, and any number of different ones.
    Whether they are closed is not checked: an end tag in a comment, in a quoted value or after an `<object>` closes
    nothing, and a wrong "no" costs gigabytes, while a wrong "yes" costs some `<b>`.
    """
    most = limit // tags
    with_attributes = sum(map(_KINDS.__contains__, map(str.lower, _ALIKE.findall(text))))
    if 3 * len(_KINDS) + with_attributes <= most:
        return False
    plain = Counter(tag.lower() for tag in _PLAINLY_FORMATTED.findall(text))
    odd = len(_ANY_FORMATTED.findall(text)) - plain.total()
    return odd + sum(min(count, 3) for count in plain.values()) > most


def _nests_deeper(text: str, limit: int) -> bool:
    """Whether elements are nested more than `limit` deep, according to a model of the parser's stack."""
    stack: list[tuple[str, str]] = []  # open elements, and the rules that apply inside: "" (HTML), "svg" or "math"
    end = 0
    while (token := _TOKEN.search(text, end)) is not None:
        end = token.end()
        slash, name, closed = token.groups()
        if not name:
            continue
        name = name.lower()
        if slash:
            _close(stack, name)
            continue
        rules = stack[-1][1] if stack else ""
        if rules and (name in _BREAKOUT or (name == "font" and _FONT_OF_HTML.search(token[0]))):
            while stack and stack[-1][1]:
                stack.pop()
            rules = ""
        if rules:
            if not closed:
                html = name in _HTML_INSIDE[rules] or (name == "annotation-xml" and _HOLDS_HTML.search(token[0]))
                stack.append((name, "" if html else "svg" if name == "svg" else rules))
        elif name in _RAW:
            end = _after_raw(text, end, name)
        elif name == "plaintext":
            return False
        elif name not in _VOID and name not in _IMPLIED:
            stack.append((name, name if name in _HTML_INSIDE else ""))
        if len(stack) > limit:
            return True
    return False


def _after_raw(text: str, start: int, name: str) -> int:
    """The position of the end tag of a raw element. In a script, an end tag inside a comment may not count."""
    if name != "script":
        closing = _RAW_END[name].search(text, start)
        return closing.start() if closing is not None else len(text)
    hidden = 0  # the standard's states: plain, "escaped" (in a comment), "double escaped" (in a script in a comment)
    for mark in _SCRIPT_MARK.finditer(text, start):
        opens, closes = mark[1], mark[2]
        if closes and hidden < 2:
            return mark.start()
        if closes:
            hidden = 1
        elif opens:
            hidden = 2 if hidden == 1 else hidden
        elif mark[0] == "-->":
            hidden = 0
        elif mark[0] == "<!--":
            hidden = max(hidden, 1)
    return len(text)


def _close(stack: list[tuple[str, str]], name: str) -> None:
    """Close all elements down to `name`, if an end tag here can close it."""
    for depth in range(1, min(len(stack), 32) + 1):
        above = stack[-depth][0]
        if above == name:
            del stack[-depth:]
            return
        if above in _BARRIER:
            return


def _flattened(text: str) -> str:
    """The page as paragraphs, which close each other, so that nothing nests."""
    return _OTHER_TAG.sub("<p>", _FORMATTING_TAG.sub(" ", text))
