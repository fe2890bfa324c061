"""The HTML layout shared by the reports of crawls and of experiments: page, sections, tables.

A report is one file that loads nothing else: no script, font or image; a content security policy enforces that. All
arguments are HTML: the caller must escape text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(title: str, style: str, parts: Iterable[str]) -> str:
    """A whole HTML page in the common style plus `style`. Empty parts are left out."""
    house = resources.files("scenthound.report").joinpath("templates/house.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{title}</title>\n<style>\n{house}{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def section(title: str, note: str, *parts: str) -> str:
    about = f'<p class="note">{note}</p>' if note else ""
    return f"<section>\n<h2>{title}</h2>\n{about}{''.join(parts)}\n</section>"


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Figures in large type, each with a caption."""
    shown = "".join(f'<div class="tile"><b>{figure}</b><span>{caption}</span></div>' for figure, caption in figures)
    return f'<section class="tiles">{shown}</section>'


def table(heads: Iterable[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), name: str = "") -> str:
    """A table; `numbers` are the columns aligned to the right."""
    right = set(numbers)

    def cell(tag: str, column: int, value: str) -> str:
        kind = ' class="num"' if column in right else ""
        return f"<{tag}{kind}>{value}</{tag}>"

    head = "".join(cell("th", column, value) for column, value in enumerate(heads))
    body = "\n".join(
        "<tr>" + "".join(cell("td", column, value) for column, value in enumerate(row)) + "</tr>" for row in rows
    )
    kind = f' class="{name}"' if name else ""
    return f'<div class="wide"><table{kind}><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
