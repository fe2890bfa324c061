"""An experiment: strategies x topics x seed numbers under the same limits, one crawl a cell, in a folder.

    experiment.toml   what was asked: bed and digest, strategies, topics, limits, versions
    topics.jsonl      the topics, with their answers
    cells.jsonl       the cells in their order
    trails/ cells/ times/   the cells' files (`cells`)
    failures.jsonl    cells whose strategy raised, and topics with something missing
    *.parquet         metrics, once measured (`measure`)

Cells run in parallel processes and are skipped when already there, so an interrupted experiment is run again to go
on. Everything but `times/` is byte for byte the same whenever and with however many processes it is run.
"""

from __future__ import annotations

import gc
import inspect
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.errors import BadConfig, ScenthoundError
from scenthound.files import make_folder, write_text
from scenthound.lab.beds.bed import Bed, BedTopic, read_topics, topic_line
from scenthound.lab.beds.cache import digest_of, sources_digest
from scenthound.lab.beds.prepare_pages import Cut
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.measure.metrics.pairs import seed_halves
from scenthound.lab.run.cells import Cell, Outcome, cell_key, load_outcome, read_lines, save_cell, write_lines
from scenthound.lab.run.handover import KINDS, Powers, read_powers, told_topic, withheld
from scenthound.lab.run.lessons import syllabus_of
from scenthound.lab.run.oracles import ORACLES
from scenthound.lab.run.request import (
    FILE,
    Chosen,
    ExperimentRequest,
    choose_topics,
    load_request,
    parse_strategies,
    save_request,
)
from scenthound.lab.run.run_cell import CellResult, ReplayLimits, run_cell
from scenthound.model import Url
from scenthound.processes import ProcessPool
from scenthound.strategies import STRATEGIES
from scenthound.wiring import make_strategy, versions

FORMAT = 1  # of a cell; raise it when the same crawl would be another, so that it is run again
FOLDERS = ("trails", "cells", "times")
Progress = Callable[[int, int, Cell, Outcome], None]
"""Called after every cell with how many are done, how many there are, the cell and what came of it."""


class Trouble(NamedTuple):
    """Something wrong with a topic: named and counted, and the rest goes on."""

    topic: str
    what: str
    """`no targets`, `no seeds`, `seeds missing`, `targets missing`, `examples withheld` (they are targets)."""
    urls: tuple[str, ...] = ()
    of: int = 0


@dataclass(frozen=True, slots=True)
class Experiment:
    """A folder with an experiment in it, as far as it has come."""

    folder: Path
    request: ExperimentRequest
    cells: tuple[Cell, ...]
    topics: tuple[BedTopic, ...]
    troubles: tuple[Trouble, ...]

    def outcomes(self) -> dict[str, Outcome]:
        """What came of the cells that are done, by key."""
        found = {cell.key: load_outcome(self.folder, cell.key) for cell in self.cells}
        return {key: outcome for key, outcome in found.items() if outcome is not None}

    def failures(self) -> list[tuple[Cell, Outcome]]:
        done = self.outcomes()
        return [(cell, done[cell.key]) for cell in self.cells if cell.key in done and done[cell.key].error]

    def bed(self, jobs: int = 2) -> PreparedBed:
        """The prepared bed the cells ran on; raises `BadConfig` where the bed is gone or is another one now."""
        web = Bed.open(self.request.bed)
        if digest_of(web) != self.request.digest:
            raise BadConfig(
                f"the bed {self.request.bed} has changed since {self.folder} was made", "run the experiment on it anew"
            )
        return prepare(web, self.request.cut, jobs)


class _Task(NamedTuple):
    cell: Cell
    topic: BedTopic
    seeds: tuple[Url, ...]
    chosen: Chosen
    limits: ReplayLimits
    powers: Powers = Powers()


