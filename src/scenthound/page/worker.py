"""The process that reads pages: replies on its input, answers on its output, in order, until the input ends.

It ends with the crawl: when that is gone, so is its input. A page that takes too long ends it by an alarm that no
page can hold off, and one that wants too much memory by a limit of the system; the crawl then starts another.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import resource
import signal
import struct
import sys
from typing import BinaryIO

from scenthound.page.wire import Wanted, answer, asked, frame
from scenthound.text.contexts import Around
from scenthound.text.tokens import Analyser
from scenthound.web.landing import PageLimits

ROOM = 1 << 20  # bytes of replies and of answers that may wait: the crawl looks after its pipes every 10 ms or so


def serve(jobs: BinaryIO, answers: BinaryIO, wanted: Wanted, seconds: float) -> None:
    """Read pages until there are no more; one that takes longer than `seconds` ends the process."""
    answers.write(frame(["ready"]))
    answers.flush()
    while len(size := jobs.read(4)) == 4:
        message = jobs.read(struct.unpack("!I", size)[0])
        signal.setitimer(signal.ITIMER_REAL, seconds)
        told = answer(asked(message), wanted)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(told)
        answers.flush()


def main() -> None:
    """Started by `Readers` with its limits and the agent's name as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the crawl, which still wants answers
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    gc.set_threshold(50_000, 20, 100)  # pages are many objects and few cycles
    asked_for = json.loads(sys.argv[1])
    limits, agent, seconds, memory = (asked_for[name] for name in ("limits", "agent", "seconds", "memory"))
    around = tuple(Around(kind, Analyser(words, stem), size) for kind, words, stem, size in asked_for["around"])
    wanted = Wanted(PageLimits(**limits), agent, Analyser(), around)
    with contextlib.suppress(ValueError, OSError):  # a stricter limit may hold already
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for end in (sys.stdin, sys.stdout):
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(end.fileno(), fcntl.F_SETPIPE_SZ, ROOM)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer, wanted, seconds)
    except BrokenPipeError:  # the crawl is gone
        os._exit(0)


if __name__ == "__main__":
    main()
