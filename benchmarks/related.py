"""Related organisations: how many answers are right, and can the confidence be believed on a web that it has not seen?

    $ python benchmarks/related.py [--webs FOLDER] [--fit] [--shipped] [--quick] [--svg FILE]

Three kinds of webs: the sites of the apache bed; real documentation sites with added links (`documentation_web.py`, two
structures: one page that lists all 260, or sites that each name three others); generated realistic webs with 22 trades
of companies (one web with directories, one without). Each topic has the home pages of 2, 3 or 5 organisations as seeds;
all others of its field are right answers. `hound` looks for sites for 200 pages (on apache also for 500), as
`scenthound related` does, and the first ten answers are counted.

The confidence of each kind of web comes from weights fitted on the other two kinds. ECE is computed in five bins of
equal size over the first ten answers of all topics of a web. `random` is the mean number of right ones among ten
organisations with a home page, drawn at random. With `--shipped` the answers come from the weights in the code instead:
so the same command also measures older versions. `--fit` prints the weights for `apps/related/confidence.py`.

Webs that are missing are made in FOLDER, and trails are kept there. Needs ../shared/data/apache and Debian's package
archive; what is missing is left out. `--quick` uses two topics of a small generated web.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound import url as urls
from scenthound.desk.apps.related import facts as page_reading
from scenthound.desk.apps.related.facts import HomeFacts, home_facts, html_of
from scenthound.desk.apps.related.owners import Owners
from scenthound.desk.apps.related.related_organisations import related_in
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.report.downloads import figure_style
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.model import Url
from scenthound.page.landing import stored_document
from scenthound.report.charts import CurvePoint, Series, curves, style_of
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("SCENTHOUND_SHARED", HERE.parents[1] / "shared"))
SEEDS = (2, 3, 5)
SHOWN, BINS = 10, 5
FIRST = 20  # answers of each topic on which the scale of the weights is fitted
RIDGE, SCALE_RIDGE, LEAST_RIDGE = 3.0, 10.0, 0.001
GENERATED = ("--web", "realistic", "--pages", "8000", "--companies", "--set", "companies=0.4", "--set", "trades=1")
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class WebPlan:
    """A web of the experiment: its kind (all webs of a kind are left out together), how to make it, and page limits."""

    name: str
    kind: str
    command: tuple[str, ...] = ()
    pages: tuple[int, ...] = (200,)


PLANS = (
    WebPlan("apache", "apache", pages=(200, 500)),
    WebPlan("documentation-list", "documentation", ("documentation_web.py", "--links", "list")),
    WebPlan("documentation-friends", "documentation", ("documentation_web.py", "--links", "friends")),
    WebPlan("generated-401", "generated", ("--seed", "401")),
    WebPlan("generated-402", "generated", ("--seed", "402", "--set", "hubs=0", "--set", "mentions=0.5")),
)


@dataclass
class FetchedPages:
    """The pages of a replayed crawl, in the form that `related` reads. Each page is parsed once."""

    bed: Bed
    urls: Sequence[Url] = ()
    moved: Mapping[Url, Url] = field(default_factory=dict)
    parsed: dict[Url, tuple[Any, HomeFacts, Sequence[Url]] | None] = field(default_factory=dict)

    @property
    def pages(self) -> Mapping[Url, int]:
        return {url: number for number, url in enumerate(self.urls, 1)}

    def links(self) -> Iterator[tuple[Url, Sequence[Url]]]:
        return ((url, page[2]) for url in self.urls if (page := self._page(url)) is not None)

    def page_facts(self, url: Url) -> Any:
        return None if (page := self._page(url)) is None else page[0]

    list_facts = page_facts  # its name in older versions

    def home_facts(self, url: Url) -> HomeFacts | None:
        return None if (page := self._page(url)) is None else page[1]

    def _page(self, url: Url) -> tuple[Any, HomeFacts, Sequence[Url]] | None:
        if url not in self.parsed:
            response = self.bed.get(url)
            document = None if response is None else stored_document(response)
            read = getattr(page_reading, "page_facts", None) or vars(page_reading)["list_facts"]
            self.parsed[url] = (
                None
                if document is None or response is None
                else (
                    read(document),
                    home_facts(document, html_of(response, 10**8, 1000)),
                    [link.url for link in document.links],
                )
            )
        return self.parsed[url]


@dataclass(frozen=True)
class Case:
    """The organisations found in one crawl, other than seeds."""

    web: str
    kind: str
    topic: str
    x: Floats
    """Their features, as in `confidence.FEATURES`."""
    right: Flags
    has_home: Flags
    shipped: Floats
    """Confidence of the first answers with the weights in the code."""
    shipped_right: Flags


def main() -> None:
    options = _options()
    options.shipped |= options.quick
    with tempfile.TemporaryDirectory() as temporary:
        cases = _quick_cases(Path(temporary)) if options.quick else _all_cases(options)
    if not cases:
        print("there is no web to measure", file=sys.stderr)
    elif options.fit and not options.shipped:
        bias, weights = fit(cases)
        best = [np.sort(case.x @ weights)[-FIRST:].mean() for case in cases]
        print(f"TYPICAL = {np.mean(best):.1f}")
        print(f"BIAS = {bias:.2f}\nWEIGHTS = ({', '.join(f'{weight:.2f}' for weight in weights)})")
    else:
        answers = {case.topic + case.web: _shipped(case) for case in cases} if options.shipped else left_out(cases)
        points = _print(cases, answers, options.topics)
        if options.svg is not None:
            options.svg.write_text(_plot(points), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--webs", type=Path, default=Path("related-webs"), help="folder for webs and trails")
    parser.add_argument("--only", nargs="+", choices=[plan.name for plan in PLANS], help="webs to measure")
    parser.add_argument("--fit", action="store_true", help="only print the weights fitted on all webs")
    parser.add_argument("--shipped", action="store_true", help="use the weights in the code")
    parser.add_argument("--topics", action="store_true", help="print a line for each topic")
    parser.add_argument("--quick", action="store_true", help="2 topics of a generated web, 60 pages each")
    parser.add_argument("--svg", type=Path, help="write the reliability plot to this file")
    return parser.parse_args()


# ---- webs and crawls


def _quick_cases(folder: Path) -> list[Case]:
    bed = generate(folder / "web", pages=500, seed=7, topics=4, companies=True)
    plan = WebPlan("small", "small", pages=(60,))
    return list(_cases(bed, plan, _topics(bed)[:2], folder, shipped=True))


def _all_cases(options: argparse.Namespace) -> list[Case]:
    cases = list[Case]()
    for plan in PLANS:
        if options.only and plan.name not in options.only:
            continue
        if (bed := _bed(plan, options.webs)) is None:
            print(f"{plan.name} is missing and left out", file=sys.stderr)
        else:
            cases += _cases(bed, plan, _topics(bed), options.webs, options.shipped)
    return cases


def _bed(plan: WebPlan, folder: Path) -> Bed | None:
    path = SHARED / "data" / "apache" if plan.kind == "apache" else folder / plan.name
    if not path.exists() and plan.kind == "documentation":
        script, *words = plan.command
        downloads = ["--keep", str(folder / "packages")]
        subprocess.run([sys.executable, str(HERE / script), str(path), *words, *downloads], check=True)
    if not path.exists() and plan.kind == "generated":
        command = [sys.executable, "-m", "scenthound", "lab", "generate", str(path), *GENERATED, *plan.command]
        subprocess.run(command, check=True)
    return Bed.open(path) if path.exists() else None


def _topics(bed: Bed) -> list[BedTopic]:
    """Topics that look for sites, with 2, 3 and 5 seeds in turn; one draw of each category in turn."""
    topics = [topic for topic in bed.topics if len(topic.seeds) > 1 and all(map(urls.is_home, topic.seeds))]
    if len({topic.keywords for topic in topics}) * 3 == len(topics):  # three draws each
        topics = [topic for index, topic in enumerate(topics) if index % 3 == index // 3 % 3]
    return [_with_seeds(topic, SEEDS[index % 3]) for index, topic in enumerate(topics)]


def _with_seeds(topic: BedTopic, count: int) -> BedTopic:
    topic = replace(topic, seeds=topic.seeds[:count], targets=topic.targets + topic.seeds[count:], examples=())
    return replace(topic, looking_for="sites") if "looking_for" in {each.name for each in fields(BedTopic)} else topic


def _cases(bed: Bed, plan: WebPlan, topics: Sequence[BedTopic], folder: Path, shipped: bool) -> Iterator[Case]:
    prepared, web = prepare(bed), FetchedPages(bed)
    for pages in plan.pages:
        for topic in topics:
            web.urls = _trail(prepared, topic, pages, folder / "trails", plan.name)
            yield _case(web, topic, f"{plan.name}, {pages} pages", plan.kind, shipped)


def _trail(prepared: PreparedBed, topic: BedTopic, pages: int, folder: Path, web: str) -> list[Url]:
    known = {each.name for each in fields(STRATEGIES.get("hound"))}
    parameters = {"looking_for": "sites", "compare_after": str(pages // 2)}
    parameters = {name: value for name, value in parameters.items() if name in known}
    version = "compared" if "compare_after" in known else "before"
    file = folder / f"{web}-{topic.id}-{len(topic.seeds)}-{pages}-{version}.json"
    if not file.exists():
        result = run_cell(prepared, topic, "hound", parameters, ReplayLimits(pages=pages))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(list(result.visited)))
    return [Url(url) for url in json.loads(file.read_text())]


def _case(web: FetchedPages, topic: BedTopic, name: str, kind: str, shipped: bool) -> Case:
    owners = Owners(topic.seeds)
    targets, seeds = ({owners.key(url) for url in listed} for listed in (topic.targets, topic.seeds))
    if shipped:
        found = related_in(web, topic.seeds, topic.keywords, SHOWN).organisations
        keys = [owners.key(url) for url in web.urls if urls.is_home(url)]
        has_home = np.array([key in targets for key in dict.fromkeys(keys) if key not in seeds])
        confidence = np.array([organisation.confidence for organisation in found])
        right = np.array([organisation.key in targets for organisation in found], np.bool_)
        return Case(name, kind, topic.id, np.zeros((0, 0)), has_home, np.ones_like(has_home), confidence, right)
    from scenthound.desk.apps.related.confidence import features
    from scenthound.desk.apps.related.link_evidence import gather
    from scenthound.desk.apps.related.related_organisations import read_homes

    homes, _ = read_homes(web, owners, seeds, topic.seeds)
    seeds = {owners.key(url) for url in topic.seeds}
    evidence = gather(web, owners, seeds, homes, keywords=topic.keywords).evidence
    others = np.array([key not in seeds for key in evidence], np.bool_)
    right = np.array([key in targets for key in evidence], np.bool_)[others]
    has_home = np.array([found.has_home for found in evidence.values()], np.bool_)[others]
    return Case(name, kind, topic.id, features(evidence, seeds)[others], right, has_home, np.zeros(0), right[:0])


# ---- fits


def fit(cases: Sequence[Case]) -> tuple[float, Floats]:
    """Weights fitted on all organisations, their scale on the first answers of each topic, then the bias.

    All kinds of webs count the same. The scale is fitted with a bias of its own for each kind, as it should say how
    answers of one web differ. The bias makes the mean confidence of the first ten the share of them that is right.
    """
    from scenthound.desk.apps.related.confidence import relative

    balance = _balance(cases)
    x = np.concatenate([case.x for case in cases])
    middle, deviation = _moments(x, np.repeat(balance, [len(case.x) for case in cases]))
    design = [np.column_stack([np.ones(len(case.x)), (case.x - middle) / deviation]) for case in cases]
    ridge = np.array([0.0, *[RIDGE] * x.shape[1]])
    weights = _logistic(design, [case.right for case in cases], balance, ridge)[1:] / deviation
    scores = [relative(case.x @ weights, np.ones(len(case.x), np.bool_)) for case in cases]
    orders = [np.argsort(-values, kind="stable") for values in scores]
    kinds = sorted({case.kind for case in cases})
    first = [order[:FIRST] for order in orders]
    ranked = [values[chosen][:, None] for values, chosen in zip(scores, first, strict=True)]
    _, deviation = _moments(np.concatenate(ranked), np.repeat(balance, [len(chosen) for chosen in first]))
    design = []
    for case, values in zip(cases, ranked, strict=True):
        own = [np.full(len(values), float(case.kind == kind)) for kind in kinds]
        design.append(np.column_stack([*own, values / deviation]))
    ridge = np.array([*[LEAST_RIDGE] * len(kinds), SCALE_RIDGE])
    rights = [case.right[chosen] for case, chosen in zip(cases, first, strict=True)]
    scale = float(_logistic(design, rights, balance, ridge)[-1] / deviation[0])
    shown = [scale * values[order[:SHOWN]] for values, order in zip(scores, orders, strict=True)]
    rights = [case.right[order[:SHOWN]] for case, order in zip(cases, orders, strict=True)]
    return _bias(shown, rights, balance), scale * weights


def _moments(x: Floats, weights: Floats) -> tuple[Floats, Floats]:
    middle = np.average(x, axis=0, weights=weights)
    deviation = np.sqrt(np.average((x - middle) ** 2, axis=0, weights=weights))
    return middle, np.where(deviation > 0, deviation, 1.0)


def _bias(scores: Sequence[Floats], rights: Sequence[Flags], case_weights: Sequence[float]) -> float:
    """The bias with which the mean confidence is the share that is right, by bisection."""
    values, y = np.concatenate(scores), np.concatenate(rights)
    weights = np.repeat(case_weights, [len(each) for each in scores])
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        too_low = np.average(1 / (1 + np.exp(-(middle + values))) - y, weights=weights) < 0
        low, high = (middle, high) if too_low else (low, middle)
    return (low + high) / 2


def _balance(cases: Sequence[Case]) -> list[float]:
    kinds = [case.kind for case in cases]
    return [len(cases) / len(set(kinds)) / kinds.count(case.kind) for case in cases]


def _logistic(designs: Sequence[Floats], ys: Sequence[Flags], case_weights: Sequence[float], ridge: Floats) -> Floats:
    """Coefficients of a logistic regression with an L2 penalty, by Newton's method."""
    design, y = np.concatenate(designs), np.concatenate(ys).astype(np.float64)
    weight = np.repeat(case_weights, [len(rows) for rows in designs])
    b = np.zeros(design.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-design @ b))
        gradient = design.T @ (weight * (y - p)) - ridge * b
        step = np.linalg.solve((design * (weight * p * (1 - p))[:, None]).T @ design + np.diag(ridge), gradient)
        b += step
        if float(np.abs(step).max()) < 1e-9:
            break
    return b


