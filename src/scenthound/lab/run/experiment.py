"""Run an experiment into a folder: strategies x topics x seed numbers under the same limits, one crawl per cell.

    experiment.toml   the specification: bed and digest, strategies, topics, limits, versions
    topics.jsonl      the topics, with their answers
    cells.jsonl       the cells, in order
    starts.jsonl      seeds and targets by topic and seed number, unless crawls start at the topics' own seeds
    trails/ cells/ times/   the files of the cells (`cells`)
    failures.jsonl    cells whose strategy raised an exception, and topics with missing pages
    *.parquet         metrics, once measured (`measure`)

Cells run in parallel processes. Finished cells are skipped, so running an interrupted experiment again resumes it.
All files except `times/` have the same bytes in every run with the same versions on the same CPU, with any number of
processes. On another CPU the pages and their order are the same, and scores may differ in their last digits.
"""

from __future__ import annotations

import gc
import inspect
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.errors import BadConfig, FolderBroken, ScenthoundError
from scenthound.files import make_folder, write_text
from scenthound.lab.beds.bed import Bed, read_topics, topic_line
from scenthound.lab.beds.cache import digest_of, sources_digest
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.beds.prepared import open_for_replay
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.measure.metrics.crawl_pairs import seed_halves
from scenthound.lab.process_pool import ProcessPool
from scenthound.lab.run.cells import (
    Cell,
    Outcome,
    cell_key,
    load_cells,
    load_outcome,
    read_lines,
    save_cell,
    write_lines,
)
from scenthound.lab.run.handover import (
    KINDS,
    Powers,
    given_to_judge,
    given_with_topic,
    read_powers,
    visible_topic,
    withheld_examples,
)
from scenthound.lab.run.oracles import ORACLES, READS_ALL, OracleBed
from scenthound.lab.run.run_cell import CellResult, ReplayLimits, StrategyAccess, run_strategy
from scenthound.lab.run.spec import (
    FILE,
    ExperimentSpec,
    StrategySpec,
    choose_topics,
    load_spec,
    parse_strategies,
    save_spec,
)
from scenthound.lab.run.topic_lessons import lessons_of, syllabus_of
from scenthound.lab.topics.crawl_starts import Start, start_topic
from scenthound.model import Url
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_strategy, named_judge, versions

FORMAT = 2  # raise it when the same cell would get a different trail, so that existing cells are run again
POLITE_FORMAT = 1  # the same, for cells of polite replays only
FOLDERS = ("trails", "cells", "times")
STARTS = "starts.jsonl"
Starts = dict[tuple[str, int], BedTopic]
Progress = Callable[[int, int, Cell, Outcome], None]
"""Called after every cell with the number of cells done, their total, the cell and its outcome."""


class TopicProblem(NamedTuple):
    """Something wrong with a topic. It is recorded; the experiment still runs."""

    topic: str
    what: str
    """`no targets`, `no seeds`, `seeds missing`, `targets missing`, `examples withheld` (they are targets)."""
    urls: tuple[str, ...] = ()
    """The URLs concerned."""
    of: int = 0
    """How many URLs of this kind the topic has."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of an experiment, apart from its strategies."""

    topics: int | str | Sequence[str] | None = None
    """None for all topics of the bed, a number for the first N, or ids."""
    topics_file: str | Path | None = None
    """A file of topics to use instead of the bed's own."""
    pages: int | None = None
    """Overrides `limits.pages`."""
    limits: ReplayLimits = field(default_factory=ReplayLimits)
    cut: Cut = field(default_factory=Cut)
    seed_numbers: Sequence[int] = (0,)
    seeds_per_run: int = 0
    """Start from the first N seeds of a topic; 0: from all."""
    start: str = "seeds"
    """Where crawls start: seeds, examples, neighbours, distance=N or augmented (`lab.topics.crawl_starts`)."""
    robustness: bool = False
    """Also crawl from two halves of the seeds."""
    oracles: bool = True
    """Also run the reference crawls of `oracles`."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The experiment in a folder, finished or not."""

    folder: Path
    spec: ExperimentSpec
    cells: tuple[Cell, ...]
    topics: tuple[BedTopic, ...]
    problems: tuple[TopicProblem, ...]

    def outcomes(self) -> dict[str, Outcome]:
        """The outcomes of the cells that are done, by key."""
        loaded = {cell.key: load_outcome(self.folder, cell.key) for cell in self.cells}
        return {key: outcome for key, outcome in loaded.items() if outcome is not None}

    def failures(self) -> list[tuple[Cell, Outcome]]:
        done = self.outcomes()
        return [(cell, done[cell.key]) for cell in self.cells if cell.key in done and done[cell.key].error]

    def bed(self, jobs: int = 2) -> ReplayBed:
        """The prepared bed that the cells ran on. Raises `BadConfig` if the bed is missing or has changed."""
        web = Bed.open(self.spec.bed)
        if digest_of(web) != self.spec.digest:
            raise BadConfig(
                f"the bed {self.spec.bed} has changed since {self.folder} was made", "run a new experiment on it"
            )
        return open_for_replay(web, self.spec.cut, jobs)


