"""What kind of topics were they, and does that go with how much the crawlers found? (sheet 60.5)"""

from __future__ import annotations

import math
from collections.abc import Mapping

from scenthound.lab.report.curves import named
from scenthound.lab.report.experiment_facts import PRECISION, RECALL, Correlation, ExperimentFacts
from scenthound.lab.report.markup import details, many, number, text
from scenthound.lab.topics.characteristics import Characteristics
from scenthound.report.page import section, table

HEADS = {
    "specificity": "specificity",
    "link_set_size": "link-set size",
    "popularity": "popularity",
    "text_cohesiveness": "text cohesiveness",
    "link_cohesiveness": "link cohesiveness",
    "authority": "authority",
    "seed_target_similarity": "seed–target similarity",
}
FEW = (
    10  # topics: below, the normal approximation of `_chance` does not hold, and hardly any correlation is beyond luck
)
MEANING = (
    "<b>Specificity</b> is the depth of the topic in its directory; <b>link-set size</b> the number of targets; "
    "<b>popularity</b> the pages of the bed that hold all keywords; <b>text cohesiveness</b> the mean pairwise cosine "
    "of the target pages; <b>link cohesiveness</b> the share of targets that link to another one; <b>authority</b> "
    "the mean HITS authority of the targets found, relative to all pages found; <b>seed–target similarity</b> the "
    "cosine of the seed pages and the description."
)


def easy_topics(facts: ExperimentFacts) -> str:
    """Rank correlations of what topics are like with what crawlers reached at the end, and the topics themselves."""
    topics = facts.characteristics
    if not topics:
        return ""
    tables = [_correlations(facts, metric) for metric in (RECALL, PRECISION)]
    last = facts.run.spec.limits.pages
    note = (
        f"Spearman's rank correlation over topics of each characteristic with the value after {last:,} pages: 1 where "
        "topics that have more of it always go better, −1 where they always go worse, – where fewer than three topics "
        "have both or nothing varies. These are observations, not effects: characteristics go together, too."
    )
    return section(
        "Which topics are easy?",
        note,
        *tables,
        f'<p class="caption">{_chance(facts)}{MEANING}</p>',
        details(f"Characteristics of {many(len(topics), 'topic')}", _every(topics)),
    )


def _correlations(facts: ExperimentFacts, metric: str) -> str:
    rows = []
    for name in facts.names:
        found = facts.correlations(metric, name)
        most = max((pairs for _, pairs in found.values()), default=0)
        if most:
            rows.append([named(facts, name), *(_cell(found[one], most) for one in HEADS), f"{most:,}"])
    heads = (f"<code>{text(metric).replace('_', '_<wbr>')}</code>", *HEADS.values(), "n")
    return table(heads, rows, range(1, len(heads)), "means") if rows else ""


def _cell(found: Correlation, most: int) -> str:
    """The correlation; where it rests on fewer topics than its neighbours, on how many."""
    rho, pairs = found
    fewer = f" <span class='se'>({pairs:,})</span>" if pairs < most else ""
    return f"{'–' if rho is None else signed(rho)}{fewer}"


def signed(rho: float) -> str:
    """
    >>> signed(-0.5), signed(0.25), signed(-0.001)
    ('−0.50', '0.25', '0.00')
    """
    told = f"{abs(rho):.2f}"
    return f"−{told}" if rho < 0 and float(told) else told


def _chance(facts: ExperimentFacts) -> str:
    """How large a correlation is by luck alone: 1.96 / √(n − 1), from Spearman's variance without association."""
    found = [facts.correlations(metric, name) for metric in (RECALL, PRECISION) for name in facts.names]
    told = [pairs for one in found for rho, pairs in one.values() if rho is not None]
    if not told:
        return ""
    most = max(told)
    if most < FEW:
        return f"With {many(most, 'topic')} a correlation says next to nothing. "
    return (
        f"Where there is no connection at all, one in 20 correlations over {most:,} topics still lies beyond about "
        f"±{1.96 / math.sqrt(most - 1):.2f}, and {len(told):,} are shown here. "
    )


def _every(topics: Mapping[str, Characteristics]) -> str:
    rows = [
        [
            text(topic, 60).replace("_", "_<wbr>").replace(".", ".<wbr>"),
            "–" if one.specificity is None else f"{one.specificity:,}",
            f"{one.link_set_size:,}",
            "–" if one.popularity is None else f"{one.popularity:,}",
            number(one.text_cohesiveness),
            number(one.link_cohesiveness),
            number(one.authority),
            number(one.seed_target_similarity),
        ]
        for topic, one in topics.items()
    ]
    return table(("topic", *HEADS.values()), rows, range(1, len(HEADS) + 1), "topics")
