"""F13 of [ECON] (section 3.7, fig. 8), for `findings.py`: boards of directors of companies, a loosely connected task.

Companies do not link to competitors, so a crawler has to learn how to get from one company to the next. A judge gives
points to words. After a goal, its host is off the market for the rest of the sequence. Two schedules of difficulty
(algorithm 2) differ in how much one sequence changes the success rate.
"""

from __future__ import annotations

from findings_econ import BAYES
from findings_goals import goals_by_points
from findings_lab import BenchWeb, finding
from findings_print import judge_claims
from findings_tracks import all_tracks, claim, draw_tracks, last, means, print_goals, recognised

POINTS = {"directors": 2.0, "board": 2.0, "chairman": 2.0} | dict.fromkeys(
    ("executive", "officer", "president", "committee", "governance", "elected"), 1.0
)
NEEDED = sum(POINTS.values()) / 2
JUDGE = " ".join(f"{word}:{weight:g}" for word, weight in POINTS.items())
PAGES = 6_000  # half of the pages at which the paper compares
ECONOMY = f"hayek-estimating:sequences=restarted,goal=points,goal_words={JUDGE},blacklist_site_after_goal=true"
SCHEDULES = {"slow schedule": f"{ECONOMY},step=0.02", "fast schedule": f"{ECONOMY},step=0.1"}
BAYESIAN = f"{BAYES},judge=points,goal={JUDGE},threshold={NEEDED:g}"
ROOM = 0.5  # largest share of the goals that the Bayesian crawler may fetch


@finding(
    "F13",
    "boards of directors: with the faster schedule of difficulty economies recognise more goals, and bid-estimating "
    "ones more than a multinomial Bayesian crawler selects, within 12,000 fetches. Accepted: each step p < 0.05.",
    ("economy",),
)
def f13(web: BenchWeb) -> str:
    goals = goals_by_points(web, "boards", POINTS, NEEDED)
    print_goals(goals)
    if len(goals.urls) < 2:
        return "not testable here: no boards"
    pages = web.settings.pages(PAGES)
    crawlers = {"Bayes": BAYESIAN, **SCHEDULES}
    found = all_tracks(web, goals, list(crawlers.values()), pages)
    tracks = {name: found[crawler] for name, crawler in crawlers.items()}
    print(means(tracks, pages) + "\n")
    for kind in ("fetched", "recognised"):
        draw_tracks(web, "F13", goals, tracks, pages, kind)
    share = sum(map(last, tracks["Bayes"])) / len(tracks["Bayes"]) / len(goals.urls)
    print(f"The Bayesian crawler fetches {share:.1%} of the goals.\n\nNot part of the verdict, goals fetched:\n")
    pairs = (("fast schedule", "slow schedule"), ("fast schedule", "Bayes"))
    judge_claims([claim(tracks, *pair, last) for pair in pairs])
    print("Goals recognised:\n")
    verdict = judge_claims([claim(tracks, *pair, recognised) for pair in pairs])
    return verdict if share < ROOM else "not testable here, the Bayesian crawler finds too much"
