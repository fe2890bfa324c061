"""The worked examples of sheet 40.1, for `golden.py`: what a spider sees of links, learns, and lives off."""

from __future__ import annotations

from typing import Any

import numpy as np

from golden import ANALYSER, Inputs, answers
from scenthound.lab.testing import page_of
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.papers.spiders.infospiders import meal, new_word
from scenthound.papers.spiders.net import Net, Numbers, link_inputs, sightings, softmax
from scenthound.papers.spiders.private_frontier import PrivateFrontier
from scenthound.text.vectors import Counts, cosine


def net(inputs: Inputs) -> Net:
    w1, b1, w2 = (np.array(inputs[name], dtype=np.float64) for name in ("IS_W1", "IS_B1", "IS_W2"))
    return Net(w1, b1, w2, float(inputs["IS_B2"]))


def page(inputs: Inputs) -> Page:
    url = inputs["IS_PAGE"]
    return page_of(inputs["PAGES"][url], url)


def seen(inputs: Inputs) -> Numbers:
    columns = {word: place for place, word in enumerate(inputs["IS_KEYS"])}
    read = page(inputs)
    return link_inputs(sightings(read, columns, ANALYSER), len(read.links), columns, inputs["IS_RHO"])


@answers("is_links")
def links_of_a_page(inputs: Inputs) -> dict[str, Any]:
    rows, alpha = seen(inputs), inputs["IS_ALPHA"]
    similarity = cosine(Counts(dict.fromkeys(inputs["IS_KEYS"], 1)), page(inputs).record.counts(ANALYSER))
    outputs = net(inputs).outputs(rows)
    combined = alpha * outputs + (1 - alpha) * similarity
    return {
        "inputs": rows.tolist(),
        "out": outputs.tolist(),
        "combined": combined.tolist(),
        "prob": softmax(combined.tolist(), inputs["IS_BETA"]),
    }


@answers("is_learn")
def one_step(inputs: Inputs) -> dict[str, Any]:
    """The link that is more likely is followed."""
    followed = seen(inputs)[int(np.argmax(links_of_a_page(inputs)["prob"]))]
    learner = net(inputs)
    learner.learn(followed, inputs["IS_TARGET"], inputs["IS_RATE"])
    return {
        "w1": learner.w1.tolist(),
        "b1": learner.b1.tolist(),
        "w2": learner.w2.tolist(),
        "b2": learner.b2,
        "out": float(learner.outputs(followed[None])[0]),
    }


@answers("is_energy")
def energy(inputs: Inputs) -> dict[str, Any]:
    given = inputs["IS_ENERGY"]
    has, rows = given["start"], []
    for place, similarity in enumerate(given["sims"], start=1):
        after, is_enough = meal(has, similarity, given["cost"], given["theta"])
        has = after / 2 if is_enough else after
        rows.append([place, similarity, after, is_enough, has])
    return {"rows": rows, "split": split(inputs), "new": new_word(page(inputs).record.counts(ANALYSER), words(inputs))}


def words(inputs: Inputs) -> list[str]:
    """The start keywords: those of the topic."""
    return ANALYSER.terms(inputs["QUERY"])


def split(inputs: Inputs) -> list[list[str]]:
    frontier = PrivateFrontier(0)
    for number, (name, score) in enumerate(inputs["IS_SPLIT"]):
        frontier.put(Candidate(Url(name), score), 0, number, 0.0, 0.0)
    names = [candidate.url for candidate in frontier.candidates if candidate is not None]
    return [[names[row] for row in half.tolist()] for half in frontier.halves()]
