"""Words that home pages share: between the seeds, as a topic, and with the seeds, as evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from scenthound.apps.related.facts import HomeFacts
from scenthound.text.tokens import stem, tokens
from scenthound.text.topic_model import TopicModel

SHARED_WORDS = 8
TOPIC_WORDS = 6


def shared_words(home: HomeFacts, model: TopicModel, most: int = SHARED_WORDS) -> tuple[str, ...]:
    """The words that make a home page like those of the seeds, as it spells them."""
    document = model.document(home.words)
    known = document.ids < len(model.topic_)
    ids, weights = document.ids[known], document.weights[known]
    worth = model.topic_[ids] * weights * model.idf_[ids]
    names = model.vocabulary.all_words
    best = [names[ids[place]] for place in np.argsort(-worth, kind="stable")[:most] if worth[place] > 0]
    return spelled(best, [home.text])


def common_words(homes: Sequence[HomeFacts], most: int = TOPIC_WORDS) -> tuple[str, ...]:
    """The words that tell these home pages from other English pages, if two of them have a word."""
    model = TopicModel(())
    documents = [model.document(home.words) for home in homes]
    holding = Counter(term for home in homes for term in home.words)
    model.fit(documents).learn(np.ones(len(documents)), np.zeros(len(documents)))
    terms = [term for term in model.top_terms(model.terms) if holding[term] >= min(2, len(homes)) and term.isalpha()]
    return spelled(terms[:most], [home.text for home in homes])


def spelled(terms: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Stemmed terms as texts spell them first."""
    wanted = dict.fromkeys(terms, "")
    for text in texts:
        for word in tokens(text):
            if not wanted.get(term := stem(word), "-"):
                wanted[term] = word
    return tuple(spelling or term for term, spelling in wanted.items())
