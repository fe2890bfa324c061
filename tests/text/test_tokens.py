"""Text to tokens to terms."""

from __future__ import annotations

import copy
import pickle
import string
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import UnknownName
from scenthound.text import tokens as module
from scenthound.text.tokens import LONGEST, STOP_LISTS, Analyser, stem, tokens
from support.suites import Suites


def plain_tokens(text: str) -> list[str]:
    """Sheet 10.1 for ASCII text, letter by letter."""
    kept = "".join(c if c in string.ascii_letters + string.digits else " " for c in text).lower()
    return [token for token in kept.split() if 1 < len(token) <= LONGEST]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Alpha's 2nd roof-kit, v1.0!", ["alpha", "2nd", "roof", "kit", "v1"]),
        ("snake_case", ["snake", "case"]),
        ("Crème brûlée", ["creme", "brulee"]),
        ("Cre\u0300me bru\u0302le\u0301e", ["creme", "brulee"]),
        ("Straße Ærø Łódź İzmir ıssız", ["strasse", "aero", "lodz", "izmir", "issiz"]),
        ("don’t — “stop”", ["don", "stop"]),
        ("ﬁne ＷＩＤＥ １２", ["fine", "wide", "12"]),
        ("Windows™ m² ½", ["windows"]),
        ("Солнечная ПАНЕЛЬ", ["солнечная", "панель"]),
        ("и\u0306од Йод Москва\u0301", ["йод", "йод", "москва"]),
        ("한국어 हिन्दी ١٢٣", ["한국어", "हिन्दी", "123"]),
        ("soft\u00adhyphen zero\u200bwidth می\u200cخواهم", ["softhyphen", "zero", "width", "میخواهم"]),
        ("so\x00lar \ud800pa\udc00nel", ["so", "lar", "pa", "nel"]),
        ("non\u00a0breaking\u2003space", ["non", "breaking", "space"]),
    ],
)
def test_text_is_split_into_folded_lower_case_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_is_split_as_in_the_sheet(text: str) -> None:
    assert tokens(text) == plain_tokens(text)


@given(st.text())
def test_any_text_gives_tokens_of_letters_digits_and_marks_that_are_tokens_themselves(text: str) -> None:
    for token in tokens(text):
        assert 1 < len(token) <= LONGEST
        assert not any(c.isspace() or c in string.punctuation for c in token)
        assert token.isascii() or all(unicodedata.category(c)[0] in "LMN" for c in token)
        assert tokens(token) in ([token], [])  # [] only where joining marks left a single character


@given(st.text(st.characters(categories=["L", "Mn"]), max_size=LONGEST // 4))
def test_accents_written_apart_or_together_make_no_difference(text: str) -> None:
    apart, together = unicodedata.normalize("NFD", text), unicodedata.normalize("NFC", text)
    if len(apart) <= LONGEST:
        assert tokens(apart) == tokens(together)


@given(st.text(), st.text())
def test_a_gap_between_texts_keeps_their_tokens_apart(left: str, right: str) -> None:
    assert tokens(f"{left} {right}") == tokens(left) + tokens(right)


@given(st.text(), st.sampled_from(sorted(STOP_LISTS)), st.booleans())
def test_terms_are_the_tokens_without_stop_words_stemmed_in_order(text: str, name: str, stemmed: bool) -> None:
    analyser = Analyser(name, stemmed)
    kept = [token for token in analyser.tokens(text) if token not in STOP_LISTS[name]]
    terms = [stem(token) if stemmed else token for token in kept]
    assert analyser.terms(text) == terms
    assert analyser.terms_of(analyser.tokens(text)) == terms
    counts = analyser.counts(text)
    assert counts == {term: terms.count(term) for term in terms}
    assert list(counts) == list(dict.fromkeys(terms))


def test_stop_words_are_removed_before_stemming() -> None:
    text = "The company's history and its office news"
    assert Analyser("small").terms(text) == ["compani", "histori", "offic", "new"]
    assert Analyser("none").terms(text) == ["the", "compani", "histori", "and", "it", "offic", "new"]
    assert Analyser("dialog", stem=False).terms(text) == ["company", "history", "its", "office", "news"]
    assert Analyser(frozenset({"news"}), stem=False).terms("office news") == ["office"]


def test_the_lists_are_those_of_the_sheet_and_one_of_ours() -> None:
    assert set(STOP_LISTS) == {"english", "dialog", "small", "none"}
    assert STOP_LISTS["dialog"] == {"an", "and", "by", "for", "from", "of", "the", "to", "with"}
    assert len(STOP_LISTS["small"]) == 27
    assert not STOP_LISTS["none"]
    english = STOP_LISTS["english"]
    assert 350 <= len(english) <= 450
    assert STOP_LISTS["small"] <= english
    assert all(tokens(word) == [word] for word in english if len(word) > 1)


def test_an_unknown_stop_list_is_refused_with_a_hint() -> None:
    with pytest.raises(UnknownName, match="no stop list called `englsh`\nhint: did you mean `english`"):
        Analyser("englsh")


def test_porter_is_the_algorithm_as_printed_without_later_additions() -> None:
    assert stem("possibly") == "possibli"  # bli -> ble is a later addition
    assert stem("archaeology") == "archaeologi"  # so is logi -> log
    assert stem("conformably") == "conform"  # abli -> able is printed
    assert stem("солнечные") == "солнечные"


def test_porter_agrees_with_its_author_on_every_word(suites: Suites) -> None:
    folder = suites.folder / "stemmer" / "porter"
    words = (folder / "voc.txt").read_text().splitlines()
    stems = (folder / "output.txt").read_text().splitlines()
    assert len(words) == len(stems) == (77 if suites.is_own else 42603)
    assert [(word, stem(word)) for word, right in zip(words, stems, strict=True) if stem(word) != right] == []


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000,
        "я" * 1_000_000,
        "a" + "\u0301\u0316" * 500_000,
        "\ud800" * 1_000_000,
        "\x00" * 10_000_000,
    ],
    ids=["one token", "one token in Cyrillic", "marks without end", "lone surrogates", "NULs"],
)
def test_text_without_words_has_no_tokens(text: str) -> None:
    assert tokens(text) == []
    assert Analyser().counts(text) == {}


