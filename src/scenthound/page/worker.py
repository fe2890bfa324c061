"""A worker process that reads responses from its input and writes pages to its output, in order.

It ends with the crawl, because its input ends. If a page takes too long, an alarm that no page can block ends the
process; if a page needs too much memory, a resource limit does. The crawl then starts another worker.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import resource
import signal
import struct
import sys
from typing import BinaryIO

from scenthound.page.wire import ReadOptions, pack, read_response, unpack_response
from scenthound.text.term_counts import TermNumbers

PIPE_BYTES = 1 << 20  # room for waiting messages: the crawl polls its pipes about every 10 ms


def serve(jobs: BinaryIO, results: BinaryIO, options: ReadOptions, seconds: float) -> None:
    """Read pages until there are no more. A page that takes longer than `seconds` ends the process."""
    numbers = TermNumbers(os.urandom(8).hex())
    results.write(pack(["ready"]))
    results.flush()
    while len(size := jobs.read(4)) == 4:
        message = jobs.read(struct.unpack("!I", size)[0])
        signal.setitimer(signal.ITIMER_REAL, seconds)
        result = read_response(unpack_response(message), options, numbers)
        signal.setitimer(signal.ITIMER_REAL, 0)
        results.write(result)
        results.flush()


def main() -> None:
    """Run the worker. `ReadingPool` starts it with the options as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the crawl, which still needs results
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    gc.set_threshold(50_000, 20, 100)  # pages make many objects and few cycles
    arguments = json.loads(sys.argv[1])
    options, seconds = ReadOptions.from_json(arguments["options"]), arguments["seconds"]
    if options.parts.leaves or options.parts.elements:
        importlib.import_module("scenthound.page.read")  # with numpy, before the time limit of the first page
    with contextlib.suppress(ValueError, OSError):  # a stricter limit may already be set
        resource.setrlimit(resource.RLIMIT_AS, (arguments["memory"],) * 2)
    for pipe in (sys.stdin, sys.stdout):
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer, options, seconds)
    except BrokenPipeError:  # the crawl is gone
        os._exit(0)


if __name__ == "__main__":
    main()
