"""Commands that the desk runs in the background, one for each name, however long they take. They end with the desk."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Any

from scenthound.desk.command_errors import COMMAND, error_in

LAST = 4_000  # bytes of what a job said in which its last line is looked for


@dataclass(frozen=True, slots=True)
class _Job:
    process: subprocess.Popen[bytes]
    answer: IO[bytes]
    said: IO[bytes]


class Jobs:
    """Each job is a command with `--json`: its answer on stdout, its progress on stderr, line by line."""

    def __init__(self) -> None:
        self._jobs: dict[Path, _Job] = {}
        self._lock = Lock()

    def start(self, name: Path, words: Sequence[str]) -> None:
        """Start a job, unless one of this name is at work."""
        with self._lock:
            job = self._jobs.get(name)
            if job is not None and job.process.poll() is None:
                return
            answer, said = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
            process = subprocess.Popen(  # noqa: S603 - no shell; the words are a list
                [*COMMAND, *words], stdin=subprocess.DEVNULL, stdout=answer, stderr=said
            )
            if job is not None:
                job.answer.close()
                job.said.close()
            self._jobs[name] = _Job(process, answer, said)

    def state(self, name: Path) -> dict[str, Any]:
        """How far a job is: none, working, done or failed; the last line it said; what it printed, once it is done."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                return {"state": "none", "said": "", "answer": None}
            code, said = job.process.poll(), _text(job.said)
            if code is None:
                return {"state": "working", "said": said.strip().rpartition("\n")[2][-200:], "answer": None}
            printed = _text(job.answer)
        if code:
            error = error_in(printed or said)
            return {"state": "failed", "said": f"{error.message}. {error.hint}", "answer": None}
        return {"state": "done", "said": "", "answer": json.loads(printed)}

    def close(self) -> None:
        """End what is still at work."""
        with self._lock:
            for job in self._jobs.values():
                job.process.terminate()
            for job in self._jobs.values():
                job.process.wait()
                job.answer.close()
                job.said.close()
            self._jobs.clear()


def _text(file: IO[bytes]) -> str:
    """What a process has written to a file so far; of a long text the end."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 64 * LAST))
    return file.read().decode("utf-8", "replace")
