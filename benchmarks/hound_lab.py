"""Shared by the tables of `hound.py`: webs, cached crawls, target recall by topic, differences with their errors.

Crawls are run by `lab run`. Their folders are kept under `--work` and continued, so an interrupted table continues
where it stopped. The cells of a strategy are named by its parameters and not by its code, so crawls of hound are kept
in a folder named by a digest of its source: after a change of hound they are repeated, those of other strategies not.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from findings_lab import SHARED

import scenthound.strategies.hound
import scenthound.text
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.web_kinds import REALISTIC, SIMPLE, WebOrder, write_web
from scenthound.lab.measure.metrics.targets import target_recall
from scenthound.lab.measure.statistics import Comparison, Mean, adjust, compare, mean, topic_groups
from scenthound.lab.run.cells import Cell, load_seconds, load_trail, load_training
from scenthound.lab.run.experiment import Experiment, RunOptions, load_starts, run
from scenthound.topic_list import BedTopic

POINTS = (50, 100, 250, 500, 750, 1000)
OURS = "hound"
DIRECTORIES = ("foundation/leadership.html", "foundation/members.html", "licenses/exports/")
"""Pages of www.apache.org that list most sites of the apache bed."""
GENERATED = ("generated-7", "generated-23", "realistic-407", "realistic-423", "companies-612", "companies-613")
"""Kind and random seed of each generated web. `generated` is the simple kind; `companies` are realistic webs whose
targets are home pages of companies."""
COMPANIES = {"subjects": 12, "companies": 0.3, "trades": 1.0, "mentions": 0.4}
WEBS = ("schools", "apache", "apache-less", *GENERATED)
RECORDED = ("schools", "apache")
ALL_TOPICS = {"schools": 60, "apache": 30, "apache-less": 30, **dict.fromkeys(GENERATED, 20)}
"""Number of topics in the table of recall, evenly spaced."""
FEW_TOPICS = {**dict.fromkeys(ALL_TOPICS, 10), "schools": 20, "realistic-407": 20}
"""Number of topics in all other tables: on apache one of each category."""
SOME_PAGES = 250
"""Pages per crawl in tables with many crawlers."""
TESTED, LEVEL = (100, 250), 0.05
"""Page counts at which differences are tested, and the significance level of Holm's p."""


@dataclass(frozen=True)
class Settings:
    """Options of the command line."""

    work: Path
    jobs: int = 1
    topics: int = 0
    """Number of topics of a web, evenly spaced; 0: as many as the table asks for."""
    pages: int = 1000

    def shorter(self, web: str) -> Settings:
        """The settings for a table with many crawlers: fewer topics, unless their number was given, and fewer pages."""
        return replace(self, topics=self.topics or FEW_TOPICS[web], pages=min(self.pages, SOME_PAGES))

    @property
    def points(self) -> tuple[int, ...]:
        return tuple(point for point in POINTS if point <= self.pages) or (self.pages,)


