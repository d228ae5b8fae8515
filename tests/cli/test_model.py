"""`memfs model`, as a person reads it."""

import json
from pathlib import Path

import pytest

from memfs.recall import model_config
from memfs.search import model_files
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.search.small_models import make

pytestmark = pytest.mark.usefixtures("place")


def test_the_model_is_shown(memfs: Run) -> None:
    memfs("archive", "add", "bread from the oven")
    assert memfs("search", "oven").code == 0
    found = memfs("model")
    assert found.code == 0
    assert found.out.splitlines()[:4] == [
        "model      bundled",
        f"from       {model_files.BUNDLED}",
        "dimensions 256",
        "vocabulary 47,955 tokens",
    ]
    assert found.out.splitlines()[4].startswith("index      100 % of 4 texts indexed (bundled), ")
    shown = json.loads(memfs("model", "--json").out)
    assert (shown["model"], shown["share"], shown["documents"]) == ("bundled", 1.0, 4)
    assert "embedding      100 % of 4 texts indexed (bundled)" in memfs("status").out.splitlines()


def test_another_one_is_taken(memfs: Run, place: Place, tmp_path: Path) -> None:
    mine = make(tmp_path / "mine")
    memfs("archive", "add", "bread from the oven")
    memfs("search", "oven")
    assert place.user
    path = f"{place.user.root}/config.yaml"
    assert memfs("model", "use", str(mine)) == (
        0,
        "",
        f"✓ embedding model: {mine}, set in {path}; all documents are indexed with this model\n",
    )
    assert memfs("model").out.splitlines()[:3] == [
        f"model      {mine} ({path})",
        f"from       {mine}",
        "dimensions 16",
    ]
    assert memfs("model", "use", "none") == (
        0,
        "",
        f"✓ embedding model: none, set in {path}; the old vectors were removed\n",
    )
    assert memfs("model").out == f"model      none ({path})\n"
    assert memfs("search", "oven").code == 0
    assert memfs("search", "oven", "--mode", "semantic") == (
        1,
        "",
        (
            f"error: search by meaning is turned off in {path}\n"
            "hint: leave out --mode to search by words, or turn on search by meaning: memfs model use bundled\n"
        ),
    )


def test_a_broken_one_is_told_in_a_line_and_words_find(
    memfs: Run, place: Place, tmp_path: Path
) -> None:
    mine = make(tmp_path / "mine")
    memfs("archive", "add", "bread from the oven")
    memfs("model", "use", str(mine))
    (mine / "model.safetensors").unlink()
    for words in (["oven"], ["oven", "--mode", "semantic"], ["oven", "--json"]):
        found = memfs("search", *words)
        assert found.code == 0
        assert "bread from the oven" in found.out
        [line] = found.err.splitlines()
        assert line.startswith(
            f"! searched by words alone, because the embedding model in {mine} cannot"
        )
    assert memfs("search", "oven", "--mode", "text").err == ""
    shown = memfs("model")
    assert shown.code == 1
    assert "the file model.safetensors is missing" in shown.err


def test_how_far_a_new_one_is(
    memfs: Run, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = make(tmp_path / "mine")
    memfs("archive", "add", "bread from the oven")
    memfs("search", "oven")
    monkeypatch.setattr(model_config, "FEW", 1)
    assert place.user
    Path(place.user.root, "config.yaml").write_text(f"memfs: 1\nembedding: {mine}\n")
    found = memfs("search", "oven")
    assert (
        found.err
        == f"! searched with the previous model; to search with '{mine}', run memfs ingest\n"
    )
    assert "bread from the oven" in found.out
    shown = memfs("model").out.splitlines()
    assert shown[4].startswith(f"index      0 % of 4 texts indexed ({mine}), ")
    assert shown[5] == (
        f"meanwhile  searches use {model_files.BUNDLED}; to make the missing vectors, run memfs ingest"
    )
    assert f"embedding      0 % of 4 texts indexed ({mine})" in memfs("status").out.splitlines()
    assert memfs("ingest").code == 0
    assert f"embedding      100 % of 4 texts indexed ({mine})" in memfs("status").out.splitlines()


def test_what_is_no_model_is_refused(memfs: Run) -> None:
    assert memfs("model", "use", "gone") == (
        2,
        "",
        (
            "error: 'gone' is neither a model nor a folder\n"
            "hint: use 'bundled', 'none', a folder, or a model from the Hugging Face hub (owner/name)\n"
        ),
    )
    assert memfs("model", "fetch") == (
        2,
        "",
        (
            "error: no model is named\nhint: give a model name: memfs model fetch minishlab/potion-base-8M\n"
        ),
    )
