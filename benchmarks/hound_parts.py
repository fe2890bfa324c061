"""The tables of `hound.py` about parts, cues and weights of hound, and about the contexts of the DOM crawler."""

from __future__ import annotations

import json
from collections.abc import Mapping

from findings_print import table
from hound_lab import (
    LEVEL,
    OURS,
    Ask,
    BenchWeb,
    Curves,
    Settings,
    crawl,
    hound_digest,
    number,
    open_web,
    size,
)
from hound_variants import CUES, MECHANISMS, OF_SITES, fitted, only, variant

from scenthound.strategies.hound.features import FEATURES, WEIGHTS

ANCESTORS = "shark-search:gamma=1"
"""A link's score is what its page inherited from the pages that led to it."""
PARENT = "dom:up=1"
FITTED_ON = ("schools", "apache", "realistic-407")


def ablations(web: BenchWeb, settings: Settings) -> str:
    """A table of hound with one part switched off."""
    settings = settings.shorter(web.name)
    topics = web.spaced(settings.topics)
    sites = OF_SITES if web.name.startswith("apache") else ()
    names = {part: variant([part]) for part in (*WEIGHTS, *MECHANISMS, *sites)}
    curves = crawl(web, Ask([OURS, *names.values()], topics), settings)
    return f"{size(web, curves)}\n\n{_less_hound('without', names, curves)}"


def cues(web: BenchWeb, settings: Settings) -> str:
    """A table of hound with one kind of cue alone, and with all but one; ancestors as in shark-search."""
    settings = settings.shorter(web.name)
    topics = web.spaced(settings.topics)
    if missing := set(FEATURES).difference(*CUES.values()):
        raise SystemExit(f"these features of hound do not belong to a cue: {', '.join(sorted(missing))}")
    names = {f"{cue} alone": only(cue) for cue in CUES} | {"ancestors alone": ANCESTORS}
    names |= {f"all but {cue}": variant(CUES[cue]) for cue in CUES}
    curves = crawl(web, Ask([OURS, *names.values()], topics), settings)
    return f"{size(web, curves)}\n\n{_less_hound('cues', names, curves)}"


def contexts(web: BenchWeb, settings: Settings) -> str:
    """A table of the DOM crawler with different elements around a link."""
    settings = settings.shorter(web.name)
    topics = web.spaced(settings.topics)
    names = [*(f"dom:up={up}" for up in range(6)), *(f"dom:min_words={words}" for words in (10, 20, 30, 40))]
    curves = crawl(web, Ask(names, topics), settings)
    tests = curves.tested([(name, PARENT) for name in names if name != PARENT])
    rows = []
    for name in names:
        won = [f"{test.at:,}" for test in tests if test.first == name and (test.adjusted or 1.0) < LEVEL]
        rows.append([name, *curves.row(name), ", ".join(won)])
    heads = ["context", *curves.heads, f"better than {PARENT} at"]
    return f"{size(web, curves)}\n\n{table(heads, rows)}"


def transfer(web: BenchWeb, settings: Settings) -> str:
    """A table of weights fitted on this web and on others, tested on topics of this web that were not used to fit."""
    settings = settings.shorter(web.name)
    fit_on = _fit_topics(web, settings)
    every = web.spaced(0)
    rest = [topic for topic in every if topic not in fit_on]
    tested = min(settings.topics, len(rest))
    topics = [rest[index * len(rest) // tested] for index in range(tested)]
    names = {}
    for name in FITTED_ON if web.name in FITTED_ON else (web.name,):
        other = web if name == web.name else open_web(name, settings.work)
        if other is not None:
            names[f"fitted on {name}"] = variant(weights=_kept_weights(other, settings))
    curves = crawl(web, Ask([OURS, *names.values()], topics), settings)
    return f"{size(web, curves)}\n\n{_less_hound('weights', names, curves)}"


def _fit_topics(web: BenchWeb, settings: Settings) -> list[str]:
    """The topics to fit on: `settings.topics` of every third topic; on apache one draw of each category."""
    third = web.spaced(0)[::3]
    return third[:: max(1, len(third) // settings.topics)][: settings.topics]


def _kept_weights(web: BenchWeb, settings: Settings) -> list[float]:
    """Weights fitted to topics of a web, computed once and kept."""
    topics = _fit_topics(web, settings)
    file = settings.work / "weights" / f"{web.name}-{hound_digest()}-{len(topics)}-{settings.pages}.json"
    if not file.exists():
        chosen = [topic for topic in web.bed.topics if topic.id in topics]
        weights = fitted(web.prepared, chosen, settings.pages)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(dict(zip(FEATURES, weights, strict=True)), indent=1) + "\n")
    return list(json.loads(file.read_text()).values())


def _less_hound(what: str, names: Mapping[str, str], curves: Curves) -> str:
    """A row for each crawler: its difference from hound, tested in both directions."""
    rows = [[f"*{OURS}*", *curves.row(OURS), ""]]
    verdicts = curves.less_or_more(OURS, names.values())
    for label, name in names.items():
        cells = []
        for point in curves.points:
            comparison = curves.difference(name, OURS, point)
            cells.append(f"{number(comparison.paired.mean, True)} ± {number(comparison.paired.error)}")
        rows.append([label, *cells, verdicts[name]])
    return table([what, *curves.heads, "Holm p < .05"], rows)
