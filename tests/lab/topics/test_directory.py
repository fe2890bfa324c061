"""Topics from ODP dumps, which are often broken, and seeds at a distance from their answers."""

from __future__ import annotations

import doctest
import gzip
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenthound.errors import Unreadable
from scenthound.graph.link_graph import link_graph
from scenthound.lab.importers import odp_dump as odp
from scenthound.lab.importers.odp_dump import Category, Listing, Problems, records
from scenthound.lab.topics import directory as directory_module
from scenthound.lab.topics.crawl_starts import neighbours, seeds_at_distance
from scenthound.lab.topics.directory import BizCategories, ExpLeaves, SmpSubtrees, import_odp
from support.long_form import long_form
from support.suites import SHARED, with_shared

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="r" xmlns:d="d">\n'


def listing(url: str, category: str, title: str = "A title", description: str = "Some words.") -> str:
    return (
        f'<ExternalPage about="{url}">\n <d:Title>{title}</d:Title>\n <d:Description>{description}</d:Description>\n'
        f" <topic>{category}</topic>\n</ExternalPage>\n"
    )


def category(path: str, urls: list[str] | None = None) -> str:
    links = "".join(f'<link r:resource="{url}"></link>' for url in urls or [])
    return f'<Topic r:id="{path}"><catid>1</catid>{links}</Topic>\n' + "".join(listing(u, path) for u in urls or [])


def urls(name: str, number: int) -> list[str]:
    return [f"http://{name}{n}.test/" for n in range(number)]


def dump(folder: Path, body: str | bytes, name: str = "content.rdf.u8", end: str = "</RDF>\n") -> Path:
    path = folder / name
    path.write_bytes(HEAD.encode() + (body if isinstance(body, bytes) else body.encode()) + end.encode())
    return path


def read(path: Path) -> tuple[list[Category | Listing], list[str]]:
    problems = Problems()
    return list(records(path, problems)), [problem.kind for problem in problems.all()]


@pytest.mark.parametrize("module", [odp, directory_module])
def test_the_examples_in_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_records_come_in_order_plain_or_gzip(tmp_path: Path) -> None:
    plain = dump(tmp_path, category("Top/Arts/Clay", ["http://a.test/"]))
    packed = tmp_path / "content.rdf.u8.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()[:100]) + gzip.compress(plain.read_bytes()[100:]))
    expected = [
        Category("Top/Arts/Clay", (), ("http://a.test/",)),
        Listing("http://a.test/", "A title", "Some words.", "Top/Arts/Clay"),
    ]
    assert read(plain) == read(packed) == (expected, [])


def test_invalid_characters_are_replaced(tmp_path: Path) -> None:
    body = listing("http://a.test/?x=1&copy=2", "Top/A", "Salt & \x0bpepper &amp; \x01oil &lt;3", "caf").encode()
    found, problems = read(dump(tmp_path, body.replace(b"caf<", b"caf\xe9\xff<")))
    assert found == [Listing("http://a.test/?x=1&copy=2", "Salt &  pepper &  oil <3", "caf\ufffd\ufffd", "Top/A")]
    assert problems == []


def test_symbolic_and_related_links_are_not_children(tmp_path: Path) -> None:
    body = (
        '<Topic r:id="Top/Arts"><narrow r:resource="Top/Arts/Clay"/><narrow2 r:resource="Top/Arts/Wool"/>'
        '<symbolic1 r:resource="Glass:Top/Arts/Glass"/><related r:resource="Top/Arts/Paint"/>'
        '<narrow r:resource="Top/Elsewhere"/></Topic>'
    )
    assert read(dump(tmp_path, body))[0] == [Category("Top/Arts", ("Top/Arts/Clay", "Top/Arts/Wool"), ())]


def test_comments_and_documents_that_are_not_pages_are_skipped(tmp_path: Path) -> None:
    hidden = "<!-- " + category("Top/Hidden", ["http://h.test/"]) + "-->"
    paper = listing("http://a.test/x.pdf", "Top/A").replace("<topic>", "<type>pdf</type><topic>")
    assert read(dump(tmp_path, hidden + paper)) == ([], [])


def test_a_dump_that_declares_entities_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.rdf"
    bomb.write_text('<!DOCTYPE RDF [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><RDF></RDF>')
    with pytest.raises(Unreadable, match="entities"):
        read(bomb)


def test_unknown_entities_are_not_expanded(tmp_path: Path) -> None:
    assert read(dump(tmp_path, listing("http://a.test/", "Top/A", "&lol; &#65;")))[0][0][1] == "&lol; A"


