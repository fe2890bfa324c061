"""Community mining on plain graphs: by hand, the karate club, planted partitions, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx
import pytest

from scenthound.cli.root_command import run
from scenthound.lab.commands.lab_communities import scores
from scenthound.papers.parts.clustering import NeighbourGraph, mine, neighbour_graph

# Two triangles that share the edge a-b, and a tail with a triangle of its own.
EDGES = [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("a", "d"), ("d", "x"), ("x", "y"), ("x", "z"), ("y", "z")]


def graph_of(edges: Any) -> NeighbourGraph:
    return neighbour_graph((str(a), str(b)) for a, b in edges)


def test_by_hand() -> None:
    """Seeds a, b. N1 = c, d and N2 = x. Both have the linked neighbours a and b in S, C0 = 1, and C2 = 0: they join.
    Then N1 = x and N2 = y, z: in S it has one neighbour, C0 = 0, and y and z are linked, C2 = 1. It is rejected."""
    found = mine(graph_of(EDGES), ["a", "b"])
    assert (found.members, found.rejected, found.steps) == (("a", "b", "c", "d"), ("x",), 2)


def test_the_step_and_the_number_of_members_can_be_set() -> None:
    found = mine(graph_of(EDGES), ["a", "b"], step=1)
    assert (found.members, found.rejected, found.steps) == (("a", "b", "c", "d"), ("x",), 3)
    assert mine(graph_of(EDGES), ["a", "b"], wanted=3).members == ("a", "b", "c")


def test_mining_does_not_change_the_graph() -> None:
    graph = graph_of(EDGES)
    mine(graph, ["a", "y"])
    assert not graph.clique


def test_the_officers_of_the_karate_club() -> None:
    club = networkx.karate_club_graph()
    officers = {str(node) for node in club if club.nodes[node]["club"] == "Officer"}
    found = scores(mine(graph_of(club.edges), ["33", "32"]).members, officers)
    assert found.precision > 0.9
    assert found.recall > 0.7


def test_planted_partitions_are_found_far_better_than_by_chance() -> None:
    planted = {str(node) for node in range(32)}
    f1 = []
    for seed in range(5):
        web = networkx.planted_partition_graph(4, 32, 0.5, 0.02, seed=seed)
        f1.append(scores(mine(graph_of(web.edges), ["0", "1", "2"], wanted=32).members, planted).f1)
    assert sum(f1) / len(f1) > 0.75, "a quarter of all nodes is in the partition"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.txt"
    path.write_text("# two triangles\n" + "\n".join(f"{a}\t{b}" for a, b in EDGES) + "\n")
    (tmp_path / "known.txt").write_text("a\nb\nc\nx\n")
    return path


def test_the_command_prints_members_and_how_well_they_fit(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["lab", "communities", str(edges), "--seed", "a", "--seed", "b"]
    assert run(arguments) == 0
    assert capsys.readouterr().out.split() == ["a", "b", "c", "d"]
    assert run([*arguments, "--known", str(edges.parent / "known.txt"), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["precision"], output["recall"], output["rejected"]) == (0.75, 0.75, ["x"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no seed"),
        (["--seed", "q"], "no node q"),
        (["--seed", "a", "--known", "missing.txt"], "can't be read"),
        (["--seed", "a", "--k", "2", "--weights", "1"], "weights"),
    ],
)
def test_bad_input_is_named(
    arguments: list[str], message: str, edges: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "communities", str(edges), *arguments, "--json"]) != 0
    output = json.loads(capsys.readouterr().out)
    assert message in output["error"]
    assert output["hint"]
