"""The file frontier: the contract of a frontier, and a restart."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

from my_parts.file_frontier import FileFrontier

from scenthound.lab.testing.frontier import FrontierContract
from scenthound.model import Candidate, Url

SCRATCH = tempfile.TemporaryDirectory()
NUMBERS = itertools.count()


def new_frontier(**settings: Any) -> FileFrontier:
    return FileFrontier(Path(SCRATCH.name) / f"{next(NUMBERS)}.jsonl", **settings)


class FileContract(FrontierContract):
    make = staticmethod(new_frontier)


TestFileFrontier = FileContract.TestCase


def test_what_waits_survives_a_restart_in_its_order(tmp_path: Path) -> None:
    first = FileFrontier(tmp_path / "frontier.jsonl")
    for number, score in enumerate([0.5, 0.9, 0.5]):
        first.push(Candidate(Url(f"http://a.test/{number}"), score, {"food": 3}))
    first.save()
    second = FileFrontier(tmp_path / "frontier.jsonl")
    assert sorted(second.entries()) == sorted(first.entries())
    assert [candidate.url[-1] for candidate in second.best(3)] == ["1", "0", "2"]