@pytest.mark.parametrize("packed", [False, True])
def test_a_dump_cut_in_the_middle_gives_what_was_read_and_says_so(tmp_path: Path, packed: bool) -> None:
    whole = dump(tmp_path, "".join(category(f"Top/A/{n}", urls(f"x{n}", 5)) for n in range(2000)))
    raw = gzip.compress(whole.read_bytes()) if packed else whole.read_bytes()
    cut = tmp_path / "cut.rdf.u8"
    cut.write_bytes(raw[: len(raw) // 2])
    found, problems = read(cut)
    assert 1000 < len(found) < 12_000
    assert problems == (["broken-gzip", "cut"] if packed else ["cut"])
    assert found == read(whole)[0][: len(found)]


def test_a_file_that_is_not_a_dump_gives_no_records_and_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "not.rdf"
    path.write_bytes(bytes(range(256)) * 50)
    assert read(path) == ([], ["cut"])


def test_text_without_any_tag_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odp, "CHUNK", 1000)
    monkeypatch.setattr(odp, "MAX_BUFFER", 2000)
    path = dump(tmp_path, "<x" + "y" * 10_000 + category("Top/A", ["http://a.test/"]))
    found, problems = read(path)
    assert len(found) == 2
    assert problems == ["oversized"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.binary(max_size=40))
def test_where_chunks_end_makes_no_difference(tmp_path: Path, size: int, noise: bytes) -> None:
    body = (category("Top/Arts", ["http://a.test/"]) + "<!-- <Topic> -->" + category("Top/B")).encode()
    path = dump(tmp_path, body + noise.replace(b"<", b"") + category("Top/C").encode())
    whole = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(odp, "CHUNK", size)
        assert read(path) == whole


@settings(max_examples=long_form(20, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["<Topic", ' r:id="', '"', ">", "</Topic>", "<!--", "-->", "<", "&", "<![CDATA[", "a"]))
)
def test_no_mixture_of_pieces_stops_the_reader(tmp_path: Path, pieces: list[str]) -> None:
    read(dump(tmp_path, "".join(pieces)))


def test_leaves_with_enough_links_are_topics_of_every_main_category(tmp_path: Path) -> None:
    body = (
        category("Top/Arts", urls("top", 9))
        + category("Top/Arts/Clay_Pots", urls("clay", 12))
        + category("Top/Arts/Few", urls("few", 4))
        + category("Top/Games/Chess/Openings", urls("chess", 5))
    )
    imported = import_odp([dump(tmp_path, body)], ExpLeaves(), random.Random(1))
    assert {topic.id for topic in imported.topics} == {"arts-clay-pots", "games-chess-openings"}
    clay = next(topic for topic in imported.topics if topic.id == "arts-clay-pots")
    assert (clay.path, clay.keywords) == (("Arts", "Clay Pots"), "Arts Clay Pots")
    assert len(clay.examples) == 10
    assert clay.seeds == clay.targets == clay.examples
    assert set(clay.examples) < set(urls("clay", 12))
    assert clay.description == " ".join(["A title Some words."] * 10)
    assert imported.problems == ()
    assert imported == import_odp([tmp_path / "content.rdf.u8"], ExpLeaves(), random.Random(1))


def test_a_category_with_children_in_the_structure_file_is_not_a_leaf(tmp_path: Path) -> None:
    content = dump(tmp_path, category("Top/Arts/Clay", urls("clay", 6)))
    tree = '<Topic r:id="Top/Arts/Clay"><narrow r:resource="Top/Arts/Clay/Kilns"/></Topic>'
    structure = dump(tmp_path, tree, "structure.rdf.u8")
    imported = import_odp([structure, content], ExpLeaves(), random.Random(1))
    assert imported.topics == ()
    assert [problem.kind for problem in imported.problems] == ["no-topics"]


def test_leaves_are_taken_from_the_main_categories_in_turn(tmp_path: Path) -> None:
    body = "".join(category(f"Top/{main}/{n}", urls(f"{main}{n}", 5)) for main in "ABC" for n in range(5))
    imported = import_odp([dump(tmp_path, body)], ExpLeaves(count=4), random.Random(1))
    assert sorted(topic.path[0] for topic in imported.topics) == ["A", "A", "B", "C"]


