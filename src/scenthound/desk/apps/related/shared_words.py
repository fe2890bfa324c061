"""Find the words that home pages have in common.

`topic_words` compares the seeds with each other, to name the topic; `words_shared_with_seeds` compares one home page
with the seeds, as evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from scenthound.desk.apps.related.facts import HomeFacts
from scenthound.desk.apps.related.likeness import Likeness
from scenthound.text.tokens import stem, tokens
from scenthound.text.topic_model import TopicModel

SHARED_WORDS = 8
TOPIC_WORDS = 6


def words_shared_with_seeds(key: str, home: HomeFacts, likeness: Likeness, most: int = SHARED_WORDS) -> tuple[str, ...]:
    """The words of a home page that contribute most to its site's likeness to the seeds, spelled as on the page."""
    terms = [term for term in likeness.top_terms(key, 4 * most) if term in home.words]
    return original_spellings(terms[:most], [home.text])


def topic_words(homes: Sequence[HomeFacts], most: int = TOPIC_WORDS) -> tuple[str, ...]:
    """The words that set these home pages apart from other English text.

    Each occurs on at least two of the pages, unless there is only one page.
    """
    model = TopicModel(())
    documents = [model.document(home.words) for home in homes]
    page_counts = Counter(term for home in homes for term in home.words)
    model.fit(documents).learn(np.ones(len(documents)), np.zeros(len(documents)))
    terms = [
        term for term in model.top_terms(model.terms) if page_counts[term] >= min(2, len(homes)) and term.isalpha()
    ]
    return original_spellings(terms[:most], [home.text for home in homes])


def original_spellings(terms: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Replace each stemmed term with its first spelling in the texts; keep a term that does not occur."""
    spellings = dict.fromkeys(terms, "")
    for text in texts:
        for word in tokens(text):
            if not spellings.get(term := stem(word), "-"):
                spellings[term] = word
    return tuple(spelling or term for term, spelling in spellings.items())
