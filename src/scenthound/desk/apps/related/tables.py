"""Write related organisations as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from typing import TextIO

from scenthound.desk.apps.related.link_evidence import Evidence
from scenthound.desk.apps.related.related_organisations import RelatedOrganisations
from scenthound.exports.tables import cell

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


def write_csv(result: RelatedOrganisations, file: TextIO) -> None:
    """Write one row per organisation, rejected organisations last."""
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for rank, organisation in enumerate((*result.organisations, *result.rejected), 1):
        counts = asdict(organisation.evidence)
        names = (organisation.name, organisation.home, organisation.key, organisation.decision)
        lists = (
            " ".join(hub.url for hub in organisation.hubs),
            " ".join(organisation.shared_words),
            " ".join(organisation.aliases),
        )
        numbers = [f"{counts[name]:g}" for name in COUNTS]  # not cells of text: "-1.5" is no formula
        writer.writerow(
            [rank, f"{organisation.confidence:.4f}", *map(cell, names), *numbers, *map(cell, lists)],
        )
