"""Naive Bayes on counts: exact whatever the order, O(words of the document), and equal to its definition."""

from __future__ import annotations

import json
import math
import random
import zlib
from collections import Counter
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.papers.parts import naive_bayes
from scenthound.papers.parts.naive_bayes import MANY, Frozen, FrozenPieces, NaiveBayes, log_sum, numbered
from scenthound.papers.parts.scored_pages import DocumentStore
from scenthound.text.term_counts import Numbering, SharedIds, TermCounts
from scenthound.text.vectors import Counts
from scenthound.text.vocabulary import Ids, Vocabulary

Document = tuple[str, dict[str, int]]
CLASSES = ("goal", "other", "third")
BOTH = pytest.mark.parametrize("events", ["multinomial", "bernoulli"])
BOTH_PRIORS = pytest.mark.parametrize("uniform", [False, True])
Events = Literal["multinomial", "bernoulli"]

words = st.sampled_from(["beach", "volleyball", "tour", "team", "score", "hotel", "news", "ice", "net"])
counts = st.dictionaries(words, st.integers(1, 5), max_size=6)
documents = st.lists(st.tuples(st.sampled_from(CLASSES), counts), max_size=12)


def taught(found: list[Document], events: Events, **more: Any) -> NaiveBayes:
    made = NaiveBayes(CLASSES, events, **more)
    for label, said in found:
        made.add(label, said)
    return made


def plain(made: NaiveBayes) -> str:
    return json.dumps(made.save(), default=lambda value: value.tolist())


# ---- counts


@BOTH
@given(found=documents, seed=st.integers(0, 9), asked=counts)
@settings(deadline=None)
def test_the_order_of_documents_does_not_matter(found: list[Document], seed: int, asked: Any, events: Events) -> None:
    shuffled = random.Random(seed).sample(found, len(found))
    one, other = taught(found, events), taught(shuffled, events)
    assert plain(one) == plain(other)
    assert one.posteriors(asked) == other.posteriors(asked)


