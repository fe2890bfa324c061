"""Related organisations: listed beside the seeds, merged if they are the same, and with the decisions of users."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.apps.related import RelatedOrganisations, related, write_csv
from scenthound.desk.apps.related.confidence import confidences
from scenthound.desk.apps.related.link_context import contexts
from scenthound.desk.apps.related.link_evidence import Evidence
from scenthound.desk.apps.related.names import organisation_name
from scenthound.desk.apps.related.owners import Owners
from scenthound.desk.apps.related.site_names import stated_name
from scenthound.errors import BadUsage
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import give_label
from scenthound.url import make
from scenthound.web.html_document import parse_html
from support.application_webs import CLUB, CLUB_SEEDS, CLUBS, club_page
from support.html_crawl import html_crawl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return html_crawl(tmp_path_factory.mktemp("related") / "crawl", CLUBS, CLUB_SEEDS, "balloon clubs")


def answer(folder: Path) -> RelatedOrganisations:
    return answer_of(folder, 25)


def answer_of(folder: Path, most: int) -> RelatedOrganisations:
    with CrawlFolder.look(folder) as opened:
        return related(opened, most)


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


SHIPS = "tall ships sail with masts, rigging, sailors, anchors and a captain on deck"
FIELDS = {"ships": SHIPS, "bees": "bees make honey in hives; beekeepers look after queens, wax, combs and swarms"}


def fields_web(*lists: tuple[str, ...], **extra: str) -> dict[str, str]:
    """Six balloon clubs, five sites of each of two other fields, and the pages that list some of them."""
    tasks = ("envelopes", "burners", "baskets", "pilots", "members", "air")
    web = {
        f"http://club{n}.test/": club_page(f"Club {n}", f"{CLUB} {' '.join(tasks[: n + 1] * 2)}", "http://hub0.test/")
        for n in range(6)
    }
    for name, text in FIELDS.items():
        web |= {f"http://{name}{n}.test/": club_page(f"{name} {n}", f"{text} {n}") for n in range(5)}
    for number, names in enumerate(lists):
        links = [f"http://{name}.test/" for name in names]
        web[f"http://hub{number}.test/"] = club_page("List", "links", *links, f"http://hub{number + 1}.test/")
    return web | {f"http://{host}.test/": html for host, html in extra.items()}


EVERYBODY = (*(f"club{n}" for n in range(6)), *(f"{name}{n}" for n in range(5) for name in FIELDS))
TWO_CLUBS = ["http://club0.test/", "http://club1.test/"]


def test_organisations_of_another_field_come_after_those_of_the_field_and_no_two_are_level(tmp_path: Path) -> None:
    found = answer(html_crawl(tmp_path / "crawl", fields_web(EVERYBODY), TWO_CLUBS, "balloon clubs")).organisations
    assert {one.key for one in found[:4]} == {f"club{n}.test" for n in range(2, 6)}
    assert len({round(one.confidence, 6) for one in found[:4]}) == 4, "different texts, different confidence"
    assert found[3].confidence > 2 * max((one.confidence for one in found[4:]), default=0)


def test_likeness_does_not_saturate(tmp_path: Path) -> None:
    """Two sites that are both nearer to the seeds than these are to each other."""
    near = club_page("Near", "balloon envelopes envelopes burners burners club members fly hot air balloons")
    web = fields_web((*EVERYBODY, "near", "plain"), near=near, plain=club_page("Plain", CLUB))
    found = answer(html_crawl(tmp_path / "crawl", web, TWO_CLUBS, "balloon clubs")).organisations
    values = {one.key: one.evidence.likeness for one in found}
    assert values["near.test"] != values["plain.test"]


def test_a_short_list_says_more_than_one_of_hundreds(tmp_path: Path) -> None:
    crowd = tuple(f"other{n}" for n in range(300))
    web = fields_web((*EVERYBODY, *crowd), ("club0", "club1", "unknown"))
    evidence = {
        one.key: one.evidence
        for one in answer_of(html_crawl(tmp_path / "crawl", web, TWO_CLUBS, "balloon clubs"), 400).organisations
    }
    assert evidence["unknown.test"].cocitation > 20 * evidence["other7.test"].cocitation > 0
    order = list(evidence)
    assert order.index("unknown.test") < order.index("other7.test")


def test_a_seed_whose_home_page_leads_elsewhere_was_fetched(tmp_path: Path) -> None:
    web = fields_web(EVERYBODY) | {"http://club0.test/": "=> http://club0.test/en/"}
    web["http://club0.test/en/"] = club_page("Club", CLUB, "http://hub0.test/")
    web["http://bees0.test/"] = "=> http://bees0.test/en/"
    web["http://bees0.test/en/"] = club_page("Bees", FIELDS["bees"])
    found = answer(html_crawl(tmp_path / "crawl", web, TWO_CLUBS, "balloon clubs"))
    assert not any("not fetched" in note for note in found.notes)
    homes = {one.key: one for one in answer_of(tmp_path / "crawl", 100).organisations}
    assert "bees0.test" not in homes or homes["bees0.test"].evidence.has_home


def test_a_seed_that_was_not_fetched_is_named(tmp_path: Path) -> None:
    web = fields_web(EVERYBODY)
    del web["http://club0.test/"]
    found = answer(html_crawl(tmp_path / "crawl", web, TWO_CLUBS, "balloon clubs"))
    assert any("not fetched" in note and "club0.test" in note for note in found.notes)


@pytest.mark.parametrize(
    ("key", "stated", "title", "expected"),
    [
        ("numpy.test", "", "Table of Contents — NumPy v1.26 Manual", "NumPy"),
        ("planner.readthedocs.io", "", "Observation Planning (planner) — planner v0.9", "planner"),
        ("flask.test", "", "Welcome to Flask — Flask Documentation (2.2.x)", "Flask"),
        ("celery.test", "", "Celery - Distributed Task Queue — Celery 5.2.6 documentation", "Celery"),
        ("driver.test", "", "PostgreSQL driver for Python — Driver", "Driver"),
        ("hot-air.test", "", "Hot Air | Home", "Hot Air"),
        ("a.test", "", "Alpha club: home", "Alpha club"),
        ("mueller.test", "", "Willkommen bei Müller & Söhne GmbH", "Müller & Söhne GmbH"),
        ("gamma.test", "Gamma e.V.", "Welcome", "Gamma e.V."),
        ("acme.test", "Home", "Acme Ltd. - Homepage", "Acme Ltd."),
        ("docs.hawk.test", "", "hawk: a tool that helps — hawk documentation", "hawk"),
        ("bare.test", "", "Index", "bare.test"),
        ("bare.test", "", "", "bare.test"),
    ],
)
def test_a_name_is_the_organisations_and_not_that_of_its_front_page(
    key: str, stated: str, title: str, expected: str
) -> None:
    assert organisation_name(key, stated, title) == expected


def test_a_name_is_what_other_pages_and_other_organisations_call_it() -> None:
    titles = ["Install — Kestrel 3.1 documentation", "News — Kestrel 3.1 documentation"]
    assert organisation_name("krs.test", "", "A driver for birds — Kestrel", titles) == "Kestrel"
    assert (
        organisation_name("krs.test", "", "All about flying", (), ["Kestrel", "here", "Kestrel", "more"]) == "Kestrel"
    )


def test_more_evidence_never_lowers_the_confidence() -> None:
    sites = {f"s{n}.test": Evidence(likeness=n / 10 - 1, cocitation=n % 3 / 10, has_home=True) for n in range(40)}
    for field in ("likeness", "described", "cocitation"):
        before = 0.0
        for value in (0.0, 0.1, 0.3, 1.0, 2.5, 6.0):
            one = replace(sites["s20.test"], **{field: value})
            after = confidences({**sites, "s20.test": one}, ["s39.test"])["s20.test"]
            assert after >= before - 1e-12
            before = after
    without = replace(sites["s20.test"], has_home=False, likeness=0.0)
    assert confidences({**sites, "s20.test": without}, ["s39.test"])["s20.test"] <= before


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


def test_the_table_has_negative_numbers_as_numbers(folder: Path) -> None:
    result, made = answer(folder), io.StringIO()
    result.organisations[0].evidence.likeness = -1.5
    write_csv(result, made)
    rows = list(csv.DictReader(io.StringIO(made.getvalue())))
    assert rows[0]["likeness"] == "-1.5"
    assert all(float(row["likeness"]) <= 100 and float(row["described"]) <= 100 for row in rows)


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
        assert (opened.request.strategy, opened.request.topic.looking_for) == ("hound", "sites")


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
