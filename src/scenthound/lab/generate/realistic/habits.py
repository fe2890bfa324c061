"""The habits of the realistic web: every share and size that can be set, with the calibrated defaults."""

from __future__ import annotations

from dataclasses import dataclass

from scenthound.parameters import Parameterised, parameter


@dataclass(frozen=True, slots=True)
class RealisticHabits(Parameterised):
    """How a realistic web is made. Shares are from 0 to 1."""

    # subjects and words
    subjects: int = parameter(0, "subjects of the web; 0: one for 500 pages, at most 48", least=0, most=48)
    communities: int = parameter(5, "communities of a subject, weakly joined", least=1, most=100)
    vocabulary: int = parameter(30_000, "words of no subject", least=1000, most=200_000)
    flatness: int = parameter(8, "how even word frequencies are: weight 1 / (rank + flatness)", least=1)
    subject_words: int = parameter(250, "words of a subject", least=20, most=2000)
    words: int = parameter(260, "words of a page without stop words, roughly", least=20)
    strength: float = parameter(0.35, "share of a page's words that are of its subject", least=0, most=1)
    jargon: float = parameter(0.18, "share of a page's words that its whole site uses", least=0, most=1)
    burst: float = parameter(0.15, "share of a page's words that are a few words of its own", least=0, most=1)

    # sites
    section: int = parameter(14, "pages of a section of a site, roughly", least=2)
    theme: float = parameter(0.2, "sections on the main subject of their site", least=0, most=1)
    focus: float = parameter(0.2, "pages of a section that are on its subject", least=0, most=1)
    guests: float = parameter(0.1, "pages of a section that are on a related subject", least=0, most=1)
    near_misses: float = parameter(
        0.06, "sections that share words with a subject and are not about it", least=0, most=1
    )
    corridors: float = parameter(0.06, "pages with a vocabulary of their own that lead to a subject", least=0, most=1)

    # links
    menu: int = parameter(7, "sections in the menu of a site", least=0)
    inside: int = parameter(5, "links in the text to the own site; a heavy tail from here on", least=0)
    follow: float = parameter(
        0.25, "links within a section, from a page on a subject, to the next page on it", least=0, most=1
    )
    outside: float = parameter(0.3, "pages with links to other sites; a heavy tail from one link on", least=0, most=1)
    same: float = parameter(0.4, "links to other sites that stay on the subject", least=0, most=1)
    related: float = parameter(0.1, "… that go to a related subject", least=0, most=1)
    through: float = parameter(0.1, "… that go to a corridor page of the subject", least=0, most=1)
    misled: float = parameter(0.05, "… that go to a near miss", least=0, most=1)
    joined: float = parameter(0.08, "links on the subject that leave the community", least=0, most=1)
    copying: float = parameter(0.6, "linked pages from which a second link is copied", least=0, most=1)
    context: float = parameter(0.45, "links with words of the linked page beside them", least=0, most=1)
    generic: float = parameter(0.15, "anchors that say nothing", least=0, most=1)
    dead: float = parameter(0.04, "pages with a dead link", least=0, most=1)
    moved: float = parameter(0.02, "pages that some links know under an old address", least=0, most=1)

    # companies
    companies: float = parameter(0.08, "pages that belong to companies", least=0, most=0.5)
    trades: float = parameter(0.5, "subjects that have companies", least=0, most=1)
    hubs: float = parameter(0.6, "trades with directories; 94 of 159 in [BIZ]", least=0, most=1)
    directories: int = parameter(3, "directories of such a trade, overlapping", least=1)
    coverage: float = parameter(0.35, "companies of the trade in each directory", least=0, most=1)
    named: float = parameter(0.5, "links to a company beside which its trade is named", least=0, most=1)
    mentions: float = parameter(0.1, "pages on a trade that name one of its companies", least=0, most=1)
    company_seeds: int = parameter(10, "seeds of a company topic", least=1)
    boards: float = parameter(0.0, "companies with a page on their board of directors", least=0, most=1)
