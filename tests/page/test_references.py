"""Reference lists of HTML pages."""

from __future__ import annotations

import time

from scenthound.page.references import references

AHO = "Aho, A. (1975). Efficient string matching."
BLOOM = "B. Bloom. Space/time trade-offs in hash coding. CACM 13, 1970."


def test_reference_lists_are_found_below_their_headings() -> None:
    html = (
        "<h2>Menu</h2><ul><li>Not this one of 1999</li></ul><div><h3>6. References</h3></div>"
        f"<div><ul><li>{AHO}</li></ul></div><h3>After 1999</h3><ul><li>{BLOOM}</li></ul>"
    )
    assert references(html) == [AHO]
    assert references(f"<h2>Bibliography</h2><p>intro</p><dl><dt>1</dt><dd>{BLOOM}</dd></dl>") == [BLOOM]


def test_paragraphs_boxes_and_rows_of_a_table_are_references_too() -> None:
    assert references(f"<h2>References</h2><p>{AHO}</p><p>{BLOOM}</p>") == [AHO, BLOOM]
    boxes = f'<div id="refs"><div class="csl-entry">{AHO}</div><div class="csl-entry">{BLOOM}</div></div>'
    assert references(f"<h2>References</h2>{boxes}") == [AHO, BLOOM]
    rows = f"<table><tr><td>[1]</td><td>{AHO}</td></tr><tr><td>[2]</td><td>{BLOOM}</td></tr></table>"
    assert references(f"<h2>References</h2>{rows}") == [f"[1] {AHO}", f"[2] {BLOOM}"]
    assert references(f'<p class="rubric">References</p><ul><li><p>{AHO}</p></li></ul>') == [AHO]


def test_what_has_neither_year_nor_address_is_not_a_reference() -> None:
    assert references(f"<h2>References</h2><p>These are the papers.</p><p>{AHO}</p><p>Back to the top</p>") == [AHO]
    address = "Search Engine Watch: http://watch.test/"
    assert references(f"<h2>References</h2><ul><li>{address}</li></ul>") == [address]


def test_hostile_markup_takes_linear_time() -> None:
    started = time.process_time()
    for html in (
        "<b>" * 100_000 + "References",
        "<ul><li>" * 50_000 + "x",
        "<p>References</p>" * 20_000 + f"<p>{AHO}</p>",
    ):
        references(html)
    assert time.process_time() - started < 20  # seconds: a square of these sizes takes hours
