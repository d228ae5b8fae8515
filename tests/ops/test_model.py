"""The embedding model is looked at, taken and turned off; without one nothing heavy is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.errors import MemfsError, StoreError
from memfs.memory import reembed
from memfs.memory.kept import Kept
from memfs.ops import doctor, model, search, status, trust
from memfs.search import cold, encoder, extents, modelfiles, serving
from memfs.search.engine import Filter, Page
from memfs.store import archive, lock
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import conversation
from tests.search.small_models import make

HEAVY = ("numpy", "usearch", "numkong", "tokenizers", "huggingface_hub")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return make(tmp_path / "mine")


@pytest.fixture
def kept(place: Place) -> Kept:
    assert place.project
    archive.add(place.project, "bread from the oven", importance=5, tags=())
    return Kept(place)


def stage(_name: str, _length: int) -> Callable[[int], object]:
    return lambda _: None


def settings(place: Place) -> Path:
    assert place.user
    return Path(place.user.root, "config.yaml")


def find(kept: Kept, mode: str | None = None) -> Page:
    return search.run(kept, "oven", mode=mode, only=Filter(), limit=5, page=1)  # type: ignore[arg-type]


def test_another_model_is_taken_with_all_documents(place: Place, kept: Kept, mine: Path) -> None:
    assert find(kept).hits
    settings(place).write_text("memfs: 1  # ours\nmax_blocks: 12\n")
    taken = model.use(place, str(mine), stage)
    assert taken == model.Taken(str(mine), str(settings(place)), "", "made")
    assert settings(place).read_text() == f'memfs: 1  # ours\nmax_blocks: 12\nembedding: "{mine}"\n'
    now = extents.served(place.home.index)
    assert now
    assert now.model == modelfiles.read(str(mine)).name
    look = model.look(place)
    assert (look.model, look.source, look.dimensions, look.vocabulary) == (
        str(mine),
        str(mine),
        16,
        11,
    )
    assert (look.share, look.former, look.problem) == (1.0, "", "")
    assert find(kept, "semantic").hits[0].text == "bread from the oven"
    assert model.use(place, "bundled", stage).state == "made"
    assert model.look(place).vocabulary == encoder.bundled().size


def test_a_folder_is_looked_for_from_where_one_is(
    place: Place, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mine.parent)
    for text in ("mine", "./mine", str(mine)):
        assert model.use(place, text, stage).model == str(mine)


@pytest.mark.parametrize("text", ["gone", "./gone", "/gone", "a/b", "a/b/c", "", "5"])
def test_what_cannot_be_used_is_not_taken(place: Place, kept: Kept, text: str) -> None:
    before = settings(place).read_bytes()
    with pytest.raises(MemfsError):
        model.use(place, text, stage)
    assert settings(place).read_bytes() == before


def test_a_broken_model_is_not_taken(place: Place, mine: Path) -> None:
    (mine / "tokenizer.json").write_text("{}")
    before = settings(place).read_bytes()
    with pytest.raises(StoreError, match=r"tokenizer\.json cannot be read"):
        model.use(place, str(mine), stage)
    assert settings(place).read_bytes() == before


def test_none_removes_the_vectors_and_words_find(place: Place, kept: Kept) -> None:
    assert find(kept).hits
    assert model.use(place, "none", stage).state == "removed"
    assert serving.size(place.home.index) == 0
    assert model.use(place, "none", stage).state == ""
    assert find(kept).hits
    for mode in ("semantic", "hybrid"):
        with pytest.raises(MemfsError, match="embedding is off") as raised:
            find(kept, mode)
        assert str(settings(place)) in raised.value.message
    assert serving.size(place.home.index) == 0
    assert status.run(place, "").embedding == "none: search goes by words"


def test_vectors_that_are_kept_though_it_is_off_are_named(place: Place, kept: Kept) -> None:
    assert find(kept).hits
    settings(place).write_text("memfs: 1\nembedding: none\n")
    [found] = [each for each in doctor.run(place, "") if "embedding" in each.text]
    assert found.hint == "memfs model use none removes them"
    model.use(place, "none", stage)
    [found] = [each for each in doctor.run(place, "") if "embedding" in each.text]
    assert (found.level, found.hint) == ("ok", "")


def test_what_counts_more_than_the_users_setting_is_named(
    place: Place, kept: Kept, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.project
    path = Path(place.project.root, "config.yaml")
    path.write_text("memfs: 1\nembedding: bundled\n")
    taken = model.use(place, str(mine), stage)
    assert (taken.overruled, taken.state) == (f"{path} says bundled", "")
    monkeypatch.setenv("MEMFS_EMBEDDING", "none")
    assert model.use(place, str(mine), stage).overruled == "MEMFS_EMBEDDING says none"


def test_while_another_process_makes_them_nobody_waits(
    place: Place, kept: Kept, mine: Path
) -> None:
    assert find(kept).hits
    with lock.hold(place.home, 0, reembed.LOCK):
        assert model.use(place, str(mine), stage).state == "behind"
        assert model.look(place).running


def test_a_place_without_a_store_of_ones_own_has_nowhere_to_keep_it(place: Place) -> None:
    with pytest.raises(StoreError, match="no store of your own"):
        model.use(Place(place.project, None), "none", stage)


def test_a_broken_model_is_named_everywhere(place: Place, kept: Kept, mine: Path) -> None:
    settings(place).write_text(f"memfs: 1\nembedding: {mine}\n")
    (mine / "model.safetensors").unlink()
    said = "there is no file model.safetensors"
    assert find(kept)
    assert said in kept.note
    assert find(kept).hits
    assert find(kept, "semantic").hits, "by words, for want of vectors"
    assert said in model.look(place).problem
    assert said in status.run(place, "").embedding
    assert any(said in each.text for each in doctor.run(place, ""))


def test_doctor_says_where_hooks_cannot_go_by_meaning(
    place: Place, kept: Kept, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> list[str]:
        found = doctor.run(place, "")
        return [each.text for each in found if each.text.startswith("hooks.cold: hybrid: ")]

    assert find(kept).hits
    assert said() == []
    monkeypatch.setenv("MEMFS_HOOKS_COLD", "hybrid")
    assert said() == [], "the bundled model is read"
    with monkeypatch.context() as few:
        few.setattr(cold, "MOST_ROWS", 0)
        (many,) = said()
    assert "vectors are more than a hook looks at" in many
    model.use(place, str(mine), stage)
    assert said() == ["hooks.cold: hybrid: a hook cannot read this model, and goes by words"]


def test_a_repository_that_reaches_out_is_named_when_it_is_looked_at(place: Place) -> None:
    assert place.project
    Path(place.project.root, "config.yaml").write_text("memfs: 1\nembedding: evil/model\n")
    assert any("embedding: evil/model is not used" in each for each in trust.look(place).problems)
    assert any("embedding: evil/model is not used" in each.text for each in doctor.run(place, ""))
    assert model.look(place).model == "bundled"


def imported(repo: Path, home: Path, code: str, stdin: str = "") -> set[str]:
    """Return which heavy packages are imported after some code."""
    after = f"import sys\n{code}\nprint('|', *(n for n in {HEAVY} if n in sys.modules))"
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "MEMFS_SERVICE_MODE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", after], cwd=repo, env=env, input=stdin, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    return set(done.stdout.rpartition("|")[2].split())


def test_without_a_model_nothing_heavy_is_imported(
    place: Place, kept: Kept, repo: Path, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.jsonl").write_bytes(conversation(6))
    (tmp_path / "u.jsonl").write_bytes(conversation(6, first=100))
    run = "sys.argv[1:] = {}\nfrom memfs.cli.main import main\nassert main() == 0"
    searching = run.format(["search", "turn number"])
    assert imported(repo, home, searching) >= {"numpy", "tokenizers"}
    settings(place).write_text("memfs: 1\nembedding: none\n")
    before = serving.size(place.home.index)
    assert imported(repo, home, searching) == set()
    assert imported(repo, home, run.format(["ingest", str(tmp_path / "t.jsonl")])) == set()
    assert imported(repo, home, searching) == set()
    assert imported(repo, home, run.format(["model"])) == set()
    assert imported(repo, home, run.format(["status"])) == set()
    library = "import memfs\nassert memfs.open('.').search('turn number')"
    tools = run.format(["apply"])
    call = json.dumps({"name": "conversation_search", "arguments": {"query": "turn number"}})
    assert imported(repo, home, tools, call) == set()
    assert imported(repo, home, library) == set()
    hook = "from memfs.hook.main import main\nfrom memfs.store.asking import Call\nassert main(Call(['claude'])) == 0"
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        payload = {
            "session_id": "s", "cwd": str(repo), "hook_event_name": event,
            "prompt": "turn number three", "transcript_path": str(tmp_path / "u.jsonl"),
        }  # fmt: skip
        assert imported(repo, home, hook, json.dumps(payload)) == set()
    assert serving.size(place.home.index) == before
    assert {hit.kind for hit in find(kept, "text").hits} == {"passage"}


def test_by_words_alone_numpy_is_not_needed_with_a_model_either(
    kept: Kept, repo: Path, home: Path
) -> None:
    run = "sys.argv[1:] = ['search', '--mode', 'text', 'oven']\nfrom memfs.cli.main import main\nmain()"
    assert imported(repo, home, run) == set()
