"""The memory that one page takes, whatever is in it: the peak of a process that reads it, above an idle one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

READ = """
import sys
from scenthound.model import Candidate, Response, Url
from scenthound.page.landing import land
from scenthound.page.read import PageLimits
from scenthound.page.record import Parts
from scenthound.text.tokens import Analyser

parts = Parts((Analyser(),), leaves=sys.argv[2] == "tree", elements=sys.argv[2] == "tree")

def read(body):
    response = Response("http://a.test/", 200, "OK", (("Content-Type", "text/html"),), body)
    return land(Candidate(Url("http://a.test/"), 0.0), response, PageLimits(), parts)

def peak():  # of this program: `ru_maxrss` also counts the process that started it
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) // 1024

read(b"<title>bees</title><a href=/x>honey</a>")
idle = peak()
page = read(open(sys.argv[1], "rb").read(10_000_000))  # where the fetcher cuts it
print(len(page.links), peak() - idle)
"""


def cost(body: Iterable[bytes], file: Path, parts: str = "counts") -> tuple[int, int]:
    """The number of links of the page, and the megabytes that reading it took."""
    with file.open("wb") as out:
        out.writelines(body)
    done = subprocess.run([sys.executable, "-P", "-c", READ, file, parts], capture_output=True, text=True, check=True)
    links, megabytes = done.stdout.split()
    return int(links), int(megabytes)


@pytest.mark.parametrize(
    ("body", "links", "most"),
    [
        ((b"<a href=/%d>x</a>" % number for number in range(1_000_000)), 5_000, 128),
        ((b"<a href=x>" for _ in range(200_000)), 5_000, 128),
        ((b"a" * 1_000_000 for _ in range(50)), 0, 64),
        ((b"word " * 200_000 for _ in range(50)), 0, 64),
    ],
    ids=["a-million-links", "open-links", "one-word", "one-line"],
)
def test_a_page_costs_a_bounded_amount_of_memory(body: Iterable[bytes], links: int, most: int, tmp_path: Path) -> None:
    found, megabytes = cost(body, tmp_path / "body")
    assert found == links
    assert megabytes <= most


@pytest.mark.parametrize("parts", ["counts", "tree"])
@pytest.mark.parametrize(
    "word",
    ["w{:x}q ", "{:060x} ", "\u0436{:x}\u044f ", "word ", "a"],
    ids=["distinct", "long", "cyrillic", "same", "run"],
)
def test_an_endless_body_costs_at_most_64_megabytes(word: str, parts: str, tmp_path: Path) -> None:
    body = "".join(map(word.format, range(10_000_000 // len(word.format(1_000_000))))).encode()
    assert len(body) > 9_000_000
    assert cost([body], tmp_path / "body", parts)[1] <= 64


def test_endless_tags_cost_at_most_192_megabytes_with_leaves_and_elements(tmp_path: Path) -> None:
    body = (b"<p>w%xq" % number for number in range(1_000_000))
    assert cost(body, tmp_path / "body", "tree")[1] <= 192