class _Task(NamedTuple):
    cell: Cell
    topic: BedTopic
    seeds: tuple[Url, ...]
    strategy: StrategySpec
    limits: ReplayLimits
    powers: Powers = Powers()


def run(
    bed: Bed | str | Path,
    strategies: str | Sequence[str | StrategySpec],
    out: str | Path,
    options: RunOptions | None = None,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    preparing: Callable[[int], None] | None = None,
) -> Experiment:
    """Run the missing cells of an experiment and return the whole experiment.

    If the folder already holds an experiment with the same bed and limits, new strategies, topics and seed numbers are
    added to it; if bed or limits differ, this raises `BadConfig`. On `KeyboardInterrupt`, running cells are finished
    and kept.
    """
    options = options or RunOptions()
    web = bed if isinstance(bed, Bed) else Bed.open(bed)
    limits = options.limits if options.pages is None else replace(options.limits, pages=options.pages)
    strategy_specs = parse_strategies(strategies)
    available_topics = web.topics if options.topics_file is None else read_topics(Path(options.topics_file), web.faults)
    topics = choose_topics(available_topics, options.topics)
    if not topics:
        raise BadConfig(f"no topics in {web.folder}", "an experiment needs at least one; see topics.jsonl")
    prepared = open_for_replay(web, options.cut, max(jobs, 1), preparing)
    spec = ExperimentSpec(
        bed=str(web.folder),
        name=web.name,
        digest=digest_of(web),
        prepared=prepared.key,
        cut=options.cut,
        limits=limits,
        strategies=tuple(strategy.label for strategy in strategy_specs),
        topics=tuple(topic.id for topic in topics),
        seed_numbers=tuple(options.seed_numbers),
        seeds_per_run=options.seeds_per_run,
        robustness=options.robustness,
        oracles=options.oracles,
        start=str(Start.parse(options.start)),
        versions=versions(),
    )
    lab = _Lab(prepared, tuple(available_topics))
    starts = _starts(spec, topics, prepared)
    judge, visible = named_judge(limits.judge), [visible_topic(topic, prepared.aliases) for topic in starts.values()]
    spec = replace(spec, judge_given=given_to_judge(visible, judge))
    tasks = list(_plan(spec, strategy_specs, topics, starts, lab))
    problems = check_topics(prepared, [starts[topic.id, 0] for topic in topics])
    experiment = open_folder(Path(out), spec, [task.cell for task in tasks], topics, problems)
    _save_starts(experiment, starts)
    try:
        _run_all(experiment, tasks, lab, jobs, progress)
    finally:
        _save_failures(experiment)
        experiment = _save_given(experiment, set(spec.strategies))
    return experiment