@BOTH
@given(
    kept=documents,
    gone=st.lists(st.tuples(st.sampled_from(CLASSES), counts, st.sampled_from([1.0, 0.5, 1 / 3, 0.1])), max_size=6),
    asked=counts,
)
@settings(deadline=None)
def test_taking_a_document_back_undoes_adding_it(kept: Any, gone: Any, asked: Any, events: Events) -> None:
    made = taught(kept[: len(kept) // 2], events)
    for label, said, weight in gone:
        made.add(label, said, weight)
    for label, said in kept[len(kept) // 2 :]:
        made.add(label, said)
    for label, said, weight in reversed(gone):
        made.add(label, said, -weight)
    assert plain(made) == plain(taught(kept, events))
    assert made.posteriors(asked) == taught(kept, events).posteriors(asked)


@given(found=documents)
@settings(deadline=None)
def test_counts_are_those_of_a_recount_of_everything(found: list[Document]) -> None:
    made = taught(found, "multinomial")
    assert made.size == len({word for _, said in found for word in said})
    for label in CLASSES:
        assert made.documents(label) == sum(one == label for one, _ in found)
    _, rows, places, amounts = made.table()
    again: Counter[tuple[str, str]] = Counter()
    for label, said in found:
        again.update({(word, label): times for word, times in said.items()})
    listed = zip(rows.tolist(), places.tolist(), amounts.tolist(), strict=True)
    assert {(made.table().words[row], CLASSES[place]): amount / 2**20 for row, place, amount in listed} == again


@BOTH
@given(found=documents, asked=counts)
@settings(deadline=None)
def test_a_classifier_saved_as_json_is_loaded_equal(found: list[Document], asked: Any, events: Events) -> None:
    made = taught(found, events)
    again = NaiveBayes.load(json.loads(plain(made)))
    assert plain(again) == plain(made)
    assert again.posteriors(asked) == made.posteriors(asked)
    again.add("goal", asked)
    made.add("goal", asked)
    assert plain(again) == plain(made)


@pytest.mark.parametrize(
    "wrong",
    [
        {"amounts": [-5]},
        {"places": [7]},
        {"rows": [9]},
        {"rows": [-1]},
        {"rows": [0, 0]},
        {"documents": [1 << 20]},
        {"documents": [-(1 << 20), 0, 0]},
        {"words": ["beach", "beach"]},
        {"vocabulary": ["tour"]},
        {"events": "gaussian"},
        {"classes": []},
        {"amounts": ["many"]},
    ],
)
def test_a_tampered_classifier_is_not_loaded(wrong: dict[str, Any]) -> None:
    state = json.loads(plain(taught([("goal", {"beach": 1})], "bernoulli"))) | wrong
    with pytest.raises((ValueError, KeyError, TypeError)):
        NaiveBayes.load(state)


# ---- probabilities


def defined(found: list[Document], asked: dict[str, int], events: Events) -> list[Fraction]:
    """Sheet 30.1 to the letter, in O(|V|) and with fractions: P(c) · P(d|c) of each class, not normalised."""
    vocabulary = {word for _, said in found for word in said}
    joint = []
    for label in CLASSES:
        own = [said for one, said in found if one == label]
        product = Fraction(len(own), max(len(found), 1))
        if events == "multinomial":
            total = sum(sum(said.values()) for said in own)
            for word, times in asked.items():
                if word in vocabulary:
                    share = Fraction(1 + sum(said.get(word, 0) for said in own), len(vocabulary) + total)
                    product *= share**times
        else:
            for word in vocabulary:
                share = Fraction(1 + sum(word in said for said in own), 2 + len(own))
                product *= share if word in asked else 1 - share
        joint.append(product)
    return joint


@BOTH
@given(found=documents, asked=counts)
@settings(deadline=None)
def test_probabilities_are_those_of_the_definition(found: list[Document], asked: Any, events: Events) -> None:
    joint = defined(found, asked, events)
    right = [float(one / sum(joint)) if sum(joint) else 0.0 for one in joint]
    assert list(taught(found, events).posteriors(asked).values()) == pytest.approx(right, abs=1e-12)


@BOTH
@given(found=documents, asked=counts)
@settings(deadline=None)
def test_long_documents_are_scored_as_short_ones(found: list[Document], asked: Any, events: Events) -> None:
    """From `MANY` words on arrays are used: unknown words that make a document long change nothing."""
    made = taught(found, events)
    long = asked | {f"stranger{number}": 1 for number in range(MANY)}
    assert made.posteriors(long) == pytest.approx(made.posteriors(asked), abs=1e-12)
    fixed = taught(found, events, vocabulary=["beach", "tour", "never"])
    assert fixed.posteriors(long | {"never": 2}) == pytest.approx(fixed.posteriors(asked | {"never": 2}), abs=1e-12)


@given(found=documents, asked=counts)
@settings(deadline=None)
def test_scikit_learn_agrees(found: list[Document], asked: Any) -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    vocabulary = sorted({word for _, said in found for word in said})
    if len({label for label, _ in found}) < 2 or not vocabulary:
        return
    table = np.array([[said.get(word, 0) for word in vocabulary] for _, said in found])
    question = np.array([[asked.get(word, 0) for word in vocabulary]])
    for events, kind in (("multinomial", bayes.MultinomialNB), ("bernoulli", bayes.BernoulliNB)):
        right = kind(alpha=1.0).fit(table, [label for label, _ in found])
        said = taught(found, events).posteriors(asked)  # type: ignore[arg-type]
        expected = dict(zip(right.classes_, right.predict_proba(question)[0], strict=True))
        assert {label: said[label] for label in expected} == pytest.approx(expected, abs=1e-9)


@BOTH
@given(found=st.lists(st.tuples(st.sampled_from(CLASSES), counts), min_size=1, max_size=8), asked=counts)
@settings(deadline=None)
def test_a_document_that_is_scored_again_follows_the_vocabulary(found: Any, asked: Any, events: Events) -> None:
    """The words of an immutable document are looked up once, unless the vocabulary changes in between."""
    made, question = NaiveBayes(CLASSES, events), Counts(asked)
    for number, (label, said) in enumerate(found):
        kept = Counts(said)
        made.add(label, kept)
        made.posteriors(kept)
        made.posteriors(question)
        if number % 2:
            made.add(label, kept, -1.0)
    right = taught(found[::2], events)
    assert plain(made) == plain(right)
    assert made.posteriors(question) == right.posteriors(asked)


@BOTH
def test_an_empty_document_has_the_prior_if_words_are_counted(events: Events) -> None:
    made = taught([("goal", {"beach": 1}), ("other", {"team": 1}), ("other", {"team": 2})], events)
    said = made.posteriors({})
    assert said["third"] == 0.0
    if events == "multinomial":
        assert said == pytest.approx({"goal": 1 / 3, "other": 2 / 3, "third": 0.0})
    uniform = taught([("goal", {"beach": 1}), ("other", {"team": 1}), ("other", {"team": 2})], events, uniform=True)
    assert uniform.posteriors({"stranger": 3})["goal"] == pytest.approx(0.5 if events == "multinomial" else 32 / 59)


def test_a_classifier_without_documents_has_no_opinion() -> None:
    made = NaiveBayes(CLASSES)
    assert set(made.posteriors({"beach": 1}).values()) == {0.0}
    assert made.log_odds("goal", {"beach": 1}) == 0.0
    made.add("goal", {})
    assert made.posteriors({"beach": 1})["goal"] == 1.0
    assert made.log_odds("goal", {"beach": 1}) == 1e9


@BOTH
@given(found=documents, asked=st.lists(counts, max_size=5))
@settings(deadline=None)
def test_log_odds_of_two_classes_are_a_sum_over_words(found: list[Document], asked: Any, events: Events) -> None:
    made = NaiveBayes(("goal", "other"), events)
    for label, said in found:
        made.add("goal" if label == "goal" else "other", said)
    documents = DocumentStore()
    for number, said in enumerate(asked):
        documents.put(str(number), said | {"stranger": 2})
    empty, _ = made.weights("goal", [])
    sums = documents.sums(lambda all_words: made.weights("goal", all_words)[1], events == "multinomial")
    right = [made.log_odds("goal", said) for said in asked]
    assert np.clip(empty + sums, -1e9, 1e9).tolist() == pytest.approx(right, abs=1e-9)


@given(found=documents, asked=counts)
@settings(deadline=None)
def test_a_frozen_classifier_agrees_with_the_original(found: list[Document], asked: Any) -> None:
    for vocabulary, room in ((None, 0), (None, 10**6), (["beach", "tour", "never"], 0), (["beach", "never"], 10**6)):
        made = taught(found, "multinomial", vocabulary=vocabulary)
        shared = Vocabulary(words=["ice", "somebody", "else"])
        frozen = Frozen(made, shared, room)
        said = np.exp(frozen.log_posteriors(numbered(asked, shared))).tolist()
        assert said == pytest.approx(list(made.posteriors(asked).values()), abs=1e-12)


@BOTH_PRIORS
@given(found=documents, pieces=st.lists(st.lists(words, max_size=4), min_size=1, max_size=5), data=st.data())
@settings(deadline=None)
def test_documents_that_share_pieces_are_scored_as_if_each_were_whole(
    found: list[Document], pieces: list[list[str]], data: Any, uniform: bool
) -> None:
    made = taught(found, "multinomial", uniform=uniform, vocabulary=data.draw(st.sampled_from([None, ["tour", "ice"]])))
    rows = data.draw(st.lists(st.lists(st.integers(0, len(pieces) - 1), min_size=2, max_size=2), max_size=4))
    names = sorted({word for piece in pieces for word in piece})
    flat = np.array([names.index(word) for piece in pieces for word in piece], dtype=np.int32)
    starts = np.cumsum([0, *map(len, pieces)]).astype(np.int32)
    table = np.array(rows, dtype=np.int32).reshape(-1, 2)
    said = FrozenPieces(made).posteriors(names, flat, starts, table)
    for row, probabilities in zip(rows, said.tolist(), strict=True):
        whole = Counter(word for piece in row for word in pieces[piece])
        assert probabilities == pytest.approx(list(made.posteriors(whole).values()), abs=1e-9)


def test_only_a_multinomial_classifier_can_be_frozen() -> None:
    with pytest.raises(ValueError, match="multinomial"):
        Frozen(NaiveBayes(CLASSES, "bernoulli"), Vocabulary())


def as_given(counts: dict[str, int], kind: str) -> Any:
    return {"dict": dict, "counts": Counts, "packed": TermCounts.of, "numbered": with_ids}[kind](counts)


def with_ids(counts: dict[str, int]) -> TermCounts:
    """The term counts as a page of a prepared bed has them."""
    ids = np.array([zlib.crc32(word.encode()) % 65_521 for word in counts], dtype="<i4").tobytes()
    return TermCounts(
        *TermCounts.of(counts).to_bytes(), SharedIds(ids, Numbering("bed", 65_521), TermCounts.of(counts).square)
    )


KINDS = st.sampled_from(["dict", "counts", "packed", "numbered"])


@BOTH
@given(
    lessons=st.lists(st.tuples(st.sampled_from(CLASSES), counts, KINDS, st.sampled_from([1.0, 0.5])), max_size=8),
    taken_back=st.integers(0, 3),
    asked=st.lists(st.tuples(counts, KINDS), max_size=5),
    settled=st.booleans(),
)
@settings(deadline=None)
def test_a_document_may_come_in_any_form(
    lessons: Any, taken_back: int, asked: Any, settled: bool, events: Events
) -> None:
    plain_one, made = NaiveBayes(CLASSES, events), NaiveBayes(CLASSES, events)
    for label, said, kind, weight in lessons:
        plain_one.add(label, said, weight)
        made.add(label, as_given(said, kind), weight)
        for document, how in asked:
            assert made.posteriors(as_given(document, how)) == plain_one.posteriors(document)
    for label, said, kind, weight in lessons[:taken_back]:
        plain_one.add(label, said, -weight)
        made.add(label, as_given(said, kind), -weight)
    if settled:
        made.settle()
    for document, kind in asked:
        assert made.posteriors(as_given(document, kind)) == plain_one.posteriors(document)
    assert plain(made) == plain(plain_one)


def test_a_sum_of_logs_does_not_overflow() -> None:
    assert log_sum([-1e6, -1e6]) == pytest.approx(-1e6 + math.log(2))
    assert log_sum([]) == log_sum([-math.inf]) == -math.inf


# ---- costs


class Watched(Vocabulary):
    """A vocabulary that counts the words that are looked up."""

    lookups = 0

    def add(self, words: Any) -> Ids:
        Watched.lookups += len(words)
        return super().add(words)

    def ids(self, words: Any) -> Ids:
        Watched.lookups += len(words)
        return super().ids(words)


class Logarithms:
    """Replaces the module `math`, and counts the logarithms."""

    inf, exp, fsum = math.inf, math.exp, math.fsum
    calls = 0

    @classmethod
    def log(cls, number: float) -> float:
        cls.calls += 1
        return math.log(number)

    @classmethod
    def log1p(cls, number: float) -> float:
        cls.calls += 1
        return math.log1p(number)


@BOTH
@pytest.mark.parametrize("size", [5, MANY + 5])
def test_learning_and_scoring_look_only_at_the_words_of_the_document(
    events: Events, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naive_bayes, "Vocabulary", Watched)
    monkeypatch.setattr(naive_bayes, "math", Logarithms)
    costs = set()
    for known in (100, 10_000):
        made = NaiveBayes(("goal", "other"), events)
        for number in range(10):
            made.add("goal" if number % 2 else "other", {f"w{number}-{n}": 1 for n in range(known // 10)})
        Watched.lookups = Logarithms.calls = 0
        said = {f"w3-{n}": 1 for n in range(5)} | {f"new{n}": 1 for n in range(size - 5)}
        made.posteriors(said)
        made.add("goal", said)
        made.add("goal", said, -1.0)
        made.posteriors(said)
        costs.add((Watched.lookups, Logarithms.calls))
    assert len(costs) == 1, f"the vocabulary matters: {costs}"
    lookups, logarithms = costs.pop()
    assert lookups <= 12 * size
    assert logarithms <= 10 * size, "words with equal counts are summed at once"


def test_a_web_of_random_letters_does_not_fill_the_memory() -> None:
    made = NaiveBayes(("goal", "other"), most=3)
    made.add("goal", {"a1": 1, "b1": 2, "c1": 1, "d1": 1, "e1": 1})
    assert made.size == 3
    made.add("goal", {"a1": 1, "b1": 2, "c1": 1, "d1": 1, "e1": 1}, -1.0)
    assert made.size == 0


@pytest.mark.parametrize("classes", [[], ["one", "one"]])
def test_classes_have_distinct_names(classes: list[str]) -> None:
    with pytest.raises(BadConfig, match="distinct names"):
        NaiveBayes(classes)


def test_a_word_with_count_zero_is_not_in_the_document() -> None:
    for events in ("multinomial", "bernoulli"):
        made = NaiveBayes(("goal", "other"), events)  # type: ignore[arg-type]
        made.add("goal", {"beach": 1, "tour": 0})
        made.add("other", {"team": 1})
        assert made.size == 2
        assert made.posteriors({"beach": 1, "team": 0}) == made.posteriors({"beach": 1})


# ---- documents stored as ids


def test_a_document_store_forgets_the_words_of_dropped_documents() -> None:
    documents = DocumentStore()
    for number in range(500):
        documents.put(f"p{number}", {f"w{number}-{n}": n + 1 for n in range(400)})
        documents.drop(f"p{number - 5}")
    assert len(documents.words) < 400_000 / 2
    assert list(documents) == [f"p{n}" for n in range(495, 500)]
    assert documents.counts("p497") == {f"w497-{n}": n + 1 for n in range(400)}
    again = DocumentStore.load(documents.save())
    assert again.counts("p499") == documents.counts("p499")
    assert len(again.words) == 5 * 400
