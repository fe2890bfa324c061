"""The API does what its description says, for any input: no 500, no status that is not described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scenthound.desk.app import ROUTES
from scenthound.desk.operations import description
from scenthound.search import index_folder
from support.desk import desk_process
from support.small_crawl import small_crawl

schemathesis = pytest.importorskip("schemathesis")
checks = pytest.importorskip("schemathesis.checks")
openapi_checks = pytest.importorskip("schemathesis.specs.openapi.checks")
NOT_HERE = r"/(events|crawls|questions|resume|seeds|portal)$"  # an endless answer, and five that start processes
CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]
schema = schemathesis.openapi.from_dict(description(ROUTES)).exclude(path_regex=NOT_HERE)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A desk with one collection, `crawl`."""
    home = tmp_path_factory.mktemp("described")
    folder = small_crawl(home / "crawl")
    index_folder(folder)
    with desk_process(home / "home", str(folder)) as made:
        yield made


@schema.parametrize()
@pytest.mark.filterwarnings("ignore")
def test_every_answer_is_described(case: Any, address: str) -> None:
    if len(str(case.path_parameters.get("name", ""))) % 2:
        case.path_parameters["name"] = "crawl"  # half of the time a collection that there is
    base, _, token = address.partition("/#token=")
    case.call_and_validate(base_url=base, headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