def open_experiment(folder: str | Path) -> Experiment:
    """Open the experiment in a folder. Raises `BadConfig` if there is none."""
    folder = Path(folder)
    spec = load_spec(folder)
    cells, topics = load_cells(folder / "cells.jsonl"), tuple(read_topics(folder / "topics.jsonl", []))
    lines = read_lines(folder / "failures.jsonl")
    try:
        problems = tuple(
            TopicProblem(line["topic"], line["what"], tuple(line["urls"]), line["of"])
            for line in lines
            if "what" in line
        )
    except (KeyError, TypeError):
        raise FolderBroken(folder / "failures.jsonl", "can't be used", "delete it: the next run writes it") from None
    if missing_ids := {cell.topic for cell in cells} - {topic.id for topic in topics}:
        raise FolderBroken(folder / "topics.jsonl", f"lacks the topic `{min(missing_ids)}`", "put the original back")
    return Experiment(folder, spec, cells, topics, problems)


def check_topics(bed: ReplayBed, topics: Iterable[BedTopic]) -> list[TopicProblem]:
    """List the topics' seeds and targets that the bed lacks, and the examples that are hidden from strategies."""
    problems: list[TopicProblem] = []
    for topic in topics:
        for name, urls in (("targets", topic.targets), ("seeds", topic.seeds)):
            missing = tuple(url for url in urls if url not in bed)
            if not urls or (name == "seeds" and len(missing) == len(urls)):
                problems.append(TopicProblem(topic.id, f"no {name}", missing, len(urls)))
            elif missing:
                problems.append(TopicProblem(topic.id, f"{name} missing", missing, len(urls)))
        if hidden := withheld_examples(topic, bed.aliases):
            problems.append(TopicProblem(topic.id, "examples withheld", hidden, len(topic.examples)))
    return problems


def run_seeds(topic: BedTopic, seeds_per_run: int = 0, half: int = 0, seed_number: int = 0) -> tuple[Url, ...]:
    """The seeds that a cell starts from: the first N, or one of two random halves of them."""
    seeds = topic.seeds[:seeds_per_run] if seeds_per_run > 0 else topic.seeds
    if not half:
        return seeds
    halves = seed_halves(seeds, random.Random(f"{seed_number}:{topic.id}"))
    return tuple(map(Url, halves[half - 1]))


def _starts(spec: ExperimentSpec, topics: Sequence[BedTopic], bed: ReplayBed) -> Starts:
    """Each topic with the seeds and targets of its crawls, by id and seed number. Oracles use seed number 0."""
    start = Start.parse(spec.start)
    seed_numbers = {0, *spec.seed_numbers}
    return {(topic.id, number): start_topic(bed, topic, start, number) for topic in topics for number in seed_numbers}


def _save_starts(experiment: Experiment, starts: Starts) -> None:
    if experiment.spec.start == str(Start()):
        return
    merged = {**load_starts(experiment), **starts}
    rows = [
        {"topic": name, "seed_number": number, "seeds": topic.seeds, "targets": topic.targets}
        for (name, number), topic in merged.items()
    ]
    write_lines(experiment.folder / STARTS, rows)


def load_starts(experiment: Experiment) -> Starts:
    """The topics with the seeds and targets of their crawls, by id and seed number; empty if they are the topics' own.

    `experiment.topics` has the original topics.
    """
    topics = {topic.id: topic for topic in experiment.topics}
    starts: Starts = {}
    for row in read_lines(experiment.folder / STARTS):
        topic = topics[row["topic"]]
        seeds, targets = (tuple(map(Url, row[name])) for name in ("seeds", "targets"))
        starts[topic.id, row["seed_number"]] = replace(topic, seeds=seeds, targets=targets, examples=(), neighbours=())
    return starts