Answer = tuple[Floats, Flags]
"""Confidence of the first answers, best first, and which of them are right."""


def left_out(cases: Sequence[Case]) -> dict[str, Answer]:
    """The first answers of each case, with weights fitted on the webs of other kinds."""
    from scenthound.desk.apps.related.confidence import relative

    answers = dict[str, Answer]()
    for kind in dict.fromkeys(case.kind for case in cases):
        others = [case for case in cases if case.kind != kind and case.right.any()]
        bias, weights = fit(others or cases)
        for case in cases:
            if case.kind == kind:
                scores = relative(case.x @ weights, np.ones(len(case.x), np.bool_))
                first = np.argsort(-scores, kind="stable")[:SHOWN]
                answers[case.topic + case.web] = 1 / (1 + np.exp(-(bias + scores[first]))), case.right[first]
    return answers


def _shipped(case: Case) -> Answer:
    return case.shipped, case.shipped_right


# ---- tables


def _print(cases: Sequence[Case], answers: Mapping[str, Answer], show_topics: bool) -> list[tuple[float, float, int]]:
    """Print a line for each web, and return the points of the reliability plot."""
    print("| web | topics | right of ten | se | random | mean confidence | share right | cases | ECE |")
    print("|---|---|---|---|---|---|---|---|---|")
    for web in dict.fromkeys(case.web for case in cases):
        chosen = [case for case in cases if case.web == web]
        rights = np.array([answers[case.topic + web][1].sum() for case in chosen])
        p, y = (np.concatenate([answers[case.topic + web][part] for case in chosen]) for part in (0, 1))
        random = np.mean([SHOWN * case.right[case.has_home].mean() if case.has_home.any() else 0 for case in chosen])
        error = rights.std(ddof=1) / np.sqrt(len(rights)) if len(rights) > 1 else 0.0
        ece, _ = calibration(p, y)
        print(
            f"| {web} | {len(chosen)} | {rights.mean():.2f} | {error:.2f} | {random:.2f} | {p.mean():.2f} | "
            f"{y.mean():.2f} | {len(p)} | {ece:.3f} |"
        )
        if show_topics:
            for case, right in zip(chosen, rights.tolist(), strict=True):
                print(f"    {case.topic}: {right}")
    p, y = (np.concatenate([answer[part] for answer in answers.values()]) for part in (0, 1))
    ece, points = calibration(p, y)
    print(f"\nAll webs: mean confidence {p.mean():.3f}, share right {y.mean():.3f}, ECE {ece:.3f} over {len(p)} cases")
    print("\n| mean confidence | share right | cases |\n|---|---|---|")
    for confidence, share, count in points:
        print(f"| {confidence:.2f} | {share:.2f} | {count} |")
    return points


def calibration(p: Floats, y: npt.NDArray[Any]) -> tuple[float, list[tuple[float, float, int]]]:
    """ECE in bins of equal size; and mean confidence, share of right answers and count of each bin."""
    bins = [chosen for chosen in np.array_split(np.argsort(p, kind="stable"), BINS) if len(chosen)]
    points = [(float(p[chosen].mean()), float(y[chosen].mean()), len(chosen)) for chosen in bins]
    return sum(count / len(p) * abs(confidence - share) for confidence, share, count in points), points


def _plot(points: Sequence[tuple[float, float, int]]) -> str:
    measured = [
        CurvePoint(confidence, share, 0.0, f"{count} organisations: confidence {confidence:.2f}, share {share:.2f}")
        for confidence, share, count in points
    ]
    series = [
        Series("calibration", style_of(0), measured, frozenset(confidence for confidence, _, _ in points)),
        Series("exact", style_of(0, oracle=True), [CurvePoint(0.0, 0.0), CurvePoint(1.0, 1.0)]),
    ]
    title = "Confidence, and share of right answers, on webs of a kind that was left out"
    return curves(title, "share right", series, 1.0, across="mean confidence", style=figure_style())


if __name__ == "__main__":
    main()
