"""A model folder is written whole, read back equal, and refused with a clear error if it is not ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenthound.errors import BadConfig, FolderBroken
from scenthound.model import Topic
from scenthound.store.model_folder import TrainedModel, TrainedOn, load_model, save_model

STATE = {"words": ["bee", "hïve"], "weights": np.arange(6.0).reshape(2, 3), "deep": [{"counts": np.zeros(0, "<i4")}]}
MADE = TrainedModel(
    "bayes",
    {"events": "multinomial", "rescore_every": 50},
    Topic("bees honey", name="bees", examples=("http://a.example/",), good=("insects",)),
    TrainedOn("bed", "schools", "abc", {"examples": 10, "in categories": 3}),
    STATE,
    {"python": "3.12"},
    "2024-01-01T00:00:00+00:00",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", MADE)
    return tmp_path / "model"


def test_what_was_written_is_read_back(folder: Path) -> None:
    found = load_model(folder)
    for name in ("strategy", "parameters", "topic", "trained_on", "versions", "when", "digest"):
        assert getattr(found, name) == getattr(MADE, name)
    assert found.state["words"] == ["bee", "hïve"]
    assert found.state["weights"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert found.state["deep"][0]["counts"].dtype == np.dtype("<i4")
    assert sorted(path.name for path in folder.iterdir()) == [
        "deep-0-counts.npy", "model.json", "model.toml", "weights.npy",
    ]  # fmt: skip


def test_nothing_is_left_beside_it(folder: Path) -> None:
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_second_model_does_not_overwrite_the_first(folder: Path) -> None:
    with pytest.raises(BadConfig, match="there is a model already"):
        save_model(folder, MADE)


def test_what_cannot_be_kept_is_said_before_anything_is_written(tmp_path: Path) -> None:
    for wrong in ({"x": {1, 2}}, {"x": np.array(["a"], dtype=object)}, {"x": {1: 2}}, {"@array": "y"}):
        with pytest.raises(ValueError, match=r"model"):
            save_model(tmp_path / "m", TrainedModel("bayes", {}, Topic("x"), TrainedOn("bed", "b", "d"), wrong))
    assert list(tmp_path.iterdir()) == []


def cut(folder: Path) -> None:
    (folder / "weights.npy").write_bytes((folder / "weights.npy").read_bytes()[:-1])


def swap(folder: Path) -> None:
    (folder / "model.json").write_bytes((folder / "model.json").read_bytes().replace(b"bee", b"bat"))


def lose(folder: Path) -> None:
    (folder / "weights.npy").unlink()


def link(folder: Path) -> None:
    (folder / "weights.npy").rename(folder.parent / "elsewhere")
    (folder / "weights.npy").symlink_to(folder.parent / "elsewhere")


def pipe(folder: Path) -> None:
    (folder / "weights.npy").unlink()
    os.mkfifo(folder / "weights.npy")


def edited(before: str, after: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "model.toml"
        assert before in path.read_text()
        path.write_text(path.read_text().replace(before, after))

    return edit


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (cut, r"weights\.npy was changed after it was written"),
        (swap, r"model\.json was changed after it was written"),
        (lose, r"weights\.npy can't be read"),
        (link, r"weights\.npy can't be read"),
        (pipe, r"weights\.npy was changed after it was written"),
        (edited("format = 1", "format = 2"), "newer scenthound"),
        (edited("format = 1", "format = 'x'"), "newer scenthound"),
        (edited('strategy = "bayes"', ""), "lacks 'strategy'"),
        (edited('strategy = "bayes"', "strategy = 7"), "7 is no text"),
        (edited("[topic]", "[topic"), r"model\.toml"),
        (edited('name = "weights.npy"', 'name = "../weights.npy"'), "no file called"),
        (edited("bytes = ", "bytes = 9999999"), "at most|not as it was"),
    ],
)
def test_a_damaged_or_foreign_folder_is_refused_with_a_way_out(
    folder: Path, harm: Callable[[Path], None], said: str
) -> None:
    harm(folder)
    with pytest.raises(FolderBroken, match=said) as told:
        load_model(folder)
    assert told.value.hint


def rewritten(folder: Path, data: bytes) -> None:
    """Another content of an array with a digest that fits: what only a hand could have made."""
    import hashlib

    old = (folder / "weights.npy").read_bytes()
    (folder / "weights.npy").write_bytes(data)
    path = folder / "model.toml"
    text = path.read_text().replace(hashlib.sha256(old).hexdigest(), hashlib.sha256(data).hexdigest())
    path.write_text(text.replace(f"bytes = {len(old)}", f"bytes = {len(data)}"))


def test_an_array_that_would_run_code_or_claims_to_be_huge_is_refused(folder: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    rewritten(folder, (tmp_path / "evil.npy").read_bytes())
    with pytest.raises(FolderBroken, match="no array of numbers"):
        load_model(folder)


def test_an_array_that_claims_to_be_huge_is_refused(folder: Path) -> None:
    old = (folder / "weights.npy").read_bytes()
    rewritten(folder, old.replace(b"(2, 3), }    ", b"(2, 30000), }"))
    with pytest.raises(FolderBroken, match="no array of numbers"):
        load_model(folder)


@pytest.mark.parametrize(
    ("file", "said"), [("", "has no model.toml"), ("crawl.toml", "it is a crawl"), ("bed.toml", "it is a bed")]
)
def test_what_is_not_a_model_is_called_what_it_is(tmp_path: Path, file: str, said: str) -> None:
    if file:
        (tmp_path / file).touch()
    with pytest.raises(BadConfig, match=said) as told:
        load_model(tmp_path)
    assert "scenthound train" in told.value.hint
    with pytest.raises(BadConfig, match="no such folder"):
        load_model(tmp_path / "nowhere")


def test_equal_models_have_equal_digests_whenever_they_were_made() -> None:
    def other(**changes: Any) -> TrainedModel:
        plain = {name: getattr(MADE, name) for name in TrainedModel.__slots__}
        return TrainedModel(**{**plain, **changes})

    assert other(when="later").digest == MADE.digest
    assert other(parameters={"events": "bernoulli"}).digest != MADE.digest
    assert other(state={**STATE, "words": []}).digest != MADE.digest
