"""Plug-ins that try to cheat in the lab gain nothing and spoil nothing for other strategies."""

from __future__ import annotations

import gc
import json
import random
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from scenthound.cli.root_command import run as run_command
from scenthound.errors import PartMissing
from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.measure.compare_crawlers import Question, as_json, compare_within, measure_if_stale, non_oracles
from scenthound.lab.measure.metrics.targets import target_recall
from scenthound.lab.report.experiment_report import write_report
from scenthound.lab.run.experiment import Experiment, RunOptions, check_topics, open_experiment, run
from scenthound.lab.run.handover import EXAMPLE_URLS, UNFETCHED, VERDICTS, LoanEnded, read_powers, visible_topic
from scenthound.lab.run.run_cell import CellResult, ReplayLimits, StrategyAccess, run_cell, run_strategy
from scenthound.lab.run.topic_lessons import lessons_of
from scenthound.lab.testing import page_of
from scenthound.model import Candidate, Response, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Parts, Record
from scenthound.page.views import KEPT
from scenthound.page.views.anchors import (
    anchor_tokens,
    heading_leaves,
    link_leaves,
    term_positions,
    token_terms,
    window_counts,
)
from scenthound.page.views.elements import element_counts, surroundings, tag_path
from scenthound.ports import Declaration, Lessons, declaration_of
from scenthound.strategies import STRATEGIES, strategy
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic
from scenthound.wiring import make_strategy

WEB = GeneratedWeb(pages=300, seed=3)
LIMITS = ReplayLimits(pages=60)


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Bed:
    return write_bed(tmp_path_factory.mktemp("web") / "bed", "web", WEB.responses(), WEB.topics[:4])


@pytest.fixture
def bed(web: Bed) -> PreparedBed:
    return prepare(web)


# ---- (a) the topic


@strategy("test-cheat-examples")
@dataclass
class AsksForExamples(BreadthFirst):
    """Fetches the topic's examples first, and says so."""

    @property
    def declaration(self) -> Declaration:
        return Declaration(topic_examples=True)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.topic_ = topic
        return [Candidate(Url(url), 1e9) for url in topic.examples] + list(super().start(topic, seeds))


@strategy("test-silent-examples")
@dataclass
class SilentlyAsksForExamples(AsksForExamples):
    """The same without saying so."""

    @property
    def declaration(self) -> Declaration:
        return Declaration()

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        self.lessons_topic_ = lessons.topic

    def model(self) -> Mapping[str, Any]:
        return {}

    def use(self, model: Mapping[str, Any]) -> None: ...


@strategy("test-takes-verdicts")
@dataclass
class LearnsFromVerdicts(BreadthFirst):
    """Gets the judge's verdicts."""

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None: ...


@judge("test-examples")
@dataclass
class KnowsExamples:
    """Rates the topic's examples as relevant, and nothing else."""

    uses_examples: ClassVar[bool] = True

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.examples_ = frozenset(topic.examples)

    def judge(self, page: Page) -> Verdict:
        is_relevant = page.url in self.examples_
        return Verdict(float(is_relevant), is_relevant)

    def doubts(self) -> list[str]:
        return []


@judge("test-silent-judge")
@dataclass
class SilentJudge(KnowsExamples):
    """The same without saying so."""

    uses_examples: ClassVar[bool] = False


def test_only_a_strategy_that_declares_it_gets_the_examples_of_a_topic(bed: PreparedBed) -> None:
    topic = WEB.topics[0]
    assert topic.examples
    declared, silent, plain = (
        run_cell(bed, topic, name, limits=LIMITS, topics=WEB.topics)
        for name in ("test-cheat-examples", "test-silent-examples", "breadth-first")
    )
    assert set(declared.visited[: len(topic.seeds) + len(topic.examples)]) == {*topic.seeds, *topic.examples}
    assert declared.given == (EXAMPLE_URLS,)
    assert silent.visited == plain.visited
    assert silent.given == plain.given == ()