def test_a_token_may_have_64_characters_and_no_more() -> None:
    assert tokens("a" * 64 + " " + "b" * 65) == ["a" * 64]
    assert Analyser(stem=False).terms("a" * 64 + " " + "b" * 65) == ["a" * 64]


def test_the_cache_is_bounded_and_clearing_it_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHED", 100)
    monkeypatch.setattr(module, "_FOLDED", module._Folded())
    analyser = Analyser(frozenset({"only", "here"}))
    text = " ".join(f"word{n} łódź{n}{chr(0x4E00 + n)}" for n in range(1000)) + " " + "x" * 100_000
    before = analyser.counts(text)
    assert len(analyser._terms) <= 100
    assert 0 < len(module._FOLDED) <= 100
    assert all(len(run) <= LONGEST for run in [*analyser._terms, *module._FOLDED])
    assert analyser.counts(text) == before
    assert len(before) == 2000


def test_every_unicode_character_can_be_read_and_the_cache_stays_small() -> None:
    everything = "".join(map(chr, range(0x110000)))
    assert tokens(everything)
    assert len(module._FOLD) <= 1 << 14


def test_equal_analysers_are_one_key_and_survive_a_copy() -> None:
    first, second = Analyser("english", True), Analyser()
    assert {first: 1}[second] == 1
    assert first != Analyser(stem=False)
    assert copy.deepcopy(first) == pickle.loads(pickle.dumps(first)) == first
    assert repr(first) == "Analyser(stop_words='english', stem=True)"


def test_an_analyser_has_a_name_fit_for_files() -> None:
    assert Analyser().name == "english-porter"
    assert Analyser("none", stem=False).name == "none-unstemmed"
    own = Analyser(frozenset({"b", "a"})).name
    assert own == Analyser(frozenset({"a", "b"})).name != Analyser(frozenset({"a"})).name
    assert own.isascii()
    assert own.startswith("own")


def test_a_long_text_is_counted_in_pieces_as_it_would_be_in_one() -> None:
    words = [f"{word}{number}" for number in range(9_000) for word in ("honey", "bees’", "Crème", "панель", "a-b")]
    text = " ".join(words * 2) + "x" * 300_000 + " end"
    assert len(text) > 2 * module.PIECE
    assert "".join(module.pieces(text)) == text
    assert [token for piece in module.pieces(text) for token in tokens(piece)] == tokens(text)
    analyser = Analyser()
    whole = Counter(term for term in analyser.terms(text))
    assert list(analyser.counts(text).items()) == list(whole.items())


def test_the_distinct_terms_of_a_long_text_are_bounded() -> None:
    text = " ".join(f"w{number}" for number in range(module.MOST_TERMS + 50_000))
    assert len(Analyser().counts(text)) == module.MOST_TERMS
