"""A classifier learned from a taxonomy with example pages."""

from __future__ import annotations

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb
from scenthound.lessons import Taxonomy
from scenthound.papers.parts.training_pages import learn_taxonomy, two_leaves
from scenthound.text.tokens import Analyser


def test_all_examples_equal_or_a_single_one_still_make_a_classifier() -> None:
    web = TinyWeb({"a.example/": "bees honey", "b.example/": "bees honey", "c.example/": "cars"})
    for examples in ("a.example/", "a.example/ b.example/", "a.example/ a.example/ a.example/"):
        lessons = TinyLessons(web, "bees", examples, "c.example/")
        made = learn_taxonomy(two_leaves(lessons.examples, lessons.others), Analyser())
        assert made.relevance(Analyser().counts("honey")).probability > 0.5
        assert made.best_leaf(Analyser().counts("cars"))[0] == "other"


def test_examples_without_words_teach_nothing() -> None:
    web = TinyWeb({"a.example/": "", "c.example/": "cars"})
    lessons = TinyLessons(web, "bees", "a.example/", "c.example/")
    with pytest.raises(BadConfig, match="no example with words"):
        learn_taxonomy(two_leaves(lessons.examples, lessons.others), Analyser())
    with pytest.raises(BadConfig, match="`b`"):
        learn_taxonomy(Taxonomy({"root": ["a", "b"]}, {"a": lessons.others}, ("a",)), Analyser())
