"""Context graphs: layers from back-links, a small vocabulary, a queue of pages per layer (sheet 30.4)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb, named, walk
from scenthound.papers.context_graph import ContextGraph, best_words, classify, layer_classifier
from scenthound.papers.parts.training_pages import back_layers
from scenthound.strategies.best_first import BestFirst


def silent_links(pages: dict[str, str]) -> TinyWeb:
    """As `TinyWeb`, but links have no text: host names would be words of the pages."""
    html = {}
    for name, content in pages.items():
        words, _, targets = content.partition("->")
        html[name] = f"<p>{words}</p>" + "".join(f'<a href="{named(target)}"></a>' for target in targets.split())
    return TinyWeb(html)


KNOWN = silent_links(
    {
        "p1.example/": "numerical analysis paper matrix",
        "p2.example/": "numerical method paper",
        "f1.example/": "faculty research people -> p1.example/",
        "f2.example/": "faculty research staff -> p2.example/",
        "d1.example/": "department course home -> f1.example/ p2.example/",
        "d2.example/": "department course welcome -> f2.example/",
        "u.example/": "university -> d1.example/ d2.example/",
    }
)
EXAMPLES = "p1.example/ p2.example/"
UNKNOWN = silent_links(
    {
        "s.example/": "portal -> toys.example/ dept.example/",
        "toys.example/": "mathematics toys -> toys.example/1 toys.example/2 toys.example/3",
        "toys.example/1": "mathematics mathematics -> toys.example/4 toys.example/5",
        "toys.example/2": "mathematics",
        "toys.example/3": "mathematics",
        "dept.example/": "department course -> dept.example/law dept.example/people",
        "dept.example/law": "court",
        "dept.example/people": "faculty research -> dept.example/t",
        "dept.example/t": "numerical paper",
    }
)
MATHEMATICS = "mathematics"


def taught(lessons: TinyLessons | None = None, **parameters: Any) -> ContextGraph:
    made = ContextGraph(**{"layers": 2, "vocabulary_from": "all", **parameters})
    made.train(lessons or TinyLessons(KNOWN, MATHEMATICS, EXAMPLES), random.Random(0), lambda _: None)
    return made


def test_it_goes_through_pages_that_are_not_about_the_topic_where_best_first_does_not() -> None:
    ours = walk(UNKNOWN, taught(), MATHEMATICS, "s.example/", pages=6)
    assert "dept.example/t" in ours, "department, faculty, paper: that is how examples were reached"
    assert "dept.example/t" not in walk(UNKNOWN, BestFirst(), MATHEMATICS, "s.example/", pages=6)


def test_the_lowest_queue_is_served_first_and_its_links_in_document_order() -> None:
    visited = walk(UNKNOWN, taught(), MATHEMATICS, "s.example/").visited
    assert [url.removeprefix("http://") for url in visited[:6]] == [
        *("s.example/", "toys.example/", "dept.example/", "dept.example/law", "dept.example/people", "dept.example/t"),
    ]


def test_scores_tell_the_layer_and_its_probability() -> None:
    steps = {step.url: step for step in walk(UNKNOWN, taught(), MATHEMATICS, "s.example/").steps}
    near = steps[named("dept.example/t")]
    assert near.parts["layer"] == 1.0
    assert near.score == pytest.approx(2 + near.parts["probability"])
    assert steps[named("toys.example/1")].parts["layer"] == 3.0, "no layer: other"


def test_a_page_belongs_to_the_lowest_layer_in_which_it_appears() -> None:
    found = taught()
    assert found.bayes_ is not None
    # d1 links to p2 and so is in layer 1 for it, though it is two links before p1
    assert [found.bayes_.documents(str(layer)) for layer in range(3)] == [2.0, 3.0, 2.0]


def test_layers_are_capped_by_lot_and_the_same_lot_gives_the_same_model() -> None:
    web = TinyWeb({"t.example/": "target", **{f"h{n}.example/": f"hub word{n} -> t.example/" for n in range(30)}})
    lessons = TinyLessons(web, "x", "t.example/")
    layers = back_layers(lessons, [named("t.example/")], 2, 5, random.Random(1))
    assert [len(layer) for layer in layers] == [1, 5, 0]
    models = []
    for luck in (1, 1, 2):
        made = ContextGraph(cap=5, vocabulary_from="all")
        made.train(lessons, random.Random(luck), lambda _: None)
        models.append(json.dumps(made.model(), default=lambda value: value.tolist()))
    assert models[0] == models[1] != models[2]


def test_words_are_ranked_by_how_often_and_how_rarely_they_occur() -> None:
    layers = [[{"a": 2, "b": 1, "c": 1}], [{"a": 1, "d": 4}, {"d": 1, "c": 1}]]
    assert [word for word, _ in best_words(layers, [0], 9)] == ["b", "a", "c"]
    assert [word for word, _ in best_words(layers, [0, 1, 7], 2)] == ["d", "a"]


def test_a_layer_without_known_pages_is_never_the_answer() -> None:
    bayes = layer_classifier([[{"a": 1}], [{"b": 1}], []], [0, 1], 5)
    assert classify(bayes, {"b": 1}, 0.5).layer == 1
    assert classify(bayes, {"z": 1}, 0.5) == (0, 0.5), "no word: equal, and the lower layer wins"
    assert classify(bayes, {}, 0.6).layer == 3
    assert classify(bayes, {"a": 900}, 0.5) == (0, 1.0)
    assert classify(bayes, {"a": 900}, 0.5, length_norm=True).probability == pytest.approx(2 / 3)


def test_one_example_is_enough() -> None:
    found = taught(TinyLessons(KNOWN, MATHEMATICS, "p1.example/"))
    assert "dept.example/people" in walk(UNKNOWN, found, MATHEMATICS, "s.example/", pages=5)


def test_without_lessons_it_says_what_is_missing() -> None:
    with pytest.raises(BadConfig, match="no examples"):
        taught(TinyLessons(KNOWN, MATHEMATICS, ""))
    with pytest.raises(BadConfig, match="links to an example"):
        taught(TinyLessons(KNOWN, MATHEMATICS, "u.example/"))
    silent = TinyWeb({"a.example/": "", "b.example/": '<a href="http://a.example/"></a>'})
    with pytest.raises(BadConfig, match="no words"):
        taught(TinyLessons(silent, MATHEMATICS, "a.example/"))
    with pytest.raises(BadConfig, match="untrained"):
        walk(UNKNOWN, ContextGraph(), MATHEMATICS, "s.example/")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("layers", 0), ("k", 0), ("cap", True), ("threshold", 1.5), ("threshold", "x"), ("length_norm", "yes"),
        ("stop_words", "klingon"), ("vocabulary_from", "7"), ("vocabulary_from", ""), ("vocabulary_from", "a b"),
    ],
)  # fmt: skip
def test_a_parameter_that_can_not_be_is_named(parameter: str, value: Any) -> None:
    with pytest.raises(BadConfig, match=parameter):
        ContextGraph(**{parameter: value})


def test_a_model_of_other_words_or_of_something_else_is_refused() -> None:
    model = taught().model()
    with pytest.raises(ValueError, match="trained with the analyser"):
        ContextGraph(stem=False).use(model)
    other = {**model, "bayes": {**model["bayes"], "classes": ["x", "y", "z"]}}
    with pytest.raises(ValueError, match="not layers"):
        ContextGraph().use(other)
    with pytest.raises(KeyError):
        ContextGraph().use({})