def test_business_categories_need_the_right_name_enough_links_and_no_region(tmp_path: Path) -> None:
    body = (
        category("Top/Business/Pumps/Contract_Manufacturers", urls("pump", 25))
        + category("Top/Business/Companies", urls("few", 20))
        + category("Top/Business/Regional/Companies", urls("region", 25))
        + category("Top/World/Companies", urls("world", 25))
        + category("Top/Business/Manufacturers_Abroad", urls("abroad", 25))
    )
    (topic,) = import_odp([dump(tmp_path, body)], BizCategories(), random.Random(1)).topics
    assert (topic.keywords, len(topic.seeds), len(topic.targets)) == ("Pumps Contract Manufacturers", 10, 15)
    assert set(topic.seeds) | set(topic.targets) == set(urls("pump", 25))
    assert topic.description.count("A title") == 25


def test_links_with_the_same_canonical_url_count_once(tmp_path: Path) -> None:
    twice = [*urls("x", 15), *(f"HTTP://X{n}.test:80/index.html" for n in range(15))]
    imported = import_odp(
        [dump(tmp_path, category("Top/Business/Companies", twice))], BizCategories(), random.Random(1)
    )
    assert imported.topics == ()
    assert [(problem.kind, problem.source) for problem in imported.problems] == [
        ("too-few-links", "Top/Business/Companies")
    ]


def test_a_subtree_reaches_down_to_its_depth(tmp_path: Path) -> None:
    body = (
        category("Top/Arts/Clay", ["http://root.test/"])
        + category("Top/Arts/Clay/Kilns", ["http://one.test/", "mailto:a@b.test"])
        + category("Top/Arts/Clay/Kilns/Gas", ["http://two.test/"])
        + category("Top/Arts/Clay/Kilns/Gas/Deep", ["http://deep.test/"])
        + category("Top/Arts", ["http://above.test/"])
        + category("Top/Arts/Empty")
    )
    imported = import_odp([dump(tmp_path, body)], SmpSubtrees(level=2, depth=2, seeds=2), random.Random(1))
    (topic,) = imported.topics
    assert topic.targets == ("http://root.test/", "http://one.test/", "http://two.test/")
    assert (topic.keywords, len(topic.seeds)) == ("Arts Clay", 2)
    assert set(topic.seeds) <= set(topic.targets)
    assert [(problem.kind, problem.times) for problem in imported.problems] == [("not-a-url", 2)]


def test_topics_with_the_same_name_get_different_ids(tmp_path: Path) -> None:
    body = category("Top/A/B_C", urls("x", 5)) + category("Top/A/B-C", urls("y", 5))
    imported = import_odp([dump(tmp_path, body)], ExpLeaves(), random.Random(1))
    assert sorted(topic.id for topic in imported.topics) == ["a-b-c", "a-b-c-2"]


def own_pieces(folder: Path) -> list[Path]:
    """Two files of one directory, as the dumps were split: a category, and a category below it."""
    folder.mkdir()
    above = category("Top/Business", []) + category("Top/Business/Accounting", urls("books", 8))
    below = category("Top/Business/Accounting/Associations", urls("club", 7))
    return [dump(folder, above, "accounting.xml"), dump(folder, below, "associations.xml")]


@pytest.mark.parametrize("origin", with_shared(["own"], ["odp"]))
def test_pieces_of_a_directory_can_be_read(origin: str, tmp_path: Path) -> None:
    pieces = own_pieces(tmp_path / "odp") if origin == "own" else sorted((SHARED / "data" / "odp").glob("*.xml"))
    imported = import_odp(pieces, SmpSubtrees(level=2, depth=2), random.Random(1))
    assert {topic.id: len(topic.targets) for topic in imported.topics}["business-accounting"] > 5
    assert imported.problems == ()
    assert import_odp(pieces, ExpLeaves(), random.Random(1)).topics != ()


WEB = link_graph({"g1": ["p1"], "g2": ["p1", "e"], "g3": ["p2"], "p1": ["e"], "p2": ["e"], "e": ["p1"]})


def test_neighbours_are_two_links_before_the_examples_and_not_examples_themselves() -> None:
    found = neighbours(["e"], WEB.back_links, random.Random(1))
    assert sorted(found) == ["g1", "g2", "g3"]
    assert found == neighbours(["e"], WEB.back_links, random.Random(1))
    assert len(neighbours(["e"], WEB.back_links, random.Random(1), number=2)) == 2
    assert neighbours(["stranger"], WEB.back_links, random.Random(1)) == []


def test_seeds_are_moved_back_as_far_as_links_go() -> None:
    line = link_graph({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"]})
    assert seeds_at_distance(["e"], line.back_links, random.Random(1)) == (["b"], ["e"])
    assert seeds_at_distance(["e"], line.back_links, random.Random(1), distance=0) == (["e"], ["e"])
    seeds, origin = seeds_at_distance(["b", "c"], line.back_links, random.Random(1))
    assert (seeds, sorted(origin)) == (["a"], ["b", "c"])
