"""The embedding model is looked at, taken and turned off; without one nothing heavy is imported."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memfs.core.errors import MemfsError, StoreError
from memfs.core.hits import Hit
from memfs.ops import doctor, model, search, status, trust
from memfs.recall.open_store import OpenStore
from memfs.search import active_model, encoder, model_files, vector_layout
from memfs.search.request import Filter, HitPage
from memfs.store import archive, lock
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import conversation
from tests.search.small_models import make

HEAVY = ("numpy", "usearch", "numkong", "tokenizers", "huggingface_hub")
UNUSED = (  # by commands that list what is stored
    *(*HEAVY, "tantivy", "ruamel.yaml", "msgspec", "model2vec", "importlib.metadata"),
    *("memfs.core.body_edits", "memfs.ingest.transcripts", "memfs.knowledge.kinds.registry"),
    *("memfs.ops.edit", "memfs.recall.index_sources"),
)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return make(tmp_path / "mine")


@pytest.fixture
def kept(place: Place) -> OpenStore:
    archive.write_passage(place.home, "bread from the oven", importance=5, tags=())
    return OpenStore(place)


def stage(_name: str, _length: int) -> Callable[[int], object]:
    return lambda _: None


def settings(place: Place) -> Path:
    return Path(place.store("user").root, "config.yaml")


def find(kept: OpenStore, mode: str | None = None) -> HitPage[Hit]:
    return search.run(kept, "oven", mode=mode, only=Filter(), limit=5, page=1)  # type: ignore[arg-type]


def test_another_model_is_taken_with_all_documents(
    place: Place, kept: OpenStore, mine: Path
) -> None:
    assert find(kept).hits
    settings(place).write_text("memfs: 1  # ours\nmax_blocks: 12\n")
    taken = model.use_model(place, str(mine), stage)
    assert taken == model.ModelChange(str(mine), str(settings(place)), "", "made")
    assert settings(place).read_text() == f'memfs: 1  # ours\nmax_blocks: 12\nembedding: "{mine}"\n'
    now = vector_layout.load_active_extent(place.home.index)
    assert now
    assert now.model == model_files.read(str(mine)).name
    look = model.load_status(place)
    assert (look.model, look.source) == (str(mine), str(mine))
    assert (look.dimensions, look.vocabulary) == (16, 11)
    assert (look.share, look.former, look.problem) == (1.0, "", "")
    assert find(kept, "semantic").hits[0].text == "bread from the oven"
    assert model.use_model(place, "bundled", stage).state == "made"
    assert model.load_status(place).vocabulary == encoder.load_bundled().size


def test_a_folder_is_looked_for_from_where_one_is(
    place: Place, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mine.parent)
    for text in ("mine", "./mine", str(mine)):
        assert model.use_model(place, text, stage).model == str(mine)


@pytest.mark.parametrize("text", ["gone", "./gone", "/gone", "a/b", "a/b/c", "", "5"])
def test_what_cannot_be_used_is_not_taken(place: Place, kept: OpenStore, text: str) -> None:
    before = settings(place).read_bytes()
    with pytest.raises(MemfsError):
        model.use_model(place, text, stage)
    assert settings(place).read_bytes() == before


def test_a_broken_model_is_not_taken(place: Place, mine: Path) -> None:
    (mine / "tokenizer.json").write_text("{}")
    before = settings(place).read_bytes()
    with pytest.raises(StoreError, match=r"tokenizer\.json cannot be read"):
        model.use_model(place, str(mine), stage)
    assert settings(place).read_bytes() == before


def test_none_removes_the_vectors_and_words_find(place: Place, kept: OpenStore) -> None:
    assert find(kept).hits
    assert model.use_model(place, "none", stage).state == "removed"
    assert active_model.measure_size(place.home.index) == 0
    assert model.use_model(place, "none", stage).state == ""
    assert find(kept).hits
    for mode in ("semantic", "hybrid"):
        with pytest.raises(MemfsError, match="search by meaning is turned off") as raised:
            find(kept, mode)
        assert str(settings(place)) in raised.value.message
    assert active_model.measure_size(place.home.index) == 0
    assert status.run(place, "").embedding == "none: search by words only"


def test_vectors_that_are_kept_though_it_is_off_are_named(place: Place, kept: OpenStore) -> None:
    assert find(kept).hits
    settings(place).write_text("memfs: 1\nembedding: none\n")
    [found] = [each for each in doctor.run(place, "") if "embedding" in each.text]
    assert found.hint == "remove the vectors: memfs model use none"
    model.use_model(place, "none", stage)
    [found] = [each for each in doctor.run(place, "") if "embedding" in each.text]
    assert (found.level, found.hint) == ("ok", "")


def test_what_counts_more_than_the_users_setting_is_named(
    place: Place, kept: OpenStore, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(place.home.root, "config.yaml")
    path.write_text("memfs: 1\nembedding: bundled\n")
    taken = model.use_model(place, str(mine), stage)
    assert (taken.overruled, taken.state) == (f"{path} sets bundled", "")
    monkeypatch.setenv("MEMFS_EMBEDDING", "none")
    assert model.use_model(place, str(mine), stage).overruled == "MEMFS_EMBEDDING sets none"


def test_while_another_process_makes_them_nobody_waits(
    place: Place, kept: OpenStore, mine: Path
) -> None:
    assert find(kept).hits
    with lock.hold_lock(place.home, 0, lock.VECTORS):
        assert model.use_model(place, str(mine), stage).state == "behind"


def test_a_place_without_a_store_of_ones_own_has_nowhere_to_keep_it(place: Place) -> None:
    with pytest.raises(StoreError, match="no store of your own"):
        model.use_model(Place(place.project, None), "none", stage)


def test_a_broken_model_is_named_everywhere(place: Place, kept: OpenStore, mine: Path) -> None:
    settings(place).write_text(f"memfs: 1\nembedding: {mine}\n")
    (mine / "model.safetensors").unlink()
    said = "the file model.safetensors is missing"
    assert find(kept)
    assert said in kept.note
    assert find(kept).hits
    assert find(kept, "semantic").hits, "by words, for want of vectors"
    assert said in model.load_status(place).problem
    assert said in status.run(place, "").embedding
    assert any(said in each.text for each in doctor.run(place, ""))


def test_a_repository_that_reaches_out_is_named_when_it_is_looked_at(place: Place) -> None:
    Path(place.home.root, "config.yaml").write_text("memfs: 1\nembedding: evil/model\n")
    assert any(
        "'embedding: evil/model' is not used" in each for each in trust.review_store(place).problems
    )
    assert any("'embedding: evil/model' is not used" in each.text for each in doctor.run(place, ""))
    assert model.load_status(place).model == "bundled"


def imported(
    repo: Path, home: Path, code: str, stdin: str = "", listed: tuple[str, ...] = HEAVY
) -> set[str]:
    """Return which of the listed packages are imported after some code."""
    after = f"import sys\n{code}\nprint('|', *(n for n in {listed} if n in sys.modules))"
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "MEMFS_SERVICE_MODE": "off"}
    given: dict[str, Any] = {"cwd": repo, "env": env, "input": stdin, "text": True}
    command = [sys.executable, "-c", after]
    done = subprocess.run(command, **given, capture_output=True, check=True)
    return set(done.stdout.rpartition("|")[2].split())


def test_without_a_model_nothing_heavy_is_imported(
    place: Place, kept: OpenStore, repo: Path, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.jsonl").write_bytes(conversation(6))
    (tmp_path / "u.jsonl").write_bytes(conversation(6, first=100))
    run = "sys.argv[1:] = {}\nfrom memfs.cli.main import main\nassert main() == 0"
    searching = run.format(["search", "turn number"])
    assert imported(repo, home, searching) >= {"numpy", "tokenizers"}
    settings(place).write_text("memfs: 1\nembedding: none\n")
    before = active_model.measure_size(place.home.index)
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
    hook = "from memfs.hook.main import main\nfrom memfs.ipc.client import HookCall\nassert main(HookCall(['claude'])) == 0"
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        said = {"prompt": "turn number three", "transcript_path": str(tmp_path / "u.jsonl")}
        payload = {"session_id": "s", "cwd": str(repo), "hook_event_name": event, **said}
        assert imported(repo, home, hook, json.dumps(payload)) == set()
    assert active_model.measure_size(place.home.index) == before
    assert {hit.kind for hit in find(kept, "text").hits} == {"passage"}


def test_by_words_alone_numpy_is_not_needed_with_a_model_either(
    kept: OpenStore, repo: Path, home: Path
) -> None:
    run = "sys.argv[1:] = ['search', '--mode', 'text', 'oven']\nfrom memfs.cli.main import main\nmain()"
    assert imported(repo, home, run) == set()


@pytest.mark.parametrize(
    "words",
    ["status", "show", "show human", "last", "session list", "search --help", "log", "review list"],
)
def test_a_command_imports_only_what_it_uses(
    kept: OpenStore, repo: Path, home: Path, words: str
) -> None:
    assert find(kept)
    run = f"sys.argv[1:] = {words.split()}\nfrom memfs.cli.main import main\nassert main() == 0"
    reads_edits = words in ("log", "review list")
    unused = tuple(each for each in UNUSED if not (reads_edits and each == "memfs.core.body_edits"))
    assert imported(repo, home, run, listed=unused) == set()