def run(
    bed: Bed | str | Path,
    strategies: str | Sequence[str | Chosen],
    out: str | Path,
    *,
    topics: int | str | Sequence[str] | None = None,
    topics_file: str | Path | None = None,
    pages: int | None = None,
    limits: ReplayLimits | None = None,
    cut: Cut | None = None,
    seed_numbers: Sequence[int] = (0,),
    seeds_per_run: int = 0,
    robustness: bool = False,
    oracles: bool = True,
    jobs: int = 1,
    progress: Progress | None = None,
    preparing: Callable[[int], None] | None = None,
) -> Experiment:
    """Run what is missing of an experiment and give it back whole.

    A folder that holds an experiment on the same bed under the same limits takes new strategies, topics and seed
    numbers in; under others it is refused. `KeyboardInterrupt` passes through after cells under way have been
    finished and kept.
    """
    web = bed if isinstance(bed, Bed) else Bed.open(bed)
    limits = limits or ReplayLimits()
    limits = limits if pages is None else replace(limits, pages=pages)
    chosen = parse_strategies(strategies)
    listed = web.topics if topics_file is None else read_topics(Path(topics_file), web.faults)
    picked = choose_topics(listed, topics)
    if not picked:
        raise BadConfig(f"no topics in {web.folder}", "an experiment needs at least one; see topics.jsonl")
    prepared = prepare(web, cut, max(jobs, 1), preparing)
    request = ExperimentRequest(
        bed=str(web.folder),
        name=web.name,
        digest=digest_of(web),
        prepared=prepared.folder.name,
        cut=cut or Cut(),
        limits=limits,
        strategies=tuple(one.label for one in chosen),
        topics=tuple(topic.id for topic in picked),
        seed_numbers=tuple(seed_numbers),
        seeds_per_run=seeds_per_run,
        robustness=robustness,
        oracles=oracles,
        versions=versions(),
    )
    folder = Path(out)
    tasks = list(_plan(request, chosen, picked, prepared, listed))
    troubles = check_topics(prepared, picked)
    experiment = _open_folder(folder, request, [task.cell for task in tasks], picked, troubles)
    try:
        _run_all(experiment, tasks, prepared, listed, jobs, progress)
    finally:
        _note_failures(experiment)
        experiment = _note_given(experiment, {one.label for one in chosen})
    return experiment


def open_experiment(folder: str | Path) -> Experiment:
    """The experiment in a folder. Raises `BadConfig` where there is none."""
    folder = Path(folder)
    request = load_request(folder)
    cells = tuple(Cell(**fields) for fields in read_lines(folder / "cells.jsonl"))
    notes = read_lines(folder / "failures.jsonl")
    troubles = tuple(
        Trouble(note["topic"], note["what"], tuple(note["urls"]), note["of"]) for note in notes if "what" in note
    )
    return Experiment(folder, request, cells, tuple(read_topics(folder / "topics.jsonl", [])), troubles)


def check_topics(bed: PreparedBed, topics: Iterable[BedTopic]) -> list[Trouble]:
    """What these topics need and the bed lacks, and which of their examples no strategy is told."""
    found: list[Trouble] = []
    for topic in topics:
        for name, urls in (("targets", topic.targets), ("seeds", topic.seeds)):
            gone = tuple(url for url in urls if url not in bed)
            if not urls or (name == "seeds" and len(gone) == len(urls)):
                found.append(Trouble(topic.id, f"no {name}", gone, len(urls)))
            elif gone:
                found.append(Trouble(topic.id, f"{name} missing", gone, len(urls)))
        if away := withheld(topic, bed.aliases):
            found.append(Trouble(topic.id, "examples withheld", away, len(topic.examples)))
    return found


def run_seeds(topic: BedTopic, seeds_per_run: int = 0, half: int = 0, seed_number: int = 0) -> tuple[Url, ...]:
    """The seeds that a cell starts from: the first N, or one of two halves drawn by lot from them."""
    seeds = topic.seeds[:seeds_per_run] if seeds_per_run > 0 else topic.seeds
    if not half:
        return seeds
    halves = seed_halves(seeds, random.Random(f"{seed_number}:{topic.id}"))
    return tuple(map(Url, halves[half - 1]))