def _plan(
    spec: ExperimentSpec,
    strategies: Sequence[StrategySpec],
    topics: Sequence[BedTopic],
    starts: Starts,
    lab: _Lab,
) -> Iterator[_Task]:
    """The cells of each topic in turn, by strategy, seed number and half; its oracles last."""
    code = {strategy.label: plugin_digest(strategy.name) for strategy in strategies}
    powers = {strategy.label: read_powers(make_strategy(strategy.name, strategy.parameters)) for strategy in strategies}
    judge = named_judge(spec.limits.judge)
    base = {"format": FORMAT, "bed": spec.digest, "prepared": spec.prepared, "limits": spec.limits.as_plain()}
    if spec.limits.polite is not None:
        base["polite format"] = POLITE_FORMAT
    if spec.start != str(Start()):
        base["start"] = spec.start
    for bed_topic in topics:
        halves = (0, 1, 2) if spec.robustness and len(bed_topic.seeds) > 1 else (0,)
        for strategy, seed_number, half in product(strategies, spec.seed_numbers, halves):
            topic = starts[bed_topic.id, seed_number]
            visible = visible_topic(topic, lab.bed.aliases)
            label, power = strategy.label, powers[strategy.label]
            seeds = run_seeds(topic, spec.seeds_per_run, half, seed_number)
            determined_by: list[Any] = [
                base,
                code[label],
                strategy.name,
                strategy.all_parameters,
                topic.id,
                asdict(visible),
                seeds,
            ]
            determined_by += [seed_number, {"trains": power.trains, "oracle": power.oracle}]
            if kinds := given_with_topic(visible, power, judge):
                determined_by.append(kinds)
            if code[label]:  # earlier versions gave a plug-in every topic's name and examples
                determined_by.append("what it declares")
            if power.trains:
                determined_by.append(syllabus_of(lab.bed, topic, lab.topics, seeds).plain)
            key = cell_key(label, topic.id, seed_number, half, determined_by)
            yield _Task(Cell(key, label, topic.id, seed_number, half), topic, seeds, strategy, spec.limits, power)
        topic = starts[bed_topic.id, 0]
        for name in ORACLES if spec.oracles else ():
            if name in READS_ALL and not lab.bed.has_terms:
                continue
            seeds = run_seeds(topic, spec.seeds_per_run)
            key = cell_key(name, topic.id, 0, 0, [base, name, topic_line(topic), seeds])
            yield _Task(Cell(key, name, topic.id, oracle=True), topic, seeds, StrategySpec(name), spec.limits)


def plugin_digest(name: str) -> str:
    """A digest of a plug-in strategy's source; changes of our own strategies are covered by `FORMAT`."""
    modules = {kind.__module__ for kind in inspect.getmro(STRATEGIES.get(name)) if kind is not object} - {"__main__"}
    return sources_digest(sorted(module for module in modules if not module.startswith("scenthound.")))


def open_folder(
    folder: Path, spec: ExperimentSpec, cells: list[Cell], topics: Sequence[BedTopic], problems: Sequence[TopicProblem]
) -> Experiment:
    """Write the specification, topics and cells, merged with those of earlier runs in this folder."""
    if (folder / FILE).exists():
        before = open_experiment(folder)
        if reason := before.spec.conflict(spec):
            raise BadConfig(f"{folder} holds an experiment that can't be compared: {reason}", "give another --out")
        cells = _merge_cells(before.cells, cells)
        topics = list({topic.id: topic for topic in (*before.topics, *topics)}.values())
        problems = list(dict.fromkeys((*(old for old in before.problems if old.topic not in spec.topics), *problems)))
        spec = replace(
            spec,
            strategies=_union(before.spec.strategies, spec.strategies),
            topics=_union(before.spec.topics, spec.topics),
            seed_numbers=tuple(sorted({*before.spec.seed_numbers, *spec.seed_numbers})),
            robustness=before.spec.robustness or spec.robustness,
            oracles=before.spec.oracles or spec.oracles,
            given=before.spec.given,
            judge_given=_union(before.spec.judge_given, spec.judge_given),
        )
    for name in FOLDERS:
        make_folder(folder / name)
    write_text(folder / "topics.jsonl", "".join(map(topic_line, topics)))
    write_lines(folder / "cells.jsonl", [cell.about for cell in cells])
    save_spec(folder, spec)
    return Experiment(folder, spec, tuple(cells), tuple(topics), tuple(problems))


