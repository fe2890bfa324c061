"""Whether the words around links tell where they lead, on a page with three links."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.beds.web_measures import Contexts, area_under_curve, link_contexts
from scenthound.model import Response, Url
from scenthound.topic_list import BedTopic

HUB = (
    "<ul><li>bees and honey <a href='http://a.test/bees'>one</a></li><li>fast cars <a href='/cars'>two</a></li>"
    "<li>a <a href='http://far.test/'>place</a></li></ul>"
)


def response(url: str, body: str) -> Response:
    return Response(url, 200, "OK", (("Content-Type", "text/html"),), body.encode())


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PreparedBed:
    monkeypatch.setenv("SCENTHOUND_CACHE", str(tmp_path / "cache"))
    pages = [("http://a.test/", HUB), ("http://a.test/bees", "bees honey"), ("http://a.test/cars", "cars")]
    responses = [response(*page) for page in [*pages, ("http://far.test/", "far")]]
    return prepare(write_bed(tmp_path / "bed", "contexts", responses, []), jobs=1)


def measured(bed: PreparedBed, keywords: str, seed: str, between_hosts: bool = False) -> Contexts:
    topic = BedTopic("t", (), keywords, "", (Url(seed),), (Url("http://a.test/bees"),))
    number = bed.number("http://a.test/bees")
    assert number is not None
    return link_contexts(bed, [topic], [{number}], random.Random(1), between_hosts)


def test_a_link_described_in_the_words_of_the_topic_ranks_first(bed: PreparedBed) -> None:
    contexts = measured(bed, "honey", "http://a.test/cars")
    assert contexts == Contexts(1.0, 0.25, 1, 1), "by the seed's words the cars are first, and the far page ties"


def test_words_that_no_link_has_rank_at_random(bed: PreparedBed) -> None:
    assert measured(bed, "volcano", "http://a.test/bees").keywords == 0.5


def test_links_within_the_host_can_be_left_out(bed: PreparedBed) -> None:
    assert measured(bed, "honey", "http://a.test/cars", between_hosts=True) == Contexts(None, None, 0, 0)


def test_the_area_counts_pairs_in_order_and_ties_by_half() -> None:
    assert area_under_curve([3, 1], [2, 0]) == 0.75
    assert area_under_curve([1], [1, 1]) == 0.5
