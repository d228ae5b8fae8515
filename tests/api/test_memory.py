"""The Python door."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memfs
from memfs import Append, Remove
from memfs.store.blocks import Place
from tests.knowledge.session_graph.conftest import FIXED, say
from tests.service.running import until

pytestmark = pytest.mark.usefixtures("place")


def test_importing_costs_nothing() -> None:
    code = "import sys; before = set(sys.modules); import memfs; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"{'memfs'}\n"


def test_the_operations_have_reasons() -> None:
    memory, why = memfs.open(), "she said so"
    memory.append("human", "Name: Alice", reason=why)
    memory.replace("human", "Alice", "Bob", reason=why)
    memory.insert("human", 0, "# Facts", reason=why)
    assert memory.show("human").value == "# Facts\nName: Bob"
    memory.remove("human", "# Facts", reason=why)
    assert {entry.reason for entry in memory.log("human", 4)} == {why}
    memory.undo("human", reason="a mistake")
    assert memory.show("human").value == "# Facts\nName: Bob"
    assert memory.show("human", 2).value == "Name: Alice"
    memory.restore("human", 2, reason="it was right")
    assert memory.show("human").value == "Name: Alice"
    memory.create("api", "The API", "v1", 100, reason=why)
    memory.describe("api", limit=200, reason=why)
    memory.rethink("api", "v2", reason=why)
    memory.rename("api", "services/api", reason=why)
    assert memory.show("services/api").limit == 200
    memory.delete("services/api", reason=why)
    assert why in memory.log("services/api", 1)[0].reason
    assert [block.label for block in memory.blocks()] == ["persona", "system_rules", "human"]
    assert memory.log("human", 1)[0].host == "python"
    assert "Name: Alice" in memory.brief()
    with pytest.raises(memfs.RejectedError, match="secret"):
        memory.append("human", "x", reason="ghp_" + "a1B2c3D4e5F6" * 3)


def test_a_refusal_is_an_error_with_a_hint() -> None:
    memory = memfs.open()
    with pytest.raises(memfs.MemfsError, match="'Zed' is not in the block") as caught:
        memory.replace("human", "Zed", "X")
    assert caught.value.hint
    with pytest.raises(memfs.MemfsError):
        memory.edit([Append("human", "a"), Remove("human", "nowhere")])
    assert memory.show("human").value == ""
    assert memory.edit([]) == ()


def test_archive_and_search(place: Place) -> None:
    memory = memfs.open()
    kept = memory.archive("We chose httpx over requests.", tags=["http"])
    assert memory.archive("We chose httpx over requests.") == kept
    assert memory.search("httpx", limit=1)[0].id == kept
    with pytest.raises(AttributeError):
        memfs.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_secrets_are_found_and_not_archived() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    [secret] = memfs.find_secrets(f"use {token} here")
    assert (secret.start, secret.end) == (4, 4 + len(token))
    with pytest.raises(memfs.MemfsError, match="a secret"):
        memfs.open().archive(f"the token is {token}")


def test_a_memory_that_stays_open_finds_what_it_wrote() -> None:
    memory = memfs.open()
    assert memory.search("sourdough") == []
    memory.append("human", "bakes sourdough")
    assert [hit.label for hit in memory.search("sourdough")] == ["human"]
    memory.warm()
    memory.remove("human", "bakes sourdough")
    assert not [hit for hit in memory.search("sourdough") if "sourdough" in hit.text]


def test_values_fit_in_a_line(place: Place) -> None:
    say(place, "s1", *FIXED)
    memory = memfs.open()
    memory.append("human", "Name: Alice", reason="she said so")
    assert repr(memory) == f"<Memory {place.home.top}: 3 blocks>"
    assert repr(memory.show("human")) == "<Block user:human: 11 of 5,000 characters>"
    assert repr(memory.log("human", 1)[0]) == (
        "<JournalEntry user:human version 2: append by agent, 2026-05-03: 'she said so'>"
    )
    memory.archive("We chose httpx.")
    [hit] = memory.search("httpx", mode="text")
    assert repr(hit) == f"<Hit passage 2026-05-03 {hit.score:.2f}: 'We chose httpx.'>"
    [found] = memory.sessions("fake clock", mode="text", limit=1)
    assert repr(found).startswith(f"<SessionHit s1 claude 2026-05-01 {found.score:.2f}, ")
    kinds = memory.orchestrator()
    assert repr(kinds) == f"<Orchestrator {place.home.root}: vector, facts, static, graph>"
    for value in (found, *found.hits, *memory.read_session("s1"), kinds.context("the retry test")):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 160


def open_files(place: Place) -> set[str]:
    """Return the files of the store that this process has open, or mapped."""
    handles = Path("/proc/self/fd")
    names = {os.readlink(each) for each in handles.iterdir() if each.is_symlink()}
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    names |= {line.split(maxsplit=5)[-1] for line in maps}
    return {name for name in names if name.startswith(f"{place.home.root}/")}


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not tell")
def test_a_closed_memory_has_no_file_open(place: Place) -> None:
    say(place, "s1", *FIXED)
    with memfs.open() as memory:
        kinds = memory.orchestrator()
        assert memory.search("fake clock")
        assert kinds.context("the retry test of the payment client fails").found["graph"]
        assert open_files(place)
    # A thread that searched may end a moment later, and holds its part of the index until then.
    assert until(lambda: not open_files(place))
    assert memory.search("fake clock")  # it opens again
    memory.close()
    assert until(lambda: not open_files(place))
