"""Runs `scenthound crawl` on a disk whose n-th call fails, for every n; then resumes it on a good disk.

    python -m support.failing_disk SHIM FOLDER ERROR KINDS STEP

Runs under `disk_shim.c`. Each attempt is a fork, so that nothing is imported twice. Prints one JSON line for each.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from scenthound.cli.root_command import run
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from support import resuming  # noqa: F401 - imports what a crawl needs

PAGES = 40
WEB = GeneratedWeb(pages=80, seed=3)


def crawl(folder: Path, address: str) -> list[str]:
    topic = WEB.topics[0]
    seeds = [part for seed in topic.seeds for part in ("--seed", seed)]
    command = ["crawl", topic.keywords, *seeds, "--out", str(folder), "--proxy", address, "--pages", str(PAGES)]
    settings = ("workers=0", "robots=false", "sync_time=0", "host_patience=0", "snapshot=5", "group_pages=4")
    return [*command, "--delay", "0", *(part for pair in settings for part in ("--set", pair))]


def child(task: Callable[[], int], said: Path, arm: tuple[object, ...] | None, shim: ctypes.CDLL) -> tuple[int, int]:
    """Do something in a fork. Returns its exit code and the number of calls that could have failed."""
    counted = said.with_suffix(".calls")
    counted.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        if arm is not None:
            shim.shim_arm(*arm)
        code = 99
        try:
            code = task()
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            calls = shim.shim_calls()
            shim.shim_arm(b"/nowhere", b"", 0, 0, 0)
            counted.write_text(str(calls))
            os._exit(code)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), int(counted.read_text()) if counted.exists() else -1


def main() -> None:
    shim_path, folder, error, kinds, step = sys.argv[1:]
    shim = ctypes.CDLL(shim_path)
    top = Path(folder)
    top.mkdir(exist_ok=True)
    out = top / "crawl"
    with serving(BedServer(WEB, ServerOptions())) as address:
        number = 1
        while True:
            arm = (str(top).encode(), kinds.encode(), number, int(number % 2 == 0), getattr(errno, error))
            code, calls = child(partial(run, crawl(out, address)), top.parent / "said", arm, shim)
            said = (top.parent / "said").read_text(errors="replace")
            again, finished = 0, ""
            if (out / "crawl.toml").exists():
                again, _ = child(partial(run, ["resume", str(out)]), top.parent / "said-again", None, shim)
                finished = (top.parent / "said-again").read_text(errors="replace")
            shutil.rmtree(out, ignore_errors=True)
            line = {"n": number, "code": code, "said": said, "again": again, "finished": finished, "calls": calls}
            print(json.dumps(line), flush=True)
            if calls < number:
                return
            number += int(step)


if __name__ == "__main__":
    main()
