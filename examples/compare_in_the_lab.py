"""A comparison in the lab: is hound better than breadth-first, and is the difference significant?

The bed is generated, so the result applies to this web only. Needs `pip install "scenthound[lab]"`.

    python examples/compare_in_the_lab.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import scenthound


def main(out: Path) -> str:
    bed = scenthound.make_bed(out / "bed", pages=1000, seed=1)
    experiment = scenthound.run_experiment(bed, "hound,breadth-first", out / "run", topics=8, pages=150)
    answer = str(scenthound.compare(experiment, "hound", "breadth-first"))
    print(answer)
    return answer


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
