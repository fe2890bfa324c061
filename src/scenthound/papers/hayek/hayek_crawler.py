"""The Hayek economy: agents that recognise features bid for the right to choose the next page (sheet 40.2).

    winner      = argmax min(bid, wealth)               over the agents that match a page for sale
    price       = own bid (hayek-epsilon) or the second highest bid (hayek-estimating), paid to the previous winner
    bid         = best bid + epsilon, for life (hayek-epsilon)
                  factor, less up to 2% for experienced agents (hayek-estimating)
    factor      ← factor + rate · (reward - kickbacks + bid of the next winner - factor)

Baum, Kruus, Durdanovic and Hainsworth, "Focused web crawling using an auction-based economy" [ECON]. An agent matches
the pages that have its 1 to 3 features, and bids on them. The winner pays the previous winner, adds the page to the
traversed set, collects the reward if it is a goal, and sells the right to choose. Money flows from goals back along the
paths that lead to them; agents whose bids are wrong go broke.

A goal is a page that has all words of the topic (`goal=words`), a page whose words have enough points (`goal=points`;
`goal_words` replaces the topic's words), or a page that the judge of the crawl calls relevant (`goal=judge`: any judge,
including your own). Example pages of the topic are goals as well, and a label overrules them all.

As in [ECON], a model has the agents and the URLs that led to goals; `connected=true` uses the URLs too (line 2 of
algorithm 1). `scenthound economy CRAWL --out MODEL` turns the agents of a finished crawl into a model.

Ours, beyond the decisions of sheet 40.2:
* A crawl is one endless sequence over all links found. `sequences=restarted` makes it the training loop itself: short
  sequences start over and over from fetched pages (algorithm 3) and run over known pages without requesting them again;
  when an auction needs a page that has not been fetched, the crawl fetches it next. If more than `retrace` sequences in
  a row need no new page, the next sequence has only new pages for sale.
* The difficulty does not rise beyond the farthest distance at which five start pages are known.
* Virtual bidding (`fetch_all=false`): a link is bought unseen by an agent that matches its URL, the words around links
  to it or its distance from a goal, then fetched, then resold among agents that match words of its text. With `forget`
  every sequence starts without content ([ECON]'s option, to train virtual agents too); a page is still fetched once.
* If the next decision needs the page in flight, no other page is in flight; `endless` virtual crawls and `fetch_all`
  have as many in flight as the crawl allows. If a page that was bought never arrives (robots.txt, a dead link), its
  buyer keeps the right to choose, and the next winner pays it.
* The root endows the agents that it makes, and its wealth may be negative; only the first agents' capital comes from
  outside. The first bid of an agent that got its page for free is the value of that page.
* The future work of [ECON], section 4, can be switched on: further features (`features` may name ngrams, bayes, sites
  and hubs), conditions (`operators="or near not"`), `reset_interval`, `few_sites`, `back_crawl_goals` (in training),
  `links_valued` besides `links_worth`, and `cooperation`.
* `adapt=false` freezes a population: bids stay, no agent is taxed, removed or born; the root picks a page if no agent
  bids.
* In an endless sequence taxes, deaths and births come after every 10 auctions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Event, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.hayek.agents import weighting_parameter
from scenthound.papers.hayek.auction_frontier import AuctionFrontier
from scenthound.papers.hayek.difficulty import Difficulty, DifficultyRules
from scenthound.papers.hayek.economy import Economy, EconomyOptions
from scenthound.papers.hayek.known_web import NEW, KnownWeb
from scenthound.papers.hayek.market import MarketRules, Pricing, units
from scenthound.papers.hayek.saved_state import living_agents, load_economy, load_model, save_economy, save_model
from scenthound.papers.parts.callbacks import weak_method
from scenthound.papers.parts.goals import GoalJudge, GoalRules, make_judge
from scenthound.parameters import group_of, parameter
from scenthound.ports import Declaration, Frontier, Lessons
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import stop_words_parameter
from scenthound.text.tokens import Analyser

BACK_LINKS = 10  # back-links followed from each page in the back-crawl
MOST_EVENTS = 10_000
_FREE = ("adapt", "connected", "sequences", "fetch_all", "forget", "blacklist_site_after_goal", "cap", "retrace")
"""Parameters of a trained economy that may differ from those of its training."""


@strategy("hayek-estimating")
@dataclass
class HayekEstimating(DifficultyRules, MarketRules, EconomyOptions, GoalRules):
    """Second-price auctions among agents that learn the value of their purchases."""

    connected: bool = parameter(False, "use the model's URLs that led to goals in training")
    back_crawl_goals: bool = parameter(False, "in training, look for pages that link to each goal found")
    training: int = parameter(2000, "number of training sequences", least=1)
    back: int = parameter(2, "steps of the back-crawl before training", least=1)
    memory: int = parameter(200_000, "URLs remembered; beyond that no new URL is added", least=100)
    stop_words: str = stop_words_parameter()
    stem: bool = parameter(False, "take Porter stems of words; the study did not")

    price: ClassVar[Pricing] = "second"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hysthi < self.hystlo:
            raise BadConfig(f"`hysthi` ({self.hysthi:g}) is below `hystlo` ({self.hystlo:g})", "make it the larger one")
        if self.sequences == "endless" and self.pay == "afterwards":
            raise BadConfig("an endless sequence never ends, so it can't be paid afterwards", "choose pay=immediate")
        if self.goal_words.strip() and not self._judge(self.goal_words).points:
            raise BadConfig("`goal_words` has only stop words", "give words of goal pages, such as: beach volleyball")
        self.auctions_ = AuctionFrontier(None, weak_method(self._want), weak_method(self._is_held))
        self.model_: Mapping[str, Any] | None = None
        self.rng_ = random.Random(0)
        self.is_crawling_ = False  # events of training are not recorded
        self.verdict_ = False
        self.is_relevant_: Callable[[Page], bool] | None = None

    # ---- the crawl

    @property
    def declaration(self) -> Declaration:
        return Declaration(
            parts=Parts((Analyser(self.stop_words, self.stem),), leaves=True),
            training="optional",
            lessons=("examples", "others", "back-links", "pages"),
            topic_examples=True,
            free=_FREE,
        )

    def frontier(self, bound: int | None) -> Frontier:
        self.auctions_ = AuctionFrontier(bound, weak_method(self._want), weak_method(self._is_held))
        return self.auctions_

    def use_random(self, rng: random.Random) -> None:
        self.rng_ = random.Random(rng.getrandbits(64))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.auctions_.clear()
        self.topic_, self.events_, self.is_crawling_ = topic, list[Event](), True
        self.economy_ = self._economy(topic, self.rng_)
        if self.model_ is not None:
            load_model(self.economy_, self.model_, self.connected)
        self.economy_.expect(seeds)
        return [Candidate(url, float("inf"), {"asked": url}) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        requested = self._catch_up(page.candidate)
        self.auctions_.settle(page.candidate.url)
        self.economy_.landed(page, requested)
        return page.offer_all(0.0)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        requested = self._catch_up(miss.candidate)
        self.auctions_.settle(miss.candidate.url)
        self.economy_.missed(requested)
        return ()

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        """Take the judge's verdict on the page that is read next."""
        self.verdict_ = relevant

    def take_label(self, url: Url, on_topic: bool) -> Iterable[Candidate]:
        """Make a labelled page a goal or not, whatever the judge says."""
        self.economy_.web.label(url, on_topic)
        return ()

    def selected_pages(self) -> Mapping[str, int]:
        """The pages that agents have bought, each with the number of pages fetched by then."""
        pages = self.economy_.web.pages
        return {pages[page].url: fetched for page, fetched in self.economy_.counts.selected.items()}

    def take_events(self) -> Iterable[Event]:
        events, self.events_ = self.events_, []
        return events

    def _want(self) -> Candidate | None:
        """The next page that an auction needs, with the terms of its purchase."""
        page = self.economy_.decide()
        if page is None:
            return None
        url = Url(self.economy_.web.pages[page].url)
        sale = self.economy_.pending.get(page)
        if sale is None:
            return Candidate(url, 0.0, {"asked": url})
        parts = {"bid": units(sale.bid), "price": units(sale.price), "agent": float(sale.winner)}
        return Candidate(url, units(sale.bid), {"asked": url}, parts)

    def _is_held(self) -> bool:
        """Whether nothing can be decided before the requests in flight have landed."""
        economy = self.economy_
        if economy.queue:
            return False
        return not economy.has_first_agents or self.fetch_all or self.sequences == "restarted"

    def _catch_up(self, candidate: Candidate) -> str:
        """Return the URL that was requested. On resume, first repeat the auctions that led to it."""
        requested = candidate.carry.get("asked")
        if not isinstance(requested, str):
            return candidate.url
        web = self.economy_.web
        while (page := web.numbers.get(requested)) is not None and web.pages[page].state == NEW:
            if not self.auctions_.decide(candidate.url):
                break
        return requested

    # ---- training

    def use_judge(self, is_relevant: Callable[[Page], bool]) -> None:
        """Set the judge that `goal=judge` uses in training."""
        self.is_relevant_ = is_relevant

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        """Run algorithm 1 on the lessons' web: back-crawl, then sequences of growing difficulty."""
        if not lessons.examples:
            raise BadConfig("no goal pages to learn from", "give examples of what you look for")
        economy = self._economy(lessons.topic, random.Random(rng.getrandbits(64)), restarted=True)
        web = economy.web
        web.known_goals.update(page.url for page in lessons.examples)
        for page in (*lessons.examples, *lessons.others):
            economy.landed(page)
        self._back_crawl(economy, lessons, [page.url for page in lessons.examples], self.back)
        if not any(
            len(web.pages[page].links) >= 2
            for hosts in map(web.fetched_at, range(1, 8))
            for host in hosts.values()
            for page in host
        ):
            raise BadConfig(
                "no page of these lessons leads to a goal page", "give examples that other pages of the bed link to"
            )
        for done in range(0, self.training, 100):
            while (needed := economy.decide(min(done + 100, self.training))) is not None:
                url = Url(web.pages[needed].url)
                fetched = lessons.page(url)
                if fetched is None:
                    economy.missed(url)
                else:
                    number = economy.landed(fetched, url)
                    if self.back_crawl_goals and number >= 0 and web.pages[number].goal:
                        self._back_crawl(economy, lessons, [fetched.url], 1)
            progress(_progress(economy))
        self.model_ = save_model(economy)
        self.is_relevant_ = None

    def model(self) -> Mapping[str, Any]:
        if self.model_ is None:
            raise ValueError("the economy has not been trained")
        return self.model_

    def use(self, model: Mapping[str, Any]) -> None:
        load_model(self._economy(Topic(""), random.Random(0)), model)
        self.model_ = dict(model)

    def _back_crawl(self, economy: Economy, lessons: Lessons, goals: Sequence[Url], steps: int) -> None:
        """Follow links backwards from goals, step by step."""
        layer = goals
        for _ in range(steps):
            sources = dict.fromkeys(source for url in layer for source in lessons.back_links(url, BACK_LINKS))
            layer = []
            for url in sources:
                page = lessons.page(url)
                if page is not None:
                    economy.landed(page)
                    layer.append(page.url)

    # ---- parts

    def _judge(self, words: str) -> GoalJudge:
        return make_judge(self.goal, words, self.goal_share, Analyser(self.stop_words, self.stem))

    def _is_relevant(self, page: Page) -> bool:
        return self.verdict_ if self.is_relevant_ is None else self.is_relevant_(page)

    def _economy(self, topic: Topic, rng: random.Random, restarted: bool = False) -> Economy:
        analyser = Analyser(self.stop_words, self.stem)
        judge = (
            weak_method(self._is_relevant) if self.goal == "judge" else self._judge(self.goal_words or topic.keywords)
        )
        web = KnownWeb(analyser, judge, self.memory, self.features.split(), "near" in self.operators.split())
        web.known_goals.update(topic.examples)
        options = group_of(EconomyOptions, self)
        if restarted:  # and never short of new pages
            options = replace(options, sequences="restarted", retrace=self.training)
        rules, difficulty = group_of(MarketRules, self), Difficulty(group_of(DifficultyRules, self))
        return Economy(rules, options, web, rng, difficulty, weak_method(self._record_event), self.price)

    def _record_event(self, kind: str, facts: Mapping[str, Any], page: int | None) -> None:
        if not self.is_crawling_ or len(self.events_) >= MOST_EVENTS:
            return
        url = None if page is None else Url(self.economy_.web.pages[page].url)
        self.events_.append(Event(kind, facts, url))

    def agents_in(self, state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """Wealth, bid, wins and kind of the agents in a saved state."""
        return living_agents(state["economy"])

    def model_in(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """The agents of a saved crawl as a model for `use`."""
        economy = self._economy(Topic(""), random.Random(0))
        load_economy(economy, state["economy"])
        return save_model(economy)

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        return {
            "economy": save_economy(self.economy_),
            "desk": self.auctions_.save(),
            "untold": [[event.kind, dict(event.facts), event.url] for event in self.events_],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.economy_ = self._economy(self.topic_, random.Random(0))
        load_economy(self.economy_, state["economy"])
        self.auctions_.load(state["desk"])
        self.events_ = [Event(kind, facts, url) for kind, facts, url in state["untold"]]


@strategy("hayek-epsilon")
@dataclass
class HayekEpsilon(HayekEstimating):
    """First-price auctions; each new agent bids a little more than the best, for life."""

    weighting: str = weighting_parameter("mixed-counts")
    price: ClassVar[Pricing] = "first"


def _progress(economy: Economy) -> str:
    wealth = units(sum(agent.wealth for agent in economy.market.agents.values()))
    return (
        f"{economy.counts.sequences} sequences, difficulty {economy.difficulty.level}, "
        f"{len(economy.market.agents)} agents with {wealth:,.0f}, {len(economy.web.fetched)} pages fetched, "
        f"goals {len(economy.web.goals)} fetched, {len(economy.counts.recognised)} recognised"
    )
