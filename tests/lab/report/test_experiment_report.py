"""The report of an experiment: whole, self-contained, safe, and honest about what is not shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.measure import compare_crawlers as compare
from scenthound.lab.measure import statistics as stats
from scenthound.lab.measure.compare_crawlers import clear_winner, every_pair, measure_if_stale
from scenthound.lab.measure.equal_pages import Measured
from scenthound.lab.measure.measure import load_characteristics, topic_values
from scenthound.lab.measure.metrics import METRICS, get_metric
from scenthound.lab.report.experiment_facts import ExperimentFacts, median
from scenthound.lab.report.experiment_report import CHARACTERISTICS, render, signed, write_report
from scenthound.lab.run.experiment import Experiment, RunOptions, open_experiment, run
from scenthound.lab.topics.characteristics import Characteristics, correlations
from scenthound.report.charts import WIDTH, CurvePoint, Series, apart, curves, style_of

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture(scope="module")
def done(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("runs") / "first"
    experiment = run(bed, "breadth-first,best-n-first:n=4,random", folder, RunOptions(pages=40, robustness=True))
    measure_if_stale(experiment, [10, 20, 40])
    return experiment


@pytest.fixture(scope="module")
def page(done: Experiment) -> str:
    return write_report(done, (10, 20, 40)).read_text(encoding="utf-8")


class Seen(HTMLParser):
    """The tags and addresses of a page; checks that its tags are balanced."""

    void = frozenset({"meta", "input", "br", "wbr", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_is_one_file_that_loads_nothing(page: str) -> None:
    seen = Seen(page)
    assert seen.open == []
    assert not seen.tags & {"script", "link", "iframe", "object", "embed", "img"}
    assert seen.addresses == []
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import", page)


def test_it_has_everything_a_reviewer_asks_for(page: str, done: Experiment) -> None:
    for words in (
        "Target recall", "Precision", "Harvest rate", "Which crawler is better?", "Search length", "Cost",
        "Topic by topic", "Do they find the same pages?", "robustness", "Which topics are easy?",
        "seed–target similarity", "What went wrong", "What was run", "n = 3 topics at every point",
        "± one standard error", "Holm", "scenthound lab run", done.spec.digest, "path-oracle", "content-oracle",
    ):  # fmt: skip
        assert words in page, words
    assert all(topic.id in page.replace("<wbr>", "") for topic in done.topics)
    assert "no difference shown" in page, "three topics can't tell much"


def test_the_same_experiment_gives_the_same_report(page: str, done: Experiment) -> None:
    again = render(ExperimentFacts(open_experiment(done.folder), (10, 20, 40)))
    assert again == page


def test_crawls_that_ended_early_are_counted_under_the_plot(page: str) -> None:
    assert re.search(r"Crawls that ended before 40 pages keep their last value: [^.]*path-oracle \d", page)


def test_reference_lines_are_explained_and_only_the_bound_is_drawn(page: str) -> None:
    assert "knows all links and targets" in page
    assert "not an upper bound" in page
    drawn = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert ">path-oracle</text>" in drawn
    assert "content-oracle" not in drawn
    assert "reference, not a bound" in page


def test_values_are_shown_by_requests_too(page: str) -> None:
    assert "By requests" in page
    assert "target_recall by requests, means over topics" in page
    assert "requests per page" in page


def test_names_from_strangers_are_escaped(bed: Bed, tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    nasty = '<script>alert("x")</script>\u202e\x1b[31m'
    topics.write_text(topic_line(replace(bed.topics[0], id=nasty, keywords="<b>bees</b>")))
    experiment = run(bed, "random", tmp_path / "run", RunOptions(topics_file=topics, pages=10))
    measure_if_stale(experiment)
    page = write_report(experiment, (10,)).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>bees" not in page
    assert not set("\u202e\x1b") & set(page)
    assert f"--topics-file {tmp_path}" in page


def test_topics_with_missing_pages_are_listed(bed: Bed, tmp_path: Path) -> None:
    first, second, third = bed.topics
    topics = tmp_path / "topics.jsonl"
    gone = bed.topics[0].targets[0][:-1] + "-gone-from-here"
    changed = [
        replace(first, targets=()),
        replace(second, targets=(*second.targets, type(second.targets[0])(gone))),
        third,
    ]
    topics.write_text("".join(map(topic_line, changed)))
    experiment = run(bed, "breadth-first,random", tmp_path / "run", RunOptions(topics_file=topics, pages=15))
    points = measure_if_stale(experiment)
    page = write_report(experiment, points).read_text(encoding="utf-8")
    assert "left out of everything that needs them" in page
    assert "they stay in the denominator of recall" in page
    assert "-gone-from-here" in page
    assert "n = 2 topics at every point" in page


def test_a_report_can_be_written_without_the_bed(bed: Bed, done: Experiment, tmp_path: Path) -> None:
    moved = replace(done, spec=replace(done.spec, bed=str(tmp_path / "nowhere")))
    facts = ExperimentFacts(moved, (10, 20, 40))
    assert "unknown" in render(facts)
    assert "--topics-file" in facts.command


def test_the_command_makes_the_experiment_again(done: Experiment) -> None:
    command = ExperimentFacts(done, (10, 20, 40)).command
    assert command.startswith(f"scenthound lab run {done.spec.bed} --strategies breadth-first,best-n-first:n=4,random")
    assert command.endswith(f"--pages 40 --robustness --at 10,20,40 --out {done.folder}")


def section(page: str, title: str) -> str:
    return page.split(f"<h2>{title}</h2>")[1].split("</section>")[0]


def test_topics_are_described_and_correlated_with_the_values_at_the_end(page: str, done: Experiment) -> None:
    html = section(page, "Which topics are easy?")
    values = topic_values(done, "target_recall", 40)["random"]
    rho, number = correlations(load_characteristics(done), values)["popularity"]
    assert number == 3
    assert rho is None or f">{signed(rho)}<" in html
    assert "Characteristics of 3 topics" in html
    assert "With 3 topics, a correlation says next to nothing" in html
    assert "description_<wbr>precision" in html
    assert tuple(CHARACTERISTICS) == Characteristics.__slots__


def test_a_correlation_over_fewer_topics_says_so_and_chance_is_explained(done: Experiment) -> None:
    facts = ExperimentFacts(done, (10, 20, 40))
    kinds = {
        f"t{n}": Characteristics(None, n, n % 7, None if n < 2 else 0.1 * (n % 5), 0.5, 1.0 / (n + 1), 0.5)
        for n in range(26)
    }
    reached = {40: {name: {topic: kind.link_set_size / 26 for topic, kind in kinds.items()} for name in facts.names}}
    values, groups = {"target_recall": reached}, facts.groups | {topic: topic for topic in kinds}
    facts.__dict__.update(characteristics=kinds, values=values, groups=groups)
    html = section(render(facts), "Which topics are easy?")
    assert "one in 20 correlations over 26 topics still exceeds about ±0.39" in html
    assert ">1.00<" in html, "link-set size"
    assert ">−1.00<" in html, "authority"
    assert re.search(r'\d\.\d\d <span class="se">\(24\)</span>', html), "text cohesiveness"
    assert "–" in html
    assert "precision" not in html.split("<p class")[1], "no table where there is no value"


# ---- when things are measured


def test_tables_are_measured_again_only_when_something_is_new(
    done: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[int]] = []
    real = compare.measure
    monkeypatch.setattr(
        compare, "measure", lambda *arguments, **more: (calls.append(arguments[1]), real(*arguments, **more))
    )
    assert measure_if_stale(done, [10, 20, 40]) == (10, 20, 40)
    assert calls == []
    assert measure_if_stale(done, [30], show=False) == (30,)
    assert calls == [[10, 20, 30, 40]], "what is shown stays"
    assert measure_if_stale(done) == (10, 20, 40)
    (done.folder / "measured.json").write_text("{}")
    assert measure_if_stale(done, [10, 20, 40]) == (10, 20, 40)
    assert len(calls) == 2


# ---- comparisons

TOPICS = [f"t{number}" for number in range(12)]


def spread(*values: float) -> dict[str, float | None]:
    return dict(zip(TOPICS, values, strict=False))


def test_every_pair_is_compared_once_with_the_better_mean_first() -> None:
    values = {"a": spread(0.1, 0.2, 0.1, 0.3), "b": spread(0.8, 0.9, 0.9, 0.7), "c": spread(0.8, 0.9, 0.8, 0.9)}
    comparisons = every_pair(Measured("target_recall", 10, values), ["a", "b", "c"])
    assert [(comparison.first, comparison.second) for comparison in comparisons] == [("b", "a"), ("c", "a"), ("c", "b")]
    best, p = comparisons[0], comparisons[0].paired.p
    assert p is not None
    assert best.adjusted == pytest.approx(min(1.0, p * 5)), "second smallest of six: three pairs in both directions"
    assert clear_winner(comparisons, ["a", "b", "c"]) is None, "c is not shown to be better than b"
    assert clear_winner(comparisons[:1], ["a", "b"]) == "b"


def test_lower_is_better_for_ranks() -> None:
    assert get_metric("mean_rank").lower_is_better
    assert not get_metric("target_recall").lower_is_better
    values = {"a": spread(3.0, 4.0, 5.0), "b": spread(1.0, 1.5, 3.5)}
    (comparison,) = every_pair(Measured("mean_rank", None, values), ["a", "b"])
    assert (comparison.first, comparison.second) == ("b", "a")


values = st.lists(st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=2, max_size=12)


@given(values)
def test_a_swapped_comparison_equals_the_comparison_of_the_swapped_pair(pairs: list[tuple[float, float]]) -> None:
    a, b = spread(*(first for first, _ in pairs)), spread(*(second for _, second in pairs))
    (forward,) = compare.compare_pairs(Measured("target_recall", 1, {"a": a, "b": b}), [("a", "b")])
    (backward,) = compare.compare_pairs(Measured("target_recall", 1, {"a": a, "b": b}), [("b", "a")])
    swapped = compare.swapped(forward)
    assert (swapped.first, swapped.second, swapped.means, swapped.signs) == (
        backward.first,
        backward.second,
        backward.means,
        backward.signs,
    )
    assert swapped.paired.p == pytest.approx(backward.paired.p)
    if backward.effect is None:
        assert swapped.effect is None
    else:
        assert swapped.effect == pytest.approx(backward.effect, abs=1e-6)


def test_nan_in_the_distribution_does_not_break_the_interval() -> None:
    t, number = 4.023344551434259, 60
    low, lower, upper = (stats._noncentrality(t + nudge, number - 1, 0.975) for nudge in (0.0, -0.05, 0.05))
    assert lower < low < upper


# ---- drawing


def test_labels_are_moved_apart_and_stay_inside() -> None:
    assert apart([50.0, 50.0, 50.0], 10, 0, 100) == [40.0, 50.0, 60.0]
    assert apart([0.0, 1.0], 10, 0, 100) == [0.0, 10.0]
    assert apart([99.0, 100.0], 10, 0, 100) == [90.0, 100.0]
    assert apart([], 10, 0, 100) == []


@given(st.lists(st.floats(0, 300), max_size=12))
def test_labels_never_cover_each_other(positions: list[float]) -> None:
    moved = apart(sorted(positions), 17, 0, 300)
    assert all(second - first >= 17 - 1e-6 for first, second in pairwise(moved))


def test_crawlers_differ_in_more_than_colour() -> None:
    styles = [style_of(index) for index in range(40)]
    assert len(set(styles)) == 40
    assert len({style.split()[1] for style in styles[:5]}) == 5, "the first five have different dashes"


@pytest.mark.parametrize("logarithmic", [False, True])
def test_curves_are_drawn_within_the_chart(logarithmic: bool) -> None:
    points = [CurvePoint(at, mean, 0.05) for at, mean in ((1, 0.0), (10, 0.1), (100, 0.4), (1000, 0.93))]
    drawn = curves("t", "recall", [Series("a", "c0 d0", points, frozenset({100}))], 1000, logarithmic)
    numbers = [
        float(n) for pair in re.findall(r'points="([^"]*)"', drawn) for xy in pair.split() for n in xy.split(",")
    ]
    assert numbers
    assert all(0 <= number <= WIDTH for number in numbers)
    assert drawn.count("<circle") == 1


def test_a_median_beyond_the_crawls_is_not_reached() -> None:
    assert median([None, None, 5]) is None
    assert median([]) is None
    assert median([3, 5, None]) == 5


# ---- documentation


def test_every_characteristic_of_topics_is_explained() -> None:
    explained = (DOCS / "concepts" / "metrics.md").read_text(encoding="utf-8")
    assert [name for name in Characteristics.__slots__ if f"| `{name}` |" not in explained] == []


def test_every_registered_metric_is_explained() -> None:
    explained = (DOCS / "concepts" / "metrics.md").read_text(encoding="utf-8")
    ours = [name for name, metric in METRICS.items() if metric.function.__module__.startswith("scenthound.")]
    assert [name for name in ours if f"`{name}`" not in explained] == []


def test_measured_json_has_four_fields(done: Experiment) -> None:
    note = json.loads((done.folder / "measured.json").read_text())
    assert set(note) == {"shown", "at", "metrics", "state"}
