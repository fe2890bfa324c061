"""The hub-seeking crawler: a page that links to several seeds is worth following, whatever it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import golden
from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, named, page_of, walk
from scenthound.model import Topic, Url
from scenthound.papers.dom import Dom
from scenthound.papers.hub_seeking import HubSeeking, hub_score
from scenthound.sources.augment import augment
from scenthound.topic_list import BedTopic
from test_golden import differences

BEES = Topic("bees honey")
SEEDS = [named(name) for name in ("one.example/", "two.example/", "www.three.example/shop")]
HOME = named("home.example/")


def linked(strategy: HubSeeking, *names: str, url: Url = HOME, topic: Topic = BEES) -> int:
    """How many seeds a page counts as linked to, that links to these."""
    list(strategy.start(topic, SEEDS))
    html = "".join(f'<a href="{named(name)}">x</a>' for name in names)
    return strategy.seeds_linked(page_of(html, url))


@pytest.mark.parametrize("key", ["hub", "hub_n"])
def test_the_worked_example_comes_out(golden_public: Path, key: str) -> None:
    public = json.loads(golden_public.read_text(encoding="utf-8"))
    found = golden.plain(golden.ANSWERS[key](public["inputs"]))
    assert list(differences(found, public["expected"][key], key)) == []


@pytest.mark.parametrize(
    ("n", "score"), [(0, 0), (1, 0), (2, 0.4), (3, 0.6), (4, 0.705882), (5, 0.769231), (10, 0.891089), (50, 0.979608)]
)
def test_a_hub_is_worth_the_more_the_more_seeds_it_links_to(n: int, score: float) -> None:
    assert hub_score(n) == pytest.approx(score, abs=5e-7)


def test_a_competitor_is_found_through_a_wordless_list_of_competitors() -> None:
    web = TinyWeb(
        {
            "one.example/": "bees honey shop -> dull.example/ list.example/",
            "two.example/": "bees honey wax -> talk.example/",
            "list.example/": "links -> one.example/ two.example/about three.example/",
            "talk.example/": "bees honey bees -> talk.example/1 talk.example/2",
            "dull.example/": "cars -> talk.example/3",
            "three.example/": "bees honey",
            **{f"talk.example/{n}": "x" for n in (1, 2, 3)},
        }
    )
    seeds = "one.example/ two.example/"
    ours, dom = (walk(web, make(), BEES, seeds).visited for make in (HubSeeking, Dom))
    rival, talk = named("three.example/"), named("talk.example/3")
    assert ours.index(rival) < ours.index(talk)
    assert dom.index(rival) > dom.index(talk)


def test_every_link_of_a_hub_is_wanted_alike_unless_its_words_say_more() -> None:
    strategy = HubSeeking()
    list(strategy.start(BEES, SEEDS))
    html = "<p><a href='//one.example/x'>x</a><p><a href='//two.example/'>y</a><p><a href='/bees'>bees honey</a>"
    plain, _, wordy = strategy.read(page_of(html, HOME))
    assert (plain.score, plain.parts["hub"], plain.parts["context"]) == (0.4, 0.4, 0.0)
    assert wordy.score == pytest.approx(0.25 * wordy.parts["page"] + 0.75)
    assert set(wordy.parts) == {"page", "context", "hub"}


@pytest.mark.parametrize(
    ("options", "names", "n"),
    [
        ({}, ("one.example/", "one.example/more", "elsewhere.example/"), 1),
        ({}, ("one.example/a", "two.example/b", "www.three.example/"), 3),
        ({}, ("three.example/",), 0),
        ({"strip_www": True}, ("three.example/", "www.one.example/"), 2),
        ({"entity": "url"}, ("one.example/", "two.example/more"), 1),
        ({"entity": "url"}, ("www.three.example/shop", "one.example/", "one.example/"), 2),
        ({"entity": "url"}, ("three.example/shop",), 0),
        (
            {"entity": "url", "strip_www": True},
            ("three.example/shop", "http://one.example/?u=http://www.x.example/"),
            1,
        ),
        ({}, (), 0),
    ],
)
def test_hosts_of_seeds_are_counted_once_each_or_the_seeds_themselves(
    options: dict[str, Any], names: tuple[str, ...], n: int
) -> None:
    assert linked(HubSeeking(**options), *names) == n


def test_links_within_the_host_count_by_default_and_links_to_the_page_itself_never() -> None:
    inner = named("one.example/inner")
    assert linked(HubSeeking(), "one.example/x", "two.example/", url=inner) == 2
    assert linked(HubSeeking(count_own_host=False), "one.example/x", "two.example/", url=inner) == 1
    assert linked(HubSeeking(entity="url"), "one.example/", "two.example/", url=inner) == 2
    assert linked(HubSeeking(entity="url", count_own_host=False), "one.example/", "two.example/", url=inner) == 1
    assert linked(HubSeeking(), "one.example/", "two.example/", url=SEEDS[0]) == 1
    www = named("www.one.example/")
    assert linked(HubSeeking(strip_www=True, count_own_host=False), "one.example/", "two.example/", url=www) == 1


def test_with_hubs_among_the_seeds_only_the_original_seeds_count() -> None:
    back = {"http://one.example/": ["http://list.example/"], "http://two.example/": ["http://list.example/"]}
    seeds = [named("one.example/"), named("two.example/")]
    augmented = augment(seeds, lambda url: back[url], {}, lambda url: None)
    assert augmented.hubs == ("http://list.example/",)
    bed = BedTopic("bees", (), "bees", "", tuple(map(Url, augmented.all_seeds)), (), examples=tuple(seeds))
    for options, n in (({}, 2), ({"counted": "examples"}, 1)):
        strategy = HubSeeking(**options)
        started = list(strategy.start(bed.topic, bed.seeds))
        assert [candidate.url for candidate in started] == list(augmented.all_seeds), "all of them are crawled first"
        html = "<a href='http://list.example/'>x</a><a href='http://one.example/'>y</a>"
        assert strategy.seeds_linked(page_of(html, HOME)) == n


def test_examples_that_are_missing_or_not_urls_are_reported() -> None:
    strategy = HubSeeking(counted="examples")
    with pytest.raises(BadConfig, match="the topic has no examples\nhint: name the original seeds"):
        strategy.start(BEES, SEEDS)
    with pytest.raises(BadConfig, match="an example of the topic is not"):
        strategy.start(Topic("bees", examples=("some text",)), SEEDS)


def test_a_seed_that_is_not_there_counts_all_the_same() -> None:
    web = TinyWeb({"one.example/": "-> list.example/", "list.example/": "-> gone.example/ one.example/ x.example/"})
    walked = walk(web, HubSeeking(), BEES, "one.example/ gone.example/")
    assert walked.visited == ["http://one.example/", "http://list.example/"]
    assert linked(HubSeeking(), "one.example/", "two.example/") == 2


def test_a_page_with_60_000_links_is_a_page_like_others() -> None:
    strategy = HubSeeking()
    list(strategy.start(BEES, SEEDS))
    html = "<p>bees " + "".join(f"<a href='http://h{n % 30_000}.example/{n}'>x</a>" for n in range(60_000))
    page = page_of(html + "<a href='//two.example/'>y</a>", HOME, max_links=200_000)
    assert len(list(strategy.read(page))) == 60_001
    assert strategy.seeds_linked(page) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entity": "domain"}, "`entity` can't be 'domain'\nhint: one of: host, url"),
        ({"entity": ["host"]}, "`entity` can't be \\['host'\\]"),
        ({"counted": "all"}, "`counted` can't be 'all'\nhint: one of: seeds, examples"),
        ({"count_own_host": 1}, "`count_own_host` can't be 1\nhint: write true or false"),
        ({"strip_www": "yes"}, "`strip_www` can't be 'yes'"),
        ({"alpha": 2}, "`alpha` can't be 2"),
        ({"n": 0}, "`n` can't be 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        HubSeeking(**options)
