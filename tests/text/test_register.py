"""Words as numbers that hold for a while, and what is read of pages in such numbers."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest
from scenthound.text.fixed_bayes import FixedBayes
from scenthound.text.register import NONE, WORDS, Register, Registered, fresh
from scenthound.text.standing import _met, standing
from scenthound.text.surroundings import gather, numbered, surroundings

from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.strategies.hayek import features as hayek_features
from scenthound.strategies.hayek.features import Lexicon, links_of, url_features, words_of
from scenthound.strategies.spiders.net import Sighting, sightings
from scenthound.text import surroundings as around
from scenthound.text.bayes import NaiveBayes
from scenthound.text.tokens import Analyser
from scenthound.web.parse import parse_html

PLAIN = Analyser("none", stem=False)
HOME = Url("http://a.example/")
NAMES = [f"word{number}" for number in range(30)]
HTML = (
    f"<p>{' '.join(NAMES)} <a href=/one>{NAMES[3]} inside</a> {NAMES[3]}"
    f"<a href=/two><img alt='{NAMES[4]} pictured'></a> {NAMES[29]}"
)


def page(html: str = HTML) -> Page:
    return Page(HOME, Candidate(HOME, 0.0), parse_html(html, HOME), 200, len(html))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Register:
    """The register of terms, with room for fewer than a page has."""
    monkeypatch.setattr(WORDS, "most", 20)
    WORDS.of(f"other{number}" for number in range(21))
    return WORDS


# ---- the register


def test_words_of_one_question_are_of_one_epoch_however_many_they_are() -> None:
    register = Register(3)
    first = register.of(["to", "be"])
    second = register.of("or not to be".split())
    assert (second.epoch, second.numbers) == (first.epoch, array("i", [2, 3, 0, 1]))
    third = register.of("a b c d e f a".split())
    assert third.epoch != first.epoch
    assert third.numbers == array("i", [0, 1, 2, 3, 4, 5, 0])
    assert register.epoch == third.epoch


def test_asking_what_is_known_registers_nothing() -> None:
    register = Register(2)
    epoch, _ = register.of(["to", "be", "or"])
    assert register.known(["be", "not", "to"]) == [1, NONE, 0]
    assert (register.epoch, register.names) == (epoch, ["to", "be", "or"])


def test_what_is_kept_ends_no_epoch_and_takes_no_room() -> None:
    register = Register(2)
    epoch, _ = register.of(["to", "be", "or"])
    assert register.keep(["not", "be", *"abcdef"]) == array("i", [3, 1, 4, 5, 6, 7, 8, 9])
    assert register.epoch == epoch
    later = register.of(["be"])
    assert later.epoch != epoch
    register.keep("abcdef")
    assert register.of(["or"]).epoch == later.epoch
    assert register.of(["not"]).epoch == later.epoch
    assert register.of(["more"]).epoch != later.epoch, "three words that were not kept: it was full"


def test_what_is_stale_is_read_again_and_what_is_fresh_is_not() -> None:
    register, one, read = Register(2), page(), []

    def reading() -> Registered:
        read.append(register.epoch)
        return register.of(["to", "be", "or"])

    first = fresh(one, ("mine",), reading, register)
    assert fresh(one, ("mine",), reading, register) is first
    register.of(["other"])
    second = fresh(one, ("mine",), reading, register)
    assert (second.epoch, len(read)) == (register.epoch, 2)
    assert second.epoch != first.epoch


# ---- pages with more words than the register holds


def test_where_the_terms_of_a_page_stand_is_right_if_it_has_more_than_the_register_holds(small: Register) -> None:
    for _ in range(3):
        found = standing(page(), PLAIN)
        assert found.epoch == small.epoch
        names = [small.names[number] for number in found.terms.tolist()]
        stand = {
            name: found.where[begin:end].tolist()
            for name, begin, end in zip(names, found.starts[:-1], found.starts[1:], strict=True)
        }
        others = {name: [0] for name in NAMES}
        assert stand == {
            **others, NAMES[3]: [0, 1, 2], NAMES[4]: [0, 3], NAMES[29]: [0, 2], "inside": [1], "pictured": [3],
        }  # fmt: skip


def test_spiders_see_the_words_of_such_a_page(small: Register) -> None:
    one = page()
    for _ in range(3):
        assert sightings(one, ["pictured", "absent", NAMES[3]], PLAIN) == [
            Sighting(3, "pictured"), Sighting(0, NAMES[3]), Sighting(1, NAMES[3]), Sighting(2, NAMES[3]),
        ]  # fmt: skip
        small.of(f"more{number}" for number in range(21))


def test_the_words_around_links_of_such_a_page_have_numbers(small: Register) -> None:
    one = page()
    for _ in range(3):
        epoch, numbers = numbered(one, PLAIN)
        assert epoch == small.epoch
        assert [small.names[number] for number in numbers] == list(surroundings(one, PLAIN).terms)
        small.of(f"more{number}" for number in range(21))


def test_features_of_such_a_page_and_of_a_lexicon_that_has_more_still(monkeypatch: pytest.MonkeyPatch) -> None:
    register = Register(5)
    monkeypatch.setattr(hayek_features, "REGISTER", register)
    lexicon, one = Lexicon(), page()
    for _ in range(3):
        words = words_of(one, PLAIN, lexicon)
        own = lexicon.own_all(words.numbers).tolist()
        assert [lexicon.names[number] for number in own[:30]] == NAMES
        linked = links_of(one, PLAIN, lexicon)
        assert linked.epoch == register.epoch
        own = lexicon.own_all(array("i", dict.fromkeys(linked.numbers))).tolist()
        said = [register.names[number] for number in linked.numbers]
        assert said[: linked.starts[1]] == url_features("http://a.example/one")
        assert said[linked.starts[3] :] == [
            "before:inside", f"before:{NAMES[3]}", f"before:{NAMES[29]}", f"anchor:{NAMES[4]}", "anchor:pictured",
        ]  # fmt: skip
        assert {lexicon.names[number] for number in own} == set(said)
        assert lexicon.add_all(["host:a"]) == [lexicon.names.index("host:a")]
    assert len(set(lexicon.names)) == len(lexicon.names)


# ---- bounds


def test_what_stands_around_links_is_not_asked_for_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "MOST_AROUND", 5)
    links = page("".join(f"<p><a href=/{number}>anchor{number}</a>" for number in range(9))).links
    asked = Counter[str]()

    def of_heading(span: tuple[int, int]) -> list[str]:
        asked["heading"] += 1
        return ["heading"]

    def of_element(element: int) -> list[str]:
        asked["element"] += 1
        return ["element", str(element)]

    found = gather(links, "title", [(place, place) for place in range(9)], range(9), of_heading, of_element, PLAIN)
    assert asked == {"heading": 1, "element": 1}
    assert [found.of(number) for number in range(3)] == [
        ["title", "heading", "element", "0", "anchor0"], ["title"], ["title"],
    ]  # fmt: skip


def test_of_raw_tokens_a_few_are_remembered_and_none_of_an_epoch_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORDS, "most", 50)
    WORDS.of(f"other{number}" for number in range(51))
    standing(page(), PLAIN)
    assert set(_met(PLAIN)) == {*NAMES, "inside"}
    again = standing(page("<p>word3 more"), PLAIN)
    assert set(_met(PLAIN)) == {*NAMES, "inside", "more"}
    assert [WORDS.names[number] for number in again.terms.tolist()] == ["word3", "more"]
    WORDS.of(f"again{number}" for number in range(51))
    anew = standing(page("<p>word3 other"), PLAIN)
    assert set(_met(PLAIN)) == {"word3", "other"}
    assert {WORDS.names[number] for number in anew.terms.tolist()} == {"word3", "other"}
    monkeypatch.setattr("scenthound.text.standing.REMEMBERED", 20)
    assert len(standing(page(), PLAIN).terms) == 32
    assert len(_met(PLAIN)) == 0


def test_a_table_grows_by_doubling_and_knows_each_word_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bayes = NaiveBayes("01")
    bayes.add("0", Counter(NAMES[:10]))
    bayes.add("1", Counter(NAMES[5:]))
    register = Register(10**6)
    table, grown = FixedBayes(bayes, register), []
    join = np.concatenate

    def joining(parts: list[np.ndarray]) -> np.ndarray:  # type: ignore[type-arg]
        grown.append(len(parts))
        return join(parts)

    monkeypatch.setattr("scenthound.text.fixed_bayes.np.concatenate", joining)
    for number in range(1000):
        name = NAMES[number % 30]
        terms = register.of([f"new{number}", name])
        [row] = table.posteriors(terms, [0, 1], [0, 2], [[0]])
        assert row.tolist() == pytest.approx(list(bayes.posteriors(Counter([name])).values()), abs=1e-9)
    assert len(grown) <= 11
