"""What an experiment was asked to do: strategies by text, topics by number or name, and the file that keeps it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage, ScenthoundError, UnknownName
from scenthound.files import write_bytes
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepare_pages import Cut
from scenthound.lab.run.handover import UNFETCHED
from scenthound.lab.run.oracles import ORACLES
from scenthound.lab.run.run_cell import ReplayLimits
from scenthound.model import NOTHING
from scenthound.parameters import values_of
from scenthound.ports import declaration_of
from scenthound.wiring import make_strategy

FILE = "experiment.toml"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A strategy with parameters, as `best-n-first:n=64` names it. The label is how reports call it."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return ":".join([self.name, *(f"{key}={_shown(value)}" for key, value in sorted(self.parameters.items()))])

    @property
    def settled(self) -> dict[str, Any]:
        """All parameters, defaults included: equal for equal strategies however they were asked for."""
        return values_of(make_strategy(self.name, self.parameters))


def parse_strategies(text: str | Iterable[str | Chosen]) -> list[Chosen]:
    """`a,b:n=64:stem=no` as strategies with parameters, each once; complains of unknown names and bad values.

    >>> [chosen.label for chosen in parse_strategies("breadth-first,best-n-first:n=64")]
    ['breadth-first', 'best-n-first:n=64']
    """
    parts = text.split(",") if isinstance(text, str) else list(text)
    found: dict[str, Chosen] = {}
    for part in parts:
        chosen = part if isinstance(part, Chosen) else _parsed(part.strip())
        if chosen.name in ORACLES:
            raise BadUsage(
                f"`{chosen.name}` is no strategy but a reference line", "every experiment can draw it beside"
            )
        make_strategy(chosen.name, chosen.parameters)
        found.setdefault(chosen.label, chosen)
    if not found:
        raise BadUsage("no strategies", "name some, as breadth-first,best-first")
    return list(found.values())


def _parsed(text: str) -> Chosen:
    name, *settings = text.split(":")
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise BadUsage(f"`{setting}` in `{text}` is no parameter", "write it as best-n-first:n=64:stem=no")
        parameters[key.strip().replace("-", "_")] = value.strip()
    return Chosen(name.strip(), parameters)


def is_oracle(label: str, given: Mapping[str, Sequence[str]] = NOTHING) -> bool:
    """Whether what goes by this name sees what no crawler can see: a reference line, a strategy in such a mode, or one
    that was `given` it.

    >>> is_oracle("path-oracle"), is_oracle("cc-bfs:lookahead=graph"), is_oracle("cc-bfs")
    (True, True, False)
    """
    if label in ORACLES or UNFETCHED in given.get(label, ()):
        return True
    try:
        chosen = _parsed(label)
        return declaration_of(make_strategy(chosen.name, chosen.parameters)).oracle
    except ScenthoundError:  # a strategy that was run once and is not to be had now
        return False


def marked(label: str, given: Mapping[str, Sequence[str]] = NOTHING) -> str:
    """A crawler's name for people, with a mark where it is a strategy in an oracle mode.

    >>> marked("cc-bfs:lookahead=graph"), marked("path-oracle")
    ('cc-bfs:lookahead=graph (oracle)', 'path-oracle')
    """
    return f"{label} (oracle)" if label not in ORACLES and is_oracle(label, given) else label


def choose_topics(topics: Sequence[BedTopic], wanted: int | str | Sequence[str] | None = None) -> list[BedTopic]:
    """All topics, the first N of them, or those of these ids (`ID,ID`), in the bed's order."""
    if wanted is None:
        return list(topics)
    if isinstance(wanted, str):
        wanted = (
            int(wanted) if wanted.strip().isdigit() else [part.strip() for part in wanted.split(",") if part.strip()]
        )
    if isinstance(wanted, int):
        if wanted < 1:
            raise BadUsage(f"{wanted} topics", "ask for at least one")
        return list(topics[:wanted])
    known = {topic.id for topic in topics}
    for name in wanted:
        if name not in known:
            raise UnknownName.among("topic", name, known)
    return [topic for topic in topics if topic.id in set(wanted)]


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that was asked of an experiment."""

    bed: str
    """Where the bed lay."""
    name: str
    digest: str
    prepared: str
    """Name of the prepared form: changes with the code that reads pages."""
    cut: Cut
    limits: ReplayLimits
    strategies: tuple[str, ...]
    topics: tuple[str, ...]
    seed_numbers: tuple[int, ...] = (0,)
    seeds_per_run: int = 0
    robustness: bool = False
    oracles: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the lab handed to each strategy beyond the topic and seeds (sheet 60.7), by the record of its crawls; those
    that got nothing are not in it."""

    def conflict(self, other: Asked) -> str:
        """Why cells of the two can't be compared, or nothing: another bed, other limits, other seeds."""
        for name in ("digest", "cut", "limits", "seeds_per_run"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                return f"`{name}` was {_brief(ours)} and is now {_brief(theirs)}"
        return ""


def save_asked(folder: Path, asked: Asked) -> None:
    plain = asdict(asked)
    tables = {name: plain.pop(name) for name in ("cut", "limits", "versions", "given")}
    lines = [f"{key} = {_toml(value)}" for key, value in plain.items()]
    for name, table in tables.items():
        quoted = name == "given"  # its keys are labels, as `bayes:events=bernoulli`
        lines += ["", f"[{name}]"]
        lines += [f"{_toml(key) if quoted else key} = {_toml(value)}" for key, value in table.items()]
    write_bytes(folder / FILE, ("\n".join(lines) + "\n").encode())


def load_asked(folder: Path) -> Asked:
    """What the experiment in this folder was asked; raises `BadConfig` where there is none."""
    path = folder / FILE
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
        plain["cut"], plain["limits"] = Cut(**plain["cut"]), ReplayLimits(**plain["limits"])
        plain["given"] = {label: tuple(needs) for label, needs in plain.get("given", {}).items()}
        settled: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
        }
        return Asked(**settled)
    except FileNotFoundError:
        raise BadConfig(f"no experiment in {folder}: {FILE} is missing", "make one with `scenthound lab run`") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, KeyError) as error:
        raise BadConfig(
            f"{path} can't be used: {error}", "it is written by `scenthound lab run`, not by hand"
        ) from None


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _shown(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) < 120 else text[:119] + "…"
