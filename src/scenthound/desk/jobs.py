"""Run long commands in the background, one per collection at a time. They are terminated when the desk stops."""

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

MOST_OUTPUT = 256_000  # bytes; only the end of a longer output is read


@dataclass(frozen=True, slots=True)
class _Job:
    """A process and the files that collect its stdout and stderr."""

    process: subprocess.Popen[bytes]
    result: IO[bytes]
    progress: IO[bytes]


class Jobs:
    """The background jobs. Each is a command with `--json` that writes its result to stdout and progress to stderr."""

    def __init__(self) -> None:
        self._jobs: dict[Path, _Job] = {}
        self._lock = Lock()

    def start(self, folder: Path, arguments: Sequence[str]) -> None:
        """Start a job for a collection, unless one is running."""
        with self._lock:
            job = self._jobs.get(folder)
            if job is not None and job.process.poll() is None:
                return
            result, progress = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
            process = subprocess.Popen(  # noqa: S603 - no shell; the arguments are a list
                [*COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=result, stderr=progress
            )
            if job is not None:
                job.result.close()
                job.progress.close()
            self._jobs[folder] = _Job(process, result, progress)

    def state(self, folder: Path) -> dict[str, Any]:
        """The state of a job (none, working, done or failed), its last line of progress, and its result once done."""
        with self._lock:
            job = self._jobs.get(folder)
            if job is None:
                return {"state": "none", "said": "", "answer": None}
            code, progress = job.process.poll(), _text(job.progress)
            if code is None:
                return {"state": "working", "said": progress.strip().rpartition("\n")[2][-200:], "answer": None}
            result = _text(job.result)
        if code:
            error = error_in(result or progress)
            return {"state": "failed", "said": f"{error.message}. {error.hint}", "answer": None}
        return {"state": "done", "said": "", "answer": json.loads(result)}

    def close(self) -> None:
        """Terminate all running jobs."""
        with self._lock:
            for job in self._jobs.values():
                job.process.terminate()
            for job in self._jobs.values():
                job.process.wait()
                job.result.close()
                job.progress.close()
            self._jobs.clear()


def _text(file: IO[bytes]) -> str:
    """The output of a process so far; if it is long, only its end."""
    size = file.seek(0, 2)
    file.seek(max(0, size - MOST_OUTPUT))
    return file.read().decode("utf-8", "replace")
