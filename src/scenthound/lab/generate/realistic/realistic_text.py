"""The text of realistic pages: many words drawn at once, with stop words between them."""

from __future__ import annotations

import numpy as np

from scenthound.lab.generate.realistic.site_plan import (
    ARTICLE,
    BOARD,
    COMPANY_HOME,
    COMPANY_PAGE,
    CORRIDOR,
    LIST,
    NEAR_MISS,
    NO_SUBJECT,
    OUTER_CORRIDOR,
    SitePlan,
)
from scenthound.lab.generate.realistic.word_tables import SLOTS, Table, WebVocabulary
from scenthound.lab.generate.rng import Words, mix, mix_all

_TITLE, _MANNER = range(60, 62)  # the `purpose` of a call of `mix`
_TEXT, _CONTEXT = 1 << 20, 1 << 21  # the same, plus a page number
BETWEEN = (" ", " ", " and ", " of the ", " in a ", " for the ", ", ", " with ", " to the ", " is ", " on ", " by a ",
           " from ", ". The ", ". In ", ". This ")  # fmt: skip
DENSE = 1.6  # factor for the share of subject words beside a link
WEAK = 0.4  # factor for the share of subject words on the pages of directories


class PageTexts:
    """Draws words for the pages of a plan."""

    def __init__(self, plan: SitePlan, vocabulary: WebVocabulary) -> None:
        self._plan, self._vocabulary, self._words = plan, vocabulary, vocabulary.words

    def title(self, page: int) -> str:
        """Two or three words, mostly from the table of the page's subject."""
        bits = mix(self._plan.seed, _TITLE, page)
        table, background = self._table(page), self._vocabulary.background
        tables = [table if (bits >> 8 * n) % 5 else background for n in range(1, 3 + bits % 2)]
        words = [self._words[table[(bits >> 13 * n) % len(table)]] for n, table in enumerate(tables, 1)]
        return " ".join(words).capitalize()

    def words(self, page: int, count: int) -> list[str]:
        """The words of the page's text."""
        return self._draw(page, mix_all(self._plan.seed, _TEXT + page, count), self._strength(page))

    def beside(self, page: int, to: int, index: int, count: int) -> list[str]:
        """Words beside the link with this index on `page`: those of the linked page, or of `page` itself.

        Beside a link from another host to a company they are always the company's, often with the name of its trade.
        """
        plan = self._plan
        bits = mix_all(plan.seed ^ (to << 20), _CONTEXT + page + (index << 32), count)
        chance = mix(plan.seed, _MANNER + index, page ^ (to << 24))
        is_company = plan.role[to] == COMPANY_HOME and plan.role[page] not in (COMPANY_PAGE, BOARD)
        if not is_company and chance % 65536 >= plan.habits.context * 65536:
            return self._draw(page, bits, self._strength(page))
        words = self._draw(to, bits, min(1.0, DENSE * self._strength(to)))
        if is_company and (chance >> 16) % 65536 < plan.habits.named * 65536:
            words[:0] = [self._words[number] for number in self._vocabulary.name(int(plan.subject[to]))]
        return words

    def sentence(self, words: list[str], bits: int) -> str:
        """The words, joined by stop words that the bits choose."""
        parts = [words[0].capitalize()]
        for word in words[1:]:
            bits = (bits * 0x9E3779B97F4A7C15 + 1) & 0xFFFFFFFFFFFFFFFF
            parts += [BETWEEN[bits >> 60], word]
        return "".join(parts) + "."

    def _draw(self, page: int, bits: Words, strength: float) -> list[str]:
        """A word for each element of `bits`: from the page's subject (`strength`), its site, itself, or no subject."""
        habits, vocabulary, plan = self._plan.habits, self._vocabulary, self._plan
        slot = (bits & np.uint64(0xFFFF)).astype(np.int64)
        share = ((bits >> np.uint64(16)) & np.uint64(0xFFFF)).astype(np.float64) / 65536.0
        site, own = vocabulary.site_words(plan.host_of(page)), vocabulary.own_words(page)
        drawn = vocabulary.background[slot]
        below_subject, below_site = share < strength, share < strength + habits.jargon
        below_own = share < strength + habits.jargon + habits.burst
        drawn = np.where(below_own, own[slot % len(own)], drawn)
        drawn = np.where(below_site, site[slot % len(site)], drawn)
        drawn = np.where(below_subject, self._table(page)[slot % SLOTS], drawn)
        return [self._words[number] for number in drawn.tolist()]

    def _strength(self, page: int) -> float:
        """The page's share of subject words: 0.5 to 1.5 times the habit `strength`."""
        plan = self._plan
        if plan.subject[page] == NO_SUBJECT and plan.role[page] != BOARD:
            return 0.0
        varied = plan.habits.strength * (0.5 + mix(plan.seed, _MANNER, page) % 65536 / 65536.0)
        return varied * WEAK if plan.role[page] == LIST else min(varied, 1.0)

    def _table(self, page: int) -> Table:
        plan, vocabulary = self._plan, self._vocabulary
        subject, role = int(plan.subject[page]), int(plan.role[page])
        if role == BOARD:
            return vocabulary.board
        if subject == NO_SUBJECT:
            return vocabulary.background
        if role == NEAR_MISS:
            return vocabulary.decoy_table(subject)
        if role in (CORRIDOR, OUTER_CORRIDOR):
            return vocabulary.corridor_table(subject, int(role == OUTER_CORRIDOR))
        assert role in (ARTICLE, COMPANY_HOME, COMPANY_PAGE, LIST)
        return vocabulary.subject_table(subject, int(plan.community[page]))
