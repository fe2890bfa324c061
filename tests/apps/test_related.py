"""Related organisations: listed beside the seeds, merged if they are the same, and with the decisions of users."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path

import pytest

from scenthound.apps.related import RelatedOrganisations, related, write_csv
from scenthound.apps.related.owners import Owners
from scenthound.cli.root_command import run
from scenthound.errors import BadUsage
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import give_label
from scenthound.url import make
from scenthound.web.html_document import parse_html
from scenthound.web.link_context import contexts
from scenthound.web.site_names import stated_name
from support.application_webs import CLUB, CLUB_SEEDS, CLUBS, club_page
from support.html_crawl import html_crawl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return html_crawl(tmp_path_factory.mktemp("related") / "crawl", CLUBS, CLUB_SEEDS, "balloon clubs")


def answer(folder: Path) -> RelatedOrganisations:
    with CrawlFolder.look(folder) as opened:
        return related(opened)


def test_organisations_listed_beside_the_seeds_come_first_with_their_evidence(folder: Path) -> None:
    found = answer(folder)
    assert found.seeds == ("alpha.test", "beta.test")
    first = found.organisations[0]
    assert (first.key, first.name, first.home) == ("gamma.test", "Gamma e.V.", "http://gamma.test/")
    assert first.aliases == ("old-gamma.test",), "a redirect of the home page: one organisation"
    hub = first.hubs[0]
    assert (hub.url, hub.seeds, hub.heading) == ("http://hub.test/list", ("alpha.test", "beta.test"), "Balloon clubs")
    assert "a club in the hills" in hub.passage
    assert first.evidence.beside == 2
    assert "balloons" in first.shared_words or "balloon" in first.shared_words
    sure = {one.key: one.confidence for one in found.organisations}
    assert all(0 <= value <= 1 for value in sure.values())
    assert sure["gamma.test"] > sure["ads.test"]
    assert sure["gamma.test"] > sure["cars.test"]
    assert found.organisations[1].evidence.beside == 0, "under another heading"
    assert found.augmented == ("http://hub.test/list",), "it links to two seeds"


def test_a_decision_teaches(tmp_path: Path) -> None:
    folder = html_crawl(tmp_path / "crawl", CLUBS, CLUB_SEEDS, "balloon clubs")
    give_label(folder, make("http://gamma.test/"), True, time.time())
    give_label(folder, make("http://ads.test/"), False, time.time())
    found = answer(folder)
    assert [one.key for one in found.rejected] == ["ads.test"]
    decisions = {one.key: one.decision for one in found.organisations}
    assert decisions["gamma.test"] == "accepted"
    assert "ads.test" not in decisions
    hub = next(one for one in found.organisations if one.key == "cars.test").hubs[0]
    assert "gamma.test" in hub.seeds, "what was accepted counts as a seed"


def test_hosts_of_one_domain_are_organisations_if_seeds_are() -> None:
    apart = Owners([make("https://one.apache.org/"), make("https://two.apache.org/")])
    assert apart.key("https://three.apache.org/x") == "three.apache.org"
    assert apart.key("https://www.example.org/") == "example.org"
    assert Owners([make("https://one.apache.org/")]).key("https://three.apache.org/") == "apache.org"
    assert apart.key("https://bees.github.io/docs") == "bees.github.io"


def test_names_are_read_from_structured_data() -> None:
    graph = '{"@graph": [{"@type": "WebPage", "name": "x"}, {"@type": ["Corporation"], "name": " Bees  Ltd "}]}'
    assert stated_name(f'<script type="application/ld+json">{graph}</script>') == "Bees Ltd"
    assert stated_name('<meta property="og:site_name" content="Bee club">') == "Bee club"
    assert stated_name('<script type="application/ld+json">{broken</script>') == ""


def test_the_context_of_a_link_is_its_heading_and_its_list_item() -> None:
    document = parse_html('<h2>Clubs</h2><ul><li>See <a href="/a">A</a> first</li></ul><h2>B</h2>', "http://x.test/")
    assert contexts(document, [0]) == {0: ("Clubs", "See A first")}


def test_the_table_is_safe_for_spreadsheets(folder: Path) -> None:
    made = io.StringIO()
    write_csv(answer(folder), made)
    rows = list(csv.DictReader(io.StringIO(made.getvalue())))
    assert rows[0]["organisation"] == "gamma.test"
    assert rows[0]["beside"] == "2"
    assert next(row for row in rows if row["organisation"] == "cars.test")["name"] == "'=Cars"


def test_the_command_answers_from_a_crawl_that_there_is(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["related", str(folder), "--json", "--csv", str(tmp_path / "t.csv")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["organisations"][0]["home"] == "http://gamma.test/"
    assert (tmp_path / "t.csv").read_text().startswith("rank,confidence,")
    assert run(["related", str(folder)]) == 0
    assert "Gamma e.V." in capsys.readouterr().out
    assert run(["related", str(folder), "--pages", "7"]) == 2
    assert "--pages is for a new crawl" in capsys.readouterr().err


def test_the_command_crawls_and_finds_the_topic_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web, seeds = GeneratedWeb(400, 3), tmp_path / "seeds.txt"
    seeds.write_text("\n".join(web.topics[0].seeds))
    with serving(web) as address:
        words = ["--proxy", f"http://{address}", "--delay", "1 ms", "--pages", "30", "--out", str(tmp_path / "crawl")]
        assert run(["related", str(seeds), *words, "--json"]) == 0
    told = capsys.readouterr()
    answered = json.loads(told.out)
    assert "the topic is what the seeds have in common" in told.err
    assert answered["pages"] == 30
    assert answered["organisations"]
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        assert (opened.request.strategy, opened.request.parameters["looking_for"]) == ("hound", "sites")


def test_seeds_of_one_organisation_are_refused_before_anything_is_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://www.alpha.test/\nhttp://alpha.test/clubs\n")
    assert run(["related", str(seeds), "--topic", "clubs", "--out", str(tmp_path / "crawl")]) == 2
    told = capsys.readouterr().err
    assert "all seeds belong to one organisation, alpha.test" in told
    assert "home pages of at least two" in told
    assert not (tmp_path / "crawl").exists()


def test_a_seed_that_is_not_a_home_page_stands_for_its_organisation_if_homes_are_too_few(tmp_path: Path) -> None:
    seeds = ["http://alpha.test/", "http://beta.test/about"]
    web = {seed: club_page(f"Club of {seed}", CLUB) for seed in seeds}
    assert answer(html_crawl(tmp_path / "crawl", web, seeds, "balloon clubs")).seeds == ("alpha.test", "beta.test")


def test_an_empty_collection_says_what_to_do(tmp_path: Path) -> None:
    folder = html_crawl(tmp_path / "crawl", {}, CLUB_SEEDS, "balloon clubs")
    with CrawlFolder.look(folder) as opened, pytest.raises(BadUsage, match="no pages yet") as error:
        related(opened)
    assert "scenthound status" in error.value.hint


def test_a_crawl_that_found_no_organisation_says_so(tmp_path: Path) -> None:
    web = {seed: club_page(f"Club of {seed}", CLUB) for seed in CLUB_SEEDS}
    found = answer(html_crawl(tmp_path / "crawl", web, CLUB_SEEDS, "balloon clubs"))
    assert found.organisations == ()
    assert any("no organisation was found" in note for note in found.notes)
    assert any("no page links to two of the seeds" in note for note in found.notes)
