"""Writes `report.html` of an experiment: one self-contained file that a reviewer can check.

No script, font or image from elsewhere; a content security policy enforces it. Names, titles and errors are untrusted:
`text` cleans and escapes them. The report is made from the tables, so the same experiment gives the same report except
for measured seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from scenthound.files import write_text
from scenthound.lab.measure.compare_crawlers import clear_winner, is_significant
from scenthound.lab.measure.groups import CATEGORY
from scenthound.lab.report.curves import figure
from scenthound.lab.report.details import costs, lengths, overlaps, per_topic, problems
from scenthound.lab.report.easy_topics import easy_topics
from scenthound.lab.report.experiment_facts import HARVEST, PRECISION, RECALL, ExperimentFacts
from scenthound.lab.report.formatting import and_list, many, number, spelled, text
from scenthound.lab.report.polite import by_virtual_time
from scenthound.lab.report.requests_section import by_requests
from scenthound.lab.report.significance import means, other_metrics, tests
from scenthound.lab.run.experiment import Experiment
from scenthound.lab.run.spec import display_name
from scenthound.lab.topics.start import Start
from scenthound.report.report_layout import document, section, tiles

NAME = "report.html"
ABOUT = {
    RECALL: "The share of a topic's targets that have been crawled. Targets that the bed lacks stay in the "
    "denominator; those that are seeds do not.",
    PRECISION: "The mean similarity (TF-IDF cosine) of the crawled pages to the topic's description, which no crawler "
    "has seen. Judged over the pages that all crawlers of the topic found together, so the reference lines have none.",
    HARVEST: "The share of crawled pages that are targets of the topic. A crawl that ended early keeps its last value.",
}


def write_report(run: Experiment, points: Sequence[int], group_by: str = CATEGORY) -> Path:
    """Write the report into the experiment's folder. The tables must have these points."""
    path = run.folder / NAME
    write_text(path, render(ExperimentFacts(run, tuple(points), group_by)))
    return path


def render(facts: ExperimentFacts) -> str:
    """The report as one HTML document."""
    style = resources.files("scenthound.lab.report").joinpath("report.css").read_text(encoding="utf-8")
    title = f"{', '.join(facts.strategies)} on {facts.run.spec.name}"
    parts = [
        _head(facts),
        _tiles(facts),
        figure(facts, RECALL, "Target recall", ABOUT[RECALL]),
        means(facts),
        tests(facts),
        by_requests(facts),
        by_virtual_time(facts),
        figure(facts, PRECISION, "Precision", ABOUT[PRECISION]),
        figure(facts, HARVEST, "Harvest rate", ABOUT[HARVEST]),
        lengths(facts),
        costs(facts),
        overlaps(facts),
        per_topic(facts),
        easy_topics(facts),
        problems(facts),
        other_metrics(facts),
        _specification(facts),
    ]
    return document(f"{text(title)} · scenthound lab", style, parts)


def _head(facts: ExperimentFacts) -> str:
    spec = facts.run.spec
    count = len(facts.strategies)
    name = f"{spelled(count).capitalize()} {'crawler' if count == 1 else 'crawlers'} on {text(spec.name)}"
    title = str(facts.about.get("title", ""))
    bed = f"<em>{text(title, 200)}</em>, " if title and title != spec.name else ""
    return (
        f'<header>\n<p class="kicker">An experiment</p>\n<h1>{name}</h1>\n'
        f'<p class="lead">{bed}{facts.topics_text}, {many(spec.limits.pages, "page")} a crawl. '
        f"{_summary(facts)}</p>\n</header>"
    )


def _summary(facts: ExperimentFacts) -> str:
    """The result in two sentences: the best crawler, whether that is significant, and the possible maximum."""
    metric = facts.main
    ranked = [(over.mean, name) for name in facts.strategies if (over := facts.mean(metric, name)).mean is not None]
    if not ranked:
        return "No topic could be judged."
    _, best = max(ranked)
    over = facts.mean(metric, best)
    what = "found the largest share of the targets" if metric == RECALL else f"had the highest {text(metric)}"
    sentence = (
        f"After {facts.last:,} pages <strong>{text(best)}</strong> {what}: <strong>{number(over.mean)}</strong> "
        f"± {number(over.error)} over {many(over.number, 'topic')}"
    )
    compared = facts.compared(metric, facts.last)
    won = [each.second for each in compared if each.first == best and is_significant(each)]
    open_ = [name for name in facts.strategies if name != best and name not in won]
    if len(facts.strategies) == 1:
        sentence += "."
    elif clear_winner(compared, facts.strategies) == best:
        sentence += ", and it is shown to be better than every other one."
    elif won:
        sentence += f"; it is shown to be better than {and_list(won)}, but no difference is shown to {and_list(open_)}."
    else:
        sentence += ", but no difference is shown to any other."
    if metric == RECALL and "path-oracle" in facts.oracles:
        could = facts.mean(metric, "path-oracle")
        if could.mean is not None:
            sentence += f" With knowledge of all links and answers one could reach {number(could.mean)}."
    return sentence


