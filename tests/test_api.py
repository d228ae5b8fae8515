"""The Python door."""

from __future__ import annotations

import subprocess
import sys

import pytest

import memfs
from memfs.core.body_edits import Append, Remove
from memfs.store.blocks import Place

pytestmark = pytest.mark.usefixtures("place")


def test_importing_costs_nothing() -> None:
    code = "import sys; before = set(sys.modules); import memfs; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"{'memfs'}\n"


def test_the_operations() -> None:
    memory = memfs.open()
    memory.append("human", "Name: Alice")
    memory.replace("human", "Alice", "Bob")
    memory.insert("human", 0, "# Facts")
    assert memory.show("human").value == "# Facts\nName: Bob"
    memory.remove("human", "# Facts")
    memory.undo("human")
    assert memory.show("human").value == "# Facts\nName: Bob"
    assert memory.show("human", 2).value == "Name: Alice"
    memory.restore("human", 2)
    assert memory.show("human").value == "Name: Alice"
    memory.create("api", "The API", "v1", 100)
    memory.describe("api", limit=200)
    memory.rethink("api", "v2")
    memory.rename("api", "services/api")
    assert memory.show("services/api").limit == 200
    memory.delete("services/api")
    assert [block.label for block in memory.blocks()] == ["persona", "system_rules", "human"]
    assert memory.log("human", 1)[0].host == "python"
    assert "Name: Alice" in memory.brief()


def test_a_refusal_is_an_error_with_a_hint() -> None:
    memory = memfs.open()
    with pytest.raises(memfs.MemfsError, match="'Zed' is not in it") as caught:
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
        memfs.nothing  # noqa: B018


def test_secrets_are_found_and_not_archived() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    [secret] = memfs.find_secrets(f"use {token} here")
    assert (secret.start, secret.end) == (4, 4 + len(token))
    with pytest.raises(memfs.MemfsError, match="holds a secret"):
        memfs.open().archive(f"the token is {token}")


def test_a_memory_that_stays_open_finds_what_it_wrote() -> None:
    memory = memfs.open()
    assert memory.search("sourdough") == []
    memory.append("human", "bakes sourdough")
    assert [hit.label for hit in memory.search("sourdough")] == ["human"]
    memory.warm()
    memory.remove("human", "bakes sourdough")
    assert not [hit for hit in memory.search("sourdough") if "sourdough" in hit.text]
