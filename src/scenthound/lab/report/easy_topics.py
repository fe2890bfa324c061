"""The section on which topics are easy: correlations of topic characteristics with results (sheet 60.5)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scenthound.lab.report.curves import crawler_name
from scenthound.lab.report.experiment_facts import PRECISION, RECALL, Correlation, ExperimentFacts
from scenthound.lab.report.formatting import details, many, number, text
from scenthound.lab.topics.characteristics import Characteristics
from scenthound.report.report_layout import section, table

HEADS = {
    "specificity": "specificity",
    "link_set_size": "link-set size",
    "popularity": "popularity",
    "text_cohesiveness": "text cohesiveness",
    "link_cohesiveness": "link cohesiveness",
    "authority": "authority",
    "seed_target_similarity": "seed–target similarity",
}
FEW = 10  # topics; for fewer, the normal approximation of `_chance` does not hold
MEANING = (
    "<b>Specificity</b> is the depth of the topic in its directory; <b>link-set size</b> the number of targets; "
    "<b>popularity</b> the number of pages in the bed with all keywords; <b>text cohesiveness</b> the mean pairwise "
    "cosine of the target pages; <b>link cohesiveness</b> the share of targets that link to another target; "
    "<b>authority</b> the mean HITS authority of the targets found, relative to all pages found; <b>seed–target "
    "similarity</b> the cosine of the seed pages and the description."
)


def easy_topics(facts: ExperimentFacts) -> str:
    """The section: rank correlations of characteristics with final values, and the characteristics of all topics."""
    topics = facts.characteristics
    if not topics:
        return ""
    tables = [_correlations(facts, metric) for metric in (RECALL, PRECISION)]
    last = facts.run.spec.limits.pages
    note = (
        f"Spearman's rank correlation, over topics, of each characteristic with the value after {last:,} pages: 1 if "
        "topics with more of it always do better, −1 if they always do worse, – if fewer than three topics have both "
        "or nothing varies. These are observations, not effects: characteristics are also related to each other."
    )
    return section(
        "Which topics are easy?",
        note,
        *tables,
        f'<p class="caption">{_chance(facts)}{MEANING}</p>',
        details(f"Characteristics of {many(len(topics), 'topic')}", _all_topics(topics)),
    )


def _correlations(facts: ExperimentFacts, metric: str) -> str:
    rows = []
    for name in facts.names:
        correlations = facts.correlations(metric, name)
        most = max((topics for _, topics in correlations.values()), default=0)
        if most:
            rows.append([crawler_name(facts, name), *(_cell(correlations[head], most) for head in HEADS), f"{most:,}"])
    heads = (f"<code>{text(metric).replace('_', '_<wbr>')}</code>", *HEADS.values(), "n")
    return table(heads, rows, range(1, len(heads)), "means") if rows else ""


def _cell(correlation: Correlation, most: int) -> str:
    """The correlation, and its number of topics if that is smaller than in other columns."""
    rho, topics = correlation
    fewer = f" <span class='se'>({topics:,})</span>" if topics < most else ""
    return f"{'–' if rho is None else signed(rho)}{fewer}"


def signed(rho: float) -> str:
    """A correlation with two digits and a real minus sign.

    >>> signed(-0.5), signed(0.25), signed(-0.001)
    ('−0.50', '0.25', '0.00')
    """
    digits = f"{abs(rho):.2f}"
    return f"−{digits}" if rho < 0 and float(digits) else digits


def _chance(facts: ExperimentFacts) -> str:
    """A sentence on correlations by chance: up to 1.96 / √(n − 1), from Spearman's variance without association."""
    tables = [facts.correlations(metric, name) for metric in (RECALL, PRECISION) for name in facts.names]
    counts = [topics for table in tables for rho, topics in table.values() if rho is not None]
    if not counts:
        return ""
    most = max(counts)
    if most < FEW:
        return f"With {many(most, 'topic')}, a correlation says next to nothing. "
    return (
        f"Without any true relation, one in 20 correlations over {most:,} topics still exceeds about "
        f"±{1.96 / math.sqrt(most - 1):.2f}, and {len(counts):,} are shown here. "
    )


def _all_topics(topics: Mapping[str, Characteristics]) -> str:
    rows = [
        [
            text(topic, 60).replace("_", "_<wbr>").replace(".", ".<wbr>"),
            "–" if topic_facts.specificity is None else f"{topic_facts.specificity:,}",
            f"{topic_facts.link_set_size:,}",
            "–" if topic_facts.popularity is None else f"{topic_facts.popularity:,}",
            number(topic_facts.text_cohesiveness),
            number(topic_facts.link_cohesiveness),
            number(topic_facts.authority),
            number(topic_facts.seed_target_similarity),
        ]
        for topic, topic_facts in topics.items()
    ]
    return table(("topic", *HEADS.values()), rows, range(1, len(HEADS) + 1), "topics")
