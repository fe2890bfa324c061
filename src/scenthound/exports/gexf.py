"""GEXF export: the link graph of the crawled pages, for Gephi."""

from __future__ import annotations

import math
import re
from typing import BinaryIO
from xml.sax.saxutils import escape

from scenthound.exports import exporter, refuse_columns
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, Selection

# Characters that XML 1.0 can't represent in any form, including lone surrogates.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3">
<meta><creator>scenthound</creator><description>{about}</description></meta>
<graph defaultedgetype="directed" mode="static">
<attributes class="node">
<attribute id="n" title="n" type="integer"/>
<attribute id="similarity" title="similarity" type="double"/>
<attribute id="relevance" title="relevance" type="double"/>
<attribute id="relevant" title="relevant" type="boolean"/>
<attribute id="score" title="score" type="double"/>
<attribute id="host" title="host" type="string"/>
<attribute id="url" title="url" type="string"/>
</attributes>
"""


@exporter("gexf")
def gexf(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """The pages and the links between them, with number, relevance, similarity, score, host and URL."""
    refuse_columns(selection, "gexf")

    def write(text: str) -> None:
        out.write(text.encode())

    write(_HEAD.format(about=xml_text(folder.request.topic.keywords)))
    page_numbers: dict[str, int] = {}
    write("<nodes>\n")
    for page in filter(selection.takes, folder.pages()):
        step = page.step
        if step.requested is not None:
            page_numbers.setdefault(step.requested, step.n)
        page_numbers[step.url] = step.n
        attributes = {
            "n": step.n,
            "similarity": step.similarity,
            "relevance": page.relevance,
            "relevant": str(page.is_relevant).lower(),
            "host": page.host,
            "url": step.url,
        }
        if math.isfinite(step.score):  # XML writes "INF" for a seed's, which Java, and so Gephi, can't read
            attributes["score"] = step.score
        write(f'<node id="{step.n}" label="{xml_text(step.title or step.url)}"><attvalues>')
        for name, value in attributes.items():
            write(f'<attvalue for="{name}" value="{xml_text(str(value))}"/>')
        write("</attvalues></node>\n")
    write("</nodes>\n<edges>\n")
    edge = 0
    for source, targets in folder.database.links():
        start = page_numbers.get(source)
        for end in dict.fromkeys(page_numbers.get(target) for target in targets) if start is not None else ():
            if end is not None and end != start:
                write(f'<edge id="{edge}" source="{start}" target="{end}"/>\n')
                edge += 1
    write("</edges>\n</graph>\n</gexf>\n")
    return len(set(page_numbers.values()))


def xml_text(text: str) -> str:
    """Text for an XML attribute or element: escaped, and without characters that XML can't represent.

    >>> xml_text('a<b>"\\x1b&')
    'a&lt;b&gt;&quot;&amp;'
    """
    return escape(_NOT_XML.sub("", text), {'"': "&quot;", "'": "&apos;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
