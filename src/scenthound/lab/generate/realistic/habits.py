"""The habits of the realistic web: every share and size that can be set, with its calibrated default."""

from __future__ import annotations

from dataclasses import dataclass

from scenthound.parameters import Parameterised, parameter


@dataclass(frozen=True, slots=True)
class RealisticHabits(Parameterised):
    """How a realistic web is generated. Shares are from 0 to 1."""

    # subjects and words
    subjects: int = parameter(0, "number of subjects; 0: one for every 500 pages, at most 48", least=0, most=48)
    communities: int = parameter(5, "number of communities per subject, with few links between them", least=1, most=100)
    vocabulary: int = parameter(30_000, "number of words that belong to no subject", least=1000, most=200_000)
    flatness: int = parameter(8, "how even word frequencies are: weight 1 / (rank + flatness)", least=1)
    subject_words: int = parameter(250, "number of words of each subject", least=20, most=2000)
    words: int = parameter(260, "approximate number of words on a page, without stop words", least=20)
    strength: float = parameter(0.35, "share of a page's words that belong to its subject", least=0, most=1)
    jargon: float = parameter(0.18, "share of a page's words that its whole site uses", least=0, most=1)
    burst: float = parameter(0.15, "share of a page's words that come from a few words of its own", least=0, most=1)

    # sites
    section: int = parameter(14, "approximate number of pages in a section of a site", least=2)
    theme: float = parameter(0.2, "share of sections that are on the main subject of their site", least=0, most=1)
    focus: float = parameter(0.2, "share of a section's pages that are on its subject", least=0, most=1)
    guests: float = parameter(0.1, "share of a section's pages that are on a related subject", least=0, most=1)
    near_misses: float = parameter(
        0.06, "share of sections that use words of a subject but are not about it", least=0, most=1
    )
    corridors: float = parameter(0.06, "share of pages that lead to a subject but use different words", least=0, most=1)

    # links
    menu: int = parameter(7, "number of sections in the menu of a site", least=0)
    inside: int = parameter(5, "smallest number of links in the text to the same site; heavy-tailed", least=0)
    follow: float = parameter(
        0.25, "share of links within a section that lead to a page on the same subject", least=0, most=1
    )
    outside: float = parameter(
        0.3, "share of pages with links to other sites, in heavy-tailed numbers", least=0, most=1
    )
    same: float = parameter(0.4, "share of links to other sites that stay on the subject", least=0, most=1)
    related: float = parameter(0.1, "… that go to a related subject", least=0, most=1)
    through: float = parameter(0.1, "… that go to a corridor page of the subject", least=0, most=1)
    misled: float = parameter(0.05, "… that go to a near miss", least=0, most=1)
    joined: float = parameter(0.08, "share of links on the subject that may leave the community", least=0, most=1)
    copying: float = parameter(0.6, "share of linked pages from which a second link is copied", least=0, most=1)
    context: float = parameter(0.45, "share of links with words of the linked page beside them", least=0, most=1)
    generic: float = parameter(0.15, "share of links with an uninformative anchor text", least=0, most=1)
    dead: float = parameter(0.04, "share of pages with a dead link", least=0, most=1)
    moved: float = parameter(0.02, "share of pages with an old address, which some links still use", least=0, most=1)

    # companies
    companies: float = parameter(0.08, "share of pages that belong to companies", least=0, most=0.5)
    trades: float = parameter(0.5, "share of subjects that have companies, called trades", least=0, most=1)
    hubs: float = parameter(0.6, "share of trades with directories; 94 of 159 in [BIZ]", least=0, most=1)
    directories: int = parameter(3, "directories of each such trade; they overlap", least=1)
    coverage: float = parameter(0.35, "share of the trade's companies that each directory lists", least=0, most=1)
    named: float = parameter(0.5, "share of links to a company with the name of its trade beside them", least=0, most=1)
    mentions: float = parameter(0.1, "share of pages on a trade that link to one of its companies", least=0, most=1)
    company_seeds: int = parameter(10, "number of seeds of a company topic", least=1)
    boards: float = parameter(0.0, "share of companies with a page about their board of directors", least=0, most=1)
