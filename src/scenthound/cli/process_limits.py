"""Settings of our own process, which a library must not change: garbage collection, threads, open files, malloc."""

from __future__ import annotations

import contextlib
import gc
import os
import resource

FILES = 65_536
# Names of glibc's malloc.h, and bytes
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
KEPT = {MMAP_THRESHOLD: 32 << 20, TRIM_THRESHOLD: 64 << 20, TOP_PAD: 8 << 20}


def prepare() -> None:
    """Collect garbage less often, start no threads for numpy, and allow more open files. Before numpy is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting them takes a third of the import: 30 of 90 ms
    gc.set_threshold(50_000, 20, 100)  # a frontier is small tuples without cycles: saves a tenth of a crawl
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # a connection is a file, and 1,024 are too few
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(files, FILES if most == resource.RLIM_INFINITY else min(most, FILES)), most)
        )


def keep_memory() -> None:
    """Tell glibc to keep freed memory: every read of a socket or pipe allocates 256 KB, up to 15 page faults a page."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for name, value in KEPT.items():
            mallopt(name, value)