def test_every_other_field_of_a_topic_stays_in_the_lab(bed: PreparedBed) -> None:
    topic = replace(WEB.topics[0], path=("insects", "bees"), neighbours=WEB.topics[0].targets[:2], originals=())
    crawler = SilentlyAsksForExamples()
    access = StrategyAccess(lessons=lambda: lessons_of(bed, topic, WEB.topics))
    run_strategy(bed, visible_topic(topic, bed.aliases), crawler, topic.seeds, LIMITS, access=access)
    keywords_only = Topic(topic.keywords, looking_for=topic.looking_for)
    assert crawler.topic_ == keywords_only, "no name, description, examples or categories"
    assert crawler.lessons_topic_ == keywords_only


def test_a_judge_gets_the_examples_only_if_it_declares_it(bed: PreparedBed) -> None:
    names = ("test-examples", "test-silent-judge", "test-examples")
    crawlers = ("test-cheat-examples", "test-cheat-examples", "test-takes-verdicts")
    told, silent, heard = (
        run_cell(bed, WEB.topics[0], crawler, limits=replace(LIMITS, judge=name))
        for name, crawler in zip(names, crawlers, strict=True)
    )
    assert sum(step.relevant for step in told.steps) == len(WEB.topics[0].examples)
    assert not any(step.relevant for step in silent.steps)
    assert heard.given == (VERDICTS,), "its strategy may learn the examples from the verdicts"


