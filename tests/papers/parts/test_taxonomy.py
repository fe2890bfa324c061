"""A tree of categories that classifies pages, and trees that are refused."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.papers.parts.taxonomy import Fisher, Tree, TreeClassifier
from scenthound.text.tokens import Analyser

PLAIN = Analyser("none", stem=False)
SPORT = {"root": ["sport", "science"], "sport": ["volleyball", "hockey"], "science": ["math", "physics"]}
TAUGHT = [
    ("volleyball", "beach net serve"),
    ("volleyball", "net spike serve"),
    ("hockey", "ice puck team"),
    ("hockey", "puck goal ice"),
    ("math", "proof lemma number"),
    ("physics", "field particle energy"),
]
WORDS = [
    "beach",
    "net",
    "serve",
    "spike",
    "ice",
    "puck",
    "team",
    "goal",
    "proof",
    "lemma",
    "number",
    "field",
    "particle",
    "energy",
    "stranger",
]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def classifier(good: str = "volleyball", features: int = 0, taught: Any = TAUGHT) -> TreeClassifier:
    documents = [(category, PLAIN.counts(text)) for category, text in taught]
    return TreeClassifier.learn(Tree(SPORT, good.split()), documents, features)


# ---- trees that are refused


@pytest.mark.parametrize(
    ("children", "good", "said"),
    [
        ({"root": ["a", "b"], "a": ["c"], "c": ["a"]}, "b", "`a` is below `root` and below `c`"),
        ({"root": ["a", "b"], "c": ["d"], "d": ["c"]}, "b", "form a cycle or are not below the root"),
        ({"root": ["a", "b"], "a": ["root"]}, "b", "`root` is below itself"),
        ({"root": ["a", "b"], "a": ["a"]}, "b", "`a` is below `root` and below `a`|below itself"),
        ({"root": ["a", "b"], "a": ["c"], "b": ["c"]}, "a", "`c` is below `a` and below `b`"),
        ({"root": ["a", "a", "b"]}, "b", "`a` is twice below `root`"),
        ({"root": ["a", "b"], "c": ["d"]}, "b", "are not below the root"),
        ({"a": ["b", "c"]}, "b", "no root called `root`"),
        ({"root": ["sport", "news"]}, "sprot", "did you mean `sport`"),
        ({"root": ["sport", "news"]}, "zzz", "categories: `sport`, `news`"),
        ({"root": ["a", "b"], "a": ["c", "d"]}, "a c", "`a` and `c` below it are both marked good"),
        ({"root": ["a", "b"], "a": ["c", "d"], "d": ["e"]}, "e a", "`a` and `e` below it are both marked good"),
        ({"root": ["a", "b"]}, "", "no category is marked good"),
        ({"root": ["a"]}, "a", "every category is good"),
        ({"root": ["a", "b"]}, "a b", "every category is good"),
        ({"root": ["a"], "a": ["b"]}, "b", "every category is good"),
        ({"root": ["a", "b"]}, "root", "every category is good"),
        ({}, "a", "no category `a`"),
    ],
)
def test_categories_that_are_not_a_tree_are_refused_with_a_hint(
    children: dict[str, list[str]], good: str, said: str
) -> None:
    with pytest.raises(BadConfig, match=said) as caught:
        Tree(children, good.split())
    assert caught.value.hint


def test_a_category_with_one_child_only_is_a_tree_too() -> None:
    tree = Tree({"root": ["insects", "machines"], "insects": ["bees"]}, ["insects"])
    documents = [("bees", PLAIN.counts("honey")), ("machines", PLAIN.counts("wheel"))]
    made = TreeClassifier.learn(tree, documents)
    assert made.best_leaf(PLAIN.counts("honey"))[0] == "bees"
    assert made.probabilities(PLAIN.counts("honey"))["bees"] == pytest.approx(2 / 3)


def test_an_empty_category_is_refused() -> None:
    for taught in (TAUGHT[:-1], [*TAUGHT[:-1], ("physics", "")]):
        with pytest.raises(BadConfig, match="`physics`: it has no example") as caught:
            classifier(taught=taught)
        assert "remove it" in caught.value.hint


def test_pages_of_an_unknown_category_are_refused() -> None:
    with pytest.raises(BadConfig, match="pages of `chess`"):
        classifier(taught=[*TAUGHT, ("chess", "rook")])


def test_a_deep_tree_works() -> None:
    depth = 3000
    children = {"root": ["c0", "other"], **{f"c{n}": [f"c{n + 1}"] for n in range(depth)}}
    tree = Tree(children, [f"c{depth}"])
    made = TreeClassifier.learn(tree, [(f"c{depth}", PLAIN.counts("deep")), ("other", PLAIN.counts("flat"))])
    assert made.relevance(PLAIN.counts("deep")).probability == pytest.approx(2 / 3)


# ---- classification


@given(text=texts, good=st.sampled_from(["volleyball", "sport", "volleyball math", "science hockey"]))
@settings(deadline=None)
def test_relevance_is_the_sum_over_good_categories_and_children_sum_to_their_parent(text: str, good: str) -> None:
    made = classifier(good)
    said = made.probabilities(PLAIN.counts(text))
    for node, below in SPORT.items():
        assert sum(said[name] for name in below) == pytest.approx(said[node])
    found = made.relevance(PLAIN.counts(text))
    assert found.probability == pytest.approx(sum(said[name] for name in good.split()))
    assert found.good == pytest.approx({name: said[name] for name in good.split()})
    assert found.log_odds == pytest.approx(math.log(found.probability / (1 - found.probability)))


@given(text=texts)
@settings(deadline=None)
def test_the_best_leaf_is_the_first_of_those_with_the_largest_probability(text: str) -> None:
    made = classifier()
    said = made.probabilities(PLAIN.counts(text))
    leaves = ["volleyball", "hockey", "math", "physics"]
    right = max(leaves, key=lambda name: (round(said[name], 12), -leaves.index(name)))
    assert made.best_leaf(PLAIN.counts(text)) == (right, pytest.approx(said[right]))


def test_log_odds_distinguish_long_pages_where_probabilities_cannot() -> None:
    made = classifier()
    long, longer = ({"net": times, "serve": times} for times in (400, 800))
    assert made.relevance(long).log_odds < made.relevance(longer).log_odds
    bad, worse = ({"puck": times, "ice": times} for times in (40_000, 80_000))
    assert made.relevance(bad).probability == made.relevance(worse).probability == 0.0
    assert made.relevance(bad).log_odds > made.relevance(worse).log_odds


def test_pages_of_an_inner_category_train_the_classifiers_above_it() -> None:
    plain, more = classifier(), classifier(taught=[*TAUGHT, ("sport", "match referee")])
    assert more.probabilities(PLAIN.counts("referee"))["sport"] > plain.probabilities(PLAIN.counts("referee"))["sport"]
    asked = PLAIN.counts("net puck")
    within = [one.probabilities(asked)["hockey"] / one.probabilities(asked)["sport"] for one in (plain, more)]
    assert within[0] == pytest.approx(within[1])


@given(text=texts, asked=texts, category=st.sampled_from(["volleyball", "math", "sport"]))
@settings(deadline=None)
def test_a_page_can_be_counted_and_taken_back(text: str, asked: str, category: str) -> None:
    made, other = classifier(), classifier(taught=[*TAUGHT, (category, text)])
    before = made.probabilities(PLAIN.counts(asked))
    made.add(category, PLAIN.counts(text))
    assert made.probabilities(PLAIN.counts(asked)) == pytest.approx(other.probabilities(PLAIN.counts(asked)))
    made.add(category, PLAIN.counts(text), -1.0)
    assert made.probabilities(PLAIN.counts(asked)) == before


@given(text=texts)
@settings(deadline=None)
def test_a_saved_classifier_is_loaded_equal(text: str) -> None:
    made = classifier("volleyball math", features=4)
    again = TreeClassifier.load(json.loads(json.dumps(made.save(), default=lambda value: value.tolist())))
    assert again.probabilities(PLAIN.counts(text)) == made.probabilities(PLAIN.counts(text))
    assert again.relevance(PLAIN.counts(text)) == made.relevance(PLAIN.counts(text))


@pytest.mark.parametrize("wrong", [{"good": []}, {"children": {"root": ["root"]}}, {"nodes": {}}, {"root": "top"}])
def test_a_tampered_tree_is_not_loaded(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        TreeClassifier.load(classifier().save() | wrong)
    state = classifier().save()
    state["nodes"]["root"] = state["nodes"]["sport"]
    with pytest.raises(ValueError, match="other categories"):
        TreeClassifier.load(state)


def test_the_nearest_leaf_is_good_or_not_as_asked() -> None:
    made = classifier("sport")
    assert made.nearest(PLAIN.counts("puck"), good=True) == "hockey"
    assert made.nearest(PLAIN.counts("puck energy"), good=False) == "physics"


# ---- feature selection


def fisher(documents: list[tuple[str, str]]) -> Fisher:
    made = Fisher(sorted({label for label, _ in documents}))
    for label, text in documents:
        made.add(label, PLAIN.counts(text))
    return made


def test_the_discriminant_of_a_word_by_hand() -> None:
    made = fisher([("a", "xx yy"), ("a", "xx xx"), ("b", "yy yy"), ("b", "yy zz")])
    # xx: shares 1/2, 1 in a; 0, 0 in b. Means 3/4 and 0; within: 1/16 and 0.
    assert made.value("xx") == pytest.approx((3 / 4) ** 2 / (1 / 16))
    # yy: 1/2, 0 in a; 1, 1/2 in b. Means 1/4 and 3/4; within: 1/16 each.
    assert made.value("yy") == pytest.approx((1 / 2) ** 2 / (1 / 8))
    assert made.value("stranger") == 0.0
    assert made.best(2) == ["xx", "yy"]


def test_a_word_that_never_varies_within_a_class_is_best_and_a_common_one_worst() -> None:
    made = fisher([("a", "xx cc"), ("a", "xx cc"), ("b", "yy cc"), ("b", "zz cc")])
    assert made.value("xx") == math.inf
    assert made.value("cc") == 0.0
    assert made.best(9) == ["xx", "yy", "zz", "cc"], "ties in alphabetical order"


@given(documents=st.lists(st.tuples(st.sampled_from("abc"), texts.filter(bool)), min_size=1), seed=st.integers(0, 5))
@settings(deadline=None)
def test_the_order_of_documents_does_not_matter_to_the_choice(documents: Any, seed: int) -> None:
    shuffled = random.Random(seed).sample(documents, len(documents))
    assert fisher(documents).best(4) == fisher(shuffled).best(4)


def test_words_are_selected_per_inner_category_and_all_are_kept_if_there_are_few() -> None:
    made = classifier(features=4)
    assert made.nodes["root"].vocabulary == {"energy", "field", "ice", "lemma"}, "the first of ten equal ones"
    assert made.nodes["science"].vocabulary == {"energy", "field", "lemma", "number"}
    assert classifier(features=100).nodes["root"].vocabulary is None
