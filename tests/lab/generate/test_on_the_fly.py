"""A bed whose pages are made on request equals the bed that would have been written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.beds.prepared import PreparedBed, open_for_replay, prepare
from scenthound.lab.generate.on_the_fly import GeneratedBed, OnTheFlyBed
from scenthound.lab.generate.web_kinds import WebOrder, write_web
from scenthound.lab.run.experiment import RunOptions, run
from scenthound.model import Candidate, Miss, Url
from scenthound.page.page import Page
from scenthound.text.tokens import Analyser

ORDER = WebOrder("realistic", 1500, 2, topics=2, habits={"communities": "2"})


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCENTHOUND_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("beds")


@pytest.fixture(scope="module")
def on_the_fly(folder: Path) -> OnTheFlyBed:
    write_web(folder / "fly", ORDER, on_the_fly=True)
    opened = open_for_replay(Bed.open(folder / "fly"))
    assert isinstance(opened, OnTheFlyBed)
    return opened


@pytest.fixture(scope="module")
def stored(folder: Path) -> PreparedBed:
    return prepare(write_web(folder / "stored", ORDER), jobs=1)


def test_no_page_is_on_disk(on_the_fly: OnTheFlyBed, folder: Path) -> None:
    assert sorted(path.name for path in (folder / "fly").iterdir()) == ["bed.toml", "topics.jsonl"]
    bed = Bed.open(folder / "fly")
    assert isinstance(bed, GeneratedBed)
    assert bed.topics == Bed.open(folder / "stored").topics if (folder / "stored").exists() else bed.topics


def test_pages_links_and_words_are_those_of_the_written_bed(on_the_fly: OnTheFlyBed, stored: PreparedBed) -> None:
    assert len(on_the_fly) == len(stored) == 1500
    assert dict(on_the_fly.aliases) == dict(stored.aliases)
    for url in stored.pages[::50]:
        first, second = on_the_fly.fetch(Candidate(url, 0.0)), stored.fetch(Candidate(url, 0.0))
        assert isinstance(first, Page)
        assert isinstance(second, Page)
        assert (first.title, first.text, first.links, first.size) == (
            second.title,
            second.text,
            second.links,
            second.size,
        )
        assert on_the_fly.links(url) == stored.links(url)
        assert on_the_fly.counts(url, Analyser()) == stored.counts(url, Analyser())
    assert isinstance(on_the_fly.fetch(Candidate(Url("http://nowhere.test/"), 0.0)), Miss)


def test_the_link_graph_is_that_of_the_written_bed(on_the_fly: OnTheFlyBed, stored: PreparedBed) -> None:
    of_page = np.array([stored.number(url) for url in on_the_fly.pages])
    ours = set(zip(of_page[on_the_fly.graph.sources].tolist(), of_page[on_the_fly.graph.targets].tolist(), strict=True))
    assert ours == set(zip(stored.graph.sources.tolist(), stored.graph.targets.tolist(), strict=True))


def test_a_crawl_has_the_trail_that_it_has_on_the_written_bed(
    on_the_fly: OnTheFlyBed, stored: PreparedBed, folder: Path, tmp_path: Path
) -> None:
    options, trails = RunOptions(topics=1, pages=40), []
    for name, jobs in (("fly", 2), ("stored", 1)):
        done = run(folder / name, "breadth-first,best-first", tmp_path / name, options, jobs=jobs)
        trails.append({c.strategy: (done.folder / "trails" / f"{c.key}.jsonl").read_text() for c in done.cells})
    assert "content-oracle" not in trails[0], "it needs the words of all pages"
    assert "path-oracle" in trails[0]
    for strategy in ("breadth-first", "best-first"):
        assert trails[0][strategy] == trails[1][strategy]


def test_what_needs_all_pages_is_refused_with_a_way_out(on_the_fly: OnTheFlyBed) -> None:
    with pytest.raises(BadConfig, match="table of all words") as refused:
        on_the_fly.terms(Analyser())
    assert "--on-the-fly" in str(refused.value.hint)


def test_a_cut_and_a_reopened_bed_have_their_own_keys(on_the_fly: OnTheFlyBed, folder: Path) -> None:
    cut = open_for_replay(Bed.open(folder / "fly"), Cut(page_bytes=1000))
    assert cut.key != on_the_fly.key
    assert on_the_fly.reopen().key == on_the_fly.key


def test_a_recipe_of_another_version_is_refused(on_the_fly: OnTheFlyBed, folder: Path, tmp_path: Path) -> None:
    text = (folder / "fly" / "bed.toml").read_text()
    (tmp_path / "topics.jsonl").write_text("")
    (tmp_path / "bed.toml").write_text(text.replace("seed = 2", "seed = 3"))
    with pytest.raises(BadConfig, match="another version"):
        open_for_replay(Bed.open(tmp_path))
    (tmp_path / "bed.toml").write_text(text.replace('web = "realistic"', 'web = "odd"'))
    with pytest.raises(BadConfig, match="kind `odd`"):
        open_for_replay(Bed.open(tmp_path))