def test_the_experiment_names_all_that_got_examples(
    web: Bed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = "test-cheat-examples,test-silent-examples,test-takes-verdicts,breadth-first"
    options = RunOptions(topics=1, limits=ReplayLimits(pages=20, judge="test-examples"), oracles=False)
    run(web, names, tmp_path / "run", options)
    experiment = open_experiment(tmp_path / "run")
    assert experiment.spec.given == {"test-cheat-examples": (EXAMPLE_URLS,), "test-takes-verdicts": (VERDICTS,)}
    assert experiment.spec.judge_given == (EXAMPLE_URLS,)
    measure_if_stale(experiment, [20])
    report = write_report(experiment, [20]).read_text()
    for name, kind in (
        ("test-cheat-examples", EXAMPLE_URLS),
        ("test-takes-verdicts", VERDICTS),
        ("judge test-examples", EXAMPLE_URLS),
    ):
        assert f"<code>{name}</code>: {kind}" in report
    assert "<code>test-silent-examples</code>: " not in report
    folder = str(tmp_path / "run")
    assert run_command(["lab", "measure", folder]) == 0
    assert run_command(["lab", "compare", folder, "test-cheat-examples", "breadth-first"]) == 0
    said = capsys.readouterr()
    assert "judge test-examples" in said.out
    assert f"test-cheat-examples was given, besides keywords and seeds: {EXAMPLE_URLS}" in said.err


def test_our_strategies_that_use_examples_declare_it() -> None:
    by_default = {name for name, kind in STRATEGIES.items() if declaration_of(kind()).topic_examples}
    assert {name for name in by_default if not name.startswith("test-")} == {
        name for name in STRATEGIES.names() if name.startswith("hayek")
    }
    for name, parameters in (
        ("hub-seeking", {"counted": "examples"}),
        ("per-seed", {"inner": "hub-seeking:counted=examples"}),
    ):
        assert declaration_of(make_strategy(name, parameters)).topic_examples


def leaky(topic: BedTopic) -> BedTopic:
    return replace(topic, examples=topic.targets)


def test_a_target_is_never_handed_over_as_an_example(bed: PreparedBed) -> None:
    cheat, honest = (
        run_cell(bed, leaky(WEB.topics[0]), name, limits=LIMITS) for name in ("test-cheat-examples", "breadth-first")
    )
    assert cheat.visited == honest.visited
    mixed = replace(WEB.topics[0], examples=(WEB.topics[0].targets[0], *WEB.topics[0].examples))
    assert visible_topic(mixed, bed.aliases).examples == WEB.topics[0].examples, "the others stay"
    assert mixed.topic.examples == WEB.topics[0].examples


def test_a_redirect_to_a_target_is_not_an_example_either(tmp_path: Path) -> None:
    html = (("Content-Type", "text/html"),)
    responses = [
        Response("http://a.test/", 200, "OK", html, b"<p>bees <a href='http://b.test/'>b</a>"),
        Response("http://b.test/", 200, "OK", html, b"<p>honey"),
        Response("http://old.test/", 301, "Moved", (("Location", "http://b.test/"),), b""),
    ]
    old, b = Url("http://old.test/"), Url("http://b.test/")
    for target, example in ((b, old), (old, b)):
        topic = BedTopic("bees", (), "bees", "", (Url("http://a.test/"),), (target,), (example,))
        ready = prepare(write_bed(tmp_path / topic.targets[0][7:10], "bees", responses, [topic]))
        cheat = AsksForExamples()
        run_strategy(ready, visible_topic(topic, ready.aliases), cheat, topic.seeds)
        assert cheat.topic_.examples == ()
        assert [(problem.what, problem.urls, problem.of) for problem in check_topics(ready, [topic])] == [
            ("examples withheld", (example,), 1)
        ]


def test_an_experiment_says_which_examples_were_withheld(web: Bed, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (web.folder / "topics.jsonl").read_text().splitlines()]
    lines[0]["examples"] = lines[0]["targets"]
    own = tmp_path / "topics.jsonl"
    own.write_text("".join(json.dumps(line) + "\n" for line in lines))
    experiment = run(
        web, "test-cheat-examples", tmp_path / "run", RunOptions(topics=1, topics_file=own, pages=20, oracles=False)
    )
    problems = open_experiment(tmp_path / "run").problems
    assert [(problem.what, problem.of) for problem in problems] == [("examples withheld", len(lines[0]["targets"]))]
    assert not experiment.failures()
    clean = run(web, "test-cheat-examples", tmp_path / "clean", RunOptions(topics=1, pages=20, oracles=False))
    assert {cell.key for cell in experiment.cells}.isdisjoint(cell.key for cell in clean.cells), (
        "another topic, another key"
    )


# ---- (b) lessons


@dataclass
class KeepsLessons(BreadthFirst):
    """Learns nothing, and keeps every reference to the lessons that it can get."""

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        taxonomy = lessons.taxonomy
        assert taxonomy is not None
        self.url_ = lessons.examples[0].url
        started = iter(lessons.others)
        next(started)
        page, back_links, examples = lessons.page, lessons.back_links, lessons.examples
        pages = next(iter(taxonomy.examples.values()))
        self.kept_: list[object] = [lessons, page, back_links, started, examples, taxonomy, lessons.topic]
        self.ways_: dict[str, Callable[[], object]] = {
            "topic": lambda: lessons.topic,
            "examples": lambda: lessons.examples,
            "others": lambda: lessons.others,
            "taxonomy": lambda: lessons.taxonomy,
            "page": lambda: lessons.page(self.url_),
            "back_links": lambda: lessons.back_links(self.url_),
            "bound page": lambda: page(self.url_),
            "bound back_links": lambda: back_links(self.url_),
            "iterator": lambda: next(started),
            "generator": (lessons.page(url) for url in [self.url_]).__next__,
            "list": lambda: list(examples),
            "place": lambda: examples[0],
            "slice": lambda: examples[:1],
            "length": lambda: len(examples),
            "category": lambda: list(pages),
        }
        self.reached_ = [type(thing) for thing in reachable(*self.kept_)]
        self.answered_: list[str] = []
        self.errors_: list[str] = []

    def model(self) -> Mapping[str, Any]:
        return {}

    def use(self, model: Mapping[str, Any]) -> None:
        return None

    def read(self, page: Page) -> Iterable[Candidate]:
        for name, way in self.ways_.items():
            try:
                way()
                self.answered_.append(name)
            except (LoanEnded, StopIteration) as error:
                self.errors_.append(str(error))
        return super().read(page)


strategy("test-keeps-lessons")(KeepsLessons)


def reachable(*roots: object, not_into: tuple[type, ...] = ()) -> list[object]:
    """All objects that can be reached by attributes, items, closures and references, except by classes and modules."""
    seen: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (type, types.ModuleType)):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, not_into):
            continue
        if isinstance(thing, types.FunctionType):
            waiting += [*(cell.cell_contents for cell in thing.__closure__ or ()), *(thing.__defaults__ or ())]
        elif not isinstance(thing, (types.CodeType, types.FrameType)):
            waiting += [referent for referent in gc.get_referents(thing) if not isinstance(referent, types.FrameType)]
    return list(seen.values())


def taught(bed: PreparedBed, cheat: Any) -> CellResult:
    topic = WEB.topics[0]
    return run_strategy(
        bed,
        topic.topic,
        cheat,
        topic.seeds,
        LIMITS,
        access=StrategyAccess(lessons=lambda: lessons_of(bed, topic, WEB.topics)),
    )