def _plan(
    request: ExperimentRequest,
    chosen: Sequence[Chosen],
    topics: Sequence[BedTopic],
    bed: PreparedBed,
    listed: Sequence[BedTopic],
) -> Iterator[_Task]:
    """The cells in the order of topics, then strategies, seed numbers and halves; oracles last."""
    code = {one.label: plugin_digest(one.name) for one in chosen}
    powers = {one.label: read_powers(make_strategy(one.name, one.parameters)) for one in chosen}
    base = {"format": FORMAT, "bed": request.digest, "prepared": request.prepared, "limits": asdict(request.limits)}
    for topic in topics:
        told = asdict(told_topic(topic, bed.aliases))
        for one in chosen:
            for number in request.seed_numbers:
                for half in (0, 1, 2) if request.robustness and len(topic.seeds) > 1 else (0,):
                    seeds = run_seeds(topic, request.seeds_per_run, half, number)
                    known = [base, code[one.label], one.name, one.settled, topic.id, told, seeds, number]
                    known.append(asdict(powers[one.label]))
                    if powers[one.label].trains:
                        known.append(syllabus_of(bed, topic, listed, seeds).plain)
                    key = cell_key(one.label, topic.id, number, half, known)
                    cell = Cell(key, one.label, topic.id, number, half)
                    yield _Task(cell, topic, seeds, one, request.limits, powers[one.label])
        for name in ORACLES if request.oracles else ():
            seeds = run_seeds(topic, request.seeds_per_run)
            known = [base, name, topic_line(topic), seeds]
            key = cell_key(name, topic.id, 0, 0, known)
            yield _Task(Cell(key, name, topic.id, oracle=True), topic, seeds, Chosen(name), request.limits)


def plugin_digest(name: str) -> str:
    """A digest of a strategy's source, if somebody else wrote it; ours are covered by `FORMAT`."""
    modules = {kind.__module__ for kind in inspect.getmro(STRATEGIES.get(name)) if kind is not object} - {"__main__"}
    return sources_digest(sorted(module for module in modules if not module.startswith("scenthound.")))


def _open_folder(
    folder: Path, request: ExperimentRequest, cells: list[Cell], topics: Sequence[BedTopic], troubles: Sequence[Trouble]
) -> Experiment:
    """Write what is to be done, together with what earlier runs in this folder did."""
    if (folder / FILE).exists():
        before = open_experiment(folder)
        if reason := before.request.conflict(request):
            raise BadConfig(f"{folder} holds an experiment that can't be compared: {reason}", "give another --out")
        cells = _merged(before.cells, cells)
        topics = list({topic.id: topic for topic in (*before.topics, *topics)}.values())
        troubles = list(dict.fromkeys((*(t for t in before.troubles if t.topic not in request.topics), *troubles)))
        request = replace(
            request,
            strategies=_union(before.request.strategies, request.strategies),
            topics=_union(before.request.topics, request.topics),
            seed_numbers=tuple(sorted({*before.request.seed_numbers, *request.seed_numbers})),
            robustness=before.request.robustness or request.robustness,
            oracles=before.request.oracles or request.oracles,
            given=before.request.given,
        )
    for name in FOLDERS:
        make_folder(folder / name)
    write_text(folder / "topics.jsonl", "".join(map(topic_line, topics)))
    write_lines(folder / "cells.jsonl", [cell.about for cell in cells])
    save_request(folder, request)
    return Experiment(folder, request, tuple(cells), tuple(topics), tuple(troubles))


