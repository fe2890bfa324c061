"""Seed augmentation: hubs in, directories and their mirrors out."""

from __future__ import annotations

import doctest

from scenthound.graph.link_graph import link_graph
from scenthound.sources import augment as augment_module
from scenthound.sources.augment import HubDecision, HubRules, augment

DESCRIPTION = {"bee": 2, "honey": 1}


def decisions(result: augment_module.AugmentedSeeds) -> dict[str, str]:
    return {candidate.url: str(candidate.decision) for candidate in result.candidates}


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(augment_module).failed == 0


def test_a_page_that_links_to_two_seeds_is_a_hub() -> None:
    graph = link_graph(
        {
            "http://hub.test/": ["http://s1.test/", "http://s2.test/"],
            "http://one.test/": ["http://s1.test/"],
            "http://www.dmoz.org/Bees/": ["http://s1.test/", "http://s2.test/"],
            "http://mirror.test/": ["http://s1.test/", "http://s2.test/"],
        }
    )
    texts = {"http://mirror.test/": {"bee": 4, "honey": 2, "mirror": 9}, "http://hub.test/": {"honey": 1, "links": 5}}
    result = augment(["http://s1.test/", "http://s2.test/"], graph.back_links, DESCRIPTION, texts.get)
    assert result.all_seeds == ("http://s1.test/", "http://s2.test/", "http://hub.test/")
    assert decisions(result) == {
        "http://hub.test/": "kept",
        "http://mirror.test/": "mirror",
        "http://www.dmoz.org/Bees/": "banned host",
        "http://one.test/": "too few",
    }


def test_only_the_first_back_links_of_a_seed_count() -> None:
    back = {"s": ["a", "b", "c"], "t": ["c", "b", "a"]}
    result = augment(["s", "t"], back.__getitem__, DESCRIPTION, lambda url: None, HubRules(per_seed=2))
    assert result.hubs == ("b",)


def test_hubs_are_sorted_by_count_and_then_by_first_occurrence() -> None:
    back = {"s": ["z", "y", "x"], "t": ["y", "z", "x"], "u": ["x"]}
    result = augment(["s", "t", "u"], back.__getitem__, DESCRIPTION, lambda url: None, HubRules(most=2))
    assert result.hubs == ("x", "z")
    assert decisions(result)["y"] == HubDecision.BEYOND


def test_a_seed_is_not_a_hub_and_a_repeated_back_link_counts_once() -> None:
    back = {"s": ["t", "a", "a"], "t": ["s"], "u": ["t", "s"]}
    result = augment(["s", "t", "u", "s"], back.__getitem__, DESCRIPTION, lambda url: None)
    assert result.hubs == ()
    assert result.all_seeds == ("s", "t", "u")
    assert decisions(result) == {"t": "already a seed", "s": "already a seed", "a": "too few"}
