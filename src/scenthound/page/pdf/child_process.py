"""The process that reads one PDF file: its bytes on the input, HTML on the output. Started by `convert`."""

from __future__ import annotations

import contextlib
import resource
import sys

CPU_SECONDS = 8  # of CPU time, after which no further page is read
HARD_SECONDS = 15  # of CPU time, after which the process is killed
MEMORY = 1 << 30  # bytes of address space


def main() -> None:
    for kind, most in (
        (resource.RLIMIT_CPU, HARD_SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),  # it does not write files
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a stricter limit may already be set
            resource.setrlimit(kind, (most, most))
    from scenthound.page.pdf.paper_html import paper_html
    from scenthound.page.pdf.read_paper import read_paper
    from scenthound.page.pdf.text_lines import read_lines

    try:
        html = paper_html(read_paper(read_lines(sys.stdin.buffer.read(), CPU_SECONDS)))
    except Exception as error:  # pypdf raises many types for broken files; the file is at fault, not our code
        sys.stderr.write(f"{type(error).__name__}: {error}"[:200])
        sys.exit(1)
    sys.stdout.buffer.write(html.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
