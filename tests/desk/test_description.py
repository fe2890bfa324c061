"""The API does what its description says, for any input: no 500, no status that is not described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from scenthound.desk.api_operations import description
from scenthound.desk.web_app import ROUTES
from scenthound.search import index_folder
from support.companion import companion_process
from support.desk import desk_process
from support.long_form import long_form
from support.small_crawl import small_crawl

schemathesis = pytest.importorskip("schemathesis")
checks = pytest.importorskip("schemathesis.checks")
openapi_checks = pytest.importorskip("schemathesis.specs.openapi.checks")
NOT_HERE = r"/(events|crawls|questions|resume|seeds|topics|portal)$"  # an endless answer, and six that start processes
CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]
COMPANION = "^/api/companion"
EXAMPLES = hypothesis.settings(max_examples=long_form(25, 100), deadline=None)
described = schemathesis.openapi.from_dict(description(ROUTES)).exclude(path_regex=NOT_HERE)
schema, of_companion = described.exclude(path_regex=COMPANION), described.include(path_regex=COMPANION)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A desk with one collection, `crawl`."""
    home = tmp_path_factory.mktemp("described")
    folder = small_crawl(home / "crawl")
    index_folder(folder)
    with desk_process(home / "home", str(folder)) as made:
        yield made


@schema.parametrize()
@EXAMPLES
@pytest.mark.filterwarnings("ignore")
def test_every_answer_is_described(case: Any, address: str) -> None:
    if len(str(case.path_parameters.get("name", ""))) % 2:
        case.path_parameters["name"] = "crawl"  # half of the time a collection that there is
    base, _, token = address.partition("/#token=")
    case.call_and_validate(base_url=base, headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)


@pytest.fixture(scope="module")
def companion_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A desk with a companion. Nothing is looked at: the proxy is not there."""
    folder = tmp_path_factory.mktemp("companion")
    with companion_process(folder, "--port", "0", "--set", "proxy=http://127.0.0.1:9") as printed:
        yield str(printed["address"]).replace("/companion#", "/#")


@of_companion.parametrize()
@EXAMPLES
@pytest.mark.filterwarnings("ignore")
def test_every_answer_of_the_companion_is_described(case: Any, companion_address: str) -> None:
    base, _, token = companion_address.partition("/#token=")
    case.call_and_validate(base_url=base, headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
