"""A frontier in a JSON-lines file: read when it is opened, written by `save`."""

from __future__ import annotations

import json
from pathlib import Path

from scenthound.files import write_text
from scenthound.model import Candidate
from scenthound.ports import Eviction
from scenthound.store.memory_frontier import MemoryFrontier


class FileFrontier(MemoryFrontier):
    """A memory frontier whose candidates survive a restart; order, bound and eviction are inherited."""

    def __init__(self, path: Path, bound: int | None = None, eviction: Eviction = "scored", spread: int = 1) -> None:
        super().__init__(bound, eviction, spread)
        self.path = path
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.restore((number, Candidate(*fields)) for number, *fields in map(json.loads, lines))

    def save(self) -> None:
        """Write all candidates. The file is replaced atomically, so a crash leaves either the old or the new one."""
        lines = []
        for number, candidate in sorted(self.entries()):
            plain = candidate._replace(carry=dict(candidate.carry), parts=dict(candidate.parts))
            lines.append(json.dumps([number, *plain]))
        write_text(self.path, "".join(line + "\n" for line in lines))
