"""What the command does to its own process, and a library must not do to its user's."""

from __future__ import annotations

import contextlib
import gc
import resource

FILES = 65_536
# Names of glibc's malloc.h, and bytes
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
KEPT = {MMAP_THRESHOLD: 32 << 20, TRIM_THRESHOLD: 64 << 20, TOP_PAD: 8 << 20}


def prepare() -> None:
    """Collect garbage seldom, and have room for connections."""
    gc.set_threshold(50_000, 20, 100)  # a frontier is many small tuples and no cycles: a tenth of a crawl otherwise
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # connections are files, and 1,024 of them are soon used up
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(files, FILES if most == resource.RLIM_INFINITY else min(most, FILES)), most)
        )


def keep_memory() -> None:
    """Have what one page took kept for the next, where the C library is glibc.

    It would go back to the system and be fetched again, up to 15 page faults a page: every read of a socket or a pipe
    sets 256 KB aside.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for name, value in KEPT.items():
            mallopt(name, value)
