"""How reliable a judge is: precision, recall, F1, average precision and calibration, compared with the old rule.

    $ python benchmarks/judge.py [--quick] [--half test|tune|all] [--judge topic] [--svg FOLDER]

Crawls a generated web and, if they are available, the recorded webs `schools` and `apache` of ../shared/data with
best-first and breadth-first, 500 pages per topic in replay, and passes the pages to the judge in the order of the
crawl. The truth is the bed's list of targets; seeds and example pages, which the judge was given, do not count. "At
fetch" is the verdict when a page arrived, "revised" the verdict on the same page when the crawl ended.

Every second topic is `tune`: constants were set on these alone. The others are `test`. On apache, where three topics
are draws of one category, categories are split. P, R, F1 and AP are means over topics with a target among the fetched
pages; calibration is over all pages: ECE of 10 bins of equal count, Brier score, and the Brier score of predicting the
base rate. If sites are looked for, a page that is not a home page is not found, so it has the probability 0. The goal
for F1 is twice that of the old rule, or halfway from there to 1 if that is lower.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.judges import JUDGES
from scenthound.judging import Judge, Revises, Verdict
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.run.handover import visible_topic
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.looking_for import is_counted
from scenthound.model import Candidate, Step, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from scenthound.wiring.parts_from_settings import make_judge

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
STRATEGIES = ("best-first", "breadth-first")
OLD_RULE = 0.1
BINS = 10
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rated:
    """Truth, and scores and flags of one judge, for the pages of one crawl that count."""

    truth: Flags
    scores: Floats
    flags: Flags


class Quality(NamedTuple):
    precision: float
    recall: float
    f1: float
    average_precision: float
    ece: float
    brier: float
    base_brier: float


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        for bed in webs(Path(folder), options.quick):
            _report(bed, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2 topics of a small generated web, 60 pages each")
    parser.add_argument("--half", choices=("test", "tune", "all"), default="test")
    parser.add_argument("--judge", default="topic", choices=JUDGES.names())
    parser.add_argument("--no-background", action="store_true", help="judge `topic` without the table of English words")
    parser.add_argument("--topics", type=int, default=15, help="most topics per bed")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--svg", type=Path, help="write reliability plots into this folder")
    return parser.parse_args()


def webs(folder: Path, quick: bool) -> Iterator[Bed]:
    """A generated web, and the recorded webs that are available."""
    yield generate(folder / "generated", pages=500 if quick else 6000, seed=7, topics=4 if quick else 24)
    for name in () if quick else ("schools", "apache"):
        if (SHARED / "data" / name).exists():
            yield Bed.open(SHARED / "data" / name)
        else:
            print(f"{name}: missing, skipped", file=sys.stderr)


def _report(bed: Bed, options: argparse.Namespace) -> None:
    prepared = prepare(bed)
    prepared.read_parts(Parts((Analyser(),)))
    chosen = half(bed, options.half)
    parameters = {"background": False} if options.no_background else {}
    chosen = chosen[:: max(1, -(-len(chosen) // (2 if options.quick else options.topics)))]
    print(f"\n{bed.name}: {len(chosen)} topics ({options.half})")
    print(f"{'':36}    P    R   F1 goal   AP   ECE  Brier (base rate)")
    for strategy in STRATEGIES:
        crawls = []
        for topic in chosen:
            pages = 60 if options.quick else options.pages
            steps = run_cell(prepared, topic, strategy, limits=ReplayLimits(pages=pages)).steps
            crawls.append(_rate(prepared, topic, steps, make_judge(options.judge, parameters)))
        old, fetch, revised = (quality([crawl[index] for crawl in crawls]) for index in range(3))
        goal = min(2 * old.f1, (1 + old.f1) / 2)
        for label, row, aim in (
            ("old rule", old, "    "),
            (f"{options.judge}, at fetch", fetch, f"{goal:4.2f}"),
            (f"{options.judge}, revised", revised, f"{goal:4.2f}"),
        ):
            print(
                f"{strategy:14} {label:21} {row.precision:4.2f} {row.recall:4.2f} {row.f1:4.2f} {aim}"
                f" {row.average_precision:4.2f} {row.ece:5.3f} {row.brier:6.4f} ({row.base_brier:.4f})"
            )
        cost = sum(crawl[3] for crawl in crawls) / max(sum(crawl[4] for crawl in crawls), 1)
        print(f"{strategy:14} {1000 * cost:.2f} ms CPU per page", flush=True)
        if options.svg:
            options.svg.mkdir(parents=True, exist_ok=True)
            plot = reliability_svg([crawl[2] for crawl in crawls], f"{bed.name}, {strategy}")
            (options.svg / f"judge-{bed.name.split()[0]}-{strategy}.svg").write_text(plot, encoding="utf-8")


def half(bed: Bed, half: str) -> list[BedTopic]:
    """The topics of one half: every second topic; if several topics have the same path, every second path."""
    topics = list(bed.topics)
    paths = list(dict.fromkeys(topic.path for topic in topics))
    if half == "all":
        return topics
    return [topic for topic in topics if paths.index(topic.path) % 2 == (half == "test")]


def _rate(
    bed: PreparedBed, topic: BedTopic, steps: Sequence[Step], judge: Judge
) -> tuple[Rated, Rated, Rated, float, int]:
    """Rate one crawl by the old rule, the judge at fetch and the judge revised; with CPU seconds and page count."""
    aliases, given_urls = bed.aliases, {*topic.seeds, *topic.examples}
    given_urls |= {Url(aliases[url]) for url in given_urls if url in aliases}
    targets = {aliases.get(url, url) for url in topic.targets} | set(topic.targets)
    pages = [_page(bed, step) for step in steps]
    before = time.process_time()
    judge.start(visible_topic(topic, aliases), topic.seeds)
    first = [judge.judge(page) for page in pages]
    revised: dict[Url, Verdict] = dict(judge.revised()) if isinstance(judge, Revises) else {}
    seconds = time.process_time() - before
    last = [revised.get(step.url, verdict) for step, verdict in zip(steps, first, strict=True)]
    counts = np.array([step.url not in given_urls and step.requested not in given_urls for step in steps])
    truth = np.array([step.url in targets or step.requested in targets for step in steps])[counts]
    similarity = np.array([step.similarity for step in steps])[counts]
    rated = [Rated(truth, similarity, similarity >= OLD_RULE)]
    for verdicts in (first, last):
        relevance = zip(steps, verdicts, strict=True)
        found = [rated.probability * is_counted(step.url, topic.looking_for) for step, rated in relevance]
        scores = np.array(found)[counts]
        rated.append(Rated(truth, scores, np.array([verdict.is_relevant for verdict in verdicts])[counts]))
    return rated[0], rated[1], rated[2], seconds, len(pages)


def _page(bed: PreparedBed, step: Step) -> Page:
    page = bed.fetch(Candidate(step.url, step.score, parent=step.parent, anchor=step.anchor, depth=step.depth))
    assert isinstance(page, Page)
    return page


def quality(crawls: Sequence[Rated]) -> Quality:
    """Means by topic of precision, recall, F1 and AP; calibration over all pages."""
    rows = [
        (*_flag_quality(crawl), average_precision(crawl.truth, crawl.scores)) for crawl in crawls if crawl.truth.any()
    ]
    truth = np.concatenate([crawl.truth for crawl in crawls]).astype(float)
    scores = np.concatenate([crawl.scores for crawl in crawls])
    means = np.mean(rows, 0) if rows else np.full(4, np.nan)
    base = float(truth.mean())
    return Quality(
        *means.tolist(), calibration_error(truth, scores), float(((scores - truth) ** 2).mean()), base - base**2
    )


def _flag_quality(crawl: Rated) -> tuple[float, float, float]:
    hits, flagged, relevant = (crawl.truth & crawl.flags).sum(), crawl.flags.sum(), crawl.truth.sum()
    return hits / max(flagged, 1), hits / max(relevant, 1), 2 * hits / max(flagged + relevant, 1)


def average_precision(truth: Flags, scores: Floats) -> float:
    ranked = truth[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ranked)[ranked] / (np.flatnonzero(ranked) + 1)).mean())


def bins(truth: Floats, scores: Floats) -> list[tuple[int, float, float]]:
    """Ten bins of equal count by score: number of pages, mean score, share of relevant pages."""
    parts = np.array_split(np.argsort(scores, kind="stable"), BINS)
    return [(len(part), float(scores[part].mean()), float(truth[part].mean())) for part in parts if len(part)]


def calibration_error(truth: Floats, scores: Floats) -> float:
    """The expected calibration error (ECE): mean distance of score and truth over the bins."""
    return sum(count * abs(score - share) for count, score, share in bins(truth, scores)) / len(truth)


def reliability_svg(crawls: Sequence[Rated], title: str) -> str:
    """Stated probability (x) against the share of relevant pages (y) in bins of width .1; dots grow with the count."""
    truth = np.concatenate([crawl.truth for crawl in crawls]).astype(float)
    scores = np.concatenate([crawl.scores for crawl in crawls])
    marks = []
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (scores >= low) & ((scores < low + 0.1) | (low > 0.85))
        if inside.any():
            x, y, size = float(scores[inside].mean()), float(truth[inside].mean()), float(inside.sum())
            error = 1.96 * (max(y * (1 - y), 1e-9) / size) ** 0.5
            top, bottom = 260 - 220 * min(y + error, 1), 260 - 220 * max(y - error, 0)
            position = f"{50 + 220 * x:.1f}"
            marks.append(
                f'<line x1="{position}" x2="{position}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="#777"/>'
                f'<circle cx="{position}" cy="{260 - 220 * y:.1f}" r="{2 + np.log10(size):.1f}" fill="#1f6f8b">'
                f"<title>{int(size):,} pages: stated {x:.2f}, true {y:.2f}</title></circle>"
            )
    ticks = "".join(
        f'<text x="{50 + 220 * v}" y="276" text-anchor="middle">{v:g}</text>'
        f'<text x="44" y="{264 - 220 * v}" text-anchor="end">{v:g}</text>'
        for v in (0, 0.5, 1)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="310" font-family="sans-serif" font-size="11">'
        f'<rect width="300" height="310" fill="#fff"/><text x="160" y="24" text-anchor="middle">{title}</text>'
        '<rect x="50" y="40" width="220" height="220" fill="none" stroke="#999"/>'
        f'<line x1="50" y1="260" x2="270" y2="40" stroke="#bbb" stroke-dasharray="4 3"/>{ticks}{"".join(marks)}'
        '<text x="160" y="298" text-anchor="middle">stated probability</text>'
        '<text x="14" y="150" text-anchor="middle" transform="rotate(-90 14 150)">share relevant</text></svg>\n'
    )


if __name__ == "__main__":
    main()
