"""Sections of the report on search length, cost, overlap, single topics, and problems."""

from __future__ import annotations

from scenthound.lab.measure.measure import FRACTIONS
from scenthound.lab.measure.statistics import Mean, mean
from scenthound.lab.report.curves import crawler_name
from scenthound.lab.report.experiment_facts import ExperimentFacts, median
from scenthound.lab.report.formatting import details, many, number, plus_minus, text
from scenthound.lab.run.cells import load_training
from scenthound.report.report_layout import section, table

FEW_TOPICS = 25
MOST_PROBLEMS = 200
NO_MEAN = Mean(None, None, 0)


def lengths(facts: ExperimentFacts) -> str:
    """The section on search length: the number of pages it took to find a share of the targets."""
    rows = []
    for name in facts.names:
        cells = []
        for fraction in FRACTIONS:
            pages = facts.reach.get(name, {}).get(fraction, [])
            reached = sum(count is not None for count in pages)
            length = median(pages)
            shown = "not reached" if length is None else f"{length:,.0f}"
            cells.append(f"{shown} <span class='se'>({reached:,} of {len(pages):,})</span>" if pages else "–")
        if any(cell != "–" for cell in cells):
            rows.append([crawler_name(facts, name), *cells])
    if not rows:
        return ""
    note = (
        "Median number of pages until a share of a topic's targets was found; in brackets, the number of crawls that "
        "found it. Crawls that never did count as later than all others, so a median is “not reached” if half of the "
        "crawls never did."
    )
    heads = ("crawler", *(f"{fraction:.0%} of the targets" for fraction in FRACTIONS))
    return section("Search length", note, table(heads, rows, range(1, len(FRACTIONS) + 1)))


def costs(facts: ExperimentFacts) -> str:
    """The section on CPU time of ranking, recall per CPU second, and other costs."""
    rows = []
    for name in facts.strategies:
        crawls = facts.crawls[name]
        rate = facts.mean("recall_per_cpu_second", name)
        rows.append(
            [
                crawler_name(facts, name),
                plus_minus(crawls.ranking_ms.mean, crawls.ranking_ms.error),
                plus_minus(rate.mean, rate.error),
                number(crawls.links_scored.mean, 1),
                number(crawls.misses.mean, 2),
                *([number(_training(facts, name), 2)] if facts.has_given else []),
            ]
        )
    heads = (
        "crawler",
        "ranking, CPU ms per page",
        f"recall per CPU second, at {facts.last:,}",
        "links scored per page",
        "dead links per page",
        *(["training, CPU s per crawl"] if facts.has_given else []),
    )
    note = (
        "Ranking is the CPU time of scoring and choosing, without fetching, parsing or text processing. Recall per CPU "
        "second also counts the text processing that a crawler asked for. Only CPU times differ from run to run; to "
        "compare costs, run three times with <code>--jobs 1</code> on an otherwise idle machine and take the best."
    )
    return section("Cost", note, table(heads, rows, range(1, len(heads))))


def _training(facts: ExperimentFacts, name: str) -> float | None:
    """Mean CPU seconds of training per crawl; None for a strategy without lessons."""
    if name not in facts.run.spec.given:
        return None
    cells = [cell for cell in facts.run.cells if cell.strategy == name and not cell.half]
    return mean([load_training(facts.run.folder, cell.key) for cell in cells]).mean


def overlaps(facts: ExperimentFacts) -> str:
    """The section on whether crawlers find the same pages: overlap of all pairs, and robustness if it was measured."""
    parts = []
    for metric, title in (("overlap", "of pages"), ("overlap_hosts", "of hosts")):
        overlap = facts.pairs.get(metric, {})
        if not overlap or (metric == "overlap_hosts" and {average.mean for average in overlap.values()} == {1.0}):
            continue  # not measured, or a bed of one host
        rows = []
        for name in facts.strategies:
            cells = []
            for other in facts.strategies:
                average = overlap.get((name, other)) or overlap.get((other, name))
                cells.append("" if name == other or average is None else plus_minus(average.mean, average.error))
            rows.append([crawler_name(facts, name), *cells])
        heads = (f"overlap {title}", *(text(name) for name in facts.strategies))
        parts.append(table(heads, rows, range(1, len(facts.strategies) + 1)))
    halves = facts.pairs.get("robustness", {})
    if halves:
        hosts = facts.pairs.get("robustness_hosts", {})
        rows = [
            [
                crawler_name(facts, name),
                plus_minus(average.mean, average.error),
                plus_minus(*hosts.get((name, name), NO_MEAN)[:2]),
            ]
            for (name, _), average in halves.items()
            if name in facts.strategies
        ]
        parts.append(table(("robustness: two halves of the seeds", "of pages", "of hosts"), rows, (1, 2)))
    if not parts:
        return ""
    note = (
        f"The share of the smaller set that is also in the other set, after {facts.last:,} pages of each; mean over "
        "topics. Crawlers with the same recall and little overlap find different answers."
    )
    return section("Do they find the same pages?", note, *parts)


