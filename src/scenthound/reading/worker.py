"""The process that reads pages: replies on its input, answers on its output, in order, until the input ends.

It ends with the crawl: when that is gone, so is its input. A page that takes too long ends it by an alarm that no
page can hold off, and one that wants too much memory by a limit of the system; the crawl then starts another.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import signal
import struct
import sys
from typing import BinaryIO

from scenthound.reading.wire import answer, asked, frame
from scenthound.text.tokens import Analyser
from scenthound.web.landing import PageLimits

ROOM = 1 << 20  # bytes of answers that may wait while the crawl is busy


def serve(jobs: BinaryIO, answers: BinaryIO, limits: PageLimits, agent: str, seconds: float) -> None:
    """Read pages until there are no more; one that takes longer than `seconds` ends the process."""
    analyser = Analyser()
    answers.write(frame(["ready"]))
    answers.flush()
    while len(size := jobs.read(4)) == 4:
        message = jobs.read(struct.unpack("!I", size)[0])
        signal.setitimer(signal.ITIMER_REAL, seconds)
        told = answer(asked(message), limits, agent, analyser)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(told)
        answers.flush()


def main() -> None:
    """Started by `Readers` with its limits and the agent's name as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the crawl, which still wants answers
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    asked_for = json.loads(sys.argv[1])
    limits, agent, seconds, memory = (asked_for[name] for name in ("limits", "agent", "seconds", "memory"))
    with contextlib.suppress(ValueError, OSError):  # a stricter limit may hold already
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(sys.stdout.fileno(), fcntl.F_SETPIPE_SZ, ROOM)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer, PageLimits(**limits), agent, seconds)
    except BrokenPipeError:  # the crawl is gone
        os._exit(0)


if __name__ == "__main__":
    main()
