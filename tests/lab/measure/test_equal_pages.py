"""Crawls that ended early are compared at equal pages, topics of one category count as one group."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from scenthound.cli.root_command import run as command
from scenthound.errors import BadConfig, BadUsage
from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.measure.by_cost import pages_after
from scenthound.lab.measure.compare_crawlers import (
    Question,
    as_json,
    compare_across,
    compare_within,
    every_pair,
    measure_if_stale,
    topic_conflict,
)
from scenthound.lab.measure.equal_pages import Measured, crawl_lengths, ended_crawls
from scenthound.lab.measure.measure import load_table, summary
from scenthound.lab.measure.metrics import METRICS, get_metric
from scenthound.lab.measure.statistics import compare, mean, paired_t, sentence, standard_error, topic_groups
from scenthound.lab.run.cells import load_requests, load_trail
from scenthound.lab.run.experiment import Experiment, RunOptions, open_experiment, run
from scenthound.model import Url
from scenthound.topic_list import BedTopic
from scenthound.url import make

# ---- crawls that ended early

LENGTHS = {"short": {"x": 60, "y": 55, "z": 1000}, "long": dict.fromkeys("xyz", 1000)}
EARLIER = {
    50: {"short": {"x": 0.4, "y": 0.5, "z": 0.2}, "long": {"x": 0.6, "y": 0.7, "z": 0.3}},
    100: {"short": {"x": 0.4, "y": 0.5, "z": 0.2}, "long": {"x": 0.3, "y": 0.3, "z": 0.25}},
    1000: {"short": {"x": 0.4, "y": 0.5, "z": 0.1}, "long": {"x": 0.05, "y": 0.06, "z": 0.2}},
}


def measured(metric: str) -> Measured:
    return Measured(metric, 1000, EARLIER[1000], EARLIER, LENGTHS)


def test_a_rate_is_compared_where_both_crawls_still_ran() -> None:
    comparison = measured("harvest_rate").compare("short", "long")
    assert comparison.means[0].mean == pytest.approx((0.4 + 0.5 + 0.1) / 3), "x and y after 50 pages, z after 1,000"
    assert comparison.means[1].mean == pytest.approx((0.6 + 0.7 + 0.2) / 3)
    assert comparison.paired.mean == pytest.approx(-0.5 / 3), "at 1,000 pages it would seem the better one"
    assert comparison.ended == (2, 0)
    text = sentence(comparison)
    assert "harvest_rate at up to 1000 pages" in text
    assert "short had ended earlier on 2 of 3 topics; on these, both are compared" in text
    assert text.endswith("after the same number of pages.")
    plain = as_json(comparison)
    assert (plain["ended"], plain["at_equal_length"]) == ({"first": 2, "second": 0}, True)


def test_recall_of_an_ended_crawl_keeps_its_value_and_the_sentence_says_so() -> None:
    comparison = measured("target_recall").compare("short", "long")
    assert comparison.means[0].mean == pytest.approx((0.4 + 0.5 + 0.1) / 3)
    assert comparison.means[1].mean == pytest.approx((0.05 + 0.06 + 0.2) / 3)
    assert sentence(comparison).endswith("short had ended earlier on 2 of 3 topics; what was found by then counts.")
    assert "at 1000 pages" in sentence(comparison)


def test_no_winner_by_ending_early() -> None:
    (comparison,) = every_pair(measured("harvest_rate"), ["short", "long"])
    assert (comparison.first, comparison.second, comparison.ended) == ("long", "short", (0, 2))


def test_a_crawl_that_ended_before_every_point_is_left_out() -> None:
    lengths = {"short": {"x": 0, "y": 55, "z": 1000}, "long": LENGTHS["long"]}
    comparison = replace(measured("harvest_rate"), lengths=lengths).compare("short", "long")
    assert comparison.left_out == ("x",)
    assert (comparison.means[0].number, comparison.ended) == (2, (1, 0))


def test_every_mean_over_pages_is_a_rate() -> None:
    not_rates = {name for name in METRICS.names() if not get_metric(name).is_rate}
    assert not_rates >= {"target_recall", "coverage", "hosts_found", "description_recall", "fetched_goals"}
    assert not {"harvest_rate", "precision", "mean_rank", "url_precision", "average_relevance"} & not_rates
    assert not {name for name in not_rates if name.endswith("_rate")}


def test_ended_crawls_are_counted_by_point() -> None:
    assert ended_crawls(LENGTHS, [50, 58, 1000]) == {"short": {50: (0, 3), 58: (1, 3), 1000: (2, 3)}}


# ---- topics that share a category

VALUES = [0.31, 0.42, 0.28, 0.55, 0.61, 0.12]
OTHERS = [0.22, 0.35, 0.29, 0.31, 0.40, 0.10]
CLUSTERS = ["a", "a", "a", "b", "b", "c"]


def test_errors_of_groups_agree_with_a_calculation_by_hand() -> None:
    # differences .09 .07 -.01 .24 .21 .02, mean .62/6; sums of residuals by group: -.16 , .24333.., -.08333..
    test = paired_t(VALUES, OTHERS, CLUSTERS)
    average = 0.62 / 6
    sums = [0.15 - 3 * average, 0.45 - 2 * average, 0.02 - average]
    error = (3 / 2 * sum(total**2 for total in sums)) ** 0.5 / 6
    assert (test.mean, test.error) == (pytest.approx(average, abs=1e-14), pytest.approx(error, abs=1e-14))
    assert test.freedom == 2


def test_errors_of_groups_are_those_of_a_regression_on_a_constant() -> None:
    # the sandwich (X'X)^-1 (sum over g of X_g' e_g e_g' X_g) (X'X)^-1, times G/(G-1) (n-1)/(n-k), as packages have it
    y, x = np.array(VALUES) - np.array(OTHERS), np.ones((6, 1))
    bread = np.linalg.inv(x.T @ x)
    residuals = y - x @ (bread @ x.T @ y)
    members = [[index for index, name in enumerate(CLUSTERS) if name == group] for group in "abc"]
    parts = [np.outer(part, part) for part in (x[rows].T @ residuals[rows] for rows in members)]
    covariance = bread @ np.sum(parts, axis=0) @ bread * (3 / 2) * (5 / 5)
    test = paired_t(VALUES, OTHERS, CLUSTERS)
    assert test.error == pytest.approx(float(covariance[0, 0]) ** 0.5, abs=1e-14)
    assert test.t is not None
    assert test.error is not None
    assert test.p == pytest.approx(float(scipy.stats.t.sf(float(y.mean()) / test.error, 2)), abs=1e-13)


def test_groups_of_one_size_are_as_if_averaged_first() -> None:
    first, second = [0.3, 0.5, 0.2, 0.8, 0.7, 0.1], [0.1, 0.6, 0.3, 0.4, 0.2, 0.0]
    pairs = [[sum(values[i : i + 2]) / 2 for i in (0, 2, 4)] for values in (first, second)]
    expected = scipy.stats.ttest_rel(*pairs, alternative="greater")
    test = paired_t(first, second, "aabbcc")
    assert (test.t, test.freedom) == (pytest.approx(expected.statistic, abs=1e-12), 2)
    assert test.p == pytest.approx(expected.pvalue, abs=1e-12)


def test_draws_of_one_category_are_not_independent_evidence() -> None:
    ours = {f"{name}{draw}": value for name, value in zip("abcd", (0.5, 0.6, 0.2, 0.5), strict=True) for draw in "123"}
    theirs = dict.fromkeys(ours, 0.4)
    alone = compare(("a", ours), ("b", theirs), "target_recall")
    grouped = compare(("a", ours), ("b", theirs), "target_recall", groups={topic: topic[0] for topic in ours})
    assert alone.paired.p is not None
    assert grouped.paired.p is not None
    assert alone.paired.p < 0.15 < grouped.paired.p
    assert (grouped.groups, grouped.means[0].number, grouped.paired.freedom) == (4, 12, 3)
    assert (grouped.signs.wins, grouped.signs.losses) == (3, 1)
    assert "over 12 topics in 4 categories" in sentence(grouped)
    assert "over 12 topics," in sentence(alone)
    single = compare(("a", ours), ("b", theirs), "target_recall", groups=dict.fromkeys(ours, "a"))
    assert "only topics of one category" in sentence(single)


def test_a_mean_knows_its_groups() -> None:
    assert mean([1.0, None, 3.0, 3.0], "aabb")[2:] == (3, 2)
    assert standard_error([1.0, 2.0], "aa") is None


def topic(name: str, *path: str) -> BedTopic:
    return BedTopic(name, path, name, "", (Url("http://x.test/"),), ())


def test_groups_come_from_the_paths_of_topics() -> None:
    topics = [topic("a1", "P", "a"), topic("a2", "P", "a"), topic("b1", "P", "b"), topic("loose"), topic("free")]
    assert topic_groups(topics) == {"a1": "P / a", "a2": "P / a", "b1": "P / b", "loose": "loose", "free": "free"}
    assert len(set(topic_groups(topics, "topic").values())) == 5
    assert len(set(topic_groups(topics, "1").values())) == 3
    for wrong in ("0", "colour"):
        with pytest.raises(BadUsage, match="grouped"):
            topic_groups(topics, wrong)


# ---- whole experiments


@pytest.fixture(scope="module")
def done(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    experiment = run(bed, "breadth-first,best-first", tmp_path_factory.mktemp("runs") / "first", RunOptions(pages=40))
    measure_if_stale(experiment, [10, 40])
    return experiment


def test_a_trail_says_how_many_requests_were_made(done: Experiment) -> None:
    outcomes = done.outcomes()
    for cell in done.cells:
        requests, steps = load_requests(done.folder, cell.key), load_trail(done.folder, cell.key)
        assert requests is not None
        assert len(requests) == len(steps)
        assert requests == sorted(set(requests)), "each page takes a request"
        if not cell.oracle:
            assert requests[-1] == outcomes[cell.key].attempts >= len(steps)
    assert any(outcome.attempts > outcome.pages for outcome in outcomes.values()), "there are dead links"


def test_a_value_by_requests_is_that_of_the_pages_fetched_by_then(done: Experiment) -> None:
    cell = next(cell for cell in done.cells if cell.strategy == "breadth-first")
    requests = load_requests(done.folder, cell.key)
    assert requests is not None
    (pages,) = pages_after(requests, [40])
    assert 0 < pages <= 40
    by_requests, by_pages = (_curve(done, table, cell.topic) for table in ("by_requests", "metrics"))
    assert by_requests[40] == by_pages.get(pages, by_requests[40])
    assert by_requests[max(by_requests)] == by_pages[40]
    assert by_requests[40] <= by_pages[40]


def _curve(done: Experiment, name: str, topic: str) -> dict[int, float]:
    table = load_table(done, name)
    rows = zip(*(table[column] for column in ("strategy", "metric", "topic", "at", "value")), strict=True)
    return {row[3]: row[4] for row in rows if row[:3] == ("breadth-first", "target_recall", topic)}


def test_crawls_are_compared_by_requests(done: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["lab", "compare", str(done.folder), "best-first", "breadth-first", "--by", "requests", "--at", "40"]
    assert command(arguments) == 0
    assert "On target_recall at 40 requests, " in capsys.readouterr().out
    assert command([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by"] == "requests"
    assert command(["lab", "measure", str(done.folder), "--by", "requests", "--at", "20,40"]) == 0
    assert "40 requests" in capsys.readouterr().out
    assert summary(done, [40], ["target_recall"], by_requests=True)["best-first"]["target_recall"][40]["topics"] == 3


def test_a_crawl_ends_after_a_number_of_requests(bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["lab", "run", str(bed.folder), "--strategies", "breadth-first", "--requests", "25", "--jobs", "1"]
    assert command([*arguments, "--out", str(tmp_path / "run"), "--json"]) == 0
    capsys.readouterr()
    experiment = open_experiment(tmp_path / "run")
    outcomes = [experiment.outcomes()[cell.key] for cell in experiment.cells if not cell.oracle]
    assert {(outcome.attempts, outcome.reason) for outcome in outcomes} == {(25, "requests")}
    assert (experiment.spec.limits.requests, experiment.spec.limits.pages) == (25, 25)
    assert any(outcome.pages < 25 for outcome in outcomes), "dead links cost requests, not pages"


def test_measure_says_which_crawls_ended_early(bed: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = run(bed, "breadth-first", tmp_path / "run", RunOptions(pages=100_000, oracles=False))
    assert max(crawl_lengths(experiment)["breadth-first"].values()) < 1000, "the bed has no more pages"
    assert command(["lab", "measure", str(experiment.folder), "--at", "10,5000"]) == 0
    output = capsys.readouterr()
    assert "topics whose crawl had ended" in output.out
    assert "3 of 3" in output.out
    rates = next(line for line in output.out.split("harvest_rate")[1].splitlines() if "breadth-first" in line)
    assert rates.count("†") == 1, "the rate at 5,000 pages is over fewer"
    assert "can't be compared" in output.err
    assert command(["lab", "measure", str(experiment.folder), "--at", "5000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["breadth-first"]["harvest_rate"]["5000"]["ended"] == 3


def test_runs_with_other_seeds_or_targets_are_not_compared(bed: Bed, done: Experiment, tmp_path: Path) -> None:
    topics = [replace(topic, seeds=topic.seeds[:2]) for topic in bed.topics]
    (tmp_path / "few.jsonl").write_text("".join(map(topic_line, topics)), encoding="utf-8")
    options = RunOptions(pages=40, oracles=False, topics_file=tmp_path / "few.jsonl")
    few = run(bed, "best-first", tmp_path / "few", options)
    with pytest.raises(BadConfig, match=rf"has {len(bed.topics[0].seeds)} seeds and 2"):
        compare_across((done, few), ("breadth-first", "best-first"), Question("target_recall", (40,)))
    moved = [replace(topic, targets=(make("http://elsewhere.test/"), *topic.targets[1:])) for topic in bed.topics]
    assert "targets" in topic_conflict(done, replace(done, topics=tuple(moved)))
    assert "no topic in common" in topic_conflict(done, replace(done, topics=()))
    assert not topic_conflict(done, done)


def test_topics_of_one_category_are_grouped_in_an_experiment(done: Experiment) -> None:
    same = tuple(
        replace(topic, path=("one", "category" if index else "other")) for index, topic in enumerate(done.topics)
    )
    question = Question("target_recall", (40,))
    (comparison,) = compare_within(replace(done, topics=same), ["best-first", "breadth-first"], question)
    assert (comparison.groups, comparison.means[0].number) == (2, 3)
    (alone,) = compare_within(
        replace(done, topics=same), ["best-first", "breadth-first"], replace(question, group_by="topic")
    )
    assert alone.groups == 3
    assert summary(replace(done, topics=same), [40])["best-first"]["target_recall"][40]["groups"] == 2


# ---- metrics with parameters


def test_metrics_take_parameters(done: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    names = "coverage:top=10,moving_harvest_rate:window=5,coverage"
    assert command(["lab", "measure", str(done.folder), "--at", "40", "--metric", names, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["best-first"]
    assert set(values) == set(names.split(","))
    assert values["coverage:top=10"]["40"]["mean"] != values["coverage"]["40"]["mean"]
    arguments = ["lab", "compare", str(done.folder), "best-first", "breadth-first", "--metric", "coverage:top=5"]
    assert command(arguments) == 0
    assert "coverage:top=5 at 40 pages" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["coverage:depth=3", "coverage:top=0", "coverage:top=many", "target_recall:top=3"])
def test_an_invalid_parameter_is_refused(name: str) -> None:
    with pytest.raises(BadUsage, match=r"parameter|can't be"):
        get_metric(name)
