"""Split text into tokens, and turn tokens into terms (sheet 10.1), fast and safely for any input.

A token is a maximal run of `a-z0-9` after lower-casing and folding accents to ASCII; letters that can't be folded stay
as they are, with their marks. Tokens of one character are dropped. A term is a token that is not a stop word, stemmed
with Porter's algorithm as printed in 1980.

Ours, where the sheet is silent: a run of more than `LONGEST` characters is not a word of any language (usually encoded
data) and is dropped too; digits of every script become ASCII digits; soft hyphens and invisible joiners are removed,
and every other character is a gap; only ASCII tokens are stemmed.

Stop lists have names: `english` (ours), `dialog` ([CHAP]), `small` (the worked examples), `none`. Their words have the
form that `tokens` returns: lower case, without apostrophes (`don't` is `don` and a dropped `t`), not stemmed. The
English list was written for this project, word class by word class, and contains no word that could be a topic by
itself.
"""

from __future__ import annotations

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import Stemmer

from scenthound.errors import UnknownName
from scenthound.text.vectors import Counts, term_frequencies

_ENGLISH = """
    a an the

    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    one ones this that these those who whom whose which what whoever whatever whichever
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing none
    each other others another such same

    about above across after against along among amongst around as at away
    before behind below beneath beside besides between beyond but by despite down during
    except for from in inside into like near of off on onto out outside over per regarding since than
    through throughout till to toward towards under underneath unlike until unto up upon versus via with
    within without

    and or nor so yet if unless because although though while whilst whereas whether
    either neither both else however therefore thus hence otherwise moreover furthermore nevertheless
    nonetheless meanwhile consequently accordingly likewise instead

    am is are was were be been being have has had having do does did done doing
    can could may might must shall should will would ought cannot need used
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren
    won wouldn ll ve re

    not no yes never ever always often sometimes seldom rarely usually generally normally typically
    mostly mainly largely partly almost nearly hardly barely merely only just even still already
    again also too very quite rather somewhat fairly really truly indeed perhaps maybe possibly
    probably certainly surely actually basically simply especially particularly specifically
    currently recently soon later earlier now then once twice here there where when why how
    wherever whenever everywhere anywhere somewhere nowhere elsewhere hereby herein thereby therein thereof
    thereafter afterwards together apart ago forth back anyway somehow well
    approximately roughly exactly entirely completely eventually finally

    all any some every few fewer many much more most less least several enough various certain own
    lot lots

    two three four five six seven eight nine ten first last next previous former latter

    get gets getting got give gives given giving gave go goes going gone went
    come comes coming came make makes making made take takes taking taken took put puts
    let lets keep keeps kept say says saying said tell tells told see sees seen saw
    know knows known knew think want wants wanted seem seems seemed become becomes became
    use uses using look looks looking find finds found show shows shown try tries tried trying

    able unable available likely unlikely new good better best great
    way ways thing things kind kinds sort sorts etc eg ie vs please thanks click
"""

_DIALOG = "an and by for from of the to with"

_SMALL = "a an and are as at be by for from has in is it its of on or our that the this to us was we with"

STOP_LISTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "english": frozenset(_ENGLISH.split()),
        "dialog": frozenset(_DIALOG.split()),
        "small": frozenset(_SMALL.split()),
        "none": frozenset(),
    }
)


FORMAT = 1  # increase it when the terms of a text change, so that beds are prepared again
LONGEST = 64
CACHED = 1 << 16  # distinct tokens: about 10 MB for prose, at worst 40 MB for hostile tokens

PIECE = 1 << 18  # characters whose words are counted at a time
MARGIN = 1 << 12  # characters at the end of a piece that are searched for a gap
MOST_TERMS = 1 << 16  # distinct terms of a long text; the maximum of 13,506 recorded pages is 2,628
_GAP = re.compile(r"[^0-9A-Za-z\x80-\U0010ffff]")

_ASCII = bytes(  # keeps digits, bytes beyond ASCII and letters, in lower case; the rest is a gap
    byte if byte >= 128 or chr(byte).isalnum() else ord(" ") for byte in bytes(range(256)).lower()
)
_FOLDING = "scenthound.fold"  # the name under which `str.encode` finds our handler
_LOOSE_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_UNFOLDED = {  # Latin letters that Unicode does not decompose
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ŧ": "t",
}  # fmt: skip


def tokens(text: str) -> list[str]:
    """The tokens of a text in order, including stop words.

    >>> tokens("Crème brûlée: Alpha's 2nd recipe")
    ['creme', 'brulee', 'alpha', '2nd', 'recipe']
    """
    return [run for run in map(_composed, _runs(text)) if 1 < len(run) <= LONGEST]


def stem(word: str) -> str:
    """Porter's stem of a lower-case word.

    >>> stem("oscillators"), stem("possibly")
    ('oscil', 'possibli')
    """
    return str(_stemmer().stemWord(word)) if word.isascii() else word


