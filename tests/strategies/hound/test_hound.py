"""hound: what it prefers, on tiny webs; its sums compared with sheet 80."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from scenthound.lab.testing import TinyWeb, named, page_of, walk
from scenthound.model import Candidate, Miss, Topic
from scenthound.papers.home_pages import HomePages
from scenthound.store.blobs import pack, unpack
from scenthound.strategies.hound.features import FEATURES, FEWEST, SHIPPED, FrontierFeatures, Scoring, deviations
from scenthound.strategies.hound.hound import NOT_RANKED, Hound
from scenthound.strategies.hound.link_table import LinkTable
from scenthound.strategies.hound.site_search import SiteSearch
from scenthound.strategies.hound.topic_fit import LearnedTopic
from scenthound.text.vocabulary import Vocabulary
from scenthound.url import are_sites

CHESS = "chess openings gambit endgame knight bishop castling"
GARDEN = "garden tulip compost rake seedling mulch trowel"
SITES = Topic("chess", looking_for="sites")


def one_host(pages: dict[str, str]) -> TinyWeb:
    return TinyWeb({f"a.test/{name}": html for name, html in pages.items()})


def names(walked: Any) -> list[str]:
    return [url.removeprefix("http://a.test/") for url in walked.visited]


def page(words: str, links: str = "") -> str:
    anchors = "".join(f"<li><a href='/{name}'>{name.replace('-', ' ')}</a></li>" for name in links.split())
    return f"<p>{words}</p><ul>{anchors}</ul>"


def test_links_with_words_of_the_topic_come_first() -> None:
    web = one_host(
        {
            "seed": page(CHESS, "tulip-garden chess-gambit compost-rake knight-endgame"),
            "tulip-garden": page(GARDEN),
            "chess-gambit": page(CHESS),
            "compost-rake": page(GARDEN),
            "knight-endgame": page(CHESS),
        }
    )
    visited = names(walk(web, Hound(), "chess", ["a.test/seed"]))
    assert set(visited[1:3]) == {"chess-gambit", "knight-endgame"}
    assert len(visited) == 5


def test_links_beside_those_that_paid_off_come_first() -> None:
    """Numbers say nothing, but the second list has paid off."""
    lists = {"good": [f"g{n}" for n in range(12)], "bad": [f"b{n}" for n in range(12)]}
    pages = {name: page(CHESS if kind == "good" else GARDEN) for kind, all_ in lists.items() for name in all_}
    rows = "".join(
        f"<div class={kind}>" + "".join(f"<p><a href='/{name}'>{n}</a></p>" for n, name in enumerate(all_)) + "</div>"
        for kind, all_ in (("bad", lists["bad"]), ("good", lists["good"]))
    )
    web = one_host({"seed": f"<p>{CHESS}</p>{rows}", **pages})
    visited = names(walk(web, Hound(), "chess", ["a.test/seed"]))
    late = visited[13:]
    assert sum(name.startswith("g") for name in visited[1:13]) > sum(name.startswith("g") for name in late)


def test_addresses_formed_like_those_of_relevant_pages_come_first() -> None:
    """Anchors and words say nothing, but the pages on topic are named with two capitals."""
    good = [f"Ab{n}_Cd{n}" for n in range(10)]
    bad = [f"ef{n}" for n in range(10)]
    mixed = [name for pair in zip(bad, good, strict=True) for name in pair]
    links = "".join(f"<a href='/{name}'>more</a> " for name in mixed)
    pages = {name: page(CHESS if name in good else GARDEN) for name in mixed}
    visited = names(
        walk(one_host({"Seed_One": f"<p>{CHESS}</p>{links}", **pages}), Hound(), "chess", ["a.test/Seed_One"])
    )
    assert sum(name in good for name in visited[1:11]) >= 9


def test_all_pages_are_fetched_in_the_end() -> None:
    pages = {f"p{n}": page(GARDEN, f"p{n + 1} p{n + 2}") for n in range(40)}
    visited = names(walk(one_host({"seed": page(CHESS, "p0"), **pages}), Hound(), "chess", ["a.test/seed"]))
    assert len(visited) == 41


def test_the_parts_add_up_to_the_score() -> None:
    web = one_host({"seed": page(CHESS, "x y z"), **{name: page(CHESS, "seed w") for name in "xyz"}, "w": page(CHESS)})
    walked = walk(web, Hound(), "chess", ["a.test/seed"])
    ranked = [step for step in walked.steps[1:] if step.score > NOT_RANKED]
    assert ranked
    assert all(math.isclose(step.score, math.fsum(step.parts.values()), abs_tol=1e-9) for step in ranked)


def test_a_label_changes_the_order_at_once() -> None:
    hound = Hound()
    list(hound.start(topic("hobbies"), [named("a.test/seed")]))
    for name, words, score in (("seed", "welcome", math.inf), ("garden", GARDEN, 1.0), ("board", CHESS, 1.0)):
        url = named(f"a.test/{name}")
        links = "rake-compost knight-bishop" if name == "seed" else ""
        list(hound.read(page_of(page(words, links), url, candidate=Candidate(url, score))))

    def lead() -> float:
        ranked = scores(hound.take_label(named("a.test/garden"), on_topic))
        return ranked["http://a.test/rake-compost"] - ranked["http://a.test/knight-bishop"]

    on_topic = True
    liked = lead()
    on_topic = False
    assert liked > 0 > lead() - liked


def test_a_seed_that_redirects_does_not_hold_up_the_ranking() -> None:
    web = one_host({"old": "=> a.test/seed", "seed": page(CHESS, "rake chess-knight"), "rake": page(GARDEN)})
    visited = walk(web, Hound(), "chess", ["a.test/old"])
    assert all(step.score > NOT_RANKED for step in visited.steps[1:])


def test_links_that_the_crawl_does_not_take_do_not_block_the_ranking() -> None:
    """200 links out of scope rank above the garden pages, among which one leads to more chess."""
    hound = Hound()
    list(hound.start(topic("chess"), [named("a.test/seed")]))
    outside = " ".join(f"chess-knight-{n}" for n in range(200))
    inside = " ".join(f"rake-{n}" for n in range(60))
    url = named("a.test/seed")
    list(hound.read(page_of(page(CHESS, f"{outside} {inside}"), url, candidate=Candidate(url, math.inf))))
    ranked: dict[str, float] = {}
    for n in range(45):
        url = named(f"a.test/rake-{n}")
        offers = hound.read(page_of(page(GARDEN), url, candidate=Candidate(url, ranked.get(url, NOT_RANKED))))
        ranked |= {offer.url: offer.score for offer in offers}
    assert any("rake" in url and score > NOT_RANKED for url, score in ranked.items())


MANY_LISTS = {"seed": page(CHESS, " ".join(f"list-{n}" for n in range(150)))} | {
    f"list-{n}": page(GARDEN, " ".join(f"item-{n}-{m}" for m in range(20))) for n in range(150)
}


def test_urls_that_no_remembered_link_leads_to_are_forgotten_and_still_fetched_in_the_end() -> None:
    hound, items = Hound(memory=1000), [f"item-{n}-{m}" for n in range(150) for m in range(20)]
    walk(one_host(MANY_LISTS), hound, "chess", ["a.test/seed"], pages=140)
    assert len(hound.table_.names) < 140 + 1000 + 1000, "pages, links, and links met since the last ranking"
    visited = names(
        walk(
            one_host(MANY_LISTS | dict.fromkeys(items, page(GARDEN))),
            Hound(memory=1000),
            "chess",
            ["a.test/seed"],
            pages=4000,
        )
    )
    assert set(visited) == {*MANY_LISTS, *items}


def test_a_saved_hound_that_has_forgotten_urls_goes_on_as_before() -> None:
    first, again = Hound(memory=1000), Hound(memory=1000)
    links = page(CHESS, " ".join(f"list-{n}" for n in range(30)))
    homes = dict.fromkeys((f"h{n}.test/" for n in range(100)), links)
    homes["h0.test/"] += "".join(f"<a href='http://{home}'>site</a>" for home in homes)
    seeds = ["h0.test/", "h1.test/"]
    walk(TinyWeb(homes), first, SITES, seeds, pages=90)
    assert first.sites_ is not None, "sites are looked for"
    assert len(first.table_.names) < 2000, "of some 2,800 URLs some are forgotten"
    list(again.start(SITES, [named(seed) for seed in seeds]))
    again.load(unpack(pack(first.save())))
    for url in ("h95.test/", "h95.test/list-1", "h95.test/list-2"):
        told = page_of(page(CHESS, "list-3 list-4"), named(url), candidate=Candidate(named(url), 1.0))
        assert list(first.read(told)) == list(again.read(told))


# ---- sums


def test_the_worked_example_of_the_score() -> None:
    rows = np.array(
        [
            [0.8, 0.3, 0.1, 0.2, 0.25],
            [0.4, 0.05, -0.05, -0.1, 0],
            [0.6, 0.2, 0.02, 0.05, 0.1],
            [0.2, 0, -0.08, -0.15, -0.05],
        ]
    )
    used = ("citing", "beside", "besides", "page", "near")
    features = {name: np.zeros(4) for name in FEATURES} | dict(zip(used, rows.T, strict=True))
    frontier = FrontierFeatures(np.arange(4), features, np.ones(4), np.ones(4))
    scores = Scoring().rank(deviations(frontier))
    assert scores.round(2).tolist() == pytest.approx([1.78, -0.77, 0.48, -1.49], abs=0.01)


def test_relevance_is_one_for_examples_and_falls_with_distance_from_them() -> None:
    vocabulary = Vocabulary()
    model = LearnedTopic(vocabulary, ["chess"], lambda word: 0.0)
    for words, is_example in ((CHESS, True), (CHESS + " rook", True), (GARDEN, False), (GARDEN + " chess", False)):
        ids = vocabulary.add(words.split())
        model.add(ids, np.ones(len(ids), dtype=np.int32), is_example)
    model.update()
    first, second, garden, mixed = model.relevance.values.tolist()
    assert first == second == 1
    assert 0 <= garden < mixed < 0.6


def test_seeds_that_do_not_hold_the_keywords_are_places_to_start_from() -> None:
    """The seeds are about gardens, the keywords about chess, and pages about chess were found."""
    relevance = _relevance_of([(GARDEN, True)] * 3 + [(GARDEN, False)] * 12 + [(CHESS, False)] * 12)
    assert max(relevance[:15]) < min(relevance[15:])


def test_seeds_that_hold_the_keywords_are_believed() -> None:
    seeds = [(CHESS, True)] * 3
    relevance = _relevance_of([*seeds, *[("chess stove lamp table", False)] * 12, *[(CHESS, False)] * 12])
    assert relevance[:3] == [1, 1, 1]
    assert max(relevance[3:15]) < 0.9 < min(relevance[15:])


def test_without_examples_the_keywords_are_the_topic() -> None:
    relevance = _relevance_of([(GARDEN, False), (CHESS, False), (GARDEN, False)])
    assert relevance[1] > 2 * max(relevance[0], relevance[2])


def _relevance_of(pages: list[tuple[str, bool]]) -> list[float]:
    vocabulary = Vocabulary()
    model = LearnedTopic(vocabulary, ["chess", "gambit"], lambda word: 0.0)
    for words, is_example in pages:
        ids = vocabulary.add(words.split())
        model.add(ids, np.ones(len(ids), dtype=np.int32), is_example)
    model.update()
    return list(model.relevance.values.tolist())


def test_weights_move_towards_what_paid_off_and_not_without_lessons() -> None:
    scoring, rng = Scoring(), np.random.default_rng(1)
    z = rng.normal(size=(200, len(FEATURES)))
    address = FEATURES.index("address")
    relevance = np.clip(0.3 + 0.2 * z[:, address], 0, 1.5)
    for number in range(FEWEST - 1):
        scoring.set_ranked([number], z[[number]])
        scoring.fetched(number, number)
    scoring.learn(relevance, 0.0)
    unlearned = scoring.weights
    scoring.learn(relevance, 1.0)
    assert scoring.weights.tolist() == SHIPPED.tolist()
    for number in range(FEWEST, 200):
        scoring.set_ranked([number], z[[number]])
        scoring.fetched(number, number)
    scoring.learn(relevance, 0.0)
    moved = scoring.weights - unlearned
    assert np.argmax(moved) == address
    assert 0.2 < scoring.weights[address] < 1


def test_words_count_more_the_less_the_seeds_are_believed() -> None:
    scoring, anchor, near = Scoring(), FEATURES.index("anchor"), FEATURES.index("near")
    nothing = np.zeros(0)
    by_belief = []
    for belief in (1.0, 0.5, 0.0):
        scoring.learn(nothing, belief)
        by_belief.append((scoring.weights[anchor] / SHIPPED[anchor], scoring.weights[near] / SHIPPED[near]))
    assert by_belief == [(1.0, 1.0), (2.5, 1.0), (4.0, 1.0)]


def test_a_saved_scoring_goes_on_as_before() -> None:
    scoring, again, rng = Scoring(), Scoring(), np.random.default_rng(2)
    z = rng.normal(size=(40, len(FEATURES)))
    scoring.set_ranked(list(range(40)), z)
    for number in range(30):
        scoring.fetched(number, number)
    relevance = rng.random(40)
    scoring.learn(relevance, 0.0)
    again.load(scoring.save())
    for one in (scoring, again):
        one.fetched(35, 35)
        one.learn(relevance, 0.0)
    assert again.weights.tolist() == scoring.weights.tolist()


def test_a_saved_topic_goes_on_as_before() -> None:
    vocabulary = Vocabulary()
    model = LearnedTopic(vocabulary, ["chess"], lambda word: 0.3 * (word == "garden"))
    for words in (CHESS, GARDEN):
        ids = vocabulary.add(words.split())
        model.add(ids, np.ones(len(ids), dtype=np.int32), words is CHESS)
    model.update()
    again = LearnedTopic(vocabulary, ["chess"], lambda word: 0.3 * (word == "garden"))
    again.load(model.save())
    ids = vocabulary.add(["chess", "novel"])
    for one in (model, again):
        one.add(ids, np.ones(2, dtype=np.int32), False)
        one.update()
    assert model.relevance.values.tolist() == again.relevance.values.tolist()


# ---- sites


def test_seeds_look_like_sites_if_they_are_home_pages_of_different_hosts() -> None:
    assert are_sites([named("a.test/"), named("b.test/"), named("c.test/")])
    assert not are_sites([named("a.test/")])
    assert not are_sites([named("a.test/x"), named("b.test/y")])


def shop(words: str, *links: str) -> str:
    return f"<p>{words}</p>" + "".join(f"<p><a href='http://{link}'>{link}</a></p>" for link in links)


SHOPS = {
    "a.test/": shop(CHESS, "a.test/one", "a.test/two", "hub.test/list"),
    "a.test/one": shop(GARDEN),
    "a.test/two": shop(GARDEN),
    "b.test/": shop(CHESS, "b.test/one", "hub.test/list"),
    "b.test/one": shop(GARDEN),
    "hub.test/": shop(GARDEN),
    "hub.test/list": shop(CHESS, *(f"s{n}.test/about" for n in range(6))),
    **{f"s{n}.test/": shop(CHESS) for n in range(6)},
    **{f"s{n}.test/about": shop(CHESS) for n in range(6)},
}


def test_home_pages_of_newly_named_hosts_come_before_other_pages_of_theirs() -> None:
    visited = list(walk(TinyWeb(SHOPS), HomePages(), "chess", ["a.test/", "b.test/"]).visited)
    for n in range(6):
        assert visited.index(named(f"s{n}.test/")) < visited.index(named(f"s{n}.test/about"))


def test_home_pages_without_links_to_them_are_fetched_if_their_host_is_named() -> None:
    visited = walk(TinyWeb(SHOPS), Hound(), SITES, ["a.test/", "b.test/"]).visited
    assert {named(f"s{n}.test/") for n in range(6)} <= set(visited)


def test_lists_come_before_home_pages_that_nothing_speaks_for() -> None:
    """A directory of gardens hides the clubs of a chess page behind twenty home pages."""
    web = {
        "a.test/": shop(CHESS, "hub.test/gardens", "a.test/clubs"),
        "b.test/": shop(CHESS, "a.test/clubs"),
        "hub.test/gardens": shop(GARDEN, *(f"g{n}.test/" for n in range(20))),
        "a.test/clubs": shop(CHESS, *(f"s{n}.test/" for n in range(6))),
        **{f"g{n}.test/": shop(GARDEN) for n in range(20)},
        **{f"s{n}.test/": shop(CHESS) for n in range(6)},
    }
    visited = list(walk(TinyWeb(web), Hound(), SITES, ["a.test/", "b.test/"]).visited)
    assert max(visited.index(named(f"s{n}.test/")) for n in range(6)) < 13


@pytest.mark.parametrize(("relevant_list", "topicality"), [(0, 3.0), (9, 0.1)], ids=["topical", "directories"])
def test_whether_lists_fit_the_topic_counts_as_much_as_it_was_worth(relevant_list: int, topicality: float) -> None:
    """Ten lists. One names all relevant sites: the only one on the topic, or one of nine that are not."""
    table = LinkTable(1000)
    sites = SiteSearch(table)
    lists = table.numbers_of([named(f"l.test/{n}") for n in range(10)])
    homes = table.numbers_of([named(f"s{n}.test/") for n in range(30)])
    for number, url in enumerate(lists):
        sites.fetched(url, homes if number == relevant_list else [])
    table.page_of.values[lists + homes] = range(40)
    relevance = np.array([1.0, *(0.1,) * 9, *(1.0,) * 30])
    for url in homes:
        sites.fetched(url, [])
    assert sites.topicality(relevance) == topicality


def test_a_crawl_near_its_end_reads_the_sites_that_it_has_found_and_looks_for_no_others() -> None:
    """From page 4 on, home pages take turns with the other pages of chess sites; the lists of gardens come last."""
    lists = [f"hub.test/{n}" for n in range(6)]
    web = {
        "a.test/": shop(CHESS, "hub.test/", *lists),
        "b.test/": shop(CHESS),
        "hub.test/": shop(GARDEN, "s0.test/", "g0.test/"),
        **{name: shop(GARDEN, f"n{n}.test/") for n, name in enumerate(lists)},
        **{f"n{n}.test/": shop(GARDEN) for n in range(6)},
        "s0.test/": shop(CHESS, "s0.test/about"),
        "g0.test/": shop(GARDEN, "g0.test/about"),
        "s0.test/about": shop(CHESS),
        "g0.test/about": shop(GARDEN),
    }
    lists_before = {}
    for after in (0, 4):
        hound = Hound(compare_after=after)
        visited = list(walk(TinyWeb(web), hound, SITES, ["a.test/", "b.test/"]).visited)
        about = visited.index(named("s0.test/about"))
        lists_before[after] = sum(visited.index(named(name)) < about for name in lists)
    assert lists_before[4] < lists_before[0]


def test_nothing_is_known_about_lists_at_first() -> None:
    assert SiteSearch(LinkTable(1000)).topicality(np.zeros(0)) == 0.5


def test_home_pages_as_seeds_do_not_make_it_look_for_sites() -> None:
    walked = walk(TinyWeb(SHOPS), Hound(), "chess", ["a.test/", "b.test/"])
    assert named("s0.test/") not in walked.visited  # nobody links to it


def test_it_can_be_made_to_look_for_sites_while_it_crawls() -> None:
    hound, seeds = Hound(), [named("a.test/"), named("b.test/")]
    list(hound.start(topic("chess"), seeds))
    for url in ("a.test/", "b.test/"):
        list(hound.read(page_of(SHOPS[url], named(url), candidate=Candidate(named(url), math.inf))))
    list(
        hound.read(
            page_of(SHOPS["hub.test/list"], named("hub.test/list"), candidate=Candidate(named("hub.test/list"), 1))
        )
    )
    changed = list(hound.take_looking_for("sites"))
    homes = {named(f"s{n}.test/") for n in range(6)}
    assert {offer.url for offer in changed if offer.parent == named("hub.test/list")} == homes, "nobody links to them"
    assert homes <= scores(changed).keys()
    again = Hound()
    list(again.start(topic("chess"), seeds))
    again.load(unpack(pack(hound.save())))
    assert again.sites_ is not None, "it is part of the saved state"
    back = list(hound.take_looking_for("pages"))
    assert named("s0.test/about") in scores(back)
    assert hound.sites_ is None


def test_a_home_page_that_fails_is_not_asked_for_again() -> None:
    hound = Hound()
    list(hound.start(SITES, [named("a.test/"), named("b.test/")]))
    list(hound.read(page_of(SHOPS["a.test/"], "http://a.test/", candidate=Candidate(named("a.test/"), math.inf))))
    list(hound.miss(Miss(Candidate(named("hub.test/"), 1.0), "http-404")))
    again = hound.read(page_of(SHOPS["b.test/"], "http://b.test/", candidate=Candidate(named("b.test/"), math.inf)))
    assert named("hub.test/") not in {offer.url for offer in again}


def test_hosts_take_turns_where_their_pages_promise_the_same() -> None:
    """Between two rankings, too: what one page of a host names, the next will hardly name again."""
    table = LinkTable(1000)
    sites = SiteSearch(table)
    urls = table.numbers_of([named(f"{host}.test/{n}") for host in "ab" for n in range(3)])
    ranked = sites.rank(_frontier(urls), np.zeros(len(urls)), np.zeros(0))
    assert [table.names[urls[index]][7] for index in ranked.order] == list("ababab")


def test_pages_with_addresses_like_those_that_named_sites_come_first() -> None:
    """Pages called `partners` name other sites; nothing else tells them from the rest."""
    titles = [f"{kind}-{n}" for n in range(8) for kind in ("history", "partners")]
    web = {
        "a.test/": f"<p>{CHESS}</p>" + "".join(f"<p><a href='/{title}'>more</a></p>" for title in titles),
        "b.test/": shop(CHESS),
        **{f"a.test/history-{n}": shop(CHESS) for n in range(8)},
        **{f"a.test/partners-{n}": shop(CHESS, f"s{n}.test/") for n in range(8)},
        **{f"s{n}.test/": shop(CHESS) for n in range(8)},
    }
    visited = walk(TinyWeb(web), Hound(), SITES, ["a.test/", "b.test/"]).visited
    kinds = [url.rpartition("/")[2].partition("-")[0] for url in visited if "-" in url]
    assert kinds[-3:] == ["history"] * 3


def test_a_saved_search_for_sites_goes_on_as_before() -> None:
    table = LinkTable(1000)
    sites = SiteSearch(table)
    pages = table.numbers_of([named("a.test/"), named("a.test/partners"), named("a.test/history")])
    shops = table.numbers_of([named("s.test/"), named("t.test/")])
    for url, targets in zip(pages, (pages, shops, pages), strict=True):
        sites.fetched(url, targets)
    again = SiteSearch(table)
    again.load(sites.save())
    assert again.list_worth.values.tolist() == sites.list_worth.values.tolist() != [0, 0]
    assert again.lists.values.tolist() == pages[1:]


def _frontier(urls: list[int]) -> FrontierFeatures:
    ones = np.ones(len(urls))
    return FrontierFeatures(np.array(urls), {}, ones, ones)


def topic(keywords: str) -> Any:
    return Topic(keywords)


def scores(offers: Any) -> dict[str, float]:
    return {offer.url: offer.score for offer in offers if offer.score > NOT_RANKED}
