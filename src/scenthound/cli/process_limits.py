"""Process-wide settings that a library must not touch: garbage collection, threads, open files, malloc."""

from __future__ import annotations

import contextlib
import gc
import os
import resource

OPEN_FILES = 65_536
# Parameters of mallopt (glibc's malloc.h), and their values in bytes
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
MALLOC_OPTIONS = {MMAP_THRESHOLD: 32 << 20, TRIM_THRESHOLD: 64 << 20, TOP_PAD: 8 << 20}


def prepare() -> None:
    """Collect garbage less often, keep numpy single-threaded, allow more open files. Call before importing numpy."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting its threads takes a third of the import: 30 of 90 ms
    gc.set_threshold(50_000, 20, 100)  # a frontier is small tuples without cycles; saves a tenth of a crawl's time
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # each connection is an open file, and 1,024 are too few
        resource.setrlimit(
            resource.RLIMIT_NOFILE,
            (max(files, OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)), most),
        )


def keep_memory() -> None:
    """Make glibc keep freed memory: each read of a socket or pipe allocates 256 KB, up to 15 page faults per page."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for name, value in MALLOC_OPTIONS.items():
            mallopt(name, value)