def test_lessons_close_when_training_ends(bed: PreparedBed) -> None:
    cheat = KeepsLessons()
    result = taught(bed, cheat)
    assert not result.error
    assert cheat.answered_ == []
    assert any("taken back" in error and "`train`" in error for error in cheat.errors_)


def test_nothing_of_the_lessons_leads_to_the_bed(bed: PreparedBed) -> None:
    cheat = KeepsLessons()
    taught(bed, cheat)
    assert PreparedBed not in cheat.reached_, "not even while training runs"
    assert not any(isinstance(thing, PreparedBed) for thing in reachable(*cheat.kept_))


def test_lessons_close_where_training_fails(bed: PreparedBed) -> None:
    class Fails(KeepsLessons):
        def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
            super().train(lessons, rng, progress)
            raise ZeroDivisionError

    cheat = Fails()
    assert taught(bed, cheat).error
    with pytest.raises(LoanEnded):
        cheat.ways_["page"]()


# ---- (c) declared powers, and the record of what was given


@strategy("test-late-oracle")
@dataclass
class LateOracle(BreadthFirst):
    """Declares itself an oracle only after its declaration has been read once."""

    def __post_init__(self) -> None:
        self.asked_, self.links_ = 0, None

    @property
    def declaration(self) -> Declaration:
        self.asked_ += 1
        return Declaration(parts=Parts(), oracle=self.asked_ > 1)

    def peek(self, links: Any) -> None:
        self.links_ = links


@strategy("test-denying-oracle")
@dataclass
class DenyingOracle(LateOracle):
    """Declares itself an oracle while the lab decides what it gets, but not when reports are written."""

    may_say = True

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts(), oracle=self.may_say)


def test_powers_are_read_once(bed: PreparedBed) -> None:
    cheat, topic = LateOracle(), WEB.topics[0]
    result = run_strategy(bed, topic.topic, cheat, topic.seeds, LIMITS)
    assert (cheat.links_, result.given) == (None, ())
    changed = LateOracle()
    powers = read_powers(changed)
    assert (
        run_strategy(bed, topic.topic, changed, topic.seeds, LIMITS, access=StrategyAccess(powers=powers)).given == ()
    )
    assert changed.links_ is None


def test_what_an_oracle_was_lent_is_recorded_and_taken_back(bed: PreparedBed) -> None:
    cheat, topic = DenyingOracle(), WEB.topics[0]
    result = run_strategy(bed, topic.topic, cheat, topic.seeds, LIMITS)
    assert result.given == (UNFETCHED,)
    assert not any(isinstance(thing, PreparedBed) for thing in reachable(cheat.links_))
    with pytest.raises(LoanEnded):
        cheat.links_(topic.seeds[0])


