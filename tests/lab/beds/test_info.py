"""The description of a bed, on small webs that can be checked by hand and on recorded ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.info import BedInfo, Spread, describe
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.importers.page_graph import RecordedPage, recorded_graph
from scenthound.model import Response, Url
from scenthound.topic_list import BedTopic
from support.suites import with_shared

HTML = ("Content-Type", "text/html")


def page(url: str, *links: str, text: str = "", head: str = "") -> Response:
    anchors = " ".join(f'<a href="http://{link}">x</a>' for link in links)
    body = f"<head>{head}</head><p>{text}</p>{anchors}".encode()
    return Response(f"http://{url}", 200, "OK", (HTML,), body)


def moved(url: str, to: str) -> Response:
    return Response(f"http://{url}", 301, "Moved", (("Location", f"http://{to}"),), b"")


def urls(*names: str) -> tuple[Url, ...]:
    return tuple(Url(f"http://{name}") for name in names)


def small(folder: Path) -> Bed:
    """s leads to a, and through a redirect to b; b to c; d links to s but nothing leads to it."""
    responses = [
        page("s.test/", "s.test/a", "s.test/old", "s.test/a", "gone.test/", "s.test/", text="bees honey"),
        page("s.test/a", "s.test/b", text="bees honey hive"),
        moved("s.test/old", "t.test/b"),
        page("t.test/b", "t.test/c", "s.test/picture", text="bees"),
        page("t.test/c", text="cars"),
        page("t.test/d", "s.test/", head='<meta name="robots" content="nofollow">'),
        Response("http://s.test/picture", 200, "OK", (("Content-Type", "image/png"),), b"\x89PNG"),
    ]
    targets = urls("s.test/a", "s.test/old", "t.test/c", "t.test/d", "gone.test/")
    topics = [
        BedTopic("bees", (), "bees", "", urls("s.test/", "gone.test/"), targets),
        BedTopic("none", (), "none", "", urls("t.test/d"), ()),
    ]
    return write_bed(folder, "small", responses, topics, licence="CC0", origin="made up")


@pytest.fixture
def info(tmp_path: Path) -> BedInfo:
    return describe(small(tmp_path / "bed"))


def test_pages_redirects_and_links_are_counted_as_crawlers_meet_them(info: BedInfo) -> None:
    assert (info.name, info.licence, info.origin) == ("small", "CC0", "made up")
    assert (info.pages, info.redirects, info.other_answers, info.hosts) == (5, 1, 1, 2)
    assert info.links == 4, "s-a, s-b through the redirect, b-c, d-s; a page that asks for nofollow is counted too"
    assert info.dead_links == 3, "s to gone.test, a to s.test/b, b to the picture"
    assert info.mean_out_degree == pytest.approx(0.8)
    assert info.linked_hosts == 2, "s to t, and d back to s"


def test_topics_are_compared_with_the_pages(info: BedInfo) -> None:
    assert (info.topics, info.topics_without_targets) == (2, ("none",))
    assert (info.mean_seeds, info.mean_targets) == (1.5, 2.5)
    assert (info.seeds_missing, info.targets_missing) == (1, 1)


def test_reachability_is_what_breadth_first_would_find(info: BedInfo) -> None:
    reachability = info.reachability
    assert reachability.pages == Spread(pytest.approx(0.9), pytest.approx(0.8), 1.0, 2)
    assert reachability.targets == Spread(pytest.approx(0.6), pytest.approx(0.6), pytest.approx(0.6), 1)
    assert reachability.distances == {"1": 2, "2": 1, "none": 1}
    assert reachability.mean_distance == pytest.approx(4 / 3)


def test_locality_is_compared_with_chance(info: BedInfo) -> None:
    described = info.locality
    assert described.links_to_targets.mean == pytest.approx(0.5), "of b-c and d-s the first"
    assert described.by_chance.mean == pytest.approx(3 / 4), "three more targets among four other pages"
    assert described.pairs == 4
    assert described.cosine_linked is not None
    assert described.cosine_random is not None


def test_linked_pages_that_share_words_are_more_similar_than_random_pairs(tmp_path: Path) -> None:
    words = ("bees honey", "cars wheels", "wool yarn", "clay pots")
    pages = [
        page(f"x.test/{kind}/{n}", f"x.test/{kind}/{(n + 1) % 10}", text=words[kind])
        for kind in range(4)
        for n in range(10)
    ]
    described = describe(write_bed(tmp_path / "bed", "local", pages, [])).locality
    assert described.cosine_linked is not None
    assert described.cosine_random is not None
    assert described.cosine_linked > 0.99
    assert described.cosine_random < 0.6


def test_the_description_is_json_and_the_same_each_time(tmp_path: Path) -> None:
    bed = small(tmp_path / "bed")
    first, second = describe(bed, seed=3).as_json(), describe(bed, seed=3).as_json()
    assert json.loads(json.dumps(first)) == json.loads(json.dumps(second))
    assert first["digest"] == bed.digest
    assert first["reachability"]["distances"] == {"1": 2, "2": 1, "none": 1}


def test_a_bed_without_topics_or_links_is_described_too(tmp_path: Path) -> None:
    described = describe(write_bed(tmp_path / "bed", "bare", [page("a.test/")], []))
    assert (described.pages, described.links, described.topics, described.mean_seeds) == (1, 0, 0, None)
    assert described.reachability.targets == Spread(None, None, None, 0)
    assert (described.locality.cosine_linked, described.locality.cosine_random) == (None, None)


def test_a_prepared_bed_has_the_same_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENTHOUND_CACHE", str(tmp_path / "cache"))
    pages = [
        page(f"x.test/{n}", f"x.test/{(n * 7 + 1) % 20}", f"y.test/{n}", text=f"word{n % 3} bees") for n in range(20)
    ]
    topic = BedTopic("bees", (), "bees", "", urls("x.test/0"), urls("x.test/1", "x.test/8"))
    bed = write_bed(tmp_path / "bed", "some", [*pages, moved("y.test/3", "x.test/5")], [topic])
    assert describe(bed, prepare(bed, jobs=1)) == describe(bed)


def test_redirects_in_a_loop_or_to_an_unknown_url_end_nowhere() -> None:
    a, b, c, d, e = urls("a/", "b/", "c/", "d/", "e/")
    pages = [
        RecordedPage(a, links=(b, c, d, e)),
        RecordedPage(b, moved=c),
        RecordedPage(c, moved=b),
        RecordedPage(d, moved=urls("far/")[0]),
        RecordedPage(e, moved=a),
    ]
    recorded = recorded_graph(pages, [a, b, c, d, e])
    assert recorded.ends.tolist() == [0, -1, -1, -1, 0]
    assert (len(recorded.graph.sources), recorded.dead, recorded.redirects) == (0, 3, 4)


def test_a_page_counts_once_and_wins_over_a_redirect_from_its_own_url() -> None:
    a, b = urls("a/", "b/")
    pages = [RecordedPage(a, moved=b), RecordedPage(a, 10, (b,)), RecordedPage(a, 20, ()), RecordedPage(b, 5)]
    recorded = recorded_graph(pages, [a, b])
    assert (recorded.sizes, recorded.redirects, recorded.graph.linked_from(a)) == ([10, 5], 0, [b])
    assert recorded.back_links(b) == [a]


# Pages, hosts, topics, links, mean out-degree, and the share of targets that can be reached, which is the most that the
# path oracle finds. Schools: from its README. The generated bed: the first three from its plan, the others as measured.
KNOWN = {
    "generated": (600, 133, 6, 6352, 11, 1.0),
    "schools": (5232, 1, 60, 136_421, 26, 0.891),
}


@pytest.mark.slow
@pytest.mark.parametrize("any_bed", with_shared(["generated"], ["schools"]), indirect=True)
def test_a_bed_is_described_as_it_is_known_to_be(any_bed: Bed) -> None:
    ready = prepare(any_bed) if any_bed.folder.name == "schools" else None  # as other tests have done already
    described = describe(any_bed, ready)
    pages, hosts, topics, links, out_degree, reachable = KNOWN[any_bed.folder.name]
    assert (described.pages, described.hosts, described.topics) == (pages, hosts, topics)
    assert described.links == links
    assert round(described.mean_out_degree) == out_degree
    assert (described.seeds_missing, described.targets_missing, described.faults) == (0, 0, ())
    assert described.reachability.targets.mean == pytest.approx(reachable, abs=0.002)
    assert described.locality.links_to_targets.mean is not None
    assert described.locality.by_chance.mean is not None
    assert described.locality.links_to_targets.mean > 5 * described.locality.by_chance.mean
