"""The papers that descriptions cite by a short name, such as [EXP] or [CHAP 4.1]."""

from __future__ import annotations

import re

PAPERS = {
    "EXP": "Pant, Srinivasan, Menczer: Exploration versus Exploitation in Topic Driven Crawlers. WWW 2002 Workshop on "
    "Web Dynamics, 2002",
    "CHAP": "Pant, Srinivasan, Menczer: Crawling the Web. In Levene, Poulovassilis: Web Dynamics, Springer, 2004",
    "BIZ": "Pant, Menczer: Topical Crawling for Business Intelligence. ECDL 2003",
    "GRAPH": "Cami, Deo: Evaluation of a Graph-based Topical Crawler. ICOMP 2006",
    "ECON": "Baum, Kruus, Durdanovic, Hainsworth: Focused Web Crawling using an Auction-based Economy. NEC Research "
    "Institute, about 2002",
}


def papers_cited(text: str) -> list[str]:
    """The full citations of the short names in a text, one line each.

    >>> papers_cited("similarity [CHAP 4.1; BIZ]")[1]
    '[BIZ] Pant, Menczer: Topical Crawling for Business Intelligence. ECDL 2003'
    """
    cited = [word for bracket in re.findall(r"\[([^\]]+)\]", text) for word in re.findall(r"\b[A-Z]{3,}\b", bracket)]
    return [f"[{name}] {PAPERS[name]}" for name in dict.fromkeys(cited) if name in PAPERS]