@pytest.fixture(scope="module")
def cheated(web: Bed, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    names = "breadth-first,best-first,test-late-oracle,test-denying-oracle,test-keeps-lessons"
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = run(web, names, folder, RunOptions(topics=2, pages=30, oracles=False))
    assert not done.failures()
    measure_if_stale(done, [30])
    return open_experiment(folder)


def test_the_lab_records_what_it_gave_whatever_a_strategy_declares(cheated: Experiment) -> None:
    assert cheated.spec.given == {
        "test-denying-oracle": (UNFETCHED,),
        "test-keeps-lessons": ("examples", "others", "taxonomy"),
    }
    done = cheated.outcomes()
    given = {(cell.strategy, done[cell.key].given) for cell in cheated.cells}
    assert ("test-late-oracle", ()) in given
    assert ("breadth-first", ()) in given


def test_a_strategy_that_denies_what_it_got_is_marked(cheated: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DenyingOracle, "may_say", False)
    names, given = list(cheated.spec.strategies), cheated.spec.given
    assert "test-denying-oracle" not in non_oracles(names, given)
    comparisons = compare_within(cheated, ["test-denying-oracle", "breadth-first"], Question("target_recall", (30,)))
    assert as_json(comparisons[0], given)["oracles"] == ["test-denying-oracle"]
    pairs = compare_within(cheated, [], Question("target_recall", (30,)))
    assert "test-denying-oracle" not in set(chain.from_iterable((pair.first, pair.second) for pair in pairs))


def test_the_record_is_the_same_with_two_processes_and_when_run_again(web: Bed, tmp_path: Path) -> None:
    from support import pupil  # noqa: F401 - registers the test's strategy

    def folder(name: str, jobs: int) -> bytes:
        run(
            web,
            "cc-bfs:lookahead=graph,bayes",
            tmp_path / name,
            RunOptions(topics=2, pages=10, oracles=False),
            jobs=jobs,
        )
        return (tmp_path / name / "experiment.toml").read_bytes()

    first = folder("one", 1)
    assert first == folder("two", 2) == folder("one", 1)
    assert open_experiment(tmp_path / "one").spec.given == {
        "cc-bfs:lookahead=graph": (UNFETCHED,),
        "bayes": ("examples", "others"),
    }


# ---- (d) what crawls share


class Equal(Analyser):
    """Claims to equal the lab's analyser, and finds other words."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Analyser)

    __hash__ = Analyser.__hash__

    def terms(self, text: str) -> list[str]:
        return ["spoiled"]

    terms_of = terms  # type: ignore[assignment]

    def term_of_each(self, raw: list[str]) -> list[str | None]:
        return ["spoiled"] * len(raw)


@dataclass(frozen=True)
class EqualView:
    """Claims to equal one of the lab's views, and returns something else."""

    view: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(self.view)

    def __call__(self, record: Record, analyser: Analyser) -> Any:
        return self.view(page_of("<p>spoiled <a href=/x>spoiled</a>").record, analyser)


def attempt(change: Callable[[], object]) -> None:
    """Try a change. Some are refused; the others must do no harm."""
    try:
        change()
    except (
        TypeError,
        AttributeError,
        ValueError,
        KeyError,
        BufferError,
        IndexError,
        NotImplementedError,
        AssertionError,
        DeprecationWarning,
        PartMissing,
    ):
        return


def spoil(thing: Any) -> None:
    """Change one object by its own methods, by those of its class, and by those of `object`."""
    if isinstance(thing, (str, bytes, int, float, type)) or callable(thing):
        return
    if isinstance(thing, np.ndarray):
        attempt(lambda: thing.setflags(write=True))
        attempt(lambda: thing.fill(1))
        attempt(lambda: setattr(thing, "dtype", np.int8))  # possible even if the array is not writable
        attempt(lambda: setattr(thing, "shape", (1, -1)))
    for name in [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]:
        attempt(lambda name=name: object.__setattr__(thing, name, None))  # type: ignore[misc]
    if isinstance(thing, dict):
        attempt(lambda: thing.update(dict.fromkeys(thing, None), spoiled=10**6))
    attempt(lambda: thing.__setitem__(slice(None), 1))
    attempt(lambda: thing.__setitem__(0, 1))
    attempt(lambda: thing.clear())
    attempt(lambda: thing.pop())
    attempt(lambda: thing.release())


def spoil_all(*roots: object) -> None:
    """Change everything that can be reached, except what belongs to the whole process or to the strategy."""
    for thing in reachable(*roots, not_into=(Analyser, Candidate)):
        spoil(thing)
        if isinstance(thing, Analyser):
            attempt(lambda thing=thing: object.__setattr__(thing, "stop_words", "none"))  # type: ignore[misc]


ANSWERS: tuple[Callable[[Page, Analyser], Any], ...] = (
    lambda page, analyser: page.record.counts(analyser),
    lambda page, analyser: page.record.analysed(analyser),
    lambda page, analyser: list(page.record.counts(analyser).names),
    lambda page, analyser: page.view(link_leaves, analyser),
    lambda page, analyser: page.view(surroundings, analyser),
    lambda page, analyser: page.view(term_positions, analyser),
    lambda page, analyser: page.view(token_terms, analyser),
    lambda page, analyser: page.view(anchor_tokens),
    lambda page, analyser: page.view(heading_leaves),
    lambda page, analyser: [element_counts(page.record, link, 1, analyser) for link in page.links[:3]],
    lambda page, analyser: [window_counts(page.record, link, 3, analyser) for link in page.links[:3]],
    lambda page, analyser: [tag_path(page.record, link) for link in page.links],
    lambda page, analyser: page.record.leaves,
    lambda page, analyser: page.record.elements,
    lambda page, analyser: page.outlinks,
    lambda page, analyser: page.links,
    lambda page, analyser: (page.url, page.title, page.text, page.record.to_bytes()),
)


def overwrite(record: Record, other: Record) -> None:
    """Give one record the content of the other, in spite of its `__setattr__`."""
    for name in Record.__slots__:
        object.__setattr__(record, name, getattr(other, name))


@dataclass
class Spoils(BreadthFirst):
    """Changes everything it can reach from a page, in one of several orders."""

    how: str = ""

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=EVERYTHING)

    def read(self, page: Page) -> Iterable[Candidate]:
        offers, whole = list(super().read(page)), Record.from_bytes(page.record.to_bytes())
        analyser: Analyser = Equal() if self.how == "equal analyser" else Analyser()
        match self.how:
            case "record first":
                overwrite(page.record, page_of("<p>spoiled <a href=/x>spoiled</a>").record)
            case "equal view":
                for view in KEPT:
                    attempt(lambda view=view: page.view(EqualView(view), analyser))  # type: ignore[misc]
            case "analyser of its own":
                object.__setattr__(analyser, "terms", Equal().terms)
                object.__setattr__(analyser, "term_of_each", Equal().term_of_each)
            case "page first":
                spoil_all(page.record, *(getattr(page, name, None) for name in Page.__slots__))
        for answer in ANSWERS:
            attempt(lambda answer=answer: spoil_all(answer(page, analyser)))  # type: ignore[misc]
        spoil_all(page.record)
        overwrite(page.record, whole)  # its own crawl goes on
        return offers