def _tiles(facts: ExperimentFacts) -> str:
    spec, crawls = facts.run.spec, facts.crawls
    done = sum(crawls[name].number for name in facts.strategies)
    failed = sum(each.failed for each in crawls.values())
    missing = sum(each.missing for each in crawls.values())
    figures = [
        (f"{len(facts.run.topics):,}", "topics"),
        (f"{len(facts.strategies):,}", f"strategies, and {spelled(len(facts.oracles))} reference lines"),
        (f"{done:,}", "crawls of strategies"),
        (f"{spec.limits.pages:,}", "pages a crawl at most"),
        (f"{failed:,}", "crawls failed"),
    ]
    if missing:
        figures.append((f"{missing:,}", "crawls still to be done"))
    return tiles(figures)


def _given(facts: ExperimentFacts) -> str:
    """What the lab gave each strategy (sheet 60.7)."""
    given = facts.run.spec.given
    sentence = [
        f"<code>{text(name)}</code>: {text(', '.join(given[name]), 300)}" for name in facts.strategies if name in given
    ]
    rest = "<br>All others: nothing." if len(sentence) < len(facts.strategies) else ""
    return "<br>".join(sentence) + rest


def _given_to_all(facts: ExperimentFacts) -> str:
    """What every strategy gets."""
    has_examples = any(topic.topic.examples for topic in facts.run.topics)
    return f"keywords{', seeds and example pages' if has_examples else ' and seeds'} of the topic"


def _oracle_modes(facts: ExperimentFacts) -> str:
    """Which strategies were given more than the others (sheet 60.7)."""
    spec = facts.run.spec
    modes = [name for name in spec.strategies if display_name(name, spec.given) != name]
    if not modes:
        return ""
    verb = "are oracle modes: they" if len(modes) > 1 else "is an oracle mode: it"
    return (
        f". {and_list(modes)} {verb} may read links of pages that were not fetched, as no crawler can; drawn with the "
        "reference lines and not compared with crawlers"
    )


def _specification(facts: ExperimentFacts) -> str:
    spec = facts.run.spec
    limits = spec.limits
    bed = facts.about
    seeds = f"a topic's first {spec.seeds_per_run:,}" if spec.seeds_per_run else "all of a topic's, in their order"
    if spec.start != str(Start()):
        seeds = f"{spec.start}: drawn by seed number, listed in <code>starts.jsonl</code>"
    numbers = ", ".join(map(str, spec.seed_numbers))
    cut = f"the first {spec.cut.page_bytes:,} bytes" if spec.cut.page_bytes else "whole pages"
    rows = [
        ("bed", f"{text(spec.name)}{': ' + text(str(bed['title']), 200) if bed.get('title') else ''}"),
        ("its digest", f"<code>{text(spec.digest)}</code>"),
        ("origin", text(str(bed.get("origin") or "unknown"), 400)),
        ("licence", text(str(bed.get("licence") or "unknown"), 400)),
        ("strategies", ", ".join(f"<code>{text(name)}</code>" for name in spec.strategies)),
        (
            "given to each",
            f"{_given_to_all(facts)}; descriptions and targets are used for judging only{_oracle_modes(facts)}",
        ),
        *(("given beyond that", _given(facts)) for _ in [1] if facts.has_given),
        ("topics", f"{len(facts.run.topics):,}, listed in <code>topics.jsonl</code>"),
        ("seeds", seeds),
        ("seed numbers", f"{numbers}; runs of a topic are averaged before anything is tested"),
        ("limits", f"{limits.pages:,} pages, {f'{limits.requests:,} requests, ' if limits.requests else ''}"
         f"{limits.frontier:,} URLs waiting, {limits.in_flight:,} in flight, "
         f"{limits.redirects:,} redirects{f', {limits.spread:,} hosts in as many picks' if limits.spread > 1 else ''}"
         + (" (not where a strategy has a frontier of its own)" if limits.spread > 1 else "")
         + (", no URLs with a query" if limits.static else "")),
        ("what is read", f"{cut}; links up to {spec.cut.url_length:,} characters"),
        ("versions", ", ".join(f"{text(name)} {text(version)}" for name, version in spec.versions.items())),
    ]  # fmt: skip
    body = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    files = (
        "One JSON line for each page of each crawl is in <code>trails/</code>, every value behind this page in the "
        "<code>.parquet</code> tables. Everything but measured seconds is byte for byte the same when it is run again."
    )
    return section(
        "What was run",
        "To repeat it:",
        f'<pre class="command">{text(facts.command, 20_000)}</pre><dl>{body}</dl><p class="note">{files}</p>',
    )
