"""The specification of an experiment (strategies, topics, limits) and the file that stores it, `experiment.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage, ScenthoundError, UnknownName
from scenthound.files import write_bytes
from scenthound.formats import toml_value
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.run.handover import UNFETCHED
from scenthound.lab.run.oracles import ORACLES
from scenthound.lab.run.run_cell import ReplayLimits
from scenthound.model import NOTHING
from scenthound.parameters import values_of
from scenthound.ports import declaration_of
from scenthound.topic_list import BedTopic
from scenthound.typed_data import from_plain
from scenthound.wiring import make_strategy

FILE = "experiment.toml"


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """A strategy with parameters, written as `best-n-first:n=64`. Reports show this label."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return ":".join([self.name, *(f"{key}={_value_text(value)}" for key, value in sorted(self.parameters.items()))])

    @property
    def all_parameters(self) -> dict[str, Any]:
        """All parameters, including defaults: equal for equal strategies, however they are written."""
        return values_of(make_strategy(self.name, self.parameters))


def parse_strategies(text: str | Iterable[str | StrategySpec]) -> list[StrategySpec]:
    """Parse `a,b:n=64:stem=no` into distinct strategies with parameters. Raises for unknown names and bad values.

    >>> [spec.label for spec in parse_strategies("breadth-first,best-n-first:n=64")]
    ['breadth-first', 'best-n-first:n=64']
    """
    parts = text.split(",") if isinstance(text, str) else list(text)
    specs: dict[str, StrategySpec] = {}
    for part in parts:
        spec = part if isinstance(part, StrategySpec) else _parse(part.strip())
        if spec.name in ORACLES:
            raise BadUsage(
                f"`{spec.name}` is a reference line, not a strategy", "experiments run it unless --no-oracles is given"
            )
        make_strategy(spec.name, spec.parameters)
        specs.setdefault(spec.label, spec)
    if not specs:
        raise BadUsage("no strategies", "name some, for example hound,breadth-first")
    return list(specs.values())


def _parse(text: str) -> StrategySpec:
    name, *settings = text.split(":")
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise BadUsage(f"`{setting}` in `{text}` is not a parameter", "write it as best-n-first:n=64:stem=no")
        parameters[key.strip().replace("-", "_")] = value.strip()
    return StrategySpec(name.strip(), parameters)


def is_oracle(label: str, given: Mapping[str, Sequence[str]] = NOTHING) -> bool:
    """Whether this crawler sees what no real crawler can see: a reference line, a strategy in an oracle mode, or a
    strategy that was `given` links of pages not fetched.

    >>> is_oracle("path-oracle"), is_oracle("cc-bfs:lookahead=graph"), is_oracle("cc-bfs")
    (True, True, False)
    """
    if label in ORACLES or UNFETCHED in given.get(label, ()):
        return True
    try:
        spec = _parse(label)
        return declaration_of(make_strategy(spec.name, spec.parameters)).oracle
    except ScenthoundError:  # the strategy is no longer installed
        return False


def display_name(label: str, given: Mapping[str, Sequence[str]] = NOTHING) -> str:
    """A crawler's name in reports and tables; a strategy in an oracle mode is marked.

    >>> display_name("cc-bfs:lookahead=graph"), display_name("path-oracle")
    ('cc-bfs:lookahead=graph (oracle)', 'path-oracle')
    """
    return f"{label} (oracle)" if label not in ORACLES and is_oracle(label, given) else label


def choose_topics(topics: Sequence[BedTopic], choice: int | str | Sequence[str] | None = None) -> list[BedTopic]:
    """All topics, the first N of them, or the topics with these ids (`ID,ID`), in the bed's order."""
    if choice is None:
        return list(topics)
    if isinstance(choice, str):
        choice = (
            int(choice) if choice.strip().isdigit() else [part.strip() for part in choice.split(",") if part.strip()]
        )
    if isinstance(choice, int):
        if choice < 1:
            raise BadUsage(f"{choice} topics", "ask for at least one")
        return list(topics[:choice])
    ids = {topic.id for topic in topics}
    for name in choice:
        if name not in ids:
            raise UnknownName.among("topic", name, ids)
    return [topic for topic in topics if topic.id in set(choice)]


@dataclass(frozen=True, slots=True)
class ExperimentSpec:
    """Everything that determines an experiment: the content of experiment.toml."""

    bed: str
    """Path of the bed."""
    name: str
    digest: str
    prepared: str
    """Folder name of the prepared bed; it changes with the code that reads pages."""
    cut: Cut
    limits: ReplayLimits
    strategies: tuple[str, ...]
    topics: tuple[str, ...]
    seed_numbers: tuple[int, ...] = (0,)
    seeds_per_run: int = 0
    robustness: bool = False
    oracles: bool = True
    start: str = "seeds"
    """Where crawls start, as `lab.topics.crawl_starts` parses it."""
    versions: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the lab gave each strategy beyond keywords and seeds (sheet 60.7), as recorded during its crawls.
    Strategies that were given nothing are left out."""
    judge_given: tuple[str, ...] = ()
    """The same for the judge. It measures relevance; strategies that get its verdicts are listed in `given`."""

    @property
    def inputs(self) -> dict[str, tuple[str, ...]]:
        """What strategies and the judge were given beyond keywords and seeds, by the name to show."""
        judge = {f"judge {self.limits.judge}": self.judge_given} if self.judge_given else {}
        return {**self.given, **judge}

    def conflict(self, other: ExperimentSpec) -> str:
        """Why the cells of two experiments can't be compared (different bed, limits or seeds); empty if they can."""
        theirs = other._must_match
        for name, value in self._must_match.items():
            if value != theirs[name]:
                return f"`{name}` was {_shortened(value)} and is now {_shortened(theirs[name])}"
        return ""

    @property
    def _must_match(self) -> dict[str, object]:
        return {
            "digest": self.digest,
            "cut": self.cut,
            "limits": self.limits,
            "seeds_per_run": self.seeds_per_run,
            "start": self.start,
        }


def save_spec(folder: Path, spec: ExperimentSpec) -> None:
    plain = asdict(spec)
    if not spec.judge_given:  # as in experiments made before it existed
        del plain["judge_given"]
    tables = {name: plain.pop(name) for name in ("cut", "limits", "versions", "given")}
    if (polite := tables["limits"].pop("polite")) is not None:
        tables["polite"] = polite
    lines = [f"{key} = {toml_value(value)}" for key, value in plain.items()]
    for name, table in tables.items():
        quoted = name == "given"  # its keys are labels such as `bayes:events=bernoulli`
        lines += ["", f"[{name}]"]
        lines += [f"{toml_value(key) if quoted else key} = {toml_value(value)}" for key, value in table.items()]
    write_bytes(folder / FILE, ("\n".join(lines) + "\n").encode())


def load_spec(folder: Path) -> ExperimentSpec:
    """The specification of the experiment in this folder. Raises `BadConfig` if there is none."""
    path = folder / FILE
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
        if "polite" in plain:
            plain["limits"]["polite"] = plain.pop("polite")
        return from_plain(plain, ExperimentSpec)
    except FileNotFoundError:
        raise BadConfig(f"no experiment in {folder}: {FILE} is missing", "make one with `scenthound lab run`") from None
    except (ValueError, TypeError, KeyError) as error:
        raise BadConfig(
            f"{path} can't be used: {error}", "it is written by `scenthound lab run`, not by hand"
        ) from None


def _value_text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _shortened(value: object) -> str:
    text = str(value)
    return text if len(text) < 120 else text[:119] + "…"
