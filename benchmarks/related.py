"""Related organisations on the apache bed: how many answers are right, and how reliable is the confidence?

    $ python benchmarks/related.py [--quick] [--fit] [--keep FOLDER] [--svg FILE]

Crawls are replayed with `hound` looking for sites, `hub-seeking` and `best-first` from the seeds of 30 topics, 500
pages each. After 100, 250 and 500 pages `scenthound related` answers from the pages that hound has fetched; its
confidence comes from weights fitted without the topic's category (three draws each). It is compared with the hosts of
each crawl in the order in which they were first fetched. Right answers are the bed's targets. R-precision is the
precision after as many answers as there are targets. Tests are paired over the ten categories. The second part repeats
everything on the bed without the pages that link to more than 30 hosts; weights are fitted on both parts together.
`--fit` prints the weights for `apps/related/confidence.py`, fitted on all topics.

Needs ../shared/data/apache; `--quick` uses two topics of a small generated web.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scenthound import url as urls
from scenthound.apps.related.confidence import FEATURES, features
from scenthound.apps.related.facts import HomeFacts, ListFacts, home_facts, html_of, list_facts
from scenthound.apps.related.link_evidence import gather
from scenthound.apps.related.owners import Owners
from scenthound.apps.related.related_organisations import read_homes
from scenthound.lab.beds.bed import Bed, BedTopic
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.statistics import holm, paired_t
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.landing import stored_document
from scenthound.page.page import Page
from scenthound.report.axes import Axes, Margins

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
POINTS = (100, 250, 500)
STRATEGIES: Mapping[str, Mapping[str, str]] = {"hound": {"looking_for": "sites"}, "hub-seeking": {}, "best-first": {}}
OURS = "related"
LARGE = 30  # hosts; a page that links to more is a large directory page
MEASURES = ("R-precision", "P@10", "recall@25")
PENALTY = 1.0
BINS = 10
SHOWN = 25
Floats = npt.NDArray[np.float64]


class Smaller(PreparedBed):
    """The bed without some pages, which give a 404."""

    without: frozenset[Url] = frozenset()

    def fetch(self, candidate: Candidate) -> Page | Miss | Moved:
        if candidate.url in self.without:
            return Miss(candidate, "http-404", status=404)
        return super().fetch(candidate)


@dataclass
class Facts:
    """Facts about the pages of the bed, each page read once."""

    bed: Bed
    lists: dict[Url, ListFacts | None] = field(default_factory=dict)
    homes: dict[Url, HomeFacts | None] = field(default_factory=dict)

    def list_facts(self, url: Url) -> ListFacts | None:
        if url not in self.lists:
            response = self.bed.get(url)
            document = None if response is None else stored_document(response)
            self.lists[url] = None if document is None else list_facts(document)
        return self.lists[url]

    def home_facts(self, url: Url) -> HomeFacts | None:
        if url not in self.homes:
            response = self.bed.get(url)
            document = None if response is None else stored_document(response)
            if document is None or response is None:
                self.homes[url] = None
            else:
                self.homes[url] = home_facts(document, html_of(response, 10**8, 1000))
        return self.homes[url]


@dataclass
class Fetched:
    """The first pages of a replayed crawl, in the form that `related` reads."""

    urls: Sequence[Url]
    bed: PreparedBed
    facts: Facts
    moved: Mapping[Url, Url] = field(default_factory=dict)

    @property
    def pages(self) -> Mapping[Url, int]:
        return {url: number for number, url in enumerate(self.urls, 1)}

    def links(self) -> Iterator[tuple[Url, Sequence[Url]]]:
        return ((url, self.bed.links(url)) for url in self.urls)

    def list_facts(self, url: Url) -> ListFacts | None:
        return self.facts.list_facts(url)

    def home_facts(self, url: Url) -> HomeFacts | None:
        return self.facts.home_facts(url)


@dataclass(frozen=True)
class Case:
    """The organisations found in one crawl after `at` pages: their features, and which are targets."""

    topic: str
    at: int
    keys: list[str]
    x: Floats
    truth: npt.NDArray[np.bool_]
    targets: int

    @property
    def category(self) -> str:
        return self.topic.rpartition("-")[0]


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        if options.quick:
            _measure(generate(Path(folder) / "web", pages=1000, seed=7, topics=4, companies=True), options)
        elif (SHARED / "data" / "apache").exists():
            _measure(Bed.open(SHARED / "data" / "apache"), options)
        else:
            print("../shared/data/apache is missing: nothing to measure", file=sys.stderr)


@dataclass(frozen=True)
class Variant:
    """The bed with or without its large directory pages: trails by topic and strategy, and the cases of `related`."""

    title: str
    trails: Mapping[tuple[str, str], Sequence[Url]]
    cases: Sequence[Case]


def _measure(bed: Bed, options: argparse.Namespace) -> None:
    prepared, facts = prepare(bed), Facts(bed)
    topics, points = (_company_topics(bed)[:2], (30, 60)) if options.quick else (bed.topics, POINTS)
    large = large_pages(prepared)
    print(f"{len(large)} pages link to more than {LARGE} hosts: {', '.join(sorted(large))}")
    variants = []
    for name, without in (("all pages", frozenset[Url]()), ("without the large directory pages", large)):
        smaller = Smaller(prepared.folder)
        smaller.without = without
        trails = {(topic.id, strategy): _trail(smaller, topic, strategy, max(points), options.keep)
                  for topic in topics for strategy in STRATEGIES}  # fmt: skip
        cases = [_case(smaller, topic, trails[topic.id, "hound"][:n], n, facts) for topic in topics for n in points]
        variants.append(Variant(name, trails, cases))
    everything = [case for variant in variants for case in variant.cases]
    if options.fit:
        bias, weights = fit(everything)
        print(f"BIAS = {bias:.2f}\nWEIGHTS = ({', '.join(f'{weight:.2f}' for weight in weights)})  # {FEATURES}")
        return
    fitted = {case.category: fit_without(case.category, everything) for case in everything}
    for variant in variants:
        print(f"\n## {variant.title}: {len(topics)} topics\n")
        _print_means(_rows(variant, topics, fitted), [topic.id for topic in topics], points)
        _print_calibration(variant.cases, fitted)
    print("\n## both together\n")
    calibration = _print_calibration(everything, fitted)
    if options.svg is not None:
        options.svg.write_text(_plot(calibration), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2 topics of a generated web, 60 pages each")
    parser.add_argument("--fit", action="store_true", help="only print the weights fitted on all topics")
    parser.add_argument("--keep", type=Path, help="keep trails in this folder, and reuse those already there")
    parser.add_argument("--svg", type=Path, help="write the reliability plot to this file")
    return parser.parse_args()


def _company_topics(bed: Bed) -> list[BedTopic]:
    return [topic for topic in bed.topics if len(topic.seeds) > 1 and all(urls.is_home(url) for url in topic.seeds)]


def large_pages(bed: PreparedBed) -> frozenset[Url]:
    """The pages that link to many hosts of the bed."""
    hosts = {urls.host(url) for url in bed.pages}

    def linked_hosts(url: Url) -> int:
        return len({urls.host(target) for target in bed.links(url)} & hosts - {urls.host(url)})

    return frozenset(url for url in bed.pages if linked_hosts(url) > LARGE)


Fitted = Mapping[str, tuple[float, Floats]]
"""Bias and weights, by the category that was left out of the fit."""


def _rows(variant: Variant, topics: Sequence[BedTopic], fitted: Fitted) -> dict[tuple[str, str, int], list[float]]:
    """The measures, by method, topic and number of pages."""
    rows: dict[tuple[str, str, int], list[float]] = {}
    by_id = {topic.id: topic for topic in topics}
    for case in variant.cases:
        topic, order = by_id[case.topic], np.argsort(-probabilities(case, fitted), kind="stable")
        rows[OURS, topic.id, case.at] = _measures([bool(case.truth[index]) for index in order], case.targets)
        targets, seeds = ({urls.host(url) for url in listed} for listed in (topic.targets, topic.seeds))
        for strategy in STRATEGIES:
            hosts = dict.fromkeys(urls.host(url) for url in variant.trails[topic.id, strategy][: case.at])
            hits = [name in targets for name in hosts if name not in seeds]
            rows[strategy, topic.id, case.at] = _measures(hits, case.targets)
    return rows


def _trail(prepared: Smaller, topic: BedTopic, strategy: str, pages: int, keep: Path | None) -> list[Url]:
    name = "smaller" if prepared.without else "all"
    file = None if keep is None else keep / f"{name}-{topic.id}-{strategy}-{pages}.json"
    if file is not None and file.exists():
        return [Url(url) for url in json.loads(file.read_text())]
    result = run_cell(prepared, topic, strategy, STRATEGIES[strategy], ReplayLimits(pages=pages))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result.visited))
    return list(result.visited)


def _case(prepared: PreparedBed, topic: BedTopic, trail: Sequence[Url], at: int, facts: Facts) -> Case:
    web, owners = Fetched(trail, prepared, facts), Owners(topic.seeds)
    seeds = {owners.key(url) for url in topic.seeds}
    homes, _ = read_homes(web, owners, seeds)
    evidence = gather(web, owners, seeds, homes, keywords=topic.keywords).evidence
    keys = [key for key in evidence if key not in seeds]
    targets = {owners.key(url) for url in topic.targets}
    x = np.array([features(evidence[key]) for key in keys]).reshape(len(keys), len(FEATURES))
    return Case(topic.id, at, keys, x, np.array([key in targets for key in keys]), len(targets))


def fit(cases: Sequence[Case]) -> tuple[float, Floats]:
    """Logistic regression with an L2 penalty on standardised features, by Newton's method."""
    x, y = np.concatenate([case.x for case in cases]), np.concatenate([case.truth for case in cases]).astype(float)
    middle, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    design = np.column_stack([np.ones(len(x)), (x - middle) / scale])
    penalty = PENALTY * np.eye(design.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (y - p) - penalty @ weights
        step = np.linalg.solve((design * (p * (1 - p))[:, None]).T @ design + penalty, gradient)
        weights += step
        if float(np.abs(step).max()) < 1e-9:
            break
    plain = weights[1:] / scale
    return float(weights[0] - plain @ middle), plain


def fit_without(category: str, cases: Sequence[Case]) -> tuple[float, Floats]:
    """The fit on the cases of all other categories."""
    return fit([case for case in cases if case.category != category] or cases)


def probabilities(case: Case, fitted: Fitted) -> Floats:
    """The confidence in each organisation of a case, from weights that were fitted without its category."""
    bias, weights = fitted[case.category]
    return np.asarray(1 / (1 + np.exp(-(bias + case.x @ weights))))


def _measures(hits: Sequence[bool], targets: int) -> list[float]:
    return [sum(hits[:targets]) / targets, sum(hits[:10]) / 10, sum(hits[:25]) / targets]


def _print_means(
    rows: Mapping[tuple[str, str, int], list[float]], topics: Sequence[str], points: Sequence[int]
) -> None:
    groups = [topic.rpartition("-")[0] for topic in topics]
    names = (OURS, *STRATEGIES)
    print("| pages | answer | " + " | ".join(MEASURES) + " |\n|---|---|" + "---|" * len(MEASURES))
    for pages in points:
        for name in names:
            means = [np.mean([rows[name, topic, pages][index] for topic in topics]) for index in range(len(MEASURES))]
            print(f"| {pages} | {name} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    if len(set(groups)) < 3:
        return
    tests = []
    for other in STRATEGIES:
        for pages in points:
            for index, measure in enumerate(MEASURES):
                ours, theirs = ([rows[name, topic, pages][index] for topic in topics] for name in (OURS, other))
                test = paired_t(ours, theirs, groups)
                tests.append((other, pages, measure, float(np.mean(ours) - np.mean(theirs)), test.p))
    adjusted = holm([test[4] for test in tests])
    print("\n| against | pages | measure | difference | p (Holm) |\n|---|---|---|---|---|")
    for (other, pages, measure, difference, _), p in zip(tests, adjusted, strict=True):
        print(f"| {other} | {pages} | {measure} | {difference:+.3f} | {_probability(p)} |")


def _probability(p: float | None) -> str:
    return "-" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _print_calibration(cases: Sequence[Case], fitted: Fitted) -> list[tuple[float, float, int]]:
    """Print how reliable the confidence is. Returns mean confidence, share of targets and count for each bin."""
    confidences = [probabilities(case, fitted) for case in cases]
    p, truth = np.concatenate(confidences), np.concatenate([case.truth for case in cases]).astype(float)
    brier, base = float(np.mean((p - truth) ** 2)), float(truth.mean() * (1 - truth.mean()))
    points, error = [], 0.0
    print("\n| confidence | organisations | mean confidence | share of targets |\n|---|---|---|---|")
    for low, high in pairwise(np.linspace(0, 1, BINS + 1).tolist()):
        chosen = (p >= low) & ((p < high) | (high == 1))
        if not chosen.any():
            continue
        confidence, share, count = float(p[chosen].mean()), float(truth[chosen].mean()), int(chosen.sum())
        points.append((confidence, share, count))
        error += count / len(p) * abs(confidence - share)
        print(f"| {low:.1f} to {high:.1f} | {count:,} | {confidence:.3f} | {share:.3f} |")
    print(f"\nECE {error:.4f}, Brier {brier:.4f} (base rate {base:.4f}); {truth.mean():.2%} of {len(p):,} are right")
    shown = [np.argsort(-values, kind="stable")[:SHOWN] for values in confidences]
    confidence = float(
        np.mean(np.concatenate([values[indices] for values, indices in zip(confidences, shown, strict=True)]))
    )
    share = float(np.mean(np.concatenate([case.truth[indices] for case, indices in zip(cases, shown, strict=True)])))
    print(f"The first {SHOWN} answers of each: mean confidence {confidence:.3f}, share of targets {share:.3f}")
    return points


def _plot(points: Sequence[tuple[float, float, int]]) -> str:
    axes = Axes(480, Margins(left=60, right=20, top=20, bottom=40), 1.0, 1.0, lines=5)
    dots = [
        f'<circle class="dot" cx="{axes.x(confidence):.1f}" cy="{axes.y(share):.1f}" r="{3 + np.log10(count) * 2:.1f}">'
        f"<title>{count} organisations: confidence {confidence:.2f}, share {share:.2f}</title></circle>"
        for confidence, share, count in points
    ]
    ticks = [f'<text class="tick mid" x="{axes.x(x / 5):.1f}" y="464">{x / 5:.1f}</text>' for x in range(6)]
    style = (
        "<style>.grid{stroke:#ccc}.tick{font:12px sans-serif;fill:#555}.mid{text-anchor:middle}.end{text-anchor:end}"
        ".same{stroke:#999;stroke-dasharray:4;fill:none}.dot{fill:#1f6feb;fill-opacity:.7}</style>"
    )
    chart = axes.svg(
        "Confidence, and share of right answers, leaving one category out",
        style,
        axes.grid_lines("{:.1f}"),
        *ticks,
        axes.line([(0.0, 0.0), (1.0, 1.0)], "same"),
        *dots,
    )
    return chart.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


if __name__ == "__main__":
    main()