def _merged(before: Iterable[Cell], cells: Iterable[Cell]) -> list[Cell]:
    """Cells by what they are of: one made by older code gives way to the one that replaces it."""
    merged = {(cell.strategy, cell.topic, cell.seed_number, cell.half): cell for cell in before}
    merged.update({(cell.strategy, cell.topic, cell.seed_number, cell.half): cell for cell in cells})
    return list(merged.values())


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _run_all(
    experiment: Experiment,
    tasks: Sequence[_Task],
    bed: PreparedBed,
    topics: Sequence[BedTopic],
    jobs: int,
    progress: Progress | None,
) -> None:
    folder, total = experiment.folder, len(tasks)
    missing: list[_Task] = []
    done = 0
    for task in tasks:
        outcome = load_outcome(folder, task.cell.key)
        if outcome is None or outcome.error:  # a strategy that raised may have been mended where we can't see it
            missing.append(task)
            continue
        done += 1
        if progress is not None:
            progress(done, total, task.cell, outcome)
    for cell, outcome in _worked(folder, missing, bed, topics, jobs):
        done += 1
        if progress is not None:
            progress(done, total, cell, outcome)


def _worked(
    folder: Path, tasks: Sequence[_Task], bed: PreparedBed, topics: Sequence[BedTopic], jobs: int
) -> Iterator[tuple[Cell, Outcome]]:
    if jobs < 2 or len(tasks) < 2:
        for task in tasks:
            yield task.cell, _do(folder, bed, topics, task)
        return
    pool = ProcessPool(min(jobs, len(tasks)), _begin, (bed.folder, tuple(topics)))
    try:
        futures: dict[Future[Outcome], Cell] = {pool.submit(_do_here, folder, task): task.cell for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise ScenthoundError(
            "a process of the experiment was killed, perhaps for want of memory",
            "run it again to go on, with fewer --jobs",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)  # those under way are finished and kept


_bed: PreparedBed | None = None  # each worker process opens the bed once
_topics: Sequence[BedTopic] = ()


def _begin(folder: Path, topics: Sequence[BedTopic]) -> None:
    global _bed, _topics
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer: cells are finished, not torn
    _bed, _topics = PreparedBed(folder), topics
    gc.freeze()  # the bed's tables live as long as the process: no need to look through them again and again
    gc.set_threshold(50_000, 20, 100)  # a frontier is many small tuples that are no cycles; 30% of the time otherwise


def _do_here(folder: Path, task: _Task) -> Outcome:
    assert _bed is not None
    return _do(folder, _bed, _topics, task)


def _do(folder: Path, bed: PreparedBed, topics: Sequence[BedTopic], task: _Task) -> Outcome:
    return save_cell(folder, task.cell.key, _result(bed, topics, task))


def _result(bed: PreparedBed, topics: Sequence[BedTopic], task: _Task) -> CellResult:
    if task.cell.oracle:
        return ORACLES[task.chosen.name](bed, task.topic, task.limits.pages, task.seeds)
    parameters: dict[str, Any] = dict(task.chosen.parameters)
    number = task.cell.seed_number
    return run_cell(bed, task.topic, task.chosen.name, parameters, task.limits, number, task.seeds, topics, task.powers)


def _note_given(experiment: Experiment, labels: set[str]) -> Experiment:
    """Write down what the lab handed to the strategies of these labels, by the record of their cells."""
    done, given = experiment.outcomes(), dict(experiment.request.given)
    for label in sorted(labels):
        cells = [done[cell.key].given for cell in experiment.cells if cell.strategy == label and cell.key in done]
        kinds = tuple(kind for kind in KINDS if any(kind in one for one in cells))
        given.pop(label, None)
        if kinds:
            given[label] = kinds
    given = {label: given[label] for label in experiment.request.strategies if label in given}
    noted = replace(experiment, request=replace(experiment.request, given=given))
    save_request(noted.folder, noted.request)
    return noted


def _note_failures(experiment: Experiment) -> None:
    rows: list[dict[str, Any]] = [trouble._asdict() for trouble in experiment.troubles]
    for cell, outcome in experiment.failures():
        rows.append({**cell.about, "pages": outcome.pages, "error": outcome.error})
    write_lines(experiment.folder / "failures.jsonl", rows)
