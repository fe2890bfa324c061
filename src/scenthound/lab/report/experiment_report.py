"""Write the `report.html` of an experiment: one self-contained file that a reviewer can check.

It loads no script, font or image; a content security policy enforces that. Names, titles and errors are untrusted:
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
from scenthound.lab.report.easy_topics import easy_topics
from scenthound.lab.report.experiment_facts import HARVEST, PRECISION, RECALL, ExperimentFacts
from scenthound.lab.report.formatting import and_list, count_in_words, many, number, text
from scenthound.lab.report.more_sections import costs, lengths, overlaps, per_topic, problems
from scenthound.lab.report.requests_section import by_requests
from scenthound.lab.report.significance import means, other_metrics, tests
from scenthound.lab.report.virtual_time_section import by_virtual_time
from scenthound.lab.run.experiment import Experiment
from scenthound.lab.run.oracles import BOUND
from scenthound.lab.run.spec import display_name
from scenthound.lab.topics.crawl_starts import Start
from scenthound.report.report_layout import document, section, tiles

NAME = "report.html"
ABOUT = {
    RECALL: "The share of a topic's targets that have been crawled. Targets that the bed lacks stay in the "
    "denominator; targets that are seeds do not.",
    PRECISION: "The mean similarity (TF-IDF cosine) of the crawled pages to the topic's description, which no crawler "
    "has seen. It is computed over the pages that all crawlers of the topic found together, so the reference lines "
    "have no value.",
    HARVEST: "The share of crawled pages that are targets of the topic. A crawl that ended early keeps its last value.",
}

GIVEN_TO_EACH = (
    "keywords and seeds of the topic, and whether pages or sites are looked for; its name, path, description, targets "
    "and neighbours are given to none"
)


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
    name = f"{count_in_words(count).capitalize()} {'crawler' if count == 1 else 'crawlers'} on {text(spec.name)}"
    title = str(facts.about.get("title", ""))
    bed = f"<em>{text(title, 200)}</em>, " if title and title != spec.name else ""
    return (
        f'<header>\n<p class="kicker">An experiment</p>\n<h1>{name}</h1>\n'
        f'<p class="lead">{bed}{facts.topics_text}, {many(spec.limits.pages, "page")} per crawl. '
        f"{_summary(facts)}</p>\n</header>"
    )


def _summary(facts: ExperimentFacts) -> str:
    """The result in two sentences: the best crawler, whether its lead is significant, and what is possible."""
    metric = facts.main
    averages = {name: facts.mean(metric, name) for name in facts.strategies}
    ranked = [(average.mean, name) for name, average in averages.items() if average.mean is not None]
    if not ranked:
        return "No topic could be measured."
    _, best = max(ranked)
    average = averages[best]
    what = "found the largest share of the targets" if metric == RECALL else f"had the highest {text(metric)}"
    sentence = (
        f"After {facts.last:,} pages, <strong>{text(best)}</strong> {what}: <strong>{number(average.mean)}</strong> "
        f"± {number(average.error)} over {many(average.number, 'topic')}"
    )
    comparisons = facts.comparisons(metric, facts.last)
    beaten = [test.second for test in comparisons if test.first == best and is_significant(test)]
    undecided = [name for name in facts.strategies if name != best and name not in beaten]
    if len(facts.strategies) == 1:
        sentence += "."
    elif clear_winner(comparisons, facts.strategies) == best:
        sentence += ", significantly better than every other crawler."
    elif beaten:
        sentence += (
            f". It is significantly better than {and_list(beaten)}, but not shown to be better than "
            f"{and_list(undecided)}."
        )
    else:
        sentence += ", but it is not shown to be better than any other crawler."
    if metric == RECALL and BOUND in facts.oracles:
        possible = facts.mean(metric, BOUND)
        if possible.mean is not None:
            sentence += f" With knowledge of all links and targets, {number(possible.mean)} can be reached."
    return sentence


def _tiles(facts: ExperimentFacts) -> str:
    spec, crawls = facts.run.spec, facts.crawls
    done = sum(crawls[name].number for name in facts.strategies)
    failed = sum(crawl.failed for crawl in crawls.values())
    missing = sum(crawl.missing for crawl in crawls.values())
    figures = [
        (f"{len(facts.run.topics):,}", "topics"),
        (f"{len(facts.strategies):,}", f"strategies, and {count_in_words(len(facts.oracles))} reference lines"),
        (f"{done:,}", "crawls of strategies"),
        (f"{spec.limits.pages:,}", "pages per crawl at most"),
        (f"{failed:,}", "crawls failed"),
    ]
    if missing:
        figures.append((f"{missing:,}", "crawls not done yet"))
    return tiles(figures)


def _given(facts: ExperimentFacts) -> str:
    """A line on what the lab gave each strategy and the judge (sheet 60.7)."""
    given = facts.run.spec.inputs
    lines = [f"<code>{text(name)}</code>: {text(', '.join(kinds), 300)}" for name, kinds in given.items()]
    rest = "<br>All others: nothing." if len(facts.run.spec.given) < len(facts.run.spec.strategies) else ""
    return "<br>".join(lines) + rest


def _oracle_modes(facts: ExperimentFacts) -> str:
    """A sentence on the strategies that were given links of pages not fetched (sheet 60.7)."""
    spec = facts.run.spec
    modes = [name for name in spec.strategies if display_name(name, spec.given) != name]
    if not modes:
        return ""
    verb, are = ("are oracle modes: they", "they are") if len(modes) > 1 else ("is an oracle mode: it", "it is")
    return (
        f". {and_list(modes)} {verb} may read links of pages that were not fetched, which no real crawler can; {are} "
        "drawn with the reference lines and not compared with crawlers"
    )


def _specification(facts: ExperimentFacts) -> str:
    spec = facts.run.spec
    limits = spec.limits
    bed = facts.about
    seeds = f"the first {spec.seeds_per_run:,} of a topic" if spec.seeds_per_run else "all of a topic, in their order"
    if spec.start != str(Start()):
        seeds = f"{spec.start}: drawn by seed number, listed in <code>starts.jsonl</code>"
    numbers = ", ".join(map(str, spec.seed_numbers))
    limit_texts = [f"{limits.pages:,} pages", *([f"{limits.requests:,} requests"] if limits.requests else [])]
    limit_texts += [f"{limits.frontier:,} URLs waiting", f"{limits.in_flight:,} in flight"]
    limit_texts += [f"{limits.redirects:,} redirects"]
    if limits.spread > 1:
        hosts = f"{limits.spread:,} hosts in any {limits.spread:,} picks"
        limit_texts += [f"{hosts} (not for strategies with a frontier of their own)"]
    limit_texts += ["no URLs with a query"] if limits.static else []
    cut = f"the first {spec.cut.page_bytes:,} bytes" if spec.cut.page_bytes else "everything"
    rows = [
        ("bed", f"{text(spec.name)}{': ' + text(str(bed['title']), 200) if bed.get('title') else ''}"),
        ("digest of the bed", f"<code>{text(spec.digest)}</code>"),
        ("origin", text(str(bed.get("origin") or "unknown"), 400)),
        ("licence", text(str(bed.get("licence") or "unknown"), 400)),
        ("strategies", ", ".join(f"<code>{text(name)}</code>" for name in spec.strategies)),
        (
            "given to each",
            f"{GIVEN_TO_EACH}{_oracle_modes(facts)}",
        ),
        *(("given beyond that", _given(facts)) for _ in [1] if spec.inputs),
        ("topics", f"{len(facts.run.topics):,}, listed in <code>topics.jsonl</code>"),
        ("seeds", seeds),
        ("seed numbers", f"{numbers}; the runs of a topic are averaged before tests"),
        ("limits", ", ".join(limit_texts)),
        ("read of each page", f"{cut}; links up to {spec.cut.url_length:,} characters"),
        ("versions", ", ".join(f"{text(name)} {text(version)}" for name, version in spec.versions.items())),
    ]  # fmt: skip
    body = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    files = (
        "<code>trails/</code> has a JSON line for each page of each crawl; the <code>.parquet</code> tables have every "
        "value behind this report. Run again with the same versions on the same CPU, everything except "
        "measured seconds is the same, byte for byte; on another CPU, the same pages in the same order."
    )
    return section(
        "What was run",
        "The command that repeats the experiment:",
        f'<pre class="command">{text(facts.command, 20_000)}</pre><dl>{body}</dl><p class="note">{files}</p>',
    )