def plain(part: Any) -> Any:
    """An answer as nested lists of all its numbers and words."""
    if isinstance(part, np.ndarray):
        return part.tolist()
    if isinstance(part, TermCounts):
        return [part.square, *map(list, part.items())]
    if isinstance(part, Mapping):
        return [[key, plain(value)] for key, value in part.items()]
    return [plain(item) for item in part] if isinstance(part, (tuple, list)) else part


def answers_of(bed: PreparedBed, url: Url) -> list[Any]:
    """The answers of a page of the bed to all of `ANSWERS`."""
    page = bed.fetch(Candidate(url, 0.0))
    assert isinstance(page, Page)
    return [plain(answer(page, Analyser())) for answer in ANSWERS]


HOW = ["", "equal analyser", "equal view", "analyser of its own", "record first", "page first"]


@pytest.mark.parametrize("how", HOW)
def test_no_crawl_changes_another(bed: PreparedBed, web: Bed, how: str) -> None:
    """After the spoiler's crawls, pages answer everything as on a bed that the spoiler never saw."""
    topic, untouched = WEB.topics[0], prepare(web)
    visited: set[Url] = set()
    for _ in range(3):
        result = run_strategy(bed, topic.topic, Spoils(how), topic.seeds, LIMITS)
        assert not result.error
        visited.update(result.visited)
    assert len(visited) > 30
    for each_bed in (bed, untouched):
        each_bed.read_parts(EVERYTHING)
    for url in sorted(visited):
        assert answers_of(bed, url) == answers_of(untouched, url)
    for name in ("best-first", "bayes", "reinforcement", "apprentice", "infospiders", "hayek-epsilon", "intelligent"):
        ours, theirs = (
            run_cell(each_bed, topic, name, limits=LIMITS, topics=WEB.topics) for each_bed in (bed, untouched)
        )
        assert not ours.error
        assert scored(ours) == scored(theirs), name


@pytest.mark.parametrize("how", HOW)
def test_recall_and_trail_are_the_same_before_and_after_a_plug_in_that_writes_on_all_it_gets(
    bed: PreparedBed, how: str
) -> None:
    topic = WEB.topics[0]

    def crawls() -> list[Any]:
        names = ("best-first", "bayes", "reinforcement", "apprentice", "dom")
        results = [run_cell(bed, topic, name, limits=LIMITS, topics=WEB.topics) for name in names]
        assert not any(result.error for result in results)
        return [
            (scored(result), target_recall(result.visited, set(topic.targets), topic.seeds, bed.aliases, [30, 60]))
            for result in results
        ]

    before = crawls()
    assert not run_strategy(bed, topic.topic, Spoils(how), topic.seeds, LIMITS).error
    assert crawls() == before


