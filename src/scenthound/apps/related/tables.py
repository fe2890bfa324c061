"""The answer as CSV, safe for spreadsheets."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from typing import TextIO

from scenthound.apps.related.answer import RelatedOrganisations
from scenthound.apps.related.link_evidence import Evidence
from scenthound.exports.csv import cell

COUNTS = tuple(field.name for field in fields(Evidence))
COLUMNS = (
    "rank",
    "confidence",
    "name",
    "home",
    "organisation",
    "decision",
    *COUNTS,
    "hubs",
    "shared_words",
    "aliases",
)


def write_csv(answer: RelatedOrganisations, file: TextIO) -> None:
    """One line for each organisation, rejected ones last."""
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for rank, one in enumerate((*answer.organisations, *answer.rejected), 1):
        counts = asdict(one.evidence)
        row = [rank, f"{one.confidence:.4f}", one.name, one.home, one.key, one.decision]
        row += [f"{counts[name]:g}" for name in COUNTS]
        row += [" ".join(hub.url for hub in one.hubs), " ".join(one.shared_words), " ".join(one.aliases)]
        writer.writerow([cell(str(value)) for value in row])
