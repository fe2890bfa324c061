"""Write a paper as HTML: a title, authors in the meta tags that publishers use, paragraphs, a reference list, links."""

from __future__ import annotations

from html import escape

from scenthound.page.pdf.read_paper import PdfPaper

MOST_CHARACTERS = 3_000_000


def paper_html(paper: PdfPaper) -> str:
    """The HTML of a paper. All text from the file is escaped."""
    title = escape(paper.title)
    head = f'<meta charset="utf-8"><title>{title}</title><meta name="citation_title" content="{title}">'
    head += "".join(f'<meta name="citation_author" content="{escape(name)}">' for name in paper.authors)
    body = "\n".join(f"<p>{escape(text)}</p>" for text in paper.paragraphs)
    if paper.references:
        entries = "\n".join(f"<li>{escape(text)}</li>" for text in paper.references)
        body += f"\n<h2>References</h2>\n<ol>\n{entries}\n</ol>"
    if paper.links:
        links = "\n".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>' for link in paper.links)
        body += f"\n<h2>Links</h2>\n<ul>\n{links}\n</ul>"
    return f"<!doctype html>\n<html><head>{head}</head><body><article>{body[:MOST_CHARACTERS]}</article></body></html>"