def scored(result: CellResult) -> list[tuple[Url, float, float]]:
    return [(step.url, step.score, step.similarity) for step in result.steps]


def test_counts_that_a_strategy_empties_are_whole_for_the_next(bed: PreparedBed) -> None:
    @dataclass
    class Empties(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            counts = page.record.counts(Analyser())
            attempt(counts.clear)  # type: ignore[attr-defined]
            attempt(lambda: setattr(counts, "square", 1))
            spoil(counts)
            return super().read(page)

    topic = WEB.topics[0]
    before = run_cell(bed, topic, "best-first", limits=LIMITS)
    for _ in range(2):
        run_strategy(bed, topic.topic, Empties(), topic.seeds, LIMITS)
    after = run_cell(bed, topic, "best-first", limits=LIMITS)
    assert scored(before) == scored(after)


def test_an_analyser_that_a_strategy_declares_finds_no_words_for_others(bed: PreparedBed, web: Bed) -> None:
    """Pages come with the terms of declared analysers, and are kept for the next crawl that declares equal ones."""
    small = Analyser("small")

    class LikeSmall(Equal):
        def __hash__(self) -> int:
            return hash(small)

    class SameParts(Parts):
        def __eq__(self, other: object) -> bool:
            return True

        def __ror__(self, other: object) -> SameParts:
            return self

        __hash__ = Parts.__hash__

    @dataclass
    class Declares(BreadthFirst):
        parts: type[Parts] = Parts

        @property
        def declaration(self) -> Declaration:
            return Declaration(parts=self.parts((LikeSmall(),), leaves=True))

    topic, untouched = WEB.topics[0], prepare(web)
    for parts in (Parts, SameParts):
        result = run_strategy(bed, topic.topic, Declares(parts), topic.seeds, LIMITS)
        assert not result.error
        for url in result.visited[:10]:
            counts = []
            for each_bed in (bed, untouched):
                each_bed.read_parts(Parts((Analyser(), small), leaves=True))
                page = each_bed.fetch(Candidate(url, 0.0))
                assert isinstance(page, Page)
                counts.append([dict(page.record.counts(small)), list(page.record.counts(small).names)])
            assert counts[0] == counts[1]


def test_nothing_that_a_page_holds_leads_to_the_bed(bed: PreparedBed) -> None:
    seen: list[bool] = []

    @dataclass
    class Searches(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            list(page.record.counts(Analyser()).names)
            seen.append(any(isinstance(thing, PreparedBed) for thing in reachable(page)))
            return super().read(page)

    topic = WEB.topics[0]
    run_strategy(bed, topic.topic, Searches(), topic.seeds, ReplayLimits(pages=5))
    assert seen == [False] * 5


# ---- the page itself


def test_a_page_that_a_strategy_renames_is_the_end_of_its_crawl(bed: PreparedBed) -> None:
    topic = WEB.topics[0]

    @dataclass
    class Renames(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            offers = list(super().read(page))
            page.url = topic.targets[0]
            return offers

    @dataclass
    class Replaces(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            page.record = Record.from_bytes(page.record.to_bytes())
            return super().read(page)

    for cheat in (Renames(), Replaces()):
        result = run_strategy(bed, topic.topic, cheat, topic.seeds, LIMITS)
        assert "modified the page" in result.error
        assert not result.steps


def test_a_page_is_judged_before_a_strategy_can_write_on_it(bed: PreparedBed) -> None:
    topic = WEB.topics[0]

    @dataclass
    class Flatters(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            offers = list(super().read(page))
            overwrite(page.record, page_of(f"<p>{topic.keywords}", page.url).record)
            return offers

    flattered, plain = (
        run_strategy(bed, topic.topic, crawler, topic.seeds, LIMITS) for crawler in (Flatters(), BreadthFirst())
    )
    assert [step.similarity for step in flattered.steps] == [step.similarity for step in plain.steps]


def test_our_strategies_train_on_lent_lessons(bed: PreparedBed) -> None:
    for name in ("apprentice", "bayes", "context-graph", "focused-soft", "hayek-epsilon", "reinforcement"):
        assert read_powers(make_strategy(name)).trains
        result = run_cell(bed, WEB.topics[0], name, limits=LIMITS, topics=WEB.topics)
        assert not result.error
        assert "examples" in result.given or "taxonomy" in result.given