@dataclass(frozen=True)
class Analyser:
    """Converts text to terms. Equal analysers return equal terms, so an analyser can be part of a key.

    `stop_words` is the name of one of our lists, or a set of lower-case words.
    """

    stop_words: str | frozenset[str] = "english"
    stem: bool = True
    _terms: _Terms = field(init=False, repr=False, compare=False)
    key: Hashable = field(init=False, repr=False, compare=False)
    """Equal for equal analysers, and cheaper to make; an instance of a subclass is its own key."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_terms", _terms(self.stop_words, self.stem))
        object.__setattr__(self, "_hash", hash((self.stop_words, self.stem)))
        object.__setattr__(self, "key", (self.stop_words, self.stem) if type(self) is Analyser else self)

    def __hash__(self) -> int:
        return self._hash  # needed for every key of every page

    def __reduce__(self) -> tuple[Any, ...]:
        return Analyser, (self.stop_words, self.stem)  # without the cache

    @property
    def name(self) -> str:
        """A short name for file names and tables, such as `english-porter`; equal only for equal analysers."""
        stop_words = self.stop_words
        if not isinstance(stop_words, str):
            digest = hashlib.sha256("\n".join(sorted(stop_words)).encode("utf-8", "backslashreplace"))
            stop_words = f"own{digest.hexdigest()[:12]}"
        return f"{stop_words}-{'porter' if self.stem else 'unstemmed'}"

    def tokens(self, text: str) -> list[str]:
        """The raw tokens, including stop words: the same for every analyser."""
        return tokens(text)

    def terms(self, text: str) -> list[str]:
        """The terms in order.

        >>> Analyser("small").terms("The company history and office news.")
        ['compani', 'histori', 'offic', 'new']
        """
        return list(filter(None, map(self._terms.__getitem__, _runs(text))))

    def terms_of(self, raw: list[str]) -> list[str]:
        """The terms of raw tokens, without stop words."""
        return list(filter(None, map(self._terms.__getitem__, raw)))

    def term_of_each(self, raw: list[str]) -> list[str | None]:
        """The term of each raw token; None for a stop word."""
        return list(map(self._terms.__getitem__, raw))

    def counts(self, text: str) -> Counts:
        """How often each term occurs, in order of first occurrence."""
        if len(text) <= PIECE:
            return term_frequencies(filter(None, map(self._terms.__getitem__, _runs(text))))
        counts = Counts()
        for piece in pieces(text):
            for term, times in self.counts(piece).items():
                if term in counts or len(counts) < MOST_TERMS:
                    counts[term] = counts.get(term, 0) + times
        return counts


class _Terms(dict[str, str | None]):
    """A cache from runs of characters to terms (or None); cleared when full."""

    def __init__(self, stop_words: frozenset[str], stemmed: bool) -> None:
        super().__init__()
        self.stop_words, self.stemmed = stop_words, stemmed

    def __missing__(self, run: str) -> str | None:
        if not 1 < len(run) <= LONGEST:
            return None  # and not cached: it could be megabytes long
        token, term = _composed(run), None
        if len(token) > 1 and token not in self.stop_words:
            term = stem(token) if self.stemmed else token
        if len(self) >= CACHED:
            self.clear()
        self[run] = term
        return term


@lru_cache(maxsize=16)
def _terms(stop_words: str | frozenset[str], stemmed: bool) -> _Terms:
    if isinstance(stop_words, str):
        if stop_words not in STOP_LISTS:
            raise UnknownName.among("stop list", stop_words, STOP_LISTS)
        stop_words = STOP_LISTS[stop_words]
    return _Terms(stop_words, stemmed)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return Stemmer.Stemmer("porter", 0)  # no cache of its own: `_Terms` is one


def _runs(text: str) -> list[str]:
    """Split text into runs of letters and digits of any length, folded and in lower case.

    ASCII is copied and translated as bytes; only other characters go to `_fold_beyond_ascii`. On the many pages with a
    dash or a curly quote this is five times as fast as `str.translate`.
    """
    return text.encode("ascii", _FOLDING).translate(_ASCII).decode().split()


def pieces(text: str) -> Iterator[str]:
    """Split a long text into pieces with the same tokens, since a list of the words of 10 MB would take 200 MB.

    It is split at gaps, or inside a run that is too long to be a token.
    """
    begin = 0
    while len(text) - begin > PIECE:
        end = begin + PIECE
        gap = _GAP.search(text, end - MARGIN, end)
        end = gap.start() if gap is not None else end
        yield text[begin:end]
        begin = end
    yield text[begin:]


def _fold_beyond_ascii(error: UnicodeError) -> tuple[bytes, int]:
    """An error handler for `str.encode`: the replacement of a run of characters, and where to continue."""
    assert isinstance(error, UnicodeEncodeError)
    return _FOLDED[error.object[error.start : error.end]], error.end


def _composed(run: str) -> str:
    """A canonical form, in which combining accents are joined with their letter and folded with it."""
    if run.isascii() or len(run) > LONGEST:  # too long for a token, and ordering its marks could take quadratic time
        return run
    return _LOOSE_ACCENTS.sub("", unicodedata.normalize("NFC", run).translate(_FOLD))


class _Folded(dict[str, bytes]):
    """A cache from runs of characters beyond ASCII to their replacements in UTF-8; cleared when full."""

    def __missing__(self, run: str) -> bytes:
        folded = run.translate(_FOLD).encode()
        if len(run) <= LONGEST:
            if len(self) >= CACHED:
                self.clear()
            self[run] = folded
        return folded


class _Fold(dict[int, str]):
    """A cache from code points beyond ASCII to their replacements, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        if len(self) >= 1 << 14:
            self.clear()
        folded = self[code] = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    """The ASCII letters or digits for a character; a letter without them in lower case; a space for a non-letter."""
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category[0] == "L":
        lower = character.lower()
        decomposed = unicodedata.normalize("NFKD", lower).lower()
        letters = "".join(_UNFOLDED.get(c, c) for c in decomposed if unicodedata.category(c) != "Mn")
        return letters if letters.isascii() and letters.isalnum() else lower
    if category[0] == "M":
        return character
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Cf" and character != "\N{ZERO WIDTH SPACE}":
        return ""
    return " "


_FOLD = _Fold()
_FOLDED = _Folded()
codecs.register_error(_FOLDING, _fold_beyond_ascii)
