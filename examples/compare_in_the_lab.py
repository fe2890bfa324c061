"""A comparison in the lab: is best-first better than breadth-first, and can that be said?

The bed is generated, so the sentence at the end is about this web only. Needs `pip install "scenthound[lab]"`.

    python examples/compare_in_the_lab.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from scenthound.lab.generate.web import generate
from scenthound.lab.measure.comparison import Question, compare_within
from scenthound.lab.measure.statistics import sentence
from scenthound.lab.run.experiment import RunOptions, run


def main(out: Path) -> str:
    generate(out / "bed", pages=1000, seed=1)
    experiment = run(out / "bed", "best-first,breadth-first", out / "run", RunOptions(topics=8, pages=150))
    found = compare_within(experiment, ["best-first", "breadth-first"], Question("target_recall", (150,)))
    answer = sentence(found[0])
    print(answer)
    return answer


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