def _merge_cells(before: Iterable[Cell], cells: Iterable[Cell]) -> list[Cell]:
    """The cells of both lists; a new cell replaces an old one with the same strategy, topic, seed number and half."""
    merged = {(cell.strategy, cell.topic, cell.seed_number, cell.half): cell for cell in before}
    merged.update({(cell.strategy, cell.topic, cell.seed_number, cell.half): cell for cell in cells})
    return list(merged.values())


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _run_all(experiment: Experiment, tasks: Sequence[_Task], lab: _Lab, jobs: int, progress: Progress | None) -> None:
    """Run the tasks that are not done. Failed tasks run again: their strategies may have been fixed."""
    loaded = [(task, load_outcome(experiment.folder, task.cell.key)) for task in tasks]
    finished = [(task.cell, outcome) for task, outcome in loaded if outcome is not None and not outcome.error]
    missing = [task for task, outcome in loaded if outcome is None or outcome.error]
    results = _run_missing(experiment.folder, missing, lab, jobs)
    for done, (cell, outcome) in enumerate(chain(finished, results), 1):
        if progress is not None:
            progress(done, len(tasks), cell, outcome)


def _run_missing(folder: Path, tasks: Sequence[_Task], lab: _Lab, jobs: int) -> Iterator[tuple[Cell, Outcome]]:
    if jobs < 2 or len(tasks) < 2:
        for task in tasks:
            yield task.cell, _run_task(lab, folder, task)
        return
    pool = ProcessPool(min(jobs, len(tasks)), _open_lab, (lab.bed.reopen, lab.topics))
    try:
        futures: dict[Future[Outcome], Cell] = {pool.call(_run_task, folder, task): task.cell for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise ScenthoundError(
            "a process of the experiment was killed, perhaps for lack of memory",
            "run it again to resume, with fewer --jobs",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)  # running cells are finished and kept


class _Lab:
    """What all tasks of a process share: the open bed and all its topics."""

    def __init__(self, bed: ReplayBed, topics: tuple[BedTopic, ...]) -> None:
        self.bed, self.topics, self.oracle_bed = bed, topics, OracleBed(bed)


def _open_lab(reopen: Callable[[], ReplayBed], topics: tuple[BedTopic, ...]) -> _Lab:
    """Set up a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C: running cells are finished
    lab = _Lab(reopen(), topics)
    gc.freeze()  # the bed's tables live as long as the process: the collector need not scan them
    gc.set_threshold(50_000, 20, 100)  # a frontier is many small tuples without cycles; the default costs 30% of a run
    return lab


def _run_task(lab: _Lab, folder: Path, task: _Task) -> Outcome:
    return save_cell(folder, task.cell.key, _result(lab, task))


def _result(lab: _Lab, task: _Task) -> CellResult:
    topic, seeds, limits = task.topic, task.seeds, task.limits
    if task.cell.oracle:
        pages = min(limits.pages, limits.requests or limits.pages)  # an oracle requests only pages that exist
        return ORACLES[task.strategy.name](lab.oracle_bed, topic, pages, seeds)
    strategy = make_strategy(task.strategy.name, task.strategy.parameters)
    access = StrategyAccess(
        lambda: lessons_of(lab.bed, topic, lab.topics, seeds), powers=task.powers, originals=topic.originals
    )
    visible = visible_topic(topic, lab.bed.aliases)
    return run_strategy(lab.bed, visible, strategy, seeds, limits, task.cell.seed_number, access)


def _save_given(experiment: Experiment, labels: set[str]) -> Experiment:
    """Save what the lab gave the strategies with these labels, as recorded in their cells."""
    done, given = experiment.outcomes(), dict(experiment.spec.given)
    for label in sorted(labels):
        recorded = {
            kind
            for cell in experiment.cells
            if cell.strategy == label and cell.key in done
            for kind in done[cell.key].given
        }
        given.pop(label, None)
        if recorded:
            given[label] = tuple(kind for kind in KINDS if kind in recorded)
    given = {label: given[label] for label in experiment.spec.strategies if label in given}
    saved = replace(experiment, spec=replace(experiment.spec, given=given))
    save_spec(saved.folder, saved.spec)
    return saved


def _save_failures(experiment: Experiment) -> None:
    rows: list[dict[str, Any]] = [problem._asdict() for problem in experiment.problems]
    for cell, outcome in experiment.failures():
        rows.append({**cell.about, "pages": outcome.pages, "error": outcome.error})
    write_lines(experiment.folder / "failures.jsonl", rows)