def per_topic(facts: ExperimentFacts) -> str:
    """The section with the main metric at the last point, topic by topic."""
    values = facts.values.get(facts.main, {}).get(facts.last, {})
    shown = [name for name in facts.names if values.get(name)]
    top = max((value for name in shown for value in values[name].values() if value is not None), default=1.0) or 1.0
    rows = []
    for topic in facts.run.topics:
        cells = [_meter(values[name].get(topic.id), top, name in facts.oracles) for name in shown]
        keywords = f'<span class="how">{text(topic.keywords, 90)}</span>' if topic.keywords else ""
        name = text(topic.id, 60).replace("_", "_<wbr>").replace(".", ".<wbr>")
        rows.append([f"{name}{keywords}", f"{len(topic.targets):,}", f"{len(topic.seeds):,}", *cells])
    heads = ("topic", "targets", "seeds", *(text(name) for name in shown))
    topics = table(heads, rows, range(1, len(heads)), "topics")
    note = f"{text(facts.main)} after {facts.last:,} pages; runs of a topic are averaged."
    if len(rows) > FEW_TOPICS:
        topics = f"<details open><summary>{many(len(rows), 'topic')}</summary>{topics}</details>"
    return section("Topic by topic", note, topics)


def problems(facts: ExperimentFacts) -> str:
    """The section on topics with missing pages, and crawls that failed or are not done."""
    parts = []
    topic_problems = facts.run.problems
    if topic_problems:
        rows = [
            [
                text(problem.topic, 60),
                _effect(problem.what),
                f"{len(problem.urls):,} of {problem.of:,}" if problem.of else "–",
                ", ".join(text(url) for url in problem.urls[:3]) + (" …" if len(problem.urls) > 3 else ""),
            ]
            for problem in topic_problems[:MOST_PROBLEMS]
        ]
        parts.append(table(("topic", "what is missing", "how many", "which"), rows, (2,)))
    failed = facts.run.failures()
    if failed:
        rows = [
            [
                text(cell.strategy),
                text(cell.topic, 60),
                str(cell.seed_number),
                f"{outcome.pages:,}",
                text(outcome.error, 300),
            ]
            for cell, outcome in failed[:MOST_PROBLEMS]
        ]
        heads = ("crawl that failed", "topic", "seed number", "after pages", "error")
        parts.append(table(heads, rows, (2, 3)))
        parts.append('<p class="caption">A failed crawl counts with what it had found by then.</p>')
    missing = {name: crawls.missing for name, crawls in facts.crawls.items() if crawls.missing}
    if missing:
        listed = ", ".join(f"{text(name)} {count:,}" for name, count in missing.items())
        parts.append(f"<p>Crawls that are not done yet: {listed}. Run the same command again to resume them.</p>")
    more = max(len(topic_problems), len(failed)) - MOST_PROBLEMS
    if more > 0:
        parts.append(details(f"{more:,} more are in failures.jsonl"))
    if not parts:
        return section(
            "What went wrong", "Nothing: no topic was left out, no crawl failed, and the bed has every seed and target."
        )
    counts = f"{many(len(topic_problems), 'note')} on topics, {many(len(failed), 'failed crawl')}."
    return section("What went wrong", counts, *parts)


def _effect(what: str) -> str:
    meaning = {
        "no targets": "no targets: left out of everything that needs them",
        "no seeds": "no seed is in the bed: its crawls are empty and have no value",
        "seeds missing": "seeds that the bed lacks: its crawls start from the others",
        "targets missing": "targets that the bed lacks: they stay in the denominator of recall",
    }
    return text(meaning.get(what, what), 120)


def _meter(value: float | None, top: float, oracle: bool) -> str:
    if value is None:
        return "–"
    kind = " class='oracle'" if oracle else ""
    return (
        f'<span class="meter"><i{kind} style="width:{100 * max(value, 0.0) / top:.0f}%"></i></span>{number(value, 2)}'
    )
