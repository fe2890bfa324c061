"""How many references of labelled papers are found, and how many are linked to the right paper.

    python benchmarks/references.py                 the figures of docs/applications.md
    python benchmarks/references.py --part tune --show

Downloads the Debian packages that the labels name with `apt-get download` (12 MB; nothing is installed) and unpacks
them with `dpkg -x` into `--papers`. The papers in `--seeds` are texts that are not public; they are skipped if missing.

A reference counts as found if one extracted text contains its first author among its first words, its year and the
beginning of its title, and nothing of another reference. A text that is longer than 700 characters, or that matches no
label, counts as wrong.
"""

from __future__ import annotations

import argparse
import html
import re
import subprocess
import sys
import time
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from scenthound.desk.apps.portal.citations import Paper, Papers
from scenthound.desk.apps.portal.page_metadata import extract_metadata
from scenthound.model import Response
from scenthound.page.pdf import as_html
from scenthound.page.read import PageLimits
from scenthound.page.references import is_reference_heading, references
from scenthound.web.html_document import parse_html

LABELS = Path(__file__).with_name("references_labels.txt")
LIBRARY = Path("usr/lib/R/site-library")
LONGEST = 700
PACKAGES = {"DESeq2": "r-bioc-deseq2"}  # all others are r-cran- and the name in lower case


@dataclass(frozen=True)
class Label:
    author: str
    year: str
    title: str
    cites: str

    def is_in(self, text: str) -> bool:
        flat = squashed(text)
        return squashed(self.title) in flat and squashed(self.author) in flat and self.year in text

    def begins(self, text: str) -> bool:
        return squashed(self.author) in squashed(" ".join(text.split()[:12]))


@dataclass
class Labelled:
    path: str
    part: str
    labels: list[Label] = field(default_factory=list)


def squashed(text: str) -> str:
    """The letters and digits of a text, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


def read_labels() -> list[Labelled]:
    papers: list[Labelled] = []
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            _, part, path = line.split(maxsplit=2)
            papers.append(Labelled(path, part))
        elif line and not line.startswith("#"):
            words, _, cites = line.partition(" -> ")
            author, year, title = words.split(maxsplit=2)
            papers[-1].labels.append(Label(author, "" if year == "-" else year, title, cites))
    return papers


def fetch(paths: set[str], folder: Path) -> None:
    """Download and unpack the packages whose files are missing."""
    missing = {path.split("/")[0] for path in paths if not (folder / LIBRARY / path).is_file()}
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(missing):
        package = PACKAGES.get(name, f"r-cran-{name.lower()}")
        subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
        archive = next(folder.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg", "-x", archive, folder], check=True)
        archive.unlink()


def page_of(path: str, folder: Path, seeds: Path) -> str | None:
    """A paper as the HTML that the portal reads."""
    if path.startswith("seeds/"):
        files = sorted(seeds.glob(f"{path[6:]}_*.txt"))
        return marked_up(files[0].read_text(encoding="utf-8")) if files else None
    content = (folder / LIBRARY / path).read_bytes()
    if path.endswith(".html"):
        return content.decode("utf-8", "replace")
    reply = Response("", 200, "OK", (("Content-Type", "application/pdf"),), content)
    converted = as_html(reply, PageLimits(pdf=True))
    if not isinstance(converted, Response):
        raise SystemExit(f"{path}: {converted.detail}")
    return converted.body.decode("utf-8")


def marked_up(text: str) -> str:
    """Convert Markdown to HTML. The first line is the title, the second has the authors."""
    parts = []
    lines = [re.sub(r"[*_\\]|<[^>]*>", "", line).strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        words = line.lstrip("#- ").strip()
        tag = "h2" if line.startswith("#") or is_reference_heading(words) else "li" if line.startswith("- ") else "p"
        parts.append(f"<{tag}>{html.escape(words)}</{tag}>")
    body = re.sub(r"((?:<li>.*?</li>\n?)+)", r"<ul>\1</ul>", "\n".join(parts))
    author = re.split(r",| and ", re.sub(r"[@!\d¹²³^{}†]", "", lines[1]))[0]
    return (
        f'<meta name="citation_title" content="{html.escape(lines[0].lstrip("# "))}">'
        f'<meta name="citation_author" content="{html.escape(author)}">{body}'
    )


def facts_of(page: str) -> Paper:
    """The facts by which the portal recognises a paper."""
    statements = extract_metadata(page)
    return Paper(
        statements.title or parse_html(page, "http://papers.example/").title, statements.authors, statements.date
    )


def score(paper: Labelled, texts: list[str], show: bool) -> tuple[int, int, int]:
    """The number of right, extracted and labelled references."""
    missed = list(paper.labels)
    for text in texts:
        inside = [label for label in paper.labels if label.is_in(text)]
        titles = {squashed(label.title) for label in inside}
        longest = {title for title in titles if not any(title != other and title in other for other in titles)}
        own = next((label for label in inside if label in missed and label.begins(text)), None)
        if own is not None and len(longest) == 1 and len(text) <= LONGEST:
            missed.remove(own)
        elif show:
            print(f"  wrong: {text[:160]}")
    for label in missed if show else ():
        print(f"  missed: {label.author} {label.year} {label.title}")
    return len(paper.labels) - len(missed), len(texts), len(paper.labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=Path("build/papers"))
    parser.add_argument("--seeds", type=Path, default=Path("../shared/seeds"))
    parser.add_argument("--part", choices=("tune", "test"), help="only these papers")
    parser.add_argument("--show", action="store_true", help="print what was wrong")
    options = parser.parse_args()
    labelled = read_labels()
    paths = [paper.path for paper in labelled]
    paths += sorted({label.cites for paper in labelled for label in paper.labels if label.cites} - set(paths))
    fetch({path for path in paths if not path.startswith("seeds/")}, options.papers)
    started = time.perf_counter()
    pages = {path: page for path in paths if (page := page_of(path, options.papers, options.seeds)) is not None}
    seconds = time.perf_counter() - started
    facts = {path: facts_of(page) for path, page in pages.items()}
    numbers = {path: number for number, path in enumerate(pages)}
    papers = Papers({numbers[path]: paper_facts for path, paper_facts in facts.items()})
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 6)
    for paper in labelled:
        if paper.path not in pages or options.part not in (None, paper.part):
            continue
        if options.show:
            print(f"{paper.path}: {facts[paper.path].title} / {', '.join(facts[paper.path].authors)}")
        found = references(pages[paper.path])
        kind = "text" if paper.path.startswith("seeds/") else paper.path.rpartition(".")[2]
        cited = {path for path, number in numbers.items() if number in papers.cited_in(found)} - {paper.path}
        truth = {label.cites for label in paper.labels if label.cites in pages}
        if options.show and cited != truth:
            print(f"  linked wrongly: {sorted(cited - truth)}; not linked: {sorted(truth - cited)}")
        row = [*score(paper, found, options.show), len(cited & truth), len(cited), len(truth)]
        for key in ((paper.part, kind), (paper.part, "all")):
            sums[key] = [a + b for a, b in zip(sums[key], row, strict=True)]
    print(
        "part  kind  found/extracted precision  found/labelled recall  right/joined precision  right/citations recall"
    )
    for (part, kind), (right, extracted, known, joined, joins, citations) in sorted(sums.items()):
        print(
            f"{part:5} {kind:5} {right}/{extracted} {share(right, extracted)}  {right}/{known} {share(right, known)}  "
            f"{joined}/{joins} {share(joined, joins)}  {joined}/{citations} {share(joined, citations)}"
        )
    print(f"{len(pages)} papers read in {seconds:.1f} s", file=sys.stderr)


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
