"""Topics of beds say whether pages or sites are looked for; lines without it mean pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.generate.realistic_web import RealisticWeb
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.importers.interface import Notes
from scenthound.topic_list import read_topics
from scenthound.url import is_home

HOMES = ["http://a.test/", "http://b.test/", "http://c.test/"]
LINE = {"id": "bees", "keywords": "bees", "seeds": HOMES, "targets": ["http://d.test/"]}


def read(tmp_path: Path, **more: object) -> str:
    file = tmp_path / "topics.jsonl"
    file.write_text(json.dumps({**LINE, **more}) + "\n")
    (topic,) = read_topics(file, Notes())
    assert topic_line(topic) == topic_line(replace(topic)), "a line can be written again"
    assert ("looking_for" in json.loads(topic_line(topic))) is (topic.looking_for == "sites")
    assert topic.topic.looking_for == topic.looking_for, "what a crawler gets"
    return topic.looking_for


def test_a_line_without_it_means_pages_even_if_the_seeds_are_home_pages(tmp_path: Path) -> None:
    assert read(tmp_path) == read(tmp_path, looking_for="pages") == "pages"
    assert read(tmp_path, looking_for="sites") == "sites"
    with pytest.raises(BadConfig, match="looking_for"):
        read(tmp_path, looking_for="people")


def test_generated_topics_whose_targets_are_home_pages_look_for_sites(tmp_path: Path) -> None:
    bed = generate(tmp_path / "bed", pages=1000, seed=7, topics=4, companies=True)
    realistic = RealisticWeb(4000, 611, topics=2, companies=True).topics
    for topics in (bed.topics, Bed.open(tmp_path / "bed").topics, realistic):
        kinds = {topic.looking_for: all(map(is_home, topic.targets)) for topic in topics}
        assert kinds == {"pages": False, "sites": True}