@dataclass(frozen=True)
class BenchWeb:
    """A web to crawl, opened when needed."""

    name: str
    folder: Path

    @cached_property
    def bed(self) -> Bed:
        return Bed.open(self.folder)

    @cached_property
    def prepared(self) -> PreparedBed:
        return prepare(self.bed)

    @cached_property
    def groups(self) -> dict[str, str]:
        """The category of each topic; only topics of different categories are independent."""
        return topic_groups(self.bed.topics)

    def spaced(self, count: int) -> list[str]:
        """Ids of `count` topics, evenly spaced and from as many categories as possible; 0: all topics."""
        firsts = list({self.groups[topic.id]: topic.id for topic in reversed(self.bed.topics)}.values())[::-1]
        all_topics = [topic.id for topic in self.bed.topics]
        if not count or count >= len(all_topics):
            return all_topics
        candidates = firsts if count <= len(firsts) else all_topics
        return [candidates[index * len(candidates) // count] for index in range(count)]


def open_web(name: str, work: Path) -> BenchWeb | None:
    """Open the web of this name; None if its recorded pages are missing. Generated webs are written once."""
    if name in RECORDED:
        folder = SHARED / "data" / name
        return BenchWeb(name, folder) if folder.is_dir() else None
    folder = work / "beds" / name
    if name == "apache-less":
        source = SHARED / "data" / "apache"
        if not source.is_dir():
            return None
        if not (folder / "bed.toml").exists():
            without = ",".join(f"https://www.apache.org/{page}" for page in DIRECTORIES)
            command = ["lab", "import", "warc", str(source), str(folder), "--set", f"topics={source / 'topics.jsonl'}"]
            subprocess.run(
                [sys.executable, "-m", "scenthound", *command, "--set", f"without={without}"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        return BenchWeb(name, folder)
    if not (folder / "bed.toml").exists():
        write_web(folder, order(name))
    return BenchWeb(name, folder)


def order(name: str) -> WebOrder:
    """The parameters of the generated web of this name."""
    kind, number, *small = name.split("-")
    if kind == "companies":
        return WebOrder(REALISTIC, 12_000, int(number), topics=0, companies=True, habits=COMPANIES)
    if kind == REALISTIC:
        return WebOrder(REALISTIC, 12_000, int(number), topics=20)
    return WebOrder(SIMPLE, 600 if small else 6_000, int(number), topics=4 if small else 40)


def hound_digest() -> str:
    """A digest of the source code of hound and of the text package that it uses."""
    digest = hashlib.sha256()
    for package in (scenthound.strategies.hound, scenthound.text):
        for file in sorted(Path(package.__path__[0]).glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


# ---- crawls


class Curves(NamedTuple):
    """Results of the crawls of one web, by strategy and topic: target recall at the points, and CPU seconds."""

    points: tuple[int, ...]
    found: dict[str, dict[str, list[float]]]
    seconds: dict[str, dict[str, float]]
    """CPU seconds that the whole crawl spent on scoring and choosing pages, including training."""
    ended: dict[str, int]
    """Number of crawls that ran out of URLs before the last page."""
    given: dict[str, tuple[str, ...]]
    """What the lab gave each strategy beyond topic and seeds."""
    targets: dict[str, dict[str, dict[str, int]]]
    """The targets found, by strategy and topic, each with the page count at which it was found."""
    groups: Mapping[str, str]

    def values(self, strategy: str, point: int, topics: Iterable[str] | None = None) -> dict[str, float | None]:
        column = self.points.index(point)
        found = self.found[strategy]
        return {topic: found[topic][column] for topic in (found if topics is None else topics)}

    def mean(self, strategy: str, point: int) -> Mean:
        values = self.values(strategy, point)
        return mean(list(values.values()), [self.groups[topic] for topic in values])

    def cost(self, strategy: str) -> float:
        """CPU milliseconds per page; 0 for an oracle, which is not timed."""
        seconds = self.seconds.get(strategy)
        return 1000 * sum(seconds.values()) / (len(seconds) * self.points[-1]) if seconds else 0.0

    def difference(self, first: str, second: str, point: int) -> Comparison:
        """First minus second, paired over the topics that both have; standard errors are over categories."""
        topics = [topic for topic in self.found[first] if topic in self.found[second]]
        ours, theirs = self.values(first, point, topics), self.values(second, point, topics)
        return compare((first, ours), (second, theirs), "target_recall", point, groups=self.groups)

    def tested(self, pairs: Iterable[tuple[str, str]]) -> list[Comparison]:
        """Test whether the first of each pair is better, at 100 and 250 pages; all tests are one family (Holm)."""
        points = [point for point in TESTED if point in self.points]
        return adjust([self.difference(*pair, point) for pair in pairs for point in points])

    def less_or_more(self, reference: str, others: Iterable[str]) -> dict[str, str]:
        """For each strategy, where it is shown to be worse or better than the reference; all tests are one family."""
        names = list(others)
        tests = self.tested([pair for name in names for pair in ((reference, name), (name, reference))])
        shown = [test for test in tests if (test.adjusted or 1.0) < LEVEL]
        verdicts = {}
        for name in names:
            own = [test for test in shown if name in (test.first, test.second)]
            results = [f"{'worse' if test.first == reference else 'better'} at {test.at:,}" for test in own]
            verdicts[name] = ", ".join(results) or "no difference shown"
        return verdicts

    def row(self, strategy: str) -> list[str]:
        """The means of a strategy with their errors, as text."""
        return [with_error(self.mean(strategy, point)) for point in self.points]

    @property
    def heads(self) -> list[str]:
        """The points, as text."""
        return [f"{point:,}" for point in self.points]


class Ask(NamedTuple):
    """The crawls that a table needs."""

    strategies: Sequence[str]
    topics: Sequence[str]
    start: str = "seeds"
    seeds: int = 0
    """Use only the first `seeds` seeds; 0: all."""
    halves: bool = False
    oracles: bool = False


def crawl(web: BenchWeb, ask: Ask, settings: Settings, into: Curves | None = None) -> Curves:
    """Run the crawls that are missing, and read all of them; adds them to `into` if given."""
    curves = into or Curves(settings.points, {}, {}, {}, {}, {}, web.groups)
    ours = [name for name in ask.strategies if name.startswith(OURS)]
    others = [name for name in ask.strategies if name not in ours]
    arm = f"{web.name}-{ask.start}" + (f"-{ask.seeds}" if ask.seeds else "") + (f"-{settings.pages}")
    for names, suffix in ((others, ""), (ours, f"-{hound_digest()}")):
        if names:
            options = RunOptions(
                topics=list(ask.topics),
                pages=settings.pages,
                seeds_per_run=ask.seeds,
                start=ask.start,
                robustness=ask.halves,
                oracles=ask.oracles and not suffix,
            )
            experiment = run(web.bed, names, settings.work / "runs" / f"{arm}{suffix}", options, jobs=settings.jobs)
            read_crawls(web, experiment, ask, curves)
    return curves


def read_crawls(web: BenchWeb, experiment: Experiment, ask: Ask, into: Curves) -> None:
    outcomes, starts = experiment.outcomes(), load_starts(experiment)
    topics = {topic.id: topic for topic in web.bed.topics}
    into.given.update(experiment.spec.given)
    for cell in experiment.cells:
        is_asked = cell.strategy in ask.strategies or (ask.oracles and cell.oracle)
        if not is_asked or cell.topic not in ask.topics or (cell.half and not ask.halves):
            continue
        outcome = outcomes[cell.key]
        if outcome.error:
            raise RuntimeError(f"{cell.strategy} on {cell.topic}: {outcome.error}")
        topic = starts.get((cell.topic, 0), topics[cell.topic])
        name = f"{cell.strategy} half {cell.half}" if cell.half else cell.strategy
        _add(web, experiment.folder, cell, name, topic, into)
        into.ended[name] = into.ended.get(name, 0) + (outcome.pages < into.points[-1])


def _add(web: BenchWeb, folder: Path, cell: Cell, name: str, topic: BedTopic, into: Curves) -> None:
    trail = load_trail(folder, cell.key)
    aliases = web.prepared.aliases
    targets = frozenset(str(url) for url in topic.targets)
    values = target_recall(trail, targets, topic.seeds, aliases, into.points)
    if values[0] is None:
        return  # all targets are seeds
    into.found.setdefault(name, {})[topic.id] = [value or 0.0 for value in values]
    found_after: dict[str, int] = {}
    for page_number, step in enumerate(trail, 1):
        for url in {str(step.url), str(step.requested or step.url)} & targets:
            found_after.setdefault(url, page_number)
    into.targets.setdefault(name, {})[topic.id] = found_after
    if seconds := load_seconds(folder, cell.key):
        into.seconds.setdefault(name, {})[topic.id] = seconds[-1] + load_training(folder, cell.key)


# ---- output


def size(web: BenchWeb, curves: Curves) -> str:
    topics = list(next(iter(curves.found.values())))
    categories = len({curves.groups[topic] for topic in topics})
    categories_text = f" in {categories} categories" if categories < len(topics) else ""
    return f"**{web.name}**, {len(topics)} topics{categories_text}."


def jaccard(curves: Curves, pairs: Iterable[tuple[str, str]], point: int) -> Mean:
    """The share of targets found by both of two crawls among those found by either: mean over pairs, then over topics.

    Topics where neither of a pair found any are left out for that pair.
    """
    shares: dict[str, list[float]] = {}
    for first, second in pairs:
        for topic, ours in curves.targets[first].items():
            theirs = curves.targets[second][topic]
            a, b = ({url for url, page in found.items() if page <= point} for found in (ours, theirs))
            if a | b:
                shares.setdefault(topic, []).append(len(a & b) / len(a | b))
    return mean([sum(own) / len(own) for own in shares.values()], [curves.groups[topic] for topic in shares])


def number(value: float | None, sign: bool = False) -> str:
    """Three digits, without the 0 before the decimal point.

    >>> number(0.5), number(-0.0123, True), number(1.0), number(None)
    ('.500', '−.012', '1.000', '–')
    """
    if value is None:
        return "–"
    digits = f"{abs(value):.3f}"
    digits = digits[1:] if digits.startswith("0.") else digits
    minus = "−" if value < 0 and float(f"{value:.3f}") else "+" if sign else ""
    return minus + digits


def with_error(value: Mean) -> str:
    return f"{number(value.mean)} ± {number(value.error)}"


def difference_with_error(comparison: Comparison) -> str:
    """The difference, in bold if the first is below the second by more than one standard error."""
    text = f"{number(comparison.paired.mean, True)} ± {number(comparison.paired.error)}"
    return f"**{text}**" if is_below(comparison) else text


def is_below(comparison: Comparison) -> bool:
    """Whether the first is below the second by more than one standard error of the difference."""
    return (comparison.paired.mean or 0.0) < -(comparison.paired.error or 0.0)


def insert_table(document: Path, name: str, text: str) -> None:
    """Replace the text between `<!-- NAME -->` and `<!-- end of NAME -->` of a document."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    old = document.read_text(encoding="utf-8")
    if begin not in old or end not in old:
        raise SystemExit(f"{document} has no place for `{name}`; it needs the lines {begin.strip()} and {end}")
    before, _, rest = old.partition(begin)
    document.write_text(before + begin + text.strip() + "\n" + end + rest.partition(end)[2], encoding="utf-8")
